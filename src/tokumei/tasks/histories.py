"""Histories as jobs take them: an object, a frame, or the name of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.data.files.histories import read_history, read_known_history, read_released_history
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.engines.engine import check_engine


def history_of(data: Any, reading: Reading = AS_IT_IS) -> History:
    """Convert whatever was given to the original history."""
    if isinstance(data, History):
        return data
    return read_history(data, reading) if isinstance(data, (str, Path)) else History(data)


def released_of(data: Any, reading: Reading = AS_IT_IS) -> History:
    """Convert whatever was given to a released history: of `tk.anonymize`, a history, a frame or a file."""
    if isinstance(data, (str, Path)):
        return read_released_history(data, reading)
    return history_of(getattr(data, "history", data))


def known_of(data: Any, reading: Reading = AS_IT_IS) -> History:
    """Read what an attacker knows."""
    return read_known_history(data, reading) if isinstance(data, (str, Path)) else history_of(data)


def check_engine_reads(engine: str, **sides: Any) -> None:
    """Refuse an engine that is not there, and what it cannot read: all but files."""
    check_engine(engine)
    for name, data in sides.items():
        if data is not None and not isinstance(data, (str, Path)):
            expected = "a file, which another engine than the local one reads"
            raise InputError.of(expected, option=name, value=type(data).__name__)
