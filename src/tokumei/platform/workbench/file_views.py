"""The beginning: taking a file, listing one's pieces of work, and the columns of one with their roles and hierarchies.

`find` and `frame` come first: every page of a piece of work finds it for its owner by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.core.registry import part_options
from tokumei.core.text import Json, JsonView
from tokumei.data.history_columns import NEEDED, SCHEMA
from tokumei.hierarchies.hierarchy import BUILDERS
from tokumei.platform.access import UserRequest, access, redirect_saying, status_of
from tokumei.platform.accounts.models import User
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.files.shared import share
from tokumei.platform.jobs.models import Outcome
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench import drawing, editing, services
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.mending import mended
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.words import PARTS_OF_HISTORY, ROLES, TYPES, step_in_words


def find(request: UserRequest, level: str, piece: str, **_: object) -> dict[str, Piece]:
    """Find a piece of work of one's own."""
    try:
        return {"piece": services.find_piece(request.user, piece)}
    except NotFound:
        raise Http404 from None


def frame(request: HttpRequest, piece: Piece) -> Json:
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
        "faults": mended(piece, next((found for found in faults if found), None)),
        "stopped": next((job for job in jobs.values() if job.is_done and job.reason), None),
        "goes_out": _goes_out(folder) if look and piece.kind == "table" else [],
        **_release_state(folder),
    }


def _goes_out(folder: Path) -> list[Json]:
    """List in which form the columns of the file go out, those that stay behind last."""
    job = files.job_of(folder)
    roles, kept = job.get("roles", {}), job.get("output", {}).get("keep", [])
    forms = {name: "kept" if name in kept else role for name, role in roles.items()}
    listed = [
        {"how": how, "names": [name for name, role in forms.items() if role in among]}
        for how, among in (
            (_("generalized"), ("quasi-identifier",)),
            (_("as they are"), ("sensitive", "kept")),
            (_("not released"), ("identifier", "person", "household", "other")),
        )
    ]
    return [one for one in listed if one["names"]]


def _release_state(folder: Path) -> Json:
    """Say whether there is a release, whether it is of the job as it stands, and whether it may be handed over."""
    has_release = (folder / files.OUT / "dossier.json").is_file()
    is_stale = has_release and (folder / files.OUT / files.JOB).read_text() != (folder / files.JOB).read_text()
    return {"has_release": has_release, "is_stale": is_stale}


def edited(request: UserRequest, piece: Piece, change: editing.Change, to: str, back: str) -> HttpResponse:
    """Change the job file and have the file looked at anew, or say what is wrong with the change."""
    try:
        services.edit(piece, change)
    except InputError as error:
        messages.error(request, describe_error(error))
        return redirect(back, piece=piece.key)
    services.start(piece, services.LOOK)
    return redirect(to, piece=piece.key)


# What somebody sends who was asked.
SURE = "sure"
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


def _shown(request: HttpRequest) -> Json:
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
    """Delete a piece of work at once; a browser without scripts asks on a page of its own."""
    if SURE not in request.POST:
        return render(request, "workbench/delete.html", frame(request, piece))
    services.delete_piece(piece)
    return redirect_saying(request, _("It is deleted, with its file and all that was made of it."), "workbench:start")


@access("user", of=find, methods="POST")
def keep_longer(request: UserRequest, piece: Piece) -> HttpResponse:
    """Keep a piece of work as long as a new one."""
    services.keep_longer(piece)
    return redirect_saying(request, _("It is kept longer."), "workbench:columns", piece=piece.key)


@access("user", of=find, methods="POST")
def person(request: UserRequest, piece: Piece) -> HttpResponse:
    """Take a column as the one that tells whose a row is, so that people are counted."""
    column = request.POST.get("column", "")
    if column not in files.job_of(piece.folder).get("roles", {}) and column not in _columns_of(piece):
        raise Http404
    return edited(request, piece, editing.set_person(column), "workbench:risk", "workbench:columns")


def _columns_of(piece: Piece) -> list[str]:
    return list((files.read(piece.folder, files.LOOK) or {"columns": {}})["columns"])


