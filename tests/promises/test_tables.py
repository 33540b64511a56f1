"""Every method keeps every promise on the file it wrote, recounted by code of its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.promises import recount
from tests.promises.recount import Rows

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.data.files.formats import write_frame
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY, Requirement
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, TableSearch
from tokumei.methods.rows import release_rows
from tokumei.methods.tables import write_anonymized

QI = ["age", "town", "answer"]
TREES = {
    "age": [["1", "2", "3", "4"], ["1-2", "1-2", "3-4", "3-4"], ["*"] * 4],
    "town": [["A", "B", "C"], ["*"] * 3],
    "answer": [["yes"], ["*"]],
}
HIERARCHIES = {name: Hierarchy.of_levels(name, tree) for name, tree in TREES.items()}
# All that make classes, but the one that needs a table of the user's own for two columns.
METHODS = [
    name
    for name in TABLE_ANONYMIZERS
    if isinstance(TABLE_ANONYMIZERS.make(name), (TableSearch, LocalRecoder)) and name != "marginal-recoding"
]


def people(seed: int) -> pl.DataFrame:
    draw = random.Random(seed)
    n = draw.choice([0, 1, 4, 8, 15, 30])
    missing = draw.choice([0.0, 0.2])

    def column(values: list[str]) -> pl.Series:
        return pl.Series([None if draw.random() < missing else draw.choice(values) for _ in range(n)], dtype=pl.String)

    columns = {name: column(tree[0]) for name, tree in TREES.items()}
    return pl.DataFrame(columns | {"illness": column(["flu", "cold", "ulcer"]), "income": column(["1", "2", "10"])})


Holds = Callable[[Rows, Rows], bool]


def promises(seed: int) -> tuple[list[Requirement], list[Holds]]:
    """Draw what is asked for, and how it is recounted on the release beside the original."""
    draw = random.Random(seed)
    size = draw.choice([1, 2, 3])
    asked = [SAFETY.make("k-anonymity", k=size)]
    checks: list[Holds] = [lambda rows, original: not rows or recount.k(rows, QI) >= size]
    kind = draw.choice(["k", "distinct", "entropy", "recursive", "t", "ordered", "alpha", "beta"])
    counts = draw.random() < 0.5
    missing = {"is_missing_a_value": counts}
    if kind == "distinct":
        asked.append(SAFETY.make("l-diversity", sensitive="illness", l=2, **missing))
        checks.append(lambda rows, _: recount.distinct_l(rows, QI, "illness", is_missing_a_value=counts) >= 2)
    if kind == "entropy":
        asked.append(SAFETY.make("l-diversity", sensitive="illness", l=1.6, kind="entropy", **missing))
        checks.append(lambda rows, _: recount.entropy_l(rows, QI, "illness", is_missing_a_value=counts) >= 1.6 - 1e-8)
    if kind == "recursive":
        asked.append(SAFETY.make("l-diversity", sensitive="illness", l=2, kind="recursive", c=2.0, **missing))
        checks.append(
            lambda rows, _: recount.recursive_holds(rows, QI, "illness", c=2, least=2, is_missing_a_value=counts)
        )
    if kind in ("t", "ordered"):
        column, distance = ("illness", "equal") if kind == "t" else ("income", "ordered")
        plain = recount.t if kind == "t" else recount.ordered_t
        asked.append(SAFETY.make("t-closeness", sensitive=column, t=0.35, distance=distance, is_missing_a_value=True))
        # Of the original and of the release.
        checks.append(lambda rows, original: plain(rows, QI, column, original) <= 0.35 + 1e-8)
        checks.append(lambda rows, original: plain(rows, QI, column, rows) <= 0.35 + 1e-8)
    if kind == "alpha":
        asked.append(SAFETY.make("alpha-k", sensitive="illness", alpha=0.7, k=size, is_missing_a_value=True))
        checks.append(lambda rows, _: recount.largest_share(rows, QI, "illness") <= 0.7 + 1e-8)
    if kind == "beta":
        asked.append(SAFETY.make("beta-likeness", sensitive="illness", beta=0.8, kind="basic", is_missing_a_value=True))
        checks.append(lambda rows, original: recount.largest_gain(rows, QI, "illness", original) <= 0.8 + 1e-8)
        checks.append(lambda rows, original: recount.largest_gain(rows, QI, "illness", rows) <= 0.8 + 1e-8)
    return asked, checks


@pytest.mark.parametrize("method", METHODS)
def test_method_keeps_what_it_promised_on_the_file(times: int, method: str, tmp_path: Path) -> None:
    made = TABLE_ANONYMIZERS.make(method)
    out, before = tmp_path / "out.csv", tmp_path / "original.csv"
    n_released = 0
    for seed in range(16 * times):
        frame, (asked, checks) = people(seed), promises(seed)
        share = random.Random(seed).choice([0.0, 0.0, 0.2, 0.5])
        goal = Goal(asked, method=made, suppression=share)
        frame.write_csv(before)
        try:
            if isinstance(made, TableSearch):
                write_anonymized(before, HIERARCHIES, goal, out, keep=kept(asked))
            else:
                write_frame(release_rows(frame, QI, HIERARCHIES, goal, keep=kept(asked)).release.frame, out)
        except (CannotAnonymize, InputError):
            # Some methods need what a requirement or an empty table does not have; nothing was promised.
            continue
        rows, original = recount.read(out), recount.read(before)
        n_released += 1
        assert len(rows) >= len(original) - share * len(original) - 1e-9
        assert all(one(rows, original) for one in checks), (seed, asked)
        assert_truthful(rows, original)
    assert n_released


def kept(asked: list[Requirement]) -> list[str]:
    """The columns that no requirement names, so that every file has both."""
    named = {column for one in asked for column in one.sensitive_columns}
    return [name for name in ("illness", "income") if name not in named]


def assert_truthful(rows: Rows, original: Rows) -> None:
    """No label tells what was not so: a missing value is never one, and every label stands for somebody's values."""
    n_yes = sum(row["answer"] == "yes" for row in original)
    assert sum(row["answer"] == "yes" for row in rows) <= n_yes
    assert sum(row["answer"] == "" for row in rows) <= len(original) - n_yes
