"""Every claim of downcoding that is called proven is true, whatever the table holds."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import CannotAnonymize
from tokumei.core.seeds import generator
from tokumei.hierarchy.hierarchy import Hierarchy

CITIES = ["Kyoto", "Osaka", "Nara", "Tokyo", "Chiba", "Naha"]
REGIONS = ["west", "west", "west", "east", "east", "south"]
TREE = Hierarchy.of_levels("city", [CITIES, REGIONS, ["*"] * 6])
METHODS = ["mondrian", "partition", "min-dis", "utility-clustering"]


def random_table(seed: int) -> tuple[pl.DataFrame, list[str]]:
    """Numbers with ties, decimals, dates, categories with and without a tree, a constant, and missing values."""
    draw = generator(seed, "table")
    n = int(draw.integers(6, 60))
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 60, n)]
    columns: dict[str, Any] = {
        "age": draw.integers(20, 20 + int(draw.integers(1, 40)), n),
        "dose": np.round(draw.normal(2, 1, n), 1),
        "day": days,
        "city": draw.choice(CITIES, n),
        "sex": draw.choice(["f", "m"], n),
        "kind": ["same"] * n,
    }
    frame = pl.DataFrame(columns)
    chosen = sorted(
        draw.choice(frame.columns, int(draw.integers(1, 5)), replace=False).tolist(), key=frame.columns.index
    )
    if draw.random() < 0.5:
        gone = draw.random((n, len(chosen))) < draw.choice([0.02, 0.2])
        frame = frame.with_columns(
            pl.when(pl.Series(gone[:, at])).then(None).otherwise(pl.col(name)).alias(name)
            for at, name in enumerate(chosen)
        )
    return frame.select(chosen), chosen


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(25))
def test_downcoding_of_any_release_claims_nothing_that_is_false(method: str, seed: int) -> None:
    frame, columns = random_table(seed)
    is_complete = not any(frame[name].null_count() for name in columns)
    table = tk.Table(frame, qi=columns, hierarchies={"city": TREE} if "city" in columns else None)
    try:
        release = tk.anonymize(
            table, k=2 + seed % 3, method=method, suppress=0.2 * (seed % 4 == 3), seed=seed, ranges="tight"
        )
    except CannotAnonymize:
        pytest.skip("nothing of this table can be released")
    claims = tk.attack(release, attack="downcoding", complete=is_complete).claims
    assert claims["is_true"].null_count() == 0
    assert claims.filter(~pl.col("is_true")).to_dicts() == []
