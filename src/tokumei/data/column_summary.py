"""What the columns of a file hold: type, missing and distinct values, range, the most common value."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.progress import step
from tokumei.core.text import Json, JsonView
from tokumei.data.files.csv import BLANK
from tokumei.data.files.strict import NUMBER
from tokumei.data.files.text_bytes import Mask, Positions

log = logging.getLogger("tokumei.notes")

# So many cells are looked at together: few passes over a wide table, and never more in memory than this.
CELLS_AT_ONCE = 20_000_000


LEAST_AT_ONCE = 8


MOST_NAMED = 3


WHOLE = r"^[+-]?[0-9]{1,18}$"


# Private-use characters, which no column of a file is named by.
COLUMN, VALUE = "\ue000column", "\ue000value"


FACTS = ("name", "type", "missing", "distinct", "least", "greatest", "commonest", "times")


AS_TEXT = {True: "Int64, as text", False: "Float64, as text"}


def describe_frame(frame: pl.LazyFrame) -> Json:
    """Summarize a frame: its rows, and for each column its type, missing and distinct values, ends and mode.

    Text that is a number in every row is described as numbers: 9 is less than 10.
    """
    names = list(frame.collect_schema())
    most_rows = CELLS_AT_ONCE // max(1, len(names))
    # Most files end within this, and are read once.
    whole = frame.head(most_rows + 1).collect(engine="streaming")
    if whole.height <= most_rows:
        with step("describing", 1) as bar:
            columns = _describe(whole)
            bar.advance()
        return {"rows": whole.height, "columns": columns}
    del whole
    n_rows = frame.select(pl.len()).collect(engine="streaming").item()
    return {"rows": n_rows, "columns": _describe_some_at_once(frame, names, n_rows)}


def tell_blanks(columns: Iterable[JsonView]) -> None:
    """Note which columns have blanks at the ends of their name, or of a value that is shown."""
    shown = ("name", "least", "greatest", "commonest")
    texts = {one["name"]: [one[fact] for fact in shown if isinstance(one[fact], str)] for one in columns}
    found = [repr(name) for name, some in texts.items() if any(text != text.strip(BLANK) for text in some)]
    if found:
        more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
        named = ", ".join(found[:MOST_NAMED]) + more
        log.info("Blanks stand at the ends of names or cells (%s), as parts of them; --trim leaves them out.", named)


def _describe_some_at_once(frame: pl.LazyFrame, names: list[str], n_rows: int) -> list[dict[str, object]]:
    """Describe a table that does not fit in memory as a whole."""
    n_at_once = max(LEAST_AT_ONCE, CELLS_AT_ONCE // n_rows)
    columns: list[dict[str, object]] = []
    with step("describing", len(names)) as bar:
        for start in range(0, len(names), n_at_once):
            some = names[start : start + n_at_once]
            columns += _describe(frame.select(some).collect(engine="streaming"))
            bar.advance(len(some))
    return columns


def _describe(some: pl.DataFrame) -> list[dict[str, object]]:
    """Describe columns together: those of one type stand below each other in one long column of cells."""
    found: dict[str, dict[str, object]] = {}
    for kind in dict.fromkeys(some.dtypes):
        names = [name for name, one in some.schema.items() if one == kind]
        # Asking for all columns by name costs more than reading them where there are thousands.
        chosen = some if len(names) == some.width else some.select(names)
        values = chosen.unpivot(variable_name=COLUMN, value_name=VALUE).get_column(VALUE)
        told = str(kind)
        for at, n_present, is_number, is_whole, *rest in _facts(values, some.height):
            written = AS_TEXT[is_whole] if is_number else told
            found[names[at]] = dict(zip(FACTS, (names[at], written, some.height - n_present, *rest), strict=True))
        found |= {name: _empty(name, kind, some.height) for name in names if name not in found}
    return [found[name] for name in some.columns]


def _facts(values: pl.Series, n_rows: int) -> Iterable[tuple[Any, ...]]:
    """Return the facts of each column that has a value; the columns stand below each other.

    Each cell becomes the place of its value among all distinct ones, in order: then the facts are counts of integers.
    """
    distinct = values.drop_nulls().unique().sort()
    n_distinct = len(distinct)
    if not n_distinct:
        return ()
    places = pl.DataFrame({VALUE: distinct}).with_row_index(COLUMN)
    found = pl.DataFrame({VALUE: values}).join(places, on=VALUE, how="left", maintain_order="left").get_column(COLUMN)
    # What is missing stands after all values, in a row for each column. Two bytes are sorted by radix, which is faster.
    width = np.uint16 if n_distinct < 1 << 16 else np.uint32
    cells = found.fill_null(n_distinct).to_numpy().astype(width).reshape(-1, n_rows)
    by_number, is_number, is_whole = _numbers(distinct)
    in_numbers = np.append(is_number, True)[cells].all(axis=1)
    in_whole = np.append(is_whole, True)[cells].all(axis=1)
    # Numbers by their size, all else as it is; of values that are equally common the least is named.
    sizes = np.append(np.argsort(by_number), n_distinct).astype(width)
    ordered = np.sort(np.where(in_numbers[:, None], sizes[cells], cells), axis=1)
    n_present = (ordered < n_distinct).sum(axis=1)
    is_first = np.ones(ordered.shape, bool)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.flatnonzero(is_first)
    times = np.diff(starts, append=ordered.size)
    runs = ordered.ravel()[starts].astype(np.int64)
    starts, times, runs = (one[runs < n_distinct] for one in (starts, times, runs))
    column_of = starts // n_rows
    # As np.unique gives them of what is in order, which first loads a module of masked arrays.
    first_run = np.flatnonzero(np.diff(column_of, prepend=-1))
    columns = column_of[first_run]
    commonest = np.maximum.reduceat(times * n_distinct + (n_distinct - 1 - runs), first_run)
    at_ends = ordered[columns, 0], ordered[columns, n_present[columns] - 1], n_distinct - 1 - commonest % n_distinct
    texts = [_texts(distinct.gather(np.where(in_numbers[columns], by_number[place], place))) for place in at_ends]
    return zip(
        columns.tolist(),
        n_present[columns].tolist(),
        in_numbers[columns].tolist(),
        in_whole[columns].tolist(),
        np.diff(first_run, append=len(runs)).tolist(),
        *texts,
        (commonest // n_distinct).tolist(),
        strict=True,
    )


def _texts(values: pl.Series) -> list[str]:
    """Write values as Polars does, or as Python does what Polars writes no text of."""
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Duration):
        return [str(value) for value in values.to_list()]
    return values.cast(pl.String).to_list()


def _numbers(distinct: pl.Series) -> tuple[Positions, Mask, Mask]:
    """Return the order of ordered texts by the numbers they write, and which write a number or a whole one."""
    if distinct.dtype != pl.String:
        none = np.zeros(len(distinct), bool)
        return np.arange(len(distinct)), none, none
    value = pl.col(VALUE)
    # 0120 is a code: as a number it would lose its zero.
    looks = value.str.contains(NUMBER.pattern) & ~value.str.contains(r"^[+-]?0[0-9]")
    number = value.str.strip_prefix("+").cast(pl.Float64, strict=False)
    read = pl.DataFrame({VALUE: distinct}).select(
        number=pl.when(looks & number.is_finite()).then(number), is_whole=value.str.contains(WHOLE)
    )
    # Stable: 1 and 1.0 keep their order as texts.
    by_number = np.argsort(read["number"].fill_null(np.inf).to_numpy(), kind="stable")
    return by_number, read["number"].is_not_null().to_numpy(), read["is_whole"].to_numpy()


def _empty(name: str, kind: pl.DataType, n_rows: int) -> dict[str, object]:
    return dict(zip(FACTS, (name, str(kind), n_rows, 0, None, None, None, 0), strict=True))
