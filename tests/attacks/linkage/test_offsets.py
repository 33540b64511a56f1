"""Releases in which the dates of each customer moved by a number of days of its own."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.linkage.attack import Linkage
from tokumei.attacks.linkage.offsets import Offsets
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import pipeline_of


@pytest.fixture(scope="module")
def shop() -> History:
    return History.of(make_retail(60, n_rows=4_000, seed=5))


def moved(shop: History, lifetime: int = 12) -> History:
    """Name customers, and move the dates of each by up to sixty days."""
    rng, customers = np.random.default_rng(1), shop.frame["customer"]
    days = dict(zip(shop.customers, rng.integers(-60, 61, len(shop.customers)).tolist(), strict=True))
    frame = Pseudonyms(lifetime).anonymize(shop, seed=1).frame
    frame = frame.with_columns(days=customers.replace_strict(days, return_dtype=pl.Int64))
    return History(frame.with_columns(pl.col("date") + pl.duration(days="days")).drop("days"))


def found(shop: History, release: History) -> float:
    guesses = Linkage().guess(shop.known(0.25, seed=1), published(release, seed=1))
    return judge(guesses, truth_of(shop, release), shop.customers, shop.periods).found.value


# .292 and .243 when rows of one month alone were compared, under pseudonyms of a year and of a month.
@pytest.mark.parametrize(("lifetime", "least"), [(12, 0.99), (1, 0.9)])
def test_dates_that_moved_by_customer_hide_hardly_anybody(shop: History, lifetime: int, least: float) -> None:
    assert found(shop, moved(shop, lifetime)) >= least


def test_dates_that_moved_are_seen_where_few_goods_are_bought_under_many_pseudonyms() -> None:
    # Thirty customers, each of whom buys three of twelve goods, on forty days; two rows in a month of a pseudonym.
    rng = np.random.default_rng(1)
    first, days = datetime.date(2021, 1, 1), rng.integers(-60, 61, 30)
    rows = [
        (f"c{who}", first + datetime.timedelta(days=int(day)), f"{at}", 1.0 + at, int(rng.integers(1, 4)))
        for who in range(30)
        for day, at in zip(rng.choice(365, 40), rng.choice(rng.choice(12, 3, replace=False), 40), strict=True)
    ]
    columns = ["customer", "date", "item", "price", "quantity"]
    few = History.of(pl.DataFrame(rows, schema=columns, orient="row"))
    moved_by = few.frame["customer"].str.slice(1).cast(pl.Int64).map_elements(lambda who: days[who], pl.Int64)
    frame = Pseudonyms(1).anonymize(few, seed=1).frame.with_columns(days=moved_by)
    frame = frame.with_columns(pl.col("date") + pl.duration(days="days")).drop("days")
    found = Offsets.of(few.known(0.5, seed=1), published(History(frame), seed=1)).days
    # As long as each pseudonym was looked at for itself, none was found.
    right = sum(days[int(who[1:])] == n_days for who, n_days in found.iter_rows())
    assert right >= 25


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [{"method": "perturb", "days": 1, "quantities": 0.0, "prices": 0.0, "whole_baskets": False}],
        [{"method": "perturb", "days": 10, "quantities": 0.0, "prices": 0.0}],
        [{"method": "perturb", "days": 31, "quantities": 0.5, "prices": 0.25}],
    ],
)
@pytest.mark.parametrize("lifetime", [12, 1])
def test_dates_that_moved_otherwise_are_left_alone(
    shop: History, steps: list[dict[str, object]], lifetime: int
) -> None:
    release = pipeline_of({"step": [*steps, {"method": "pseudonyms", "lifetime": lifetime}]}).anonymize(shop, seed=1)
    seen = published(History(release.frame), seed=1)
    assert Offsets.of(shop.known(0.25, seed=1), seen).days.is_empty()


def test_months_are_named_as_in_the_original() -> None:
    rows = {"customer": ["a", "b"], "item": ["22", "84"], "price": [3.5, 1.25], "quantity": [6, 24]}
    dates = [datetime.date(2011, 1, 30), datetime.date(2011, 1, 31)]
    known = History.of(pl.DataFrame(rows | {"date": dates}))
    offsets = Offsets(pl.DataFrame({"customer": ["a", "b"], "days": [3, 40]}))
    later = offsets.move(known).frame
    assert later["date"].to_list() == [datetime.date(2011, 2, 2), datetime.date(2011, 3, 12)]
    january, february, march = 24132, 24133, 24134
    guesses = pl.DataFrame(
        {"customer": ["a", "b"], "period": [february, march], "pseudonym": ["Pa", "Pb"]},
        schema_overrides={"period": pl.Int32},
    )
    back = offsets.move_back(guesses, History(later.with_columns(customer="P" + pl.col("customer"))))
    assert back.sort("customer").rows() == [("a", january, "Pa"), ("b", january, "Pb")]


def films(n_people: int) -> History:
    """People who rate films in one sitting or two, each film once, with nothing else told of them."""
    rng, first, rows = np.random.default_rng(1), datetime.date(2008, 1, 1), []
    usual = 1 / (np.arange(3_000) + 30.0)
    usual /= usual.sum()
    for who in range(n_people):
        sittings, n_films = rng.integers(0, 365, rng.integers(1, 3)), int(np.clip(rng.lognormal(3.8, 0.7), 20, 300))
        rated = rng.choice(3_000, n_films, replace=False, p=usual).tolist()
        rows += [
            (f"u{who}", first + datetime.timedelta(days=int(rng.choice(sittings))), f"{film + 1}") for film in rated
        ]
    return History.of(pl.DataFrame(rows, schema=["customer", "date", "item"], orient="row"))


# .188 with a quarter known as long as many rows that agree by accident made a move likely: of so many films each begins
# like hundreds of others, and a month of sittings has a day for everything.
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_days_moved_in_their_month_are_no_move_of_all_that_a_customer_rated(share: float) -> None:
    log = films(200)
    noise = {"method": "perturb", "days": 31, "quantities": 0.0, "prices": 0.0, "hides_times": True}
    steps = [noise | {"whole_baskets": False}, {"method": "pseudonyms", "lifetime": 1}]
    release = History(pipeline_of({"step": steps}).anonymize(log, seed=1).frame)
    known, seen = log.known(share, seed=1, item_characters=None), published(release, seed=1)
    assert Offsets.of(known, seen).days.is_empty()
    assert judge(Linkage().guess(known, seen), truth_of(log, release), log.customers, log.periods).found.value >= 0.95
