"""What commands print: a table for people or one JSON object for programs, and errors as one of the two."""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, Any

import typer

from tokumei.cli.layout import block_lines, facts_lines, table_lines, wrapped
from tokumei.core import progress
from tokumei.core.errors import CannotAnonymize, InputError, NotAllowed, PromiseBroken, TokumeiError
from tokumei.core.result import Facts, Result, Rows, shown

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

# 1: a promise or a check failed, or a submission breaks a rule. Else what goes wrong is bad input or usage: 2.
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 3
CHECK_FAILURES = (CannotAnonymize, PromiseBroken, NotAllowed)


def print_json(result: Mapping[str, Any]) -> None:
    """Print the one object of a command; numbers that JSON does not know become null."""
    typer.echo(json.dumps(_plain(result), ensure_ascii=False))


def show(result: Result, *, json: bool) -> None:
    """Show a result: one JSON object for programs, or its facts, tables and sentences for people."""
    if json:
        print_json(result.to_dict())
        return
    for section in result.sections():
        if isinstance(section, Facts):
            print_facts(section.values, title=section.title)
        elif isinstance(section, Rows):
            print_table(section.columns, section.rows, title=section.title)
        else:
            print_text(section.text)


def print_facts(facts: Mapping[str, Any], *, title: str | None = None) -> None:
    """Print names and values for people."""
    _print_title(title)
    _print_pairs(facts_lines(facts, screen_width()))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str | None = None) -> None:
    """Print rows for people: a line a row, paragraphs folded, or a block a row where that does not fit the screen."""
    _print_title(title)
    lines = table_lines(columns, rows, screen_width())
    if lines is None:
        _print_pairs(block_lines(columns, rows, screen_width()))
    else:
        typer.echo("\n".join(lines))
    typer.echo()


def print_text(text: str) -> None:
    """Print a paragraph for people: broken between words on a screen, one line in a pipe."""
    typer.echo("\n".join(wrapped(shown(text), screen_width())))


def screen_width() -> int | None:
    """Return the width of the screen; None if unknown or in a pipe, where no line needs to be broken."""
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"]) or None
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fail(error: Exception, *, wants_json: bool, usage: str | None = None) -> int:
    """Print an error and give the exit code of its kind; `usage` says what was wrong with how a command was called."""
    if isinstance(error, TokumeiError):
        shape, message = error.as_dict(), error.by_kind if isinstance(error, InputError) else str(error)
    elif isinstance(error, OSError):
        message = f"{error.filename or 'file'}: {error.strerror or error}"
        shape = {"error": "FileError", "message": message}
    elif usage is not None:
        message = usage
        shape = {"error": "UsageError", "message": message}
    else:
        message = f"{type(error).__name__}: {error} (a fault of Tokumei, not yours; TOKUMEI_DEBUG=1 shows where)"
        shape = {"error": "InternalError", "message": message}
    if wants_json:
        print_json(shape)
    else:
        typer.echo(f"Error: {message}", err=True)
        if shape["error"] == "UsageError":
            typer.echo("Try 'tokumei --help', or --help after the command.", err=True)
    if shape["error"] == "InternalError":
        return EXIT_INTERNAL
    is_broken = isinstance(error, CHECK_FAILURES) or (isinstance(error, InputError) and error.breaks_rules)
    return EXIT_CHECK_FAILED if is_broken else EXIT_BAD_INPUT


def showing_progress() -> AbstractContextManager[None]:
    """Show bars while work runs, if a person looks at a terminal; stay silent in a pipe."""
    return progress.listening(_Bars()) if sys.stderr.isatty() else nullcontext()


@contextmanager
def showing_notes() -> Iterator[None]:
    """Show what the library says of its own accord, each thing once: how a file was read, what was left out."""
    handler = _Notes()
    notes = logging.getLogger("tokumei.notes")
    level = notes.level
    notes.addHandler(handler)
    notes.setLevel(logging.INFO)
    try:
        yield
    finally:
        notes.removeHandler(handler)
        notes.setLevel(level)


class _Notes(logging.Handler):
    """Writes notes beside the result, so that a program that reads the result is not disturbed."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write one note, unless it was said before."""
        text = record.getMessage()
        if text not in self._said:
            self._said.add(text)
            typer.echo(f"Note: {text}", err=True)


class _Bars:
    """Shows each step of work as a bar on the terminal."""

    @contextmanager
    def step(self, label: str, total: float | None) -> Iterator[progress.Bar]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        # Gone when done: what stays on the screen is the result.
        with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
            yield _Bar(bars, bars.add_task(label, total=total))


class _Bar:
    """One bar."""

    def __init__(self, bars: Any, task: Any) -> None:
        self._bars, self._task = bars, task

    def advance(self, amount: float = 1) -> None:
        self._bars.advance(self._task, amount)


def _print_title(title: str | None) -> None:
    if title is not None:
        typer.secho(shown(title), italic=True)


def _print_pairs(lines: Sequence[tuple[str, str]]) -> None:
    for name, value in lines:
        typer.echo(typer.style(name, dim=True) + value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)
