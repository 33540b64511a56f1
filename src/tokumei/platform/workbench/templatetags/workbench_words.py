"""Filters for the pages of the workbench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html

from tokumei.platform.workbench import words

register = template.Library()


@register.filter
def expected(fault: Mapping[str, Any]) -> str:
    """Show what a fault lacks in the reader's language."""
    said = words.fault_text(fault)
    is_english = words.language() == "ja" and said == words.english(fault)
    return format_html('<span lang="en">{}</span>', said) if is_english else said
