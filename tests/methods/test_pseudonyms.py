from __future__ import annotations

import datetime
import re

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.methods.history.steps import Pseudonyms


def history(*rows: tuple[str | None, str | None]) -> History:
    dates = [None if day is None else datetime.date.fromisoformat(day) for _, day in rows]
    customers = [customer for customer, _ in rows]
    # A deleted row is missing in every column.
    cells = {"item": pl.lit("X"), "price": pl.lit(1.0), "quantity": pl.lit(1)}
    return History.of(
        pl.DataFrame(
            {"customer": customers, "date": dates}, schema={"customer": pl.String, "date": pl.Date}
        ).with_columns(**{name: pl.when(pl.col("customer").is_not_null()).then(value) for name, value in cells.items()})
    )


YEAR = history(("a", "2010-12-01"), ("a", "2010-12-31"), ("a", "2011-01-01"), ("b", "2011-01-05"), ("a", "2011-03-01"))


@pytest.mark.parametrize(("lifetime", "lives"), [(1, 4), (2, 3), (12, 2)])
def test_pseudonyms_live_as_many_months_as_asked_for(lifetime: int, lives: int) -> None:
    release = Pseudonyms(lifetime).anonymize(YEAR, seed=1)
    names = release.frame["customer"]
    assert names.n_unique() == lives
    assert names[0] == names[1]
    assert (names[0] == names[2]) == (lifetime > 1)
    assert set(names) & {"a", "b"} == set()


def test_pseudonyms_map_names_each_customer_and_month() -> None:
    release = Pseudonyms(1).anonymize(YEAR, seed=1)
    assert release.pseudonyms is not None
    assert release.pseudonyms.select("customer", "period").rows() == [
        ("a", 24131),
        ("a", 24132),
        ("a", 24134),
        ("b", 24132),
    ]


def test_pseudonyms_leave_all_other_cells_and_deleted_rows_alone() -> None:
    original = history(("a", "2010-12-01"), (None, None), ("b", "2010-12-02"))
    release = Pseudonyms(1).anonymize(original, seed=1)
    assert release.frame.drop("customer").equals(original.frame.drop("customer"))
    assert release.frame["customer"][1] is None


def test_invoices_are_named_anew_under_each_pseudonym() -> None:
    days = ("2010-12-01", "2010-12-01", "2010-12-02", "2011-01-05", "2010-12-01")
    plain = history(*zip("aaaab", days, strict=True))
    # The third stands in two months, as the number of a card or a till would, and the last is another customer's.
    original = History(plain.frame.with_columns(invoice=pl.Series(["536365", "536365", "7", "7", "536365"])))
    invoices = Pseudonyms(1).anonymize(original, seed=1).frame["invoice"].to_list()
    assert invoices[0] == invoices[1]
    assert len(set(invoices)) == 4
    assert all(re.fullmatch("B[0-9a-f]{20}", one) for one in invoices)
    names = [Pseudonyms(1).anonymize(original, seed=seed).frame["invoice"] for seed in range(40)]
    orders = {tuple(one.rank("dense").to_list()) for one in names}
    # By lot, of 24 orders: fewer than ten in forty draws would be a chance below a billionth.
    assert len(orders) > 10


def test_pseudonyms_of_no_months_are_refused() -> None:
    with pytest.raises(InputError, match="at least one month"):
        Pseudonyms(0).anonymize(YEAR, seed=1)


def test_pseudonyms_tell_nothing_by_their_order() -> None:
    many = history(*((f"c{n:03d}", "2011-01-01") for n in range(200)))
    names = Pseudonyms(1).anonymize(many, seed=1).frame["customer"].to_list()
    assert names != sorted(names)
    assert len({len(name) for name in names}) == 1


def test_pseudonyms_by_risk_are_halved_only_where_a_life_is_too_easily_found() -> None:
    # Alone on both days, a is found unless both rows are unknown: 1 − 0.5² = 0.75. With two customers alike on each
    # day, b and c are found with 1 − 0.75² = 0.4375.
    days = ("2011-01-03", "2011-02-03")
    both = history(("a", "2011-01-01"), ("a", "2011-02-01"), *((name, day) for name in "bc" for day in days))
    names = Pseudonyms(2, risk_limit=0.6, known=0.5).anonymize(both, seed=1).frame["customer"].to_list()
    assert names[0] != names[1]
    assert names[2] == names[3]
    assert names[4] == names[5]


def test_pseudonyms_by_risk_halve_again_down_to_a_month() -> None:
    months = history(*(("a", f"2011-{month:02d}-01") for month in range(1, 13)))
    lives = {
        limit: Pseudonyms(12, risk_limit=limit, known=0.5).anonymize(months, seed=1).frame["customer"].n_unique()
        for limit in (1.0, 0.99, 0.9, 0.8, 0.0)
    }
    # The chance over 12, 6, 3, 2 and 1 months is 0.9998, 0.984, 0.875, 0.75 and 0.5.
    assert lives == {1.0: 1, 0.99: 2, 0.9: 4, 0.8: 8, 0.0: 12}


@pytest.mark.parametrize("options", [{"risk_limit": 1.5}, {"known": -0.1}])
def test_pseudonyms_by_an_impossible_risk_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        Pseudonyms(**options).anonymize(YEAR, seed=1)  # type: ignore[arg-type]


def test_pseudonyms_avoid_the_ids_of_customers() -> None:
    release = Pseudonyms(1).anonymize(history(("P1", "2011-01-01"), ("P2", "2011-01-01")), seed=1)
    assert sorted(release.frame["customer"]) == ["PP1", "PP2"]
