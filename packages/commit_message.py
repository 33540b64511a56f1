"""Refuse a commit whose subject is longer than 72 characters, or that does not say why below it."""

from __future__ import annotations

import sys
from pathlib import Path

LONGEST = 72


def faults(message: str) -> list[str]:
    """Return what is wrong with a message; lines that begin with # are git's."""
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or lines[0].startswith(("Merge ", "Revert ", "fixup! ")):
        return []
    found = []
    if len(lines[0]) > LONGEST:
        found.append(f"The subject has {len(lines[0])} characters; at most {LONGEST} are shown.")
    if len(lines) < 3 or lines[1]:
        found.append("An empty line and the reason belong below the subject.")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults(Path(sys.argv[1]).read_text(encoding="utf-8"))) or 0)
