"""The results of a contest as a page: the ranking, utility against safety, and the matrix of attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from tokumei.contest.edition import AttackRule, ContestTerms, Standing, TeamEntry
from tokumei.contest.places import rank_attackers
from tokumei.report.contest_figures import attack_figure, standings_figure
from tokumei.report.page import Page


def results_page(
    terms: ContestTerms, entries: Sequence[TeamEntry], standings: Sequence[Standing], *, introduction: str
) -> Page:
    """Make the page of a contest that is over, or as it stands."""
    page = Page(f"{terms.title}: results")
    page.paragraph(introduction)
    page.paragraph(terms.summary)
    page.heading("Ranking")
    columns, rows = ranking_table(standings)
    page.table(columns, [["–" if cell is None else cell for cell in row] for row in rows], "The best team first.")
    for standing in standings:
        if standing.reason:
            page.paragraph(f"{standing.team}: {standing.reason}")
    page.heading("Utility and safety")
    page.figure(
        utility_and_safety_svg(entries, standings),
        "What each release lost, and what attackers found; grey: not ranked.",
    )
    if any(entry.attempts for entry in entries):
        page.heading("Who found whom")
        rule = terms.attack_rule
        said = f"What each attacker found in each release: {rule.says}."
        page.figure(attack_matrix_svg(entries, standings, rule), said)
        page.table(*_attack_table(entries), "The best attack on each release, by what is known.")
        page.heading("Attackers")
        page.table(*attacker_table(entries), "Mean over the releases of others of the best success on each.")
    return page


def ranking_table(standings: Sequence[Standing]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of a scoreboard; reasons are sentences, which do not fit into a table."""
    names = list(dict.fromkeys(name for standing in standings for name in standing.numbers))
    rows = [
        [
            *(standing.place, standing.team, standing.value, standing.utility, standing.safety),
            *(standing.numbers.get(name) for name in names),
        ]
        for standing in standings
    ]
    return ["place", "team", "value", "utility", "safety", *names], rows


def attacker_table(entries: Sequence[TeamEntry]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of the board of attackers."""
    rows = [[line.place, line.team, line.found, line.n_attacked] for line in rank_attackers(entries)]
    return ["place", "attacker", "found", "releases attacked"], rows


def utility_and_safety_svg(entries: Sequence[TeamEntry], standings: Sequence[Standing]) -> str:
    """Draw each team by its loss of use and its loss of safety.

    Where an edition gives no number for safety, it is the success of the best attack.
    """
    found = {entry.team: max((one.score.success for one in entry.attempts), default=0.0) for entry in entries}
    points = pl.DataFrame(
        {
            "team": [standing.team for standing in standings],
            "utility": [float(standing.utility) for standing in standings],
            "safety": [
                float(found[standing.team] if standing.safety is None else standing.safety) for standing in standings
            ],
            "is_ranked": [standing.value is not None for standing in standings],
        },
        schema={"team": pl.String, "utility": pl.Float64, "safety": pl.Float64, "is_ranked": pl.Boolean},
    )
    return standings_figure(points, x_title="use lost", y_title="safety lost")


def attack_matrix_svg(entries: Sequence[TeamEntry], standings: Sequence[Standing], rule: AttackRule) -> str:
    """Draw what each attacker found in each release by the rule, the releases in the order of the ranking."""
    places = {standing.team: number for number, standing in enumerate(standings)}
    cells = []
    for entry in sorted(entries, key=lambda entry: places.get(entry.team, len(places))):
        for attacker in dict.fromkeys(one.attacker for one in entry.attempts):
            guesses = ((one.knowledge, one.score.success) for one in entry.attempts if one.attacker == attacker)
            cells.append({"attacker": attacker, "target": entry.team, "success": float(rule.found(guesses))})
    found = pl.DataFrame(cells, schema={"attacker": pl.String, "target": pl.String, "success": pl.Float64})
    return attack_figure(found, attacker_title="attacker", target_title="release of", success_title="found")


def _attack_table(entries: Sequence[TeamEntry]) -> tuple[list[str], list[list[Any]]]:
    levels = list(dict.fromkeys(one.knowledge for entry in entries for one in entry.attempts))
    rows: list[list[Any]] = []
    for entry in entries:
        row: list[Any] = [entry.team]
        for level in levels:
            attempts = [one for one in entry.attempts if one.knowledge == level]
            best = max(attempts, key=lambda one: one.score.success, default=None)
            row.append("–" if best is None else f"{best.score.success:.3f} ({best.attacker})")
        rows.append(row)
    return ["release of", *(f"knowledge {level}" if level else "best attack" for level in levels)], rows
