from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.history.fitting import Known, cells_by_pseudonym, find_fitting
from tokumei.attacks.history.generalized import (
    GENERALIZED_ATTACKS,
    Generalized,
    ItemsInCommon,
    SumOfQuantities,
    assign,
    believe,
    choose,
)
from tokumei.data.cells import read_range_cells, read_set_cells
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory

Row = tuple[str, int, str, float, int]


def history(*rows: Row) -> History:
    columns = ["customer", "date", "item", "price", "quantity"]
    frame = pl.DataFrame(rows, schema=columns, orient="row", strict=False)
    return History.of(frame.with_columns(date=pl.date(2011, 1, pl.col("date"))))


def release(*rows: tuple[str, str, str, str, str]) -> GeneralizedHistory:
    """Write days of January 2011 as their number."""
    columns = [pl.Series(column, dtype=pl.String) for column in zip(*rows, strict=True)]
    customer, days, items, prices, quantities = columns
    return GeneralizedHistory(
        customer,
        read_range_cells(days, lambda day: pl.date(2011, 1, day.cast(pl.Int32, strict=False))),
        read_set_cells(items),
        read_range_cells(prices, lambda cell: cell.cast(pl.Float64, strict=False)),
        read_range_cells(quantities, lambda cell: cell.cast(pl.Int64, strict=False)),
    )


ORIGINAL = history(
    ("1", 1, "A", 1.0, 5),
    ("1", 2, "B", 2.0, 6),
    ("2", 3, "A", 1.0, 7),
    ("2", 9, "C", 2.0, 6),
    ("3", 3, "A", 1.0, 5),
)


def who_fits(*rows: tuple[str, str, str, str, str]) -> dict[str, list[str]]:
    known = Known.of(ORIGINAL)
    cells = cells_by_pseudonym(release(*rows), known)
    weights = find_fitting(known, cells)
    return {
        name: [known.customers[number] for number in np.flatnonzero(np.isfinite(line))]
        for name, line in zip(cells, weights, strict=True)
    }


@pytest.mark.parametrize(
    ("row", "fitting"),
    [
        (("9", "1", "A", "1", "5"), ["1"]),
        (("9", "[1;3]", "A", "1", "5"), ["1", "3"]),
        (("9", "[1;3]", "{A;B}", "*", "[5;7]"), ["1", "2", "3"]),
        (("9", "*", "*", "2", "*"), ["1", "2"]),
        (("9", "[2;9]", "*", "*", "6"), ["1", "2"]),
        (("9", "31", "A", "1", "5"), []),
    ],
)
def test_a_customer_fits_a_row_that_may_stand_for_one_of_its_own(
    row: tuple[str, str, str, str, str], fitting: Sequence[str]
) -> None:
    assert who_fits(row)["9"] == fitting


def test_a_customer_needs_a_row_of_its_own_for_each_row() -> None:
    # Customer 1 has one row of A only; two rows that both need it cannot both be its.
    assert who_fits(("9", "[1;3]", "A", "1", "*"), ("9", "[1;2]", "{A;C}", "*", "*")) == {"9": []}
    assert who_fits(("9", "[1;3]", "{A;B}", "*", "*"), ("9", "[1;2]", "{A;B}", "*", "*")) == {"9": ["1"]}
    assert who_fits(("9", "*", "*", "*", "*"), ("9", "*", "*", "*", "*"), ("9", "*", "*", "*", "*")) == {"9": []}


def test_who_is_certain_leaves_others_fewer() -> None:
    # Both fit customer 1, but the first fits nobody else.
    weights = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.0, -np.inf], [-np.inf, 0.0, 0.0]])
    belief = believe(weights)
    assert belief.chances == pytest.approx(np.eye(3))
    assert assign(belief).tolist() == [0, 1, 2]


def test_weights_that_only_tell_customers_apart_tell_nothing() -> None:
    # Two pseudonyms that are alike: customer 2 is likelier for both, and so for neither.
    belief = believe(np.array([[0.0, 900.0], [0.0, 900.0]]))
    assert belief.chances == pytest.approx(np.full((2, 2), 0.5))
    assert len(set(belief.classes)) == 1


