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

import click

from tokumei.cli.commands import TOKUMEI
from tokumei.cli.output import fail, showing_notes
from tokumei.core.errors import TokumeiError, nearest

# The columns of a history, by name: to import them takes longer than to say what is wrong.
ROLES = ("customer", "invoice", "date", "time", "item", "price", "quantity")


def usage_message(error: click.ClickException) -> str:
    """Put an error of usage into words."""
    if not isinstance(error, click.NoSuchOption):
        return error.format_message()
    message = f"No such option: {error.option_name}"
    takes = {name for param in error.ctx.command.params for name in param.opts} if error.ctx else set()
    near, name = nearest(error.option_name, takes), error.option_name.lstrip("-")
    if "--columns" in takes and name in ROLES:
        message += f". Which column it is, is given as --columns {name}=NAME"
    elif near:
        message += f". Did you mean '{near}'?"
    elif "--set" in takes:
        message += f". What a method takes is given as --set {name}=VALUE"
    return message


# Modules and tables are made once and stay: to look through them for circles seven hundred objects at a time, as
# Python does by default, takes a tenth of a short command.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


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
        with showing_notes(), TOKUMEI.make_context("tokumei", given) as context:
            TOKUMEI.invoke(context)
        # Here, where a disk that is full can still be told of; a program may be started without any output at all.
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.Abort:
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
        usage = usage_message(error) if isinstance(error, click.ClickException) else None
        sys.exit(fail(error, wants_json=wants_json, usage=usage))
    sys.exit(0)
