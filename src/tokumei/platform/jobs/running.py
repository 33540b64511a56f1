"""Doing jobs: take one, let a limited process work, write the one result; and the two processes that see to it.

A consumer takes jobs of some queues, oldest first, from the table itself, and holds nothing that its death could keep
from others. A watcher looks after the others: work that nobody ended, phases whose time has come, files of nobody. Any
number of either may run, on any number of machines.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, close_old_connections, connections
from django.urls import get_resolver
from django.utils import timezone

from tokumei.core.errors import TokumeiError
from tokumei.platform.jobs import process, queue
from tokumei.platform.jobs.child import Refused, call, faults_of
from tokumei.platform.jobs.models import Job, Outcome, WorkerSeen
from tokumei.platform.jobs.process import (
    BEAT_SECONDS,
    POLL_SECONDS,
    SWEEP_SECONDS,
    WATCH_SECONDS,
    ChildAnswer,
    Interrupted,
    answer_of,
)
from tokumei.platform.jobs.queue import (
    SWEEPS,
    WATCHES,
    WORK,
    Lease,
    Overtaken,
    Work,
    next_jobs,
    release_worker,
    worn_out,
)
from tokumei.platform.processes import Told

log = logging.getLogger("tokumei.jobs")

# The kind of failure of work on something that is not there any more.
GONE = "its subject is gone"
# Set by the signal that ends a process: what runs is given back at once.
stopping = Told()


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
        if queue.give_up(job, _failing(WORK[kind], "the process died")):
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
    held = queue.claim(job, name_of(os.getpid()))
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
    def beat(progress: Mapping[str, object] | None) -> bool:
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


# After an error of the database, before it is asked again.
PAUSE_SECONDS = 2.0


def consume(queues: Sequence[str], dead: int | None = None) -> None:
    """Do jobs until the process is told to stop.

    dead: the process that this one takes the place of; what it held is free at once.
    """
    stopping.by(signal.SIGTERM)
    # Ctrl-C reaches the whole group of the terminal; the supervisor decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while not stopping.is_set():
        try:
            close_old_connections()
            if dead is not None:
                release_worker(name_of(dead))
                dead = None
            if not any(run(job) for job in next_jobs(queues)):
                stopping.wait(POLL_SECONDS)
        except Exception:
            log.exception("a job could not be taken or ended")
            stopping.wait(PAUSE_SECONDS)


# After so long without a sign, a worker is taken for gone.
GONE_SECONDS = 15 * WATCH_SECONDS


def watch(*, sweeps_alone: bool = False) -> None:
    """Look after everything until a signal says to stop.

    sweeps_alone: look after files alone, on a machine that works for nobody but has copies.
    """
    stop = Told().by(signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    swept_at = -1e9
    name = name_of(os.getpid())
    try:
        while not stop.is_set():
            for look in () if sweeps_alone else (lambda: show_presence(name), end_worn_out, *WATCHES):
                _safely(look)
            if time.monotonic() - swept_at >= SWEEP_SECONDS:
                swept_at = time.monotonic()
                for sweep in SWEEPS:
                    _safely(sweep)
            stop.wait(WATCH_SECONDS)
    finally:
        _safely(lambda: WorkerSeen.objects.filter(name=name).delete())
        connections.close_all()


def show_presence(name: str) -> None:
    """Record that a worker is alive, and forget those that are gone."""
    now = timezone.now()
    WorkerSeen.objects.update_or_create(name=name, defaults={"seen_at": now})
    WorkerSeen.objects.filter(seen_at__lt=_gone()).delete()


def n_present() -> int:
    """Count the workers that are there."""
    return WorkerSeen.objects.filter(seen_at__gte=_gone()).count()


def _gone() -> object:
    return timezone.now() - timedelta(seconds=GONE_SECONDS)


def _safely(look: Callable[[], object]) -> None:
    """Go on after an error, say of a database that is being restarted."""
    try:
        close_old_connections()
        look()
    except Exception:
        log.exception("the watcher failed")
