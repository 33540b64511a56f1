"""Doing an evaluation: take it, let a process work, write the one result."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable

from tokumei.platform.contests.services.phase_work import PHASE_WORK
from tokumei.platform.contests.services.results import SUBMISSION_WORK
from tokumei.platform.contests.services.work import Work
from tokumei.platform.jobs import lease, process
from tokumei.platform.jobs.lease import Lease
from tokumei.platform.jobs.limits import SECONDS, WHOLE_CONTEST_FACTOR
from tokumei.platform.jobs.models import Evaluation
from tokumei.platform.jobs.process import Answer, Interrupted

log = logging.getLogger("tokumei.jobs")

WORK: dict[str, Work] = SUBMISSION_WORK | PHASE_WORK
# Set by the signal that ends a worker: what runs is given back at once.
stopping = threading.Event()


def evaluate(evaluation: int) -> None:
    """Do an evaluation if it is still to be done; what the queue calls."""
    started = time.monotonic()
    held = lease.claim(evaluation, name_of(os.getpid()))
    if held is None:
        return
    row = Evaluation.objects.select_related("submission__team", "submission__target", "contest").get(pk=evaluation)
    work = WORK[row.task]
    seconds = SECONDS if row.submission_id else SECONDS * WHOLE_CONTEST_FACTOR
    try:
        answer = process.run(work.ask(row), seconds=seconds, beat=held.beat, is_stopping=stopping.is_set)
    except Interrupted:
        is_ours = held.give_back()
        _log(row, held, started, "given back" if is_ours else "taken over by another")
        return
    except OSError as error:
        # No process could be started, or the like.
        answer = Answer(failure=type(error).__name__)
    _log(row, held, started, _settle(held, work, answer), failure=answer.failure)


def give_up_worn_out(evaluations: list[int]) -> None:
    """End the evaluations whose last attempt left no word: killed with their worker, three times."""
    for evaluation in evaluations:
        task = Evaluation.objects.values_list("task", flat=True).get(pk=evaluation)
        if lease.give_up(evaluation, _failing(WORK[task], Answer(failure="the process died"))):
            log.warning("evaluation failed", extra={"facts": {"evaluation": evaluation, "task": task}})


def name_of(pid: int) -> str:
    """Name a process of this machine among all that work."""
    return f"{socket.gethostname()[:60]}:{pid}"


def _settle(held: Lease, work: Work, answer: Answer) -> str:
    """Write what came out, or leave it to another attempt; say which."""
    result = answer.result
    if result is not None:
        return "done" if held.finish(lambda row: work.write_result(row, result)) else "too late"
    if not answer.failure:
        return "refused" if held.finish(lambda row: work.write_faults(row, answer)) else "too late"
    if held.is_last:
        return "failed" if held.finish(_failing(work, answer), answer.failure) else "too late"
    return "to be tried again" if held.try_again(answer.failure) else "too late"


def _failing(work: Work, answer: Answer) -> Callable[[Evaluation], None]:
    return lambda row: work.write_failure(row, answer.failure)


def _log(row: Evaluation, held: Lease, started: float, outcome: str, failure: str = "") -> None:
    facts = {
        "evaluation": row.pk,
        "task": row.task,
        "attempt": held.n_attempts,
        "outcome": outcome,
        "seconds": round(time.monotonic() - started, 2),
    }
    if failure:
        facts["failure"] = failure
    log.info("evaluation", extra={"facts": facts})
