"""`tokumei studio`: the workbench in the browser, for one person on their own machine."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.job import Kind
from tokumei.core.errors import InputError, MissingExtra

LOOPBACK = "127.0.0.1"
# On one's own machine the disk is the limit, not other people.
LARGE = str(4 * 1024**3)


def studio(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The file to begin with: CSV, Parquet or Excel.")
    ] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="A table of people or a purchase history.")] = Kind.TABLE,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where it listens; 0 takes any free one.")] = 0,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Where it keeps files. [default: ~/.local/share/tokumei-studio]"),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Open the workbench in the browser: mark columns, see the risk, protect, take a release home.

    It listens on this machine alone and needs no account; the link that it prints lets one person in, once.

    Example: tokumei studio patients.csv
    """
    try:
        from tokumei.platform.serving import bind, serve
        from tokumei.platform.start import configure, prepare
    except ImportError:
        raise MissingExtra("The workbench", "platform") from None
    if file is not None and not file.is_file():
        raise InputError.of("a file that exists", file=file)
    for name, value in _settings().items():
        os.environ.setdefault(name, value)
    listener = bind(LOOPBACK, port)
    configure(_folder() if data is None else data)
    prepare()
    from tokumei.platform.workbench.studio import make_link

    link = make_link(file, kind.value)

    def show(url: str) -> None:
        address = url.rstrip("/") + link
        typer.echo(f"The workbench is at {address}  (the link works once; Ctrl-C ends it)")
        if browser:
            webbrowser.open(address)

    serve(listener, show)


def _settings() -> dict[str, str]:
    return {
        "TOKUMEI_STUDIO": "1",
        # Whoever opened it reads its link in the same window, not every request.
        "TOKUMEI_LOG_LEVEL": "WARNING",
        "TOKUMEI_HOSTS": f"{LOOPBACK},localhost",
        "TOKUMEI_WORKBENCH_BYTES": LARGE,
        "TOKUMEI_WORKBENCH_QUOTA": str(4 * int(LARGE)),
        "TOKUMEI_WORKBENCH_PIECES": "100",
        "TOKUMEI_WORKBENCH_SECONDS": "36000",
    }


def _folder() -> Path:
    """Keep it apart from a server's."""
    from tokumei.platform.environment import data_folder

    return data_folder() if os.environ.get("TOKUMEI_DATA") else data_folder().with_name("tokumei-studio")
