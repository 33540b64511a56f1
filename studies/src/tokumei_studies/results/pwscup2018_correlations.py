"""Whether the utility of PWSCUP 2018 says what a release is worth in use: tables 6 to 10 of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.measures.table.row_by_row import least_significant_correlation, pearson_correlation
from tokumei_studies.figures import panel_figure
from tokumei_studies.results._pwscup2018_tables import UTILITY, Column, all_columns
from tokumei_studies.study import Findings, StudyFigure, StudyLine

# What a number printed to three digits may have been off.
HALF_STEP = 0.0005
USE_CASES_TABLE = 6


@dataclass(frozen=True)
class Pwscup2018Correlations:
    """Computes the correlations below tables 6 to 10 from the tables' own columns.

    The report measured the thirteen releases of the final in five uses and by the statistics of three columns, on data
    drawn from the released ranges and sets, and asks whether the contest's utility U foretells these errors. The last
    row of each table is Pearson's correlation with U.

    Here it is computed again from what the tables print. Their digits are few: each correlation may be off by what
    rounding can do to U and to the column at worst, and that is its tolerance.
    """

    title: ClassVar[str] = "What the utility of PWSCUP 2018 foretells"
    source: ClassVar[str] = "Report on PWSCUP 2018, section 6.4 and tables 6 to 10"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Compute all correlations, and which are significant."""
        columns = all_columns()
        threshold = least_significant_correlation(len(UTILITY))
        lines = [_line(column) for column in columns if column.correlation is not None]
        lines.append(
            StudyLine.near(
                "correlation that is significant for 13 releases",
                0.552,
                threshold,
                within=0.001,
                why="Printed as 0.552…, with more digits cut off.",
            )
        )
        found = {column.name: pearson_correlation(UTILITY, column.values) for column in columns}
        significant = [name for name, value in found.items() if value is not None and value > threshold]
        lines += _claims(columns, found, significant)
        return Findings(lines, (_figure(columns),), (_remark(columns, found, significant),))


def rounding_reach(values: Sequence[float], others: Sequence[float], half_step: float) -> float:
    """Bound, to first order, how far Pearson's correlation moves if every number moves by up to half a step."""
    correlation = pearson_correlation(values, others)
    if correlation is None:
        return 0.0
    one, other = (_centered(side) for side in (values, others))
    lengths = [math.sqrt(math.fsum(value * value for value in side)) for side in (one, other)]
    units = [[value / length for value in side] for side, length in zip((one, other), lengths, strict=True)]
    reach = 0.0
    for mine, yours, length in ((units[0], units[1], lengths[0]), (units[1], units[0], lengths[1])):
        reach += math.fsum(abs(b - correlation * a) for a, b in zip(mine, yours, strict=True)) / length
    return reach * half_step


def _centered(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]


def _line(column: Column) -> StudyLine:
    return StudyLine.near(
        f"table {column.table}, {column.name}",
        column.correlation or 0.0,
        pearson_correlation(UTILITY, column.values) or 0.0,
        within=HALF_STEP + rounding_reach(UTILITY, column.values, HALF_STEP),
        why="The farthest that rounding to the printed digits can move it.",
    )


def _claims(columns: Sequence[Column], found: dict[str, float | None], significant: Sequence[str]) -> list[StudyLine]:
    """Hold what section 6.4 says in words against the correlations."""
    uses = [column.name for column in columns if column.table == USE_CASES_TABLE]
    statistics = [name for name in found if name not in uses]
    n_negative = sum(value is not None and value <= 0 for value in found.values())
    claims = (
        ("uses with a significant correlation", 5, sum(name in uses for name in significant)),
        ("statistics with a significant correlation", 3, sum(name in statistics for name in significant)),
        ("correlations that are not positive", 0, n_negative),
    )
    return [StudyLine.near(what, said, count, within=0, why="A count.", digits=0) for what, said, count in claims]


def _figure(columns: Sequence[Column]) -> StudyFigure:
    uses = [column for column in columns if column.table == USE_CASES_TABLE]
    uses += [column for column in columns if column.name == "top 100 items"]
    rows = [(column.name, u, value) for column in uses for u, value in zip(UTILITY, column.values, strict=True)]
    points = pl.DataFrame(rows, schema=["use", "utility", "error"], orient="row")
    svg = panel_figure(
        points.with_columns(series=pl.lit("a release of the final")),
        x="utility",
        y="error",
        panel="use",
        series="series",
        x_title="U",
    )
    return StudyFigure("uses", svg, "The error of the releases in the five uses and of their top items, against U.")


def _remark(columns: Sequence[Column], found: dict[str, float | None], significant: Sequence[str]) -> str:
    team_12 = UTILITY.index(0.476)
    without = {
        column.name: pearson_correlation(
            *([value for index, value in enumerate(side) if index != team_12] for side in (UTILITY, column.values))
        )
        for column in columns
        if column.table == USE_CASES_TABLE
    }
    listed = ", ".join(
        f"{name} {found[name]:.3f} → {value:.3f}" for name, value in without.items() if value is not None
    )
    return (
        f"Significant at the level 0.05 are: {', '.join(significant)}. The text names the minimum of the price among "
        "them, which stands in table 9, though that is headed *quantity*; so table 9 must be the prices and table 10 "
        "the quantities.\n\nMuch rests on one release: without that of team 12, with the largest U, the uses change "
        f"to {listed}.\n\nSection 6.1.1 defines the figure of frequent itemsets as the share kept, |T₀ ∩ T₁| / |T₀|, "
        "while table 6 is headed *error*; which of the two is printed cannot be told from the table."
    )
