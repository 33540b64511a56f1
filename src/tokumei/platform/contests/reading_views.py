"""What everybody reads: the list of contests, a contest, its rules, its files, the scoreboard and its figures.

`find` and `frame` come first: every page of a contest finds what its address names by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from tokumei.contest.edition import ContestTerms
from tokumei.core.errors import NotFound
from tokumei.core.text import Json
from tokumei.platform.access import UserRequest, access
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.figures import BEHIND, FIGURES, ScoreFacts, draw, facts_of, figures_on_page
from tokumei.platform.contests.models import Contest, Participation, Phase, Submission
from tokumei.platform.contests.services.joining import (
    my_contests,
    organized_by,
    participants,
    participation_of,
    teams_to_join_with,
    teams_without_captaincy,
)
from tokumei.platform.contests.services.rulebook import disqualified, terms_of
from tokumei.platform.contests.services.scoreboard import listed, open_first, winners_of
from tokumei.platform.contests.services.showing import (
    downloads,
    export_folder,
    find_download,
    find_submission,
    first_steps,
    glance_at,
    has_kit,
    kit_file,
)
from tokumei.platform.contests.services.visibility import bound_of, find_contest, is_organizer, visible_contests
from tokumei.platform.contests.words import knowledge_levels, meanings_of, name_in_words, remark_in_words
from tokumei.platform.pages.apps import PageSection
from tokumei.platform.teams.models import Role
from tokumei.platform.teams.views import TeamForm

# The phases in which a team may still leave.
BEFORE_ATTACKS = (Phase.PREPARING, Phase.UPCOMING, Phase.ANONYMIZE)


def find(request: HttpRequest, level: str, contest: str, **_: object) -> dict[str, object]:
    """Find a contest; members get their team's part in it as well, and only its organizer gets beyond `organizer`."""
    user = request.user if request.user.is_authenticated else None
    try:
        found = find_contest(user, contest)
    except NotFound:
        raise Http404 from None
    if level == "organizer" and not is_organizer(found, user):
        raise Http404
    if level != "member":
        return {"contest": found}
    participation = participation_of(found, user)
    if participation is None:
        raise Http404
    return {"contest": found, "participation": participation}


def find_one(request: UserRequest, level: str, submission: str, **_: object) -> dict[str, Submission]:
    """Find a submission of one of the user's teams, or of a contest they organize."""
    try:
        return {"submission": find_submission(request.user, submission)}
    except NotFound:
        raise Http404 from None


def is_captain(participation: Participation, user: User) -> bool:
    """Whether somebody leads the team that takes part."""
    return participation.team.memberships.filter(user=user, role=Role.CAPTAIN).exists()


def frame(request: HttpRequest, contest: Contest) -> Json:
    """Return the context of the head of every contest page."""
    user = request.user if request.user.is_authenticated else None
    return {
        "contest": contest,
        "phase": contest.phase_at(),
        "participation": participation_of(contest, user),
        "is_organizer": is_organizer(contest, user),
        # Only pages that show them ask for them.
        "disqualified": partial(disqualified, contest),
    }


ON_A_PAGE = 20
ON_HOME = 6


@access("anyone")
def contests(request: HttpRequest) -> HttpResponse:
    """List the contests that the visitor may know of."""
    found = open_first(visible_contests(request.user if request.user.is_authenticated else None))
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "contests/list.html", {"page": page, "listed": listed(page.object_list)})


def on_home(request: HttpRequest) -> PageSection | None:
    """Show some contests on the home page, open ones first."""
    found = listed(open_first(visible_contests(request.user if request.user.is_authenticated else None))[:ON_HOME])
    return PageSection("contests/on_home.html", {"listed": found}) if found else None


def on_dashboard(request: HttpRequest) -> PageSection | None:
    """Show somebody their own contests, and what waits for them there."""
    user = request.user
    if not user.is_authenticated:
        return None
    return PageSection("contests/dashboard.html", {"mine": my_contests(user), "organized": organized_by(user)})


@access("anyone", of=find)
def contest(request: HttpRequest, contest: Contest) -> HttpResponse:
    """Show a contest: where it stands, what is announced, who takes part."""
    return contest_page(request, contest)


def contest_page(request: HttpRequest, contest: Contest, form: TeamForm | None = None) -> HttpResponse:
    """Show the page of a contest; `form` is that of a new team, with its faults where there are some."""
    framed = frame(request, contest)
    phase, participation = framed["phase"], framed["participation"]
    user = request.user if request.user.is_authenticated else None
    is_open = phase not in (Phase.CLOSING, Phase.CLOSED)
    enters = user if is_open and participation is None else None
    shown = framed | {
        "terms": terms_of(contest),
        "announcements": contest.announcements.all()[:ON_A_PAGE],
        "participants": participants(contest),
        "teams": [] if enters is None else teams_to_join_with(contest, enters),
        "is_open": is_open,
        "can_withdraw": phase in BEFORE_ATTACKS and bool(participation and user and is_captain(participation, user)),
        "has_folder": contest.folder.is_dir(),
        "winners": winners_of(contest),
        "is_joinable": phase in BEFORE_ATTACKS,
        "waiting_teams": [] if enters is None else teams_without_captaincy(contest, enters),
        "team_form": form or TeamForm(),
    }
    return render(request, "contests/contest.html", shown)


@access("anyone", of=find)
def rules(request: HttpRequest, contest: Contest) -> HttpResponse:
    """Show the rules in words, made from what the edition states."""
    terms = terms_of(contest)
    bound = bound_of(contest, len(terms.knowledge_files), participants(contest).count())
    return render(request, "contests/rules.html", frame(request, contest) | {"terms": terms, "bound": bound})


@access("anyone", of=find)
def data(request: HttpRequest, contest: Contest) -> HttpResponse:
    """List the files that the visitor may have now."""
    found = downloads(contest, request.user if request.user.is_authenticated else None)
    kinds = {
        kind: [(one, glance_at(one.path)) for one in found if one.kind == kind]
        for kind in ("data", "own", "knowledge", "release")
    }
    names = dict(contest.participations.values_list("team__slug", "team__display_name"))
    shown = frame(request, contest) | {"kinds": kinds, "names": names, "has_kit": has_kit(contest)}
    return render(request, "contests/data.html", shown | first_steps(contest))


@access("anyone", of=find)
def file(request: HttpRequest, contest: Contest, kind: str, name: str, team: str = "") -> FileResponse:
    """Send a file of the contest."""
    user = request.user if request.user.is_authenticated else None
    found = find_download(contest, user, kind, name, team)
    prefix = f"{contest.slug}-{team}-" if team else f"{contest.slug}-"
    return FileResponse(found.path.open("rb"), as_attachment=True, filename=f"{prefix}{name}")


@access("anyone", of=find)
def kit(request: HttpRequest, contest: Contest) -> FileResponse:
    """Send all that a team needs as one file."""
    found = kit_file(contest, request.user if request.user.is_authenticated else None)
    return FileResponse(found.open("rb"), as_attachment=True, filename=f"{contest.slug}-kit.zip")


@access("anyone", of=find)
def export(request: HttpRequest, contest: Contest) -> FileResponse:
    """Send the folder of a closed contest, to be replayed by anybody."""
    packed = export_folder(contest, request.user if request.user.is_authenticated else None)
    return FileResponse(packed, as_attachment=True, filename=f"{contest.slug}.zip", content_type="application/zip")


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
