"""What everybody reads: the list of contests, a contest, its rules, its files."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render

from tokumei.platform.access import access
from tokumei.platform.contests.kits import has_kit, kit_file
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services.bands import bound_of
from tokumei.platform.contests.services.contests import visible_contests
from tokumei.platform.contests.services.dashboard import my_contests, organized_by
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.services.export import export_folder
from tokumei.platform.contests.services.first_steps import first_steps, glance_at
from tokumei.platform.contests.services.joining import (
    participants,
    teams_to_join_with,
    teams_without_captaincy,
)
from tokumei.platform.contests.services.listing import listed, open_first, winners_of
from tokumei.platform.contests.services.showing import downloads, find_download
from tokumei.platform.contests.views.finding import BEFORE_ATTACKS, find, frame, is_captain
from tokumei.platform.pages.slots import PageSection
from tokumei.platform.teams.forms import TeamForm

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
        for kind in ("data", "knowledge", "release")
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
