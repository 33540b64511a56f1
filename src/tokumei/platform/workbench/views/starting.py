"""The beginning and the end: taking a file, listing one's pieces of work, deleting one for good."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, TokumeiError
from tokumei.platform.access import UserRequest, access
from tokumei.platform.accounts.models import User
from tokumei.platform.error_pages import status_of
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench import services, studio
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.views.finding import find

# Said by the script that shows how far an upload is: it wants to know where to go next, not a page.
SCRIPTED = "X-Upload"


@access("anyone")
def start(request: HttpRequest) -> HttpResponse:
    """Take a file or a sample, and list what is under way."""
    return render(request, "workbench/start.html", _shown(request))


@access("user", methods="POST")
def new(request: UserRequest) -> HttpResponse:
    """Begin a piece of work."""
    try:
        piece = _begin(request)
    except TokumeiError as error:
        if SCRIPTED in request.headers:
            return JsonResponse({"message": describe_error(error)}, status=status_of(error))
        if not isinstance(error, InputError):
            raise
        shown = _shown(request) | {"error": describe_error(error)}
        return render(request, "workbench/start.html", shown, status=status_of(error))
    address = reverse("workbench:columns", args=[piece.key])
    return JsonResponse({"location": address}) if SCRIPTED in request.headers else redirect(address)


def _begin(request: UserRequest) -> Piece:
    sample = request.POST.get("sample", "")
    if sample:
        return services.begin_piece(request.user, sample=sample)
    upload = uploads_of(request).get("file")
    if upload is None:
        raise InputError.of(_("a file: CSV, Excel or Parquet"))
    return services.begin_piece(request.user, upload=upload, kind=request.POST.get("kind", "table"))


def _shown(request: HttpRequest) -> dict[str, Any]:
    held = services.pieces_of(request.user) if isinstance(request.user, User) else []
    listed = []
    for piece in held:
        if piece.is_here:
            has_release = (piece.folder / files.OUT / "dossier.json").is_file()
            listed.append(
                {"piece": piece, "name": files.read(piece.folder, files.PIECE)["file"], "is_done": has_release}
            )
    return {
        "listed": listed,
        "hours": f"{settings.WORKBENCH_HOURS:g}",
        "most": settings.WORKBENCH_BYTES,
        "data_folder": settings.DATA if settings.IS_STUDIO else "",
    }


@access("user", of=find, methods="POST")
def delete(request: UserRequest, piece: Piece) -> HttpResponse:
    """Delete a piece of work at once."""
    services.delete_piece(piece)
    messages.success(request, _("It is deleted, with its file and all that was made of it."))
    return redirect("workbench:start")


@access("anyone")
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Log in the one person who started the workbench on this machine; the link works once."""
    found = studio.use_link(token)
    if found is None:
        raise Http404
    owner, address = found
    login(request, owner, backend="tokumei.platform.accounts.backends.NameOrEmail")
    return redirect(address)
