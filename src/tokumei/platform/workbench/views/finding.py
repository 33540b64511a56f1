"""Finding a piece of work for its owner, what all its pages show, and changing its job file."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from tokumei.core.errors import InputError, NotFound
from tokumei.platform.access import UserRequest
from tokumei.platform.jobs.models import Outcome
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench import editing, services
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.words import step_in_words


def find(request: UserRequest, level: str, piece: str, **_: Any) -> dict[str, Any]:
    """Find a piece of work of one's own."""
    try:
        return {"piece": services.find_piece(request.user, piece)}
    except NotFound:
        raise Http404 from None


def frame(request: HttpRequest, piece: Piece) -> dict[str, Any]:
    """Return the context of the head of every page: the file, how far work is, what is wrong."""
    folder, jobs = piece.folder, services.jobs_of(piece)
    busy = services.busy_job(piece)
    refused = [job.kind for job in jobs.values() if job.outcome == Outcome.REFUSED]
    faults = [files.read(folder, files.faults_file(kind)) for kind in refused]
    look = files.read(folder, files.LOOK)
    return {
        "piece": piece,
        "name": files.read(folder, files.PIECE)["file"],
        "look": look,
        "is_table": piece.kind == "table",
        "busy": busy
        and {"says": step_in_words(busy), "progress": busy.progress, "can_cancel": "look" not in busy.kind},
        "jobs": jobs,
        "faults": next((found for found in faults if found), None),
        "stopped": next((job for job in jobs.values() if job.is_done and job.reason), None),
        "has_release": (folder / files.OUT / "dossier.json").is_file(),
    }


def edited(request: UserRequest, piece: Piece, change: editing.Change, to: str, back: str) -> HttpResponse:
    """Change the job file and have the file looked at anew, or say what is wrong with the change."""
    try:
        services.edit(piece, change)
    except InputError as error:
        messages.error(request, describe_error(error))
        return redirect(back, piece=piece.key)
    services.start(piece, services.LOOK)
    return redirect(to, piece=piece.key)
