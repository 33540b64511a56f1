"""What k-anonymity is worth under the safety condition of PWSCUP 2018: examples 1 and 2 of the report."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.history.fitting import CHANCE, chances_in_class
from tokumei_studies.figures import dots_figure
from tokumei_studies.study import Findings, StudyFigure, StudyLine

SIZES = range(2, 13)
EXACT = "A whole number, computed without rounding."


@dataclass(frozen=True)
class Pwscup2018Classes:
    """Holds classes of six and seven against the condition H₀.

    A release is safe (H₀) if nobody names any s of its pseudonyms rightly with a chance above pˢ; the contest had
    p = 1/3. The report gives two examples. Whoever knows which seven customers are in a class, and no more, names all
    of them rightly with a chance of 1/7!, which is less than p⁷. With six it is 1/6!, more than p⁶.

    The report looks at the whole class only. Here every number of members is tried that an attacker may name.
    """

    title: ClassVar[str] = "Seven indistinguishable customers are safe, six are not"
    source: ClassVar[str] = "Report on PWSCUP 2018, section 4.1.1, examples 1 and 2"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Compare the chances."""
        lines = []
        for size, printed, bound in ((7, 5040, 2187), (6, 720, 729)):
            # The last chance is that of all members being right.
            chance = chances_in_class(size)[-1]
            lines += [
                _count(f"one in so many names all of a class of {size}", printed, 1 / chance),
                _count(f"one in so many is what H₀ allows for {size}", bound, 1 / CHANCE**size),
            ]
        safe = [size for size in SIZES if is_safe(size)]
        lines.append(_count("smallest class that is safe, whoever is named", 7, Fraction(min(safe))))
        return Findings(lines, (_figure(),), (_remark(),))


def chance_of_naming(n_named: int, size: int) -> Fraction:
    """Return the chance to name members of a class rightly without telling them apart: (size − named)!/size!."""
    return Fraction(factorial(size - n_named), factorial(size))


def is_safe(size: int, p: Fraction = CHANCE) -> bool:
    """Whether a class keeps H₀, however many of its members are named."""
    return all(chance_of_naming(n_named, size) <= p**n_named for n_named in range(1, size + 1))


def _count(what: str, published: int, computed: Fraction) -> StudyLine:
    return StudyLine.near(what, published, float(computed), within=0, why=EXACT, digits=0)


def _figure() -> StudyFigure:
    rows = [("names all, s!", size, float(1 / chance_of_naming(size, size))) for size in SIZES]
    rows += [("is allowed, 3^s", size, float(1 / CHANCE**size)) for size in SIZES]
    points = pl.DataFrame(rows, schema=["series", "x", "y"], orient="row")
    svg = dots_figure(points, lines=points, x_title="size s of the class", y_title="one in so many", is_log_y=True)
    return StudyFigure(
        "chances", svg, "How rarely a whole class is named rightly, and how rarely the condition wants it."
    )


def _remark() -> str:
    rows = ["| size | 1 in so many names all | 1 in so many allowed | H₀ is broken by naming |", "|--:|--:|--:|---|"]
    for size in SIZES:
        breaking = [str(n) for n in range(1, size + 1) if chance_of_naming(n, size) > CHANCE**n]
        rows.append(f"| {size} | {factorial(size):,} | {int(1 / CHANCE**size):,} | {' or '.join(breaking) or '–'} |")
    return (
        "Whoever has named all but one knows the last one too, so that naming one fewer is no less likely:\n\n"
        + "\n".join(rows)
        + "\n\nSeveral classes change nothing, since their chances multiply and so do the bounds."
    )
