"""Which workers there are: each keeps a file fresh in a folder that all of them share with the server."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from tokumei.platform.jobs.limits import WATCH_SECONDS

# After so long without a sign, a worker is taken for gone.
GONE_SECONDS = 15 * WATCH_SECONDS


def show_presence(name: str) -> None:
    """Tell that a worker is there; called every few seconds."""
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / name).touch()
    for path in folder.iterdir():
        if not _is_fresh(path):
            path.unlink(missing_ok=True)


def end_presence(name: str) -> None:
    """Tell that a worker ends."""
    (_folder() / name).unlink(missing_ok=True)


def n_present() -> int:
    """Count the workers that are there."""
    folder = _folder()
    return sum(_is_fresh(path) for path in folder.iterdir()) if folder.is_dir() else 0


def _is_fresh(path: Path) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime < GONE_SECONDS
    return False


def _folder() -> Path:
    return Path(settings.DATA) / "workers"
