from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.methods.history.perturb import Perturb

ROWS = 60
NOTHING = {"days": 0, "quantities": 0.0, "prices": 0.0, "items": 0.0}
ORIGINAL = History.of(
    pl.DataFrame(
        {
            "customer": [f"c{n % 4}" for n in range(ROWS)],
            "date": [datetime.date(2011, 2, 1 + n % 28) for n in range(ROWS)],
            "item": [f"{10 + n % 3}{n % 5}" for n in range(ROWS)],
            "price": [1.0 + n for n in range(ROWS)],
            "quantity": [100 + n for n in range(ROWS)],
        }
    )
)


def perturbed(**options: float) -> pl.DataFrame:
    return Perturb(**(NOTHING | options)).change(ORIGINAL, seed=1).history.frame  # type: ignore[arg-type]


def test_perturb_with_all_options_off_changes_nothing() -> None:
    assert perturbed().equals(ORIGINAL.frame)


@pytest.mark.parametrize(
    ("option", "value", "column"),
    [("days", 3, "date"), ("quantities", 0.5, "quantity"), ("prices", 0.5, "price"), ("items", 1.0, "item")],
)
def test_perturb_changes_only_the_column_asked_for(option: str, value: float, column: str) -> None:
    frame = perturbed(**{option: value})
    assert frame.drop(column).equals(ORIGINAL.frame.drop(column))
    assert not frame[column].equals(ORIGINAL.frame[column])


def test_perturb_moves_dates_by_at_most_the_days_and_never_out_of_their_month() -> None:
    dates = perturbed(days=5)["date"]
    moved = (dates - ORIGINAL.frame["date"]).dt.total_days()
    assert set(moved.abs()) <= set(range(6))
    assert (dates.dt.month() == 2).all()
    assert set(moved) & {-5, 5}, "both ends can be reached"


def test_perturb_by_a_whole_month_reaches_its_first_and_last_day() -> None:
    days = (
        Perturb(days=31, whole_baskets=False)
        .change(History(pl.concat([ORIGINAL.frame] * 20)), seed=1)
        .history.frame["date"]
    )
    assert set(days.dt.day()) == set(range(1, 29))


def test_perturb_moves_a_basket_together_unless_told_not_to() -> None:
    basket = History(pl.concat([ORIGINAL.frame[:1]] * 30))
    together, apart = (
        Perturb(days=9, whole_baskets=whole).change(basket, seed=1).history.frame["date"].n_unique()
        for whole in (True, False)
    )
    assert together == 1
    assert apart > 1


def test_perturb_keeps_quantities_and_prices_within_their_share() -> None:
    frame = perturbed(quantities=0.1, prices=0.2)
    assert ((frame["quantity"] / ORIGINAL.frame["quantity"] - 1).abs() <= 0.1 + 0.005).all()
    pounds = History(ORIGINAL.frame.with_columns(pl.col("price") + 0.95))
    changed = Perturb(prices=0.2).change(pounds, seed=1).history.frame["price"]
    assert ((changed / pounds.frame["price"] - 1).abs() <= 0.2 + 0.005).all()
    assert changed.equals(changed.round(2))
    assert not changed.equals(changed.round(0))


def test_prices_that_are_all_whole_stay_so() -> None:
    """A shop that sells in yen has no decimals."""
    price, own = perturbed(prices=0.2)["price"], ORIGINAL.frame["price"]
    assert ((price - own).abs() <= 0.2 * own + 0.5).all()
    assert price.equals(price.round(0))
    assert not price.equals(own)


def test_perturb_never_lets_a_quantity_or_price_fall_to_nothing() -> None:
    least = History(ORIGINAL.frame.with_columns(price=pl.lit(0.01), quantity=pl.lit(1, pl.Int64)))
    frame = Perturb(quantities=1.0, prices=1.0).change(least, seed=1).history.frame
    assert (frame["quantity"] >= 1).all()
    assert (frame["price"] >= 0.01).all()


def test_perturb_keeps_quantities_and_prices_within_what_the_files_hold() -> None:
    greatest = History(ORIGINAL.frame.with_columns(price=pl.lit(99_999.99), quantity=pl.lit(999_999, pl.Int64)))
    frame = Perturb(quantities=1.0, prices=1.0).change(greatest, seed=1).history.frame
    assert (frame["quantity"] <= 999_999).all()
    assert (frame["price"] <= 99_999.99).all()


def test_perturb_keeps_signs_decimals_and_amounts_that_no_contest_has() -> None:
    own: dict[str, list[float]] = {"price": [-13.91, 0.0, 0.0012, 250_000.0], "quantity": [-30, 0, 2_000_000, 60]}
    odd = History(ORIGINAL.frame.with_columns(pl.Series(name, values * (ROWS // 4)) for name, values in own.items()))
    frame = Perturb(quantities=0.1, prices=0.1).change(odd, seed=1).history.frame
    for name, rounding in (("price", [0.005, 0.0, 0.00005, 0.005]), ("quantity", [0.5, 0.0, 0.5, 0.5])):
        for at, (value, hair) in enumerate(zip(own[name], rounding, strict=True)):
            changed = frame[name].gather_every(4, at)
            assert ((changed - value).abs() <= 0.1 * abs(value) + hair + 1e-9).all()
            assert (changed.n_unique() > 1) == (value != 0)


def test_perturb_exchanges_items_for_others_of_their_group_in_a_share_of_the_rows() -> None:
    items = perturbed(items=0.5)["item"]
    assert items.str.slice(0, 2).equals(ORIGINAL.frame["item"].str.slice(0, 2))
    assert set(items) <= set(ORIGINAL.frame["item"])
    assert 0 < (items != ORIGINAL.frame["item"]).sum() <= ROWS // 2


@pytest.mark.parametrize("options", [{"days": -1}, {"quantities": -0.1}, {"prices": 2.0}, {"items": 1.1}])
def test_perturb_by_an_impossible_amount_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        perturbed(**options)
