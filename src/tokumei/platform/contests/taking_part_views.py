"""Taking part: joining, also with a new team, handing in releases and guesses, and what came of them."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound, TokumeiError
from tokumei.platform.access import UserRequest, access, next_page, redirect_saying, status_of
from tokumei.platform.contests.forms import NoteForm
from tokumei.platform.contests.models import Contest, Kind, Participation, Phase, Submission
from tokumei.platform.contests.reading_views import contest_page, find, find_one, frame, is_captain
from tokumei.platform.contests.services import joining, showing, submitting
from tokumei.platform.contests.services.rulebook import counting_key, terms_of
from tokumei.platform.contests.services.teamwork import can_choose, places_of
from tokumei.platform.contests.words import fault_lines, knowledge_levels, name_in_words, score_tables, whose_purchases
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team
from tokumei.platform.teams.views import TeamForm


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
        return redirect_saying(request, said % {"contest": contest.title}, "teams:team", team=team.slug)
    try:
        # Both or neither: a team that may not take part is not left behind.
        with transaction.atomic():
            team = teams.create_team(request.user, slug=given["slug"], display_name=given["display_name"])
            joining.join(contest, team, request.user)
    except NotAllowed as error:
        form.add_error(None, str(error))
        return contest_page(request, contest, form)
    return redirect_saying(request, _("Your team takes part now."), "contests:contest", contest=contest.slug)


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


ON_A_PAGE = 30
# Said by the script that shows how far an upload is: it wants to know where to go next, not a page.
SCRIPTED = "X-Upload"


@access("user", of=find, methods="POST")
def join(request: UserRequest, contest: Contest) -> HttpResponse:
    """Enter one of the user's teams."""
    _enter(request, contest, token=None)
    return redirect("contests:contest", contest=contest.slug)


@access("user", methods="GET POST")
def join_by_link(request: UserRequest, token: str) -> HttpResponse:
    """Enter a team in a private contest by an organizer's link."""
    contest = joining.invitation_of(token).contest
    if request.method == "POST":
        _enter(request, contest, token)
        return redirect("contests:contest", contest=contest.slug)
    shown = {"contest": contest, "teams": joining.teams_to_join_with(contest, request.user)}
    return render(request, "contests/join.html", shown)


def _enter(request: UserRequest, contest: Contest, token: str | None) -> None:
    team = Team.objects.filter(slug=request.POST.get("team", ""), members=request.user).first()
    if team is None:
        raise Http404
    joining.join(contest, team, request.user, token)
    messages.success(request, _("Your team takes part now."))


