"""What comes of serving by a power law: figures 53 to 55 of the thesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.predictors.predictor import Quadrants
from tokumei_studies.figures import parts_figure
from tokumei_studies.results import _thesis as thesis
from tokumei_studies.study import Findings, StudyFigure, StudyLine

K_PS = (50, 10, 2)
# Of the lengths that figure 35 compares, this one serves all of the census at k_p = 10, as figure 54 is said to do.
FITTED_UP_TO = 10
LENGTHS = (5, 9, FITTED_UP_TO, thesis.ALL)
CENSUS, LARGEST, NEXT = thesis.GROUPS
# What the text says: α of the largest services at 50 and at 2, and γ of services at 50, all in percent.
ALPHA_50, ALPHA_2 = 30, 48
GAMMA_LEAST, GAMMA_MOST = 5, 10

Shares = Mapping[str, float]


@dataclass(frozen=True)
class ThesisQuadrants:
    """Serves class counts by what a law predicts, and looks which of them hold.

    A request is served where the predicted k is at least k_p. Then it holds (α) or leaks (γ); one that is refused would
    have held (β, a lost chance) or not (δ). Figures 53 to 55 show the shares for the census and for services by size,
    at k_p = 50, 10 and 2. Here they are computed for the 25 class counts of each column of the appendix.

    Section 6.1 does not say which class counts its law was fitted on. Those up to 10 are taken, since of the lengths
    that figure 35 compares, those up to 5 and up to 10 serve the whole census at k_p = 10, as the text says, and of
    the two this one has the α of the largest services at k_p = 50 that the text gives.
    """

    title: ClassVar[str] = "What comes of serving by a power law"
    source: ClassVar[str] = f"{thesis.THESIS}, figures 53 to 55"
    needs: ClassVar[tuple[str, ...]] = (thesis.APPENDIX,)
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Compute the shares and compare those that the text tells."""
        appendix = thesis.read_appendix(data)
        shares = {(group, k_p): _percent(appendix, group, k_p) for group in thesis.GROUPS for k_p in K_PS}
        figures = [_figure(shares, k_p, number) for k_p, number in zip(K_PS, (53, 54, 55), strict=True)]
        return Findings(_lines(appendix, shares), figures, (_other_lengths(appendix),))


def serve(appendix: thesis.Appendix, service: str, k_p: float, fitted_up_to: int = FITTED_UP_TO) -> Quadrants:
    """Serve the class counts of one column by the law through the smaller ones."""
    predicted = appendix.predicted(service, fitted_up_to)
    return Quadrants.of(
        (bool(said >= k_p), bool(k >= k_p)) for said, k in zip(predicted, appendix.ks[service], strict=True)
    )


def _percent(appendix: thesis.Appendix, group: str, k_p: float, fitted_up_to: int = FITTED_UP_TO) -> Shares:
    total = Quadrants(0, 0, 0, 0)
    for service in thesis.GROUPS[group]:
        total += serve(appendix, service, k_p, fitted_up_to)
    return {name: 100 * share for name, share in total.shares.items()}


