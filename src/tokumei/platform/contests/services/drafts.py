"""Contests that are being made: what was typed is kept for a while, the data checked, and one of them published.

Limited processes look at a draft's data and try the whole of it out.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import shutil
import time
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.contest.setting import counts_said
from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.core.text import Json, from_json, to_json
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import ending_of
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.platform.accounts.authentication import allow, alone
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, ContestDraft
from tokumei.platform.contests.services import contests, steering
from tokumei.platform.contests.services.rulebook import setting_of, terms_of
from tokumei.platform.contests.wizard_forms import DATA, DETAILS, FILE, OWN, RULES, WHAT, make_form
from tokumei.platform.files.shared import share, sweep_shared, unshare
from tokumei.platform.files.uploads import BLOCK, telling_full_disk, write_privately
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ORPHAN_SECONDS, ChildAnswer
from tokumei.platform.jobs.queue import WORKBENCH, Work, begin
from tokumei.platform.messages import TooMany
from tokumei.platform.workbench.handing_over import LyingFile

log = logging.getLogger("tokumei.contests")
LOOK, TRIAL = JOBS = ("draft-look", "draft-trial")
MOST_DRAFTS = 10
MOST_CHARACTERS = 400_000
KEPT_FOR = timedelta(days=30)
FORMS = (WHAT, DATA, RULES, DETAILS)


def drafts_of(user: User) -> QuerySet[ContestDraft]:
    """Return the drafts that a user edits, alone or with others."""
    mine = Q(by=user) if user.may_organize else Q(pk=None)
    return ContestDraft.objects.filter(mine | Q(co_organizers=user)).select_related("by").distinct()


def find_draft(user: User, key: str) -> ContestDraft:
    """Find a draft that somebody makes; any other is not there."""
    found = drafts_of(user).filter(key=key).first()
    if found is None:
        raise NotFound(_("There is no such draft."))
    return found


def begin_draft(user: User, answers: dict[str, object]) -> ContestDraft:
    """Begin to make a contest."""
    if not user.may_organize:
        raise NotAllowed(_("Only organizers make contests."))
    with transaction.atomic():
        alone(user)
        if ContestDraft.objects.filter(by=user).count() >= MOST_DRAFTS:
            raise TooMany(_("You have %d drafts here, and no more fit. Delete one first.") % MOST_DRAFTS)
        return ContestDraft.objects.create(by=user, answers=answers)


def save_answers(draft: ContestDraft, typed: dict[str, object]) -> None:
    """Keep what was typed, beside what was typed before."""
    with transaction.atomic():
        locked = ContestDraft.objects.select_for_update().get(pk=draft.pk)
        locked.answers |= typed
        if len(json.dumps(locked.answers)) > MOST_CHARACTERS:
            raise InputError.of(_("texts of at most %d characters in all") % MOST_CHARACTERS)
        locked.changed_at = timezone.now()
        locked.save(update_fields=["answers", "changed_at"])
    draft.answers, draft.changed_at = locked.answers, locked.changed_at


def store_file(draft: ContestDraft, source: UploadedFile[bytes]) -> None:
    """Keep the data of a draft in place of what it had; of the name that the browser sent only the ending counts."""
    name = Path((source.name or "").replace("\\", "/")).name
    ending = ending_of(name, file=name)
    _check_quota(draft, source.size or 0)
    folder = draft.folder
    with telling_full_disk():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Of its own: two may send one at once.
        new = folder / f".{secrets.token_hex(6)}{ending}"
        try:
            n_bytes, digest = write_privately(source.chunks(BLOCK), new)
            if not n_bytes:
                raise InputError.of("a file that is not empty", file=name)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    told = {"name": name[:200], "sha256": digest, "n_bytes": n_bytes}
    with transaction.atomic():
        # What is told of a file is told of the one that lies there: what was tried out is what is published.
        ContestDraft.objects.select_for_update().get(pk=draft.pk)
        for old in folder.glob("source.*"):
            old.unlink()
        new.rename(folder / f"source{ending}")
        share(folder)
        # How the last file was read says nothing of this one.
        save_answers(draft, {"file": told, "origin": FILE, "encoding": "", "sheet": ""})
        ContestDraft.objects.filter(pk=draft.pk).update(n_bytes=n_bytes)


def _check_quota(draft: ContestDraft, n_bytes: int) -> None:
    others = ContestDraft.objects.filter(by=draft.by_id).exclude(pk=draft.pk).aggregate(n=Sum("n_bytes"))["n"] or 0
    if others + n_bytes > settings.WORKBENCH_QUOTA:
        most = f"{settings.WORKBENCH_QUOTA // 2**20:,} MiB"
        raise TooMany(_("The files of your drafts may have %s in all. Delete a draft first.") % most)


def source_file(draft: ContestDraft) -> Path | None:
    """Return the path of a draft's data if they come from a file."""
    if draft.answers.get("origin") != FILE or not draft.answers.get("file"):
        return None
    return next(iter(draft.folder.glob("source.*")), None)


