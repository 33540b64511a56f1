"""What commands print: a table for people or one JSON object for programs, and errors as one of the two.

Facts and tables are laid out in a given width: words are never broken, so that no number is ever cut.
"""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from tokumei.cli.parameters import PanelOption
from tokumei.core import progress
from tokumei.core.errors import CannotAnonymize, InputError, NotAllowed, PromiseBroken, TokumeiError
from tokumei.core.result import Facts, Result, Rows, shown

GAP = "  "
# A paragraph beside others that is narrower than this is hard to read: better a block a row.
NARROWEST_PARAGRAPH = 12
# A last column of sentences that gets less room than this stands below its row.
NARROWEST_SENTENCE = 30
HANGING = "    "
# Where a command keeps whether it was asked for JSON.
JSON = "tokumei.json"


def facts_lines(facts: Mapping[str, object], width: int | None) -> list[tuple[str, str]]:
    """Return names and values as pairs of lines beside each other; a long value continues below."""
    names = [shown(name.replace("_", " ")) for name in facts]
    column = max((_width(name) for name in names), default=0)
    room = None if width is None else width - column - len(GAP)
    lines = []
    for name, value in zip(names, facts.values(), strict=True):
        first, *rest = wrapped(shown(value), room)
        lines.append((_padded(name, column) + GAP, first))
        lines += [(" " * (column + len(GAP)), line) for line in rest]
    return lines


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int | None) -> list[str] | None:
    """Lay out a table with its header, paragraphs folded; None if it does not fit, so that blocks are used."""
    cells = [[shown(value) for value in row] for row in rows]
    heads = [shown(name) for name in columns]
    is_number = [_are_numbers(column) for column in zip(*rows, strict=True)] or [False] * len(columns)
    widths, below = _widths([heads, *cells], width), None
    if width is not None and (widths is None or widths[-1] < NARROWEST_SENTENCE):
        room = width - len(HANGING)
        shorter = _widths([row[:-1] for row in [heads, *cells]], width)
        if shorter and _are_sentences([row[-1] for row in cells], room):
            widths, below = shorter, room
    if widths is None:
        return None
    body = _lines_of_whole_cells(cells, widths, is_number) if cells and below is None else None
    if body is None:
        body = [line for row in cells for line in _row(row, widths, is_number, below)]
    return [*_row(heads, widths, is_number, below), GAP.join("─" * one for one in widths), *body]


def _lines_of_whole_cells(
    cells: Sequence[Sequence[str]], widths: Sequence[int], is_number: Sequence[bool]
) -> list[str] | None:
    """Lay out one line a row, by columns, since a file may have tens of thousands of rows; None if a cell folds."""
    padded = []
    for column, width, right in zip(zip(*cells, strict=True), widths, is_number, strict=True):
        if _is_plain(column):
            if max(map(len, column)) > width:
                return None
            padded.append([cell.rjust(width) for cell in column] if right else [cell.ljust(width) for cell in column])
        elif max(map(_width, column)) > width:
            return None
        else:
            padded.append([_padded(cell, width, right=right) for cell in column])
    return [GAP.join(line).rstrip() for line in zip(*padded, strict=True)]


def block_lines(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int | None) -> list[tuple[str, str]]:
    """Lay out a table as a block of names and values for each row, with an empty line between."""
    lines: list[tuple[str, str]] = []
    for row in rows:
        # A name of its own for each, since a mapping would lose columns without a name.
        names = [name or " " * (index + 1) for index, name in enumerate(columns)]
        lines += [*facts_lines(dict(zip(names, row, strict=True)), width), ("", "")]
    return lines[:-1]


def wrapped(text: str, width: int | None) -> list[str]:
    """Break a text between words; a word that is wider than the room keeps whole on a line of its own."""
    if width is None or _width(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and _width(lines[-1]) + 1 + _width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _widths(lines: Sequence[Sequence[str]], width: int | None) -> list[int] | None:
    """Return the width of each column, taking from the widest paragraphs first; None if words would not fit."""
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len if _is_plain(column) else _width, column)) for column in columns]
    gaps = len(GAP) * (len(widths) - 1)
    if width is None or sum(widths) + gaps <= width:
        return widths
    least = [_least(column, widest) for column, widest in zip(columns, widths, strict=True)]
    while sum(widths) + gaps > width:
        spare = [have - need for have, need in zip(widths, least, strict=True)]
        if not any(spare):
            return None
        widest = max((index for index, one in enumerate(spare) if one), key=lambda index: widths[index])
        widths[widest] -= 1
    return widths


