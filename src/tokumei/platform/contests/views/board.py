"""The scoreboard and its figures."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from tokumei.contest.edition import ContestTerms
from tokumei.platform.access import access
from tokumei.platform.contests.figures import BEHIND, FIGURES, ScoreFacts, draw, facts_of, figures_on_page
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.views.finding import find, frame
from tokumei.platform.contests.words import knowledge_levels, meanings_of, name_in_words, remark_in_words


@access("anyone", of=find)
def scoreboard(request: HttpRequest, contest: Contest) -> HttpResponse:
    """Show who stands where, as far as the visitor may know."""
    facts = facts_of(contest, request.user if request.user.is_authenticated else None)
    board = facts.board
    columns = list(dict.fromkeys(name for line in board.lines for name in line.numbers))
    terms = terms_of(contest)
    meanings = meanings_of(terms)
    shown = frame(request, contest) | {
        "board": board,
        "columns": [(name, name_in_words(name, terms)) for name in columns],
        "meanings": [(name_in_words(name, terms), meanings[name]) for name in columns if name in meanings],
        "attacked": _attacked(facts, terms),
        "rule": terms.attack_rule,
        "remarks": {line.team: remark_in_words(line, board.names) for line in board.lines if line.reason},
        "figures": figures_on_page(facts),
    }
    return render(request, "contests/scoreboard.html", shown)


@dataclass(frozen=True)
class AttackedRelease:
    """A release with the guesses at it: who, with which knowledge, how well; what they come to all together."""

    name: str
    found: float
    guesses: list[tuple[str, str, float]]


def _attacked(facts: ScoreFacts, terms: ContestTerms) -> list[AttackedRelease]:
    """Return the attackers of each release in the order of the board; levels are named by their files."""
    levels = knowledge_levels(terms)
    releases = []
    for line in facts.board.lines:
        made = [one for one in facts.attacks_on if one.target == line.team]
        if made:
            found = terms.attack_rule.found((one.level, one.success) for one in made)
            guesses = [(facts.name(one.attacker), levels.get(one.level, one.level), one.success) for one in made]
            releases.append(AttackedRelease(facts.name(line.team), found, guesses))
    return releases


@access("anyone", of=find)
def figure(request: HttpRequest, contest: Contest, name: str) -> HttpResponse:
    """Draw one figure of the scoreboard."""
    if name not in FIGURES:
        raise Http404
    svg = draw(name, contest, request.user if request.user.is_authenticated else None)
    if svg is None:
        raise Http404
    response = HttpResponse(svg, content_type="image/svg+xml")
    # What one visitor may see, another may not.
    response["Cache-Control"] = f"private, max-age={BEHIND}"
    return response
