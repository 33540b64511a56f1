"""Small scenes for the tests of disclosure attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.data.table import Table

Columns = Mapping[str, Any]


def table(columns: Columns, sensitive: Sequence[str] = ()) -> Table:
    frame = pl.DataFrame(dict(columns))
    known = [name for name in columns if name not in sensitive]
    return Table.with_quasi_identifiers(frame, known, sensitive=sensitive)


def published(columns: Columns, sensitive: Sequence[str] = (), rows: Sequence[int | None] | None = None) -> Published:
    released = table(columns, sensitive)
    return Published(released, pl.Series(range(released.n_rows) if rows is None else rows, dtype=pl.Int64))


def threat_model(
    original: Columns,
    released: Columns,
    sensitive: Sequence[str] = (),
    rows: Sequence[int | None] | None = None,
    **more: Any,
) -> ThreatModel:
    return ThreatModel(table(original, sensitive), published(released, sensitive, rows), **more)
