"""The best number of clusters for dummy records: formulas (1) to (4) and figure 2 of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.methods.history.dummies import best_clusters, expected_dummies, expected_reid
from tokumei_studies.figures import dots_figure
from tokumei_studies.results._dummies_paper import (
    MU,
    PAPER,
    TABLE_2,
    B,
    H,
    N,
    dummies_with_overlaps,
    fewest_clusters,
    shared_items,
)
from tokumei_studies.study import Findings, StudyFigure, StudyLine

LARGE_N, LARGE_C = 4_000, 1_427
WHOLE = "A whole number: it is the same or it is not."
OVERLAPS, DROPPED = "with overlaps", "as formula (4) takes it"
NOT_BOTH = (
    "The two best c of the paper do not follow from one rule. Both rules grow in step with n: 130 at n = 400 would be "
    "1,300 at 4,000, and 1,427 at 4,000 would be 143 at 400. 130 is the least of (3) with the dummies counted in full, "
    "overlaps included; 1,427 is formula (4), which leaves the overlaps out."
)


@dataclass(frozen=True)
class DummiesBestClusters:
    """Computes how many clusters cost least, dummies and customers found together.

    Dummy rows give all customers of a cluster the same items. With n customers in c clusters, b items a customer and h
    items that two of them share, formula (1) expects Δm ≈ (b + h/2)·n²/c dummies, formula (2) expects c/n of the
    customers to be found, and (3) weighs them, (α·Δm + c/n)/2, where α makes the largest Δm one. The least of (3) is
    at c* = √(α(b + h/2)n³), formula (4). Figure 2 has c* = 130 for n = 400, and the text c* = 1427 for n = 4000.

    The paper prints neither α nor how Δm was derived, which it leaves to another paper. Both can be found out: if every
    two customers of a cluster of s share h items, their union has s·b − s(s − 1)/2·h items, and this grows only up to
    s = (b + h/2)/h. The paper's least number of clusters, 23, is n over that s. With this Δm and α = 1/max Δm, its
    numbers follow, though not all from the same formula.
    """

    title: ClassVar[str] = "The best number of clusters for dummy records"
    source: ClassVar[str] = f"{PAPER}, sections 2.1, 4.1 and 4.4, figure 2"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Evaluate the formulas as printed, and in full."""
        return Findings(
            (*_lines_of_h(), *_lines_of_c(), *_lines_of_example()), (_figure_2(), _figure_dummies()), (_remark(),)
        )


def weight(n: int) -> float:
    """Return α, which makes the largest number of dummies one."""
    h = shared_items(B, MU)
    return 1 / max(dummies_with_overlaps(n, c, B, h) for c in _clusters(n))


def value(n: int, c: int, alpha: float, *, is_full: bool) -> float:
    """Evaluate (3), with the dummies in full, or by formula (1) as (4) does."""
    h = shared_items(B, MU)
    n_dummies = dummies_with_overlaps(n, c, B, h) if is_full else expected_dummies(n, c, B, h, as_printed=True)
    return (alpha * n_dummies + expected_reid(n, c)) / 2


def best_in_full(n: int) -> int:
    """Find the number of clusters with the least (3), dummies in full, by trying all."""
    alpha = weight(n)
    return min(_clusters(n), key=lambda c: value(n, c, alpha, is_full=True))


def best_by_formula(n: int) -> int:
    """Round c* of formula (4)."""
    return round(best_clusters(n, B, shared_items(B, MU), weight(n)))


def _clusters(n: int) -> range:
    return range(math.ceil(fewest_clusters(n, B, shared_items(B, MU))), n + 1)


def _lines_of_h() -> list[StudyLine]:
    return [
        StudyLine.near(
            "items that two share, h = 2bµ/(b + µ) as printed",
            H,
            2 * B * MU / (B + MU),
            within=0.5,
            why="The printed formula cannot be meant: two sets of b items that share h have the Jaccard similarity "
            f"h/(2b − h) = µ, so that h = 2bµ/(1 + µ). That is {shared_items(B, MU):.2f}.",
            digits=2,
        ),
        StudyLine.near(
            "items that two share, h = 2bµ/(1 + µ)",
            H,
            shared_items(B, MU),
            within=0.5,
            why="Printed as a whole number.",
            digits=2,
        ),
        StudyLine.near("fewest clusters at n = 400", 23, min(_clusters(N)), within=0, why=WHOLE, digits=0),
    ]


def _lines_of_c() -> list[StudyLine]:
    return [
        StudyLine.near(f"best c at n = {n:,}, {rule}", printed, computed, within=0, why=why, digits=0)
        for n, rule, printed, computed, why in (
            (N, "least of (3) with overlaps", 130, best_in_full(N), WHOLE),
            (N, "formula (4)", 130, best_by_formula(N), NOT_BOTH),
            (LARGE_N, "least of (3) with overlaps", LARGE_C, best_in_full(LARGE_N), NOT_BOTH),
            (LARGE_N, "formula (4)", LARGE_C, best_by_formula(LARGE_N), WHOLE),
        )
    ]


