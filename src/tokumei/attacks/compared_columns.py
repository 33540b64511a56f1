"""What each column says of a person and a released record, whatever was done to it: numbers, values and labels.

A label that can stand for the person's value speaks for the record, the more the fewer people it can stand for. One
that cannot speaks against it, the less the fewer people lie at least as near: for numbers those between the two in the
order of all people, for labels of a hierarchy those below their common label. What is said is a likelihood ratio, as
Fellegi and Sunter (1969) weigh it: how often so near a label is met in people's own records, to how often in anybody's.

Example: of a hundred people 20 are women, and women's records say so nine times in ten. A record that says f speaks for
a woman by log(.9 / .2) = 1.5, one that says m against her by log(.1 / .8) = −2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import polars as pl

from tokumei.attacks.compared_numbers import FIRST_SPREAD, Floats, Numbers
from tokumei.attacks.compared_values import Categories, groups_of_levels
from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.label_semantics import Ints
from tokumei.hierarchies.labels import read_range
from tokumei.hierarchies.leaves import read_number

Compared = Numbers | Categories
# How many people around a label tell how dense they lie.
AROUND = 0.025
# Numbers beyond this, and infinite ones, count as so large, so that squares of differences are numbers.
LARGEST = 1e150
# Numbers so many times as far from the middle as half of them are count as so far.
FAR_OUT = 1e3


def values_together(name: str, frames: Sequence[pl.DataFrame], file: str) -> pl.Series:
    """Return a column of all people, those of the control last, who are read as the others are."""
    first, *others = (column_of(frame, name, file if at == 0 else "control") for at, frame in enumerate(frames))
    for other in others:
        try:
            first = first.append(other.cast(first.dtype))
        except pl.exceptions.PolarsError:
            expected = Text("values of type {type}, as in the original", type=str(first.dtype))
            raise InputError.of(expected, file="control", column=name, value=str(other.dtype)) from None
    return first


def read_column(threat_model: ThreatModel, name: str, theirs: pl.Series, table: Table) -> Compared:
    """Read a column of people and records."""
    released = column_of(table.frame, name, table.name)
    if threat_model.original.frame[name].dtype.is_numeric() or name in threat_model.numeric:
        return _numbers(threat_model, name, theirs, released)
    return _categories(threat_model, name, theirs, released)


def _numbers(threat_model: ThreatModel, name: str, theirs: pl.Series, released: pl.Series) -> Numbers:
    n_all = max(1, len(theirs))
    values, of_value = distinct_values(theirs)
    labels, of_label = distinct_values(released)
    points = _as_floats(values)
    sorted_numbers = np.sort(points[of_value])
    sorted_numbers = sorted_numbers[: n_all - int(np.isnan(sorted_numbers).sum())]
    ends = np.column_stack([_below(sorted_numbers, points, "left"), _below(sorted_numbers, points, "right")]) / n_all
    low, high = ends_of_labels(threat_model, name, labels).T
    is_all = np.zeros(len(labels), bool)
    if not labels.dtype.is_numeric():
        is_all = (labels == SUPPRESSED).fill_null(value=False).to_numpy()
    label_ends = np.column_stack([_below(sorted_numbers, low, "left"), _below(sorted_numbers, high, "right")]) / n_all
    missing = float(np.isnan(points[of_value]).sum()) / n_all
    low, high, points, sorted_numbers = _within_reach(sorted_numbers, low, high, points, sorted_numbers)
    different, counts = np.unique(sorted_numbers, return_counts=True)
    middles = (np.cumsum(counts) - counts / 2) / n_all
    places, density = np.column_stack([low, high]), np.ones(len(labels))
    if len(different):
        places = np.interp(places, different, middles)
        around = np.clip(places.mean(axis=1)[:, None] + np.array([-AROUND, AROUND]), 0, 1)
        width = np.diff(np.interp(around, middles, different), axis=1)[:, 0]
        # The usual distance of neighbors, without the outermost, which may lie anywhere.
        first = max(int(len(different) > 3), len(different) // 20)
        inner = different[first : len(different) - first]
        narrow = (inner[-1] - inner[0]) / max(1, len(inner) - 1) or 1.0
        density = np.diff(around, axis=1)[:, 0] / np.maximum(width, narrow)
    spread = FIRST_SPREAD * float(np.std(sorted_numbers) if len(sorted_numbers) else 1.0)
    return Numbers(
        of_value,
        of_label,
        ends,
        label_ends,
        points,
        np.column_stack([low, high]),
        places,
        density,
        is_all,
        missing,
        spreads=(spread or 1.0, FIRST_SPREAD),
    )


def _within_reach(numbers: Floats, *others: Floats) -> list[Floats]:
    """Bring numbers that lie far out, and infinite ones, to where they are far off and others still lie apart.

    Example: of 1, 2, 3 and ∞ the one in the middle is 2.5 and half of them are no more than 1 off: ∞ counts as 1,002.5.
    """
    if not len(numbers):
        return list(others)
    middle = float(np.median(numbers))
    off = np.abs(numbers - middle)
    reach = FAR_OUT * float(np.median(off[off > 0])) if off.any() else 1.0
    return [np.clip(one, middle - reach, middle + reach) for one in others]


def _below(numbers: Floats, points: Floats, side: str) -> Floats:
    """Count the numbers below each point, or below or at it; missing where the point is."""
    found = np.searchsorted(numbers, points, side="left" if side == "left" else "right").astype(np.float64)
    return np.where(np.isnan(points), np.nan, found)


def _as_floats(values: pl.Series) -> Floats:
    if values.dtype.is_numeric():
        numbers: Floats = np.clip(values.cast(pl.Float64).to_numpy(), -LARGEST, LARGEST)
        return numbers
    read = [None if text is None else read_number(text) for text in values.cast(pl.String)]
    return np.array([np.nan if number is None else _as_float(number) for number in read])


def _as_float(number: Fraction) -> float:
    if abs(number) > LARGEST:
        return LARGEST if number > 0 else -LARGEST
    return float(number)


def distinct_values(values: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the different values in their order, and the place of each among them."""
    distinct = values.unique().sort()
    places = pl.DataFrame({"value": distinct, "at": np.arange(len(distinct))})
    found = pl.DataFrame({"value": values}).join(
        places, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return distinct, found["at"].to_numpy().astype(np.int64)


def ends_of_labels(threat_model: ThreatModel, name: str, labels: pl.Series) -> Floats:
    """Return the two ends of each label of numbers; missing where it has none."""
    if labels.dtype.is_numeric():
        numbers = _as_floats(labels)
        return np.column_stack([numbers, numbers])
    ends = [_number_ends(threat_model, name, text) for text in labels.cast(pl.String)]
    return np.array(ends, np.float64).reshape(-1, 2)


def _number_ends(threat_model: ThreatModel, name: str, text: str | None) -> tuple[float, float]:
    """Return the ends of a label of numbers; missing where it has none."""
    if text is None:
        return np.nan, np.nan
    if text == SUPPRESSED:
        return -np.inf, np.inf
    number = read_number(text)
    if number is not None:
        return _as_float(number), _as_float(number)
    found = read_range(text)
    if found is not None:
        # An open end leaves out the end itself.
        low, high = float(found.low), float(found.high)
        return (
            float(np.nextafter(low, np.inf)) if found.is_open_below else low,
            float(np.nextafter(high, -np.inf)) if found.is_open else high,
        )
    vocabulary = threat_model.vocabulary(name)
    try:
        sets = vocabulary.leaf_sets([text])
    except InputError as error:
        raise error.within(threat_model.published.table.name) from None
    inside = sets.end > sets.first
    if not inside.any():
        return np.nan, np.nan
    last = min(int(sets.end[inside].max()), vocabulary.n_leaves) - 1
    return vocabulary.numbers[int(sets.first[inside].min())], vocabulary.numbers[last]


def _categories(threat_model: ThreatModel, name: str, theirs: pl.Series, released: pl.Series) -> Categories:
    vocabulary = threat_model.vocabulary(name)
    # Values that nobody here has are made up, or other people's.
    labels, sets = vocabulary.read(released, are_known=False)
    values = vocabulary.indices(theirs, are_known=False)
    counts = np.bincount(values, minlength=vocabulary.n_leaves + 2) / max(1, len(theirs))
    return Categories(values, labels, sets, counts, groups_of_levels(vocabulary, sets, counts))
