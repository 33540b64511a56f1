"""An original and its release as an attack and a measure see them: the same roles, and whose each row is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.threat_model import Published
from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.files.beside import read_beside
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.row_numbers import read_rows
from tokumei.data.frames import as_frame
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.tasks.hierarchies import given_hierarchies, is_of_dates, is_of_numbers, made_hierarchy
from tokumei.tasks.table_release import TableRelease


def published(
    original: Table,
    release: Any,
    rows: Any = None,
    *,
    in_order: bool = False,
    option: str = "rows",
    reading: Reading = AS_IT_IS,
) -> Published:
    """Return a release with the truth about it.

    release: what `tk.anonymize` gave, which knows whose each row is, or a frame or file.
    rows: the row of the original of each released row, counted from 1, or a file with a line each.
    in_order: row n of both is the same person, for releases that were not shuffled.
    """
    own: pl.Series | None = None
    if isinstance(release, TableRelease):
        if release.rows is None:
            raise InputError.of(f"a release of rows of people, not what {release.facts['method']} gives")
        frame, name, own = release.table, "release", release.rows
    elif isinstance(release, (str, Path)):
        columns = [*original.quasi_identifiers, *original.sensitive]
        frame, name = read_beside(release, reading, columns), str(release)
    else:
        frame, name = (release.frame, release.name) if isinstance(release, Table) else (as_frame(release), "release")
    has = [column for column in original.quasi_identifiers if column in frame.columns]
    table = Table(frame, has, [column for column in original.sensitive if column in frame.columns], name=name)
    if rows is not None:
        return Published(table, _row_numbers(rows, table, original.n_rows))
    if own is not None:
        return Published(table, own)
    if not in_order:
        expected = (
            "{option}: the row of the original behind each released row (in the shell 'anonymize table --rows FILE' "
            "writes it, and --rows FILE reads it), or in_order (--in-order) where both are in one order"
        )
        raise InputError.of(Text(expected, option=option), file=name)
    if table.n_rows != original.n_rows:
        expected = f"the {original.n_rows:,} rows of the original, or {option} with the row of each"
        raise InputError.of(expected, file=name, value=counted(table.n_rows, "row"))
    return Published(table, pl.Series("row", range(table.n_rows), dtype=pl.Int64))


def hierarchies_of(original: Table, release: Any, given: Any) -> dict[str, Hierarchy]:
    """Return the hierarchies that read labels: those given, those the release was made by, or the calendar."""
    columns = [*original.quasi_identifiers, *original.sensitive]
    chosen = original.hierarchies if given is None else given
    found = given_hierarchies(chosen, columns)
    if isinstance(release, TableRelease):
        return {**release.hierarchies, **found}
    if chosen is None:
        # As `anonymize` makes them: intervals of numbers say what they stand for, months and ranges of texts do only by
        # their hierarchy.
        values = {name: original.distinct(name) for name in original.quasi_identifiers}
        found |= {name: made_hierarchy(name, own)[0] for name, own in values.items() if _needs_hierarchy(own)}
    return found


def _needs_hierarchy(values: pl.Series) -> bool:
    return is_of_dates(values) or (values.dtype == pl.String and not is_of_numbers(values))


def numeric_of(original: Table, given: Sequence[str] | None) -> list[str]:
    """Return the columns of numbers: those named, or those whose values are all numbers."""
    if given is not None:
        return [given] if isinstance(given, str) else list(given)
    if original.numeric is not None:
        return list(original.numeric)
    return [name for name in original.quasi_identifiers if is_of_numbers(original.distinct(name))]


def _row_numbers(rows: Any, table: Table, n_original: int) -> pl.Series:
    """Convert the rows of the original of each released one to numbers from 0."""
    if not isinstance(rows, (str, Path)):
        return pl.Series("row", rows).cast(pl.Int64) - 1
    numbers = read_rows(rows)
    if len(numbers) != table.n_rows:
        expected = f"a line for each of {table.n_rows:,} released rows"
        raise InputError.of(expected, file=rows, value=counted(len(numbers), "line"))
    for line in (numbers > n_original).arg_true()[:1]:
        expected = f"a row of the original, counted from 1 to {n_original:,}"
        raise InputError.of(expected, file=rows, line=line + 1, value=numbers[line])
    return numbers - 1
