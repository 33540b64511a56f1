"""The smallest class of a normal distribution: figure 33 of the thesis."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei_studies.figures import dots_figure
from tokumei_studies.results._thesis import SEED, THESIS, Floats, Regression, markdown_table
from tokumei_studies.study import Findings, StudyFigure, StudyLine

N_PEOPLE = 100_000
N_TRIALS = 50
END = 4.0
MOST_CLASSES = 30
ALPHA, BETA, R_SQUARED = 48_770, -3.21, 0.9612
NORMAL = NormalDist()


@dataclass(frozen=True)
class ThesisNormal:
    """Draws normal numbers, cuts them into more and more classes of equal width, and counts the smallest class.

    Figure 33 draws 100,000 numbers of variance 1, fifty times for each class count, with the end at 4σ, and finds the
    mean k to be near 48,770·x^−3.21, with an R² of 0.9612. The text measures from the mean: the smallest class is the
    one farthest from it. So the distances from the mean are cut into x classes from 0 to 4σ, and the few beyond
    are in the last. Counts of classes are drawn from the distribution that drawing the numbers would give them.

    The text does not say how far x went. R² falls as it goes further; the range is the one whose R² is nearest to the
    printed one.
    """

    title: ClassVar[str] = "The smallest class of a normal distribution"
    source: ClassVar[str] = f"{THESIS}, figure 33"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Draw, count, and fit."""
        ks = smallest_classes(is_folded=True)
        last = min(range(5, MOST_CLASSES + 1), key=lambda x: abs(fit_power(ks[:x])[2] - R_SQUARED))
        alpha, beta, _ = fit_power(ks[:last])
        near = [fit_power(ks[: last + step]) for step in (-1, 1)]
        why_beta = (
            f"The fit goes to x = {last}, where R² comes nearest to the printed one; the tolerance is what one class "
            "more or less makes."
        )
        as_high = min(range(5, MOST_CLASSES + 1), key=lambda x: abs(fit_power(ks[:x])[0] - ALPHA))
        _, other_beta, other_r = fit_power(ks[:as_high])
        why_alpha = (
            "The slope follows, the height does not, by more than one class more or less makes. The printed height "
            f"comes out if the fit goes to x = {as_high}, but there the slope is {other_beta:.2f} and R² is "
            f"{other_r:.3f}. The class counts of the fit, and what became of values beyond 4σ, are not printed, and "
            "the height hangs on both."
        )
        lines = (
            StudyLine.near("β", BETA, beta, within=max(abs(other[1] - beta) for other in near), why=why_beta),
            StudyLine.near(
                "α", ALPHA, alpha, within=max(abs(other[0] - alpha) for other in near), why=why_alpha, digits=0
            ),
        )
        return Findings(
            lines, (self._figure(ks[:last], alpha, beta),), (_ranges(ks, smallest_classes(is_folded=False)),)
        )

    def _figure(self, ks: Floats, alpha: float, beta: float) -> StudyFigure:
        x = np.arange(1, len(ks) + 1, dtype=float)
        here, printed = f"{alpha:,.0f}·x^{beta:.2f}, computed", f"{ALPHA:,}·x^{BETA}, printed"
        curves = {here: alpha * x**beta, printed: ALPHA * x**BETA}
        svg = dots_figure(
            pl.DataFrame({"x": x, "y": ks, "series": ["mean k of 50 draws"] * len(x)}),
            lines=pl.concat([pl.DataFrame({"x": x, "y": y, "series": [name] * len(x)}) for name, y in curves.items()]),
            x_title="classes x",
            y_title="k",
            is_log_x=True,
            is_log_y=True,
        )
        return StudyFigure(
            "k", svg, "Figure 33: the mean of the smallest class of 100,000 normal numbers by class count."
        )


def smallest_classes(*, is_folded: bool) -> Floats:
    """Return the mean size of the smallest class for each class count from 1, folded about the mean or not."""
    out = []
    for n_classes in range(1, MOST_CLASSES + 1):
        edges = np.linspace(0 if is_folded else -END, END, n_classes + 1)
        below = np.array([NORMAL.cdf(edge) for edge in edges])
        # Values beyond the last edge are in the last class.
        below[-1] = 1
        below[0] = 0.5 if is_folded else 0
        shares = np.diff(below) * (2 if is_folded else 1)
        rng = generator(SEED, "normal", is_folded, n_classes)
        out.append(rng.multinomial(N_PEOPLE, shares, size=N_TRIALS).min(axis=1).mean())
    return np.array(out)


def fit_power(ks: Floats) -> tuple[float, float, float]:
    """Fit k = α·x^β over x = 1, 2, …, and give α, β and R² of the logarithms."""
    x, y = np.log(np.arange(1, len(ks) + 1)), np.log(ks)
    beta, offset = np.polyfit(x, y, 1)
    return float(np.exp(offset)), float(beta), Regression.of(x, y).r_squared


def _ranges(folded: Floats, whole: Floats) -> str:
    rows = []
    for last in (8, 10, 12, 14, 16, 20, 25, 30):
        cells = [f"{a:,.0f} · x^{b:.2f} | {r:.4f}" for a, b, r in (fit_power(folded[:last]), fit_power(whole[:last]))]
        rows.append([f"1 to {last}", *cells])
    heads = ["x", "distance from the mean", "R²", "−4σ to 4σ", "R²"]
    table = markdown_table(heads, rows)
    return (
        "What the fit would be over other class counts, and if the classes were cut from −4σ to 4σ instead: then the "
        f"height is far from the printed one at any range.\n\n{table}"
    )