def test_customers_without_a_pseudonym_are_allowed() -> None:
    belief = believe(np.array([[0.0, 0.0, -np.inf]]))
    assert belief.chances == pytest.approx(np.array([[0.5, 0.5, 0.0]]))


def test_a_pseudonym_that_fits_nobody_is_not_guessed() -> None:
    belief = believe(np.array([[-np.inf, -np.inf], [0.0, -np.inf]]))
    assert assign(belief).tolist() == [-1, 0]


def blocks(*sizes: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    weights = np.full((sum(sizes), sum(sizes)), -np.inf)
    start = 0
    for size in sizes:
        weights[start : start + size, start : start + size] = 0
        start += size
    return weights


@pytest.mark.parametrize(
    ("sizes", "n_chosen"),
    [
        # Pairs: the report's 24; groups of three: two whole ones and one guess more have 1/6 · 1/6 · 1/3.
        ([2] * 40, 24),
        ([3] * 40, 7),
        # Nine who are certain prove it at once; with five and pairs, two right of one pair are enough.
        ([1] * 9 + [3] * 5, 7),
        ([1] * 5 + [2] * 5, 7),
        ([3], 0),
    ],
)
def test_as_many_are_chosen_as_have_the_best_chance(sizes: list[int], n_chosen: int) -> None:
    belief = believe(blocks(*sizes))
    assert len(choose(belief, assign(belief))) == n_chosen


def plain(n_customers: int) -> tuple[History, GeneralizedHistory, dict[str, str]]:
    """Make customers who each bought one item of their own and a common one, released under 100, 101, …."""
    rows: list[Row] = []
    for number in range(n_customers):
        rows += [(str(number), 1, f"A{number}", 1.0, number + 1), (str(number), 2, "B", 1.0, number + 1)]
    original = history(*rows)
    names = {str(number): str(100 + number) for number in range(n_customers)}
    renamed = original.frame.with_columns(pl.col("customer").replace_strict(names))
    return original, GeneralizedHistory.of(History(renamed)), names


@pytest.mark.parametrize("name", list(GENERALIZED_ATTACKS))
def test_every_attack_finds_customers_under_nothing_but_pseudonyms(name: str) -> None:
    original, published, names = plain(9)
    guesses = GENERALIZED_ATTACKS[name]().guess(original, published)
    assert guesses.columns == ["pseudonym", "customer", "confidence"]
    assert guesses.height >= 7
    assert all(names[customer] == pseudonym for pseudonym, customer, _ in guesses.rows())
    assert guesses["confidence"].is_sorted(descending=True)


@pytest.mark.parametrize("name", list(GENERALIZED_ATTACKS))
def test_every_attack_has_no_guess_where_all_rows_are_deleted(name: str) -> None:
    published = release(("*", "*", "*", "*", "*"))
    assert GENERALIZED_ATTACKS[name]().guess(ORIGINAL, published).is_empty()


def test_generalized_submits_all_if_told_to() -> None:
    original, published, _ = plain(12)
    assert Generalized().guess(original, published).height == 7
    assert Generalized(submit_all=True).guess(original, published).height == 12


def test_items_of_a_large_set_count_less() -> None:
    published = release(("9", "*", "{A;B;C}", "*", "*"), ("9", "*", "C", "*", "*"))
    assert ItemsInCommon().guess(ORIGINAL, published)["customer"].to_list() == ["2"]


def test_quantities_in_ranges_count_by_their_middle() -> None:
    published = release(("9", "*", "*", "*", "[4;8]"), ("9", "*", "*", "*", "7"))
    assert SumOfQuantities().guess(ORIGINAL, published)["customer"].to_list() == ["2"]


def test_dates_are_read_as_written() -> None:
    assert release(("9", "[1;3]", "*", "*", "*")).date.high.to_list() == [date(2011, 1, 3)]
