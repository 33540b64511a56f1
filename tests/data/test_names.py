"""A name that Polars takes for several columns is refused at every door, whoever else is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tokumei as tk
from tokumei.data.frames import is_pattern
from tokumei.engines.count import count_classes

NAMES = ["*", "^a$", "^.*$", "^[$", "^$"]
DOORS: dict[str, Callable[[dict[str, Any]], object]] = {
    "mapping": tk.Table,
    "polars": lambda cells: tk.Table(pl.DataFrame(cells)),
    "lazy": lambda cells: count_classes(pl.LazyFrame(cells), ["b"]),
    "pandas": lambda cells: tk.Table(pd.DataFrame(cells)),
    "arrow": lambda cells: tk.Table(pa.table(cells)),
    "history": lambda cells: tk.History(pl.DataFrame(cells), customer="b", date="b"),
    "engine": lambda cells: count_classes(pl.DataFrame(cells), ["b"], engine="duckdb"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("door", DOORS)
def test_frame_with_a_name_for_several_columns_is_refused(door: str, name: str) -> None:
    with pytest.raises(tk.errors.InputError, match="stand for several columns") as refused:
        DOORS[door]({name: ["x", "y"], "b": ["p", "q"]})
    assert repr(name) in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", ["local", "duckdb"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_file_with_a_name_for_several_columns_is_refused(tmp_path: Path, suffix: str, engine: str, name: str) -> None:
    file = tmp_path / f"people.{suffix}"
    frame = pl.DataFrame({name: ["x", "y"], "b": ["p", "q"]})
    _ = frame.write_csv(file) if suffix == "csv" else frame.write_parquet(file)
    with pytest.raises(tk.errors.InputError, match="stand for several columns") as refused:
        count_classes(file, ["b"], engine=engine)
    assert str(file) in str(refused.value)
    assert suffix != "csv" or "line 1, column 1" in str(refused.value)


@pytest.mark.parametrize("name", ["**", "^a", "a$", "$", "^", "a*", "%", "\\d", "(a|b)", "a^$b"])
def test_other_odd_names_are_read(name: str) -> None:
    assert not is_pattern(name)
    table = tk.Table({name: ["x", "y", "x", "y"], "b": ["p", "q", "q", "p"]}, qi=[name])
    assert tk.anonymize(table, k=2).frame[name].sort().to_list() == ["x", "x", "y", "y"]