def _lines_of_example() -> list[StudyLine]:
    """Hold the worked example, n = 4000 and c = 1427, against both forms of (1)."""
    h = 2 * B * MU
    as_printed, as_meant = (
        expected_dummies(LARGE_N, LARGE_C, B, h, as_printed=is_printed) for is_printed in (True, False)
    )
    rounding = as_printed / LARGE_C / 2
    return [
        StudyLine.near(
            "E(Reid) at n = 4,000, c/n",
            0.3567,
            expected_reid(LARGE_N, LARGE_C),
            within=0.0001,
            why="Printed to four digits, cut off or rounded.",
            digits=5,
        ),
        StudyLine.near(
            "E(Δm) at n = 4,000, (1) as printed",
            490_650,
            as_printed,
            within=rounding,
            why="Formula (1) counts all items of the release. The b·n that were there before are not dummies, and the "
            f"paper's example leaves them out: less b·n = {B * LARGE_N:,} it is {as_meant:,.0f}.",
            digits=0,
        ),
        StudyLine.near(
            "E(Δm) at n = 4,000, less b·n",
            490_650,
            as_meant,
            within=rounding,
            why=f"With h = 2bµ = {h:.1f}. c* is rounded to a whole number: half a cluster moves Δm by {rounding:.0f}.",
            digits=0,
        ),
    ]


def _figure_2() -> StudyFigure:
    alpha = weight(N)
    rows = [
        (name, c, value(N, c, alpha, is_full=name == OVERLAPS)) for name in (OVERLAPS, DROPPED) for c in _clusters(N)
    ]
    best = {OVERLAPS: best_in_full(N), DROPPED: best_by_formula(N)}
    dots = [(name, c, value(N, c, alpha, is_full=name == OVERLAPS)) for name, c in best.items()]
    columns = ["series", "x", "y"]
    svg = dots_figure(
        pl.DataFrame(dots, schema=columns, orient="row"),
        lines=pl.DataFrame(rows, schema=columns, orient="row"),
        x_title="clusters c",
        y_title="(α E(Δm) + E(Reid)) / 2",
        is_log_x=True,
    )
    caption = f"Figure 2, n = 400: the least is at {best[OVERLAPS]} clusters with overlaps, at {best[DROPPED]} without."
    return StudyFigure("figure-2", svg, caption)


def _figure_dummies() -> StudyFigure:
    h = shared_items(B, MU)
    curves = [("(1) as printed", c, expected_dummies(N, c, B, h, as_printed=True)) for c in _clusters(N)]
    # With a customer a cluster there are no dummies, and a logarithm has no place for them.
    curves += [("(1) less b·n", c, expected_dummies(N, c, B, h)) for c in _clusters(N) if c < 0.9 * N]
    curves += [("with overlaps", c, dummies_with_overlaps(N, c, B, h)) for c in _clusters(N) if c < 0.9 * N]
    dots = [("table 2, method 2 at its best", c, float(count)) for c, count in fewest_printed().items()]
    columns = ["series", "x", "y"]
    svg = dots_figure(
        pl.DataFrame(dots, schema=columns, orient="row"),
        lines=pl.DataFrame(curves, schema=columns, orient="row"),
        x_title="clusters c",
        y_title="dummy rows",
        is_log_x=True,
        is_log_y=True,
    )
    return StudyFigure("dummies", svg, "Dummies expected by three formulas, and those of table 2.")


def fewest_printed() -> dict[int, int]:
    """Return the fewest dummies that table 2 has for each number of clusters."""
    fewest: dict[int, int] = {}
    for row in TABLE_2:
        fewest[row.clusters] = min(row.n_dummies, fewest.get(row.clusters, row.n_dummies))
    return fewest


def _remark() -> str:
    h = shared_items(B, MU)
    rows = ["| c | table 2, method 2 | (1) as printed | less b·n | with overlaps |", "|--:|--:|--:|--:|--:|"]
    for c, printed in fewest_printed().items():
        forms = (
            expected_dummies(N, c, B, h, as_printed=True),
            expected_dummies(N, c, B, h),
            dummies_with_overlaps(N, c, B, h),
        )
        rows.append(f"| {c} | {printed:,} | " + " | ".join(f"{form:,.0f}" for form in forms) + " |")
    return (
        "The formula with overlaps comes nearest to what method 2 adds, and stays above it, since similar customers "
        f"share more than any two do:\n\n{chr(10).join(rows)}\n\n"
        f"In the example of n = {LARGE_N:,} it expects {dummies_with_overlaps(LARGE_N, LARGE_C, B, h):,.0f} dummies at "
        f"c = {LARGE_C:,}."
    )
