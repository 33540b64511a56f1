"""Having the data of a draft looked at, and the whole of it tried out, by limited processes."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.db import transaction

from tokumei.core.text import to_json
from tokumei.data.files.atomic import write_text
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.throttle import allow
from tokumei.platform.contests.models import ContestDraft
from tokumei.platform.contests.services.drafts import LOOK, TRIAL, found_of, look_of, plan_of, source_file
from tokumei.platform.contests.services.editions import setting_of
from tokumei.platform.contests.wizard_forms import DATA, OWN
from tokumei.platform.files.shared import share
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin
from tokumei.platform.jobs.work import WORKBENCH, Work

WORK_AN_HOUR = 120


def have_looked_at(draft: ContestDraft, by: User) -> bool:
    """Have the data looked at, unless they were as they are now; says whether that was needed."""
    of = look_of(draft)
    if not of or found_of(draft, LOOK, of) is not None or not plan_of(draft).is_valid(DATA):
        return False
    return _start(draft, by, LOOK, of)


def have_tried_out(draft: ContestDraft, by: User, *, again: bool = False) -> bool:
    """Have the contest tried out, unless it was as it is now or cannot be yet; says whether that was needed.

    again: whether it is to be even if it was.
    """
    of = plan_of(draft).trial_of
    if not of or (found_of(draft, TRIAL, of) is not None and not again):
        return False
    return _start(draft, by, TRIAL, of)


def _start(draft: ContestDraft, by: User, kind: str, of: str) -> bool:
    with transaction.atomic():
        running = Job.objects.select_for_update().filter(subject=draft.key, kind=kind)
        if any(job.payload.get("of") == of and not job.is_done for job in running):
            return True
        allow("draft", str(by.pk), at_most=WORK_AN_HOUR, within=timedelta(hours=1))
        # What is under way is about what stands there no more; its process sees that the job is gone.
        running.delete()
        begin(kind, draft.key, of=of)
    return True


def _draft(job: Job) -> ContestDraft:
    return ContestDraft.objects.get(key=job.subject)


def _ask_look(job: Job) -> dict[str, Any]:
    draft = _draft(job)
    reading = plan_of(draft).forms[DATA]
    said = reading.cleaned_data["how"].as_dict() if reading.is_valid() else {}
    return {
        "source": str(source_file(draft)),
        "name": draft.answers["file"]["name"],
        "kind": OWN.get(draft.answers.get("kind", ""), "table"),
        "reading": said,
    }


def _ask_trial(job: Job) -> dict[str, Any]:
    draft = _draft(job)
    plan, source = plan_of(draft), source_file(draft)
    contest = plan.contest
    return {
        "setting": "" if contest is None else setting_of(contest),
        "source": None if source is None else str(source),
        "reading": plan.reading.as_dict(),
    }


def _write(job: Job, told: dict[str, Any]) -> None:
    """Keep what was found beside the data, since it quotes them."""
    folder = _draft(job).folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_text(folder / f"{job.kind}.json", json.dumps(to_json(told) | {"of": job.payload["of"]}, ensure_ascii=False))
    share(folder)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    told = {"faults": list(answer.faults), "n_faults": answer.n_faults, "said": answer.said}
    _write(job, told | {"groups": list(answer.groups)})


def _write_failure(job: Job, failure: str) -> None:
    _write(job, {"failure": failure})


def _work(function: str, ask: Any) -> Work:
    return Work(
        f"tokumei.platform.contests.draft_checking:{function}",
        WORKBENCH,
        ask=ask,
        write_result=_write,
        write_faults=_write_faults,
        write_failure=_write_failure,
    )


DRAFT_WORK = {LOOK: _work("look", _ask_look), TRIAL: _work("try_out", _ask_trial)}
