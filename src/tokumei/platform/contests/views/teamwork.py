"""A team's own tools: notes, logs, a table of all submissions, and two of them side by side."""

from __future__ import annotations

import csv
import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.contest.edition import ContestTerms
from tokumei.platform.access import UserRequest, access
from tokumei.platform.contests.forms import NoteForm
from tokumei.platform.contests.models import Contest, Participation, Submission
from tokumei.platform.contests.services import showing, teamwork
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.services.phase_work import counting_key
from tokumei.platform.contests.views.finding import find, find_one, frame
from tokumei.platform.contests.words import name_in_words
from tokumei.platform.names import inert_cell

COLUMNS = (
    "handed_in",
    "submission",
    "kind",
    "target",
    "knowledge",
    "state",
    "counts",
    "use_lost",
    "safety_lost",
    "found",
    "by",
    "note",
)


def find_own(request: UserRequest, level: str, submission: str, **_: Any) -> dict[str, Any]:
    """Find a submission of one of the user's teams; what an organizer may see besides is not theirs to write on."""
    found = find_one(request, level, submission)
    if not found["submission"].team.memberships.filter(user=request.user).exists():
        raise Http404
    return found


@access("member", of=find_own, methods="POST")
def note(request: UserRequest, submission: Submission) -> HttpResponse:
    """Note something on a submission."""
    form = NoteForm(request.POST)
    if form.is_valid():
        Submission.objects.filter(pk=submission.pk).update(note=form.cleaned_data["note"])
        messages.success(request, _("Saved."))
    else:
        messages.error(request, " ".join(map(str, form.errors["note"])))
    return redirect("contests:submission", submission.key)


@access("member", of=find_own, methods="POST")
def choose(request: UserRequest, submission: Submission) -> HttpResponse:
    """Choose the release that counts."""
    teamwork.choose(submission, request.user)
    messages.success(request, _("This release counts now."))
    return redirect("contests:submission", submission.key)


@access("member", of=find_own)
def log(request: UserRequest, submission: Submission) -> HttpResponse:
    """Send all that happened to a submission as one file."""
    told = teamwork.log_of(showing.show(submission, request.user))
    text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{submission.contest.slug}-{submission.key}.json"'
    return response


@access("member", of=find)
def table(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """Send all submissions of the team as a table."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{contest.slug}-submissions.csv"'
    # So that spreadsheets read the names of people as what they are.
    response.write("\ufeff")
    written = csv.writer(response)
    written.writerow(COLUMNS)
    counts = counting_key(contest, participation.team_id)
    for submission in showing.submissions_of(participation):
        score = showing.show(submission, request.user).score or {}
        cells = (
            submission.at.isoformat(),
            submission.key,
            submission.kind,
            submission.target.slug if submission.target else "",
            submission.knowledge,
            submission.state,
            "yes" if submission.key == counts else "",
            score.get("utility"),
            score.get("safety"),
            score.get("success"),
            submission.by.display_name,
            submission.note,
        )
        written.writerow([inert_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    return response


@access("member", of=find)
def compare(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """Show two submissions of the team side by side."""
    keys = request.GET.getlist("one")
    found = {one.key: one for one in showing.submissions_of(participation).filter(key__in=keys[:2])}
    chosen = [found[key] for key in dict.fromkeys(keys) if key in found]
    if len(keys) != 2 or len(chosen) != 2 or chosen[0].kind != chosen[1].kind:
        messages.error(request, _("Tick two releases, or two guesses."))
        return redirect("contests:submissions", contest=contest.slug)
    # The earlier one first, so that a difference says what the later one changed.
    pair = [showing.show(one, request.user) for one in sorted(chosen, key=lambda one: one.at)]
    terms = terms_of(contest)
    rows = [(_called(line.names, terms), line) for line in teamwork.compare(*pair)]
    return render(request, "contests/compare.html", frame(request, contest) | {"pair": pair, "rows": rows})


def _called(names: tuple[str, ...], terms: ContestTerms) -> str:
    """Call a number by what leads to it; what sums a score up goes by its own name, not by that of a part."""
    if len(names) == 1:
        return name_in_words(names[0])
    return " ".join(name_in_words(name, terms) for name in names if name != "details")
