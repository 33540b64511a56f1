"""Places from values: the lowest first, equals share one; and the board of attackers."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokumei.contest.edition import Standing, TeamEntry

# Values that differ by less are equal: the difference is rounding.
DIGITS = 12


def place_teams(lines: Sequence[Standing]) -> list[Standing]:
    """Order the lines by value and then by team; those without a value come last and share the last place."""
    keys = {line.team: _key(line) for line in lines}
    ordered = sorted(lines, key=lambda line: (keys[line.team], line.team))
    in_order = sorted(keys.values())
    # As in sport: after two teams in the first place comes the third.
    return [replace(line, place=1 + bisect_left(in_order, keys[line.team])) for line in ordered]


@dataclass(frozen=True)
class AttackPlace:
    """One line of the board of attackers: the mean over the releases of others of its best success on each."""

    place: int
    team: str
    found: float
    n_attacked: int

    def as_dict(self) -> dict[str, Any]:
        """Return the place for JSON."""
        return {"place": self.place, "team": self.team, "found": self.found, "attacked": self.n_attacked}


def rank_attackers(entries: Sequence[TeamEntry]) -> list[AttackPlace]:
    """Order the attackers by what they found, the most first; of a release that one did not attack it found nothing.

    Where there are several levels of knowledge, the best of them counts.
    """
    best: dict[str, dict[str, float]] = {}
    for entry in entries:
        for one in entry.attempts:
            if one.attacker != entry.team:
                found = best.setdefault(one.attacker, {})
                found[entry.team] = max(found.get(entry.team, 0.0), one.score.success)
    means = {
        team: round(math.fsum(found.values()) / max(1, sum(entry.team != team for entry in entries)), DIGITS)
        for team, found in best.items()
    }
    ordered = sorted(means, key=lambda team: (-means[team], team))
    return [
        AttackPlace(1 + sum(other > means[team] for other in means.values()), team, means[team], len(best[team]))
        for team in ordered
    ]


def _key(line: Standing) -> tuple[bool, float]:
    return line.value is None, 0.0 if line.value is None else round(line.value, DIGITS)
