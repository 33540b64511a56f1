from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.contest.editions.pwscup2018.files import read_release, write_release
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import Cost
from tokumei.data.files.released_histories import cells_of
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory, Release
from tokumei.methods.history import generalize, grouping
from tokumei.methods.history.alignment import Purchases, align, joining_costs, line_costs
from tokumei.methods.history.generalize import Generalize, smallest_class
from tokumei.methods.history.grouping import group_customers

Row = tuple[str, int, str, float, int]
START = date(2011, 1, 1)


def history(*rows: Row) -> History:
    columns = ["customer", "date", "item", "price", "quantity"]
    frame = pl.DataFrame(rows, schema=columns, orient="row", strict=False)
    return History.of(frame.with_columns(date=pl.lit(START) + pl.duration(days=pl.col("date"))))


# Customers 1 and 2 are alike, and so are 3 and 4; customer 2 has a row more.
FOUR = history(
    ("1", 0, "A", 1.0, 5),
    ("2", 3, "A", 1.0, 7),
    ("1", 1, "B", 2.0, 6),
    ("2", 200, "Z", 9.0, 90),
    ("2", 2, "C", 2.5, 6),
    ("3", 300, "X", 5.0, 50),
    ("4", 300, "X", 5.0, 50),
)


def read_back(release: Release, folder: Path) -> GeneralizedHistory:
    path = folder / "A.csv"
    write_release(cells_of(release.frame, "A"), path)
    return read_release(path)


def test_similar_customers_are_written_alike_and_extra_rows_deleted() -> None:
    frame = Generalize(k=2, ranges="tight").anonymize(FOUR, seed=1).frame
    assert frame.drop("customer").rows() == [
        ("[2011-01-01;2011-01-04]", "A", "1", "[5;7]"),
        ("[2011-01-01;2011-01-04]", "A", "1", "[5;7]"),
        ("[2011-01-02;2011-01-03]", "{B;C}", "[2;2.5]", "6"),
        ("*", "*", "*", "*"),
        ("[2011-01-02;2011-01-03]", "{B;C}", "[2;2.5]", "6"),
        ("2011-10-28", "X", "5", "50"),
        ("2011-10-28", "X", "5", "50"),
    ]
    names = frame["customer"].to_list()
    assert names[3] == "*"
    assert names[0] == names[2]
    assert names[1] == names[4]
    assert len({names[0], names[1], names[5], names[6]}) == 4


def test_pseudonym_map_names_each_customer_and_month() -> None:
    release = Generalize(k=2).anonymize(FOUR, seed=1)
    assert release.pseudonyms is not None
    truth = dict(release.pseudonyms.select("customer", "pseudonym").rows())
    assert truth["1"] == release.frame["customer"][0]
    assert release.pseudonyms.filter(customer="2").height == 2


def test_pseudonyms_change_with_the_seed_and_never_are_customers() -> None:
    one, two = (Generalize(k=2).anonymize(FOUR, seed=seed).frame["customer"] for seed in (1, 2))
    assert set(one) & set(two) == {"*"}
    assert all(re.fullmatch("[1-9][0-9]{0,8}", name) for name in {*one, *two} - {"*"})


def test_a_cell_is_suppressed_where_a_range_costs_more() -> None:
    # Scaled, the three prices span 2.12: as a range they cost each 1.06, a star 1.
    three = history(("1", 0, "A", 1.0, 1), ("2", 0, "A", 1.0, 1), ("3", 0, "A", 1000.0, 1))
    assert Generalize(k=3).anonymize(three, seed=1).frame["price"].to_list() == ["*", "*", "*"]
    # Two values cost 1 as a range, no more than a star, which tells less.
    two = history(("1", 0, "A", 1.0, 1), ("2", 0, "A", 1000.0, 1))
    tight = Generalize(k=2, ranges="tight")
    assert tight.anonymize(two, seed=1).frame["price"].to_list() == ["[1;1000]", "[1;1000]"]


def test_deleted_rows_of_the_original_stay_deleted() -> None:
    gone = FOUR.frame.with_columns(pl.when(pl.int_range(pl.len()) != 0).then(pl.all()).name.keep())
    frame = Generalize(k=2).anonymize(History(gone), seed=1).frame
    assert frame.row(0) == ("*",) * 5
    assert smallest_class(frame) == 2


def test_unhidden_customers_are_those_with_most_rows_and_written_as_they_are() -> None:
    release = Generalize(k=2, unhidden=1).anonymize(FOUR, seed=1)
    assert release.pseudonyms is not None
    names = dict(release.pseudonyms.select("customer", "pseudonym").rows())
    assert release.frame.filter(customer=names["2"]).drop("customer").rows() == [
        ("2011-01-04", "A", "1", "7"),
        ("2011-07-20", "Z", "9", "90"),
        ("2011-01-03", "C", "2.5", "6"),
    ]
    hidden = release.frame.filter(pl.col("customer") != names["2"])
    # One group of three: two would leave one customer over.
    assert smallest_class(hidden) == 3
    assert smallest_class(release.frame) == 1


