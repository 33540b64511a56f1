"""Every claim of downcoding that is called proven is true, whatever the table holds."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from tests.cases import cases

import tokumei as tk
from tokumei.core.errors import CannotAnonymize
from tokumei.core.seeds import generator
from tokumei.hierarchies.hierarchy import Hierarchy

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
@pytest.mark.parametrize("seed", range(cases(100)))
def test_downcoding_of_any_release_claims_nothing_that_is_false(method: str, seed: int) -> None:
    frame, columns = random_table(seed)
    is_complete = not any(frame[name].null_count() for name in columns)
    table = tk.Table(frame, qi=columns, hierarchies={"city": TREE} if "city" in columns else None)
    ranges: Literal["grid", "tight"] = "grid" if seed % 5 == 4 else "tight"
    try:
        release = tk.anonymize(
            table,
            k=2 + seed % 3,
            method=method,
            suppress=0.2 * (seed % 4 == 3),
            seed=seed,
            ranges=ranges,
        )
    except CannotAnonymize:
        pytest.skip("nothing of this table can be released")
    claims = tk.attack(release, attack="downcoding", complete=is_complete).claims
    assert claims["is_true"].null_count() == 0
    assert claims.filter(~pl.col("is_true")).to_dicts() == []


@pytest.mark.parametrize("seed", range(cases(100)))
def test_cuts_of_mondrian_are_retraced_without_a_false_claim(seed: int) -> None:
    """Few values, so that many rows share one beside a cut, and nothing missing, so that cuts can be told."""
    draw = generator(seed, "cuts")
    n, k = int(draw.integers(10, 150)), 2 + seed % 4
    frame = pl.DataFrame({"age": draw.integers(20, 40, n), "dose": np.round(draw.normal(2, 1, n), 1)})
    columns = ["age"] if seed % 3 == 0 else ["age", "dose"]
    if seed % 3 == 2:
        frame, columns = frame.with_columns(city=pl.Series(draw.choice(CITIES, n))), [*columns, "city"]
    table = tk.Table(frame.select(columns), qi=columns, hierarchies={"city": TREE} if "city" in columns else None)
    release = tk.anonymize(table, k=k, method="mondrian", ranges="tight")
    claims = tk.attack(release, attack="downcoding", complete=True).claims
    assert claims.filter(~pl.col("is_true")).to_dicts() == []


@pytest.mark.parametrize("method", ["optimal", "ola", "incognito"])
@pytest.mark.parametrize("seed", range(0, cases(100), 3))
def test_levels_and_suppressed_rows_are_claimed_truly(method: str, seed: int) -> None:
    frame, columns = random_table(seed)
    table = tk.Table(frame, qi=columns, hierarchies={"city": TREE} if "city" in columns else None)
    release = tk.anonymize(table, k=2 + seed % 3, method=method, suppress=0.2 * (seed % 2))
    assert release.rows is not None
    # As others write it: who is suppressed stays, and says nothing.
    left_out = sorted(set(range(frame.height)) - set(release.rows))
    blank = pl.DataFrame({name: ["*"] * len(left_out) for name in columns}, dict.fromkeys(columns, pl.String))
    whole = pl.concat([release.table.select(pl.col(columns).cast(pl.String)), blank])
    rows = [*release.rows, *left_out]
    told: dict[str, Any] = {"rows": rows, "hierarchies": dict(release.hierarchies), "method": method}
    for found in (tk.attack(release, attack="downcoding"), tk.attack(table, whole, "downcoding", **told)):
        assert found.claims.filter(~pl.col("is_true")).to_dicts() == []
