"""Who works on an evaluation: taking it, showing signs of life, giving it back, and the one result that counts.

Every change is one UPDATE that names the fencing number it was made under, so that of two processes that believe to
hold the same evaluation only the later one is heard. All of it works alike on SQLite and on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from tokumei.platform.contests.models import State, Submission
from tokumei.platform.jobs.limits import MOST_ATTEMPTS, RETRY_SECONDS, STALE_SECONDS
from tokumei.platform.jobs.models import Evaluation


@dataclass(frozen=True)
class Lease:
    """The right to work on an evaluation, as long as nobody has a newer one."""

    evaluation: int
    fence: int
    n_attempts: int

    @property
    def is_last(self) -> bool:
        """Whether there will be no further attempt."""
        return self.n_attempts >= MOST_ATTEMPTS

    def _own(self) -> Any:
        return Evaluation.objects.filter(pk=self.evaluation, fence=self.fence, is_running=True, is_done=False)

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
        """Leave the work to a later attempt, noting the kind of failure."""
        due_at = timezone.now() + timedelta(seconds=RETRY_SECONDS)
        return bool(self._own().update(**_free(), due_at=due_at, last_failure=failure[:200]))

    def finish(self, write: Callable[[Evaluation], None], failure: str = "") -> bool:
        """Write the result, all of it or nothing; False means that it is not wanted any more."""
        return _finish(self._own(), self.evaluation, write, failure)


def claim(evaluation: int, worker: str) -> Lease | None:
    """Take an evaluation that is waiting, or whose worker shows no sign of life; counts the attempt."""
    now = timezone.now()
    with transaction.atomic():
        taken = (
            Evaluation.objects.filter(_is_free(now), pk=evaluation, n_attempts__lt=MOST_ATTEMPTS)
            .filter(Q(due_at=None) | Q(due_at__lte=now))
            .update(
                n_attempts=F("n_attempts") + 1,
                fence=F("fence") + 1,
                is_running=True,
                beat_at=now,
                worker=worker[:80],
                progress={},
            )
        )
        if not taken:
            return None
        Submission.objects.filter(evaluation=evaluation, state=State.WAITING).update(state=State.RUNNING)
        row = Evaluation.objects.only("fence", "n_attempts").get(pk=evaluation)
        return Lease(evaluation, row.fence, row.n_attempts)


def release_worker(worker: str) -> int:
    """Free what a process held that is known to be dead; its attempts stay counted."""
    return Evaluation.objects.filter(worker=worker, is_running=True, is_done=False).update(
        **_free(), due_at=None, last_failure="the process died"
    )


def give_up(evaluation: int, write: Callable[[Evaluation], None]) -> bool:
    """End an evaluation whose last attempt left no result."""
    own = Evaluation.objects.filter(_is_free(timezone.now()), pk=evaluation, n_attempts__gte=MOST_ATTEMPTS)
    return _finish(own, evaluation, write, "")


def _finish(own: Any, evaluation: int, write: Callable[[Evaluation], None], failure: str) -> bool:
    with transaction.atomic():
        facts: dict[str, Any] = {"is_running": False, "is_done": True, "finished_at": timezone.now(), "progress": {}}
        if failure:
            facts["last_failure"] = failure[:200]
        if not own.update(**facts):
            return False
        write(Evaluation.objects.select_related("submission", "contest").get(pk=evaluation))
    return True


def _is_free(now: Any) -> Q:
    stale = now - timedelta(seconds=STALE_SECONDS)
    return Q(is_done=False) & (Q(is_running=False) | Q(beat_at__lt=stale))


def _free() -> dict[str, Any]:
    return {"is_running": False, "queued_at": None, "progress": {}}
