"""Adult locally recoded in rounds, as ARX does it, and what counting proves of the cells that were generalized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.attacks.disclosure.solver_clock import clock_of_programs

import tokumei as tk
from tokumei.data.files.formats import read_frame
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.hierarchy import Hierarchy

COLUMNS = ["sex", "age", "race", "marital-status", "education"]
K = 5
# The levels that each round takes, one for each column.
ROUNDS = [
    (0, 0, 0, 0, 0),
    (0, 1, 0, 0, 0),
    (0, 1, 0, 0, 1),
    (0, 2, 0, 0, 1),
    (0, 2, 0, 1, 1),
    (0, 3, 0, 1, 2),
    (0, 3, 1, 2, 3),
]
N_GENERALIZED_CELLS = 12_684


@pytest.fixture(scope="module")
def hierarchies(shared_data: Path) -> dict[str, Hierarchy]:
    return dict(read_hierarchies(shared_data / "adult" / "hierarchies", COLUMNS))


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> pl.DataFrame:
    return read_frame(shared_data / "adult" / "adult.csv.gz").select(pl.col(COLUMNS).cast(pl.String))


@pytest.fixture(scope="module")
def recoded(adult: pl.DataFrame, hierarchies: dict[str, Hierarchy]) -> pl.DataFrame:
    """Release in rounds what has k rows among those that are left."""
    out = adult.with_columns(pl.lit("*").alias(name) for name in COLUMNS)
    is_left = pl.Series("left", [True] * adult.height)
    for levels in ROUNDS:
        written = adult.select(
            pl.col(name).replace_strict(tree.leaves, tree.labels_at(level), return_dtype=pl.String)
            for (name, tree), level in zip(hierarchies.items(), levels, strict=True)
        )
        n_left = written.with_columns(is_left).select(pl.col("left").sum().over(COLUMNS)).to_series()
        is_held = is_left & (n_left >= K)
        out = pl.DataFrame({name: written[name].zip_with(is_held, out[name]) for name in COLUMNS})
        is_left &= ~is_held
    assert not is_left.any()
    return out


def attacked(adult: pl.DataFrame, recoded: pl.DataFrame, hierarchies: dict[str, Hierarchy], seconds: float) -> Any:
    told: dict[str, Any] = {"hierarchies": hierarchies, "in_order": True, "rounds": "any", "k": K, "complete": True}
    return tk.attack(tk.Table(adult, qi=COLUMNS), recoded, "refine", seconds=seconds, **told)


def test_programs_prove_more_of_adult_than_counting_and_stop_in_time(
    adult: pl.DataFrame,
    recoded: pl.DataFrame,
    hierarchies: dict[str, Hierarchy],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a clock that goes on by a tenth of a second with each program, so that a minute is 600 programs."""
    by_counting = attacked(adult, recoded, hierarchies, 0)
    assert by_counting.claims["is_true"].all()
    scores = by_counting.scores["refine"]
    assert scores["cells-certain"].inputs["cells"] == N_GENERALIZED_CELLS
    assert scores["cells-certain"].value == 741 / N_GENERALIZED_CELLS
    assert scores["narrowed"].value == pytest.approx(0.24600490683641668)
    programs = by_counting.to_dict()["deduced"]["refine"]["programs"]
    assert (programs["classes"], programs["out_of_time"]) == (0, 987)

    given = clock_of_programs(monkeypatch, 0.1)
    by_programs = attacked(adult, recoded, hierarchies, 60)
    assert 0 < len(given) <= 601
    assert all(started < 60 and limit <= 60 - started for started, limit in given)
    assert by_programs.claims["is_true"].all()
    programs = by_programs.to_dict()["deduced"]["refine"]["programs"]
    assert programs["classes"] > 0
    assert programs["classes"] + programs["out_of_time"] == 987
    assert by_programs.scores["refine"]["cells-certain"].value >= scores["cells-certain"].value
    assert by_programs.scores["refine"]["narrowed"].inputs["bits_removed"] > scores["narrowed"].inputs["bits_removed"]
