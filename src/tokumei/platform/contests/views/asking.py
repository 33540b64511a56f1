"""Questions to the organizers, and their answers."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.platform.access import UserRequest, access
from tokumei.platform.contests.forms import AnswerForm, QuestionForm
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import questions as service
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.contests.views.finding import find, frame


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
    service.ask(contest, request.user, form.cleaned_data["text"])
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
    service.answer(found, request.user, text=given["text"], is_public=given["is_public"])
    messages.success(request, _("The answer is sent."))
    return redirect("contests:questions", contest=contest.slug)


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
