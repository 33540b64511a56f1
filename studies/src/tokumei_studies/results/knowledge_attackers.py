"""The table of ten attackers of the slides on background knowledge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from tokumei.attacks.history.attackers import AS_STATED, ATTACKERS, knowledge_points, measure_risks, predict_risks
from tokumei.contest.editions.pwscup2016.files import read_history
from tokumei.data.history import History
from tokumei_studies.results._knowledge import (
    FOUR_DIFFERS,
    MEASURED,
    PAPER,
    PREDICTED,
    PREDICTED_DIGITS,
    ROUNDED,
    measured_line,
)
from tokumei_studies.study import Findings, StudyLine

PRODUCT_DIFFERS = (
    "The theory is a product of numbers of values over the number of rows, 38,087: {product} = {value:,.1f}. What is "
    "printed is {excess:.2%} more, as if rounded numbers had been multiplied; the smaller products agree to the last "
    "digit."
)


@dataclass(frozen=True)
class KnowledgeAttackers:
    """Measures how likely each of ten attackers finds a customer, and predicts it.

    The slides tell attackers apart by what they know of one purchase: the day, how many rows it has, and what was in
    it, one item or all. Each picks one of the customers U_x who fit what is known, x, so that the risk is
    Σ Pr(x) / |U_x|. The theory takes the rows R_x that fit to be as many customers, and kinds of knowledge to be
    independent, so that the risk is Π ω / m: ω values of each kind over m rows.

    Here both are computed from the purchases of 400 customers that the slides used. Whoever knows an item meets x with
    the share of rows that fit, whoever knows none with the share of baskets (a customer's rows of one day): the slides
    do not say it, but only so do their numbers come out. The risk printed of attacker 4 does not follow from
    all that it is stated to know, so that it is computed in both ways.
    """

    title: ClassVar[str] = "Ten attackers by background knowledge"
    source: ClassVar[str] = f"{PAPER}, table of results"
    needs: ClassVar[tuple[str, ...]] = ("pwscup2016/T.csv.gz",)
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Measure and predict."""
        history = read_history(data / "pwscup2016" / "T.csv.gz")
        scores = measure_risks(history)
        risks = [score.value for score in scores]
        theory = predict_risks(history)
        lines = [measured_line("attacker", number, risk) for number, risk in enumerate(risks)]
        lines.insert(9, _attacker_8_by_rows(history))
        lines[4] = replace(lines[4], what="attacker 4 as printed, by the items alone, measured")
        lines.insert(5, _attacker_4_as_stated(scores[4].inputs[AS_STATED]))
        lines += [_predicted_line(number, value, history) for number, value in enumerate(theory)]
        lines += [
            StudyLine.near(
                "the day over an item or how many, measured",
                0.1851 - 0.0965,
                risks[5] - max(risks[1], risks[2]),
                within=0.0001,
                why="A difference of two printed numbers, each rounded.",
            ),
            StudyLine.near(
                "an item over the day or how many, by theory",
                0.0730 - 0.0076,
                theory[1] - max(theory[2], theory[5]),
                within=0.0001,
                why="A difference of two printed numbers, each rounded.",
            ),
        ]
        remarks = (
            "The last two lines are the slides' conclusion: of a single kind of knowledge, theory calls the item most "
            "dangerous, and measurement the day. Both hold.",
            "The theory is no probability. Attackers 3, 4, 6, 8 and 9 get values far above 1 because values that are "
            "multiplied are taken to occur together in every combination, of which the data has few: "
            "[the scatter of rows and customers](knowledge-points.md) shows how much each assumption is to blame.",
        )
        return Findings(lines, remarks=remarks)


def _attacker_4_as_stated(computed: float) -> StudyLine:
    """Compute attacker 4 as stated, who knows the number of rows, too."""
    what = "attacker 4 as stated, by the items and how many, measured"
    return StudyLine.near(what, MEASURED[4], computed, within=0.00005, why=FOUR_DIFFERS, is_same_method=False)


def _attacker_8_by_rows(history: History) -> StudyLine:
    """Compute attacker 8 picking a row that fits rather than a customer: Σ |R_x| / m · 1 / |R_x|."""
    points = knowledge_points(history, ATTACKERS[8])
    chance = int(points["n_known"].sum()) / history.n_rows
    return StudyLine.near("attacker 8, rows counted in place of customers", 0.9750, chance, within=0.00005, why=ROUNDED)


def _predicted_line(number: int, computed: float, history: History) -> StudyLine:
    digits = PREDICTED_DIGITS[number]
    published = PREDICTED[number]
    why = ROUNDED
    if number in (8, 9):
        days, items = history.frame["date"].n_unique(), history.frame["item"].n_unique()
        product = f"{days} days × 114 numbers of rows × " + (
            f"{items:,} items" if number == 8 else "1,518 sets of items"
        )
        why = PRODUCT_DIFFERS.format(product=product, value=computed, excess=published / computed - 1)
    within = 0.5 * 10.0**-digits
    return StudyLine.near(
        f"attacker {number}, by theory", published, computed, within=within, why=why, digits=max(digits, 1)
    )
