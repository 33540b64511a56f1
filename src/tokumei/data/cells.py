r"""Generalized cells in columns: a value, a set, a range or a suppressed cell, never one Python object a cell.

| text        | kind       | low, high        | members   |
|-------------|------------|------------------|-----------|
| `7`         | VALUE      | 7, 7             | –         |
| `[3;9]`     | RANGE      | 3, 9             | –         |
| `22728`     | VALUE      | –                | [22728]   |
| `{a;b}`     | SET        | –                | [a, b]    |
| `*`         | SUPPRESSED | missing          | missing   |

In a name, a backslash stands before what belongs to the notation: `{5\* hotel;tea\; green}` are two.

A cell stands for all that it may have been: it matches its whole leaf set, and a suppressed cell matches all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import polars as pl

# What belongs to the notation, and in a name is written behind a backslash.
NOTATION = r"[\\;{}\[\]*]"
NAME = r"(?:[^\\;{}\[\]*]|\\.)+"


class Kind(IntEnum):
    """What a generalized cell is."""

    VALUE = 0
    RANGE = 1
    SET = 2
    SUPPRESSED = 3
    # Only while reading: a cell that is none of the above.
    BROKEN = 4


@dataclass(frozen=True)
class RangeCells:
    """A column of values, ranges and suppressed cells over an ordered type."""

    kind: pl.Series
    low: pl.Series
    high: pl.Series

    @classmethod
    def of(cls, values: pl.Series) -> RangeCells:
        """Make cells of single values; a missing value is a suppressed cell."""
        return cls(_kind_of(values), values.alias("low"), values.alias("high"))

    def __len__(self) -> int:
        return len(self.kind)

    def filter(self, mask: pl.Series) -> RangeCells:
        """Keep the cells that are marked."""
        return RangeCells(self.kind.filter(mask), self.low.filter(mask), self.high.filter(mask))

    def contains(self, values: pl.Series) -> pl.Series:
        """Whether each cell may stand for the value beside it."""
        return ((self.low <= values) & (values <= self.high)).fill_null(True)

    def to_text(self, write: Callable[[pl.Expr], pl.Expr]) -> pl.Series:
        """Write the cells as text, each bound by `write`."""
        low, high = write(pl.col("low")), write(pl.col("high"))
        text = (
            pl.when(pl.col("kind") == Kind.SUPPRESSED)
            .then(pl.lit("*"))
            .when(pl.col("kind") == Kind.RANGE)
            .then(pl.concat_str(pl.lit("["), low, pl.lit(";"), high, pl.lit("]")))
            .otherwise(low)
        )
        return pl.DataFrame({"kind": self.kind, "low": self.low, "high": self.high}).select(text.alias("text"))["text"]


@dataclass(frozen=True)
class SetCells:
    """A column of values, sets and suppressed cells over names."""

    kind: pl.Series
    members: pl.Series

    @classmethod
    def of(cls, values: pl.Series) -> SetCells:
        """Make cells of single values; a missing value is a suppressed cell."""
        members = pl.DataFrame({"value": values}).select(
            members=pl.when(pl.col("value").is_not_null()).then(pl.concat_list("value"))
        )
        return cls(_kind_of(values), members["members"])

    def __len__(self) -> int:
        return len(self.kind)

    def filter(self, mask: pl.Series) -> SetCells:
        """Keep the cells that are marked."""
        return SetCells(self.kind.filter(mask), self.members.filter(mask))

    def contains(self, values: pl.Series) -> pl.Series:
        """Whether each cell may stand for the value beside it."""
        frame = pl.DataFrame({"members": self.members, "value": values})
        return frame.select(pl.col("members").list.contains(pl.col("value")).fill_null(True))["members"]

    def sizes(self) -> pl.Series:
        """Return the number of values each cell may stand for; missing where it may be any."""
        return self.members.list.len()

    def to_text(self) -> pl.Series:
        """Write the cells as text."""
        names = pl.element().str.replace_all(f"({NOTATION})", r"\${1}")
        joined = pl.col("members").list.eval(names).list.join(";")
        text = (
            pl.when(pl.col("kind") == Kind.SUPPRESSED)
            .then(pl.lit("*"))
            .when(pl.col("kind") == Kind.SET)
            .then(pl.concat_str(pl.lit("{"), joined, pl.lit("}")))
            .otherwise(joined)
        )
        return pl.DataFrame({"kind": self.kind, "members": self.members}).select(text.alias("text"))["text"]


def read_range_cells(text: pl.Series, read: Callable[[pl.Expr], pl.Expr]) -> RangeCells:
    """Read a column of values, ranges and stars; each bound by `read`, which gives missing for what it cannot read.

    A cell that cannot be read, or whose bounds are upside down, has the kind BROKEN.
    """
    cell = pl.col("text")
    is_star = cell == "*"
    is_range = cell.str.starts_with("[") & cell.str.ends_with("]")
    # A second semicolon stays in the upper bound, which then reads as nothing.
    bounds = cell.str.strip_prefix("[").str.strip_suffix("]").str.splitn(";", 2)
    frame = pl.DataFrame({"text": text}).with_columns(
        is_range=is_range, first=bounds.struct.field("field_0"), second=bounds.struct.field("field_1")
    )
    first, second = pl.col("first"), pl.col("second")
    low = pl.when(~is_star).then(read(first))
    frame = frame.with_columns(low=low, high=pl.when("is_range").then(read(second)).otherwise(low))
    is_read = pl.col("low") <= pl.col("high")
    kind = (
        pl.when(is_star)
        .then(Kind.SUPPRESSED.value)
        .when("is_range", is_read)
        .then(Kind.RANGE.value)
        .when(~pl.col("is_range"), is_read, first == cell)
        .then(Kind.VALUE.value)
        .otherwise(Kind.BROKEN.value)
    )
    done = frame.select(kind.cast(pl.UInt8).alias("kind"), "low", "high")
    return RangeCells(done["kind"], done["low"], done["high"])


def read_set_cells(text: pl.Series) -> SetCells:
    """Read a column of names, sets and stars; an empty name or a repeated member makes the cell BROKEN."""
    cell = pl.col("text")
    is_set = cell.str.contains(rf"(?s)^\{{{NAME}(?:;{NAME})*\}}$")
    bare = pl.when(is_set).then(cell.str.strip_prefix("{").str.strip_suffix("}")).otherwise(cell)
    names = bare.str.extract_all(f"(?s){NAME}")
    frame = pl.DataFrame({"text": text}).with_columns(
        is_star=cell == "*",
        is_set=is_set,
        is_name=cell.str.contains(rf"(?s)^{NAME}$"),
        members=pl.when(cell != "*").then(names.list.eval(pl.element().str.replace_all(r"(?s)\\(.)", "${1}"))),
    )
    listed = pl.col("members").list
    kind = (
        pl.when("is_star")
        .then(Kind.SUPPRESSED.value)
        .when("is_set", listed.len() == listed.n_unique())
        .then(Kind.SET.value)
        .when("is_name")
        .then(Kind.VALUE.value)
        .otherwise(Kind.BROKEN.value)
    )
    done = frame.select(kind.cast(pl.UInt8).alias("kind"), "members")
    return SetCells(done["kind"], done["members"])


def _kind_of(values: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"value": values})
    kind = pl.when(pl.col("value").is_null()).then(Kind.SUPPRESSED.value).otherwise(Kind.VALUE.value)
    return frame.select(kind.cast(pl.UInt8).alias("kind"))["kind"]