def test_too_few_customers_left_to_hide_cannot_be_anonymized() -> None:
    with pytest.raises(CannotAnonymize, match="1 customer cannot"):
        Generalize(k=2, unhidden=3).anonymize(FOUR, seed=1)


@pytest.mark.parametrize(
    ("options", "column"), [({"k": 1}, "k"), ({"rounds": -1}, "rounds"), ({"unhidden": -1}, "unhidden")]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], column: str) -> None:
    with pytest.raises(InputError, match=column):
        Generalize(**options).anonymize(FOUR, seed=1)


def test_fewer_customers_than_k_cannot_be_anonymized() -> None:
    with pytest.raises(CannotAnonymize, match="4 customers"):
        Generalize(k=5).anonymize(FOUR, seed=1)


def test_items_that_clash_with_the_notation_are_told_apart_from_it() -> None:
    names = ["tea; green", "5* {set} [x]"]
    frame = Generalize(k=2).anonymize(history(("1", 0, names[0], 1.0, 1), ("2", 0, names[1], 1.0, 1)), seed=1).frame
    assert frame["item"].to_list() == [r"{5\* \{set\} \[x\];tea\; green}"] * 2
    assert cells_of(frame, "A").item.members.to_list() == [sorted(names)] * 2


def test_missing_values_are_refused() -> None:
    frame = FOUR.frame.with_columns(price=pl.when(pl.col("item") != "X").then("price"))
    with pytest.raises(InputError, match="line 6, column price"):
        Generalize(k=2).anonymize(History(frame), seed=1)


def test_smallest_class_counts_pseudonyms_with_the_same_rows() -> None:
    cells = {"date": "*", "item": ["A", "B", "B", "A", "A"], "price": "*", "quantity": "*"}
    frame = pl.DataFrame({"customer": ["1", "1", "2", "2", "3"]}).with_columns(
        *(
            pl.lit(value).alias(name) if isinstance(value, str) else pl.Series(name, value)
            for name, value in cells.items()
        )
    )
    assert smallest_class(frame[:4]) == 2
    assert smallest_class(frame) == 1


def test_range_of_three_costs_what_the_formula_of_the_contest_says() -> None:
    values, width = np.array([[0.0, 1.0, 4.0]]), 0.5
    by_hand = sum(((0 - x) ** 2 + (4 - x) ** 2 + 4 * 0.5) / (2 * (4 + 0.5)) for x in (0, 1, 4))
    assert line_costs(values, width) == pytest.approx(by_hand)


def test_joining_costs_agree_with_the_cost_of_the_aligned_lines() -> None:
    purchases = Purchases.of(FOUR)
    aligned, rows = np.array([[0, 1], [2, 4]]), np.array([3, 5])
    costs = joining_costs(purchases, aligned, rows)
    for line, row in np.ndindex(2, 2):
        members = np.array([[*aligned[line], rows[row]]])
        n_items = len(set(purchases.items[members[0]]))
        ranges = [
            min(3.0, line_costs(values[members], width)[0])
            for values, width in zip(purchases.values, purchases.width.tolist(), strict=True)
        ]
        assert costs[line, row] == pytest.approx(3 * (1 - 1 / n_items) + sum(ranges))


PURCHASE = st.tuples(st.integers(0, 400), st.sampled_from("ABCDEFG"), st.integers(1, 2_000), st.integers(1, 300))
CUSTOMERS = st.lists(st.lists(PURCHASE, min_size=1, max_size=6), min_size=2, max_size=9)


def of_customers(customers: list[list[tuple[int, str, int, int]]]) -> History:
    return history(
        *(
            (str(10 + number), day, item, cents / 100, quantity)
            for number, rows in enumerate(customers)
            for day, item, cents, quantity in rows
        )
    )


@pytest.mark.slow
@settings(max_examples=cases(40))
@given(CUSTOMERS, st.integers(2, 4), st.integers(0, 3))
def test_every_release_follows_the_rules_and_keeps_its_promise(
    tmp_path_factory: pytest.TempPathFactory, customers: list[list[tuple[int, str, int, int]]], k: int, seed: int
) -> None:
    original = of_customers(customers)
    if len(customers) < k:
        return
    release = Generalize(k=k).anonymize(original, seed=seed)
    cells = read_back(release, tmp_path_factory.mktemp("release"))
    assert cells.n_rows == original.n_rows
    assert cells.contains(original).to_numpy().all()
    assert smallest_class(release.frame) >= k
    kept = pl.DataFrame({"customer": original.frame["customer"], "pseudonym": cells.customer}).filter(~cells.is_deleted)
    pairs = kept.unique()
    # Each customer has one pseudonym, and each pseudonym one customer.
    assert pairs.height == len(customers) == pairs["pseudonym"].n_unique()
    bought = set(original.frame["item"])
    assert set(cells.item.members.explode().drop_nulls()) <= bought


