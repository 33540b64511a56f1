"""Whatever holds columns, as a Polars frame: pandas and Arrow objects are accepted wherever a frame is."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.core.errors import InputError


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
            return pl.from_pandas(data)
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
