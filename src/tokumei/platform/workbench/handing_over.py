"""What leaves a piece of work: what may be taken home, and its file handed to the exchange or to a contest.

The job file that is taken home gives the same release on the command line. What is handed over need not be sent again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tokumei.core.errors import NotFound
from tokumei.core.text import Json
from tokumei.data.files.formats import read_frame, write_frame
from tokumei.data.files.reading import Reading
from tokumei.platform.access import UserRequest
from tokumei.platform.workbench import editing, services
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.verdicts import is_unsafe
from tokumei.tasks.job_file import SECRET, SEED
from tokumei.tasks.job_writing import write_job

# The release as other programs take it: its encoding, if it is text, and what it is.
FORMS: dict[str, tuple[str, str | Promise]] = {
    "release.xlsx": ("", _("The release as an Excel workbook.")),
    "release-bom.csv": ("utf-8-sig", _("The release as Excel opens it: UTF-8 with a mark (BOM).")),
    "release-shift-jis.csv": ("cp932", _("The release in Shift-JIS.")),
}
# What each file is; those in the second half are kept apart from the release.
NAMES: dict[str, tuple[str, str | Promise]] = {
    "release.csv": ("out/release.csv", _("The release: what is handed over.")),
    "release.parquet": ("out/release.parquet", _("The release: what is handed over.")),
    "published.csv": (
        "out/published.csv",
        _("The release in shuffled order, without deleted rows: what is handed over."),
    ),
    **{name: ("out/release.csv", says) for name, (_encoding, says) in FORMS.items()},
    "public.html": ("out/public.html", _("What may be published, in English: nothing in it leads to a person.")),
    "public.ja.html": ("out/public.ja.html", _("What may be published, in Japanese.")),
    "report.html": ("out/report.html", _("The internal report in English, one page to read or print. Keep it apart.")),
    "report.ja.html": ("out/report.ja.html", _("The internal report in Japanese. Keep it apart.")),
    "dossier.json": (
        "out/dossier.json",
        _("The dossier: every number, and the hashes of what went in and came out. Keep it apart."),
    ),
    "job.toml": (
        "job.toml",
        _("The job file with its seed: the command line makes the same release of it, to the byte. Keep it apart."),
    ),
    "recipe.json": (
        "out/secret/recipe.json",
        _("The recipe: applies the same generalization to next month's file. Keep it apart."),
    ),
    files.NEXT_RELEASE: (f"{files.NEXT}/{files.NEXT_RELEASE}", _("The release of the other file, by the same recipe.")),
    "everything.zip": ("job.toml", _("All of it, with what is kept apart. Your file itself is not in it.")),
}


# What is in the hands of others once it leaves, and what holds it.
HELD_BACK = (
    *FORMS,
    *("release.csv", "release.parquet", "published.csv", "public.html", "public.ja.html"),
    *("recipe.json", files.NEXT_RELEASE, "everything.zip"),
)


@dataclass(frozen=True)
class Takeable:
    """One file to take home."""

    name: str
    path: Path
    says: str | Promise
    is_secret: bool
    # Whether it has the form and encoding of the file that came in.
    is_as_it_came: bool = False

    @property
    def n_bytes(self) -> int:
        """How large it is; what is packed when it is asked for has no size yet."""
        return 0 if self.name.endswith(".zip") or self.name in FORMS else self.path.stat().st_size


def takeable(folder: Path) -> list[Takeable]:
    """List what is there to be taken home, once a release is made."""
    if not (folder / files.OUT / "dossier.json").is_file():
        return []
    # What must not be handed over is not handed out: the report says why, and the job file is the owner's.
    is_held_back = is_unsafe(files.read(folder / files.OUT, "dossier.json"))
    form = (files.read(folder, files.LOOK) or {}).get("form")
    secret = ("report.html", "report.ja.html", "dossier.json", "job.toml", "recipe.json", "everything.zip")
    return [
        Takeable(name, folder / place, says, name in secret, name == form)
        for name, (place, says) in NAMES.items()
        if (folder / place).is_file() and not (is_held_back and name in HELD_BACK)
    ]


def in_form(release: Path, name: str, folder: Path) -> IO[bytes]:
    """Write a release in another form, in a folder that is gone at once; whoever sends the file closes it."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        path = Path(made) / name
        write_frame(read_frame(release, Reading(delimiter=",")), path, encoding=FORMS[name][0] or "utf-8")
        return path.open("rb")


