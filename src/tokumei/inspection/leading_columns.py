"""Columns whose values lead to a person, whatever role they were given: names, codes of people, addresses, free text.

A role says what a column is to be; the values say what it is. Where they look like an identifier, releasing them as
they are needs somebody who says so on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.core.text import Text
from tokumei.inspection.column_facts import column_facts
from tokumei.inspection.kinds import IDENTIFIER
from tokumei.inspection.roles import suggest_role

N_EXAMPLES = 3
# Codes of whatever it may be; a name of a column that says nothing.
GENERAL, NO_HEADER = "code", "value"


@dataclass(frozen=True)
class LeadingColumn:
    """A column that leads to people: why, and some of its values."""

    column: str
    why: Text
    examples: tuple[str, ...]


def leading_column(
    values: pl.Series, counts: pl.Series | None = None, *, is_general: bool = True
) -> LeadingColumn | None:
    """Tell why the values of a column lead to people; None where they do not.

    counts: in how many rows each value stands, where each is listed once. is_general: whether a header that speaks of
        codes is enough, whatever the values are.
    """
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Object):
        return None
    found = suggest_role(column_facts(values, counts))
    if not is_general and found.kind == GENERAL:
        # A header such as `row` names numbers of many things: the values alone decide.
        found = suggest_role(column_facts(values.alias(NO_HEADER), counts))
    if found.role != IDENTIFIER or values.drop_nulls().n_unique() < 2:
        return None
    return LeadingColumn(values.name, found.reason, examples_of(values))


def unchanged_values(original: pl.Series, released: pl.Series) -> pl.Series:
    """Return the cells of a released column that read as some cell of its original does."""
    texts = original.cast(pl.String).unique()
    return released.cast(pl.String).filter(released.cast(pl.String).is_in(texts.implode()))


def examples_of(values: pl.Series) -> tuple[str, ...]:
    """Return some values to show, the first that are different."""
    return tuple(values.drop_nulls().unique(maintain_order=True).head(N_EXAMPLES).cast(pl.String).to_list())
