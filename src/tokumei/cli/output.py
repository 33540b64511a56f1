"""What commands print: a table for people or one JSON object for programs, and errors as one of the two."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, Any

import typer

from tokumei.core import progress
from tokumei.core.errors import CannotAnonymize, NotAllowed, PromiseBroken, TokumeiError

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

# 1: a promise or a check failed. Everything else that goes wrong is bad input or usage: 2.
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 3
# What is longer may be broken to fit the screen.
LONGEST_NAME = 32
CHECK_FAILURES = (CannotAnonymize, PromiseBroken, NotAllowed)


def print_json(result: Mapping[str, Any]) -> None:
    """Print the one object of a command; numbers that JSON does not know become null."""
    typer.echo(json.dumps(_plain(result), ensure_ascii=False))


def print_facts(facts: Mapping[str, Any], *, title: str | None = None) -> None:
    """Print names and values as a small table for people."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _shown(value))
    _console().print(table)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str | None = None) -> None:
    """Print rows for people; columns of numbers are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(columns):
        is_number = all(isinstance(row[index], (int, float)) for row in rows)
        # Numbers and names stay whole, as names are copied; it is sentences that give way on a narrow screen.
        is_whole = is_number or all(_is_name(row[index]) for row in rows)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold", no_wrap=is_whole)
    for row in rows:
        table.add_row(*(_shown(value) for value in row))
    _console().print(table)


def print_text(text: str) -> None:
    """Print a paragraph for people: broken between words on a screen, one line in a pipe."""
    from rich.markup import escape

    console = _console()
    console.print(escape(text), soft_wrap=not console.is_terminal)


def fail(error: Exception, *, wants_json: bool) -> int:
    """Print an error and give the exit code of its kind."""
    if isinstance(error, TokumeiError):
        shape, message = error.as_dict(), str(error)
    elif isinstance(error, OSError):
        message = f"{error.filename or 'file'}: {error.strerror or error}"
        shape = {"error": "FileError", "message": message}
    elif hasattr(error, "format_message"):
        # A usage error of the command line library.
        message = error.format_message()
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
    return EXIT_CHECK_FAILED if isinstance(error, CHECK_FAILURES) else EXIT_BAD_INPUT


def showing_progress() -> AbstractContextManager[None]:
    """Show bars while work runs, if a person looks at a terminal; stay silent in a pipe."""
    return progress.listening(_Bars()) if sys.stderr.isatty() else nullcontext()


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


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False)


def _is_name(value: Any) -> bool:
    shown = _shown(value)
    return len(shown) <= LONGEST_NAME and " " not in shown


def _shown(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(part) for part in value)
    return "–" if value is None else escape(str(value))


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
