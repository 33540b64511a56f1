"""The pages of help: there in both languages, for everybody, and linked from every page."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from tests.platform.contest_plays import text_of

from tokumei.platform.pages.help_pages import FOLDER, PAGES

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
