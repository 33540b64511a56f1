"""Every change of a piece of work: taking a file, having it looked at, released, cancelled, and deleted for good.

The studio is the workbench for one person on their own machine: a local owner, let in by a link that works once.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from tokumei.core.errors import InputError, NotFound
from tokumei.core.text import Json
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import ending_of
from tokumei.platform.accounts.authentication import allow, alone, token_digest
from tokumei.platform.accounts.models import User
from tokumei.platform.files.shared import has_store, is_shared, share, sweep_shared, unshare
from tokumei.platform.files.uploads import telling_full_disk, write_privately
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.process import ORPHAN_SECONDS, ChildAnswer
from tokumei.platform.jobs.queue import WORKBENCH, Work, begin
from tokumei.platform.messages import TooMany
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.models import KINDS, Piece, end_of_life, workbench_folder

log = logging.getLogger("tokumei.workbench")
LOOK, RELEASE, FRONTIER, APPLY, ATTACK = JOBS = tuple(
    f"workbench-{name}" for name in ("look", "release", "frontier", "apply_next", "attack_others")
)
# What each writes of the folder; the rest is the person's.
WRITTEN = {
    LOOK: (files.LOOK, files.RISK, files.MADE_TREES, files.TREES),
    RELEASE: (files.OUT, files.RESULT),
    FRONTIER: (files.FRONTIER,),
    APPLY: (files.NEXT,),
    ATTACK: (files.OTHERS_FOUND,),
}
SHOWN = "is_shown"
CANCELLED = gettext_noop("It was cancelled. What was done by then is kept; starting again goes on from there.")
UPLOADS_AN_HOUR = 60
# Reports have figures, which are drawn by an engine that reserves this many addresses.
FOR_FIGURES = 80 * 2**30


def begin_piece(
    owner: User,
    *,
    upload: UploadedFile[bytes] | None = None,
    path: Path | None = None,
    sample: str = "",
    kind: str = "",
) -> Piece:
    """Begin a piece of work on a file that was sent, on one of this machine or on a sample, and have it looked at."""
    from tokumei.platform.workbench.looking import SAMPLES

    if sample:
        if sample not in SAMPLES:
            raise NotFound("no such sample")
        name, kind = SAMPLES[sample].file, SAMPLES[sample].kind
    else:
        name = _file_name(str(path.name if path is not None else upload.name if upload is not None else ""))
    if kind not in KINDS:
        raise InputError.of(_("a table or a history"), value=kind)
    allow("workbench", str(owner.pk), at_most=UPLOADS_AN_HOUR, within=timedelta(hours=1))
    piece = Piece(owner=owner, kind=kind)
    folder = piece.place
    try:
        with telling_full_disk(), transaction.atomic():
            workbench_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700)
            files.write(folder, files.PIECE, {"file": name, "sample": sample})
            if path is not None:
                shutil.copyfile(path, folder / name)
            elif upload is not None and not sample:
                _store(upload.chunks(1024 * 1024), folder / name)
            piece.n_bytes = sum(one.stat().st_size for one in folder.iterdir())
            alone(owner)
            _check_quota(owner, piece.n_bytes)
            piece.save()
            for one in sorted(folder.iterdir()):
                share(one)
            begin(LOOK, piece.key)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return piece


def _file_name(given: str) -> str:
    name = files.plain_name(given)
    ending_of(name, file=name)
    return name


def take_next(piece: Piece, upload: UploadedFile[bytes] | None, unseen: str) -> None:
    """Take another file of the same columns, and have the recipe of the release applied to it."""
    name = _file_name(str(upload.name if upload is not None else ""))
    folder = piece.folder / files.NEXT
    with telling_full_disk():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        if upload is not None:
            _store(upload.chunks(1024 * 1024), folder / name)
    try:
        _count_bytes(piece)
    except TooMany:
        shutil.rmtree(folder)
        raise
    files.write(folder, files.ASKED, {"file": name, "unseen": unseen})
    with transaction.atomic():
        share(folder)
        start(piece, APPLY)


def take_beside(piece: Piece, name: str, upload: UploadedFile[bytes], below: str = files.GIVEN) -> str:
    """Take a file that a request names, in the place of one before; returns its path in the folder."""
    folder = piece.folder / below
    path = folder / f"{name}{ending_of(files.plain_name(str(upload.name)))}"
    with telling_full_disk():
        folder.mkdir(mode=0o700, exist_ok=True)
        for one in folder.glob(f"{name}.*"):
            one.unlink()
        _store(upload.chunks(1024 * 1024), path)
    try:
        _count_bytes(piece)
    except TooMany:
        path.unlink()
        raise
    share(folder)
    return f"{below}/{path.name}"


def attack_others(piece: Piece, asked: Json, uploads: dict[str, UploadedFile[bytes]]) -> None:
    """Take a release that others made with what stands beside it, and have it attacked."""
    for name, upload in uploads.items():
        asked[name] = take_beside(piece, name, upload, files.OTHERS)
    files.write(piece.folder / files.OTHERS, files.ASKED, asked)
    with transaction.atomic():
        share(piece.folder / files.OTHERS)
        start(piece, ATTACK)


def _count_bytes(piece: Piece) -> None:
    """Count what a person sent for a piece of work; refuse more than they may have here."""
    below = (files.NEXT, files.GIVEN, files.OTHERS)
    sent = [*piece.folder.glob("*.*"), *(path for one in below for path in piece.folder.glob(f"{one}/*"))]
    n_bytes = sum(path.stat().st_size for path in sent)
    _check_quota(piece.owner, n_bytes - piece.n_bytes, new=0)
    Piece.objects.filter(pk=piece.pk).update(n_bytes=n_bytes)


def edit(piece: Piece, change: Callable[[Json], None]) -> None:
    """Change the job file; what would not be read again as a job is refused, and the file stays as it was."""
    files.edit(piece.folder, change)
    share(piece.place / files.JOB)


def _store(chunks: Iterable[bytes], path: Path) -> None:
    """Write what was sent where only the server can read it."""
    n_bytes, _sha256 = write_privately(chunks, path)
    if not n_bytes:
        raise InputError.of(_("a file that is not empty"), file=path.name)


def _check_quota(owner: User, n_bytes: int, *, new: int = 1) -> None:
    """Refuse more than one person may have here at once."""
    held = pieces_of(owner)
    if held.count() + new > settings.WORKBENCH_PIECES:
        raise TooMany(
            _("You have %d pieces of work here, and no more fit. Delete one first.") % settings.WORKBENCH_PIECES
        )
    in_all = (held.aggregate(n=Sum("n_bytes"))["n"] or 0) + n_bytes
    if in_all > settings.WORKBENCH_QUOTA:
        most = f"{settings.WORKBENCH_QUOTA // 2**20:,} MiB"
        raise TooMany(_("Your files here may have %s in all. Delete a piece of work first.") % most)


def pieces_of(owner: User) -> Any:
    """Return a person's pieces of work that are not over."""
    return Piece.objects.filter(owner=owner, expires__gt=timezone.now())


