"""The pages of help: there in both languages, for everybody, and linked from every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import text_of

from tokumei.platform.accounts.models import User
from tokumei.platform.pages import views
from tokumei.platform.pages.views import FIELD_WORDS, FOLDER, PAGES, anchors_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("page", PAGES)
def test_page_is_there_in_both_languages_and_linked_from_the_footer(client: Client, page: str) -> None:
    english = client.get(f"/help/{page}")
    japanese = client.get(f"/help/{page}", headers={"accept-language": "ja"})
    assert english.status_code == japanese.status_code == 200
    assert text_of(english) != text_of(japanese)
    assert len(re.findall("[ぁ-ん]", text_of(japanese))) > 60
    for language in ("en", "ja"):
        assert f'href="/help/{page}"' in client.get("/", headers={"accept-language": language}).content.decode()


def test_contact_is_the_operators(client: Client, settings: object) -> None:
    settings.CONTACT = "ops@example.com"  # type: ignore[attr-defined]
    assert 'href="mailto:ops@example.com"' in client.get("/help/contact").content.decode()


def test_page_that_is_not_there_is_not_found(client: Client) -> None:
    for name in ("nothing", "..", "guide.en"):
        assert client.get(f"/help/{name}").status_code == 404


def test_both_languages_have_the_same_headings_and_rows() -> None:
    for page in PAGES:
        english, japanese = ((FOLDER / f"{page}.{language}.md").read_text("utf-8") for language in ("en", "ja"))
        for mark in (r"^# ", r"^\| ", r"^\d+\. ", r"^- "):
            assert len(re.findall(mark, english, re.M)) == len(re.findall(mark, japanese, re.M)), (page, mark)


TEMPLATES = Path(views.__file__).parents[1] / "templates"
TAG = re.compile(r'{% (term|more) "([^"]+)"(?: "([^"]*)")?')


def links() -> list[tuple[str, str, str]]:
    """Return every link to the help that templates have: where it stands, the page and the place on it."""
    found = []
    for file in sorted(TEMPLATES.rglob("*.html")):
        for kind, first, second in TAG.findall(file.read_text("utf-8")):
            page, anchor = ("glossary", first) if kind == "term" else (first, second)
            found.append((file.relative_to(TEMPLATES).as_posix(), page, anchor))
    return found


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_link_to_the_help_leads_to_a_place_on_it(client: Client, language: str) -> None:
    shown = {
        page: client.get(f"/help/{page}", headers={"accept-language": language}).content.decode() for page in PAGES
    }
    for where, page, anchor in [*links(), *(("forms", "glossary", word) for word in FIELD_WORDS.values())]:
        assert not anchor or f'id="{anchor}"' in shown[page], (where, page, anchor)
    for page, text in shown.items():
        ids = re.findall(r'<(?:tr|h2) id="([^"]+)"', text)
        assert tuple(ids) == anchors_of(page), page


@pytest.mark.parametrize(
    ("where", "page", "anchor"),
    [
        ("contests/check.html", "faq", "refused"),
        ("contests/submission.html", "faq", "refused"),
        ("contests/submission.html", "faq", "hidden-score"),
        ("contests/submit.html", "install", ""),
        ("contests/data.html", "install", ""),
        ("contests/scoreboard.html", "glossary", "use-lost"),
        ("contests/scoreboard.html", "glossary", "safety-lost"),
        ("contests/attack.html", "install", ""),
        ("contests/join.html", "guide", "play"),
        ("workbench/start.html", "install", ""),
        ("workbench/frame.html", "faq", "refused"),
        ("workbench/protect.html", "glossary", "k"),
        ("workbench/risk.html", "glossary", "class"),
        ("exchange/offer.html", "glossary", "level"),
        ("exchange/ask.html", "glossary", "request"),
        ("accounts/code.html", "faq", "second-factor"),
        ("notices/settings.html", "faq", "mail"),
    ],
)
def test_help_is_linked_from_where_questions_arise(where: str, page: str, anchor: str) -> None:
    assert (where, page, anchor) in links()


def test_links_are_in_pages_and_their_words_translated(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    english = client.get("/notices/settings").content.decode()
    japanese = client.get("/notices/settings", headers={"accept-language": "ja"}).content.decode()
    assert '<a class="more" href="/help/faq#mail">How do I stop the mail?</a>' in english
    assert '<a class="more" href="/help/faq#mail">メールを止めるには</a>' in japanese
    assert 'href="/help/install"' in client.get("/workbench/").content.decode()
