"""The scoreboard and its figures."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from tokumei.platform.access import access
from tokumei.platform.contests.figures import FIGURES, draw, facts_of, figures_on_page
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.views.finding import find, frame
from tokumei.platform.contests.words import meanings_of, remark_in_words


@access("anyone", of=find)
def scoreboard(request: HttpRequest, contest: Contest) -> HttpResponse:
    """Show who stands where, as far as the visitor may know."""
    facts = facts_of(contest, request.user if request.user.is_authenticated else None)
    board = facts.board
    columns = list(dict.fromkeys(name for line in board.lines for name in line.numbers))
    meanings = meanings_of(terms_of(contest))
    shown = frame(request, contest) | {
        "board": board,
        "columns": columns,
        "meanings": [(name, meanings[name]) for name in columns if name in meanings],
        "remarks": {line.team: remark_in_words(line, board.names) for line in board.lines if line.reason},
        "figures": figures_on_page(facts),
    }
    return render(request, "contests/scoreboard.html", shown)


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
    response["Cache-Control"] = "private, max-age=10"
    return response
