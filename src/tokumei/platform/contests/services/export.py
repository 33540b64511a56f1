"""The folder of a closed contest as one zip file."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils.translation import gettext as _

from tokumei.contest.folder import SECRET, files_below
from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.contests.services.uploads import telling_full_disk

# The first time that a zip can hold: real times would tell which file was made first.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def export_folder(contest: Contest, viewer: User | None) -> IO[bytes]:
    """Pack a closed contest into an unnamed file, open at its beginning; with the secrets for its organizer alone."""
    if contest.closed_at is None or not contest.folder.is_dir():
        raise NotAllowed(_("The folder of a contest can be downloaded when the contest is over."))
    with_secrets = is_organizer(contest, viewer)
    with telling_full_disk():
        packed: IO[bytes] = tempfile.TemporaryFile(dir=settings.MEDIA_ROOT)  # noqa: SIM115 - the caller closes it.
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files_below(contest.folder):
                name = path.relative_to(contest.folder)
                if with_secrets or name.parts[0] != SECRET:
                    _add(archive, path, f"{contest.slug}/{name.as_posix()}")
    packed.seek(0)
    return packed


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    member = zipfile.ZipInfo(name, FIXED_TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    with path.open("rb") as source, archive.open(member, "w") as target:
        while block := source.read(1024 * 1024):
            target.write(block)
