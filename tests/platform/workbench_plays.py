"""Pieces of work for tests: a small file, and its jobs done in this process."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from tokumei.platform.accounts.models import User
from tokumei.platform.jobs.queue import next_jobs
from tokumei.platform.jobs.running import run_here
from tokumei.platform.workbench import services
from tokumei.platform.workbench.models import Piece

# Eight people, one of each pair alike in sex and about as old.
PEOPLE = (
    "name,sex,age,town,illness\n"
    + "".join(
        f"{name},{sex},{age},{town},{illness}\n"
        for name, sex, age, town, illness in (
            ("Ann Lee", "f", 31, "Nara", "flu"),
            ("Bea Kim", "f", 34, "Nara", "cold"),
            ("Cal Roe", "m", 38, "Kobe", "flu"),
            ("Dan Fox", "m", 36, "Kobe", "flu"),
            ("Eve Ray", "f", 52, "Nara", "cold"),
            ("Fay Day", "f", 57, "Nara", "asthma"),
            ("Gus Orr", "m", 55, "Kobe", "cold"),
            ("Hal Poe", "m", 59, "Kobe", "flu"),
        )
    )
).encode()


def begin(owner: User, content: bytes = PEOPLE, name: str = "people.csv", kind: str = "table", **given: Any) -> Piece:
    """Begin a piece of work and let it be looked at."""
    upload = None if "sample" in given else SimpleUploadedFile(name, content)
    piece = services.begin_piece(owner, upload=upload, kind=kind, **given)
    do_jobs()
    return piece


def do_jobs() -> None:
    """Do the work of the workbench in this process."""
    for job in next_jobs(["workbench"], most=20):
        run_here(job)
