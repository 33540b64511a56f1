"""The kit of a contest as a file to download: made when somebody first asks for it, and kept until there is more."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils.translation import gettext as _

from tokumei.core.errors import NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.showing import downloads
from tokumei.platform.errors import NotReady
from tokumei.platform.files.uploads import telling_full_disk


def kit_file(contest: Contest, viewer: User | None) -> Path:
    """Give the kit as of now; nobody gets it before they may have the data."""
    if not downloads(contest, viewer):
        raise NotFound(_("There is no such file."))
    folder = _folder(contest)
    # With the first publication come the releases and what attackers know.
    kit = folder / ("data.zip" if contest.published_at is None else "attack.zip")
    if not kit.is_file():
        with telling_full_disk():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (folder / "lock").open("w") as lock:
                _be_the_one(lock)
                if not kit.is_file():
                    _make(contest, kit)
    return kit


def _be_the_one(lock: IO[str]) -> None:
    """Let one request make the kit, whose sample round takes a while; those who waited for it would stop the server."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotReady(_("The kit is being packed. Try again in a moment.")) from None


def forget_kit(contest: Contest) -> None:
    """Remove the kit of a contest that is gone."""
    shutil.rmtree(_folder(contest), ignore_errors=True)


def _make(contest: Contest, kit: Path) -> None:
    from tokumei.contest.folder import open_contest
    from tokumei.contest.kit import kit_of_contest

    kit_of_contest(open_contest(contest.folder), kit)


def _folder(contest: Contest) -> Path:
    return Path(settings.MEDIA_ROOT) / "kits" / contest.folder_key
