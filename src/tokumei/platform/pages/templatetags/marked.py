"""Texts in Markdown, and the one in the reader's language where there are two."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from tokumei.platform.marked_text import to_html

register = template.Library()


@register.filter
def marked(text: str) -> SafeString:
    """Show a text that somebody wrote in Markdown."""
    return to_html(text)


@register.filter
def spoken(thing: object, name: str) -> str:
    """Give a text in the reader's language: a `text` may have its `text_ja`; either stands in for the other."""
    plain, japanese = str(getattr(thing, name)), str(getattr(thing, f"{name}_ja"))
    is_japanese = (get_language() or "").startswith("ja")
    return (japanese or plain) if is_japanese else (plain or japanese)
