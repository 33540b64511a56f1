"""What tables of counts of 1,000 people of Adult give away, exact and noisy, how long it takes and how much memory."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from pathlib import Path

import polars as pl

import tokumei as tk
from benchmarks.adult import adult
from benchmarks.measure import Figure, in_new_process
from tokumei.hierarchies.hierarchy import Hierarchy

N_PEOPLE, K = 1_000, 3
COLUMNS = ["sex", "age", "race", "marital-status", "education"]
# Ten tables of three columns are the goal: a minute on two cores.
MOST_SECONDS, MOST_MEMORY = 60.0, 0.5
CASES: dict[str, tuple[int, float | None]] = {
    "ten tables of three columns": (3, None),
    "ten tables of two columns": (2, None),
    "one table by dp-counts, ε = 10": (5, 10.0),
    "one table by dp-counts, ε = 1": (5, 1.0),
    "one table by dp-counts, ε = 0.1": (5, 0.1),
}


def run() -> list[Figure]:
    return [] if adult() is None else [figure for name in CASES for figure in _measured(name)]


def _measured(name: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        code = f"from benchmarks.reconstructing import attack\nseconds = attack({name!r}, {str(found)!r})"
        seconds, memory = in_new_process(code)
        told = json.loads(found.read_text())
    note = "; ".join(
        f"{key} {score['value']:.3f}"
        + "".join(f", {other} {score[other]:.3f}" for other in ("baseline", "control") if score.get(other) is not None)
        for key, score in told["scores"].items()
    )
    deduced = told["deduced"]
    note += f"; {deduced['proven_under_k']:,} groups under {K} proven, {deduced['programs']['open']:,} open"
    return [
        Figure(f"{N_PEOPLE:,} people, {name}", seconds, "s", MOST_SECONDS, note),
        Figure("  and the whole process", memory, "GB", MOST_MEMORY),
    ]


def attack(name: str, out: str) -> float:
    """Count people of Adult, attack the counts, write what was found, and return the seconds that the attack took."""
    frame = adult()
    assert frame is not None
    people = frame.with_columns((pl.col("age").cast(pl.Int64) // 10 * 10).cast(pl.String).alias("age")).select(COLUMNS)
    drawn = people.sample(2 * N_PEOPLE, seed=1)
    inside, outside = drawn[:N_PEOPLE], drawn[N_PEOPLE:]
    ways, epsilon = CASES[name]
    values = {name: sorted(people[name].unique()) for name in COLUMNS}
    trees = {name: Hierarchy.of_levels(name, [own, ["*"] * len(own)]) for name, own in values.items()}
    table = tk.Table(inside, qi=COLUMNS, hierarchies=trees)
    counts = (
        pl.concat([inside.group_by(one).len("rows") for one in itertools.combinations(COLUMNS, ways)], how="diagonal")
        if epsilon is None
        else tk.anonymize(table, method="dp-counts", epsilon=epsilon, seed=1, reproducible=True)
    )
    started = time.perf_counter()
    found = tk.attack(table, counts, "reconstruction", control=outside, k=K)
    seconds = time.perf_counter() - started
    scores = {key: score.as_dict() for key, score in found.scores["reconstruction"].items()}
    told = {"scores": scores, "deduced": found.to_dict()["deduced"]["reconstruction"]}
    Path(out).write_text(json.dumps(told))
    return seconds
