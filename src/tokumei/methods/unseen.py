"""Values of another table that a recipe has no label for: refused, left out with their rows, or hidden."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from tokumei.core.errors import LISTED_FAULTS, FaultList
from tokumei.core.wording import counted
from tokumei.engines.recoding import Recoding
from tokumei.hierarchies.hierarchy import SUPPRESSED

Unseen = Literal["refuse", "suppress", "top"]
LineOf = Callable[[int], int | None]


def rows_left(frame: pl.DataFrame, recodings: Sequence[Recoding]) -> pl.Series:
    """Return for each row whether every value of it has a label, or is hidden anyhow."""
    left = pl.repeat(True, frame.height, eager=True)
    for one in recodings:
        if one.label_of_missing is None:
            left &= ~_is_unseen(frame, one)
    return left


def with_unseen_hidden(frame: pl.DataFrame, recodings: Sequence[Recoding], *, everywhere: bool) -> list[Recoding]:
    """Return recodings that hide the values without a label: where a column says nothing anyhow, or `everywhere`."""
    return [_hiding(frame, one) if everywhere or one.label_of_missing is not None else one for one in recodings]


def check_all_seen(frame: pl.DataFrame, recodings: Sequence[Recoding], file: str, line_of: LineOf) -> None:
    """Raise an InputError that names each value without a label, the first line it stands in, and how often."""
    faults = FaultList(file)
    for one in recodings:
        if one.label_of_missing is not None:
            continue
        rows = pl.DataFrame({"value": frame[one.column]}).with_row_index("row").filter(_is_unseen(frame, one))
        found = rows.group_by("value", maintain_order=True).agg(pl.col("row").min(), n=pl.len())
        for value, row, n_rows in found.head(LISTED_FAULTS).iter_rows():
            expected = (
                f"a value that the recipe knows (in {counted(n_rows, 'row')}; unseen values are left "
                "out with --unseen suppress, or hidden with --unseen top)"
            )
            faults.add(expected, line=line_of(row), column=one.column, value=value)
        faults.count_more(max(0, found.height - LISTED_FAULTS))
    faults.raise_if_any()


def _is_unseen(frame: pl.DataFrame, recoding: Recoding) -> pl.Series:
    cells = frame[recoding.column]
    return cells.is_not_null() & ~cells.is_in(recoding.as_type(cells.dtype)["value"].implode())


def _hiding(frame: pl.DataFrame, recoding: Recoding) -> Recoding:
    label = recoding.label_of_missing or SUPPRESSED
    unseen = frame[recoding.column].filter(_is_unseen(frame, recoding)).unique().sort().cast(pl.String)
    labels = pl.repeat(label, len(unseen), dtype=pl.String, eager=True)
    return replace(recoding, values=pl.concat([recoding.values, unseen]), labels=pl.concat([recoding.labels, labels]))
