"""Japanese as it is set and spoken: full-width marks, and one word for each thing, wherever a text stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tokumei.core.catalogue import full_width, read_po
from tokumei.platform.translations import PO_FILE
from tokumei.reports.japanese import LIBRARY

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tokumei"
# The rooms that speak to readers; elsewhere Japanese is what data may hold.
ROOMS = ("contest", "exchange", "platform", "reports")
JAPANESE = re.compile("[ぁ-んァ-ヶ一-龥]")
# An English text may name a thing in Japanese.
ENGLISH = re.compile("[a-z]{2,} [a-z]{2,}")
# Names of laws and of methods keep words that are ours for something else.
PROPER = re.compile("施行規則|相関ルール")


@cache
def japanese_texts() -> list[tuple[str, str]]:
    """Return every Japanese text with where it stands: catalogs, code and pages of help."""
    known = [(file.name, one) for file in (PO_FILE, LIBRARY) for one in read_po(file.read_text("utf-8"))]
    found = [(f"{name}: {message.text}", message.japanese) for name, message in known]
    for room in ROOMS:
        for file in sorted((SOURCE / room).rglob("*.py")):
            found += [(f"{file.relative_to(ROOT)}:{line}", text) for line, text in _of_code(file)]
        for file in sorted((SOURCE / room).rglob("*.ja.md")):
            found += [(f"{file.relative_to(ROOT)}", text) for text in file.read_text("utf-8").splitlines()]
    return [(where, text) for where, text in found if JAPANESE.search(text) and not ENGLISH.search(text)]


def _of_code(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def words() -> Iterator[tuple[str, str]]:
    """Return the words of the glossary with those that are not used for the same thing."""
    table = (ROOT / "docs" / "glossary.md").read_text("utf-8").partition("## In Japanese")[2]
    for row in re.findall(r"^\| (.+) \|$", table, re.M)[1:]:
        _english, chosen, others = row.split(" | ")
        yield chosen, "|".join(re.escape(other) for other in others.split(", "))


def test_glossary_has_the_words_that_once_differed() -> None:
    assert {"加工データ", "キャプテン", "データ流通", "フェーズ", "自分のチーム", "監視"} <= {
        chosen for chosen, _ in words()
    }


@pytest.mark.parametrize(("chosen", "others"), [*words()])
def test_one_word_stands_for_one_thing(chosen: str, others: str) -> None:
    texts = [(where, PROPER.sub("", text)) for where, text in japanese_texts() if "translations.py" not in where]
    assert any(chosen in text for _, text in texts)
    assert [(where, text) for where, text in texts if re.search(others, text)] == []


def test_marks_are_of_full_width_everywhere() -> None:
    assert len(japanese_texts()) > 2000
    assert [(where, text) for where, text in japanese_texts() if full_width(text) != text] == []
