from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.measures.requirement import SAFETY
from tokumei.methods.perturbing.masking import TopBottomCode, threshold
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows

INCOMES = ["100", "120", "300", "320", "900"]


def coded(values: list[Any], **options: Any) -> Perturbed:
    frame = pl.DataFrame({"income": pl.Series(values, dtype=None if values else pl.Int64)})
    return TopBottomCode(**options).perturb(Original(frame, ("income",), ("income",)), seed=1)


def incomes(values: list[Any], **options: Any) -> list[float | None]:
    return coded(values, **options).frame["income"].to_list()


def test_two_rows_at_the_top_are_written_alike() -> None:
    assert incomes(INCOMES, k=2, top=0.2, bottom=0) == [100, 120, 300, 320, 320]
    assert incomes(INCOMES, k=2, top=0.2, bottom=0, write="mean") == [100, 120, 300, 610, 610]


def test_both_ends_are_coded() -> None:
    changed = coded(INCOMES, k=2, top=0.4, bottom=0.4)
    assert changed.frame["income"].to_list() == [120, 120, 300, 320, 320]
    assert changed.frame.schema["income"] == pl.Int64
    assert changed.facts["thresholds"] == {"income": [120, 320]}
    assert changed.rows is not None
    assert changed.rows.to_list() == [0, 1, 2, 3, 4]


def test_bounds_are_taken_instead_of_shares_unless_fewer_than_k_rows_reach_them() -> None:
    assert incomes(INCOMES, k=1, low=(110,), high=(310,)) == [110, 120, 300, 310, 310]
    assert incomes(INCOMES, k=2, low=(110,), high=(310,)) == [120, 120, 300, 310, 310]
    # Nobody has 1,000 or more, but whoever has most would be alone.
    assert incomes(INCOMES, k=2, bottom=0, high=(1000,)) == [100, 120, 300, 320, 320]


def test_many_equal_numbers_at_an_end_are_left_alone() -> None:
    # A twentieth of the rows at most is coded: the three that have gains, not the zeros as well.
    gains = [0] * 97 + [50, 60, 90]
    assert incomes(gains, top=0.05, bottom=0.05) == [0] * 97 + [50] * 3
    # Half of the rows have the greatest number, and all of them share it.
    assert incomes([0, 0, 0, 1, 1, 1]) == [0, 0, 0, 1, 1, 1]


def test_missing_values_stay_and_ends_that_are_not_coded_stay() -> None:
    assert incomes([None, 1, 2, 3, 9], k=2, bottom=0) == [None, 1, 2, 3, 3]
    assert incomes([None, 1, 2, 9], k=3, top=0, bottom=0) == [None, 1, 2, 9]
    assert incomes([], k=3) == []
    assert coded([None, None]).facts["thresholds"] == {"income": [None, None]}


def test_ends_that_meet_become_one_and_ends_that_overlap_are_an_error() -> None:
    assert incomes([0, 0, 0, 0, 1], k=3) == [0] * 5
    assert incomes([7, 7, 7], k=3, write="mean") == [7, 7, 7]
    assert incomes([1, 2, 3], k=2, write="mean") == [2, 2, 2]
    with pytest.raises(CannotAnonymize, match="income has not 4 numbers at each end"):
        incomes([1, 2, 3, 4, 5], k=4)
    with pytest.raises(CannotAnonymize, match="income has 2 numbers, and 3 must be written alike"):
        incomes([1, 2, None])


def test_k_asked_for_is_kept_at_the_ends() -> None:
    frame = pl.DataFrame({"income": list(range(20))})
    goal = Goal([SAFETY.make("k-anonymity", k=10)], method=TopBottomCode(), numeric=["income"])
    assert release_rows(frame, ["income"], {}, goal, seed=1).release.frame["income"].to_list() == [9] * 10 + [10] * 10


@given(
    st.lists(st.none() | st.integers(-9, 9), max_size=30),
    st.integers(1, 4),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(["bound", "mean"]),
)
def test_nobody_is_alone_at_an_end(values: list[int | None], k: int, top: float, bottom: float, write: str) -> None:
    try:
        changed = coded(values, k=k, top=top, bottom=bottom, write=write)
    except CannotAnonymize:
        return
    known = np.array([one for one in values if one is not None], float)
    released = np.array([one for one in changed.frame["income"] if one is not None], float)
    assert len(released) == len(known)
    if not len(known):
        return
    if top:
        assert (released == released.max()).sum() >= k
    if bottom:
        assert (released == released.min()).sum() >= k
    if write == "mean":
        assert released.mean() == pytest.approx(known.mean())
    below, above = changed.facts["thresholds"]["income"]
    is_between = (known > (-np.inf if below is None else below)) & (known < (np.inf if above is None else above))
    np.testing.assert_array_equal(released[is_between], known[is_between])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(0, 30), st.integers(1, 5))
def test_threshold_equals_its_plain_definition(values: list[int], n_most: int, k: int) -> None:
    k, n_most = min(k, len(values)), min(n_most, len(values))
    reached = {one: sum(other >= one for other in values) for one in values}
    by_share = [one for one, n in reached.items() if n <= n_most]
    by_k = max(one for one, n in reached.items() if n >= k)
    wanted = min([*by_share, by_k])
    assert threshold(np.sort(np.array(values, float)), n_most / len(values), None, k) == wanted


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"top": -0.1}, "option top: found '-0.1', expected a share from 0 to 1"),
        ({"bottom": float("nan")}, "option bottom: found 'nan'"),
        ({"low": (1, 2)}, "option low: found '1,2', expected a number for each of income"),
        ({"high": (float("nan"),)}, "option high: found 'nan', expected a finite number"),
        ({"low": (5,), "high": (5,)}, "option high: found '5', expected more than 5, which is low"),
        ({"k": 0}, "option k"),
        ({"write": "median"}, "option write: found 'median', expected bound or mean"),
        ({"columns": ("age",)}, "option columns"),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        coded(INCOMES, **options)
