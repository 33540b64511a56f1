"""What habits tell of purchases in permuted groups, who is in which being granted: `python -m benchmarks habits`.

Of the made shops of `shapes`, whose customers have habits of their own, and of the 2017 set where the shared data holds
it. Each dealt purchase is given to the likeliest member of its group by item, kind and quantity (`told_by_habits`), as
learned from the known quarter of all purchases, or from four fifths of them. `all` is what each release states: the
same of all its purchases, those of open customers included. There is no goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.measure import Figure
from benchmarks.shapes import SHAPES
from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.data.history import History
from tokumei.methods.history.habits import told_by_habits
from tokumei.methods.history.permute_groups import PermuteGroups
from tokumei.reports.evaluation import CONTEST_UTILITIES

SET_2017 = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2017" / "T.csv.gz"
OF_MADE: list[dict[str, object]] = [{"bound": 0.3}]
OF_2017: list[dict[str, object]] = [
    {"bound": 0.25},
    {"bound": 0.23, "smallest": 3},
    {"bound": 0.25, "smallest": 5, "most_open": 0.1},
    {"bound": 0.25, "within": "quantity"},
    {"bound": 0.26, "within": "quantity", "smallest": 3},
]
HEADS = ("shop", "bound", "blindly", "a quarter", "four fifths", "all", "worst U")


def run() -> list[Figure]:
    """Print a line for each shop and way of dealing as it is done."""
    print("  {:<52}{:>7}{:>9}{:>11}{:>13}{:>7}{:>9}".format(*HEADS))
    for name, shop, ways in _shops():
        for options in ways:
            asked = ", ".join(f"{option}={value}" for option, value in options.items())
            numbers = zip(_line(shop, options), (7, 9, 11, 13, 7, 9), strict=True)
            print(f"  {name + ': ' + asked:<52}" + "".join(f"{one:>{width}.3f}" for one, width in numbers), flush=True)
    return []


def _line(shop: History, options: Mapping[str, object]) -> list[float]:
    release = tk.anonymize(shop, method="permute-groups", seed=1, **options)  # type: ignore[call-overload]
    groups = PermuteGroups(**options).group(shop)  # type: ignore[arg-type]
    group_of = dict(zip(groups.customers, groups.labels.tolist(), strict=True))
    is_known = shop.known(0.25, seed=1).frame["customer"].is_not_null().to_numpy()
    released = release.release.rows.filter(release.frame["customer"].is_not_null())
    group = shop.frame["customer"].gather(released).replace_strict(group_of, return_dtype=pl.Int64).to_numpy()
    is_asked = (group >= 0) & ~is_known[released.to_numpy()]
    asked, sizes = released.to_numpy()[is_asked], np.bincount(groups.labels[groups.labels >= 0])
    use = tk.measure(shop, release, measures=list(CONTEST_UTILITIES)).scores
    return [
        float(release.facts["attribution_bound"]),
        float((1 / sizes[group[is_asked]]).mean()),
        *(told_by_habits(shop, groups, asked, learned) for learned in (np.flatnonzero(is_known), None)),
        float(release.facts["known_by_habits"]),
        max(score.value for score in use.values()),
    ]


def _shops() -> Iterator[tuple[str, History, list[dict[str, object]]]]:
    for name, make in SHAPES.items():
        yield name, make(), OF_MADE
    if SET_2017.is_file():
        yield "2017 set", read_history(SET_2017), OF_2017
