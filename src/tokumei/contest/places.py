"""Places from values: the lowest first, equals share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tokumei.contest.edition import Standing

# Values that differ by less are equal: the difference is rounding.
DIGITS = 12


def place_teams(lines: Sequence[Standing]) -> list[Standing]:
    """Order the lines by value and then by team; those without a value come last and share the last place."""
    keys = {line.team: _key(line) for line in lines}
    ordered = sorted(lines, key=lambda line: (keys[line.team], line.team))
    # As in sport: after two teams in the first place comes the third.
    return [replace(line, place=1 + sum(other < keys[line.team] for other in keys.values())) for line in ordered]


def _key(line: Standing) -> tuple[bool, float]:
    return line.value is None, 0.0 if line.value is None else round(line.value, DIGITS)
