"""What may be taken home of a piece of work, and the job file by which the command line gives the same release."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tokumei.platform.workbench import folder as files
from tokumei.tasks.job_text import write_job
from tokumei.tasks.run_job import SECRET, SEED

# What each file is; those in the second half are kept apart from the release.
NAMES: dict[str, tuple[str, str | Promise]] = {
    "release.csv": ("out/release.csv", _("The release: what is handed over.")),
    "release.parquet": ("out/release.parquet", _("The release: what is handed over.")),
    "published.csv": (
        "out/published.csv",
        _("The release in shuffled order, without deleted rows: what is handed over."),
    ),
    "report.html": ("out/report.html", _("The report in English, one page to read or print.")),
    "report.ja.html": ("out/report.ja.html", _("The report in Japanese.")),
    "dossier.json": ("out/dossier.json", _("The dossier: every number, and the hashes of what went in and came out.")),
    "job.toml": (
        "job.toml",
        _("The job file with its seed: the command line makes the same release of it, to the byte. Keep it apart."),
    ),
    "recipe.json": (
        "out/secret/recipe.json",
        _("The recipe: applies the same generalization to next month's file. Keep it apart."),
    ),
    files.NEXT_RELEASE: (
        f"{files.NEXT}/{files.NEXT_RELEASE}",
        _("The release of the other file, by the same recipe."),
    ),
    "everything.zip": ("job.toml", _("All of it, with what is kept apart. Your file itself is not in it.")),
}


@dataclass(frozen=True)
class Takeable:
    """One file to take home."""

    name: str
    path: Path
    says: str | Promise
    is_secret: bool

    @property
    def n_bytes(self) -> int:
        """How large it is; what is packed when it is asked for has no size yet."""
        return 0 if self.name.endswith(".zip") else self.path.stat().st_size


def takeable(folder: Path) -> list[Takeable]:
    """List what is there to be taken home, once a release is made."""
    if not (folder / files.OUT / "dossier.json").is_file():
        return []
    secret = ("job.toml", "recipe.json", "everything.zip")
    return [
        Takeable(name, folder / place, says, name in secret)
        for name, (place, says) in NAMES.items()
        if (folder / place).is_file()
    ]


def job_with_seed(folder: Path) -> str:
    """Return the job file as it was run, with the seed that was drawn for it."""
    import tomllib

    found = tomllib.loads((folder / files.OUT / files.JOB).read_text(encoding="utf-8"))
    seed = json.loads((folder / files.OUT / SECRET / SEED).read_text(encoding="utf-8"))["seed"]
    job = {**found.get("job", {}), "seed": seed}
    return write_job({**found, "job": job}, reasons=files.reasons_of(files.read(folder, files.LOOK)))
