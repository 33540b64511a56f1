"""The risk of being found again, of each record and of all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.measures.requirement import ROUNDING


@dataclass(frozen=True)
class RiskProfile:
    """The least, mean and largest risk of records, and the share of them above a threshold.

    Least and largest are of the released records. Mean and share are of all records, where those that were
    suppressed are at no risk.
    """

    least: float
    mean: float
    largest: float
    share_above: float

    @classmethod
    def of(
        cls,
        sizes: npt.NDArray[np.int64],
        candidates: npt.NDArray[np.int64],
        *,
        threshold: float,
        n_suppressed: int = 0,
    ) -> RiskProfile:
        """Compute the risk 1/candidates of every record, given the size and the candidates of each class."""
        if not len(sizes):
            return cls(0.0, 0.0, 0.0, 0.0)
        n_records = int(sizes.sum()) + n_suppressed
        n_above = int(sizes[~is_within(candidates, threshold)].sum())
        mean = float((sizes / candidates).sum()) / n_records
        return cls(1 / int(candidates.max()), mean, 1 / int(candidates.min()), n_above / n_records)

    def score(self, name: str) -> Score:
        """Return the largest risk as the score, with the others as its inputs."""
        return Score(name, self.largest, best=0, worst=1, inputs=asdict(self))

    def scores(self, name: str) -> dict[str, Score]:
        """Return the four numbers as scores: the largest under the plain name."""
        named = {
            name: self.largest,
            f"{name}-mean": self.mean,
            f"{name}-least": self.least,
            f"{name}-share-above": self.share_above,
        }
        return {name: Score(name, value, best=0, worst=1) for name, value in named.items()}


def is_within(candidates: npt.NDArray[np.int64], threshold: float) -> npt.NDArray[np.bool_]:
    """Whether the risk 1/candidates of each class is at most the threshold."""
    out: npt.NDArray[np.bool_] = candidates * threshold >= 1 - ROUNDING
    return out


def check_risk_options(threshold: float, n_suppressed: int) -> None:
    """Refuse a threshold that is no probability and a negative number of records."""
    if not 0 < threshold <= 1:
        raise InputError.of("a risk above 0 and at most 1", option="threshold", value=threshold)
    if n_suppressed < 0:
        raise InputError.of("a number of records", option="n_suppressed", value=n_suppressed)
