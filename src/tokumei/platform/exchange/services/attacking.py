"""What all that is out of an offer proves, found by integer programs in a job of every night, and shown to its team."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from tokumei.core.text import to_json
from tokumei.platform.exchange.models import PublishedOffer, RequestState
from tokumei.platform.exchange.services.offers import visible_offers
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin, begin_again
from tokumei.platform.jobs.reasons import in_words
from tokumei.platform.jobs.work import EXCHANGE, Work

log = logging.getLogger("tokumei.exchange")
ATTACKS = "attack"
NIGHT = timedelta(hours=24)


def start_attacks() -> int:
    """Have every offer attacked that was not since last night, and give how many there are."""
    due = visible_offers().filter(Q(attacked=None) | Q(attacked__lt=timezone.now() - NIGHT))
    listed = list(due)
    for published in listed:
        # One job for each offer, which is done again every night.
        begin_again(begin(ATTACKS, published.pk))
    return len(listed)


def note_attack(published: PublishedOffer, found: Mapping[str, Any]) -> None:
    """Keep what an attack found; empty where there were too many combinations of values, `trouble` where it failed."""
    now = timezone.now()
    PublishedOffer.objects.filter(pk=published.pk).update(attacked=now, attack=dict(found))
    published.refresh_from_db()
    if found.get("proven"):
        log.error("an offer proves a class below its k", extra={"facts": {"offer": published.slug}})


def _ask_attack(job: Job) -> dict[str, Any]:
    published = _offer(job)
    given = [] if published.is_hosted else published.requests.filter(state=RequestState.SERVED).order_by("pk")
    released = [
        {"path": str(one.release_path), "levels": one.levels, "criterion": one.criterion}
        for one in given
        if one.release_path.is_file()
    ]
    return {"folder": str(published.folder), "released": released}


def _write_attack(job: Job, found: dict[str, Any]) -> None:
    note_attack(_offer(job), found)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    note_attack(_offer(job), {"trouble": to_json(answer.said)})


def _write_failure(job: Job, failure: str) -> None:
    note_attack(_offer(job), {"trouble": in_words(failure)})


def _offer(job: Job) -> PublishedOffer:
    return PublishedOffer.objects.get(pk=int(job.subject))


ATTACK_WORK = Work(
    "tokumei.platform.exchange.desk_work:attack",
    EXCHANGE,
    ask=_ask_attack,
    write_result=_write_attack,
    write_faults=_write_faults,
    write_failure=_write_failure,
)
