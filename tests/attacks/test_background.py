from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

from tokumei.attacks.history.attackers import (
    AS_STATED,
    ATTACKERS,
    danger_by_kind,
    knowledge_points,
    measure_risks,
    predict_risks,
)
from tokumei.core.errors import InputError
from tokumei.data.history import History


def history(*rows: tuple[str | None, int | None, str | None]) -> History:
    schema = {"customer": pl.String, "day": pl.Int64, "item": pl.String}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    is_kept = pl.col("customer").is_not_null()
    return History.of(
        frame.with_columns(
            date=pl.date(2010, 12, pl.col("day")),
            price=pl.when(is_kept).then(1.0),
            quantity=pl.when(is_kept).then(1),
        )
    )


# The ten rows of the slides, with the item of row 5 as the table of baskets shows it.
TOY = history(
    ("A", 1, "100"),
    ("C", 1, "100"),
    ("D", 1, "200"),
    ("B", 2, "100"),
    ("B", 2, "200"),
    ("B", 2, "300"),
    ("A", 3, "100"),
    ("B", 3, "200"),
    ("D", 3, "100"),
    ("D", 3, "300"),
)


def test_toy_of_the_slides_is_measured_and_predicted() -> None:
    assert measure_risks(TOY, met="rows")[5].value == pytest.approx(8 / 15)
    assert predict_risks(TOY)[5] == pytest.approx(0.3)


def test_risks_of_the_toy_by_hand() -> None:
    # Seven baskets: A1 {100}, C1 {100}, D1 {200}, B2 {100, 200, 300}, A3 {100}, B3 {200}, D3 {100, 300}.
    expected = [
        Fraction(1, 4),
        # Item 100 has 5 rows and the customers A, B, C, D; 200 has 3 rows of B and D; 300 has 2 rows of B and D.
        (Fraction(5, 4) + Fraction(3, 2) + Fraction(2, 2)) / 10,
        # One row: 5 baskets of A, B, C, D; two rows: D; three rows: B.
        (Fraction(5, 4) + 1 + 1) / 7,
        # (1, 100): 3 rows of A, C; (1, 200): 2 of B, D; all others have one customer.
        (Fraction(3, 2) + Fraction(2, 2) + 5) / 10,
        # {100}: 3 baskets of A, C; {200}: 2 of B, D.
        (Fraction(3, 2) + Fraction(2, 2) + 2) / 7,
        # Day 1 has 3 customers, day 2 one, day 3 three.
        Fraction(1 + 1 + 1, 7),
        # Day 1: 100 by A, C, 200 by D. Day 3: 100 by A, D, 200 by B, 300 by D.
        (Fraction(2, 2) + 1 + 3 + Fraction(2, 2) + 1 + 1) / 10,
        # Day 1, one row: A, C, D. Day 3, one row: A, B.
        (Fraction(3, 3) + 1 + Fraction(2, 2) + 1) / 7,
        # Only A and C bought the same on the same day as one row.
        (Fraction(2, 2) + 8) / 10,
        (Fraction(2, 2) + 5) / 7,
    ]
    scores = measure_risks(TOY)
    assert [score.value for score in scores] == pytest.approx([float(risk) for risk in expected])
    assert {score.baseline for score in scores} == {0.25}


def test_attackers_stated_to_know_how_many_look_for_the_number_of_rows_too() -> None:
    # A bought x in two rows of day 1, B and C each in one row: the set {x} fits three customers, two rows fit A alone.
    bought = history(("A", 1, "x"), ("A", 1, "x"), ("B", 1, "x"), ("C", 2, "x"))
    risks = measure_risks(bought)
    assert [round(risks[4].value, 6), round(risks[4].inputs[AS_STATED], 6)] == [round(3 / 3 / 3, 6), round(2 / 3, 6)]
    # On day 1 A and B have the same set and not the same number of rows.
    assert risks[9].value == pytest.approx(2 / 3)
    assert risks[9].inputs[AS_STATED] == 1
    assert all(risks[n].inputs[AS_STATED] == risks[n].value for n in (0, 1, 2, 3, 5, 6, 7, 8))


def test_theory_multiplies_the_numbers_of_values() -> None:
    # 3 days, 3 numbers of rows, 3 items, 4 sets of items, 10 rows, 4 customers.
    assert predict_risks(TOY) == pytest.approx([0.25, 0.3, 0.3, 0.9, 1.2, 0.3, 0.9, 0.9, 2.7, 3.6])


def test_release_that_changes_nothing_but_ids_is_as_risky_as_the_original() -> None:
    released = History(TOY.frame.with_columns(customer="P" + pl.col("customer")))
    assert [s.value for s in measure_risks(TOY, released)] == [s.value for s in measure_risks(TOY)]


def test_release_protects_where_its_rows_no_longer_fit() -> None:
    # B's day 2 is deleted, A's day 3 moved to day 1.
    released = history(
        ("a", 1, "100"),
        ("c", 1, "100"),
        ("d", 1, "200"),
        *[(None, None, None)] * 3,
        ("a", 1, "100"),
        ("b", 3, "200"),
        ("d", 3, "100"),
        ("d", 3, "300"),
    )
    day = measure_risks(TOY, released)[5]
    # Day 1: A, C, D are met, and a, c, d fit. Day 2: none fits. Day 3: A, B, D are met, only b and d fit.
    assert day.value == pytest.approx((3 * 1 / 3 + 0 + 2 * 1 / 2) / 7)


def test_two_pseudonyms_of_one_customer_are_two_to_pick_from_and_both_right() -> None:
    original = history(("A", 1, "x"), ("A", 2, "x"), ("B", 1, "x"))
    released = history(("p", 1, "x"), ("q", 2, "x"), ("r", 1, "x"))
    # Item x: A is met by 2 rows of 3 and has 2 of 3 pseudonyms, B by 1 of 3 and has 1 of 3.
    assert measure_risks(original, released)[1].value == pytest.approx((2 * 2 / 3 + 1 * 1 / 3) / 3)


def test_points_count_rows_against_customers() -> None:
    points = knowledge_points(TOY, ATTACKERS[5])
    # Day 1 has 3 rows of 3 customers, day 2 has 3 of 1, day 3 has 4 of 3.
    assert points.rows() == [(3, 1, 1), (3, 3, 1), (4, 3, 1)]
    assert knowledge_points(TOY, ATTACKERS[0]).rows() == [(10, 4, 1)]


def test_danger_is_what_a_kind_of_knowledge_adds() -> None:
    risks = measure_risks(TOY)
    found = {kind: (alone, added) for kind, alone, added in danger_by_kind(risks).rows()}
    value = [score.value for score in risks]
    day = (
        value[5] - value[0] + value[6] - value[1] + value[7] - value[2] + value[8] - value[3] + value[9] - value[4]
    ) / 5
    assert found["day"] == pytest.approx((value[5], day))
    assert found["one item"][0] == value[1]
    assert found["all items"] == (None, pytest.approx((value[4] - value[2] + value[9] - value[7]) / 2))
    assert danger_by_kind(risks)["added"].is_sorted(descending=True)


def test_release_with_other_rows_and_risks_of_fewer_attackers_are_refused() -> None:
    with pytest.raises(InputError, match="as many rows as the original, 10"):
        measure_risks(TOY, history(("p", 1, "x")))
    with pytest.raises(InputError, match="10 attackers"):
        danger_by_kind(measure_risks(TOY)[:3])
