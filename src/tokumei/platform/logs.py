"""The log: one JSON object a line, with nothing in it that anybody typed.

A record has its message and whatever was passed as `extra={"facts": {…}}`. Of an exception it has the type and the
places it went through, and not its message: that may hold a cell of somebody's data.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the record."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        facts = getattr(record, "facts", None)
        if isinstance(facts, dict):
            line |= facts
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            line["at"] = [
                f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(error.__traceback__)
            ]
        return json.dumps(line, ensure_ascii=False, default=str)


def _message(record: logging.LogRecord) -> str:
    if record.name.startswith("tokumei"):
        return record.getMessage()
    if record.name.startswith("django.security"):
        # Its messages quote the request; the name of the logger says what was wrong with it.
        return "suspicious request"
    # Of other packages' messages only the form is kept: their arguments may be paths with tokens in them.
    return str(record.msg)
