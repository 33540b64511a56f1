"""What suppressed cells hide: the fewest rows that are alike if such a cell may stand for any value.

A class counts rows that say the same, so that `*` and a missing value are values of their own: a row of which one cell
was suppressed is often alone in its class. sdcMicro counts the rows that agree wherever both say something, and ARX
does not count rows that say nothing at all.

Example: of (f, 30), (f, 30), (f, *) and (m, *) the last two are alone in their classes. Where * may stand for any
value, (f, 30) is alike to three rows, (f, *) to the same three, and (m, *) to itself alone: k is 1 still. With another
row (m, 40) it is 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.core.text import Text, counted
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import SUPPRESSED

# So many ways to suppress some of the columns are compared with each other, and so many classes with each way; a table
# of more is not measured. Twenty million comparisons take seconds.
MOST_PATTERNS, MOST_COMPARISONS = 64, 20_000_000
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
    if not counts.n_rows:
        return None
    names = [str(at) for at in range(len(counts.columns))]
    labels = counts.values().rename(dict(zip(counts.columns, names, strict=True)))
    is_there = pl.DataFrame(
        [
            (labels[name].is_not_null() & (labels[name].cast(pl.String) != SUPPRESSED).fill_null(False)).alias(name)
            for name in names
        ]
    )
    # A column that says nothing of anybody was generalized to the top: no cell of it was suppressed by itself.
    names = [name for name in names if is_there[name].any()]
    is_there = is_there.select(names)
    told = labels.with_columns(pl.Series(SIZE, counts.sizes))
    if not names:
        return None
    n_told = is_there.sum_horizontal()
    n_rows, n_empty = (int(told.filter(mask)[SIZE].sum()) for mask in (n_told < len(names), n_told == 0))
    if not n_rows:
        return None
    patterns = is_there.unique(maintain_order=True)
    if patterns.height > MOST_PATTERNS or patterns.height * labels.height > MOST_COMPARISONS:
        return SuppressedCells(n_rows, n_empty, None)
    parts = [
        ([name for name, own in one.items() if own], told.filter(_is(is_there, one)))
        for one in patterns.iter_rows(named=True)
    ]
    least = []
    for columns, classes in parts:
        n_alike = pl.repeat(0, classes.height, eager=True)
        for others, rows in parts:
            both = [name for name in columns if name in others]
            if both:
                sums = rows.group_by(both).agg(pl.col(SIZE).sum().alias(ALIKE))
                found = classes.join(sums, on=both, how="left", maintain_order="left")[ALIKE].fill_null(0)
            else:
                found = pl.repeat(rows[SIZE].sum(), classes.height, eager=True)
            n_alike = n_alike + found
        least.append(int(n_alike.min()))  # type: ignore[arg-type]
    k = min(least)
    return SuppressedCells(n_rows, n_empty, k) if n_empty or k != int(counts.sizes.min()) else None


def _is(is_there: pl.DataFrame, pattern: dict[str, bool]) -> pl.Series:
    return is_there.select(pl.all_horizontal(pl.col(name) == own for name, own in pattern.items())).to_series()
