"""What suppressed cells hide: the fewest rows that are alike if such a cell may stand for any value.

A class counts rows that say the same, so that `*` and a missing value are values of their own: a row of which one cell
was suppressed is often alone in its class. sdcMicro counts the rows that agree wherever both say something, and ARX
does not count rows that say nothing at all.

Example: of (f, 30), (f, 30), (f, *) and (m, *) the last two are alone in their classes. Where * may stand for any
value, (f, 30) is alike to three rows, (f, *) to the same three, and (m, *) to itself alone: k is 1 still. With another
row (m, 40) it is 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.core.text import Text, counted
from tokumei.engines.class_counts import ClassCounts

# So many ways to suppress some of the columns are compared with each other, and so many classes with each way; a table
# of more is not measured. Ten million comparisons take seconds.
MOST_COLUMNS, MOST_PATTERNS, MOST_COMPARISONS = 62, 64, 10_000_000
# A code may have each of its characters masked.
SAYS_NOTHING = r"^\*+$"
SIZE, ALIKE = "size \0", "alike \0"


@dataclass(frozen=True)
class SuppressedCells:
    """The rows with suppressed cells among some columns, and how many rows are alike where these may be anything.

    n_rows: rows with a suppressed cell or more. n_empty: those of which every cell is.
    k: fewest rows that are alike to a row; None where there are too many ways to suppress.
    """

    n_rows: int
    n_empty: int
    k: int | None

    def as_dict(self, k: int) -> dict[str, Text | int | None]:
        """Return the counts for JSON, and what they say beside k."""
        return {"rows": self.n_rows, "empty": self.n_empty, "k_if_anything": self.k, "said": self.words(k)}

    def words(self, k: int) -> Text:
        """Return what suppressed cells count as, what k is if they may be anything, and what to do with empty rows."""
        form = (
            "{rows} have suppressed or missing cells, which count as values of their own: k is {k}. If such a cell "
            "may stand for any value, as sdcMicro counts, it is {other}."
        )
        rows, other = counted(self.n_rows, "row"), Text("not measured") if self.k is None else self.k
        if self.n_empty:
            form += (
                " {empty} say nothing of any quasi-identifier: they are a class of their own, in which whoever fits no "
                "other class is known to be. Leave them out of the file unless they are needed."
            )
        return Text(form, rows=rows, k=k, other=other, empty=counted(self.n_empty, "row"))


def suppressed_cells(counts: ClassCounts) -> SuppressedCells | None:
    """Count rows with suppressed cells, `*` or missing; None where there is none, or where they change nothing."""
    told = [
        (~domain.cast(pl.String).str.contains(SAYS_NOTHING)).fill_null(False).to_numpy() for domain in counts.domains
    ]
    # A column that says nothing of anybody was generalized to the top: no cell of it was suppressed by itself.
    columns = [at for at, own in enumerate(told) if own.any()]
    if all(told[at].all() for at in columns) or len(columns) > MOST_COLUMNS:
        return None
    # A bit for each column that says something.
    pattern = np.zeros(counts.n_classes, np.int64)
    for bit, at in enumerate(columns):
        pattern |= told[at][counts.codes[at]].astype(np.int64) << bit
    n_rows = int(counts.sizes[pattern != (1 << len(columns)) - 1].sum())
    n_empty = int(counts.sizes[pattern == 0].sum())
    patterns = np.unique(pattern).tolist()
    if len(patterns) > MOST_PATTERNS or len(patterns) * counts.n_classes > MOST_COMPARISONS:
        return SuppressedCells(n_rows, n_empty, None)
    codes = {str(at): counts.codes[at] for at in columns}
    frame = pl.DataFrame({**codes, SIZE: counts.sizes})
    parts = [
        ({str(at) for bit, at in enumerate(columns) if one >> bit & 1}, frame.filter(pl.Series(pattern == one)))
        for one in patterns
    ]
    k = min(_fewest_alike(names, classes, parts) for names, classes in parts)
    return SuppressedCells(n_rows, n_empty, k) if n_empty or k != int(counts.sizes.min()) else None


def _fewest_alike(names: set[str], classes: pl.DataFrame, parts: Sequence[tuple[set[str], pl.DataFrame]]) -> int:
    """Count the fewest rows that agree with a class wherever both say something; `names` is where these classes do."""
    n_alike = pl.repeat(0, classes.height, dtype=pl.Int64, eager=True)
    for others, rows in parts:
        both = sorted(names & others)
        if both:
            sums = rows.group_by(both).agg(pl.col(SIZE).sum().alias(ALIKE))
            n_alike += classes.join(sums, on=both, how="left", maintain_order="left")[ALIKE].fill_null(0)
        else:
            n_alike += int(rows[SIZE].sum())
    return int(n_alike.min())  # type: ignore[arg-type]
