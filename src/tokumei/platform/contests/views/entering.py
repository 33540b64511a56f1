"""Coming into a contest from its own page: a new team, or one that invited somebody, and back again."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.access import UserRequest, access
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import joining
from tokumei.platform.contests.views.finding import find
from tokumei.platform.contests.views.reading import contest_page
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.forms import TeamForm


@access("user", of=find, methods="POST")
def make_team(request: UserRequest, contest: Contest) -> HttpResponse:
    """Make a team and enter it, or make it and invite others first."""
    form = TeamForm(request.POST)
    if not form.is_valid():
        return contest_page(request, contest, form)
    given = form.cleaned_data
    if request.POST.get("then") == "invite":
        team = teams.create_team(request.user, slug=given["slug"], display_name=given["display_name"])
        said = _("The team is made. Invite others to it here, then enter it in %(contest)s.")
        messages.success(request, said % {"contest": contest.title})
        return redirect("teams:team", team=team.slug)
    try:
        # Both or neither: a team that may not take part is not left behind.
        with transaction.atomic():
            team = teams.create_team(request.user, slug=given["slug"], display_name=given["display_name"])
            joining.join(contest, team, request.user)
    except NotAllowed as error:
        form.add_error(None, str(error))
        return contest_page(request, contest, form)
    messages.success(request, _("Your team takes part now."))
    return redirect("contests:contest", contest=contest.slug)


@access("user", of=find, methods="POST")
def join_team(request: UserRequest, contest: Contest) -> HttpResponse:
    """Come into a team by the link that its captain sent, and stay in the contest."""
    token = request.POST.get("link", "").strip().rstrip("/").rpartition("/")[2]
    try:
        team = teams.accept(request.user, token)
    except (NotFound, NotAllowed) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("You are in the team %(team)s now.") % {"team": team.display_name})
    return redirect("contests:contest", contest=contest.slug)
