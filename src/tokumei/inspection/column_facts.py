"""What can be counted of columns, one by one and together.

Of one column: its type and unit, its different and missing values, and a sample of them. Of several: which sets of
columns single people out.

Distinction is the share of different combinations of values among all rows, separation the share of pairs of rows that
are told apart (Motwani and Xu, 2007, as ARX has them). A minimal sample unique is a set of columns by which one row is
alone while it is not by any smaller part of the set (Manning, Haglin and Keane, 2008: SUDA2).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.data.files.strict import NUMBER
from tokumei.data.history_columns import read_amounts
from tokumei.inspection.patterns import EMBEDDED, plain
from tokumei.measures.safety.special_uniques import minimal_uniques, numbered, rows_alone, suda_weight

# So many different values of a column are looked at one by one.
MOST_VALUES = 1_000
# So many different texts are searched for addresses and numbers that lead to a person.
MOST_SEARCHED = 200_000
# Floats below this are whole numbers without a loss.
EXACT = 2.0**53
# A Latin unit stands apart from a Latin word: Datum is no number of meters.
_UNITS = re.compile(
    r"(?:(?<![a-z])(cm|mm|km|m|kg|g|mg|mg/dl|mmhg|bpm|years?|yrs?|days?|hours?|min|sec|usd|eur|jpy|gbp|kcal)"
    r"|(%|€|\$|£|¥|℃|°c|円|千円|万円|億円|歳|才|人|回|個|件|年|月|日|時間|分|秒|点|冊|枚|台|ドル|センチ|キロ))[)\]]?$",
    re.IGNORECASE,
)
_VALUE_UNIT = re.compile(r"([$€£¥￥])?\s?[+-]?[0-9][0-9,.]*\s?([^\d\s.,:/-]{1,4})?")


@dataclass(frozen=True)
class ColumnFacts:
    """The counts of a column, and some of its different values as they are compared."""

    name: str
    type: str
    unit: str | None
    n_rows: int
    n_missing: int
    n_distinct: int
    # Values that one row alone has.
    n_unique: int
    values: Sequence[str]
    n_embedded: int
    least: float | None = None
    greatest: float | None = None
    is_whole: bool = False

    @property
    def n_present(self) -> int:
        """Rows that have a value."""
        return self.n_rows - self.n_missing

    @property
    def share_distinct(self) -> float:
        """Different values for each row that has one."""
        return self.n_distinct / self.n_present if self.n_present else 0.0


def column_facts(column: pl.Series, counts: pl.Series | None = None) -> ColumnFacts:
    """Count one column; blanks alone are a missing value.

    counts: in how many rows each value stands, where each is listed once.
    """
    n_rows = len(column) if counts is None else int(counts.sum())
    name, is_moment = column.name, isinstance(column.dtype, (pl.Date, pl.Datetime))
    is_text = column.dtype == pl.String or isinstance(column.dtype, (pl.Categorical, pl.Enum))
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        n_missing = column.null_count() if counts is None else int(counts.filter(column.is_null()).sum())
        return ColumnFacts(name, str(column.dtype), None, n_rows, n_missing, 0, 0, (), 0)
    if column.dtype == pl.Duration:
        column = column.dt.total_microseconds()
    counted = _counted(column.cast(pl.String) if is_text else column, counts)
    missing = counted.filter(pl.col("value").is_null())["n"].sum()
    there = counted.filter(pl.col("value").is_not_null())
    numbers = _numbers(there["value"]) if not is_moment and column.dtype != pl.Boolean else None
    is_whole = numbers is not None and bool((numbers == numbers.floor()).all())
    # A whole number that is stored as 12.0 is read as 12: its digits are counted, and it is no fraction.
    is_wide = is_whole and column.dtype.is_float() and bool((there["value"].abs() < EXACT).all())
    texts = (there["value"].cast(pl.Int64) if is_wide else there["value"]).cast(pl.String)
    step = max(1, -(-len(texts) // MOST_VALUES))
    values = [plain(value) for value in texts.gather_every(step).to_list()]
    embedded = int(texts.head(MOST_SEARCHED).str.contains(EMBEDDED).sum()) if is_text else 0
    kind = "date" if is_moment else "truth" if column.dtype == pl.Boolean else "text"
    facts = (n_rows, int(missing), there.height, int((there["n"] == 1).sum()), values, embedded)
    if numbers is None:
        return ColumnFacts(name, kind, _unit("", values), *facts)
    ends = (float(numbers.min()), float(numbers.max()))  # type: ignore[arg-type]
    return ColumnFacts(name, "whole number" if is_whole else "number", _unit(name, values), *facts, *ends, is_whole)


def _counted(column: pl.Series, counts: pl.Series | None) -> pl.DataFrame:
    """Count each value, in the order of their first rows, so that the same are looked at every time."""
    frame = pl.DataFrame({"value": column})
    if counts is not None:
        frame = frame.with_columns(counts.alias("n"))
    if column.dtype == pl.String:
        frame = frame.with_columns(pl.when(pl.col("value").str.strip_chars() != "").then(pl.col("value")))
    return frame.group_by("value", maintain_order=True).agg(n=pl.len() if counts is None else pl.col("n").sum())


def _numbers(values: pl.Series) -> pl.Series | None:
    """Read values as numbers, or give None if one is none; with a leading zero they are codes."""
    if values.dtype.is_numeric():
        found = values.cast(pl.Float64)
        found = found.filter(found.is_finite())
        return found if len(found) else None
    if values.dtype != pl.String or not len(values):
        return None
    if not values.head(100).str.contains(NUMBER.pattern).all() or not values.str.contains(NUMBER.pattern).all():
        # Amounts as people write them, such as 1.234,50.
        amounts = read_amounts(values.to_list())
        return None if amounts is None else pl.Series(amounts, dtype=pl.Float64)
    if values.str.contains(r"^[+-]?0[0-9]").any():
        return None
    found = values.str.strip_prefix("+").cast(pl.Float64, strict=False)
    return None if found.null_count() or not found.is_finite().all() else found


def _unit(name: str, values: Sequence[str]) -> str | None:
    """Return the unit that ends a header, or stands beside every number of the column."""
    found = _UNITS.search(unicodedata.normalize("NFKC", name))
    if found and found.start() > 0:
        return found[1] or found[2]
    seen = {(match[1] or match[2]) if (match := _VALUE_UNIT.fullmatch(value)) else None for value in values[:50]}
    return seen.pop() if len(seen) == 1 else None


# So many columns together at most; more columns than this are not combined.
LARGEST_SET, MOST_COLUMNS = 3, 12
# Rows times sets that are looked at; with more, rows are drawn at random.
MOST_LOOKS = 10_000_000
MOST_LISTED = 10


@dataclass(frozen=True)
class ColumnSet:
    """Some columns, and how far they tell rows apart together."""

    columns: tuple[str, ...]
    distinction: float
    separation: float
    n_unique: int


@dataclass(frozen=True)
class Separation:
    """Sets of columns, the sharpest first, and the minimal sample uniques among the rows that were looked at."""

    columns: Sequence[str]
    left_out: Sequence[str]
    sets: Sequence[ColumnSet]
    n_rows: int
    is_sample: bool
    largest_set: int
    n_minimal: dict[int, int]
    n_rows_unique: int
    # Share of all minimal sample uniques that hold a column.
    by_column: dict[str, float]
    # Rows counted from 0, with SUDA's score: the more and the smaller the sets, the higher.
    riskiest: Sequence[tuple[int, float]]


def separate(frame: pl.DataFrame, columns: Sequence[str], *, seed: int = 0) -> Separation:
    """Look at all sets of up to three columns, and at all columns together."""
    chosen = list(columns[:MOST_COLUMNS])
    sizes = range(1, min(LARGEST_SET, len(chosen)) + 1)
    n_sets = sum(math.comb(len(chosen), size) for size in sizes)
    n_rows = min(frame.height, max(1_000, MOST_LOOKS // max(1, n_sets)))
    is_sample = n_rows < frame.height
    drawn = np.arange(frame.height)
    if is_sample:
        drawn = np.sort(generator(seed, "separation").choice(frame.height, n_rows, replace=False))
    codes = [numbered(frame[name].gather(drawn) if is_sample else frame[name]) for name in chosen]
    sets: list[ColumnSet] = []
    scores = np.zeros(n_rows)
    n_minimal = dict.fromkeys(sizes, 0)
    by_column = np.zeros(len(chosen))
    with step("looking at sets of columns", n_sets) as bar:
        for one in minimal_uniques(codes, LARGEST_SET):
            size, n_found = len(one.members), int(one.is_minimal.sum())
            sets.append(_set_of([chosen[member] for member in one.members], one.sizes, n_rows))
            n_minimal[size] += n_found
            by_column[list(one.members)] += n_found
            scores[one.is_minimal] += suda_weight(size, len(chosen), sizes[-1])
            bar.advance()
    if len(chosen) > LARGEST_SET:
        sets.append(_set_of(chosen, rows_alone(codes)[1], n_rows))
    total = sum(n_minimal.values())
    order = np.argsort(-scores, kind="stable")[:MOST_LISTED]
    return Separation(
        columns=chosen,
        left_out=list(columns[MOST_COLUMNS:]),
        sets=sorted(sets, key=lambda one: (-one.distinction, -one.separation, len(one.columns))),
        n_rows=n_rows,
        is_sample=is_sample,
        largest_set=sizes[-1] if chosen else 0,
        n_minimal=n_minimal,
        n_rows_unique=int((scores > 0).sum()),
        by_column={name: float(n) / total if total else 0.0 for name, n in zip(chosen, by_column, strict=True)},
        riskiest=[(int(drawn[at]), float(scores[at])) for at in order if scores[at] > 0],
    )


def _set_of(columns: Sequence[str], counts: np.ndarray, n_rows: int) -> ColumnSet:
    pairs = n_rows * (n_rows - 1) / 2
    together = float((counts.astype(np.float64) * (counts - 1) / 2).sum())
    distinction = len(counts) / n_rows if n_rows else 0.0
    separation = 1 - together / pairs if pairs else 0.0
    return ColumnSet(tuple(columns), distinction, separation, int((counts == 1).sum()))
