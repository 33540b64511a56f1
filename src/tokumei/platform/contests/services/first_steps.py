"""What the data page says of its files at a glance, and the commands that make a first release and a first guess."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.cache import cache

from tokumei.data.files.source import read_bytes
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.services.phase_work import counting_releases

N_FIRST = 5
LONGEST_LINE = 200
# Larger files are not read for a page: their size alone is told.
LARGEST_READ = 64 * 1024 * 1024
# Seconds; the files of a contest do not change.
KEPT_FOR = 24 * 3600


@dataclass(frozen=True)
class Glance:
    """A file at a glance; lines and columns are missing where it is too large to be read for a page."""

    n_bytes: int
    n_lines: int | None
    n_columns: int | None
    first: tuple[str, ...]


def glance_at(path: Path) -> Glance:
    """Look at a file, once for all who see it."""
    status = path.stat()
    key = f"glance-{hash((str(path), status.st_size, status.st_mtime_ns))}"
    found: Glance | None = cache.get(key)
    if found is None:
        found = _look(path, status.st_size)
        cache.set(key, found, KEPT_FOR)
    return found


def _look(path: Path, n_bytes: int) -> Glance:
    if n_bytes > LARGEST_READ:
        return Glance(n_bytes, None, None, ())
    data = read_bytes(path)
    n_lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    lines = [line.decode("utf-8", "replace").rstrip("\r") for line in data.split(b"\n", N_FIRST)[:N_FIRST] if line]
    n_columns = lines[0].count(",") + 1 if lines else 0
    shown = (line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines)
    return Glance(n_bytes, n_lines, n_columns, tuple(shown))


def first_steps(contest: Contest) -> dict[str, Any]:
    """Return the commands to start with, until something is handed in; they are run where the kit lies."""
    kit = contest.slug
    commands = [f"unzip {kit}-kit.zip -d {kit}", f"tokumei contest make-release {kit} --out my-release"]
    if contest.published_at is None:
        commands += [f"tokumei contest check {kit} my-release", f"tokumei contest score {kit} my-release"]
        target = f"{kit}/sample/published"
    else:
        del commands[1:]
        target = f"{kit}/releases/{min(one.team.slug for one in counting_releases(contest).values())}"
    level = next(iter(terms_of(contest).knowledge_files))
    chosen = f" --level {level}" if level else ""
    commands += [
        f"tokumei contest make-guess {kit} {target}{chosen} --out my-guess",
        f"tokumei contest check {kit} my-guess --published {target}",
    ]
    return {"commands": [] if contest.closed_at is not None else commands}
