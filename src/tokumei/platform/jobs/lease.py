"""Who works on a job: taking it, showing signs of life, giving it back, and the one result that counts.

Every change is one UPDATE that names the fencing number it was made under, so that of two processes that believe to
hold the same job only the later one is heard. All of it works alike on SQLite and on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from tokumei.platform.jobs.limits import MOST_ATTEMPTS, RETRY_SECONDS
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.queue import is_due, is_free
from tokumei.platform.jobs.reasons import attempts_allowed, in_words
from tokumei.platform.jobs.work import WORK

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

    def beat(self, progress: Mapping[str, Any] | None = None) -> bool:
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
        facts: dict[str, Any] = {
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


def _free() -> dict[str, Any]:
    return {"is_running": False, "progress": {}}