def _lines(appendix: thesis.Appendix, shares: Mapping[tuple[str, int], Shares]) -> list[StudyLine]:
    law = appendix.law(thesis.CENSUS_ID, FITTED_UP_TO)
    leaked = [
        f"{classes:.0f} classes (k = {k:.0f}, predicted {law.predict_at(classes).k:.0f})"
        for classes, k in zip(appendix.classes, appendix.ks[thesis.CENSUS_ID], strict=True)
        if k < K_PS[0] <= law.predict_at(classes).k
    ]
    by_print = "Printed as whole percents."
    why_gamma = (
        f"The appendix itself has a leak: {', '.join(leaked)}. So there is by each of the lengths below. By nodes, not "
        "class counts, the census has none: see the study `better-predictor`."
    )
    why_alpha = (
        "Printed as whole percents. Without the whole table, which is always served and always holds, it is "
        f"{_from_two(appendix, 2):.1f} at k_p = 2, but then {_from_two(appendix, 50):.1f} at 50, where the text has "
        f"{ALPHA_50}."
    )
    about = "The text says about 5 to 10 % for services, of which this is the middle; half a percent is rounding."
    lines = [
        StudyLine.near(
            f"k_p = 50, {CENSUS}: γ, %", 0, shares[CENSUS, 50]["gamma"], within=0.5, why=why_gamma, digits=1
        ),
        StudyLine.near(
            f"k_p = 10, {CENSUS}: α, %", 100, shares[CENSUS, 10]["alpha"], within=0.5, why=by_print, digits=1
        ),
        StudyLine.near(f"k_p = 2, {CENSUS}: α, %", 100, shares[CENSUS, 2]["alpha"], within=0.5, why=by_print, digits=1),
        StudyLine.near(
            f"k_p = 50, {LARGEST}: α, %", ALPHA_50, shares[LARGEST, 50]["alpha"], within=0.5, why=by_print, digits=1
        ),
        StudyLine.near(
            f"k_p = 2, {LARGEST}: α, %", ALPHA_2, shares[LARGEST, 2]["alpha"], within=0.5, why=why_alpha, digits=1
        ),
    ]
    middle, half = (GAMMA_LEAST + GAMMA_MOST) / 2, (GAMMA_MOST - GAMMA_LEAST) / 2
    for group in (LARGEST, NEXT):
        what = f"k_p = 50, {group}: γ, %"
        lines.append(StudyLine.near(what, middle, shares[group, 50]["gamma"], within=half + 0.5, why=about, digits=1))
    rise = shares[LARGEST, 10]["gamma"] - shares[LARGEST, 50]["gamma"]
    why = "The text says that γ grows from k_p = 50 to 10."
    lines.append(StudyLine.at_least(f"{LARGEST}: γ at k_p = 10 less that at 50, points", 0, rise, why=why, digits=1))
    return lines


def _from_two(appendix: thesis.Appendix, k_p: float) -> float:
    """Return α of the largest services without the whole table, which is always served and always holds."""
    total = Quadrants(0, 0, 0, 0)
    for service in thesis.LARGE:
        total += serve(appendix, service, k_p)
    return 100 * (total.alpha - len(thesis.LARGE)) / (total.n_nodes - len(thesis.LARGE))


def _figure(shares: Mapping[tuple[str, int], Shares], k_p: int, number: int) -> StudyFigure:
    points = pl.DataFrame(
        [
            {"row": group, "part": name, "share": shares[group, k_p][part] / 100}
            for group in thesis.GROUPS
            for part, name in thesis.QUADRANTS.items()
        ]
    )
    svg = parts_figure(
        points, x_title="share of class counts", parts=list(thesis.QUADRANTS.values()), colors=thesis.QUADRANT_COLORS
    )
    return StudyFigure(
        f"k{k_p}", svg, f"Figure {number}: what comes of serving at k_p = {k_p}, for the services of the appendix."
    )


def _other_lengths(appendix: thesis.Appendix) -> str:
    rows = []
    for length in LENGTHS:
        for group in thesis.GROUPS:
            cells = []
            for k_p in K_PS:
                found = _percent(appendix, group, k_p, length)
                cells.append(f"{found['alpha']:.1f} / {found['beta']:.1f} / {found['gamma']:.1f}")
            rows.append([f"up to {length}, {group}", *cells])
    table = thesis.markdown_table(["law fitted on, group", *(f"α / β / γ at k_p = {k_p}" for k_p in K_PS)], rows)
    return (
        "The shares by laws fitted on other class counts, in percent. Smaller services than the "
        f"{len(thesis.LARGE + thesis.MIDDLE)} of the appendix are not published, so that "
        f"their bars cannot be drawn.\n\n{table}"
    )
