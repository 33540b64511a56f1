"""Answers at hosted offers: a job for each request, and another after each vote."""

from __future__ import annotations

from typing import Any

from tokumei.exchange.desk import ANSWER, VERSION
from tokumei.exchange.documents import parse_signed
from tokumei.platform.exchange.desk_work import given_release
from tokumei.platform.exchange.models import LevelRequest, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.services.answering import pending, take_answer, take_problem
from tokumei.platform.exchange.services.desks import desk_of, leave
from tokumei.platform.exchange.services.hosting import MAKE
from tokumei.platform.exchange.services.offers import note_desk
from tokumei.platform.files.shared import copy_of, local, share
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin, begin_again
from tokumei.platform.jobs.reasons import in_words
from tokumei.platform.jobs.work import EXCHANGE, Work

KIND = "answer"


def start_answering(request: LevelRequest) -> None:
    """Have a request at a hosted offer answered; others are answered by their provider's own process."""
    if request.offer.is_hosted:
        begin(KIND, _subject(request))


def answer_now(published: PublishedOffer) -> None:
    """Have what waits at a hosted offer answered; work that ended without an answer is done again."""
    for request in pending(published):
        start_answering(request)
        for job in Job.objects.filter(kind=KIND, subject=_subject(request), is_done=True):
            begin_again(job)


def begin_forgotten() -> None:
    """Begin the work of offers and requests that have none, as after a backup was put back."""
    for offer in PublishedOffer.objects.filter(is_hosted=True, state=OfferState.MAKING):
        begin(MAKE, offer.pk)
    for offer in PublishedOffer.objects.filter(is_hosted=True, requests__state=RequestState.SENT).distinct():
        for request in pending(offer):
            start_answering(request)


def _subject(request: LevelRequest) -> str:
    return f"{request.pk}.{request.votes.count()}"


def _ask(job: Job) -> dict[str, Any]:
    request = _request(job)
    offer = request.offer
    return {
        "folder": str(copy_of(offer.place, desk_of(offer, job))),
        "table": str(local(offer.table_place) / offer.wanted.get("table", "")),
        "name": request.key,
        "text": request.document,
        "levels": request.levels,
        "criterion": request.criterion,
        "approvals": list(request.votes.values_list("document", flat=True)),
    }


def _write_answer(job: Job, result: dict[str, Any]) -> None:
    request = _request(job)
    desk = desk_of(request.offer, job)
    # The offer first, as pages do: two that wait for each other would wait for ever.
    note_desk(request.offer, result["desk"])
    share(request.offer.place, desk)
    leave(job)
    # An answer of a later job may be there already: that request is closed, and stays as it is.
    if not request.is_open and request.state != RequestState.WITHDRAWN:
        return
    if "problem" in result:
        take_problem(request, result["problem"])
        return
    digest = parse_signed(result["answer"], ANSWER, VERSION).body["release"]
    release = given_release(desk, digest).read_text(encoding="utf-8") if digest else None
    take_answer(request, result["answer"], release, remarks=result["remarks"])


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    _give_up(job, answer.said)


def _write_failure(job: Job, failure: str) -> None:
    _give_up(job, in_words(failure))


def _give_up(job: Job, problem: str) -> None:
    request = _request(job)
    if request.is_open:
        take_problem(request, problem)
    leave(job)


def _request(job: Job) -> LevelRequest:
    return LevelRequest.objects.select_related("offer").get(pk=int(job.subject.partition(".")[0]))


ANSWER_WORK = Work(
    "tokumei.platform.exchange.desk_work:answer",
    EXCHANGE,
    ask=_ask,
    write_result=_write_answer,
    write_faults=_write_faults,
    write_failure=_write_failure,
)
