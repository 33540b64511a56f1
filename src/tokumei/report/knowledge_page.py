"""The report of what knowledge is worth: ten attackers, measured and predicted."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tokumei.attacks.background import AS_STATED, ATTACKERS, knowledge_points
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.report.figures import crowd_figure
from tokumei.report.page import Page

# One who knows a kind of knowledge alone, and one who knows two: more would hide each other.
SHOWN = (1, 2, 5, 6, 7)


def knowledge_page(history: History, risks: Sequence[Score], theory: Sequence[float], danger: pl.DataFrame) -> Page:
    """Make the page: the risks, which kind is dangerous, and how many customers fit what is known."""
    page = Page("What an attacker's knowledge is worth")
    page.paragraph(
        "Each attacker knows something about one purchase and picks one of the customers who fit. The risk is the "
        "chance to pick the right one; theory takes every row to be another customer, so that it can exceed 1."
    )
    page.table(
        ["attacker", "risk measured", AS_STATED, "by theory"],
        [
            [score.name, float(score.value), float(score.inputs[AS_STATED]), float(expected)]
            for score, expected in zip(risks, theory, strict=True)
        ],
        "Ten attackers by what they know: 0 finds nobody, 1 finds everybody. Attackers 4 and 9 fit by the items alone, "
        "as the published figures were computed; as stated, the number of rows must agree, too.",
    )
    page.table(
        ["kind of knowledge", "risk of it alone", "risk it adds to others"],
        [["" if cell is None else cell for cell in row] for row in danger.iter_rows()],
        "Which kind is dangerous, the worst first.",
    )
    page.figure(
        crowd_drawing(history),
        "Every point is something one may know. Theory takes |U| to equal |R|; the lower a point, the more it errs.",
    )
    return page


def crowd_drawing(history: History) -> str:
    """Draw how many customers fit what may be known."""
    points = [
        knowledge_points(history, attacker).with_columns(attacker=pl.lit(str(attacker)))
        for attacker in ATTACKERS
        if attacker.number in SHOWN
    ]
    return crowd_figure(
        pl.concat(points),
        x="n_rows",
        y="n_customers",
        series="attacker",
        x_title="rows that fit what is known, |R|",
        y_title="customers who fit, |U|",
    )
