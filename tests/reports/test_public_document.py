"""The public document holds nothing that leads to a person, on random tables."""

from __future__ import annotations

import html
import json
import random
import re
from collections import Counter
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.reports.public_document import merged, public_document, public_dossier

LETTERS = "bcdfghjklmnpqrstvwxz"


def word(draw: random.Random) -> str:
    """Return a word that stands in no page by chance."""
    return "".join(draw.choices(LETTERS, k=8))


def random_table(draw: random.Random) -> pl.DataFrame:
    """Return people with rare words, numbers of many digits and missing values."""
    n = draw.randint(12, 40)
    words = [word(draw) for _ in range(draw.randint(3, 12))]
    illnesses = [word(draw) for _ in range(draw.randint(2, 6))]
    ages = [draw.randint(17_001, 99_999) for _ in range(draw.randint(4, n))]
    # Some values are common, most are rare.
    columns: dict[str, list[Any]] = {
        "town": [draw.choice([words[0], *words]) for _ in range(n)],
        "number": [draw.choice(ages) for _ in range(n)],
        "illness": [draw.choice([illnesses[0], illnesses[0], *illnesses]) for _ in range(n)],
    }
    if draw.random() < 0.3:
        columns["town"][draw.randrange(n)] = None
    return pl.DataFrame(columns)


def leaks(text: str, original: pl.DataFrame, release: pl.DataFrame, k: int) -> list[str]:
    """Return the values of the original in a text that the release shows in fewer rows than k, or not at all."""
    found: list[str] = []
    tokens = set(re.findall(r"[A-Za-z]{8}|(?<![0-9.])[0-9]{5}(?![0-9])", text.replace(",", "")))
    for name in original.columns:
        counts = Counter(str(value) for value in release[name]) if name in release.columns else Counter()
        values = {str(one) for one in original[name].drop_nulls()}
        found += [f"{name}: {value}" for value in values if value in tokens and counts[value] < k]
    return found


def public_texts(seed: int) -> tuple[list[str], pl.DataFrame, pl.DataFrame, int]:
    draw = random.Random(seed)
    frame = random_table(draw)
    k = draw.choice([2, 3])
    table = tk.Table(frame, qi=["town", "number"], sensitive=["illness"])
    made = tk.anonymize(table, k=k, method=draw.choice(["mondrian", "optimal"]), suppress=0.3, seed=seed)
    dossier = tk.report(made).dossier
    public = public_dossier(dossier)
    pages = [public_document(public, language=language).to_page().to_html() for language in ("en", "ja")]
    return [json.dumps(public, ensure_ascii=False, default=str), *pages], frame, made.table, k


@pytest.fixture(autouse=True)
def drawn_as_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show of a picture all that is drawn: its points, and the titles of its axes."""
    for name in ("bar_figure", "frontier_figure", "grouped_bar_figure"):
        monkeypatch.setattr(f"tokumei.reports.evidence_pages.{name}", drawn)


def drawn(points: pl.DataFrame, **titles: Any) -> str:
    return html.escape(f"{points.rows()} {titles}")


@pytest.mark.parametrize("seed", [1, 2])
def test_public_document_has_no_value_of_few_people(seed: int) -> None:
    texts, original, release, k = public_texts(seed)
    assert [leaks(text, original, release, k) for text in texts] == [[], [], []]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(200))
def test_public_document_of_200_random_tables_has_no_value_row_or_small_class(seed: int) -> None:
    texts, original, release, k = public_texts(seed)
    assert [leaks(text, original, release, k) for text in texts] == [[], [], []]
    told = json.loads(texts[0])
    # No class under k is counted by itself, no row is named, and no file that is kept apart.
    smallest = told["results"]["k"]
    for sizes in told["results"]["class_sizes"].values():
        assert all(label.startswith("1-") for label in sizes if int(label.split("-")[0]) < smallest)
        assert all(isinstance(n, str) or n >= smallest for n in sizes.values())
    assert not {"riskiest", "left_out", "input", "kept_apart"} & {*told, *told["results"]}


def test_scan_finds_a_value_that_is_planted() -> None:
    texts, original, release, k = public_texts(1)
    rare = str(original["number"].max())
    assert leaks(f"{texts[0]} {rare}", original, release, k) == [f"number: {rare}"]


def test_small_classes_are_counted_together() -> None:
    before, after = {"1": 7, "2-3": 6, "4-7": 12, "8-15": 30}, {"4-7": 20, "8-15": 3}
    told = {"before": {"1-7": 25, "8-15": 30}, "after": {"1-7": 20, "8-15": "< 5"}}
    assert merged({"before": before, "after": after}, 5) == told
