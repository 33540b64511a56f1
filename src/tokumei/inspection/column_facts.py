"""What can be counted of one column: its type and unit, its different and missing values, and a sample of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tokumei.data.files.columns import NUMBER
from tokumei.data.written_numbers import read_amounts
from tokumei.inspection.patterns import EMBEDDED, plain

# So many different values of a column are looked at one by one.
MOST_VALUES = 1_000
# So many different texts are searched for addresses and numbers that lead to a person.
MOST_SEARCHED = 200_000
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


def column_facts(column: pl.Series) -> ColumnFacts:
    """Count one column; blanks alone are a missing value."""
    name, is_moment = column.name, isinstance(column.dtype, (pl.Date, pl.Datetime))
    is_text = column.dtype == pl.String or isinstance(column.dtype, (pl.Categorical, pl.Enum))
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return ColumnFacts(name, str(column.dtype), None, len(column), column.null_count(), 0, 0, (), 0)
    if column.dtype == pl.Duration:
        column = column.dt.total_microseconds()
    counted = _counted(column.cast(pl.String) if is_text else column)
    missing = counted.filter(pl.col("value").is_null())["n"].sum()
    there = counted.filter(pl.col("value").is_not_null())
    texts = there["value"].cast(pl.String)
    step = max(1, -(-len(texts) // MOST_VALUES))
    values = [plain(value) for value in texts.gather_every(step).to_list()]
    embedded = int(texts.head(MOST_SEARCHED).str.contains(EMBEDDED).sum()) if is_text else 0
    numbers = _numbers(there["value"]) if not is_moment and column.dtype != pl.Boolean else None
    kind = "date" if is_moment else "truth" if column.dtype == pl.Boolean else "text"
    facts = (len(column), int(missing), there.height, int((there["n"] == 1).sum()), values, embedded)
    if numbers is None:
        return ColumnFacts(name, kind, _unit("", values), *facts)
    is_whole = bool((numbers == numbers.floor()).all())
    ends = (float(numbers.min()), float(numbers.max()))  # type: ignore[arg-type]
    return ColumnFacts(name, "whole number" if is_whole else "number", _unit(name, values), *facts, *ends, is_whole)


def _counted(column: pl.Series) -> pl.DataFrame:
    """Count each value, in the order of their first rows, so that the same are looked at every time."""
    frame = pl.DataFrame({"value": column})
    if column.dtype == pl.String:
        frame = frame.with_columns(pl.when(pl.col("value").str.strip_chars() != "").then(pl.col("value")))
    return frame.group_by("value", maintain_order=True).agg(n=pl.len())


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
