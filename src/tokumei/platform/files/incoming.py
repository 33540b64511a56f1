"""Bodies of requests while they come in, and the space that is left on the disk for them.

Bodies are kept in files without a name, so that a killed process leaves none behind.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.utils.translation import gettext as _

from tokumei.platform.messages import DiskFull

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Told before it is too late: so many of the largest requests still fit.
REQUESTS_TO_SPARE = 4
FILES_TO_SPARE = 1000
# What PostgreSQL calls a full disk.
POSTGRESQL_DISK_FULL = "53100"


def is_space_low() -> bool:
    """Whether a few more requests could fill the disk that the data folder is on."""
    found = os.statvfs(settings.DATA)
    is_short_of_files = found.f_files > 0 and found.f_favail < FILES_TO_SPARE
    return free_bytes() < REQUESTS_TO_SPARE * settings.MAX_REQUEST_BYTES or is_short_of_files


def free_bytes() -> int:
    """Return how many bytes can still be written."""
    found = os.statvfs(settings.DATA)
    return found.f_bavail * found.f_frsize


def is_out_of_space(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, says that the disk is full: the system's, SQLite's or PostgreSQL's."""
    return any(_tells_full_disk(each) for each in _chain(error))


def _tells_full_disk(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    if getattr(error, "sqlstate", None) == POSTGRESQL_DISK_FULL:
        return True
    name = str(getattr(error, "sqlite_errorname", ""))
    # SQLite calls it an I/O error where it finds no room for what processes share.
    return name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and free_bytes() < settings.MAX_REQUEST_BYTES)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


IS_FULL = "tokumei.disk_is_full"
# Whose files may be larger than those of contests.
WORKBENCH = "/workbench/"


def most_bytes(path: str) -> int:
    """Return how many bytes a request to an address may carry."""
    return int(settings.WORKBENCH_BYTES if path.startswith(WORKBENCH) else settings.MAX_REQUEST_BYTES)


class UnnamedFileUploadHandler(FileUploadHandler):
    """Streams each file of a form into an unnamed temporary file beside the submissions."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Open the file."""
        super().new_file(*args, **kwargs)
        try:
            self.file = tempfile.TemporaryFile(dir=settings.MEDIA_ROOT)  # noqa: SIM115 - whoever reads it closes it.
        except OSError as error:
            self._stop_if_full(error)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:  # noqa: ARG002
        """Write what came."""
        try:
            self.file.write(raw_data)
        except OSError as error:
            self._stop_if_full(error)
        return None

    def file_complete(self, file_size: int) -> UploadedFile[bytes] | None:
        """Return the whole file."""
        try:
            self.file.flush()
        except OSError as error:
            self._stop_if_full(error)
        self.file.seek(0)
        return UploadedFile(
            file=self.file,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )

    def upload_interrupted(self) -> None:
        """Drop a file whose sender went away."""
        if hasattr(self, "file"):
            self.file.close()

    def _stop_if_full(self, error: OSError) -> None:
        if error.errno not in FULL or self.request is None:
            raise error
        # The rest is read and thrown away, so that the browser gets to see an answer.
        self.request.META[IS_FULL] = True
        raise StopUpload(connection_reset=False)


def uploads_of(request: HttpRequest) -> dict[str, UploadedFile[bytes]]:
    """Return the files of a form; an error if there was no space to store them."""
    files = {name: file for name, file in request.FILES.items() if isinstance(file, UploadedFile)}
    if request.META.get(IS_FULL):
        raise DiskFull(
            _("The server has no space left. Nothing was stored and no attempt was counted; try again later.")
        )
    return files
