"""Every number that a page can show is put into words, in both languages."""

from __future__ import annotations

import re

import polars as pl
import pytest

from tokumei.attacks.registry import DISCLOSURE_ATTACKS, HISTORY_ATTACKS
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.audit import audit
from tokumei.measures.registry import HISTORY_UTILITIES, TABLE_UTILITIES
from tokumei.reports.explanations import _ALL, explain


def test_every_registered_measure_and_attack_is_explained() -> None:
    for registry in (TABLE_UTILITIES, HISTORY_UTILITIES, DISCLOSURE_ATTACKS, HISTORY_ATTACKS):
        assert [name for name in registry if explain(name) is None] == []


def test_every_number_of_an_audit_is_explained() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2], "pay": [3, 4, 5]})
    counts = count_classes(frame, ["age"], sensitive=["pay"])
    tree = Hierarchy.of_levels("pay", [["3", "4", "5"], ["*", "*", "*"]])
    found = audit(counts, population=count_classes(frame, ["age"]), hierarchies={"pay": tree})
    shown = [name for name in (*found.classes, *found.worst) if not name.startswith("journalist-risk-")]
    assert [name for name in shown if explain(name) is None] == []


@pytest.mark.parametrize("name", _ALL)
def test_words_are_sentences_in_their_language(name: str) -> None:
    english, japanese = explain(name), explain(name, "ja")
    assert english is not None
    assert japanese is not None
    assert english.says.endswith(".")
    assert english.says.isascii() or "ℓ" in english.says
    assert japanese.says.endswith("。")
    assert re.search("[ぁ-ん]", japanese.says)
    assert re.search("[ぁ-んァ-ヶ一-龯]", japanese.title) or name in {"s1", "s2", "s3", "s4", "s5", "s6"}


def test_what_nobody_put_into_words_is_told() -> None:
    assert explain("no-such-number") is None
