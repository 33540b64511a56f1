"""What organizers do: change the schedule and the board of a contest, tell and invite teams."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.access import UserRequest, access
from tokumei.platform.contests.forms import AnnouncementForm, BoardForm, InvitationForm, ScheduleForm
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import contests, joining
from tokumei.platform.contests.views.console import organize_page, teams_page
from tokumei.platform.contests.views.finding import find


@access("organizer", of=find)
def organize(request: UserRequest, contest: Contest) -> HttpResponse:
    """Show what an organizer can do."""
    return organize_page(request, contest)


@access("organizer", of=find, methods="POST")
def schedule(request: UserRequest, contest: Contest) -> HttpResponse:
    """Move the phases that have not begun."""
    form = ScheduleForm(request.POST)
    if form.is_valid():
        try:
            contests.change_schedule(contest, **_with_seconds(contest, form.cleaned_data), by=request.user)
        except NotAllowed as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The schedule is changed."))
            return redirect("contests:organize", contest=contest.slug)
    return organize_page(request, contest, schedule_form=form)


def _with_seconds(contest: Contest, moments: dict[str, datetime]) -> dict[str, datetime]:
    """Restore the seconds, which the form cuts off, of moments that were left unchanged."""
    kept = {name: getattr(contest, name) for name in moments}
    return {
        name: kept[name] if kept[name].replace(second=0, microsecond=0) == moment else moment
        for name, moment in moments.items()
    }


@access("organizer", of=find, methods="POST")
def board(request: UserRequest, contest: Contest) -> HttpResponse:
    """Choose what teams see of scores."""
    form = BoardForm(request.POST)
    if form.is_valid():
        contests.change_board(contest, **form.cleaned_data, by=request.user)
        messages.success(request, _("The scoreboard is changed."))
        return redirect("contests:organize", contest=contest.slug)
    return organize_page(request, contest, board_form=form)


@access("organizer", of=find, methods="POST")
def announce(request: UserRequest, contest: Contest) -> HttpResponse:
    """Announce something to everybody."""
    form = AnnouncementForm(request.POST)
    if form.is_valid():
        contests.announce(contest, **form.cleaned_data, by=request.user)
        messages.success(request, _("The announcement is on the contest's page."))
        return redirect("contests:organize", contest=contest.slug)
    return organize_page(request, contest, announcement_form=form)


@access("organizer", of=find, methods="POST")
def invite(request: UserRequest, contest: Contest) -> HttpResponse:
    """Make a link for one team and show it, this once."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return teams_page(request, contest, invitation_form=form)
    _invitation, token = joining.invite(contest, form.cleaned_data["note"], by=request.user)
    link = request.build_absolute_uri(reverse("contests:join_by_link", kwargs={"token": token}))
    return teams_page(request, contest, link=link)


@access("organizer", of=find, methods="POST")
def revoke(request: UserRequest, contest: Contest, invitation: int) -> HttpResponse:
    """Make a link void."""
    joining.revoke_invitation(contest, invitation, request.user)
    messages.success(request, _("The invitation is revoked."))
    return redirect("contests:teams", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def withdraw(request: UserRequest, contest: Contest, participation: int) -> HttpResponse:
    """Take a team out."""
    found = joining.participants(contest).filter(pk=participation).first()
    if found is None:
        raise NotFound(_("There is no such team."))
    joining.withdraw(found, request.user)
    messages.success(request, _("The team takes part no more."))
    return redirect("contests:teams", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def retry(request: UserRequest, contest: Contest) -> HttpResponse:
    """Try again what failed between two phases."""
    contests.retry_work(contest, request.user)
    messages.success(request, _("It is tried again."))
    return redirect("contests:organize", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def delete(request: UserRequest, contest: Contest) -> HttpResponse:
    """Remove a contest without submissions."""
    contests.delete_contest(contest)
    messages.success(request, _("The contest is removed."))
    return redirect("contests:list")
