"""Removing the files of a contest that is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

from tokumei.platform.contests.models import Contest


def remove_files(contest: Contest) -> None:
    """Remove the contest folder, its lock and its source."""
    shutil.rmtree(contest.folder, ignore_errors=True)
    (Path(settings.MEDIA_ROOT) / "contests" / f".{contest.folder_key}.lock").unlink(missing_ok=True)
    shutil.rmtree(contest.sources, ignore_errors=True)
    shutil.rmtree(Path(settings.MEDIA_ROOT) / "exports" / contest.folder_key, ignore_errors=True)
