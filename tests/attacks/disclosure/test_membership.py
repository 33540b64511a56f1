"""Who is in the data: leaks that copies do not show, releases that hide it, and the area by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.attacks.disclosure.test_nearest_records import people

import tokumei as tk
from tokumei.attacks.disclosure.membership import auc_of
from tokumei.core.score import Score

N = 1_200
QI = ["n0", "n1", "n2", "at", "job"]


@pytest.fixture(scope="module")
def table() -> tk.Table:
    return tk.Table(people(N, 1).select(QI), qi=QI)


@pytest.fixture(scope="module")
def control() -> pl.DataFrame:
    return people(N, 2).select(QI)


def scores(table: tk.Table, release: Any, control: pl.DataFrame) -> dict[str, Score]:
    return dict(tk.attack(table, release, "membership", control=control, people=0).scores["membership"])


def test_rows_with_one_changed_cell_tell_who_is_in_though_few_are_copies(
    table: tk.Table, control: pl.DataFrame
) -> None:
    rng = np.random.default_rng(3)
    which = rng.integers(0, 3, N)
    leak = table.frame.with_columns(
        pl.col(name) + pl.Series(np.where(which == index, rng.normal(0, 150, N), 0))
        for index, name in enumerate(QI[:3])
    )
    found = scores(table, leak, control)
    assert found["success"].inputs["proxy"]["exact_copies"] < 0.02
    assert found["success"].value > 0.9
    assert found["auc"].value > 0.95


def test_few_memorized_rows_among_made_up_ones_are_found(table: tk.Table, control: pl.DataFrame) -> None:
    """One row in twenty is a copy, the others are other people's; what speaks of all rows does not see it."""
    kept = N // 20
    found = scores(table, pl.concat([table.frame[:kept], people(N, 5).select(QI)[kept:]]), control)["success"]
    assert found.inputs["by"] == "copies"
    assert found.interval is not None
    assert found.interval[0] > 0.02
    assert set(found.inputs["riskiest"]) <= set(range(1, kept + 1)) | set(range(1, N + 1))


def test_nobody_is_told_by_other_people_or_by_large_classes(table: tk.Table, control: pl.DataFrame) -> None:
    for release in (people(N, 6).select(QI), tk.anonymize(table, method="optimal", k=25, seed=1)):
        found = scores(table, release, control)
        assert found["success"].interval is not None
        assert found["success"].interval[0] <= 0.03
        assert found["auc"].interval is not None
        assert found["auc"].interval[0] <= 0.56


def test_tight_ranges_tell_who_is_in_however_large_the_classes(table: tk.Table, control: pl.DataFrame) -> None:
    """People outside fall between the ranges of Mondrian's classes, or beyond their ends."""
    found = scores(table, tk.anonymize(table, method="mondrian", k=25, seed=1, ranges="tight"), control)
    assert found["auc"].interval is not None
    assert found["auc"].interval[0] > 0.52


def test_few_people_outside_are_refused(table: tk.Table, control: pl.DataFrame) -> None:
    with pytest.raises(tk.errors.InputError, match="a control of 400 people or more, which membership needs"):
        scores(table, table.frame, control[:399])
    with pytest.raises(tk.errors.InputError, match="control, which membership needs"):
        tk.attack(table, table.frame, "membership", in_order=True)


def test_area_by_hand() -> None:
    assert auc_of(np.array([3.0, 1.0]), np.array([2.0, 1.0])) == 0.625
