"""What is found of people behind each defence of a history, and what use is left: `python -m benchmarks defences`.

On the 2017 set where the shared data holds it, else on a made shop. Somebody knows a quarter of everybody's purchases
as the contests draw them. The strongest of the attacks is named; of purchases not known before, `rows given` are given
to their buyers, `shared` where pseudonyms are shared, beside blind guessing in the group; `by habits` are those of all
purchases that whoever is granted the groups gives to their buyers by what everybody usually buys; `baskets` is what is
told of the rest of a basket. There is no goal: the table says what each defence gives.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import tokumei as tk
from benchmarks.measure import Figure
from tokumei.attacks.history.attackers import HistoryThreat
from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.core.text import counted
from tokumei.data.made_retail import make_retail
from tokumei.reports.evaluation import CONTEST_UTILITIES

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2017"
N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "6000"))
ATTACKS = ["linkage", "row-counts", "tfidf", "s6"]
NOISE = {
    "method": "perturb",
    "days": 31,
    "quantities": 1.0,
    "prices": 1.0,
    "hides_times": True,
    "whole_baskets": False,
}
DEFENCES: dict[str, list[dict[str, object]]] = {
    "one pseudonym a year": [{"method": "pseudonyms", "lifetime": 12}],
    "one a month": [{"method": "pseudonyms", "lifetime": 1}],
    "noise, one a year": [NOISE, {"method": "pseudonyms", "lifetime": 12}],
    "noise, one a month": [NOISE, {"method": "pseudonyms", "lifetime": 1}],
    "exchanged": [{"method": "exchange-pseudonyms"}],
    "noise, exchanged": [NOISE, {"method": "exchange-pseudonyms"}],
    "45 % deleted, one a year": [{"method": "delete", "telling": 0.45}, {"method": "pseudonyms", "lifetime": 12}],
    "permuted groups, bound .2": [{"method": "permute-groups", "bound": 0.2}],
    "… of five or more": [{"method": "permute-groups", "bound": 0.2, "smallest": 5}],
    "… by whole baskets": [{"method": "permute-groups", "bound": 0.2, "deals": "baskets"}],
    "… within quantities": [{"method": "permute-groups", "bound": 0.2, "within": "quantity"}],
    "permuted groups, bound .25": [{"method": "permute-groups", "bound": 0.25}],
    "… attributed .7": [{"method": "permute-groups", "bound": 0.25, "attributed": 0.7}],
    "… attributed .6": [{"method": "permute-groups", "bound": 0.25, "attributed": 0.6}],
    "… attributed .5": [{"method": "permute-groups", "bound": 0.25, "attributed": 0.5}],
}
HEADS = ("defence", "found", "by", "rows given", "shared", "blindly", "habits", "baskets", "right of", "worst U", "s")


def run(n_rows: int = N_ROWS) -> list[Figure]:
    """Print the table, a line for each defence as it is done."""
    shop = _shop(n_rows)
    print(f"  {counted(len(shop.customers), 'customer')}, {counted(shop.n_rows, 'row')}")
    print("  {:<28}{:>7} {:<11}{:>11}{:>8}{:>8}{:>10}{:>8}{:>9}{:>8}{:>6}".format(*HEADS))
    for name, steps in DEFENCES.items():
        started = time.perf_counter()
        release = tk.anonymize(shop, pipeline={"step": steps}, seed=1)
        who = HistoryThreat("knows a quarter", share=0.25, draw="contest")
        report = tk.attack(shop, release, threat=who, attacks=ATTACKS, draws=1, seed=1)
        best, found = max(report.scores.items(), key=lambda one: one[1].value)
        given = tk.attack(shop, release, "attribution", threat=who, draws=1, seed=1).scores
        rows, shared = given["rows"], given.get("shared")
        baskets = report.inference
        use = tk.measure(shop, release, measures=list(CONTEST_UTILITIES)).scores
        worst = max(score.value for score in use.values())
        of_shared = "" if shared is None else f"{shared.value:>8.3f}{shared.baseline or 0:>8.3f}"
        by_habits = release.facts.get("known_by_habits")
        habits = "" if by_habits is None else f"{by_habits:.3f}"
        told = "" if baskets is None else f"{baskets.value:>8.3f}{baskets.inputs['precision']:>9.3f}"
        print(
            f"  {name:<28}{found.value:>7.3f} {best:<11}{rows.value:>11.3f}{of_shared:>16}{habits:>10}{told:>17}"
            f"{worst:>8.3f}{time.perf_counter() - started:>6.0f}",
            flush=True,
        )
    return []


def _shop(n_rows: int) -> tk.History:
    if FOLDER.is_dir():
        return read_history(FOLDER / "T.csv.gz")
    print("  a made shop: the shared data is not beside the checkout")
    return tk.History(make_retail(max(60, n_rows // 80), n_rows=n_rows, seed=5))
