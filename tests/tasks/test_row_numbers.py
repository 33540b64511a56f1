"""Whose row is whose: rows count from 0 in Python and from 1 in files, and labels are held against values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.data.files.strict import read_rows

DRAW = np.random.default_rng(1)
N = 200
PEOPLE = tk.Table(
    {
        "age": DRAW.integers(20, 80, N).tolist(),
        "town": DRAW.choice(["Kyoto", "Osaka", "Chiba"], N).tolist(),
        "ill": DRAW.choice(["flu", "cold"], N).tolist(),
    },
    qi=["age", "town"],
    sensitive=["ill"],
)
RELEASE = tk.anonymize(PEOPLE, k=5, method="mondrian", keep=["ill"], seed=1)
assert RELEASE.rows is not None
# Takes any call, of which some here are wrong on purpose.
door: Any = tk


@pytest.mark.parametrize("as_given", [lambda rows: rows, list, np.array, lambda rows: rows.to_numpy()])
def test_attack_by_rows_is_the_attack_on_the_release(as_given: Any) -> None:
    told = tk.attack(PEOPLE, RELEASE.frame, "record-linkage", rows=as_given(RELEASE.rows))
    assert told.scores == tk.attack(PEOPLE, RELEASE, "record-linkage").scores


def test_measure_harden_and_audit_count_rows_as_the_release_does() -> None:
    frame, rows = RELEASE.frame, RELEASE.rows
    assert tk.measure(PEOPLE, frame, rows=rows).scores == tk.measure(PEOPLE, RELEASE).scores
    by_rows = tk.harden(PEOPLE, frame, rows=rows, bound=0.9, attacks=["record-linkage"])
    assert by_rows.found.after.worst == tk.harden(RELEASE, bound=0.9, attacks=["record-linkage"]).found.after.worst
    other = tk.anonymize(PEOPLE, k=8, method="mondrian", keep=["ill"], seed=2)
    again = tk.Table(frame, ["age", "town"], ["ill"])
    held = tk.audit(again, against=[other.table], rows=rows, against_rows=[other.rows])
    assert held.to_dict()["against"]["k"] == tk.audit(RELEASE, against=[other]).to_dict()["against"]["k"]


def test_file_of_rows_counts_from_one_and_says_the_same(tmp_path: Path) -> None:
    RELEASE.save(tmp_path / "out.csv", rows=tmp_path / "rows.csv")
    assert RELEASE.rows is not None
    assert read_rows(tmp_path / "rows.csv").to_list() == [row + 1 for row in RELEASE.rows]
    from_files = tk.attack(PEOPLE, tmp_path / "out.csv", "record-linkage", rows=tmp_path / "rows.csv")
    assert from_files.scores == tk.attack(PEOPLE, RELEASE, "record-linkage").scores


def test_claims_name_rows_of_the_frame() -> None:
    tight = tk.anonymize(PEOPLE, k=5, method="mondrian", ranges="tight", seed=1)
    claims = tk.attack(tight, attack="downcoding").claims
    own = claims.filter(pl.col("column") == "age").row(0, named=True)
    assert tight.frame["age"][own["row"]] == own["label"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda rows: rows + 1, r"option rows: found '200', expected a row of the original, from 0 to 199"),
        (lambda rows: [1] * 3, "expected a row number for each of 200 released rows"),
        (lambda rows: "text", "expected a file that exists"),
        (lambda rows: [0.5] * 200, "found 'list', expected a row number for each released row"),
        (lambda rows: object(), "found 'object', expected a row number for each released row"),
        (
            lambda rows: rows.reverse(),
            r"release, column \w+: found '.*', expected a label for .*, which row [\d,]+ of the original has, in row "
            r"1 of the release; \d+ of 200 rows do not fit: the rows are in another order, or another file's",
        ),
    ],
)
@pytest.mark.parametrize("job", ["attack", "measure", "harden"])
def test_rows_that_cannot_be_whose_they_are_said_are_refused(job: str, rows: Any, said: str) -> None:
    more = {"bound": 0.9} if job == "harden" else {}
    with pytest.raises(tk.errors.InputError, match=said):
        getattr(door, job)(PEOPLE, RELEASE.frame, rows=rows(RELEASE.rows), **more)


def test_numbers_off_by_one_are_called_so() -> None:
    # Nobody has the last row, so that no number is too large.
    some = RELEASE.frame.with_columns(row=RELEASE.rows).filter(pl.col("row") < N - 1)
    with pytest.raises(tk.errors.InputError, match=r"the row numbers are off by one: in Python rows count from 0"):
        tk.measure(PEOPLE, some.drop("row"), rows=some["row"] + 1)


def test_order_that_is_not_that_of_the_original_is_refused() -> None:
    with pytest.raises(tk.errors.InputError, match="the rows are in another order, or another file's"):
        tk.attack(PEOPLE, RELEASE.frame, "record-linkage", in_order=True)


def test_release_of_another_table_is_refused() -> None:
    other = tk.Table(PEOPLE.frame.reverse(), qi=["age", "town"], sensitive=["ill"])
    with pytest.raises(tk.errors.InputError, match="another file's"):
        tk.measure(other, RELEASE)


@pytest.mark.parametrize("method", ["noise", "pram", "swap"])
def test_values_that_were_changed_at_random_need_not_fit(method: str) -> None:
    options: dict[str, dict[str, Any]] = {
        "noise": {"columns": ["age"], "scale": 5.0},
        "pram": {"columns": ["town"]},
        "swap": {"columns": ["age"]},
    }
    made = door.anonymize(PEOPLE, method=method, seed=1, **options[method])
    assert tk.measure(PEOPLE, made.frame, rows=made.rows).scores
    assert tk.attack(PEOPLE, made.frame, "record-linkage", rows=made.rows).scores
