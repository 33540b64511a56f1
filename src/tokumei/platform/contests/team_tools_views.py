"""A team's own tools: notes, logs, tables and comparisons of submissions, checks of files, and questions."""

from __future__ import annotations

import csv
import json

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.contest.edition import ContestTerms
from tokumei.core.errors import NotFound
from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.contests.forms import AnswerForm, NoteForm, QuestionForm
from tokumei.platform.contests.models import CheckState, Contest, FileCheck, Participation, Submission
from tokumei.platform.contests.reading_views import find, find_one, frame
from tokumei.platform.contests.services import joining as service
from tokumei.platform.contests.services import showing, submitting, teamwork
from tokumei.platform.contests.services.joining import participation_of
from tokumei.platform.contests.services.rulebook import counting_key, terms_of
from tokumei.platform.contests.services.visibility import is_organizer
from tokumei.platform.contests.taking_part_views import take
from tokumei.platform.contests.words import fault_groups, knowledge_levels, name_in_words, note_in_words
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.typed_text import inert_cell

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


def find_own(request: UserRequest, level: str, submission: str, **_: object) -> dict[str, Submission]:
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
    return redirect("contests:submission", submission=submission.key)


@access("member", of=find_own, methods="POST")
def choose(request: UserRequest, submission: Submission) -> HttpResponse:
    """Choose the release that counts."""
    teamwork.choose(submission, request.user)
    return redirect_saying(request, _("This release counts now."), "contests:submission", submission=submission.key)


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


def find_check(request: UserRequest, level: str, check: str, **_: object) -> dict[str, object]:
    """Find a check of one of the user's teams."""
    try:
        return {"check": submitting.find_check(request.user, check)}
    except NotFound:
        raise Http404 from None


@access("member", of=find, methods="POST")
def check_release(request: UserRequest, contest: Contest, participation: Participation) -> HttpResponse:
    """Check files as a release."""
    return take(
        request, "contests:check", lambda: submitting.check_files(participation, request.user, uploads_of(request)).key
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
        lambda: submitting.check_files(participation, request.user, uploads_of(request), target).key,
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
    return take(
        request, "contests:submission", lambda: submitting.hand_in(check, participation, request.user, level).key
    )


@access("anyone", of=find)
def questions(request: HttpRequest, contest: Contest) -> HttpResponse:
    """Show questions and answers, and ask one."""
    return _page(request, contest, QuestionForm())


@access("user", of=find, methods="POST")
def ask(request: UserRequest, contest: Contest) -> HttpResponse:
    """Put a question to the organizers."""
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _page(request, contest, form)
    service.ask_organizers(contest, request.user, form.cleaned_data["text"])
    messages.success(request, _("The organizers have your question. Their answer comes here and to your notices."))
    return redirect("contests:questions", contest=contest.slug)


@access("organizer", of=find, methods="POST")
def answer(request: UserRequest, contest: Contest, question: int) -> HttpResponse:
    """Answer a question."""
    found = contest.questions.select_related("contest", "by").filter(pk=question).first()
    if found is None:
        raise Http404
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _page(request, contest, QuestionForm(), failed=(found.pk, form))
    given = form.cleaned_data
    service.answer_question(found, request.user, text=given["text"], is_public=given["is_public"])
    return redirect_saying(request, _("The answer is sent."), "contests:questions", contest=contest.slug)


def _page(
    request: HttpRequest, contest: Contest, form: QuestionForm, failed: tuple[int, AnswerForm] | None = None
) -> HttpResponse:
    user = request.user if request.user.is_authenticated else None
    runs = is_organizer(contest, user)
    rows = []
    for one in service.questions_for(contest, user):
        initial = {"text": one.answer, "is_public": one.is_public}
        empty = AnswerForm(initial=initial, auto_id=f"answer_{one.pk}_%s") if runs else None
        rows.append((one, failed[1] if failed and failed[0] == one.pk else empty))
    shown = frame(request, contest) | {"rows": rows, "form": form}
    is_wrong = form.is_bound or failed is not None
    return render(request, "contests/questions.html", shown, status=400 if is_wrong else 200)
