"""Help: guide, glossary, questions, installing, privacy, terms and contact, each in Markdown in both languages."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
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


@access("anyone")
def help_page(request: HttpRequest, page: str) -> HttpResponse:
    """Show one page of help."""
    if page not in PAGES:
        raise Http404
    shown = {"name": page, "heading": PAGES[page], "text": to_html(text_of(page), 2), "pages": PAGES}
    return render(request, "pages/help.html", shown)


def text_of(page: str) -> str:
    """Give the text of a page in the reader's language; English where there is none."""
    language = "ja" if (get_language() or "").startswith("ja") else "en"
    text = (FOLDER / f"{page}.{language}.md").read_text("utf-8")
    return text.replace("{contact}", settings.CONTACT)