def find_piece(owner: User, key: str) -> Piece:
    """Find one of the person's own; another's is as if it were not there."""
    found: Piece | None = pieces_of(owner).filter(key=key).first()
    if found is None or not found.is_here:
        raise NotFound("no such piece of work")
    return found


def start(piece: Piece, kind: str) -> None:
    """Have something done; what is under way of the same kind is ended, since it is about an older job file."""
    with transaction.atomic():
        running = Job.objects.filter(subject=piece.key, kind=kind)
        if kind != LOOK and running.filter(is_done=False).exists():
            return
        running.delete()
        unshare(piece.place / files.faults_file(kind))
        begin(kind, piece.key)


def cancel(piece: Piece) -> None:
    """End what is under way: the process sees that its job is over, and is killed."""
    Job.objects.filter(subject=piece.key, kind__in=(RELEASE, FRONTIER, APPLY, ATTACK), is_done=False).update(
        is_done=True,
        is_running=False,
        outcome=Outcome.FAILED,
        reason=CANCELLED,
        progress={},
        finished_at=timezone.now(),
    )


def jobs_of(piece: Piece) -> dict[str, Job]:
    """Return the jobs of a piece of work by kind, without the name of the app."""
    found = Job.objects.filter(subject=piece.key, kind__in=JOBS)
    return {job.kind.removeprefix("workbench-"): job for job in found}


def busy_job(piece: Piece, *, whole: bool = False) -> Job | None:
    """Return what is under way; for most pages, looking is over once the hierarchies are there.

    whole: until the very end.
    """
    for job in jobs_of(piece).values():
        if not job.is_done and (whole or not _is_shown(job, piece)):
            return job
    return None


def _is_shown(job: Job, piece: Piece) -> bool:
    """Whether a look has drawn its hierarchies: here, or on a machine that told so."""
    trees = piece.place / files.TREES
    is_new = trees.exists() and trees.stat().st_mtime > job.created_at.timestamp()
    return job.kind == LOOK and (is_new or bool(job.payload.get(SHOWN)))


def keep_longer(piece: Piece) -> None:
    """Keep a piece of work from now on as long as a new one."""
    Piece.objects.filter(pk=piece.pk).update(expires=end_of_life())


def delete_piece(piece: Piece) -> None:
    """Delete a piece of work for good, at once: its row, its jobs and its files."""
    with transaction.atomic():
        Job.objects.filter(subject=piece.key, kind__in=JOBS).delete()
        Piece.objects.filter(pk=piece.pk).delete()
    unshare(piece.place)
    if piece.place.exists():
        # A process that is being ended may just have written; the sweep looks again.
        log.info("files stay for the sweep", extra={"facts": {"piece": piece.pk}})


