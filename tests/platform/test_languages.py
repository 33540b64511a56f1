"""Both languages: how one is chosen, and that no text lacks its Japanese."""

from __future__ import annotations

import gettext
import io
import re

import pytest
from django.test import Client
from tests.platform.conftest import LogIn

from tokumei.core import catalogue
from tokumei.core.catalogue import Message
from tokumei.platform import translations
from tokumei.platform.accounts.models import User
from tokumei.reports.japanese import LIBRARY

ENGLISH, JAPANESE = "How a contest goes", "コンテストの流れ"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


def page(client: Client, path: str = "/", **headers: str) -> str:
    return client.get(path, headers=headers).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "expected"),
    [("ja", JAPANESE), ("ja-JP,ja;q=0.9,en;q=0.8", JAPANESE), ("fr,de", ENGLISH), ("en-GB", ENGLISH), ("", ENGLISH)],
)
def test_language_is_the_browsers_at_first(client: Client, asked: str, expected: str) -> None:
    assert expected in page(client, **{"accept-language": asked})


@pytest.mark.django_db
def test_language_of_the_page_is_told_to_browsers(client: Client) -> None:
    answer = client.get("/", headers={"accept-language": "ja"})
    assert answer["Content-Language"] == "ja"
    assert '<html lang="ja">' in answer.content.decode()
    assert {"Accept-Language", "Cookie"} <= {name.strip() for name in answer["Vary"].split(",")}


@pytest.mark.django_db
def test_language_chosen_by_a_visitor_stays_in_a_cookie(client: Client) -> None:
    answer = client.post("/language", {"language": "ja", "next": "/login"})
    assert answer["Location"] == "/login"
    assert JAPANESE in page(client, **{"accept-language": "en"})
    cookie = answer.cookies["tokumei_language"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


@pytest.mark.django_db
def test_language_chosen_by_a_user_goes_wherever_they_log_in(alice: User, log_in: LogIn) -> None:
    log_in(alice).post("/language", {"language": "ja"})
    assert JAPANESE in page(log_in(alice), **{"accept-language": "en"})
    log_in(alice).post("/account", {"display_name": "Alice", "email": alice.email, "language": ""})
    assert ENGLISH in page(log_in(alice), **{"accept-language": "en"})


@pytest.mark.django_db
def test_language_of_one_user_does_not_stay_for_the_next(alice: User, client: Client, log_in: LogIn) -> None:
    log_in(alice).post("/language", {"language": "ja"})
    assert JAPANESE in page(log_in(alice))
    assert ENGLISH in page(client, **{"accept-language": "en"})


@pytest.mark.django_db
def test_language_that_is_unknown_or_leads_elsewhere_changes_nothing(client: Client) -> None:
    answer = client.post("/language", {"language": "../../etc", "next": "//evil.example"})
    assert answer["Location"] == "/"
    assert "tokumei_language" not in answer.cookies


def test_every_text_has_its_japanese() -> None:
    known = catalogue.read_po(translations.PO_FILE.read_text("utf-8"))
    merged = catalogue.merge(translations.collect(), known)
    assert [message.text for message in merged if not message.japanese] == []
    assert len(merged) > 150


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("残り回数:%(n)s", "残り回数：%(n)s"),
        ("独自(下のテキスト)です", "独自（下のテキスト）です"),
        ("消しますか? はい", "消しますか？はい"),
        ("回数:<strong>%(n)s</strong>(本日)", "回数：<strong>%(n)s</strong>（本日）"),
        ("%(team)s:順位なし", "%(team)s：順位なし"),
        ("加工データ A(T)(T と同じ), 次に", "加工データ A(T)（T と同じ）, 次に"),
        ("全員, 3, 4", "全員、3, 4"),
        ("[文字](https://…) のリンク", "[文字](https://…) のリンク"),
        ("k(x) と S(2)", "k(x) と S(2)"),
    ],
)
def test_marks_beside_japanese_characters_are_of_full_width(written: str, expected: str) -> None:
    assert catalogue.full_width(written) == expected
    assert catalogue.full_width(expected) == expected


def test_every_placeholder_is_in_the_japanese_too() -> None:
    for message in catalogue.read_po(translations.PO_FILE.read_text("utf-8")):
        if not message.japanese:
            continue
        wanted = set(PLACEHOLDER.findall(message.text)) | set(PLACEHOLDER.findall(message.plural))
        assert set(PLACEHOLDER.findall(message.japanese)) == wanted, message.text


def test_files_of_texts_are_up_to_date() -> None:
    written = translations.PO_FILE.read_text("utf-8")
    merged = catalogue.merge(translations.collect(), catalogue.read_po(written))
    advice = "run: python -m tokumei.platform.translations"
    assert catalogue.write_po(merged) == written, advice
    assert catalogue.compile_mo(merged) == translations.PO_FILE.with_suffix(".mo").read_bytes(), advice
    library = catalogue.read_po(LIBRARY.read_text("utf-8"))
    assert catalogue.compile_mo(library) == LIBRARY.with_suffix(".mo").read_bytes(), advice


def test_texts_written_and_read_are_the_same() -> None:
    messages = [
        Message('a "quoted"\nline\\', japanese="行"),
        Message("one", plural="many", japanese="個"),
        Message("May", context="month", japanese="五月"),
    ]
    assert catalogue.read_po(catalogue.write_po(messages)) == messages


def test_compiled_texts_are_read_by_gettext() -> None:
    messages = [
        Message("May", context="month", japanese="五月"),
        Message("May", japanese="かもしれない"),
        Message("%(n)s cat", plural="%(n)s cats", japanese="猫 %(n)s 匹"),
        Message("untranslated"),
    ]
    found = gettext.GNUTranslations(io.BytesIO(catalogue.compile_mo(messages)))
    assert found.gettext("May") == "かもしれない"
    assert found.pgettext("month", "May") == "五月"
    assert found.ngettext("%(n)s cat", "%(n)s cats", 2) == "猫 %(n)s 匹"
    assert found.gettext("untranslated") == "untranslated"
