"""Questions to the organizers of a contest, with answers that everybody reads or who asked alone."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.throttle import allow
from tokumei.platform.contests.models import Contest, Question
from tokumei.platform.contests.services.actions import record
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.contests.services.news import tell_answer, tell_question

QUESTIONS_A_DAY = 10


def questions_for(contest: Contest, viewer: User | None) -> QuerySet[Question]:
    """Return the questions a user may read: public answers and their own; all for organizers."""
    found = contest.questions.select_related("by")
    if is_organizer(contest, viewer):
        return found
    public = Q(is_public=True) & ~Q(answered_at=None)
    return found.filter(public | Q(by=viewer)) if viewer is not None else found.filter(public)


def ask(contest: Contest, user: User, text: str) -> Question:
    """Put a question to the organizers."""
    if is_organizer(contest, user):
        raise NotAllowed(_("You organize this contest: announce instead."))
    said = _("You may ask %d questions a day.") % QUESTIONS_A_DAY
    allow("question", str(user.pk), at_most=QUESTIONS_A_DAY, within=timedelta(days=1), said=said)
    with transaction.atomic():
        made = Question.objects.create(contest=contest, by=user, text=text)
        tell_question(made)
    return made


def answer(question: Question, by: User, *, text: str, is_public: bool) -> None:
    """Answer a question, or answer it anew; who asked is named to nobody but the organizers."""
    with transaction.atomic():
        question.answer, question.is_public, question.answered_at = text, is_public, timezone.now()
        question.save(update_fields=["answer", "is_public", "answered_at"])
        record(question.contest, by, "answer", question=question.text[:200], text=text[:200])
        tell_answer(question)
