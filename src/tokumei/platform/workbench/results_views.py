"""What became of the file: before and after, what attacks found, and everything to take home."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import IO, cast, get_args

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError
from tokumei.core.text import Json, JsonView
from tokumei.methods.apply import Unseen
from tokumei.platform.access import UserRequest, access
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench import drawing, services, words
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.file_views import find, frame
from tokumei.platform.workbench.handing_over import FORMS, in_form, job_with_seed, takeable
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.verdicts import verdict_shown
from tokumei.reports.dossier_pages import MISSING

COLUMNS_SHOWN, VALUES_SHOWN = 12, 6
# In an address: who asks wants the release that was made by the job as it stood before.
OLDER = "older"


@access("user", of=find)
def see(request: UserRequest, piece: Piece) -> HttpResponse:
    """Show the release beside the file."""
    shown = frame(request, piece)
    if shown["has_release"]:
        dossier = files.read(piece.folder / files.OUT, "dossier.json")
        released = files.read(piece.folder, files.RESULT) or {}
        shown |= {"released": released.get("first_rows"), "holds": dossier["holds"]} | verdict_shown(dossier)
        shown |= _beside(released)
        shown |= {"bounds": dossier["bounds"], "result": dossier["results"]} | _numbers(dossier["results"], piece)
    return render(request, "workbench/see.html", shown)


def _numbers(result: JsonView, piece: Piece) -> Json:
    use = [
        {"name": words.title_of(name), "says": words.says(name), "value": f"{score['value']:.3g}"}
        for name, score in result.get("use", {}).get("scores", {}).items()
        if score.get("value") is not None
    ]
    shown: Json = {
        "tried": words.attack_lines(result.get("attacks", [])),
        "use": use,
        "suppressed": f"{result.get('suppressed') or 0:.1%}",
        "singled_out": words.singled_out_lines(result.get("attacks", [])),
    }
    if piece.kind == "history":
        shown["figures"] = words.history_figures(result.get("attacks", []))
    shown["loss"] = None if result.get("loss") is None else f"{result['loss']:.1%}"
    return shown | (_of_table(result) if piece.kind == "table" else {})


def _beside(released: JsonView) -> Json:
    """Draw what a history's columns hold before and after, and list the correlations of a table's."""
    drawn = []
    for name, listed in released.get("columns", {}).items():
        rows = [(one["value"] or _("other"), one["before"], one["after"]) for one in listed]
        called = str(words.IN_A_HISTORY.get(name, name))
        drawn.append({"name": called, "drawn": drawing.before_and_after(rows, title=_("%s before and after") % called)})
    pairs = [
        {"names": " – ".join(one["columns"])} | {side: f"{one[side]:+.2f}" for side in ("before", "after")}
        for one in released.get("correlations", [])
    ]
    return {"history_pictures": drawn, "correlations": pairs}


def _of_table(result: JsonView) -> Json:
    profile = result["profile"]
    pictures = []
    for name, column in list(profile["columns"].items())[:COLUMNS_SHOWN]:
        # In the groups of the release, where it has some: a group of values cannot stand in the original.
        before, after = column.get("grouped", column["before"]["shares"]), column["after"]["shares"]
        values = sorted({**before, **after}, key=lambda one: -max(before.get(one, 0), after.get(one, 0)))
        rows = [
            (_("missing") if value == MISSING else value, before.get(value, 0.0), after.get(value, 0.0))
            for value in values[:VALUES_SHOWN]
        ]
        pictures.append(
            {
                "name": name,
                "before": column["before"]["distinct"],
                "after": column["after"]["distinct"],
                "drawn": drawing.before_and_after(rows, title=_("%s before and after") % name),
            }
        )
    before, after = (words.of_measures(result[side]["measures"]) for side in ("before", "after"))
    return {
        "pictures": pictures,
        "numbers": words.number_lines(before, after),
        "sizes": [
            {
                "name": side,
                "drawn": drawing.bars(
                    [(size, float(n), f"{n:,}") for size, n in profile["class_sizes"][key].items()],
                    title=str(side),
                    kind=key,
                ),
            }
            for key, side in (("before", _("Before")), ("after", _("After")))
        ],
        "left_out": profile.get("left_out") or [],
        "profile": profile,
    }


@access("user", of=find)
def take_home(request: UserRequest, piece: Piece) -> HttpResponse:
    """List what may be taken home, with the commands that go on from there."""
    shown = frame(request, piece)
    if not shown["has_release"]:
        return redirect("workbench:see", piece=piece.key)
    shown |= verdict_shown(files.read(piece.folder / files.OUT, "dossier.json"))
    shown["is_older"] = shown["is_stale"] and OLDER in request.GET
    shown |= {"files": takeable(piece.folder), "applied": files.read(piece.folder / files.NEXT, files.APPLIED)}
    shown["can_organize"] = request.user.is_organizer or request.user.is_superuser
    return render(request, "workbench/take_home.html", shown)


@access("user", of=find, methods="POST")
def next_file(request: UserRequest, piece: Piece) -> HttpResponse:
    """Take another file of the same columns, for the same recipe."""
    if piece.kind != "table" or not (piece.folder / files.OUT / "secret" / "recipe.json").is_file():
        raise Http404
    unseen = request.POST.get("unseen", "refuse")
    if unseen not in get_args(Unseen):
        raise Http404
    try:
        services.take_next(piece, uploads_of(request).get("file"), unseen)
    except InputError as error:
        messages.error(request, describe_error(error))
    return redirect("workbench:take_home", piece=piece.key)


@access("user", of=find)
def file(request: UserRequest, piece: Piece, name: str) -> HttpResponseBase:
    """Send one of the files, or all of them packed."""
    found = {one.name: one for one in takeable(piece.folder)}
    if name not in found:
        raise Http404
    if frame(request, piece)["is_stale"] and OLDER not in request.GET:
        return redirect("workbench:take_home", piece=piece.key)
    if name == files.JOB:
        text = job_with_seed(piece.folder)
        return HttpResponse(
            text, content_type="application/toml", headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )
    if name in FORMS:
        return FileResponse(
            in_form(found[name].path, name, Path(settings.MEDIA_ROOT)), as_attachment=True, filename=name
        )
    if name.endswith(".zip"):
        return FileResponse(_packed(piece.folder), as_attachment=True, filename=name)
    return FileResponse(found[name].path.open("rb"), as_attachment=True, filename=name)


def _packed(folder: Path) -> IO[bytes]:
    """Pack the job file, what it names and all that it gave; the file itself stays where it is."""
    # Whoever sends it closes it.
    kept = tempfile.TemporaryFile(dir=settings.MEDIA_ROOT)  # noqa: SIM115
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / files.JOB, files.JOB)
        beside = ((one, one) for one in (files.HIERARCHIES, files.GIVEN))
        for part, below in (*beside, (files.OUT, "dossier")):
            for path in sorted((folder / part).rglob("*")):
                if path.is_file() and not path.name.startswith("."):
                    archive.write(path, str(Path(below) / path.relative_to(folder / part)))
    kept.seek(0)
    return cast("IO[bytes]", kept)
