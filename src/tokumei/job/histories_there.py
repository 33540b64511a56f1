"""Histories of files on an engine, for as long as a job needs them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tokumei.counting.engine import connect
from tokumei.counting.engine_history import EngineHistory, open_history
from tokumei.counting.staging import stage_history
from tokumei.data.files.reading import Reading

# What an engine in this process may hold; the rest goes to files.
MEMORY = "2GB"


@contextmanager
def histories_there(
    sources: Mapping[str, tuple[Path | str, str]], reading: Reading, engine: str
) -> Iterator[dict[str, EngineHistory]]:
    """Open histories (name → file and kind: original, release or knowledge) on one engine.

    Their rows are copied to a folder for temporary files, which the environment may name (TMPDIR).
    """
    with tempfile.TemporaryDirectory(prefix="tokumei-") as place, connect(engine) as opened:
        folder = Path(place)
        bound(opened, folder)
        yield {
            name: open_history(opened, stage_history(source, reading, folder / name, kind=kind), folder)
            for name, (source, kind) in sources.items()
        }


def bound(opened: Any, folder: Path) -> None:
    """Keep an engine that runs in this process within some memory."""
    if hasattr(opened, "bound"):
        opened.bound(folder, MEMORY)
