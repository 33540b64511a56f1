"""What labels give away of who is in a group, by every attack that reads the release alone, for every method."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cases import with_many

import tokumei as tk
from tokumei.attacks.registry import DISCLOSURE_ATTACKS
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableAnonymizer

N_ROWS, K = 600, 5
# By how much the end of a range may fit one person more often than any value of it.
TOLERANCE = 0.02
KINDS = {name: DISCLOSURE_ATTACKS.get(name) for name in DISCLOSURE_ATTACKS}
READERS = [name for name, kind in KINDS.items() if hasattr(kind, "deduce") and "counts" not in kind.needs]
# Of so many rows the shares are told to about ± .02.
N_MANY = 6000
RANGED = ("mondrian", "partition", "min-dis", "utility-clustering", "top-down-specialization")
# Of these no row is a person's: they publish counts, or draw rows of nobody.
NOBODYS = ("aim", "copula", "dp-counts", "marginals", "mst", "sequential-trees")


def numbers(seed: int, n_rows: int = N_ROWS) -> pl.DataFrame:
    """Numbers of all kinds: heaped, skewed with decimals and missing, of few values, and one alone."""
    rng = np.random.default_rng(seed)
    incomes = np.round(rng.lognormal(8, 1, n_rows), 2)
    return pl.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.3, rng.integers(2, 9, n_rows) * 10, rng.integers(18, 95, n_rows)),
            "income": [None if chance < 0.1 else one for chance, one in zip(rng.random(n_rows), incomes, strict=True)],
            "change": np.where(rng.random(n_rows) < 0.6, 0, rng.integers(-300, 300, n_rows)),
            "floor": rng.integers(1, 3, n_rows),
            "year": [2024] * n_rows,
        }
    )


def dates(seed: int, n_rows: int = N_ROWS) -> pl.DataFrame:
    """Dates, numbers and words, in Japanese."""
    rng = np.random.default_rng(seed)
    born = [dt.date(1940, 1, 1) + dt.timedelta(int(days)) for days in rng.integers(0, 25_000, n_rows)]
    return pl.DataFrame(
        {
            "生年月日": [None if chance < 0.05 else one for chance, one in zip(rng.random(n_rows), born, strict=True)],
            "来院日": [f"2024-{month:02}-{day:02}" for month, day in rng.integers(1, 13, (n_rows, 2))],
            "点数": rng.integers(0, 1000, n_rows),
            "町": rng.choice(["大宮", "浦和", "川口"], n_rows),
        }
    )


def moments(seed: int, n_rows: int = N_ROWS) -> pl.DataFrame:
    """Times of day, dates and numbers; one column is the same for all."""
    rng = np.random.default_rng(seed)
    seconds = rng.integers(0, 366, n_rows) * 86_400 + rng.integers(8 * 3600, 20 * 3600, n_rows)
    return pl.DataFrame(
        {
            "admitted": [dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(one)) for one in seconds],
            "born": [dt.date(1940, 1, 1) + dt.timedelta(int(days)) for days in rng.integers(0, 25_000, n_rows)],
            "points": rng.integers(0, 1000, n_rows),
            "year": [2024] * n_rows,
        }
    )


TABLES = {"numbers": numbers, "dates": dates, "moments": moments}


@pytest.fixture(scope="module")
def two_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranges") / "table.csv"
    path.write_text("age/floor,1-2\n0-39,\n40-99,\n")
    return path


@pytest.mark.parametrize("name", [name for name in TABLE_ANONYMIZERS if name not in NOBODYS])
@pytest.mark.parametrize("kind", list(TABLES))
def test_default_release_gives_away_no_more_by_ends_than_by_any_value(name: str, kind: str, two_way: Path) -> None:
    frame = TABLES[kind](1)
    options: dict[str, Any] = {} if hasattr(TABLE_ANONYMIZERS.get(name), "perturb") else {"k": K, "suppress": 0.1}
    method: str | TableAnonymizer = name
    if name == "pram" and kind != "dates":
        pytest.skip("changes categories, of which there are none")
    if name == "marginal-recoding":
        if kind != "numbers":
            pytest.skip("takes two columns and a table of their ranges")
        frame, method = frame.select("age", "floor"), TABLE_ANONYMIZERS.make(name, table=str(two_way))
    table = tk.Table(frame, qi=frame.columns)
    if name in ("microaggregate", "noise", "top-bottom-code") and kind == "numbers":
        # Rows that miss a number are few in their groups.
        table = tk.Table(frame.drop("income"), qi=[one for one in frame.columns if one != "income"])
    released = tk.anonymize(table, method=method, seed=1, **options)
    found = tk.attack(table, released, attack=READERS).scores
    assert set(found) == set(READERS)
    for score in (one for attack in READERS for one in found[attack].values()):
        if score.name == "singled-out" and score.baseline is not None and score.interval is not None:
            assert score.interval[0] <= score.baseline + TOLERANCE
        for column, share in score.inputs.get("by_column", {}).items():
            # Of two different numbers both occur where not all are alike, as whatever is written tells.
            if score.name.endswith("certain") and column != "floor" and frame[column].dtype.is_numeric():
                assert share == 0


@pytest.mark.parametrize("name", RANGED)
@pytest.mark.parametrize("kind", list(TABLES))
@pytest.mark.parametrize("seed", [1, *with_many(2)])
def test_ends_of_ranges_of_many_rows_fit_one_person_as_seldom_as_any_value(name: str, kind: str, seed: int) -> None:
    frame = TABLES[kind](seed, N_MANY)
    table = tk.Table(frame, qi=frame.columns)
    released = tk.anonymize(table, method=name, k=K, suppress=0.1, seed=1)
    score = tk.attack(table, released, attack="downcoding").scores["downcoding"]["singled-out"]
    assert score.interval is not None and score.baseline is not None
    # So many ranges are tried that a share twice as far off would be noticed.
    assert score.interval[1] - score.interval[0] < 2 * TOLERANCE + 0.01
    assert score.interval[0] <= score.baseline + TOLERANCE


@pytest.mark.parametrize("seed", [1, 2])
def test_dates_and_times_are_written_by_the_calendar_and_lose_no_more_than_tight_ranges(seed: int) -> None:
    frame = moments(seed).select("admitted", "born")
    table = tk.Table(frame, qi=frame.columns)
    grid, tight = (tk.anonymize(table, method="mondrian", k=K, ranges=ranges) for ranges in ("grid", "tight"))
    labels = {label for column in frame.columns for label in grid.table[column]}
    calendar = r"\*|\d{4}(-Q\d|-\d\d){0,2}( \d\d(:\d\d)?)?|\d{4}-\d{4}"
    assert [label for label in labels if not re.fullmatch(calendar, label)] == []
    assert grid.loss is not None and tight.loss is not None and grid.loss <= 1.15 * tight.loss


@pytest.mark.parametrize("name", ["mondrian", "partition", "min-dis", "utility-clustering"])
@pytest.mark.parametrize("seed", [2, *with_many(3, 4)])
def test_tight_ranges_give_people_away_and_those_of_the_grid_do_not(name: str, seed: int) -> None:
    table = tk.Table(dates(seed), qi=["生年月日", "点数"])
    found = {}
    for ranges in ("grid", "tight"):
        released = tk.anonymize(table, method=name, k=K, seed=seed, ranges=ranges)
        found[ranges] = tk.attack(table, released, attack="downcoding").scores["downcoding"]
    grid, tight = found["grid"]["singled-out"], found["tight"]["singled-out"]
    assert grid.interval is not None
    assert grid.baseline is not None
    assert grid.interval[0] <= grid.baseline + TOLERANCE
    assert tight.value > 0.45
    assert tight.value > (tight.baseline or 0) + 0.2
    assert found["tight"]["cells-certain"].value > found["grid"]["cells-certain"].value
