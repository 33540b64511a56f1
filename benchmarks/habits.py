"""Whose the purchases in permuted groups are for somebody who knows habits: `python -m benchmarks habits`.

Three made shops of a hundred customers whose habits tell them apart, and the 2017 set where the shared data holds it.
Beside the built-in attack, for whom groups are to be found, stands whoever is granted them and names the likeliest
member by item, kind and quantity (`told_by_habits`): as learned from the known quarter of all purchases, or from four
fifths of them. There is no goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.measure import Figure
from tokumei.attacks.history.attackers import HistoryThreat
from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.data.history import History
from tokumei.methods.history.habits import told_by_habits
from tokumei.methods.history.permute_groups import PermuteGroups
from tokumei.reports.evaluation import CONTEST_UTILITIES

SET_2017 = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2017" / "T.csv.gz"
N_CUSTOMERS = 100
# Options of the method, by shop; `bound=0.3` of made shops.
OF_MADE: list[dict[str, object]] = [{"bound": 0.3}]
OF_2017: list[dict[str, object]] = [
    {"bound": 0.25},
    {"bound": 0.23, "smallest": 3},
    {"bound": 0.25, "smallest": 5, "most_open": 0.1},
    {"bound": 0.25, "within": "quantity"},
    {"bound": 0.26, "within": "quantity", "smallest": 3},
]
HEADS = ("shop", "bound", "rows", "shared", "blindly", "5 % known", "granted", "all habits", "worst U")


def run() -> list[Figure]:
    """Print a line for each shop and way of dealing as it is done."""
    print("  {:<44}{:>7}{:>7}{:>8}{:>8}{:>10}{:>9}{:>11}{:>9}".format(*HEADS))
    for name, shop, ways in _shops():
        for options in ways:
            asked = ", ".join(f"{option}={value}" for option, value in options.items())
            numbers = _line(shop, options)
            print(f"  {name + ': ' + asked:<44}" + _row(numbers), flush=True)
    return []


def _row(numbers: list[float]) -> str:
    return "".join(f"{one:>{width}.3f}" for one, width in zip(numbers, (7, 7, 8, 8, 10, 9, 11, 9), strict=True))


def _line(shop: History, options: Mapping[str, object]) -> list[float]:
    release = tk.anonymize(shop, method="permute-groups", seed=1, **options)  # type: ignore[call-overload]
    quarter, few = (
        tk.attack(
            shop, release, "attribution", threat=HistoryThreat("some", share=share, item_characters=None), draws=1
        )
        for share in (0.25, 0.05)
    )
    shared = quarter.scores["shared"]
    groups = PermuteGroups(**options).group(shop)  # type: ignore[arg-type]
    names = groups.customers.filter(pl.Series(groups.labels) >= 0).to_list()
    is_known = shop.known(0.25, seed=1).frame["customer"].is_not_null().to_numpy()
    dealt = release.release.rows.filter(release.frame["customer"].is_not_null())
    dealt = dealt.filter(shop.frame["customer"].gather(dealt).is_in(names)).to_numpy()
    asked = dealt[~is_known[dealt]]
    use = tk.measure(shop, release, measures=list(CONTEST_UTILITIES)).scores
    return [
        float(quarter.facts["attribution_bound"]),
        quarter.scores["rows"].value,
        shared.value,
        shared.baseline or 0.0,
        few.scores["rows"].value,
        *(told_by_habits(shop, groups, asked, learned) for learned in (np.flatnonzero(is_known), None)),
        max(score.value for score in use.values()),
    ]


def _shops() -> Iterator[tuple[str, History, list[dict[str, object]]]]:
    yield "pharmacy", pharmacy(), OF_MADE
    yield "songs", songs(), OF_MADE
    yield "café", cafe(), OF_MADE
    if SET_2017.is_file():
        yield "2017 set", read_history(SET_2017), OF_2017


def pharmacy() -> History:
    """Make customers who fetch one of two to five medicines of their own, of sixty, three times a month."""
    rng = np.random.default_rng(1)
    who, days = _visits(rng, n_a_month=3)
    own, n_own = rng.integers(0, 60, (N_CUSTOMERS, 5)), rng.integers(2, 6, N_CUSTOMERS)
    return _made(who, days, own[who, rng.integers(0, n_own[who])])


def songs() -> History:
    """Make people who hear one of forty songs of their own, of five thousand, ten times a month."""
    rng = np.random.default_rng(1)
    who, days = _visits(rng, n_a_month=10)
    own = rng.integers(0, 5_000, (N_CUSTOMERS, 40))
    return _made(who, days, own[who, rng.integers(0, 40, len(who))])


def cafe() -> History:
    """Make guests who come six times a month, mostly on a weekday and at an hour of their own, for a drink of twelve.

    Two drinks of each are had in seven visits of ten.
    """
    rng = np.random.default_rng(1)
    who, days = _visits(rng, n_a_month=6)
    weekday, hour = rng.integers(0, 7, N_CUSTOMERS), rng.integers(7, 20, N_CUSTOMERS)
    own = rng.integers(0, 12, (N_CUSTOMERS, 2))
    days = np.where(rng.random(len(who)) < 0.8, days - days % 7 + weekday[who], days)
    drink = np.where(rng.random(len(who)) < 0.7, own[who, rng.integers(0, 2, len(who))], rng.integers(0, 12, len(who)))
    return _made(who, days, drink, hour[who])


def _visits(rng: np.random.Generator, n_a_month: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw who came and on which day of a year; some customers come twice as often as others."""
    often = rng.uniform(0.67, 1.33, N_CUSTOMERS) * n_a_month * 12
    who = np.repeat(np.arange(N_CUSTOMERS), rng.poisson(often))
    return who, rng.integers(0, 365, len(who))


def _made(who: np.ndarray, days: np.ndarray, item: np.ndarray, hour: np.ndarray | None = None) -> History:
    columns = {
        "customer": who,
        "date": np.datetime64("2021-01-01") + days,
        "item": item,
        "hour": 0 if hour is None else hour,
    }
    frame = pl.DataFrame(columns).with_columns(
        pl.format("C{}", pl.col("customer").cast(pl.String).str.zfill(3)).alias("customer"),
        pl.format("I{}", pl.col("item").cast(pl.String).str.zfill(4)).alias("item"),
        price=pl.lit(2.5) + pl.col("item") % 7,
        quantity=pl.lit(1),
    )
    if hour is not None:
        frame = frame.with_columns(time=pl.time("hour", 0))
    return tk.History(frame.drop("hour").sort("date", "customer", maintain_order=True))