@access("member", of=find, methods="POST")
def withdraw(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """Take the team out; its captain does that."""
    if not is_captain(participation, request.user):
        raise Http404
    joining.withdraw(participation)
    return redirect_saying(request, _("Your team takes part no more."), "contests:contest", contest=contest.slug)


@access("member", of=find, methods="GET POST")
def submit(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """Hand in a release."""
    if request.method == "POST":
        return take(
            request,
            "contests:submission",
            lambda: submitting.submit_release(participation, request.user, uploads_of(request)).key,
        )
    shown = frame(request, contest) | {
        "terms": terms_of(contest),
        "roles": terms_of(contest).release_files,
        "attempts": submitting.release_attempts(participation),
        "can_submit": contest.phase_at() == Phase.ANONYMIZE,
    }
    return render(request, "contests/submit.html", shown)


@access("member", of=find)
def targets(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """List the releases of the other teams, with what is left of the attempts at each."""
    levels = knowledge_levels(terms_of(contest))
    attempts = submitting.all_guess_attempts(participation)
    rows = [
        {"team": team, "levels": [(says, attempts[team.pk, level]) for level, says in levels.items()]}
        for team in submitting.targets(participation)
    ]
    shown = frame(request, contest) | {
        "rows": rows,
        "levels": levels.values(),
        "is_attack": contest.phase_at() == Phase.ATTACK,
    }
    return render(request, "contests/targets.html", shown)


@access("member", of=find, methods="GET POST")
def attack(request: UserRequest, contest: Contest, participation: Participation, team: str) -> HttpResponse:
    """Hand in a guess at a team's release."""
    target = next((one for one in submitting.targets(participation) if one.slug == team), None)
    if target is None:
        raise Http404
    if request.method == "POST":
        level = request.POST.get("knowledge", "")
        return take(
            request,
            "contests:submission",
            lambda: submitting.submit_guess(participation, request.user, target, level, uploads_of(request)).key,
        )
    terms = terms_of(contest)
    files = showing.downloads(contest, request.user)
    levels = [
        (one, says, submitting.guess_attempts(participation, target, one))
        for one, says in knowledge_levels(terms).items()
    ]
    shown = frame(request, contest) | {
        "terms": terms,
        "roles": terms.guess_files,
        "target": target,
        "levels": levels,
        "n_left": max(attempts.n_left for _level, _says, attempts in levels),
        "released": [one for one in files if one.kind == "release" and one.team == target.slug],
        "knowledge": [one for one in files if one.kind == "knowledge"],
        "can_submit": contest.phase_at() == Phase.ATTACK,
    }
    return render(request, "contests/attack.html", shown)


@access("member", of=find)
def submissions(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """List what the team handed in."""
    kind = request.GET.get("kind")
    found = showing.submissions_of(participation, kind if kind in Kind.values else None)
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    shown = frame(request, contest) | {
        "page": page,
        "kind": kind,
        "listed": [showing.show(one, request.user, in_a_list=True) for one in page.object_list],
        "counts": counting_key(contest, participation.team_id),
        "places": places_of(contest, participation.team.slug, request.user),
    }
    return render(request, "contests/submissions.html", shown)


@access("user", of=find_one)
def submission(request: UserRequest, submission: Submission) -> HttpResponse:
    """Show what came of a submission."""
    is_own = submission.team.memberships.filter(user=request.user).exists()
    shown = frame(request, submission.contest) | _result(request, submission)
    shown |= {
        "counts": counting_key(submission.contest, submission.team_id) == submission.key,
        "can_choose": is_own and can_choose(submission.contest, submission),
        "note_form": NoteForm(initial={"note": submission.note}) if is_own else None,
    }
    return render(request, "contests/submission.html", shown)


@access("user", of=find_one)
def report(request: UserRequest, submission: Submission) -> HttpResponse:
    """Send the same as one file to keep."""
    response = render(request, "contests/report.html", {"contest": submission.contest} | _result(request, submission))
    response["Content-Disposition"] = f'attachment; filename="{submission.contest.slug}-{submission.key}.html"'
    return response


@access("user", of=find_one)
def state(request: UserRequest, submission: Submission) -> JsonResponse:
    """Return how far the evaluation is, for the waiting page."""
    shown = showing.show(submission, request.user)
    return JsonResponse(
        {
            "state": submission.state,
            "says": submission.get_state_display(),
            "is_final": submission.is_final,
            "progress": shown.progress | {"step": name_in_words(shown.progress.get("step") or "")},
        }
    )


@access("user", of=find_one)
def submitted(request: UserRequest, submission: Submission, name: str) -> FileResponse:
    """Send a submitted file back to those who may see the submission."""
    path = showing.submitted_file(submission, name)
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{submission.key}-{name}")


def _result(request: UserRequest, submission: Submission) -> dict[str, object]:
    shown = showing.show(submission, request.user)
    terms = terms_of(submission.contest)
    details = (shown.score or {}).get("details") or {}
    return {
        "submission": submission,
        "shown": shown,
        "terms": terms,
        "is_release": submission.kind == Kind.RELEASE,
        "tables": score_tables(details, terms),
        "whose": whose_purchases(details),
        "faults": fault_lines(submission.faults, terms),
        "n_more_faults": max(0, submission.n_faults - len(submission.faults)),
        "level": knowledge_levels(terms).get(submission.knowledge, ""),
    }


def take(request: HttpRequest, route: str, submit: Callable[[], str]) -> HttpResponse:
    """Take files and go to the page of their key; the upload script is told where that is, or what is wrong."""
    is_scripted = SCRIPTED in request.headers
    try:
        made = submit()
    except TokumeiError as error:
        if not is_scripted:
            messages.error(request, describe_error(error))
            return redirect(next_page(request) if "next" in request.POST else request.path)
        return JsonResponse({"message": describe_error(error)}, status=status_of(error))
    if is_scripted:
        return JsonResponse({"location": reverse(route, args=[made])})
    return redirect(route, made)
