"""Codes whose beginning says most get a hierarchy of their beginnings where none is given; words do not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tokumei as tk
from tokumei.tasks.preparing import made_hierarchy

GERMAN = ["01067", "01069", "01097", "10115", "10117", "80331"]


@pytest.mark.parametrize(
    ("codes", "first", "last"),
    [
        (GERMAN, "0106*", "0****"),
        (["100-0001", "100-0002", "150-0001", "530-0001"], "100-000*", "1*******"),
        (["K1A 0B1", "K1A 0B2", "M5V 3L9", "V6B 1A1"], "K1A 0B*", "K******"),
        (["E11.9", "E11.8", "I10.0", "J45.0"], "E11.*", "E****"),
    ],
)
def test_codes_of_one_shape_are_masked_from_the_right(codes: list[str], first: str, last: str) -> None:
    made, said = made_hierarchy("code", pl.Series([*codes, None]))
    assert said == "codes: masked from the right"
    at = made.leaves.index(codes[0])
    assert made.labels_at(1)[at] == first
    assert made.labels_at(made.height - 1)[at] == last
    assert set(made.labels_at(made.height)) == {"*"}


@pytest.mark.parametrize(
    "texts",
    [
        ["Kyoto", "Osaka", "Tokyo", "Chiba", "Nagoya"],
        ["abc", "abd", "abe", "abf"],
        ["01067", "1067", "A-12", "2"],
        ["01", "02"],
    ],
)
def test_words_and_texts_of_several_shapes_are_told_or_not(texts: list[str]) -> None:
    assert made_hierarchy("x", pl.Series(texts))[1] == "unordered: the value or nothing"


def test_release_with_masked_codes_keeps_more_and_is_measured_from_its_file(tmp_path: Path) -> None:
    people = pl.DataFrame({"plz": GERMAN * 4, "age": ["30"] * 24}).with_columns(
        plz=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("01062")).otherwise("plz")
    )
    table = tk.Table(people, qi=["plz"])
    made = tk.anonymize(table, k=4)
    assert made.rows is not None
    assert set(made.frame["plz"]) == {"0106*", "0109*", "1011*", "8033*"}
    out = tmp_path / "release.csv"
    made.save(out)
    from_file = tk.measure(table, str(out), rows=made.rows)
    assert from_file.to_dict()["scores"] == tk.measure(table, made).to_dict()["scores"]
