"""How right guesses of rows were."""

from __future__ import annotations

import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.core.errors import InputError
from tokumei.core.score import Score


def judge_rows(guess: pl.Series, rows: pl.Series, n_known: int) -> Score:
    """Return the share of published rows whose row of the original was found, from 0 (nobody, best) to 1.

    `guess` and `rows` count alike, both from 0 or both from 1; a missing guess is wrong. The baseline is drawing one of
    the `n_known` rows for each at random; the interval is of 95 %, rows being the trials.
    """
    if len(guess) != len(rows):
        raise InputError.of(f"a guess for each of {len(rows):,} rows", value=f"{len(guess):,}")
    n_right = int((guess == rows).fill_null(False).sum())
    return Score(
        "row success",
        n_right / max(1, len(rows)),
        best=0,
        worst=1,
        interval=wilson_interval(n_right, len(rows)),
        baseline=1 / max(1, n_known),
    )
