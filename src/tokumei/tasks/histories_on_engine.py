"""Histories of files on an engine, for as long as a job needs them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.engines.engine import connect
from tokumei.engines.engine_history import EngineHistory, open_history, open_in_place
from tokumei.engines.staging import stage_history

# What an engine in this process may hold; the rest goes to files.
MEMORY = "2GB"


@contextmanager
def histories_on_engine(
    sources: Mapping[str, tuple[Path | str, str]], reading: Reading, engine: str
) -> Iterator[dict[str, EngineHistory]]:
    """Open histories (name → file and kind: original, release or knowledge) on one engine.

    Rows that are not read where they are go to a folder for temporary files, which the environment may name (TMPDIR).
    """
    with tempfile.TemporaryDirectory(prefix="tokumei-") as place, connect(engine) as opened:
        folder = Path(place)
        bound(opened, folder)
        yield {
            name: open_on_engine(opened, source, reading, folder / name, kind)
            for name, (source, kind) in sources.items()
        }


def open_on_engine(opened: Any, source: Path | str, reading: Reading, place: Path, kind: str) -> EngineHistory:
    """Open a history on an engine: where it is if it can be, else as rows that were read and checked here."""
    if reading == AS_IT_IS and (found := open_in_place(opened, source, place.parent)) is not None:
        return found
    return open_history(opened, stage_history(source, reading, place, kind=kind), place.parent)


def bound(opened: Any, folder: Path) -> None:
    """Keep an engine that runs in this process within some memory."""
    if hasattr(opened, "bound"):
        opened.bound(folder, MEMORY)
