"""Checking files without handing them in, and handing in what was checked."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render

from tokumei.core.errors import NotFound
from tokumei.platform.access import UserRequest, access
from tokumei.platform.contests.models import CheckState, Contest, FileCheck, Participation
from tokumei.platform.contests.services import checking, submitting
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.services.joining import participation_of
from tokumei.platform.contests.views.finding import find, frame
from tokumei.platform.contests.views.taking_part import take
from tokumei.platform.contests.words import fault_groups, knowledge_levels, note_in_words
from tokumei.platform.files.incoming import uploads_of


def find_check(request: UserRequest, level: str, check: str, **_: Any) -> dict[str, Any]:
    """Find a check of one of the user's teams."""
    try:
        return {"check": checking.find_check(request.user, check)}
    except NotFound:
        raise Http404 from None


@access("member", of=find, methods="POST")
def check_release(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """Check files as a release."""
    return take(
        request, "contests:check", lambda: checking.check_files(participation, request.user, uploads_of(request)).key
    )


@access("member", of=find, methods="POST")
def check_guess(request: UserRequest, contest: Contest, participation: Participation, team: str) -> HttpResponse:
    """Check files as a guess at a team's release."""
    target = next((one for one in submitting.targets(participation) if one.slug == team), None)
    if target is None:
        raise Http404
    return take(
        request,
        "contests:check",
        lambda: checking.check_files(participation, request.user, uploads_of(request), target).key,
    )


@access("member", of=find_check)
def show(request: UserRequest, check: FileCheck) -> HttpResponse:
    """Show what a check found."""
    terms = terms_of(check.contest)
    shown = frame(request, check.contest) | {
        "check": check,
        "groups": fault_groups(check.groups, terms),
        "notes": [note_in_words(note) for note in check.notes],
        "levels": knowledge_levels(terms).items() if check.target is not None else [],
        "has_passed": check.state == CheckState.PASSED,
    }
    return render(request, "contests/check.html", shown)


@access("member", of=find_check)
def state(request: UserRequest, check: FileCheck) -> JsonResponse:
    """Return whether the check is done, for the waiting page."""
    return JsonResponse(
        {"state": check.state, "says": check.get_state_display(), "is_final": check.is_final, "progress": {}}
    )


@access("member", of=find_check, methods="POST")
def hand_in(request: UserRequest, check: FileCheck) -> HttpResponse:
    """Hand in the files that were checked."""
    participation = participation_of(check.contest, request.user)
    if participation is None:
        raise Http404
    level = request.POST.get("knowledge", "")
    return take(request, "contests:submission", lambda: checking.hand_in(check, participation, request.user, level).key)
