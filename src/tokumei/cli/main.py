"""The `tokumei` command, and what happens when something goes wrong.

Rooms are imported inside the commands that need them, so that `tokumei --help` answers at once.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import typer

from tokumei.cli.commands import all_commands, app_with, is_command
from tokumei.cli.help_texts import with_whole_names
from tokumei.cli.hints import usage_message
from tokumei.cli.output import fail, showing_notes
from tokumei.cli.values import with_plain_values
from tokumei.core.errors import TokumeiError

# Modules and tables are made once and stay: to look through them for circles seven hundred objects at a time, as
# Python does by default, takes a tenth of a short command.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


@cache
def built(name: str | None = None) -> Any:
    """Build one of the commands, or all of them where none is named, as for the help."""
    command = typer.main.get_command(app_with(all_commands() if name is None else [name]))
    return with_plain_values(with_whole_names(command))


def _drop_output() -> None:
    """Send the rest of the output nowhere: its reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _raise_gc_threshold() -> None:
    """Run the garbage collector seldom, and not at exit, which frees everything anyway."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    atexit.register(_skip_last_collection)


def _use_one_thread_for_matrices() -> None:
    """Use one thread for matrix products, unless it is set: ours are small, and threads mostly wait for each other."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _skip_last_collection() -> None:
    # DuckDB counts what is left of its objects at the very end, and complains of it on the terminal.
    if "duckdb" not in sys.modules:
        gc.freeze()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error ends in one clear message and the exit code of its kind."""
    if arguments is None:
        _raise_gc_threshold()
        _use_one_thread_for_matrices()
    given = list(sys.argv[1:] if arguments is None else arguments)
    wants_json = "--json" in given
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows few characters shows the others by their numbers, and ends in no error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with showing_notes():
            name = given[0] if given and is_command(given[0]) else None
            code = built(name)(given, prog_name="tokumei", standalone_mode=False)
        # Here, where a disk that is full can still be told of; a program may be started without any output at all.
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit:
        # The command line library ends with 1, as if a check had failed, where the reader of our output went away.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            sys.exit(0)
        raise
    except typer.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        sys.exit(130)
    except TokumeiError as error:
        sys.exit(fail(error, wants_json=wants_json))
    except BrokenPipeError:
        # The reader of our output went away: that is no error of ours, and no place is left to say more.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:
            error.filename = "standard output"
            _drop_output()
            # Where a program looks for the error there is no room for it.
            wants_json = False
        sys.exit(fail(error, wants_json=wants_json))
    except Exception as error:
        if os.environ.get("TOKUMEI_DEBUG"):
            raise
        usage = usage_message(error, given, built) if hasattr(error, "format_message") else None
        sys.exit(fail(error, wants_json=wants_json, usage=usage))
    sys.exit(code if isinstance(code, int) else 0)