@access("anyone")
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Log in the one person who started the workbench on this machine; the link works once."""
    found = services.use_link(token)
    if found is None:
        raise Http404
    owner, address = found
    login(request, owner, backend="tokumei.platform.accounts.authentication.NameOrEmail")
    return redirect(address)


# Each has one field of the form, and a form may have two hundred.
COLUMNS_ON_A_PAGE = 100
LARGEST_HIERARCHY = 8 * 1024 * 1024
# The builders whose options are asked for, and what they are good for.
OFFERED = ("intervals", "calendar", "decades", "prefix", "japan-prefecture", "japan-age", "from-data")


@access("user", of=find, methods="GET POST")
def columns(request: UserRequest, piece: Piece) -> HttpResponse:
    """Show the columns of the file, and take their roles."""
    look = files.read(piece.folder, files.LOOK)
    if request.method == "POST":
        if look is None:
            raise Http404
        names = list(look["columns"])
        if piece.kind == "history":
            change = editing.set_history_columns(names, request.POST)
            return edited(request, piece, change, "workbench:risk", "workbench:columns")
        try:
            services.edit(piece, editing.set_roles(names, request.POST))
        except (InputError, NotAllowed) as error:
            shown = frame(request, piece) | _columns_shown(request, piece, look) | {"error": describe_error(error)}
            return render(request, "workbench/columns.html", shown, status=400)
        services.start(piece, services.LOOK)
        to = "workbench:protect" if request.POST.get("then") == "protect" else "workbench:risk"
        return redirect(to, piece=piece.key)
    shown = frame(request, piece)
    if look is not None:
        shown |= _columns_shown(request, piece, look)
    return render(request, "workbench/columns.html", shown)


def _columns_shown(request: UserRequest, piece: Piece, look: JsonView) -> Json:
    job = files.job_of(piece.folder)
    roles, kept = job.get("roles", {}), job.get("output", {}).get("keep", [])
    listed = [
        one
        | {
            "name": name,
            "field": f"r{number}",
            "type_said": TYPES.get(one["type"], one["type"]),
            # What was sent and refused stays as it was chosen.
            "chosen": request.POST.get(f"r{number}")
            or (editing.KEPT if name in kept else roles.get(name, editing.OTHER)),
            "spark": drawing.spark(one["picture"]),
        }
        for number, (name, one) in enumerate(look["columns"].items())
    ]
    page = Paginator(listed, COLUMNS_ON_A_PAGE).get_page(request.GET.get("page"))
    mapped = job.get("input", {}).get("columns", {})
    parts = [
        {
            "field": f"m_{role}",
            "said": PARTS_OF_HISTORY[role],
            "is_needed": role in NEEDED,
            "chosen": mapped.get(role, role if role in look["columns"] else ""),
        }
        for role in PARTS_OF_HISTORY
        if role in SCHEMA
    ]
    return {"page": page, "role_choices": ROLES.items(), "parts": parts, "names": list(look["columns"])}


@access("user", of=find, methods="GET POST")
def hierarchies(request: UserRequest, piece: Piece) -> HttpResponse:
    """Draw the hierarchy of each quasi-identifier, and let one be changed."""
    trees = files.read(piece.folder, files.TREES) or {}
    if request.method == "POST":
        column = request.POST.get("column", "")
        if column not in trees:
            raise Http404
        values = [value for value, _group in trees[column]["values"]]
        change = editing.set_hierarchy(column, request.POST, values)
        return edited(request, piece, change, "workbench:hierarchies", "workbench:hierarchies")
    given = files.job_of(piece.folder).get("hierarchies", {}) if trees else {}
    listed = [_tree_shown(name, tree, given.get(name), place) for place, (name, tree) in enumerate(trees.items())]
    return render(request, "workbench/hierarchies.html", frame(request, piece) | {"trees": listed})


def _tree_shown(name: str, tree: JsonView, given: Any, place: int) -> Json:
    words = [_level_in_words(number, level["n_labels"]) for number, level in enumerate(tree["levels"])]
    is_file, options = isinstance(given, str), given if isinstance(given, dict) else {}
    chosen = editing.FILE if is_file else options.get("builder", editing.MADE)
    return {
        "name": name,
        "place": place,
        "said": tree["said"],
        "n_leaves": tree["n_leaves"],
        "drawn": drawing.bands(tree["levels"], title=_("Levels of %s") % name, words=words),
        "levels": zip(words, tree["levels"], strict=True),
        "chosen": editing.GROUPS if chosen == "ordered-groups" else chosen,
        "is_file": is_file,
        "builders": [_builder_shown(one, options if one == chosen else {}) for one in OFFERED],
        "values": tree["values"],
        "groups": list(dict.fromkeys(group for _value, group in tree["values"])),
        "order": ", ".join(one.partition("=")[0] for one in options.get("groups", [])),
        "sizes": ",".join(map(str, options.get("sizes", []))),
    }


def _level_in_words(number: int, n_labels: int) -> str:
    if n_labels == 1:
        return _("not told")
    return (_("%(n)s groups") if number else _("%(n)s values")) % {"n": f"{n_labels:,}"}


def _builder_shown(name: str, options: Mapping[str, object]) -> Json:
    listed = []
    for option in part_options(BUILDERS.get(name)):
        value = options.get(option.name, option.default)
        shown = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value is None else value
        listed.append(
            {
                "name": f"o.{option.name}",
                "label": option.name,
                "value": shown,
                "help": option.help,
                "is_flag": option.type is bool,
                "is_on": value is True,
            }
        )
    doc = (BUILDERS.get(name).__doc__ or "").strip().splitlines()[0]
    return {"name": name, "says": doc, "options": listed}


@access("user", of=find, methods="POST")
def upload_hierarchy(request: UserRequest, piece: Piece) -> HttpResponse:
    """Take a hierarchy file of one column, in the form of ARX."""
    trees, column = files.read(piece.folder, files.TREES) or {}, request.POST.get("column", "")
    upload = uploads_of(request).get("file")
    if column not in trees:
        raise Http404
    if upload is None or not 0 < (upload.size or 0) <= LARGEST_HIERARCHY:
        raise InputError.of(_("a hierarchy file of at most 8 MiB"), column=column)
    folder = piece.folder / files.HIERARCHIES
    folder.mkdir(mode=0o700, exist_ok=True)
    name = f"{list(trees).index(column)}.csv"
    (folder / name).write_bytes(b"".join(upload.chunks()))
    share(folder)

    def change(found: Json) -> None:
        found.setdefault("hierarchies", {})[column] = f"{files.HIERARCHIES}/{name}"

    return edited(request, piece, change, "workbench:hierarchies", "workbench:hierarchies")


@access("user", of=find)
def hierarchy_file(request: UserRequest, piece: Piece, place: int) -> FileResponse:
    """Send the hierarchy of a column, in the form of ARX."""
    trees = files.read(piece.folder, files.TREES) or {}
    path = piece.folder / files.MADE_TREES / f"{place}.csv"
    if place >= len(trees) or not path.is_file():
        raise Http404
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{list(trees)[place]}.csv")
