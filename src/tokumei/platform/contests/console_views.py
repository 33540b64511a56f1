"""The organizers' console: what is going on in a contest, and every change to it, each with a line in the log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import find_user
from tokumei.platform.contests import forms as asked
from tokumei.platform.contests.forms import AnnouncementForm, BoardForm, InvitationForm, ScheduleForm
from tokumei.platform.contests.models import FINAL_STATES, Contest, Kind, Participation, Phase, State, Submission
from tokumei.platform.contests.reading_views import BEFORE_ATTACKS, find, frame
from tokumei.platform.contests.services import contests, joining, steering
from tokumei.platform.contests.services.steering import TABLES, as_csv, statistics_of
from tokumei.platform.contests.words import in_words
from tokumei.platform.messages import describe_error

ON_A_PAGE = 50
MOVES = {Phase.UPCOMING: "open", Phase.ANONYMIZE: "attack", Phase.ATTACK: "close"}


def organize_page(request: UserRequest, contest: Contest, **forms_given: forms.Form) -> HttpResponse:
    """Show the first page of the console, with forms as they were filled in where one of them is wrong."""

    def initial(*names: str) -> dict[str, object]:
        return {name: getattr(contest, name) for name in names}

    given = {
        "schedule_form": asked.ScheduleForm(initial=initial("opens_at", "attacks_open_at", "closes_at")),
        "board_form": asked.BoardForm(initial=initial("board", "digits_shown", "shows_guess_scores")),
        "announcement_form": asked.AnnouncementForm(),
        "texts_form": asked.TextsForm(initial=initial(*steering.TEXTS)),
        "limits_form": asked.LimitsForm(initial=initial(*steering.LIMITS)),
        "organizer_form": asked.CoOrganizerForm(),
    } | forms_given
    shown = {
        "move": MOVES.get(contest.phase_at(), ""),
        "statistics": statistics_of(contest),
        "co_organizers": contest.co_organizers.order_by("username"),
        "has_folder": contest.folder.is_dir(),
        "can_remove": not contest.submissions.exists(),
    }
    status = 400 if forms_given else 200
    return render(request, "contests/organize.html", frame(request, contest) | given | shown, status=status)


def teams_page(request: UserRequest, contest: Contest, link: str = "", **forms_given: forms.Form) -> HttpResponse:
    """Show the teams and the invitations."""
    shown = {
        "link": link,
        "invitation_form": asked.InvitationForm(),
        "invitations": joining.open_invitations(contest),
        "participants": joining.participants(contest),
        "disqualify_form": asked.DisqualifyForm(),
        "message_form": asked.MessageForm(contest=contest),
        "statistics": statistics_of(contest),
        "can_withdraw": contest.phase_at() in BEFORE_ATTACKS,
    }
    status = 400 if forms_given else 200
    return render(request, "contests/organize_teams.html", frame(request, contest) | shown | forms_given, status=status)


@access("organizer", of=find, methods="POST")
def phase(request: UserRequest, contest: Contest) -> HttpResponse:
    """Begin the next phase now; the form names it, so that a stale page does not close the wrong one."""
    if request.POST.get("move") != MOVES.get(contest.phase_at(), "") or not request.POST.get("move"):
        raise NotAllowed(_("The contest is in another phase by now. Look at the page again."))
    contests.begin_next_phase(contest, request.user)
    return redirect_saying(request, _("The next phase begins."), "contests:organize", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def hold(request: UserRequest, contest: Contest) -> HttpResponse:
    """Hold the results back, or let everybody see them."""
    is_held = request.POST.get("hold") == "yes"
    steering.hold_results(contest, request.user, is_held=is_held)
    messages.success(request, _("The results are held back.") if is_held else _("The results are not held back."))
    return redirect("contests:organize", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def texts(request: UserRequest, contest: Contest) -> HttpResponse:
    """Change title and descriptions."""
    form = asked.TextsForm(request.POST)
    if not form.is_valid():
        return organize_page(request, contest, texts_form=form)
    steering.change_texts(contest, request.user, **form.cleaned_data)
    return redirect_saying(request, _("The texts are changed."), "contests:organize", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def limits(request: UserRequest, contest: Contest) -> HttpResponse:
    """Change how often teams may try."""
    form = asked.LimitsForm(request.POST)
    if form.is_valid():
        try:
            steering.change_limits(contest, request.user, **form.cleaned_data)
        except InputError as error:
            form.add_error("guesses_on_one", describe_error(error))
        else:
            return redirect_saying(request, _("The limits are changed."), "contests:organize", contest=contest.slug)
    return organize_page(request, contest, limits_form=form)


@access("organizer", of=find, methods="POST")
def organizers(request: UserRequest, contest: Contest) -> HttpResponse:
    """Add or remove a co-organizer."""
    form = asked.CoOrganizerForm(request.POST)
    if form.is_valid():
        user = find_user(form.cleaned_data["username"])
        try:
            _change_organizers(request, contest, user)
        except NotAllowed as error:
            form.add_error("username", str(error))
        else:
            return redirect_saying(request, _("Saved."), "contests:organize", contest=contest.slug)
    return organize_page(request, contest, organizer_form=form)


def _change_organizers(request: UserRequest, contest: Contest, user: User | None) -> None:
    if user is None or not user.is_active:
        raise NotAllowed(_("There is nobody of this name."))
    if request.POST.get("do") == "remove":
        steering.remove_co_organizer(contest, request.user, user)
    else:
        steering.add_co_organizer(contest, request.user, user)


@access("organizer", of=find)
def teams(request: UserRequest, contest: Contest) -> HttpResponse:
    """Show the teams and the invitations."""
    return teams_page(request, contest)


@access("organizer", of=find, methods="POST")
def message(request: UserRequest, contest: Contest) -> HttpResponse:
    """Write to some teams."""
    form = asked.MessageForm(request.POST, contest=contest)
    if not form.is_valid():
        return teams_page(request, contest, message_form=form)
    chosen = [form.named[slug] for slug in form.cleaned_data["teams"]]
    steering.write_to_teams(contest, request.user, chosen, form.cleaned_data["text"])
    return redirect_saying(request, _("The message is in their inboxes."), "contests:teams", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def disqualify(request: UserRequest, contest: Contest, participation: int) -> HttpResponse:
    """Disqualify a team."""
    found = _participation(contest, participation)
    form = asked.DisqualifyForm(request.POST)
    if not form.is_valid():
        return teams_page(request, contest, disqualify_form=form)
    steering.disqualify(found, request.user, form.cleaned_data["reason"])
    return redirect_saying(request, _("The team is disqualified."), "contests:teams", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def readmit(request: UserRequest, contest: Contest, participation: int) -> HttpResponse:
    """Readmit a team."""
    steering.readmit(_participation(contest, participation), request.user)
    return redirect_saying(request, _("The team's results count again."), "contests:teams", contest=contest.slug)


def _participation(contest: Contest, number: int) -> Participation:
    found = contest.participations.select_related("team", "contest").filter(pk=number).first()
    if found is None:
        raise Http404
    return found


@access("organizer", of=find)
def submissions(request: UserRequest, contest: Contest) -> HttpResponse:
    """List what was handed in, with scores."""
    found, chosen = _chosen(contest, request.GET)
    page = Paginator(found.select_related("team", "target", "by"), ON_A_PAGE).get_page(request.GET.get("page"))
    shown = {
        "page": page,
        "chosen": chosen,
        "n_found": page.paginator.count,
        "kinds": Kind.choices,
        "states": State.choices,
        "participants": joining.participants(contest),
        "statistics": statistics_of(contest),
    }
    return render(request, "contests/organize_submissions.html", frame(request, contest) | shown)


@access("organizer", of=find, methods="POST")
def rejudge(request: UserRequest, contest: Contest) -> HttpResponse:
    """Evaluate one submission again, or all that the list showed."""
    key = request.POST.get("submission", "")
    found = contest.submissions.filter(key=key) if key else _chosen(contest, request.POST)[0]
    if key and not found.exists():
        raise Http404
    n = steering.rejudge(contest, request.user, found.filter(state__in=FINAL_STATES))
    said_so = ngettext("%(n)d submission is evaluated again.", "%(n)d submissions are evaluated again.", n) % {"n": n}
    return redirect_saying(request, said_so, "contests:all_submissions", contest=contest.slug)


def _chosen(contest: Contest, given: Any) -> tuple[QuerySet[Submission], dict[str, str]]:
    """Find the submissions of a team, a kind and a state; what is not known is not asked for."""
    chosen = {name: given.get(name, "") for name in ("team", "kind", "state")}
    found = contest.submissions.all()
    if chosen["team"]:
        found = found.filter(team__slug=chosen["team"])
    if chosen["kind"] in Kind.values:
        found = found.filter(kind=chosen["kind"])
    if chosen["state"] in State.values:
        found = found.filter(state=chosen["state"])
    return found, chosen


@access("organizer", of=find)
def log(request: UserRequest, contest: Contest) -> HttpResponse:
    """Show who did what to the contest."""
    found = contest.actions.select_related("by")
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    lines = [in_words(action) for action in page.object_list]
    return render(request, "contests/organize_log.html", frame(request, contest) | {"page": page, "lines": lines})


@access("organizer", of=find)
def table(request: UserRequest, contest: Contest, name: str) -> HttpResponse:
    """Send teams, submissions, standings or the log as a table."""
    if name not in TABLES:
        raise Http404
    response = HttpResponse(as_csv(name, contest), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{contest.slug}-{name}.csv"'
    return response


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
            return redirect_saying(request, _("The schedule is changed."), "contests:organize", contest=contest.slug)
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
        return redirect_saying(request, _("The scoreboard is changed."), "contests:organize", contest=contest.slug)
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
    return redirect_saying(request, _("The invitation is revoked."), "contests:teams", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def withdraw(request: UserRequest, contest: Contest, participation: int) -> HttpResponse:
    """Take a team out."""
    found = joining.participants(contest).filter(pk=participation).first()
    if found is None:
        raise NotFound(_("There is no such team."))
    joining.withdraw(found, request.user)
    return redirect_saying(request, _("The team takes part no more."), "contests:teams", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def retry(request: UserRequest, contest: Contest) -> HttpResponse:
    """Try again what failed between two phases."""
    contests.retry_work(contest, request.user)
    return redirect_saying(request, _("It is tried again."), "contests:organize", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def delete(request: UserRequest, contest: Contest) -> HttpResponse:
    """Remove a contest without submissions."""
    contests.delete_contest(contest)
    return redirect_saying(request, _("The contest is removed."), "contests:list")