def _least(column: Sequence[str], widest: int) -> int:
    """Return the width that a column's longest word needs."""
    longest = max((_width(word) for cell in column for word in cell.split(" ")), default=0)
    has_paragraph = any(cell.count(" ") > 1 for cell in column[1:])
    return min(widest, max(longest, NARROWEST_PARAGRAPH)) if has_paragraph else longest


def _are_sentences(column: Sequence[str], room: int) -> bool:
    """Whether a column holds long sentences that fit into this room."""
    is_long = any(_width(cell) > 2 * NARROWEST_SENTENCE for cell in column)
    return is_long and all(_width(word) <= room for cell in column for word in cell.split(" "))


def _row(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool], below: int | None) -> list[str]:
    """Lay out one row of a table; its last cell has a room of its own below where that is given."""
    if below is None:
        return _folded(cells, widths, is_number)
    lines = _folded(cells[:-1], widths, is_number[:-1])
    return lines + [HANGING + line for line in wrapped(cells[-1], below) if line]


def _folded(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> list[str]:
    """Lay out one row of a table in as many lines as its longest paragraph takes."""
    parts = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for index in range(max(len(part) for part in parts)):
        line = [
            _padded(part[index] if index < len(part) else "", width, right=right)
            for part, width, right in zip(parts, widths, is_number, strict=True)
        ]
        lines.append(GAP.join(line).rstrip())
    return lines


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * max(0, width - _width(text))
    return space + text if right else text + space


def _are_numbers(column: Iterable[object]) -> bool:
    # By their types, which are few where values are hundreds of thousands.
    return all(issubclass(kind, (int, float, type(None))) and kind is not bool for kind in set(map(type, column)))


def _is_plain(column: Sequence[str]) -> bool:
    """Whether each character of each cell takes one place."""
    together = "".join(column)
    return together.isascii() and together.isprintable()


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: Japanese characters take two."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


# 1: a promise or a check failed, or a submission breaks a rule. Else what goes wrong is bad input or usage: 2.
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 3
CHECK_FAILURES = (CannotAnonymize, PromiseBroken, NotAllowed)


def print_json(result: Mapping[str, object]) -> None:
    """Print the one object of a command; numbers that JSON does not know become null."""
    click.echo(json.dumps(_plain(result), ensure_ascii=False))


def json_option() -> click.Option:
    """Return the option that every command has which prints a result; `show` looks at it."""
    about = "Print one JSON object and nothing else."
    return PanelOption(["--json"], is_flag=True, expose_value=False, callback=_keep_json, help=about)


def _keep_json(context: click.Context, _option: click.Parameter, value: bool) -> None:
    context.meta[JSON] = value


def wants_json() -> bool:
    """Whether the command that runs was asked for JSON."""
    return bool(click.get_current_context().meta.get(JSON))


def show(result: Result) -> None:
    """Show a result: one JSON object for programs, or its facts, tables and sentences for people."""
    if wants_json():
        print_json(result.to_dict())
        return
    for section in result.sections():
        if isinstance(section, Facts):
            print_facts(section.values, title=section.title)
        elif isinstance(section, Rows):
            print_table(section.columns, section.rows, title=section.title)
        else:
            print_text(section.text)


def print_facts(facts: Mapping[str, object], *, title: str | None = None) -> None:
    """Print names and values for people."""
    _print_title(title)
    _print_pairs(facts_lines(facts, screen_width()))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None) -> None:
    """Print rows for people: a line a row, paragraphs folded, or a block a row where that does not fit the screen."""
    _print_title(title)
    lines = table_lines(columns, rows, screen_width())
    if lines is None:
        _print_pairs(block_lines(columns, rows, screen_width()))
    else:
        click.echo("\n".join(lines))
    click.echo()


def print_text(text: str) -> None:
    """Print a paragraph for people: broken between words on a screen, one line in a pipe."""
    click.echo("\n".join(wrapped(shown(text), screen_width())))


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
        click.echo(f"Error: {message}", err=True)
        if shape["error"] == "UsageError":
            click.echo("Try 'tokumei --help', or --help after the command.", err=True)
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
            click.echo(f"Note: {text}", err=True)


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
        click.secho(shown(title), italic=True)


def _print_pairs(lines: Sequence[tuple[str, str]]) -> None:
    for name, value in lines:
        click.echo(click.style(name, dim=True) + value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)
