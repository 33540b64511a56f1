"""Tags and filters of every template: addresses, texts in Markdown and in the reader's language, links to the help.

A page has thirty addresses, mostly the same for everybody: each is worked out once.
"""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.core.signals import setting_changed
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as django_url
from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from tokumei.platform.messages import translated
from tokumei.platform.pages.views import FIELD_WORDS, PAGES, address_of
from tokumei.platform.typed_text import to_html

register = template.Library()

# Addresses of submissions and the like come and go.
MOST_KEPT = 2048


@lru_cache(MOST_KEPT)
def address_of_route(name: str, *args: str) -> str:
    """Return the address of a route."""
    return reverse(name, args=args)


# Tests may serve other routes.
setting_changed.connect(lambda **_: address_of_route.cache_clear(), weak=False)


class KeptURLNode(URLNode):
    """Django's node, but for addresses that are wanted at once and have no names for what they capture."""

    def render(self, context: Context) -> str:
        """Render the address."""
        if self.asvar or self.kwargs:
            return str(super().render(context))
        # Slugs, keys and numbers, which reversing would write as well.
        values = (str(value.resolve(context)) for value in self.args)
        found = address_of_route(self.view_name.resolve(context), *values)
        return conditional_escape(found) if context.autoescape else found


@register.tag
def url(parser: Parser, token: Token) -> URLNode:
    """Parse an address, as Django's tag of this name."""
    node = django_url(parser, token)
    return KeptURLNode(node.view_name, node.args, node.kwargs, node.asvar)


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


@register.simple_tag
def term(word: str, said: str) -> str:
    """Link a word of a page to what the glossary says of it."""
    return format_html('<a class="term" href="{}">{}</a>', address_of("glossary", word), said)


@register.simple_tag
def more(page: str, anchor: str = "", said: str = "") -> str:
    """Link to a page of the help, by its title where nothing else is said."""
    return format_html('<a class="more" href="{}">{}</a>', address_of(page, anchor), said or PAGES[page])


@register.filter
def explained(label: str, field: str) -> str:
    """Return a field's label with a link to the glossary word it needs, if any."""
    word = FIELD_WORDS.get(field)
    if word is None:
        return label
    mark = '{} <a class="why" href="{}" aria-label="{}">?</a>'
    return format_html(mark, label, address_of("glossary", word), _("What does this word mean?"))
