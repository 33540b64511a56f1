"""Doing a job: take it, let a limited process work, write the one result."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connections
from django.urls import get_resolver

from tokumei.core.errors import TokumeiError
from tokumei.platform.jobs import lease, process
from tokumei.platform.jobs.child import Refused, call, faults_of
from tokumei.platform.jobs.lease import Lease
from tokumei.platform.jobs.limits import BEAT_SECONDS
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.process import ChildAnswer, Interrupted, answer_of
from tokumei.platform.jobs.queue import worn_out
from tokumei.platform.jobs.work import WORK, Overtaken, Work

log = logging.getLogger("tokumei.jobs")

# The kind of failure of work on something that is not there any more.
GONE = "its subject is gone"
# Set by the signal that ends a process: what runs is given back at once.
stopping = threading.Event()


def run(job: int) -> bool:
    """Do a job if it is still to be done, within its limits; says whether it was taken."""
    return _do(job, _in_child)


def run_here(job: int) -> bool:
    """Do a job in this process and without limits: for what is known to be small, as the demo's is."""
    return _do(job, _here)


def end_worn_out() -> None:
    """End the jobs whose last attempt left no word: killed with their process, again and again."""
    for job in worn_out():
        import_pages()
        kind = Job.objects.values_list("kind", flat=True).get(pk=job)
        if lease.give_up(job, _failing(WORK[kind], "the process died")):
            log.warning("job failed", extra={"facts": {"job": job, "kind": kind}})


def import_pages() -> None:
    """Import all pages before a result is written, which tells people at which address it stands.

    That takes a second once, several where the machine is busy: neither while the database is held, or everybody who
    logs in would wait for it, nor without a sign of life, or the work would be taken for that of a dead process.
    """
    _ = get_resolver().app_dict


def name_of(pid: int) -> str:
    """Name a process of this machine among all that work."""
    return f"{socket.gethostname()[:60]}:{pid}"


def _do(job: int, work_on: Callable[[Work, Job, Lease], ChildAnswer]) -> bool:
    started = time.monotonic()
    held = lease.claim(job, name_of(os.getpid()))
    if held is None:
        return False
    row = Job.objects.get(pk=job)
    work = WORK[row.kind]
    try:
        answer = work_on(work, row, held)
    except Interrupted:
        is_ours = held.give_back()
        _log(row, held, started, "given back" if is_ours else "taken over by another")
        return True
    except ObjectDoesNotExist:
        answer = ChildAnswer(failure=GONE)
    except OSError as error:
        # No process could be started, or the like.
        answer = ChildAnswer(failure=type(error).__name__)
    with _beating(held):
        import_pages()
    try:
        outcome = _settle(held, work, answer)
    except Overtaken:
        # No fault of this attempt: somebody else got further, so that it comes to an end.
        outcome = "overtaken" if held.give_back() else "too late"
    except (TokumeiError, ObjectDoesNotExist, OSError) as error:
        log.exception("a result could not be written", extra={"facts": {"job": job, "kind": row.kind}})
        answer = ChildAnswer(failure=type(error).__name__)
        outcome = _settle(held, work, answer)
    _log(row, held, started, outcome, failure=answer.failure)
    return True


def _in_child(work: Work, row: Job, held: Lease) -> ChildAnswer:
    def beat(progress: Mapping[str, Any] | None) -> bool:
        is_ours = held.beat(progress)
        if is_ours:
            work.during(row)
        return is_ours

    with _beating(held):
        asked = work.ask(row)
    return process.run(
        work.function,
        asked,
        seconds=work.seconds,
        memory_bytes=work.memory_bytes,
        reserved_bytes=work.reserved_bytes,
        beat=beat,
        is_stopping=stopping.is_set,
    )


@contextmanager
def _beating(held: Lease) -> Iterator[None]:
    """Show signs of life beside what takes a while: bringing a large table to this machine, importing all pages."""
    is_over = threading.Event()

    def beat() -> None:
        try:
            while not is_over.wait(BEAT_SECONDS):
                # A database that is being restarted: the next sign may come through.
                try:
                    held.beat()
                except DatabaseError:
                    log.warning("a sign of life was not taken", extra={"facts": {"job": held.job}})
        finally:
            connections.close_all()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _here(work: Work, row: Job, held: Lease) -> ChildAnswer:
    try:
        return answer_of({"result": call(work.function, work.ask(row))})
    except Refused as refused:
        return answer_of(faults_of(refused.error))
    except BaseException:
        held.give_back()
        raise


def _settle(held: Lease, work: Work, answer: ChildAnswer) -> str:
    """Write what came out, or leave it to another attempt; say which."""
    result, failure = answer.result, answer.failure
    if result is not None:
        return "done" if held.finish(lambda row: work.write_result(row, result)) else "too late"
    if not failure:
        is_ours = held.finish(lambda row: work.write_faults(row, answer), Outcome.REFUSED)
        return "refused" if is_ours else "too late"
    if held.is_last(failure):
        return "failed" if held.finish(_failing(work, failure), Outcome.FAILED, failure) else "too late"
    return "to be tried again" if held.try_again(failure) else "too late"


def _failing(work: Work, failure: str) -> Callable[[Job], None]:
    def write(row: Job) -> None:
        # What the work was on may be deleted by now: then there is nobody to tell.
        with suppress(ObjectDoesNotExist):
            work.write_failure(row, failure)

    return write


def _log(row: Job, held: Lease, started: float, outcome: str, failure: str = "") -> None:
    facts = {
        "job": row.pk,
        "kind": row.kind,
        "attempt": held.n_attempts,
        "outcome": outcome,
        "seconds": round(time.monotonic() - started, 2),
    }
    if failure:
        facts["failure"] = failure
    log.info("job", extra={"facts": facts})
