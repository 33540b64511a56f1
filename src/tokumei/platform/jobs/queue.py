"""The list of jobs: kinds of work, why one fails, putting work on the list, and who holds a job.

Every app registers its kinds of work when it is ready:

    register("score", Work("tokumei.platform.contests.folder_work:score", "contest", ask, write_score, …))

`function` names what the limited process runs, on files and plain values alone. The other callables run in the process
that took the job, with the database; the three that write do so inside the transaction that ends the job.

A lease is taken, shows signs of life, and is given back. Every change is one UPDATE that names the fencing number it
was made under, so that of two processes that believe to hold the same job only the later one is heard. All of it works
alike on SQLite and on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from tokumei.core.text import Json
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.process import (
    MEMORY_BYTES,
    MOST_ATTEMPTS,
    MOST_ATTEMPTS_AT_ITS_LIMIT,
    RETRY_SECONDS,
    SECONDS,
    STALE_SECONDS,
    TIMEOUT,
    ChildAnswer,
)

# Rust ends the process when it gets no memory, by the signal of abort(); Linux kills who has taken the most.
OUT_OF_MEMORY = frozenset({"MemoryError", "ENOMEM", "ended by signal 6"})
FULL = frozenset({"ENOSPC", "EDQUOT"})

TOO_LONG = _("The work took longer than is allowed.")
TOO_LARGE = _("The work needed more memory than is allowed.")
NO_SPACE = _("The server has no space left.")
BROKE_OFF = _("The work broke off several times.")


def is_at_its_limit(failure: str) -> bool:
    """Whether the work used up what it is allowed: its subject's fault, mostly, and sure to happen again."""
    return failure == TIMEOUT or failure in OUT_OF_MEMORY


def attempts_allowed(failure: str) -> int:
    """Return how many attempts a job has that failed like this."""
    return MOST_ATTEMPTS_AT_ITS_LIMIT if is_at_its_limit(failure) else MOST_ATTEMPTS


def in_words(failure: str) -> str:
    """Return the sentence for a kind of failure."""
    if failure == TIMEOUT:
        return TOO_LONG
    if failure in OUT_OF_MEMORY:
        return TOO_LARGE
    return NO_SPACE if failure in FULL else BROKE_OFF


# Which processes do which work: evaluations never wait for tables that somebody hosts.
CONTEST, EXCHANGE, MAIL, WORKBENCH = QUEUES = ("contest", "exchange", "mail", "workbench")


class Overtaken(Exception):
    """What was worked on has been changed meanwhile: the work is done again, on what is there now."""


def _nothing(job: Job) -> None:
    """Do nothing."""


def _note_nothing(job: Job, told: object) -> None:
    """Note nothing of how the work ended."""


@dataclass(frozen=True)
class Work:
    """One kind of work."""

    function: str
    queue: str
    ask: Callable[[Job], dict[str, object]]
    write_result: Callable[[Job, dict[str, object]], None] = _note_nothing
    write_faults: Callable[[Job, ChildAnswer], None] = _note_nothing
    write_failure: Callable[[Job, str], None] = _note_nothing
    begin: Callable[[Job], None] = _nothing
    # Called now and then while the work goes on, as to show what is there of it already.
    during: Callable[[Job], None] = _nothing
    seconds: float = SECONDS
    memory_bytes: int = MEMORY_BYTES
    # Addresses without memory behind them: what draws figures takes 64 GiB of these, and uses next to none.
    reserved_bytes: int = 0


WORK: dict[str, Work] = {}
# What is looked after every few seconds, and now and then.
WATCHES: list[Callable[[], object]] = []
SWEEPS: list[Callable[[], object]] = []


def register(kind: str, work: Work) -> None:
    """Register the work for a kind of job."""
    if WORK.setdefault(kind, work) != work:
        raise TypeError(f"two kinds of work are called {kind}")


def begin(kind: str, subject: object, **payload: object) -> Job:
    """Have work done once the surrounding transaction is over; what was begun before is given as it stands."""
    found, _ = Job.objects.get_or_create(
        kind=kind, subject=str(subject), defaults={"queue": WORK[kind].queue, "payload": payload}
    )
    return found


def begin_again(job: Job) -> None:
    """Have a job that ended done once more, with all of its attempts."""
    Job.objects.filter(pk=job.pk, is_done=True).update(
        is_done=False, outcome="", reason="", n_attempts=0, due_at=None, finished_at=None, last_failure=""
    )


def is_free() -> Q:
    """Filter jobs that nobody works on: waiting, or held by a process without a sign of life."""
    stale = timezone.now() - timedelta(seconds=STALE_SECONDS)
    return Q(is_done=False) & (Q(is_running=False) | Q(beat_at__lt=stale))


