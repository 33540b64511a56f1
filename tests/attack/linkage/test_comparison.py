from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tokumei.attack.linkage.comparison import UNTOLD, FieldComparison, PeriodRows, levels_between


@pytest.mark.parametrize(
    ("field", "known", "released", "levels"),
    [
        ("date", [10.0], [10.0, 12.0, 4.0, 30.0], [0, 1, 2, 3]),
        ("time", [600.0], [600.0, 591.0, 660.0, 700.0], [0, 1, 2, 3]),
        ("price", [1.0], [1.0, 0.95, 1.25, 2.0, 3.0], [0, 1, 2, 3, 4]),
        ("quantity", [12.0], [12.0, 11.0, 9.0, 6.0, 1.0], [0, 1, 2, 3, 4]),
        ("item", ["22728"], ["22728", "22999", "23000", "84029"], [0, 1, 2, 3]),
    ],
)
def test_levels_of_a_field_grow_with_distance(
    field: str, known: list[object], released: list[object], levels: list[int]
) -> None:
    assert levels_between(field, np.array(known), np.array(released)).tolist() == [levels]


def test_levels_of_what_is_not_told_are_no_evidence() -> None:
    assert levels_between("price", np.array([np.nan, 1.0]), np.array([1.0, np.nan])).tolist() == [
        [UNTOLD, UNTOLD],
        [0, UNTOLD],
    ]
    assert levels_between("item", np.array(["", "22"]), np.array([""])).tolist() == [[UNTOLD], [UNTOLD]]
    comparison = FieldComparison.of("price", pl.Series([None], dtype=pl.Float64), pl.Series([1.0]))
    assert comparison.weigh(np.full(5, 0.2)).tolist() == [[1]]


def test_rare_values_weigh_more_than_common_ones() -> None:
    comparison = FieldComparison.of("item", pl.Series(["22", "84"]), pl.Series(["22"] * 9 + ["84"]))
    # Of 12 rows on both sides 10 have 22 and 2 have 84; a made-up quarter row stands at each of the four levels.
    weights = comparison.weigh(np.array([0.97, 0.01, 0.01, 0.01]))
    assert weights[0, 0] == pytest.approx(0.97 / (10.25 / 13))
    assert weights[1, 1] == pytest.approx(0.97 / (2.25 / 13))
    assert weights[0, 1] == pytest.approx(0.01 / (10.25 / 13))


def test_rows_of_a_period_are_grouped_by_customer_and_pseudonym() -> None:
    shared = {"date": datetime.date(2011, 1, 1), "time": datetime.time(9), "price": 1.0, "quantity": 1}
    known = pl.DataFrame([{"of": of, "item": "22", **shared} for of in (3, 1, 3)])
    released = pl.DataFrame([{"customer": name, "item": "22728", **shared} for name in "QPQQ"])
    period = PeriodRows.of(known, released, 2)
    assert period.customers.tolist() == [1, 3]
    assert period.n_known.tolist() == [1, 2]
    assert period.pseudonyms.to_list() == ["P", "Q"]
    assert period.n_released.tolist() == [1, 3]
    assert period.n_pairs == 12
    assert period.fields["item"].levels.tolist() == [[0]]
