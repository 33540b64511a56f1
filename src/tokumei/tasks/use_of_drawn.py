"""What drawn rows are good for, judged by people whom the method never saw: counts by columns, and a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import needing
from tokumei.core.score import NORMAL_95, Score
from tokumei.core.seeds import generator
from tokumei.data.table import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Parts that numbers of many values are cut into, and labels that are told apart; all others are one.
N_PARTS = 20
# More sets of columns are drawn from, and more rows; a model of fewer people is not judged.
MOST_SETS, MOST_ROWS, FEWEST_TESTED = 100, 20_000, 30
# Either end of an interval fails in 2.5 of 100 cases at most.
TAIL_LOG = math.log(1 / 0.025)


def use_of_drawn(table: Table, drawn: pl.DataFrame, held_out: pl.Series) -> dict[str, Score]:
    """Compare drawn rows with people outside: `pair-error`, `triple-error`, and `model-loss` of a sensitive column."""
    names = [name for name in drawn.columns if name in table.frame.columns]
    drawn = drawn.head(MOST_ROWS)
    is_outside = np.zeros(table.n_rows, np.bool_)
    is_outside[held_out.to_numpy()] = True
    coded = {name: _coded(drawn[name], table.frame[name], name in (table.numeric or ())) for name in names}
    new = np.array([one for one, _ in coded.values()])
    people = np.array([one for _, one in coded.values()])
    outside = people[:, is_outside]
    found: dict[str, Score] = {}
    for word, n in (("pair-error", 2), ("triple-error", 3)):
        if len(names) >= n and outside.shape[1] > 1 and drawn.height:
            found[word] = marginal_error(word, new, outside, n)
    target = next((name for name in table.sensitive if name in coded), None)
    if target is not None and len(names) > 1 and outside.shape[1] >= FEWEST_TESTED and drawn.height:
        found["model-loss"] = _model_loss(new, people[:, ~is_outside][:, :MOST_ROWS], outside, names.index(target))
    return found


def marginal_error(name: str, drawn: Ints, outside: Ints, n_columns: int) -> Score:
    """Return how far counts by so many columns of drawn rows are from those of the population, with an interval.

    The distance of a set of columns is half the sum of absolute differences of shares, the total variation; the score
    is its mean over all sets, or over 100 drawn ones. The value T compares with the n people outside, by chance more
    often too much than too little. The distance from the population that they are drawn from lies between L and U with
    95 % (McDiarmid 1989): U = T + √(ln 40 / 2n), as one person moves T by 1/n at most; L is the mean distance from each
    half of the people less that of the halves from each other, less 3·√(ln 40 / 2n), as one moves that by 3/n.

    Example: of 1,000 people outside √(ln 40 / 2,000) = .043: where T is .20, the distance is .243 at most.
    """
    sets = list(combinations(range(len(drawn)), n_columns))
    if len(sets) > MOST_SETS:
        chosen = generator(0, name).choice(len(sets), MOST_SETS, replace=False)
        sets = [sets[at] for at in sorted(chosen.tolist())]
    n = outside.shape[1]
    mixed = outside[:, generator(0, name, "halves").permutation(n)]
    halves = mixed[:, : n // 2], mixed[:, n // 2 : 2 * (n // 2)]
    whole, apart = [], []
    for columns in sets:
        new, old, one, other = (_shares(rows, columns) for rows in (drawn, outside, *halves))
        whole.append(_variation(new, old))
        apart.append((_variation(new, one) + _variation(new, other)) / 2 - _variation(one, other))
    value, reach = float(np.mean(whole)), math.sqrt(TAIL_LOG / (2 * n))
    low = max(0.0, float(np.mean(apart)) - 3 * reach)
    interval = (min(low, value), min(1.0, value + reach))
    return Score(name, value, best=0, worst=1, interval=interval, inputs={"sets": len(sets), "people": n})


def _shares(rows: Ints, columns: Sequence[int]) -> Floats:
    cells = np.zeros(rows.shape[1], np.int64)
    for column in columns:
        cells = cells * (N_PARTS + 2) + rows[column]
    return np.asarray(np.bincount(cells, minlength=(N_PARTS + 2) ** len(columns)) / max(1, rows.shape[1]))


def _variation(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).sum()) / 2


def _coded(drawn: pl.Series, people: pl.Series, is_number: bool) -> tuple[Ints, Ints]:
    """Return both columns as parts that the drawn rows decide: 0 is missing, the last what they have not."""
    if is_number or drawn.dtype.is_numeric():
        numbers = [one.cast(pl.Float64, strict=False) for one in (drawn, people)]
        if numbers[0].n_unique() > N_PARTS and numbers[0].drop_nulls().len():
            ends = np.unique(np.quantile(numbers[0].drop_nulls().to_numpy(), np.arange(1, N_PARTS) / N_PARTS))
            cut = [np.searchsorted(ends, one.fill_null(0).to_numpy(), side="right") + 1 for one in numbers]
            return tuple(np.where(one.is_null().to_numpy(), 0, at) for one, at in zip(numbers, cut, strict=True))  # type: ignore[return-value]
    texts = [one.cast(pl.String) for one in (drawn, people)]
    counts = texts[0].drop_nulls().value_counts(name="n").sort("n", texts[0].name, descending=[True, False])
    labels = counts[texts[0].name].head(N_PARTS).to_list()
    codes = [
        one.replace_strict(labels, list(range(1, len(labels) + 1)), default=N_PARTS + 1, return_dtype=pl.Int64)
        if labels
        else pl.Series([N_PARTS + 1] * len(one))
        for one in texts
    ]
    return tuple(
        np.where(one.is_null().to_numpy(), 0, at.fill_null(0).to_numpy()) for one, at in zip(texts, codes, strict=True)
    )  # type: ignore[return-value]


def _model_loss(drawn: Ints, fitted: Ints, outside: Ints, target: int) -> Score:
    """Learn a column from drawn rows and from real ones, and compare how often each is right about people outside."""
    right = []
    for rows in (fitted, drawn):
        told = _tree().fit(np.delete(rows, target, axis=0).T, rows[target])
        right.append(told.predict(np.delete(outside, target, axis=0).T) == outside[target])
    frequent = np.bincount(fitted[target]).argmax()
    baseline = float(right[0].mean() - (outside[target] == frequent).mean())
    return loss_between(right[0], right[1], baseline)


def _tree() -> Any:
    with needing("Measuring what models learn from drawn rows", "learning"):
        from sklearn.tree import DecisionTreeClassifier
    return DecisionTreeClassifier(max_depth=8, min_samples_leaf=10, random_state=0)


def loss_between(original: npt.NDArray[np.bool_], drawn: npt.NDArray[np.bool_], baseline: float | None = None) -> Score:
    """Return by how much the accuracy falls, with its 95 % interval: both models are tried on the same people.

    One person more on either side keeps the interval honest where few people are told apart (Agresti and Min 2005).

    Example: of 100 people 84 are told by the model of the original and 80 by the other; 6 by the first alone, 2 by the
    second alone. The loss is .04, its center 4/102 and its error 1.96·√((8 + 2)/102 − (4/102)²)/√102 = .060.
    """
    apart = original.astype(np.int64) - drawn.astype(np.int64)
    n = len(apart) + 2
    center = apart.sum() / n
    error = NORMAL_95 * math.sqrt(((apart**2).sum() + 2) / n - center**2) / math.sqrt(n)
    interval = (max(-1.0, float(center - error)), min(1.0, float(center + error)))
    inputs = {"original": float(original.mean()), "drawn": float(drawn.mean()), "people": len(apart)}
    return Score(
        "model-loss",
        float(apart.mean()),
        best=-1,
        worst=1,
        interval=interval,
        baseline=baseline,
        inputs=inputs,
    )