def job_with_seed(folder: Path) -> str:
    """Return the job file as it was run, with the seed that was drawn for it."""
    import tomllib

    found = tomllib.loads((folder / files.OUT / files.JOB).read_text(encoding="utf-8"))
    seed = json.loads((folder / files.OUT / SECRET / SEED).read_text(encoding="utf-8"))["seed"]
    job = {**found.get("job", {}), "seed": seed}
    return write_job({**found, "job": job}, reasons=files.reasons_of(files.read(folder, files.LOOK)))


class LyingFile(UploadedFile):  # type: ignore[type-arg]  # Django itself takes no type there.
    """A file that lies here already, read as one that was sent is."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(name=name, size=path.stat().st_size)
        self._path = path

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the file in blocks, open for no longer than that takes."""
        with self._path.open("rb") as lying:
            while block := lying.read(chunk_size or self.DEFAULT_CHUNK_SIZE):
                yield block


@dataclass(frozen=True)
class HandedOver:
    """What a piece of work gives: its file, its hierarchies, and what its job file says of the columns."""

    piece: Piece

    @property
    def name(self) -> str:
        """What the file is called."""
        return files.data_file(self.piece.folder).name

    @property
    def job(self) -> Json:
        """The job file as plain values."""
        return files.job_of(self.piece.folder)

    @property
    def columns(self) -> list[str]:
        """The columns with a hierarchy."""
        return list(files.read(self.piece.folder, files.TREES) or {})

    def columns_with(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, one in self.job.get("roles", {}).items() if one == role]

    def file(self) -> UploadedFile[bytes]:
        """Return the file as if it had been uploaded."""
        return LyingFile(files.data_file(self.piece.folder), self.name)

    def hierarchies(self) -> list[UploadedFile[bytes]]:
        """Return a file for each hierarchy, named by its column."""
        made = self.piece.folder / files.MADE_TREES
        return [LyingFile(made / f"{place}.csv", f"{name}.csv") for place, name in enumerate(self.columns)]

    def for_offer(self) -> Json:
        """Suggest what the form of an offer asks for: names, the safety of the job, who a row is."""
        stem = Path(self.name).stem
        # No offer promises less than three.
        k = max(3, self.job.get("requirements", {}).get("k", 10))
        identifiers = self.columns_with("identifier")
        return {"name": stem, "criteria": f"public={k}", "person": identifiers[0] if identifiers else ""}

    def for_contest(self) -> Json:
        """Suggest what the form of a contest asks for: a text of its own with the columns of this file."""
        from tokumei.contest.custom.template import template_of

        columns = self.job.get("input", {}).get("columns", {})
        look = files.read(self.piece.folder, files.LOOK) or {"columns": {}}
        kept = self.job.get("output", {}).get("keep", [])
        types = {name: one["type"] for name, one in look["columns"].items()}
        roles = {name: editing.KEPT if name in kept else role for name, role in self.job.get("roles", {}).items()}
        text = template_of(self.piece.kind, source=self.name, columns=columns, roles=roles, types=types)
        return {"own_toml": text, "title": Path(self.name).stem}


def handed_over(request: UserRequest) -> HandedOver | None:
    """Find the piece of work that a form was opened with; another's is as if it were not there."""
    key = request.POST.get("piece") or request.GET.get("piece")
    if not key:
        return None
    try:
        return HandedOver(services.find_piece(request.user, key))
    except NotFound:
        raise Http404 from None
