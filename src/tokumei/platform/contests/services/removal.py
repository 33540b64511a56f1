"""Removing the files of a contest that is gone."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from tokumei.platform.contests.models import Contest
from tokumei.platform.files.shared import unshare


def remove_files(contest: Contest) -> None:
    """Remove the contest folder, its lock and its source, and what was packed of it."""
    files = Path(settings.MEDIA_ROOT)
    for kind in ("contests", "sources", "exports", "kits"):
        unshare(files / kind / contest.folder_key)
    (files / "contests" / f".{contest.folder_key}.lock").unlink(missing_ok=True)
