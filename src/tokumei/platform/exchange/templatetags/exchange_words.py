"""Filters for the pages of the exchange."""

from __future__ import annotations

from django import template

from tokumei.exchange.criteria import Criterion
from tokumei.platform.exchange import words

register = template.Library()


@register.filter
def criterion_source(criterion: Criterion) -> str:
    """Describe where a criterion comes from."""
    return words.criterion_source(criterion)