@settings(max_examples=cases(40))
@given(CUSTOMERS, st.integers(2, 4), st.integers(0, 2))
def test_groups_hold_every_customer_once_and_at_least_k(
    customers: list[list[tuple[int, str, int, int]]], k: int, n_alone: int
) -> None:
    if len(customers) < k + n_alone:
        return
    groups = group_customers(Purchases.of(of_customers(customers)), k, np.random.default_rng(1), n_alone=n_alone)
    assert sorted(member for group in groups for member in group) == list(range(len(customers)))
    assert min(map(len, groups[n_alone:])) >= k
    n_rows = [len(customers[member]) for group in groups[:n_alone] for member in group]
    assert n_rows == sorted(map(len, customers), reverse=True)[:n_alone]


@settings(max_examples=cases(40))
@given(CUSTOMERS, st.integers(1, 4))
def test_alignment_in_blocks_uses_each_row_once_and_costs_no_less(
    customers: list[list[tuple[int, str, int, int]]], block: int
) -> None:
    purchases = Purchases.of(of_customers(customers))
    members = list(range(len(customers)))
    pieces = align(purchases, members, n_rounds=2, block=block)
    assert len(pieces.rows) == min(map(len, customers))
    for member in members:
        mine = pieces.rows[:, member].tolist()
        assert len(set(mine)) == len(mine)
        assert set(mine) <= set(purchases.rows[member].tolist())
    if len(members) == 2:
        # Two are aligned at the least cost that there is, and blocks cannot beat it.
        assert pieces.cost >= align(purchases, members).cost - 1e-9
    whole = align(purchases, members, n_rounds=2, block=max(map(len, customers)))
    assert whole.rows.tolist() == align(purchases, members, n_rounds=2).rows.tolist()


@given(st.integers(2, 40), st.integers(2, 5), st.integers(2, 9))
def test_blocks_of_customers_are_whole_groups_and_nobody_is_lost(n_customers: int, size: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "MOST_COMPARED", most * size)
        blocks = grouping.customer_blocks(max(n_customers, size), size)
    assert [first for first, _ in blocks] == [0, *(end for _, end in blocks[:-1])]
    assert blocks[-1][1] == max(n_customers, size)
    assert all((end - first) % size == 0 for first, end in blocks[:-1])
    assert all(end - first >= size for first, end in blocks)


def test_large_history_is_generalized_in_blocks_which_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        (f"{who}", 7 * day + who, f"I{(who + day) % 5}", 1.0 + who % 3, 1 + day) for who in range(9) for day in range(5)
    ]
    monkeypatch.setattr(grouping, "MOST_COMPARED", 4)
    monkeypatch.setattr(generalize, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(generalize, "LEAST_BLOCK", 2)
    with caplog.at_level("INFO", logger="tokumei.notes"):
        released = Generalize(k=2).anonymize(history(*rows), seed=1)
    assert smallest_class(released.frame) >= 2
    assert "in blocks of 2" in caplog.text


def test_cost_is_estimated_before_the_start_and_grows_with_the_history() -> None:
    small, large = ([(f"{who}", day, "A", 1.0, 1) for who in range(9) for day in range(n_rows)] for n_rows in (5, 200))
    few, many = (Generalize(k=3).estimate(history(*rows)) for rows in (small, large))
    assert 0 < few.seconds < many.seconds
    assert 0 < few.n_bytes < many.n_bytes
    # Three groups of three; two rounds more than the first: 27 times 200 × 200 cells, by the measured rate.
    expected = 27 * (2e-7 * 200**2 + 7.5e-9 * 200**2.5 + 1e-4) + 3e-5 * 1_800 + 3e-3 * 9
    assert many.seconds == pytest.approx(expected)
    assert str(Cost(200, 1.5 * (1 << 30))) == "about 3 minutes and 1.5 GB"
    assert str(Cost(8_000, 1)) == "about 2 hours and little memory"


@settings(max_examples=cases(40))
@given(CUSTOMERS)
def test_alignment_keeps_the_rows_of_the_smallest_and_rounds_never_cost_more(
    customers: list[list[tuple[int, str, int, int]]],
) -> None:
    purchases = Purchases.of(of_customers(customers))
    members = list(range(len(customers)))
    once, again = align(purchases, members), align(purchases, members, n_rounds=3)
    assert again.cost <= once.cost + 1e-9
    for aligned in (once, again):
        assert len(aligned.rows) == min(map(len, customers))
        for member in members:
            mine = aligned.rows[:, member].tolist()
            assert len(set(mine)) == len(mine)
            assert set(mine) <= set(purchases.rows[member].tolist())


def test_dates_start_where_the_examples_say() -> None:
    assert FOUR.frame["date"][3] == START + timedelta(days=200)
