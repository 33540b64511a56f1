"""Filters for the pages of contests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.formats import number_format

from tokumei.contest.edition import ContestTerms
from tokumei.platform.contests import words

register = template.Library()
# A number is shown with at most this many decimals, also to those who may see all of them.
DECIMALS = 6


@register.filter
def said(thing: object, name: str) -> str:
    """Return a text of an edition in the reader's language."""
    return words.said(thing, name)


@register.filter
def called(name: str | None, terms: ContestTerms | None = None) -> str:
    """Call a part of a score, a column or a step as readers do, and as the edition does."""
    return words.name_in_words(name or "", terms)


@register.filter
def number(value: Any) -> str:
    """Write a score: numbers without trailing zeros, several with commas, nothing as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "✓" if value else "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(number(part) for part in value) or "–"
    if isinstance(value, float):
        text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(number_format(value, use_l10n=True, force_grouping=True)) if isinstance(value, int) else str(value)


@register.filter
def lookup(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Look a name up; one that is not there stands for itself."""
    return mapping.get(key, key)


@register.filter
def lookup_or_none(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Look a name up; one that is not there is nothing."""
    return mapping.get(key)
