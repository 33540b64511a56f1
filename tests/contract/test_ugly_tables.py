"""Every attack on tables that nobody would make up: a copy, a release with k, and people who are not in it."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.registry import DISCLOSURE_ATTACKS
from tokumei.core.score import Score

K = 3
SHAPES = ("two rows", "one column", "all alike", "duplicates", "nulls", "many codes", "wide")
N_ROWS = {"two rows": 2, "one column": 30, "all alike": 12, "duplicates": 40, "nulls": 40, "many codes": 60, "wide": 40}
# What is not known of a whole number, date or text; each column takes some of it.
WORDS = ["東京都", "大阪 府", "", " ", "ß", "*x", "a;b", "{c}", "10-20", "é", "NA", "0", "-", "日本語　全角"]


def column(kind: str, n: int, rng: np.random.Generator) -> pl.Series:
    if kind == "whole":
        return pl.Series(rng.integers(-5, 5, n))
    if kind == "float":
        values = np.round(rng.normal(0, 10.0 ** float(rng.integers(-3, 9)), n), 3)
        values[rng.random(n) < 0.2] = rng.choice([math.inf, -math.inf, 0.0, -0.0, 1e308])
        return pl.Series(values)
    if kind == "date":
        return pl.Series(
            [datetime.date(1900, 1, 1) + datetime.timedelta(int(day)) for day in rng.integers(0, 60_000, n)]
        )
    if kind == "moment":
        start = datetime.datetime(2020, 1, 1, 12, 30)
        return pl.Series([start + datetime.timedelta(minutes=int(one)) for one in rng.integers(0, 900, n)])
    if kind == "text":
        return pl.Series(rng.choice(WORDS, n).tolist())
    if kind == "code":
        return pl.Series([f"{one:05d}" for one in rng.permutation(60_000)[:n]])
    if kind == "flag":
        return pl.Series(rng.random(n) < 0.5)
    return pl.Series(["same"] * n)


def table(shape: str, rng: np.random.Generator, n: int) -> pl.DataFrame:
    kinds = {
        "one column": ["whole"],
        "all alike": ["constant", "constant"],
        "many codes": ["code", "code", "whole"],
        "wide": ["whole", "float", "date", "moment", "text", "code", "flag", "constant"],
    }.get(shape, ["whole", "float", "date", "text"])
    found = pl.DataFrame({f"c{at}": column(kind, n, rng) for at, kind in enumerate(kinds)})
    if shape == "duplicates":
        found = found[rng.integers(0, n // 4, n)]
    if shape in ("nulls", "wide"):
        gone = [pl.Series(rng.random(n) < share) for share in np.linspace(0.1, 1, found.width)]
        found = found.select(
            pl.when(lost).then(None).otherwise(one).alias(one.name) for lost, one in zip(gone, found, strict=True)
        )
    return found.with_columns(ill=pl.Series(rng.choice(["風邪", "flu", "none"], n).tolist()))


def attacked(original: tk.Table, release: Any, name: str, **options: Any) -> dict[str, Score]:
    """The scores of an attack; none where it says what it lacks."""
    found = tk.attack(original, release, [DISCLOSURE_ATTACKS.make(name)], **options)
    scores = dict(next(iter(found.scores.values()), {}))
    for score in scores.values():
        assert score.value is not None
        assert 0 <= score.value <= 1
        assert score.interval is None or score.interval[0] <= score.value <= score.interval[1]
        assert not score.inputs.get("riskiest") or max(score.inputs["riskiest"]) <= original.n_rows
    return scores


@pytest.mark.parametrize("name", [name for name in DISCLOSURE_ATTACKS if name != "reconstruction"])
@pytest.mark.parametrize("shape", SHAPES)
def test_attack_on_an_ugly_table_finds_what_it_may_or_says_what_is_lacking(shape: str, name: str) -> None:
    n, rng = N_ROWS[shape], np.random.default_rng(SHAPES.index(shape))
    frame, others = table(shape, rng, n), table(shape, rng, 400 if name == "membership" else n)
    original = tk.Table(frame, qi=frame.columns[:-1], sensitive=["ill"])
    everybody = pl.concat([frame, others])
    more = {"control": others, "population": everybody, "earlier": [frame], "seed": 1}
    sizes = frame.select(pl.len().over(frame.columns[:-1]))["len"].to_numpy()
    try:
        copied = attacked(original, frame, name, in_order=True, **more)
    except tk.errors.TokumeiError:
        copied = {}
    if name == "distance-linkage" or (name == "record-linkage" and copied):
        # Everybody is found as surely as their values are rare.
        assert copied["success"].inputs["expected"] == pytest.approx((1 / sizes).mean(), abs=1e-9)
    try:
        release = tk.anonymize(original, method="mondrian", k=K, seed=1)
        found = attacked(original, release, name, **{**more, "earlier": [release]})
    except tk.errors.TokumeiError:
        found = {}
    if name in ("record-linkage", "distance-linkage") and found:
        assert found["success"].inputs["expected"] <= 1 / K + 1e-9
    if not getattr(DISCLOSURE_ATTACKS.get(name), "asks_whose", True) and (shape, name) != ("one column", "linkability"):
        strangers = attacked(original, others, name, made_up=True, control=everybody, seed=1)
        assert all(score.risk_interval is None or score.risk_interval[0] <= 0.2 for score in strangers.values())
