"""`tokumei backup` and `tokumei restore`: a server's database and files in one file, and back."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.core.result import Answer

DataOption = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="The folder of the platform.")]


def backup(
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.tar.gz|DIR", help="The backup: packed into one file, or a folder.")
    ],
    data: DataOption = None,
    json: JsonFlag = False,
) -> None:
    """Copy a server's database and files as of one moment, while it runs.

    The backup holds secrets: the truth behind releases, password hashes, the key of sessions. Keep it as the server.

    Example: tokumei backup --out backup.tar.gz --data ./tokumei-data
    """
    from tokumei.platform.backup import back_up

    if data is not None:
        os.environ["TOKUMEI_DATA"] = str(data.expanduser().resolve())
    with showing_progress():
        if os.environ.get("TOKUMEI_STORE"):
            _fetch_from_store()
        done = back_up(out)
    show(Answer(asdict(done)), json=json)


def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="What tokumei backup wrote.")],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="A new folder for the platform.")],
    trust: Annotated[bool, typer.Option("--trust", help="Take a backup that this machine's key did not sign.")] = False,
    json: JsonFlag = False,
) -> None:
    """Put a backup into a new folder, and its database where DATABASE_URL says; replaces nothing.

    Example: tokumei restore backup.tar.gz --data ./restored
    """
    from tokumei.platform.restore import restore as put_back

    with showing_progress():
        done = put_back(backup, data.expanduser().resolve(), is_trusted=trust)
    show(Answer(asdict(done)), json=json)


def _fetch_from_store() -> None:
    """Bring here what other machines of the server put into the store."""
    from tokumei.platform.start import configure

    configure()
    from tokumei.platform.backup import LEFT_OUT
    from tokumei.platform.files.shared import fetch_all

    fetch_all(but=[name.removeprefix("files/") for name in LEFT_OUT if name.startswith("files/")])
