"""Answers to requests: taken only where the offer's own key signed them, made by jobs at hosted offers, and told of."""

from __future__ import annotations

import logging
import os

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from tokumei.core.chain import digest_of
from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.desk import ANSWER, VERSION
from tokumei.exchange.documents import Document, parse_signed
from tokumei.exchange.offering import read_release
from tokumei.exchange.watch import tampering
from tokumei.platform.exchange.desk_work import given_release
from tokumei.platform.exchange.models import LevelRequest, OfferState, PublishedOffer, RequestState, Vote
from tokumei.platform.exchange.services.desks import desk_of, leave
from tokumei.platform.exchange.services.hosting import MAKE
from tokumei.platform.exchange.services.offers import document_of, note_desk
from tokumei.platform.files.shared import copy_of, local, share
from tokumei.platform.files.uploads import telling_full_disk
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import EXCHANGE, Work, begin, begin_again, in_words
from tokumei.platform.notices.models import NoticeKind
from tokumei.platform.notices.services import notify

ANSWERED = {
    RequestState.SERVED: gettext_noop("Your request to %(offer)s is served: the release is there"),
    RequestState.REFUSED: gettext_noop("Your request to %(offer)s is refused"),
    RequestState.WAITING: gettext_noop("Your request to %(offer)s waits for a second person"),
    RequestState.INVALID: gettext_noop("Your request to %(offer)s could not be used"),
}


def tell_request(request: LevelRequest) -> None:
    """Notify the provider's team of a request."""
    offer = request.offer
    notify(
        offer.team.members.all(),
        NoticeKind.REQUEST,
        gettext_noop("%(recipient)s asks for levels of %(offer)s"),
        link=reverse("exchange:desk", args=[offer.slug]),
        recipient=request.recipient,
        offer=offer.name,
    )


def tell_answered(request: LevelRequest) -> None:
    """Notify the asker of the outcome; and the provider's team where it must decide."""
    says = ANSWERED.get(RequestState(request.state))
    if says is None:
        return
    offer = request.offer
    link = reverse("exchange:request", args=[request.key])
    notify([request.user], NoticeKind.ANSWER, says, link=link, offer=offer.name)


log = logging.getLogger("tokumei.exchange")
PROBLEM_LENGTH = 2_000


def pending(published: PublishedOffer) -> QuerySet[LevelRequest]:
    """Return the requests awaiting an answer, oldest first; a held one counts once somebody has decided."""
    voted = Q(state=RequestState.WAITING, votes__at__gt=F("answered"))
    return published.requests.filter(Q(state=RequestState.SENT) | voted).distinct().order_by("sent", "pk")


def approvals(published: PublishedOffer) -> list[str]:
    """Return the approvals of second persons for the requests awaiting an answer."""
    return list(Vote.objects.filter(request__in=pending(published)).values_list("document", flat=True))


def find_pending(published: PublishedOffer, key: str) -> LevelRequest:
    """Find a request of an offer by its key."""
    found = published.requests.filter(key=key).first()
    if found is None:
        raise NotFound(_("There is no such request."))
    return found


def take_problem(request: LevelRequest, problem: str) -> None:
    """Note why the provider could not use a request."""
    with transaction.atomic():
        locked = _locked(request)
        if locked.state == RequestState.INVALID:
            return
        _check_open(locked)
        locked.state, locked.problem, locked.answered = RequestState.INVALID, problem[:PROBLEM_LENGTH], timezone.now()
        locked.save(update_fields=["state", "problem", "answered"])
        tell_answered(locked)


def take_answer(request: LevelRequest, text: str, release: str | None, *, remarks: list[str] | None = None) -> None:
    """Take a signed answer with its release; the same one may come again, another may not.

    remarks: what a job found that held the release against its offer; without, it is done here.
    """
    signed = parse_signed(text, ANSWER, VERSION, file="answer.json")
    if signed.key != request.offer.public_key:
        raise NotAllowed(_("The answer is not signed by the offer's key."))
    fields = Document(signed.body, "answer.json")
    outcome = fields.choice("outcome", ["served", "refused", "waiting"])
    digest = fields.text("release", most=64)
    if fields.text("request", most=64) != request.digest:
        raise NotAllowed(_("The answer is to another request."))
    if (outcome == "served") != (release is not None) or (
        release is not None and digest_of(release.encode()) != digest
    ):
        raise InputError.of(_("the release that the answer tells of"), file="release.csv")
    with telling_full_disk(), transaction.atomic():
        locked = _locked(request)
        if locked.answer == signed.text():
            return
        _check_open(locked)
        if release is not None:
            locked.remarks = _remarks(locked, release) if remarks is None else remarks
            _store(locked, release)
        locked.state, locked.answer, locked.release_digest = RequestState(outcome), signed.text(), digest
        locked.answered = timezone.now()
        locked.save(update_fields=["state", "answer", "release_digest", "answered", "remarks"])
        tell_answered(locked)
    log.info("a request was answered", extra={"facts": {"request": request.key, "outcome": outcome}})


def _remarks(request: LevelRequest, release: str) -> list[str]:
    """Hold a release against its offer: too few rows in a class are refused, odd ones remarked on."""
    offer, _signed = document_of(request.offer)
    node = offer.lattice.node(request.levels)
    classes = read_release(release, offer.lattice.attributes, file="release.csv")
    smallest = min(classes[SIZE], default=0)
    if smallest < offer.criterion(request.criterion).k:
        raise NotAllowed(_("The release has a class that is smaller than its criterion allows."))
    return tampering(offer, node, classes)


def _store(request: LevelRequest, release: str) -> None:
    """Write the release where only the server can read it."""
    path = request.release_path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_path(path) as draft:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as handle:
            handle.write(release)
    share(path)


def _locked(request: LevelRequest) -> LevelRequest:
    return LevelRequest.objects.select_for_update().select_related("offer").get(pk=request.pk)


def _check_open(request: LevelRequest) -> None:
    # One that was withdrawn while the provider answered has been logged there: the answer stands.
    if not request.is_open and request.state != RequestState.WITHDRAWN:
        raise NotAllowed(_("The request has an answer already."))


ANSWER_KIND = "answer"


def start_answering(request: LevelRequest) -> None:
    """Have a request at a hosted offer answered; others are answered by their provider's own process."""
    if request.offer.is_hosted:
        begin(ANSWER_KIND, _subject(request))


def answer_now(published: PublishedOffer) -> None:
    """Have what waits at a hosted offer answered; work that ended without an answer is done again."""
    for request in pending(published):
        start_answering(request)
        for job in Job.objects.filter(kind=ANSWER_KIND, subject=_subject(request), is_done=True):
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


def _ask(job: Job) -> Json:
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


def _write_answer(job: Job, result: Json) -> None:
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
