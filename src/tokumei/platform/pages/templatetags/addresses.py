"""The tag `url`, with each address worked out once: a page has thirty of them, mostly the same for everybody."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.core.signals import setting_changed
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as django_url
from django.urls import reverse
from django.utils.html import conditional_escape

register = template.Library()

# Addresses of submissions and the like come and go.
MOST_KEPT = 2048


@lru_cache(MOST_KEPT)
def address_of(name: str, *args: str) -> str:
    """Return the address of a route."""
    return reverse(name, args=args)


# Tests may serve other routes.
setting_changed.connect(lambda **_: address_of.cache_clear(), weak=False)


class KeptURLNode(URLNode):
    """Django's node, but for addresses that are wanted at once and have no names for what they capture."""

    def render(self, context: Context) -> str:
        """Render the address."""
        if self.asvar or self.kwargs:
            return str(super().render(context))
        # Slugs, keys and numbers, which reversing would write as well.
        values = (str(value.resolve(context)) for value in self.args)
        found = address_of(self.view_name.resolve(context), *values)
        return conditional_escape(found) if context.autoescape else found


@register.tag
def url(parser: Parser, token: Token) -> URLNode:
    """Parse an address, as Django's tag of this name."""
    node = django_url(parser, token)
    return KeptURLNode(node.view_name, node.args, node.kwargs, node.asvar)