@dataclass
class Plan:
    """What a draft comes to: the forms of its steps, read, and the contest that would be made."""

    draft: ContestDraft
    look: Json
    forms: dict[str, forms.Form] = field(default_factory=dict)

    def is_valid(self, *steps: str) -> bool:
        """Whether all that these steps ask for is there and right."""
        return all(step in self.forms and self.forms[step].is_bound and self.forms[step].is_valid() for step in steps)

    @property
    def is_data_ready(self) -> bool:
        """Whether the data were looked at and nothing is wrong with them, or are made up."""
        if not self.is_valid(DATA):
            return self.draft.answers.get("origin") is None and DATA in self.forms
        return source_file(self.draft) is None or "columns" in self.look

    @cached_property
    def reading(self) -> Reading:
        """How the data are read: as was said, and as was recognized where nothing was said."""
        if not self.is_valid(DATA) or source_file(self.draft) is None:
            return AS_IT_IS
        said: Reading = self.forms[DATA].cleaned_data["how"]
        found = {"encoding": said.encoding or self.look.get("encoding"), "sheet": said.sheet or self.look.get("sheet")}
        plain = {"utf-8": None, "": None}
        return Reading.of(said.as_dict() | {name: plain.get(value or "", value) for name, value in found.items()})

    @cached_property
    def contest(self) -> Contest | None:
        """The contest as far as it is known, unsaved, for whoever wants to see its rules; none before there are any."""
        if not self.is_valid(WHAT, RULES):
            return None
        rules = self.forms[RULES].cleaned_data
        made = Contest(edition=rules["edition"], options=rules["options"], own_toml=rules["own_toml"], slug="contest")
        form = self.forms[DETAILS]
        details = form.cleaned_data if form.is_bound and (form.is_valid() or form.cleaned_data) else {}
        terms = terms_of(made)
        made.releases_in_all, made.guesses_on_one = terms.n_releases_allowed, terms.n_guesses_allowed
        for name, value in details.items():
            if value not in (None, ""):
                setattr(made, name, value)
        # What a text of one's own says of it holds.
        made.counts = counts_said(made.own_toml) or made.counts
        return made

    @cached_property
    def trial_of(self) -> str:
        """Name what would be tried out: the rules, the data, and how these are read; empty while there is nothing."""
        contest = self.contest
        if contest is None or not self.is_data_ready:
            return ""
        data = self.draft.answers["file"]["sha256"] if source_file(self.draft) is not None else ""
        return _digest(setting_of(contest), data, json.dumps(self.reading.as_dict()))


def plan_of(draft: ContestDraft) -> Plan:
    """Read a draft."""
    look = found_of(draft, LOOK, look_of(draft)) or {}
    plan = Plan(draft, look)
    for step in FORMS:
        form = make_form(step, draft.answers, look=look)
        if form is not None:
            plan.forms[step] = form
    return plan


def look_of(draft: ContestDraft) -> str:
    """Name what there is to look at: the file, and how it is to be read."""
    answers = draft.answers
    if source_file(draft) is None:
        return ""
    said = [str(answers.get(name) or "") for name in ("encoding", "sheet", "reading")]
    return _digest(answers["file"]["sha256"], OWN.get(answers.get("kind", ""), "table"), *said)


