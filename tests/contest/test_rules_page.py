"""The rules page says in both languages what the edition states."""

from __future__ import annotations

import pytest

from tokumei.contest.edition import EDITIONS, Edition
from tokumei.contest.pages import Language, rules_text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["# Tiny", "Numbers are anonymized.", "As many rows as in D.", "a name and a number a row"]),
        ("ja", ["# 小さな匿名化", "数を匿名化します。", "D と同じ行数。", "名前と数"]),
    ],
)
def test_rules_hold_every_file_rule_and_limit(tiny: Edition, language: Language, words: list[str]) -> None:
    text = rules_text(tiny.terms, language)
    for word in [*words, "D.csv", "R.csv", "P.csv", "F.csv", "G.csv", "K50.csv", "K100.csv", "**number**", "3", "2"]:
        assert word in text


@pytest.mark.parametrize("name", EDITIONS.names())
def test_rules_of_every_edition_are_written_in_both_languages(name: str) -> None:
    terms = EDITIONS.make(name).terms
    english, japanese = rules_text(terms, "en"), rules_text(terms, "ja")
    for rule in [*terms.release_rules, *terms.guess_rules]:
        assert rule.says in english
        assert rule.says_ja in japanese
    assert english.isascii() or "の" not in english
    assert "の" in japanese
