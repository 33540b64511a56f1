"""Mondrian on Adult and on surveys of a hundred thousand and a million rows, against the best levels and a sort."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import polars as pl

from benchmarks.adult import COLUMNS, HIERARCHIES, adult
from benchmarks.measure import Figure, best_seconds, in_new_process
from tokumei.data.made_survey import make_survey
from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.local.encoding import encode_rows, flat_hierarchy
from tokumei.methods.local.mondrian import Mondrian
from tokumei.methods.local.top_down import Partition
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows
from tokumei.methods.tables import decide

K5 = [KAnonymity(5)]
# Of the survey: four codes without a hierarchy, two with one, and three amounts, so that nearly every row is alone.
CODES = ["household_type", "age_band", "sex", "employment", "industry", "region"]
AMOUNTS = ["income", "food", "medical"]
SURVEY = [*CODES, *AMOUNTS]
TREES = {
    name: Hierarchy.of_levels(name, [[str(code) for code in range(1, 9)], list(labels), ["*"] * 8])
    for name, labels in (("industry", "abbccddd"), ("region", "aabbccdd"))
}
# How often sorting the same rows by all nine columns an algorithm that sorts by one column a round may take.
SORTS = 20.0
N_FEW, N_MANY = 100_000, 1_000_000

IN_NEW_PROCESS = """
import time
from benchmarks.local_recoding import release_survey
from tokumei.data.made_survey import make_survey
survey = make_survey({n_rows}, seed=1)
started = time.perf_counter()
release_survey(survey)
seconds = time.perf_counter() - started
"""


def run() -> list[Figure]:
    return [*_adult(), *_surveys()]


def release_survey(survey: pl.DataFrame) -> object:
    """Make the whole release: read values as classes, cut, label every row, and count what comes out."""
    return release_rows(survey, SURVEY, TREES, Goal(K5, method=Mondrian(), numeric=AMOUNTS))


def _adult() -> list[Figure]:
    table = adult()
    if table is None:
        return []
    hierarchies = read_hierarchies(HIERARCHIES, COLUMNS)
    levels = Goal(K5, loss=LOSSES.make("ncp"), numeric=["age"])
    best = decide(count_classes(table, COLUMNS), hierarchies, levels).loss.value
    figures = []
    for label, method, limit, most in (
        ("mondrian", Mondrian(), 1.0, 1.0),
        ("mondrian relaxed", Mondrian("relaxed"), 1.0, 1.0),
        # Here it takes the very steps to the best levels.
        ("partition", Partition(), 2.0, None),
    ):
        goal = Goal(K5, method=method, numeric=["age"])
        work = partial(release_rows, table, COLUMNS, hierarchies, goal)
        figures.append(Figure(f"Adult, k=5, {label}: release", best_seconds(work), "s", limit))
        loss = work().loss
        lost = 1.0 if loss is None else loss.value
        note = f"{lost:.4f} : {best:.4f}"
        figures.append(Figure("  certainty penalty, to that of the best levels", lost / best, "×", most, note))
    tight = Goal(K5, method=Mondrian(ranges="tight"), numeric=["age"])
    work = partial(release_rows, table, COLUMNS, hierarchies, tight)
    figures.append(Figure("Adult, k=5, mondrian with tight ranges: release", best_seconds(work), "s", 1.0))
    many = table.sample(N_MANY, with_replacement=True, seed=1)
    for label, rows in (("Adult", table), (f"Adult drawn to {N_MANY:,} rows", many)):
        each = [_penalty(rows, hierarchies, replace(tight, method=Mondrian(ranges=one))) for one in ("grid", "tight")]
        note = f"{each[0]:.4f} : {each[1]:.4f}"
        name = f"{label}, k=5, mondrian: certainty penalty on the grid, to that of tight ranges"
        # Of many rows that were drawn with replacement every one is k times there, and neither loses anything.
        figures.append(Figure(name, each[0] / each[1] if each[1] else 1.0 + each[0], "×", 1.15, note))
    return figures


def _penalty(table: pl.DataFrame, hierarchies: dict[str, Hierarchy], goal: Goal) -> float:
    loss = release_rows(table, COLUMNS, hierarchies, goal).loss
    return 1.0 if loss is None else loss.value


def _surveys() -> list[Figure]:
    small = make_survey(N_FEW, seed=1)
    figures = [Figure(f"survey of {N_FEW:,} rows: release", best_seconds(partial(release_survey, small)), "s", 2.0)]
    large = make_survey(N_MANY, seed=1)
    codes = _encoded(large)
    # By turns, so that both meet the same machine; the rows are sorted as whole numbers, as small as they can be.
    sorting, releasing = [], []
    for _ in range(3):
        sorting.append(best_seconds(partial(codes.sort, SURVEY), repeat=3))
        releasing.append(best_seconds(partial(release_survey, large), repeat=1))
    ratio = min(releasing) / min(sorting)
    note = f"{min(releasing):.2f} s : {min(sorting):.2f} s"
    label = f"{N_MANY:,} rows × 9 columns: release, to sorting by all nine"
    figures.append(Figure(label, ratio, "×", SORTS, note))
    _, memory = in_new_process(IN_NEW_PROCESS.format(n_rows=N_MANY))
    figures.append(Figure("  most memory used", memory, "GB", 3))
    return figures


def _encoded(survey: pl.DataFrame) -> pl.DataFrame:
    """Return the nine columns as the places of their values, row by row."""
    trees = {name: TREES.get(name) or flat_hierarchy(name, survey[name]) for name in SURVEY}
    encoded = encode_rows(survey, trees, K5, numeric=AMOUNTS)
    return pl.DataFrame({one.name: one.leaf_of[encoded.class_of] for one in encoded.task.attributes})