def found_of(draft: ContestDraft, kind: str, of: str) -> Json | None:
    """Return what a job found, if it was about the current answers."""
    path = draft.folder / f"{kind}.json"
    if not of or not path.is_file():
        return None
    told: dict[str, object] = json.loads(path.read_text("utf-8"), object_hook=from_json)
    return told if told["of"] == of else None


def busy_job(draft: ContestDraft) -> Job | None:
    """Return the job that is under way, if any."""
    return Job.objects.filter(subject=draft.key, kind__in=JOBS, is_done=False).first()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def add_co_organizer(draft: ContestDraft, user: User) -> None:
    """Add a co-organizer, who edits the draft and runs the contest later."""
    if user.pk == draft.by_id or draft.co_organizers.filter(pk=user.pk).exists():
        raise NotAllowed(_("They organize this contest already."))
    draft.co_organizers.add(user)


def publish(draft: ContestDraft, by: User) -> Contest:
    """Make the contest of a draft, which is one no more; only of one that was tried out as it stands."""
    plan = plan_of(draft)
    if by.pk != draft.by_id:
        raise NotAllowed(_("Who began the draft publishes it."))
    if not plan.is_valid(WHAT, RULES, DETAILS) or not plan.is_data_ready:
        raise NotAllowed(_("Something is still missing: see the steps that are marked."))
    trial = found_of(draft, TRIAL, plan.trial_of)
    if trial is None or "standing" not in trial:
        raise NotAllowed(_("The contest has to be tried out as it stands before it is published."))
    path = source_file(draft)
    details = plan.forms[DETAILS].cleaned_data
    if plan.contest is not None:
        details["counts"] = plan.contest.counts
    source = None if path is None else LyingFile(path, path.name)
    with transaction.atomic():
        made = contests.create_contest(
            draft.by, **plan.forms[RULES].cleaned_data, **details, source=source, reading=plan.reading
        )
        for user in draft.co_organizers.filter(is_active=True):
            steering.add_co_organizer(made, by, user)
        _delete(draft)
    return made


def delete_draft(draft: ContestDraft, by: User) -> None:
    """Delete a draft with its data, for good."""
    if by.pk != draft.by_id:
        raise NotAllowed(_("Who began the draft deletes it."))
    with transaction.atomic():
        _delete(draft)


def _delete(draft: ContestDraft) -> None:
    folder = draft.folder
    Job.objects.filter(subject=draft.key, kind__in=JOBS).delete()
    ContestDraft.objects.filter(pk=draft.pk).delete()
    transaction.on_commit(lambda: unshare(folder))


def forget_person(user: User) -> None:
    """Delete the drafts of somebody whose account is deleted."""
    for draft in ContestDraft.objects.filter(by=user):
        _delete(draft)
    user.shared_drafts.clear()


def forget_drafts() -> int:
    """Delete drafts that nobody touched for a month, and folders that no row knows; says how many."""
    old = list(ContestDraft.objects.filter(changed_at__lt=timezone.now() - KEPT_FOR))
    for draft in old:
        with transaction.atomic():
            _delete(draft)
    n_removed = len(old)
    place = Path(settings.MEDIA_ROOT) / "drafts"
    for folder in place.iterdir() if place.is_dir() else ():
        is_old = time.time() - folder.stat().st_mtime > ORPHAN_SECONDS
        if is_old and folder.is_dir() and not _is_known(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            n_removed += 1
    return n_removed + sweep_shared("drafts", _is_known)


def _is_known(key: str) -> bool:
    return ContestDraft.objects.filter(key=key).exists()


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


def _ask_look(job: Job) -> dict[str, object]:
    draft = _draft(job)
    reading = plan_of(draft).forms[DATA]
    said = reading.cleaned_data["how"].as_dict() if reading.is_valid() else {}
    return {
        "source": str(source_file(draft)),
        "name": draft.answers["file"]["name"],
        "kind": OWN.get(draft.answers.get("kind", ""), "table"),
        "reading": said,
    }


def _ask_trial(job: Job) -> dict[str, object]:
    draft = _draft(job)
    plan, source = plan_of(draft), source_file(draft)
    contest = plan.contest
    return {
        "setting": "" if contest is None else setting_of(contest),
        "source": None if source is None else str(source),
        "reading": plan.reading.as_dict(),
    }


def _write(job: Job, told: Json) -> None:
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
