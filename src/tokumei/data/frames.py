"""Whatever holds columns, as a Polars frame: pandas and Arrow objects are accepted wherever a frame is.

Some names Polars would take for patterns, and some columns have cells that are no single values: both are told here.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.result import NUMBERED_PANDAS, as_kind
from tokumei.core.text import JsonView

PLAIN_NAME = "a name other than * or ^…$, which stand for several columns at once"


def is_pattern(name: str) -> bool:
    """Whether Polars takes a name for all columns, or for those that a regular expression finds."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def check_no_patterns(names: Iterable[str], **where: Any) -> None:
    """Refuse a table with such a name: wherever it is mentioned, other columns would be taken too."""
    for name in names:
        if is_pattern(name):
            raise InputError.of(PLAIN_NAME, value=name, **where)


SINGLE = "a column of text, numbers, dates or true and false"


def is_single(kind: pl.DataType) -> bool:
    """Whether a cell of the type is one value: no list or the like, and nothing without a text of its own."""
    return not kind.is_nested() and kind not in (pl.Binary, pl.Duration, pl.Object)


def check_single(schema: Mapping[str, pl.DataType], columns: Iterable[str], name: str) -> None:
    """Refuse columns whose cells are not."""
    for column in columns:
        if not is_single(schema[column]):
            raise InputError.of(SINGLE, file=name, column=column, value=schema[column])


MIDNIGHT = dt.time(0)


def written(values: pl.Series) -> pl.Series:
    """Write moments and times of day as text, since a hierarchy has labels; days where all are at midnight.

    A moment with a time zone is written as the clock there shows it, with its offset. Other values stay as they are.
    """
    kind = values.dtype
    if isinstance(kind, pl.Datetime):
        if (values.dt.time().drop_nulls() == MIDNIGHT).all():
            return values.dt.date()
        form = "%Y-%m-%d %H:%M:%S"
    elif kind == pl.Time:
        form = "%H:%M:%S"
    else:
        return values
    form += "%.f" if (values.dt.nanosecond() != 0).any() else ""
    return values.dt.to_string(form + ("%:z" if getattr(kind, "time_zone", None) else ""))


def as_frame(data: object) -> pl.DataFrame:
    """Convert a Polars, pandas or Arrow object, or a mapping of columns, to a Polars frame."""
    frame = _frame_of(data)
    check_no_patterns(frame.columns)
    return frame


def _frame_of(data: object) -> pl.DataFrame:
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if isinstance(data, dict):
        return pl.DataFrame(data)
    kind = type(data).__module__.partition(".")[0]
    try:
        if kind == "pandas":
            return _from_pandas(data)
        if hasattr(data, "__arrow_c_stream__"):
            return pl.DataFrame(data)
    except ModuleNotFoundError as error:
        raise InputError.of(f"{error.name} to be installed, which reading {kind} objects needs") from None
    raise InputError.of("a Polars, pandas or Arrow frame", value=f"{type(data).__module__}.{type(data).__name__}")


class PandasKind(str):
    """The kind of a pandas frame, with the types of its columns by name, and its index."""

    dtypes: JsonView
    index: Any


def kind_of(data: Any) -> str:
    """Return what frames the caller works with: pandas (with numbers for names), arrow or else polars."""
    module = type(data).__module__.partition(".")[0]
    if module == "pandas" and hasattr(data, "columns"):
        has_numbers = any(is_number(name) for name in data.columns)
        kind = PandasKind(NUMBERED_PANDAS if has_numbers else "pandas")
        kind.dtypes, kind.index = {str(name): dtype for name, dtype in data.dtypes.items()}, data.index
        return kind
    return {"pandas": "pandas", "pyarrow": "arrow"}.get(module, "polars")


def as_original(frame: pl.DataFrame, kind: str, *, has_index: bool = False, without: Iterable[str] = ()) -> Any:
    """Convert a frame to the kind of the original, each column to its type there where every cell is of that type.

    has_index: whether its rows are those of the original, in order, so that they have its index, too.
    without: columns that keep the type they have.
    """
    made = as_kind(frame, kind)
    if not isinstance(kind, PandasKind):
        return made
    for name in frame.columns:
        own = int(name) if kind == NUMBERED_PANDAS and name.isdecimal() else name
        if name in kind.dtypes and name not in without:
            made[own] = _as_type(made[own], kind.dtypes[name])
    return made.set_axis(kind.index, axis=0) if has_index else made


def _as_type(cells: Any, dtype: Any) -> Any:
    """Convert a pandas column to a type that can say all that it says; return it as it is where none can."""
    if cells.dtype == dtype or str(dtype) == "object":
        return cells
    plain = cells
    is_text = str(cells.dtype) in ("object", "str", "string", "category")
    known = getattr(dtype, "categories", None)
    if is_text and known is not None:
        plain = cells.astype(object).map({str(one): one for one in known}, na_action="ignore")
    elif is_text and getattr(dtype, "kind", "O") == "b":
        plain = cells.map({"true": True, "false": False}, na_action="ignore")
    try:
        made = plain.astype(dtype)
        same = made.isna().equals(cells.isna()) and (made.dropna() == plain.dropna().astype(made.dtype)).all()
        is_number = getattr(dtype, "kind", "O") in "iuf" and not is_text
        return made if same and not (is_number and (made.dropna() != cells.dropna()).any()) else cells
    except (TypeError, ValueError, OverflowError):
        return cells


def is_number(name: object) -> bool:
    """Whether a column has a whole number for a name, as those of a pandas frame that was never given any."""
    return isinstance(name, (int, np.integer)) and not isinstance(name, bool)


def as_lazy(data: object) -> pl.LazyFrame:
    """Return a lazy frame of anything `as_frame` accepts, without collecting one that is lazy already."""
    if not isinstance(data, pl.LazyFrame):
        return as_frame(data).lazy()
    check_no_patterns(data.collect_schema().names())
    return data


def _from_pandas(data: Any) -> pl.DataFrame:
    """Read a pandas frame; what it keeps as dates with an hour of 0 everywhere are days, numbers of columns names."""
    if data.ndim == 1:
        raise InputError.of("a frame, not one column of it", value="pandas.Series")
    for name in data.columns:
        if not isinstance(name, str) and not is_number(name):
            raise InputError.of("names of columns that are text", value=name)
    names = [str(name) for name in data.columns]
    for name, n in Counter(names).items():
        if n > 1:
            raise InputError.of("each column once", value=name)
    if names != list(data.columns):
        data = data.set_axis(names, axis=1)
    frame = pl.DataFrame({name: _column(data[name]) for name in names})
    days = [
        name
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Datetime) and (frame[name].dt.time().drop_nulls() == MIDNIGHT).all()
    ]
    return frame.with_columns(pl.col(days).dt.date()) if days else frame


def _column(cells: Any) -> pl.Series:
    """Read a column of a pandas frame; one whose cells are of several types is refused by its name.

    Periods and intervals, as `pd.cut` gives them, are read as they are written.
    """
    kind = getattr(cells.dtype, "categories", cells).dtype
    if str(kind).startswith(("period[", "interval[")):
        cells = cells.astype(object).where(cells.notna(), None).map(str, na_action="ignore")
    try:
        return pl.Series(pl.from_pandas(cells))
    except Exception as error:
        # PyArrow has exceptions of its own, and may not be there.
        is_known = isinstance(error, (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError))
        if not is_known and type(error).__module__.partition(".")[0] != "pyarrow":
            raise
        said = str(error).splitlines()[0]
        raise InputError.of(f"cells of one type ({said}), as by astype(str)", column=str(cells.name)) from None
