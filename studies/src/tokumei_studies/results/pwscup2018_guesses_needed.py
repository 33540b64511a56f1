"""How many right guesses prove a release of PWSCUP 2018 unsafe: table 4 of the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.history.fitting import n_needed
from tokumei_studies.figures import dots_figure
from tokumei_studies.study import Findings, StudyFigure, StudyLine

# Table 4, column by column: the first number of guesses, and r for it and those that follow. None is the table's *.
TABLE_4: dict[int, tuple[int | None, ...]] = {
    0: (None, None, None, None, None, None, None, 7, 8, 9),
    10: (10, 10, 11, 11, 12, 13, 13, 14, 15, 15),
    20: (16, 17, 17, 18, 18, 19, 20, 20, 21, 21),
    30: (22, 23, 23, 24, 25, 25, 26, 26, 27, 28),
    40: (28, 29, 29, 30, 31, 31, 32, 32, 33, 34),
    90: (59, 59, 60, 60, 61, 62, 62, 63, 63, 64),
    990: (606, 607, 607, 608, 609, 609, 610, 610, 611, 612),
}
SHOWN = (7, 10, 24, 49, 90, 99, 990, 999)
LARGEST = 999
EXACT = "Computed in whole numbers, without rounding: it is the same or it is not."


@dataclass(frozen=True)
class Pwscup2018GuessesNeeded:
    """Computes the threshold r(n) of the contest's test.

    An attacker of PWSCUP 2018 named n pseudonyms, as many as he liked. If s of them were right and r(n) ≤ s, the
    release was taken to be unsafe. r(n) is the least s for which u = Σ C(n, k)·pᵏ over k = s … n is below the level α;
    p = 1/3 and α = 0.01/20, a level of 0.01 shared by twenty attacks. Where not even n right guesses suffice, the table
    has a star.

    Table 4 prints r for seventy n. Here all of them are computed in exact fractions, since u comes close to α for some.
    """

    title: ClassVar[str] = "Right guesses that prove a release unsafe"
    source: ClassVar[str] = "Report on PWSCUP 2018, section 4 and table 4"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Compute the whole table, and show some of it line by line."""
        printed = {first + index: r for first, column in TABLE_4.items() for index, r in enumerate(column)}
        computed = {n: least_right(n) for n in printed}
        n_equal = sum(computed[n] == printed[n] for n in printed)
        least = next(n for n in range(LARGEST) if least_right(n) is not None)
        lines = [
            StudyLine.near("entries of the table that agree", len(printed), n_equal, within=0, why=EXACT, digits=0),
            StudyLine.near("fewest guesses that can prove anything", 7, least, within=0, why=EXACT, digits=0),
        ]
        lines += [
            StudyLine.near(f"r({n})", float(printed[n] or 0), n_needed(n), within=0, why=EXACT, digits=0) for n in SHOWN
        ]
        return Findings(lines, (_figure(),), (_table(computed), _remark()))


def least_right(n: int) -> int | None:
    """Return r(n), or None where no number of right guesses suffices."""
    needed = n_needed(n)
    return needed if needed <= n else None


def _figure() -> StudyFigure:
    numbers = [n for n in range(7, LARGEST + 1) if n < 100 or n % 10 == 0]
    points = pl.DataFrame({"x": numbers, "y": [n_needed(n) / n for n in numbers]}).with_columns(
        series=pl.lit("r(n) / n")
    )
    svg = dots_figure(
        points, lines=points, x_title="guesses n", y_title="share that must be right", is_log_x=True, size=12
    )
    return StudyFigure("share", svg, "The share of n guesses that must be right to prove a release unsafe.")


def _table(computed: dict[int, int | None]) -> str:
    """Write the computed table as the report prints it."""
    heads = list(TABLE_4)
    rows = [
        "| n | " + " | ".join(f"{first} + …" for first in heads) + " |",
        "|---|" + "--:|" * len(heads),
        *(
            f"| … {index} | " + " | ".join(str(computed[first + index] or "–") for first in heads) + " |"
            for index in range(10)
        ),
    ]
    return "The table as computed:\n\n" + "\n".join(rows)


def _remark() -> str:
    return (
        f"The more an attacker guesses the smaller the share he needs, from all of 7 to "
        f"{n_needed(LARGEST) / LARGEST:.3f} of {LARGEST}. It never comes near p = 1/3, since u takes the chance that "
        "k are right for the chance that these are right and all others wrong; section 5.3 of the report asks for a "
        "tighter bound."
    )
