"""Texts in Markdown, in the reader's language where there are two, and sentences of the library."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from tokumei.platform.marked_text import to_html
from tokumei.platform.messages import translated

register = template.Library()


@register.filter
def marked(text: str) -> SafeString:
    """Show a text that somebody wrote in Markdown."""
    return to_html(text)


@register.filter
def spoken(thing: object, name: str) -> str:
    """Return a text in the reader's language: a `text` may have its `text_ja`; either stands in for the other."""
    plain, japanese = str(getattr(thing, name)), str(getattr(thing, f"{name}_ja"))
    is_japanese = (get_language() or "").startswith("ja")
    return (japanese or plain) if is_japanese else (plain or japanese)


@register.filter
def library(text: str | None) -> str:
    """Show a sentence of the library in the reader's language; one that is not known there is marked as English."""
    said, is_japanese = translated(text or ""), (get_language() or "").startswith("ja")
    return said if not is_japanese or said != text else format_html('<span lang="en">{}</span>', said)
