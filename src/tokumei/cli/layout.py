"""How facts and tables are laid out in a given width: words are never broken, so that no number is ever cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokumei.core.result import shown

GAP = "  "
# A paragraph beside others that is narrower than this is hard to read: better a block a row.
NARROWEST_PARAGRAPH = 12
# A last column of sentences that gets less room than this stands below its row.
NARROWEST_SENTENCE = 30
HANGING = "    "


def facts_lines(facts: Mapping[str, Any], width: int | None) -> list[tuple[str, str]]:
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


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None) -> list[str] | None:
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


def block_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None) -> list[tuple[str, str]]:
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


def _are_numbers(column: Iterable[Any]) -> bool:
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
