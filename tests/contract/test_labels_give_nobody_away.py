"""What labels give away of who is in a group, by every attack that reads the release alone, for every method."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.registry import DISCLOSURE_ATTACKS
from tokumei.methods.registry import TABLE_ANONYMIZERS

N_ROWS, K = 600, 5
# By how much the end of a range may fit one person more often than any value of it.
TOLERANCE = 0.02
READERS = [name for name in DISCLOSURE_ATTACKS if hasattr(DISCLOSURE_ATTACKS.get(name), "deduce")]
# These publish counts, in which no row is a person's.
COUNTS = ("dp-counts", "marginals")


def numbers(seed: int) -> pl.DataFrame:
    """Numbers of all kinds: heaped, skewed with decimals and missing, of few values, and one alone."""
    rng = np.random.default_rng(seed)
    incomes = np.round(rng.lognormal(8, 1, N_ROWS), 2)
    return pl.DataFrame(
        {
            "age": np.where(rng.random(N_ROWS) < 0.3, rng.integers(2, 9, N_ROWS) * 10, rng.integers(18, 95, N_ROWS)),
            "income": [None if chance < 0.1 else one for chance, one in zip(rng.random(N_ROWS), incomes, strict=True)],
            "change": np.where(rng.random(N_ROWS) < 0.6, 0, rng.integers(-300, 300, N_ROWS)),
            "floor": rng.integers(1, 3, N_ROWS),
            "year": [2024] * N_ROWS,
        }
    )


def dates(seed: int) -> pl.DataFrame:
    """Dates, numbers and words, in Japanese."""
    rng = np.random.default_rng(seed)
    born = [dt.date(1940, 1, 1) + dt.timedelta(int(days)) for days in rng.integers(0, 25_000, N_ROWS)]
    return pl.DataFrame(
        {
            "生年月日": [None if chance < 0.05 else one for chance, one in zip(rng.random(N_ROWS), born, strict=True)],
            "来院日": [f"2024-{month:02}-{day:02}" for month, day in rng.integers(1, 13, (N_ROWS, 2))],
            "点数": rng.integers(0, 1000, N_ROWS),
            "町": rng.choice(["大宮", "浦和", "川口"], N_ROWS),
        }
    )


TABLES = {"numbers": numbers, "dates": dates}


@pytest.fixture(scope="module")
def two_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranges") / "table.csv"
    path.write_text("age/floor,1-2\n0-39,\n40-99,\n")
    return path


@pytest.mark.parametrize("attack", READERS)
@pytest.mark.parametrize("name", [name for name in TABLE_ANONYMIZERS if name not in COUNTS])
@pytest.mark.parametrize("kind", list(TABLES))
def test_default_release_gives_away_no_more_by_ends_than_by_any_value(
    name: str, attack: str, kind: str, two_way: Path
) -> None:
    frame = TABLES[kind](1)
    options: dict[str, object] = {} if hasattr(TABLE_ANONYMIZERS.get(name), "perturb") else {"k": K, "suppress": 0.1}
    method: object = name
    if name == "pram" and kind == "numbers":
        pytest.skip("changes categories, of which there are none")
    if name == "marginal-recoding":
        if kind == "dates":
            pytest.skip("takes two columns and a table of their ranges")
        frame, method = frame.select("age", "floor"), TABLE_ANONYMIZERS.make(name, table=str(two_way))
    table = tk.Table(frame, qi=frame.columns)
    if name in ("microaggregate", "noise", "top-bottom-code") and kind == "numbers":
        # Rows that miss a number are few in their groups.
        table = tk.Table(frame.drop("income"), qi=[one for one in frame.columns if one != "income"])
    released = tk.anonymize(table, method=method, seed=1, **options)
    for score in tk.attack(table, released, attack=attack).scores[attack].values():
        if score.name == "singled-out" and score.baseline is not None and score.interval is not None:
            assert score.interval[0] <= score.baseline + TOLERANCE
        for column, share in score.inputs.get("by_column", {}).items():
            # Of two different numbers both occur where not all are alike, as whatever is written tells.
            if score.name.endswith("certain") and column != "floor" and frame[column].dtype.is_numeric():
                assert share == 0


@pytest.mark.parametrize("name", ["mondrian", "partition", "min-dis", "utility-clustering"])
@pytest.mark.parametrize("seed", [2, 3, 4])
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
