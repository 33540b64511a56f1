"""How much guesses may tell before a contest is over: nothing, or one of a few bands, with a bound on what that tells.

Exact scores are an oracle: with guesses that differ in a line, or by an integer program over some that differ in many,
an attacker finds out which lines are right, and may prove a safe release unsafe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tokumei.platform.contests.models import Contest

N_BANDS = 4


def in_band(success: float) -> float:
    """Return the lower end of the band of a success: 0, 0.25, 0.5 or 0.75."""
    return min(int(success * N_BANDS), N_BANDS - 1) / N_BANDS


@dataclass(frozen=True)
class LeakBound:
    """What the allowed guesses at one release can tell before the end, whoever makes them."""

    n_guesses: int
    bits: float


def bound_of(contest: Contest, n_levels: int, n_teams: int) -> LeakBound:
    """Bound what all other teams together can learn of one release: an answer is one of so many bands, and no more.

    n_levels: levels of knowledge, each of which has guesses of its own.
    """
    n_guesses = contest.guesses_on_one * max(n_levels, 1) * max(n_teams - 1, 0)
    bits = n_guesses * math.log2(N_BANDS) if contest.shows_guess_scores else 0.0
    return LeakBound(n_guesses, bits)
