from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY
from tokumei.methods.local.merging import UtilityClustering
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowRelease, release_rows

CITY = Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo", "Chiba"], ["west", "west", "east", "east"], ["*"] * 4])
PEOPLE = pl.DataFrame({"age": [31, 35, 42, 44, 80], "city": ["Kyoto", "Osaka", "Tokyo", "Tokyo", "Chiba"]})


def made(method: UtilityClustering, people: pl.DataFrame = PEOPLE, k: int = 2, **options: Any) -> RowRelease:
    goal = Goal([SAFETY.make("k-anonymity", k=k)], method=method, numeric=["age"], **options)
    return release_rows(people, ["age", "city"], {"city": CITY}, goal)


def test_bottom_up_joins_the_rows_that_share_most() -> None:
    # The example of the catalogue.
    found = made(UtilityClustering(ranges="tight"))
    assert found.release.frame.rows() == [("31-35", "west")] * 2 + [("42-80", "east")] * 3
    assert found.loss is not None
    assert found.loss.value == pytest.approx(((2 * 4 + 3 * 38) / 49 / 5 + 1 / 2) / 2)


def test_top_down_cuts_around_the_two_that_are_furthest_apart() -> None:
    # The ends are 31 Kyoto and 80 Chiba. 42 Tokyo is nearer to 31: (11/49 + 1) / 2 against (38/49 + 1/2) / 2.
    found = made(UtilityClustering("top-down", ranges="tight"))
    assert found.release.frame.rows() == [
        ("31-42", "*"),
        ("31-42", "*"),
        ("31-42", "*"),
        ("44-80", "east"),
        ("44-80", "east"),
    ]


def test_top_down_cuts_by_rows_where_the_nearer_ones_are_too_few() -> None:
    people = pl.DataFrame({"age": [20, 21, 22, 80], "city": ["Kyoto"] * 4})
    # Only 80 is nearer to itself than to 20; so the two with the highest ages go together.
    found = made(UtilityClustering("top-down", ranges="tight"), people)
    assert found.release.frame["age"].to_list() == ["20-21", "20-21", "22-80", "22-80"]


def test_bottom_up_cuts_a_group_that_became_large() -> None:
    # Of k = 3: 20 joins 21, 24 joins 25, 22 joins 20-21; then 24-25 has only that group to join, and all six are one.
    people = pl.DataFrame({"age": [20, 21, 22, 24, 25, 26], "city": ["Kyoto"] * 6})
    found = made(UtilityClustering(ranges="tight"), people, k=3)
    assert found.release.frame["age"].to_list() == ["20-22"] * 3 + ["24-26"] * 3


def test_weight_of_a_column_says_what_may_be_lost() -> None:
    people = pl.DataFrame({"age": [20, 20, 60, 60], "city": ["Kyoto", "Tokyo", "Kyoto", "Tokyo"]})
    by_age = made(UtilityClustering(ranges="tight"), people, weights={"age": 3.0}).release.frame.rows()
    assert by_age == [("20", "*")] * 2 + [("60", "*")] * 2
    by_city = made(UtilityClustering(ranges="tight"), people, weights={"city": 3.0}).release.frame.rows()
    assert by_city == [("20-60", "Kyoto"), ("20-60", "Tokyo")] * 2


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="bottom-up or top-down"):
        UtilityClustering("sideways")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 2"):
        UtilityClustering(block=0)
