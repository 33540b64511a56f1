"""What a package says of itself that stands in no file: its version, by the tags, and where the project lives.

Hatchling reads both while it builds; nothing of this is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[1]
# The address of the repository, which whoever publishes a release knows; a workflow sets it.
HOME = "TOKUMEI_HOME"


def version(root: Path = ROOT) -> str:
    """Return the version: that of the tag, one for development after it, or what the changelog says without tags."""
    if (root / "PKG-INFO").is_file():
        # A source package keeps the version that it was made with.
        return _first(r"^Version: (.+)$", root / "PKG-INFO")
    written = _first(r"^## (\d+\.\d+\.\d+)", root / "CHANGELOG.md")
    if Path(_git(root, "rev-parse", "--show-toplevel") or "/").resolve() != root.resolve():
        return written
    described = re.fullmatch(
        r"v(\d+)\.(\d+)\.(\d+)-(\d+)-(g\w+)", _git(root, "describe", "--tags", "--long", "--match", "v[0-9]*")
    )
    if described is None:
        commit = _git(root, "rev-parse", "--short", "HEAD")
        return f"{written}.dev0+g{commit}" if commit else written
    major, minor, patch, n_since, commit = described.groups()
    if n_since == "0":
        return f"{major}.{minor}.{patch}"
    tagged, named = (int(major), int(minor), int(patch)), tuple(map(int, written.split(".")))
    coming = written if named > tagged else f"{major}.{minor}.{int(patch) + 1}"
    return f"{coming}.dev{n_since}+{commit}"


def _git(root: Path, *words: str) -> str:
    """Return what git prints, or nothing where there is no git, no repository or no tag."""
    try:
        # Git is where the path says, and its words are ours.
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603, S607
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _first(pattern: str, file: Path) -> str:
    found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{file.name} names no version")
    return found[1].strip()


class Addresses(MetadataHookInterface):
    """States the addresses of the project where they are known."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses to the metadata."""
        home = os.environ.get(HOME, "").rstrip("/")
        pages = {"Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md", "Documentation": "#readme"}
        metadata["urls"] = {name: home + page for name, page in pages.items()} if home else {}
