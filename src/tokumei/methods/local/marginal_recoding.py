"""Recode two columns by the ranges of a two-way table that the user wrote."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.methods.local.cuts import groups_hold
from tokumei.methods.local.task import Ints, LabelCells, LocalAttribute, LocalRecoding, LocalTask

RANGE = re.compile(r"\s*\{?\s*(-?\d+(?:\.\d+)?)\s*(?:(?:-|–|~|\.\.)\s*(-?\d+(?:\.\d+)?))?\s*\}?\s*")
LISTED_CELLS = 10


@dataclass(frozen=True)
class MarginalRecoding:
    """Recode by a table of your own: its rows are ranges of one column, its columns of the other.

    The method of marginals in Oguri's doctoral thesis (SOKENDAI 2016, section 2.6.1, table 4; after Aggarwal and Yu
    2008). No hierarchy is used and nothing is searched: people are counted by the cells of the table, and the release
    holds if every cell that is not empty does. If one fails, its rows are left out where so many may be, else the cells
    that fail are named and it is for you to write the table anew. (`marginals` publishes counts in place of rows.)

    The table is a CSV file. Its first line has the name of the column that goes down the table (the first
    quasi-identifier, where it is another word), and then the ranges of the other; each further line begins with a
    range. A range is a number or two with `-` between, both included; of words, those that belong together with `;`
    between. What else stands in the cells is not read. A value in no range, or in two, is an error.

    Example: by k = 2, and this table for age and income in thousands,

    | age/income | 0-50 | 51-200 |
    |---|---|---|
    | 20-24 | | |
    | 25-34 | | |

    the people (21, 10), (24, 40), (25, 60), (33, 180) become (20-24, 0-50) twice and (25-34, 51-200) twice. With a
    fifth, (22, 70), the cell (20-24, 51-200) has one person, and there is no release.
    """

    table: str = field(default="", metadata={"help": "CSV file with the ranges of both columns."})

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Label both columns by the table, and leave out cells that fail; CannotAnonymize if they are too many."""
        if len(task.attributes) != 2:
            names = ", ".join(one.name for one in task.attributes)
            raise InputError.of("two quasi-identifiers, those of the table", option="qi", value=names)
        corner, *texts = read_ranges(self.table)
        if corner.partition("/")[0].strip() == task.attributes[1].name:
            texts.reverse()
        cells = tuple(
            _cells(attribute, ranges, self.table) for attribute, ranges in zip(task.attributes, texts, strict=True)
        )
        group_of = cells[0].codes.astype(np.int64) * len(texts[1]) + cells[1].codes
        rows = np.bincount(group_of, task.sizes, len(texts[0]) * len(texts[1])).astype(np.int64)
        fails = ~groups_hold(task, np.arange(task.n_classes), group_of, rows) & (rows > 0)
        n_out = int(rows[fails].sum())
        if n_out > task.n_may_suppress:
            listed = [
                f"({texts[0][cell // len(texts[1])]}, {texts[1][cell % len(texts[1])]}) with {rows[cell]:,}"
                for cell in np.flatnonzero(fails).tolist()
            ]
            more = f" and {len(listed) - LISTED_CELLS:,} more" if len(listed) > LISTED_CELLS else ""
            raise CannotAnonymize(
                f"Cells of the table do not hold, and {task.n_may_suppress:,} rows may be left out: "
                f"{'; '.join(listed[:LISTED_CELLS])}{more}."
            )
        return LocalRecoding(cells, fails[group_of])


def read_ranges(table: str) -> tuple[str, list[str], list[str]]:
    """Read the corner, the ranges of one column, down the table, and those of the other, along its first line."""
    if not table:
        raise InputError.of("a CSV file with the ranges of both columns", option="table")
    try:
        with Path(table).open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError.of(f"a CSV file in UTF-8 that can be read ({error})", file=table) from None
    down, along = [line[0].strip() for line in lines[1:]], [cell.strip() for cell in lines[0][1:]] if lines else []
    for ranges in (down, along):
        if not ranges or "" in ranges or len(set(ranges)) < len(ranges):
            raise InputError.of("ranges along the first line and down the first column, each once", file=table)
    return lines[0][0].strip(), down, along


def _cells(attribute: LocalAttribute, ranges: Sequence[str], table: str) -> LabelCells:
    """Return for each class the range of its value."""
    range_of = np.full(attribute.n_leaves + 1, -1, np.int32)
    leaves = attribute.hierarchy.leaves
    for number, text in enumerate(ranges):
        for leaf in _leaves_in(attribute, text, table).tolist():
            if range_of[leaf] >= 0:
                both = f"{ranges[range_of[leaf]]} and {text}"
                raise InputError.of(
                    f"one range for each value, not both {both}", column=attribute.name, value=leaves[leaf]
                )
            range_of[leaf] = number
    codes = range_of[attribute.leaf_of]
    lost = np.unique(attribute.leaf_of[codes < 0])
    if len(lost):
        value = None if lost[0] == attribute.missing else leaves[lost[0]]
        raise InputError.of(f"a value in one of the ranges of {table}", column=attribute.name, value=value)
    costs = [_cost(attribute, np.flatnonzero(range_of[:-1] == number)) for number in range(len(ranges))]
    return LabelCells(codes, tuple(ranges), np.array(costs))


def _leaves_in(attribute: LocalAttribute, text: str, table: str) -> Ints:
    if attribute.is_numeric:
        match = RANGE.fullmatch(text)
        if match is None:
            raise InputError.of("a number, or two with - between", file=table, column=attribute.name, value=text)
        low, high = float(match[1]), float(match[2] or match[1])
        return np.flatnonzero((attribute.numbers >= low) & (attribute.numbers <= high))
    words = {word.strip() for word in text.strip("{} ").split(";")}
    return np.array([index for index, leaf in enumerate(attribute.hierarchy.leaves) if str(leaf) in words], np.int64)


def _cost(attribute: LocalAttribute, leaves: Ints) -> float:
    """Return the share of the column's width, or of its values, that a range covers; 0 for a single value."""
    if len(leaves) < 2:
        return 0.0
    if not attribute.is_numeric:
        return len(leaves) / attribute.n_leaves
    numbers = attribute.numbers
    return float(numbers[leaves].max() - numbers[leaves].min()) / float(numbers.max() - numbers.min())
