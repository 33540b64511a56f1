"""Whatever holds columns, as a Polars frame: pandas and Arrow objects are accepted wherever a frame is."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl

from tokumei.core.errors import InputError

MIDNIGHT = dt.time(0)


def as_frame(data: Any) -> pl.DataFrame:
    """Give a Polars frame of a Polars, pandas or Arrow object, or of a mapping of columns."""
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


def kind_of(data: Any) -> str:
    """Say what frames the caller works with: pandas, arrow or else polars."""
    module = type(data).__module__.partition(".")[0]
    return {"pandas": "pandas", "pyarrow": "arrow"}.get(module, "polars")


def as_lazy(data: Any) -> pl.LazyFrame:
    """Give a lazy frame of anything `as_frame` accepts, without collecting one that is lazy already."""
    return data if isinstance(data, pl.LazyFrame) else as_frame(data).lazy()


def _from_pandas(data: Any) -> pl.DataFrame:
    """Read a pandas frame; what it keeps as dates with an hour of 0 everywhere are days."""
    for name in data.columns:
        if not isinstance(name, str):
            raise InputError.of("names of columns that are text", value=name)
    for name in data.columns:
        if list(data.columns).count(name) > 1:
            raise InputError.of("each column once", value=name)
    try:
        frame = pl.from_pandas(data)
    except (TypeError, pl.exceptions.PolarsError, ValueError) as error:
        raise InputError.of(f"columns of one type each ({str(error).splitlines()[0]})") from None
    except Exception as error:
        # PyArrow has exceptions of its own, and may not be there.
        if type(error).__module__.partition(".")[0] != "pyarrow":
            raise
        raise InputError.of(f"columns of one type each ({str(error).splitlines()[0]})") from None
    days = [
        name
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Datetime) and (frame[name].dt.time().drop_nulls() == MIDNIGHT).all()
    ]
    return frame.with_columns(pl.col(days).dt.date()) if days else frame
