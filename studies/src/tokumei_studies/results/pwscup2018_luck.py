"""How often luck alone proves pairs unsafe in PWSCUP 2018: footnote 1 of the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.history.fitting import chance_of_proof, chances_in_class
from tokumei_studies.figures import dots_figure
from tokumei_studies.study import Findings, StudyFigure, StudyLine

MOST_GUESSES = 80
TEAMS = 13


@dataclass(frozen=True)
class Pwscup2018Luck:
    """Computes how a perfect 2-anonymous release fared against attackers who could only toss coins.

    In the final some releases in pairs were found unsafe and others not. The report explains it by chance: where every
    pseudonym fits two customers equally, an attack on 24 of them proves the release unsafe with a chance of about
    0.073, and thirteen such attacks all fail with a chance of about 0.37.

    Here the chance is computed exactly. Of a pair both are right or both wrong, so twelve tosses must bring the
    r(24) = 18 right guesses that are needed. Then the same is done for every number of pairs, and for classes of three.
    """

    title: ClassVar[str] = "Luck against pairs"
    source: ClassVar[str] = "Report on PWSCUP 2018, section 5.3 and footnote 1"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Compute the chances."""
        chances = {2 * n_pairs: float(chance_of_proof([2] * n_pairs)) for n_pairs in range(1, MOST_GUESSES // 2 + 1)}
        best = max(chances, key=lambda n: chances[n])
        lines = (
            StudyLine.near(
                "chance that 24 guesses prove it unsafe",
                0.073,
                chances[24],
                within=0.0005,
                why="Printed to three digits.",
                digits=5,
            ),
            StudyLine.near(
                "chance that thirteen such attacks all fail",
                0.37,
                (1 - chances[24]) ** TEAMS,
                within=0.005,
                why="Printed to two digits.",
            ),
            StudyLine.near(
                "guesses with the best chance",
                24,
                best,
                within=0,
                why=f"A whole number, the best of all even ones up to {MOST_GUESSES}.",
                digits=0,
            ),
        )
        threes = {3 * n: float(chance_of_proof([3] * n)) for n in range(1, MOST_GUESSES // 3 + 1)}
        return Findings(lines, (_figure(chances, threes),), (_remark(chances[24], max(threes.values())),))


def _figure(pairs: dict[int, float], threes: dict[int, float]) -> StudyFigure:
    rows = [("classes of two", n, chance) for n, chance in pairs.items()]
    rows += [("classes of three", n, chance) for n, chance in threes.items()]
    points = pl.DataFrame(rows, schema=["series", "x", "y"], orient="row")
    svg = dots_figure(points, lines=points, x_title="guesses, whole classes", y_title="chance to prove it unsafe")
    return StudyFigure("chances", svg, "How likely blind guesses are to prove a release of perfect classes unsafe.")


def _remark(chance: float, of_threes: float) -> str:
    return (
        "Thirteen teams took part in the final, so that a release met twelve others; then all fail with a chance of "
        f"{(1 - chance) ** (TEAMS - 1):.4f} instead of {(1 - chance) ** TEAMS:.4f}. The report reckons with "
        "thirteen.\n\nThe saw teeth come from the threshold, which is a whole number. Whole classes of three are "
        f"proven unsafe with a chance of {of_threes:.4f} at most, and two of them with one guess at a third, seven in "
        f"all, with {float(chances_in_class(3)[-1] ** 2 / 3):.4f}. So the test tells twos from threes, as table 5 of "
        "the report shows, far below the sixes and sevens of its examples."
    )
