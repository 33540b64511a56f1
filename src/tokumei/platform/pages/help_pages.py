"""Help: guide, glossary, questions, installing, privacy, terms and contact, each in Markdown in both languages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy

from tokumei.platform.access import access
from tokumei.platform.marked_text import to_html

FOLDER = Path(__file__).parent / "help"
PAGES = {
    "guide": gettext_lazy("Guide"),
    "glossary": gettext_lazy("Glossary"),
    "faq": gettext_lazy("Questions and answers"),
    "install": gettext_lazy("Install"),
    "privacy": gettext_lazy("Privacy"),
    "terms": gettext_lazy("Terms of use"),
    "contact": gettext_lazy("Contact"),
}
# What can be linked to on a page, in the order of its headings; of the glossary every word can.
ANCHORS: dict[str, tuple[str, ...]] = {
    "guide": ("play", "run", "share"),
    "faq": ("refused", "hidden-score", "counts", "trust", "second-factor", "mail"),
}
# Fields of forms, by the word of the glossary that their label needs.
FIELD_WORDS = {
    "edition": "edition",
    "releases_a_day": "release",
    "releases_in_all": "release",
    "guesses_a_day": "guess",
    "guesses_on_one": "guess",
    "attacks_open_at": "phase",
    "criteria": "criterion",
    "first_levels": "level",
    "hierarchies": "level",
}


@access("anyone")
def help_page(request: HttpRequest, page: str) -> HttpResponse:
    """Show one page of help."""
    if page not in PAGES:
        raise Http404
    text = to_html(text_of(page), 2, anchors_of(page))
    shown = {"name": page, "heading": PAGES[page], "text": text, "pages": PAGES}
    return render(request, "pages/help.html", shown)


def text_of(page: str) -> str:
    """Return the text of a page in the reader's language; English where there is none."""
    language = "ja" if (get_language() or "").startswith("ja") else "en"
    text = (FOLDER / f"{page}.{language}.md").read_text("utf-8")
    return text.replace("{contact}", settings.CONTACT)


@cache
def anchors_of(page: str) -> tuple[str, ...]:
    """Name what can be linked to on a page."""
    if page != "glossary":
        return ANCHORS.get(page, ())
    words = re.findall(r"^\| ([^|]+?) \|", (FOLDER / "glossary.en.md").read_text("utf-8"), re.M)
    return tuple(word.replace(" ", "-") for word in words[1:])


def address_of(page: str, anchor: str = "") -> str:
    """Return the address of a place in the help; an unknown one fails when first shown."""
    if anchor and anchor not in anchors_of(page):
        raise ValueError(f"the page {page} of the help has no {anchor}")
    return reverse("pages:help", args=[page]) + (f"#{anchor}" if anchor else "")
