"""Columns that single people out by themselves: how many values of each column are unique, and what is free text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.engine import Relation
from tokumei.engines.local import LocalRelation

SINGLED = "of its values are one customer's alone"
# A name that no column of a file has.
CUSTOMER = "customer \0"
# A column may single out a few rows by chance; more are an identifier in all but name.
FEW_ROWS = 5
# What is longer than this, and not one of a few phrases, was written about one person.
LONG_TEXT, MANY_WORDS, FEW_PHRASES = 60, 6, 20


@dataclass(frozen=True)
class ColumnUniqueness:
    """How far one column tells rows apart."""

    column: str
    n_distinct: int
    n_unique: int
    n_missing: int
    is_free_text: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the uniqueness for JSON: unique values are those of one row alone."""
        return {
            "column": self.column,
            "distinct": self.n_distinct,
            "unique": self.n_unique,
            "missing": self.n_missing,
            "is_free_text": self.is_free_text,
        }


def uniqueness(rows: pl.LazyFrame, columns: Sequence[str]) -> list[ColumnUniqueness]:
    """Count the distinct and the unique values of columns, missing ones apart."""
    schema = rows.collect_schema()
    found = []
    for column in columns:
        dtype = schema[column]
        value = pl.col(column).cast(pl.String) if isinstance(dtype, (pl.Categorical, pl.Enum)) else pl.col(column)
        if not dtype.is_nested():
            counted = rows.select(value.alias("value")).group_by("value").agg(pl.len().alias("n"))
            found.append(_uniqueness(column, counted))
    return found


def uniqueness_of(counts: ClassCounts, columns: Sequence[str]) -> list[ColumnUniqueness]:
    """Return the uniqueness of columns from counts that have them."""
    found = []
    for column in columns:
        own = counts.over([column])
        found.append(_uniqueness(column, pl.LazyFrame({"value": own.values()[column], "n": own.sizes})))
    return found


def _uniqueness(column: str, counted: pl.LazyFrame) -> ColumnUniqueness:
    """Return a column's uniqueness from its distinct values and the rows of each."""
    value = pl.col("value")
    long = pl.lit(0)
    if counted.collect_schema()["value"] == pl.String:
        long = ((value.str.len_chars() > LONG_TEXT) | (value.str.count_matches(r"\S+") >= MANY_WORDS)).sum()
    there = value.is_not_null()
    told = counted.select(
        n_missing=pl.col("n").filter(~there).sum(),
        n_distinct=there.sum(),
        n_unique=(there & (pl.col("n") == 1)).sum(),
        n_long=long,
    )
    row = told.collect(engine="streaming").row(0, named=True)
    is_text = bool(row.pop("n_long")) and row["n_distinct"] > FEW_PHRASES
    return ColumnUniqueness(column, is_free_text=is_text, **{name: int(n or 0) for name, n in row.items()})


def uniqueness_on(relation: Relation, columns: Sequence[str]) -> list[ColumnUniqueness]:
    """Count the same where the rows are: here, or on their engine, in a pass for each column."""
    if isinstance(relation, LocalRelation):
        return uniqueness(relation.rows, columns)
    found = []
    for column in columns:
        if not relation.schema[column].is_nested():
            n = relation.count_values(column, longest=LONG_TEXT, many_words=MANY_WORDS)  # type: ignore[attr-defined]
            is_text = bool(n.pop("n_long")) and n["n_distinct"] > FEW_PHRASES
            found.append(ColumnUniqueness(column, is_free_text=is_text, **n))
    return found


def check_carried(history: History) -> None:
    """Refuse to carry columns of a history by which customers are singled out, or that are free text."""
    if history.carried is None:
        return
    # A customer's own value singles out the customer in however many rows it stands.
    by_customer = history.carried.with_columns(history.frame["customer"].alias(CUSTOMER)).lazy()
    for column in history.carried.columns:
        check_kept(by_customer.unique([CUSTOMER, column]), [column], history.name, what=SINGLED, option="--carry")


def check_kept(
    rows: pl.LazyFrame,
    columns: Sequence[str],
    name: str,
    *,
    what: str = "rows are singled out by it",
    option: str = "--keep",
) -> None:
    """Refuse to release columns unchanged that single people out, or that are free text."""
    refuse_singling(uniqueness(rows, columns), name, what=what, option=option)


def refuse_singling(
    found: Sequence[ColumnUniqueness],
    name: str,
    *,
    what: str = "rows are singled out by it",
    option: str = "--keep",
) -> None:
    """Refuse columns of which more than a few values are unique, or that are free text."""
    for one in found:
        if one.n_unique > FEW_ROWS:
            why = f"{one.n_unique:,} {what}"
        elif one.is_free_text:
            why = "it is free text, which may name people"
        else:
            continue
        expected = f"no identifier among the columns to {option[2:]} ({why}); {option}-anyway releases it all the same"
        raise InputError.of(expected, file=name, column=one.column)
