"""The `tokumei` command, and what happens when something goes wrong.

Rooms are imported inside the commands that need them, so that `tokumei --help` answers at once.

Options that are plain words, files and numbers are read here as they stand: the command line library reads every value
by another, whose import takes longer than many a command. A command or an option that there is not is answered with
what may have been meant.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from types import MethodType
from typing import Any, get_args, get_origin

import typer

from tokumei.cli.commands import all_commands, app_with, is_command, with_whole_names
from tokumei.cli.output import fail, showing_notes
from tokumei.core.errors import TokumeiError

# Commands of packages that an extra installs.
OF_EXTRAS = {"study": "studies"}
# The columns of a history, by name: to import them takes longer than to say what is wrong.
ROLES = ("customer", "invoice", "date", "time", "item", "price", "quantity")


def usage_message(error: Any, given: Sequence[str], built: Callable[[], Any]) -> str:
    """Put an error of usage into words; `built` gives all commands."""
    said, context = str(error.format_message()), getattr(error, "ctx", None)
    if context is None:
        return said
    option = getattr(error, "option_name", None)
    takes = {name for param in context.command.params for name in param.opts}
    if option is not None and "--columns" in takes and option.lstrip("-") in ROLES:
        return f"{said}. Which column it is, is given as --columns {option.lstrip('-')}=NAME"
    if option is not None and "--set" in takes:
        return f"{said}. What a method takes is given as --set {option.lstrip('-')}=VALUE"
    known, depth = getattr(context.command, "commands", None), len(context.command_path.split()) - 1
    if known is None or depth >= len(given) or given[depth] in known:
        return said
    # The library looks for names that are written alike, and only in one group.
    meant = [f"'tokumei {name}'" for name in _names(built()) if name.split()[-1] == given[depth]]
    if meant:
        return f"No such command '{given[depth]}'. Did you mean {' or '.join(meant)}?"
    if depth == 0 and given[0] in OF_EXTRAS:
        return f"'tokumei {given[0]}' needs another package: pip install 'tokumei[{OF_EXTRAS[given[0]]}]'"
    if Path(given[depth]).exists():
        return f"'{given[depth]}' is a file; before it goes what to do with it: {', '.join(known)}"
    return said


def _names(group: Any, above: str = "") -> list[str]:
    names: list[str] = []
    for name, command in group.commands.items():
        names.append(above + name)
        if hasattr(command, "commands"):
            names += _names(command, f"{above}{name} ")
    return names


# What int and float read, and the library as well; underscores, blanks and words for infinity are left to it.
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
NOT_PLAIN = object()


def with_plain_values(command: Any) -> Any:
    """Read plain values here for a command and all below it."""
    command.get_params = MethodType(_params, command)
    for one in getattr(command, "commands", {}).values():
        with_plain_values(one)
    return command


def _params(command: Any, context: Any) -> list[Any]:
    """Return the parameters of a command, with that for help, which the library makes on demand."""
    params: list[Any] = type(command).get_params(command, context)
    for param in params:
        # Older versions of the library have no such step, and need none.
        if hasattr(param, "get_runtime_param"):
            param.get_runtime_param = _Reader
    return params


class _Reader:
    """Reads the value of a parameter."""

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as the command takes it."""
        read = plain_value(value, param)
        if read is NOT_PLAIN:
            return type(param).get_runtime_param(param).coerce(value, param=param, ctx=ctx)
        return read


def plain_value(value: Any, param: Any) -> Any:
    """Read the value of a parameter that takes plain ones, or give NOT_PLAIN."""
    described = param.type_descriptor
    info, kind = described.parameter_info, described.annotation
    is_several = param.multiple or param.nargs == -1
    if value is None:
        return () if is_several else None
    if info.parser is not None or param.nargs not in (1, -1):
        return NOT_PLAIN
    if not is_several:
        return _read(value, kind, info)
    if get_origin(kind) is not list or not isinstance(value, (list, tuple)):
        return NOT_PLAIN
    found = [_read(one, get_args(kind)[0], info) for one in value]
    return NOT_PLAIN if NOT_PLAIN in found else found


def _read(value: Any, kind: Any, info: Any) -> Any:
    if kind is str:
        return value if type(value) is str else NOT_PLAIN
    if kind is Path:
        return _read_path(value, info)
    if kind is int or kind is float:
        return _read_number(value, kind, info)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((one for one in kind if value is one or (value == one.value and info.case_sensitive)), NOT_PLAIN)
    return NOT_PLAIN


def _read_path(value: Any, info: Any) -> Any:
    asks_more = info.exists or info.resolve_path or info.writable or not (info.file_okay and info.dir_okay)
    if asks_more or not isinstance(value, (str, Path)):
        return NOT_PLAIN
    # A file that is there and may not be read is the library's to refuse.
    return Path(value) if os.access(value, os.R_OK) or not os.path.lexists(value) else NOT_PLAIN


def _read_number(value: Any, kind: type, info: Any) -> Any:
    if type(value) is str and (WHOLE if kind is int else NUMBER).fullmatch(value):
        value = kind(value)
    is_within = (
        type(value) is kind and (info.min is None or value >= info.min) and (info.max is None or value <= info.max)
    )
    return value if is_within else NOT_PLAIN


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
