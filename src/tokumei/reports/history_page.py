"""Pages on histories: the report of a release, and what knowledge is worth.

The report tells what use is left, who is found by whom, and how other ways would fare. The page on knowledge has ten
attackers, measured and predicted.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tokumei.attacks.history.attackers import AS_STATED, ATTACKERS, knowledge_points
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.reports.evaluation import CONTEST_UTILITIES, Evaluation
from tokumei.reports.figures import crowd_figure, frontier_figure, line_figure
from tokumei.reports.page import Page

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


MOST_EXPOSED = 20
# Of the counts of an attack those that a reader needs.
CAPTIONS = {
    "found": "Share of a customer's months in which they are named rightly, on average: 0 is nobody, 1 is everybody.",
    "row": "Share of customers who are named rightly in every month.",
    "transaction": "Share of the published purchases whose customer is named rightly; a pseudonym given to several "
    "is shared.",
}


def history_page(
    title: str,
    evaluation: Evaluation,
    swept: pl.DataFrame | None = None,
    *,
    introduction: str | None = None,
    audit: Mapping[str, Any] | None = None,
) -> Page:
    """Make the page; with the results of a sweep it ends with the frontier of use and safety."""
    page = Page(title)
    if introduction is not None:
        page.paragraph(introduction)
    lost, measured = evaluation.contest_utility, set(CONTEST_UTILITIES) & set(evaluation.utility)
    if lost is None:
        worst = f"No loss could be measured: {evaluation.why_left_out(CONTEST_UTILITIES)}."
    elif len(measured) == len(CONTEST_UTILITIES):
        worst = f"The worst of the contest's seven losses is {lost:.3f}."
    else:
        worst = (
            f"The worst of those {len(measured)} of the contest's seven losses that could be measured is {lost:.3f}."
        )
    if evaluation.attacks.height:
        least = evaluation.least_known
        attack, share = evaluation.best_attack(least)
        given = evaluation.attribution.get(least)
        rows = (
            "" if given is None else f" Of the purchases not known, {given.rows.value:.1%} are given to their buyers."
        )
        worst = (
            f"The best attack that knows {least} % of the purchases, {attack}, names a customer rightly in {share:.1%} "
            f"of their months on average.{rows} {worst}"
        )
    page.paragraph(worst)
    _add_utility(page, evaluation)
    if audit is not None:
        _add_audit(page, audit)
    if evaluation.attacks.height:
        _add_attacks(page, evaluation)
        _add_exposed(page, evaluation)
    if evaluation.attribution:
        _add_attribution(page, evaluation)
    if evaluation.left_out:
        page.heading("What was left out")
        left_out = [list(pair) for pair in evaluation.left_out.items()]
        page.table(["measure or attack", "because"], left_out, "Not measured, so neither good nor bad.")
    if swept is not None:
        add_frontier(page, swept)
    return page


def add_frontier(page: Page, swept: pl.DataFrame) -> None:
    """Add the figure and the table of a sweep."""
    page.heading("What safety costs")
    for why in dict.fromkeys(swept["left_out"].drop_nulls() if "left_out" in swept.columns else []):
        page.paragraph(f"Left out: {why}.")
    if swept["is_on_frontier"].any():
        _add_frontier_figure(page, swept)
    ordered = swept.sort("found", "utility")
    page.table(
        ["way", "use lost", "customers found", "by", "purchases attributed", "on the frontier"],
        [
            [
                one["name"],
                *("left out" if one[name] is None else one[name] for name in ("utility", "found")),
                one["attack"] or "",
                "" if one.get("attributed") is None else one["attributed"],
                "yes" if one["is_on_frontier"] else "",
            ]
            for one in ordered.iter_rows(named=True)
        ],
        "Ways to anonymize, the safest first.",
    )


def _add_frontier_figure(page: Page, swept: pl.DataFrame) -> None:
    page.figure(
        frontier_figure(
            swept,
            x="utility",
            y="found",
            is_best="is_on_frontier",
            x_title="use lost (worst of the losses measured)",
            y_title="customers found by the best attack",
        ),
        "Every point is one way to anonymize. On the line are those that no other beats in both.",
    )


def _add_audit(page: Page, audit: Mapping[str, Any]) -> None:
    page.heading("What attacks find of rows of nobody")
    rows = [[one["attack"], *(one[name] for name in ("found", "beyond", "low", "most"))] for one in audit["findings"]]
    page.table(
        ["attack", "found", "beyond others", "at least", "at most allowed"],
        rows,
        "Shares of customers whom the method knew, and how far they lie above those of customers whom it did not.",
    )


def _add_utility(page: Page, evaluation: Evaluation) -> None:
    page.heading("What use is left")
    rows = []
    for name, score in evaluation.utility.items():
        meaning = (inspect.getdoc(HISTORY_UTILITIES.get(name)) or "").split("\n")[0]
        rows.append([name, float(score.value), meaning])
    page.table(["measure", "loss", "what it says"], rows, "Losses: 0 is as useful as the original.")


def attack_figure(evaluation: Evaluation) -> str:
    """Draw the share of customers found against what is known."""
    points = evaluation.attacks.with_columns(share=pl.col("known").cast(pl.Float64) / 100)
    return line_figure(
        points,
        x="share",
        y="found",
        series="attack",
        x_title="share of purchases the attacker knows",
        y_title="customers found",
        series_title="attack",
    )


def _add_attacks(page: Page, evaluation: Evaluation) -> None:
    page.heading("Who is found")
    page.figure(
        attack_figure(evaluation),
        f"{CAPTIONS['found']} Lower is safer.",
    )
    for count, caption in CAPTIONS.items():
        wide = evaluation.attacks.pivot("known", index="attack", values=count)
        page.table(
            ["attack", *(f"{known} % known" for known in wide.columns[1:])],
            [list(row) for row in wide.iter_rows()],
            caption,
        )


def _add_attribution(page: Page, evaluation: Evaluation) -> None:
    page.heading("Whose purchases are known")
    rows = [
        [
            f"{known} %",
            found.rows.value,
            *(("", "") if found.shared is None else (found.shared.value, found.shared.baseline or 0.0)),
            found.claims.value,
            found.customers.value,
        ]
        for known, found in evaluation.attribution.items()
    ]
    page.table(
        [
            "known",
            "rows given to their buyer",
            "where pseudonyms are shared",
            "guessed there",
            "claims right",
            "customers with 4/5 of their rows",
        ],
        rows,
        "Of the published rows that were not known before, whatever pseudonym they stand under. Where customers share "
        "pseudonyms, somebody who knows with whom may guess among them.",
    )


def _add_exposed(page: Page, evaluation: Evaluation) -> None:
    page.heading("Who is most exposed")
    rows = [list(row) for row in evaluation.exposed.head(MOST_EXPOSED).iter_rows()]
    page.table(
        ["customer", "months with purchases", "share of months found, over all attacks"],
        rows,
        "Look at these customers first. This page names them, so keep it to yourself.",
    )
