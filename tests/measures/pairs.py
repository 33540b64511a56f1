"""Small originals and releases for the tests of measures that read labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tokumei.data.table import Table

Columns = Mapping[str, Any]


def table(columns: Columns, sensitive: Sequence[str] = ()) -> Table:
    known = [name for name in columns if name not in sensitive]
    return Table.with_quasi_identifiers(pl.DataFrame(dict(columns)), known, sensitive=sensitive)


def in_order(columns: Columns) -> pl.Series:
    return pl.Series("row", range(len(next(iter(columns.values())))))