def forget_person(user: User) -> None:
    """Delete all pieces of work of somebody whose account is deleted."""
    for piece in Piece.objects.filter(owner=user):
        delete_piece(piece)


def sweep() -> int:
    """Delete what is over its time, and folders that no row knows; says how many."""
    over = list(Piece.objects.filter(expires__lte=timezone.now()))
    for piece in over:
        delete_piece(piece)
    n_removed = len(over)
    if workbench_folder().is_dir():
        for folder in workbench_folder().iterdir():
            if time.time() - folder.stat().st_mtime < ORPHAN_SECONDS:
                continue
            if not Piece.objects.filter(key=folder.name).exists():
                shutil.rmtree(folder, ignore_errors=True)
                n_removed += 1
    n_removed += sweep_shared("workbench", lambda key: Piece.objects.filter(key=key).exists())
    if n_removed:
        log.info("pieces of work removed", extra={"facts": {"pieces": n_removed}})
    return n_removed


def _piece(job: Job) -> Piece:
    return Piece.objects.get(key=job.subject)


def _ask(job: Job) -> Json:
    piece = _piece(job)
    trees = piece.folder / files.TREES
    if has_store() and trees.exists():
        # From before, by the clock of this machine or another.
        os.utime(trees, (0, 0))
    return {"folder": str(piece.place), "kind": piece.kind}


def _during(job: Job) -> None:
    """Show on all machines what a look has found by the time that the hierarchies are drawn."""
    trees = workbench_folder() / job.subject / files.TREES
    if job.kind != LOOK or SHOWN in job.payload or not has_store() or not trees.exists() or not trees.stat().st_mtime:
        return
    job.payload[SHOWN] = True
    with transaction.atomic():
        if Job.objects.filter(pk=job.pk, fence=job.fence, is_running=True).update(payload=job.payload):
            _share(job)


def _share(job: Job) -> None:
    """Publish what a job wrote to all machines; what it found lies in the folder already."""
    place = _piece(job).place
    if not has_store():
        return
    written = [place / name for name in WRITTEN[job.kind]]
    if job.kind == LOOK:
        # The first look makes these; then they are the person's.
        written += [one for one in (files.data_file(place), place / files.JOB) if not is_shared(one)]
    for one in written:
        if one.exists():
            share(one)


def _write_result(job: Job, result: dict[str, object]) -> None:
    _share(job)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    """Keep what is wrong beside the data, since it may quote it."""
    _share(job)
    told = {"faults": list(answer.faults), "n_faults": answer.n_faults, "said": answer.said}
    place = _piece(job).place
    files.write(place, files.faults_file(job.kind), told)
    share(place / files.faults_file(job.kind))


def _write_failure(job: Job, failure: str) -> None:
    # Maybe told by another machine, for a process that died: what it has of the folder is older.
    _piece(job)


def work_of(name: str) -> Work:
    """Return the kind of work that runs one function of the limited process."""
    module = "looking" if name == "look" else "releasing"
    return Work(
        f"tokumei.platform.workbench.{module}:{name}",
        WORKBENCH,
        ask=_ask,
        write_result=_write_result,
        write_faults=_write_faults,
        write_failure=_write_failure,
        during=_during,
        seconds=settings.WORKBENCH_SECONDS,
        reserved_bytes=FOR_FIGURES if name in ("release", "attack_others") else 0,
    )


OWNER, LINK = "owner", "studio-link.json"


def local_owner() -> User:
    """Return the one account of this machine; no password opens it."""
    found = User.objects.filter(username=OWNER).first()
    return found or User.objects.create_user(OWNER, f"{OWNER}@localhost.invalid", None, display_name="Me")


def make_link(file: Path | None, kind: str) -> str:
    """Return the one-time address that lets its owner in and leads to the given file."""
    owner = local_owner()
    address = reverse("workbench:start")
    if file is not None:
        address = reverse("workbench:columns", args=[begin_piece(owner, path=file, kind=kind).key])
    token = secrets.token_urlsafe(32)
    write_text(_place(), json.dumps({"sha256": token_digest(token), "to": address}))
    _place().chmod(0o600)
    return reverse("workbench:enter", args=[token])


def use_link(token: str) -> tuple[User, str] | None:
    """Return whom a link lets in and where it leads; None for any other link, and the second time."""
    if not settings.IS_STUDIO:
        return None
    try:
        found = json.loads(_place().read_text(encoding="utf-8"))
        if not hmac.compare_digest(found["sha256"], token_digest(token)):
            return None
        # Of two who come at once, one finds nothing to remove.
        _place().unlink()
    except (OSError, ValueError, KeyError):
        return None
    return local_owner(), str(found["to"])


def _place() -> Path:
    return Path(settings.DATA) / LINK
