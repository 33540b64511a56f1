"""Writing a release on an engine, with what is asked as keywords."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.table_release import TableRelease
from tokumei.tasks.write_table import write_table_on_engine


def write_asked(
    source: str,
    qi: Sequence[str],
    out: Path,
    *,
    engine: str,
    reading: Reading = AS_IT_IS,
    beside: Path | None = None,
    **asked: Any,
) -> TableRelease:
    request = ReleaseRequest.of(asked)
    return write_table_on_engine(source, qi, out, request, engine=engine, reading=reading, beside=beside)
