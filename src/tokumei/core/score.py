"""A measured number that says what it means."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tokumei.core.text import Json, JsonView

# So many standard deviations on either side hold 95 % of the normal distribution.
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Score:
    """A value with its ends and direction and, where it is an estimate, its interval.

    `best` and `worst` are the two ends of the scale; either may be infinite. `baseline` is what
    blind guessing scores and `control` what a group the release says nothing about scores. `risk` is what lies above
    the control, as a share of what could, with its interval.

    >>> import tokumei as tk
    >>> tk.Score("share found", 0.25, best=0, worst=1).higher_is_better
    False
    """

    name: str
    value: float
    best: float
    worst: float
    interval: tuple[float, float] | None = None
    baseline: float | None = None
    control: float | None = None
    risk: float | None = None
    risk_interval: tuple[float, float] | None = None
    inputs: JsonView = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.best == self.worst or math.isnan(self.best) or math.isnan(self.worst):
            raise ValueError(f"{self.name}: best and worst must be two different numbers")
        # A hair beyond an end is rounding, more is a wrong formula.
        slack = 1e-9 * max(1.0, abs(self.value))
        if math.isnan(self.value) or not self.least - slack <= self.value <= self.greatest + slack:
            raise ValueError(f"{self.name}: {self.value} lies outside {self.least} … {self.greatest}")
        if self.interval is not None and not self.interval[0] <= self.interval[1]:
            raise ValueError(f"{self.name}: the interval {self.interval} is upside down")

    @property
    def least(self) -> float:
        """The smallest value the score can take."""
        return min(self.best, self.worst)

    @property
    def greatest(self) -> float:
        """The largest value the score can take."""
        return max(self.best, self.worst)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is the better one."""
        return self.best > self.worst

    def is_better_than(self, other: Score) -> bool:
        """Compare two scores of the same scale in its own direction."""
        if (self.best, self.worst) != (other.best, other.worst):
            raise ValueError(f"{self.name} and {other.name} are on different scales")
        return self.value > other.value if self.higher_is_better else self.value < other.value

    def as_dict(self) -> Json:
        """Return the score for JSON; an infinite end is written as null."""
        finite = {"best": self.best, "worst": self.worst}
        out: dict[str, object] = {"name": self.name, "value": self.value}
        out |= {end: value if math.isfinite(value) else None for end, value in finite.items()}
        for extra in ("interval", "baseline", "control", "risk", "risk_interval"):
            if getattr(self, extra) is not None:
                out[extra] = getattr(self, extra)
        return out | ({"inputs": dict(self.inputs)} if self.inputs else {})


def most_within(share: float, n: int) -> int:
    """Return how many of n are at most a share of them.

    >>> most_within(0.29, 100), most_within(0.05, 39)
    (29, 1)
    """
    # A share such as 0.29 is not exact in binary: 0.29 · 100 is 28.999…, and a hair must not cost one.
    return math.floor(share * n + 1e-9)
