"""Whose row is whose: the row of the original behind each released row, read and checked against the labels.

| where | the first row is |
|---|---|
| Python: `r.rows`, `rows=`, `earlier_rows=`, `against_rows=`, the column `row` of claims | 0, as in `iloc` of pandas |
| files that `--rows` writes and reads, JSON, pages, messages | 1, as people count |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.threat_model import NOBODY, Published, ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.text import Text, counted
from tokumei.data.files.strict import read_rows
from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Bools, Ints
from tokumei.hierarchies.leaves import read_number
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber

# So many rows whose values all stand in the row before or after are no chance.
TELLING_ROWS = 10
IN_PYTHON = "in Python rows count from 0, as r.rows does; the file of --rows counts from 1"


def row_numbers(rows: Any, table: Table | History, n_original: int) -> pl.Series:
    """Return the row of the original of each released row, from 0: a file has them from 1, a line each."""
    if not isinstance(rows, (str, Path)):
        try:
            given = pl.Series("row", rows)
            numbers = given.cast(pl.Int64)
            if given.dtype.is_float() and (given != numbers).any():
                raise ValueError("rows between rows")
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            expected = "a row number for each released row"
            raise InputError.of(expected, option="rows", value=type(rows).__name__) from None
        if len(numbers) != table.n_rows:
            expected = f"a row number for each of {table.n_rows:,} released rows"
            raise InputError.of(expected, option="rows", value=counted(len(numbers), "number"))
        for wrong in numbers.filter(~numbers.is_between(0, n_original - 1))[:1]:
            expected = Text("a row of the original, from 0 to {n:,} ({why})", n=n_original - 1, why=Text(IN_PYTHON))
            raise InputError.of(expected, option="rows", value=wrong)
        return numbers
    numbers = read_rows(rows)
    if len(numbers) != table.n_rows:
        expected = f"a line for each of {table.n_rows:,} released rows"
        raise InputError.of(expected, file=rows, value=counted(len(numbers), "line"))
    for line in (numbers > n_original).arg_true()[:1]:
        expected = f"a row of the original, counted from 1 to {n_original:,}"
        raise InputError.of(expected, file=rows, line=line + 1, value=numbers[line])
    return numbers - 1


def rows_of_column(frame: pl.DataFrame, column: str, file: str) -> pl.Series:
    """Return the row of the original of each released row, from 0, by a column that counts them from 1."""
    if column not in frame.columns:
        raise InputError.of(f"a column of the release: {', '.join(frame.columns)}", file=file, column=column)
    numbers = frame[column].cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    for line in (numbers.is_null() | (numbers < 1)).arg_true()[:1]:
        expected = "a row of the original, counted from 1"
        raise InputError.of(expected, file=file, line=line + 2, column=column, value=frame[column][line])
    return numbers - 1


def check_pairing(scene: ThreatModel) -> None:
    """Refuse a release one of whose labels cannot stand for the value of the row that it is said to be.

    Methods that change values at random write values that were never there: of these nothing can be told. Where nobody
    says by which method a release was made, plain values may have been changed, and labels of several values tell.
    """
    name = scene.method.name
    if scene.method.is_hardened or (name and issubclass(_class_of(name), Perturber)):
        return
    for published in (scene.published, *scene.earlier):
        _check(scene, published, is_known=bool(name) and published is scene.published)


def _class_of(name: str) -> type:
    return TABLE_ANONYMIZERS.get(name)


def _check(scene: ThreatModel, published: Published, *, is_known: bool) -> None:
    original, released = scene.original, published.table
    owners = published.owners(original.n_rows)
    columns = [name for name in original.quasi_identifiers if name in released.frame.columns]
    labels = {name: found for name in columns if (found := _Labels.of(scene, released, name)) is not None}
    misfits = {name: one.misfits(owners) for name, one in labels.items()}
    wrong = {name: one & (labels[name].is_general | is_known) for name, one in misfits.items()}
    is_told = any(one.any() for one in wrong.values())
    # Of few rows a shift may fit by chance.
    is_off = is_told or max((int(one.sum()) for one in misfits.values()), default=0) >= TELLING_ROWS
    is_off = is_off and _is_off_by_one(list(labels.values()), owners)
    if not is_told and not is_off:
        return
    wrong = misfits if is_off else wrong
    at = min(int(np.flatnonzero(one)[0]) for one in wrong.values() if one.any())
    column = next(name for name, one in wrong.items() if one[at])
    n_wrong = int(np.logical_or.reduce(list(wrong.values())).sum())
    if is_off:
        why = Text("the row numbers are off by one: {how}", how=Text(IN_PYTHON))
    else:
        why = Text("the rows are in another order, or another file's")
    expected = Text(
        "a label for {value}, which row {row:,} of the original has, in row {at:,} of the release; "
        "{n:,} of {m:,} rows do not fit: {why}",
        value=repr(original.frame[column][int(owners[at])]),
        row=int(owners[at]) + 1,
        at=at + 1,
        n=n_wrong,
        m=released.n_rows,
        why=why,
    )
    raise InputError.of(expected, file=released.name, column=column, value=released.frame[column][at])


class _Labels:
    """The labels of a released column, what they stand for, and the values that people have."""

    def __init__(self, scene: ThreatModel, released: Table, column: str) -> None:
        vocabulary = scene.vocabulary(column)
        self.codes, self.sets = vocabulary.read(released.frame[column])
        self.values = vocabulary.indices(scene.original.frame[column])
        labels = released.frame[column].cast(pl.String).unique().sort(nulls_last=True).to_list()
        leaves = set(vocabulary.hierarchy.leaves)
        plain = [
            one is None or one in leaves or (vocabulary.is_numeric and read_number(one) is not None) for one in labels
        ]
        self.is_general: Bools = ~np.array(plain, bool)[self.codes]

    @classmethod
    def of(cls, scene: ThreatModel, released: Table, column: str) -> _Labels | None:
        """Read a column; None where its labels or values cannot be read, which whoever needs them says."""
        try:
            return cls(scene, released, column)
        except InputError:
            return None

    def misfits(self, owners: Ints) -> Bools:
        """Mark the released rows whose label cannot stand for the value of the row that they are said to be."""
        is_owned = (owners != NOBODY) & (owners >= 0) & (owners < len(self.values))
        out = np.zeros(len(owners), bool)
        out[is_owned] = ~self.sets.contain(self.codes[is_owned], self.values[owners[is_owned]])
        return out


def _is_off_by_one(labels: Sequence[_Labels], owners: Ints) -> bool:
    """Whether every label fits the row before, or the one after, that it is said to be."""
    is_owned = owners != NOBODY
    for step in (-1, 1):
        moved = np.where(is_owned, owners + step, NOBODY)
        is_inside = (moved[is_owned] >= 0) & (moved[is_owned] < len(labels[0].values))
        # At an end one row may fall out; more would be no shift.
        if (~is_inside).sum() <= 1 and not any(one.misfits(moved).any() for one in labels):
            return True
    return False