def is_due() -> Q:
    """Filter jobs whose time has come."""
    return Q(due_at=None) | Q(due_at__lte=timezone.now())


def next_jobs(queues: Sequence[str], most: int = 5) -> list[int]:
    """List the oldest jobs that could be taken now."""
    waiting = Job.objects.filter(is_free(), is_due(), queue__in=queues, n_attempts__lt=MOST_ATTEMPTS)
    # A kind that nobody registered is no order.
    waiting = waiting.filter(kind__in=WORK)
    return list(waiting.order_by("pk").values_list("pk", flat=True)[:most])


def worn_out() -> list[int]:
    """List the jobs whose last attempt ended without a word."""
    return list(
        Job.objects.filter(is_free(), kind__in=WORK, n_attempts__gte=MOST_ATTEMPTS).values_list("pk", flat=True)
    )


@dataclass(frozen=True)
class Backlog:
    """How much work there is: jobs that wait and that run, and how long the oldest has waited."""

    waiting: int
    running: int
    oldest_seconds: float


def backlog(queue: str) -> Backlog:
    """Count what is to be done, for health and metrics."""
    undone = Job.objects.filter(is_done=False, queue=queue)
    oldest = undone.filter(is_running=False).order_by("created_at").values_list("created_at", flat=True).first()
    seconds = 0.0 if oldest is None else (timezone.now() - oldest).total_seconds()
    return Backlog(undone.filter(is_running=False).count(), undone.filter(is_running=True).count(), seconds)


Write = Callable[[Job], None]


@dataclass(frozen=True)
class Lease:
    """The right to work on a job, as long as nobody has a newer one."""

    job: int
    fence: int
    n_attempts: int

    def is_last(self, failure: str) -> bool:
        """Whether there will be no further attempt after one that failed like this."""
        return self.n_attempts >= attempts_allowed(failure)

    def _own(self) -> Any:
        return Job.objects.filter(pk=self.job, fence=self.fence, is_running=True, is_done=False)

    def beat(self, progress: Mapping[str, object] | None = None) -> bool:
        """Show that the work goes on; False means that it is somebody else's now."""
        facts: dict[str, Any] = {"beat_at": timezone.now()}
        if progress is not None:
            facts["progress"] = dict(progress)
        return bool(self._own().update(**facts))

    def give_back(self) -> bool:
        """Stop in good order; the attempt is not counted, and somebody else may begin at once."""
        return bool(self._own().update(**_free(), n_attempts=F("n_attempts") - 1, due_at=None))

    def try_again(self, failure: str) -> bool:
        """Leave the work to a later attempt, each a little later than the one before, noting the kind of failure."""
        due_at = timezone.now() + timedelta(seconds=RETRY_SECONDS * 2 ** (self.n_attempts - 1))
        return bool(self._own().update(**_free(), due_at=due_at, last_failure=failure[:200]))

    def finish(self, write: Write, outcome: Outcome = Outcome.DONE, failure: str = "") -> bool:
        """Write the result, all of it or nothing; False means that it is not wanted any more."""
        return _finish(self._own(), self.job, write, outcome, failure)


def claim(job: int, worker: str) -> Lease | None:
    """Take a job that is waiting, or whose process shows no sign of life; counts the attempt."""
    with transaction.atomic():
        taken = Job.objects.filter(is_free(), is_due(), pk=job, n_attempts__lt=MOST_ATTEMPTS).update(
            n_attempts=F("n_attempts") + 1,
            fence=F("fence") + 1,
            is_running=True,
            beat_at=timezone.now(),
            worker=worker[:80],
            progress={},
        )
        if not taken:
            return None
        row = Job.objects.get(pk=job)
        WORK[row.kind].begin(row)
        return Lease(job, row.fence, row.n_attempts)


def release_worker(worker: str) -> int:
    """Free what a process held that is known to be dead; its attempts stay counted."""
    return Job.objects.filter(worker=worker, is_running=True, is_done=False).update(
        **_free(), due_at=None, last_failure="the process died"
    )


def give_up(job: int, write: Write) -> bool:
    """End a job whose last attempt left no result."""
    own = Job.objects.filter(is_free(), pk=job, n_attempts__gte=MOST_ATTEMPTS)
    return _finish(own, job, write, Outcome.FAILED, "the process died")


def _finish(own: Any, job: int, write: Write, outcome: Outcome, failure: str) -> bool:
    with transaction.atomic():
        facts: dict[str, object] = {
            "is_running": False,
            "is_done": True,
            "finished_at": timezone.now(),
            "progress": {},
            "outcome": outcome,
        }
        if failure:
            facts |= {"last_failure": failure[:200], "reason": in_words(failure)}
        if not own.update(**facts):
            return False
        write(Job.objects.get(pk=job))
    return True


def _free() -> Json:
    return {"is_running": False, "progress": {}}
