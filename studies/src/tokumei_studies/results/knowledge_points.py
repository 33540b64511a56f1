"""The scatter of rows and customers of the slides on background knowledge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.history.attackers import ATTACKERS, knowledge_points, measure_risks, predict_risks
from tokumei.contest.editions.pwscup2016.files import read_history
from tokumei.data.history import History
from tokumei_studies.figures import diagonal_figure
from tokumei_studies.results._knowledge import MEASURED, PAPER, PREDICTED, PREDICTED_DIGITS, ROUNDED
from tokumei_studies.study import Findings, StudyFigure, StudyLine

# Those who know one kind of thing: the item, how many rows, the day.
SINGLE = (1, 2, 5)
# Those who know two or three.
JOINT = (3, 4, 6, 7, 8, 9)


@dataclass(frozen=True)
class KnowledgePoints:
    """Draws how many rows and how many customers fit each thing that may be known, and asks why the theory errs.

    The slides plot |R_x|, the rows that fit, against |U_x|, the customers who do, and conclude that the theory errs
    because its first assumption fails, |R_x| = |U_x|: the points lie below the line. They do not say whose knowledge
    is plotted; here it is that of the attackers with one kind of knowledge, an item, how many rows or the day.

    The conclusion can be put to the test. Of an attacker who meets x by rows, the measured risk is Σ (|R_x| / m) /
    |U_x|, and the predicted one the same with |R_x| for |U_x|, which is ω / m. So the ratio of the two is the mean of
    |R_x| / |U_x| over all x, and must be the ratio of the printed numbers. Those who know no item are met by baskets in
    the slides' experiment, so that their ratio is another.
    """

    title: ClassVar[str] = "Rows and customers that fit what is known"
    source: ClassVar[str] = f"{PAPER}, figure of |R_x| and |U_x|"
    needs: ClassVar[tuple[str, ...]] = ("pwscup2016/T.csv.gz",)
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Count rows and customers."""
        history = read_history(data / "pwscup2016" / "T.csv.gz")
        points = {number: knowledge_points(history, ATTACKERS[number]) for number in (*SINGLE, *JOINT)}
        n_above = sum(
            int(found.filter(pl.col("n_customers") > pl.col("n_rows"))["n_known"].sum()) for found in points.values()
        )
        lines = [
            *(_theory_line(number, points[number], history) for number in SINGLE),
            _ratio_line(points[1]),
            StudyLine.near(
                "points above the line", 0, n_above, within=0, why="A customer has at least one row.", digits=0
            ),
        ]
        return Findings(lines, (_figure(points),), (_single_remark(points), _joint_remark(points, history)))


def _theory_line(number: int, points: pl.DataFrame, history: History) -> StudyLine:
    """Compute with every row a customer of its own: each x then adds (|R_x| / m) / |R_x|."""
    computed = int(points["n_known"].sum()) / history.n_rows
    what = f"attacker {number}, if |U_x| were |R_x|"
    within = 0.5 * 10.0 ** -PREDICTED_DIGITS[number]
    return StudyLine.near(what, PREDICTED[number], computed, within=within, why=ROUNDED)


def _ratio_line(points: pl.DataFrame) -> StudyLine:
    why = (
        "The ratio of two printed numbers, .0965 and .0730, each rounded to four digits: so it may be off by "
        "0.07 % and 0.05 % of itself, together 0.0016."
    )
    return StudyLine.near(
        "measured over predicted of attacker 1: mean |R_x| / |U_x|",
        MEASURED[1] / PREDICTED[1],
        _mean_rows_a_customer(points),
        within=0.0016,
        why=why,
    )


def _mean_rows_a_customer(points: pl.DataFrame) -> float:
    ratios = points["n_rows"] / points["n_customers"] * points["n_known"]
    return math.fsum(ratios) / int(points["n_known"].sum())


def _correlation(points: pl.DataFrame) -> float:
    """Correlate the logarithms of rows and customers over all x, as often as each occurs."""
    weight = points["n_known"].to_list()
    logs = [
        (math.log(rows), math.log(customers)) for rows, customers in points.select("n_rows", "n_customers").iter_rows()
    ]
    total = sum(weight)
    means = [math.fsum(w * pair[side] for w, pair in zip(weight, logs, strict=True)) / total for side in (0, 1)]

    def covariance(one: int, other: int) -> float:
        pairs = zip(weight, logs, strict=True)
        return math.fsum(w * (pair[one] - means[one]) * (pair[other] - means[other]) for w, pair in pairs)

    return covariance(0, 1) / math.sqrt(covariance(0, 0) * covariance(1, 1))


def _figure(points: Mapping[int, pl.DataFrame]) -> StudyFigure:
    shown = pl.concat(points[number].with_columns(attacker=pl.lit(str(ATTACKERS[number]))) for number in SINGLE)
    svg = diagonal_figure(
        shown,
        x="n_rows",
        y="n_customers",
        series="attacker",
        x_title="rows that fit, |R_x|",
        y_title="customers who fit, |U_x|",
    )
    return StudyFigure("scatter", svg, "Each point is something one may know; on the red line |U_x| is |R_x|.")


def _single_remark(points: Mapping[int, pl.DataFrame]) -> str:
    rows = ["| attacker | values | on the line | mean of R/U | correlation of ln R and ln U |", "|---|--:|--:|--:|--:|"]
    for number in SINGLE:
        found = points[number]
        total = int(found["n_known"].sum())
        on_line = int(found.filter(pl.col("n_customers") == pl.col("n_rows"))["n_known"].sum())
        mean, correlation = _mean_rows_a_customer(found), _correlation(found)
        rows.append(f"| {ATTACKERS[number]} | {total:,} | {on_line / total:.1%} | {mean:.2f} | {correlation:.3f} |")
    return "How far from the line the points are:\n\n" + "\n".join(rows)


def _joint_remark(points: Mapping[int, pl.DataFrame], history: History) -> str:
    predicted = predict_risks(history)
    measured = [score.value for score in measure_risks(history)]
    rows = ["| attacker | theory | by what occurs | measured here |", "|---|--:|--:|--:|"]
    for number in JOINT:
        occurring = int(points[number]["n_known"].sum()) / history.n_rows
        rows.append(f"| {ATTACKERS[number]} | {predicted[number]:,.3f} | {occurring:.4f} | {measured[number]:.4f} |")
    return (
        "For one kind of knowledge the slides' conclusion holds. For several it does not: there the theory's second "
        "assumption, that kinds are independent, errs first. It counts every combination of values, most of which "
        "never occur. With the combinations that do occur in place of the product, and |U_x| = |R_x| as before, "
        "attackers who know an item are predicted well, and the others far too low, since a basket is many rows of one "
        "customer:\n\n"
        + "\n".join(rows)
        + "\n\nThe middle number of attacker 8 is the .9750 that the slides print as measured."
    )
