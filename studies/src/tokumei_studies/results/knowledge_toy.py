"""The small examples of the slides on background knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.history.attackers import measure_risks, predict_risks
from tokumei.data.history import History
from tokumei_studies.results._knowledge import PAPER
from tokumei_studies.study import Findings, StudyLine

# Maths, English and physics of the students A to H.
MARKS = ((90, 50, 70), (90, 50, 60), (90, 70, 70), (50, 70, 60), (50, 50, 80), (50, 50, 10), (30, 70, 80), (30, 70, 10))
# Customer, day of December 2010 and item of the ten rows, as the slides' table of baskets shows them.
ROWS = (
    ("A", 1, "100"),
    ("C", 1, "100"),
    ("D", 1, "200"),
    ("B", 2, "100"),
    ("B", 2, "200"),
    ("B", 2, "300"),
    ("A", 3, "100"),
    ("B", 3, "200"),
    ("D", 3, "100"),
    ("D", 3, "300"),
)
# How often each item is bought on days 1, 2 and 3, as the slide on assumption 2 prints it.
PRINTED_COUNTS = {"100": (2, 1, 1), "200": (0, 1, 1), "300": (1, 1, 1)}
EXACT = "A fraction of small numbers is the same or it is not."
COUNTED = "A count: it is the same or it is not."
MISCOUNTED = (
    "The slide's table of items by days adds up to 9 (4 + 2 + 3) where there are 10 rows. By the table of baskets A, "
    "C and D bought 100, 100 and 200 on the first day, and A and D both bought 100 on the third."
)


@dataclass(frozen=True)
class KnowledgeToy:
    """Works out the examples by which the slides explain what knowledge is worth.

    Eight students' marks show that the chance to name a student depends on what is known. Ten purchases of four
    customers on three days show how the risk is measured and predicted: of attacker 5, who knows the day, 8/15 and 0.3.

    The ten purchases are printed twice: as rows, where the fifth is of item 100, and as baskets, where it is of item
    200. Here they are taken from the baskets, since only these agree with the 5 purchases in 10 of item 100 that the
    slides count. The example meets a day with its share of the rows, while the experiment meets it with its share of
    the baskets.
    """

    title: ClassVar[str] = "The toy tables of the slides on background knowledge"
    source: ClassVar[str] = f"{PAPER}, slides on marks and on ten purchases"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Work out the examples."""
        toy = _history()
        by_baskets = measure_risks(toy)[5].value
        return Findings(
            (*_marks_lines(), *_risk_lines(toy), *_count_lines(toy.frame)),
            remarks=(
                f"Met by baskets, as in the experiment, attacker 5 has a risk of {by_baskets:.4f}, 3/7, in place of "
                "8/15: B's three rows of the second day are then one purchase.",
            ),
        )


def _history() -> History:
    frame = pl.DataFrame(list(ROWS), schema=["customer", "day", "item"], orient="row")
    dated = frame.with_columns(date=pl.date(2010, 12, "day"), price=pl.lit(1.0), quantity=pl.lit(1))
    return History.of(dated.drop("day"))


def _marks_lines() -> list[StudyLine]:
    marks = pl.DataFrame(list(MARKS), schema=["maths", "English", "physics"], orient="row")
    known = {
        "nothing": pl.lit(True),
        "50 in English": pl.col("English") == 50,
        "10 in physics": pl.col("physics") == 10,
    }
    chances = [1 / marks.filter(fits).height for fits in known.values()]
    return [
        StudyLine.near(f"chance to name a student, {what} known", published, computed, within=0, why=EXACT)
        for what, published, computed in zip(known, (1 / 8, 1 / 4, 1 / 2), chances, strict=True)
    ]


def _risk_lines(toy: History) -> list[StudyLine]:
    days = toy.frame.group_by("date").agg(share=pl.len() / toy.n_rows, n=pl.col("customer").n_unique()).sort("date")
    parts = [share / n for share, n in days.select("share", "n").iter_rows()]
    lines = [
        StudyLine.near(f"attacker 5, part of day {day}", published, computed, within=0, why=EXACT)
        for day, published, computed in zip((1, 2, 3), (1 / 10, 3 / 10, 4 / 30), parts, strict=True)
    ]
    measured, predicted = measure_risks(toy, met="rows")[5].value, predict_risks(toy)[5]
    first, hundred = pl.col("date") == pl.date(2010, 12, 1), pl.col("item") == "100"
    share = {
        "days": toy.frame.filter(first).height / toy.n_rows,
        "items": toy.frame.filter(hundred).height / toy.n_rows,
        "both": toy.frame.filter(first & hundred).height / toy.n_rows,
    }
    return [
        *lines,
        StudyLine.near("attacker 5, measured, 8/15", 8 / 15, measured, within=0, why=EXACT),
        StudyLine.near("attacker 5, by theory", 0.3, predicted, within=0, why=EXACT),
        StudyLine.near("Pr(day 1) Pr(item 100)", 0.15, share["days"] * share["items"], within=0, why=EXACT),
        StudyLine.near("Pr(day 1, item 100)", 0.2, share["both"], within=0, why=EXACT),
    ]


def _count_lines(frame: pl.DataFrame) -> list[StudyLine]:
    counts = {(item, day.day): n for item, day, n in frame.group_by("item", "date").len().iter_rows()}
    lines = []
    for item, printed in PRINTED_COUNTS.items():
        for day, published in enumerate(printed, 1):
            computed = counts.get((item, day), 0)
            why = COUNTED if computed == published else MISCOUNTED
            what = f"purchases of item {item} on day {day}"
            lines.append(StudyLine.near(what, published, computed, within=0, why=why, digits=0))
    return lines
