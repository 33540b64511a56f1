"""Links to the help from where questions arise; on one's own machine there are no such pages, and words stay words."""

from __future__ import annotations

from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.translation import gettext as _

from tokumei.platform.pages.help_pages import FIELD_WORDS, PAGES, address_of

register = template.Library()


@register.simple_tag
def term(word: str, said: str) -> str:
    """Link a word of a page to what the glossary says of it."""
    if settings.IS_STUDIO:
        return said
    return format_html('<a class="term" href="{}">{}</a>', address_of("glossary", word), said)


@register.simple_tag
def more(page: str, anchor: str = "", said: str = "") -> str:
    """Link to a page of the help, by its title where nothing else is said."""
    if settings.IS_STUDIO:
        return ""
    return format_html('<a class="more" href="{}">{}</a>', address_of(page, anchor), said or PAGES[page])


@register.filter
def explained(label: str, field: str) -> str:
    """Return a field's label with a link to the glossary word it needs, if any."""
    word = FIELD_WORDS.get(field)
    if word is None or settings.IS_STUDIO:
        return label
    mark = '{} <a class="why" href="{}" aria-label="{}">?</a>'
    return format_html(mark, label, address_of("glossary", word), _("What does this word mean?"))
