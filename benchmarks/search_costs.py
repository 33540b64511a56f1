"""The thesis's cost of each search, the classes it checked, on the census and twenty services."""

from __future__ import annotations

from collections import Counter

import polars as pl

from benchmarks.measure import Figure
from tokumei.data.made_services import make_census, make_services
from tokumei.engines.count import count_classes
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.tables import decide

METHODS = {
    "ola": TABLE_ANONYMIZERS.make("ola"),
    "incognito": TABLE_ANONYMIZERS.make("incognito"),
    "guided, power-law": TABLE_ANONYMIZERS.make("prediction-guided", predictor="power-law"),
    "guided, margins": TABLE_ANONYMIZERS.make("prediction-guided", predictor="margins"),
}
# They look for the most classes that hold, not for the least loss.
PAK = {"pak": TABLE_ANONYMIZERS.make("pak"), "pak, finer": TABLE_ANONYMIZERS.make("pak", finer=True)}


def run() -> list[Figure]:
    none = pl.Series([], dtype=pl.String)
    age = JapanAge(bands=(9, 5, 3)).build("age", pl.Series([0]))
    hierarchies = {
        "sex": Sex().build("sex", none),
        "age": age.from_level(1),
        "prefecture": JapanPrefecture().build("prefecture", none),
    }
    tables = [make_census(seed=1), *(people for _, people in make_services(20, seed=1))]
    figures = []
    for k in (2, 10, 50):
        cost: Counter[str] = Counter()
        fewer: Counter[str] = Counter()
        for people in tables:
            counts = count_classes(people, list(hierarchies))
            banded = counts.roll_up(counts.maps([age.recoding(1)]))
            found = {name: decide(banded, hierarchies, Goal([KAnonymity(k)], method=m)) for name, m in METHODS.items()}
            assert len({round(one.loss.value, 9) for one in found.values()}) == 1, "all find the least loss"
            for name, one in PAK.items():
                found[name] = decide(banded, hierarchies, Goal([KAnonymity(k)], method=one))
            cost.update({name: one.n_classes_checked for name, one in found.items()})
            least = min(found["ola"].n_classes_checked, found["incognito"].n_classes_checked)
            fewer.update(name for name, one in found.items() if one.n_classes_checked < least)
        figures += [
            Figure(f"k={k}, {name}: classes checked in {len(tables)} tables", cost[name], "")
            for name in (*METHODS, *PAK)
        ]
        for name in ("guided, power-law", "guided, margins"):
            note = f"fewer than both in {fewer[name]} of {len(tables)}"
            figures.append(Figure(f"  {name} to OLA", cost[name] / cost["ola"], "×", 1, note))
            figures.append(Figure(f"  {name} to Incognito", cost[name] / cost["incognito"], "×", 1))
    return figures
