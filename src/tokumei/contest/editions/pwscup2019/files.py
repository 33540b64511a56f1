"""The files of PWSCUP 2019, its map and its three scores.

A trace is a user's cell in each slot of time; slots are half hours from 8:00 to 17:30, and cells are those of a square
of 32 × 32, numbered from the south-west corner eastward, from 1.

| file         | header                  | rows                                       | who has it            |
|--------------|-------------------------|--------------------------------------------|-----------------------|
| ref, org     | user_id,time_id,reg_id  | by user and time: an earlier and a later   | the team              |
|              |                         | half of the time                           |                       |
| ano          | reg_id                  | as org: a cell, cells with blanks, or `*`  | the team              |
| pub          | pse_id,time_id,reg_id   | ano by pseudonym and time                  | everybody, in attacks |
| ptable       | pse_id,user_id          | by pseudonym                               | the organizer         |
| etable       | user_id                 | by pseudonym, a guess of each user         | the attacker          |
| etraces      | reg_id                  | as org, a guess of each cell               | the attacker          |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.core.text import Text
from tokumei.data.files.disk import check_is_file, read_bytes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
SIDE = 32
N_CELLS = SIDE * SIDE
SLOTS_A_DAY = 20
# The square of Tokyo, in degrees; a degree of latitude and of longitude in kilometers.
WEST, EAST, SOUTH, NORTH = 139.68, 139.8, 35.65, 35.75
WIDTH, HEIGHT = (EAST - WEST) / SIDE, (NORTH - SOUTH) / SIDE
KM_NORTH, KM_EAST = 111, 91
# Beyond this distance in kilometers a cell tells nothing.
FAR = 2
HOSPITALS = (
    2, 43, 50, 147, 150, 152, 174, 183, 186, 205, 237, 296, 303, 326, 331, 344, 358, 420, 434, 449, 471, 491, 497, 507,
    522, 535, 550, 561, 628, 631, 708, 771, 782, 821, 871, 883, 995,
)  # fmt: skip
HOSPITAL_WEIGHT = 10
USER, PSEUDONYM, TIME, CELL = "user_id", "pse_id", "time_id", "reg_id"
STAR = "*"


def latitudes() -> Floats:
    """Return the latitude of the middle of each row of cells."""
    found: Floats = SOUTH + HEIGHT * np.arange(SIDE, dtype=np.float64) + HEIGHT / 2
    return found


def longitudes() -> Floats:
    """Return the longitude of the middle of each column of cells."""
    found: Floats = WEST + WIDTH * np.arange(SIDE, dtype=np.float64) + WIDTH / 2
    return found


@cache
def losses() -> Floats:
    """How much is lost where one cell (counted from 0) stands for another: 0 if the same, 1 beyond two kilometers."""
    cells = np.arange(N_CELLS)
    y, x = latitudes()[cells // SIDE], longitudes()[cells % SIDE]
    north, east = (y[:, None] - y) * KM_NORTH, (x[:, None] - x) * KM_EAST
    distance = np.sqrt(north**2 + east**2)
    found: Floats = np.where(distance > FAR, 1.0, distance / FAR)
    found.setflags(write=False)
    return found


@dataclass(frozen=True)
class Traces:
    """A cell (counted from 0) for each user and slot, in the order of users."""

    cells: Ints
    first_time: int = 1

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.cells)

    @property
    def n_slots(self) -> int:
        """How many slots of time each has."""
        return int(self.cells.shape[1])


@dataclass(frozen=True)
class Released:
    """What is told of each user's place: the cells that stand for it, none where it was deleted."""

    cells: Ints
    # Where the cells of each row begin; one more at the end.
    starts: Ints
    n_slots: int

    @property
    def counts(self) -> Ints:
        """How many cells each row has."""
        return np.diff(self.starts)

    def of(self, row: int) -> Ints:
        """Return the cells of a row."""
        return self.cells[self.starts[row] : self.starts[row + 1]]

    def by_user(self, order: Ints) -> Released:
        """Put the users in an order, each with all slots."""
        rows = (order[:, None] * self.n_slots + np.arange(self.n_slots)).ravel()
        counts = self.counts[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
        return Released(self.cells[np.repeat(self.starts[rows], counts) + within], starts, self.n_slots)

    @property
    def words(self) -> list[str]:
        """The rows as they stand in a file."""
        told = [str(cell) for cell in (self.cells + 1).tolist()]
        starts = self.starts.tolist()
        return [" ".join(told[a:b]) or STAR for a, b in pairwise(starts)]

    @classmethod
    def single(cls, traces: Traces) -> Released:
        """Tell one cell for each."""
        cells = traces.cells.ravel()
        return cls(cells, np.arange(len(cells) + 1), traces.n_slots)


def utility(original: Traces, released: Released) -> float:
    """1 less the mean loss of a row: of several cells each counts its part, a deleted one counts as far away.

    Added in the order of the file, as the contest's program does.
    """
    counts = released.counts
    true = np.repeat(original.cells.ravel(), counts)
    terms = losses()[true, released.cells] / np.repeat(counts, counts)
    # A deleted row is one term of 1, at its place.
    terms = np.insert(terms, released.starts[:-1][counts == 0], 1.0)
    return float(1 - np.cumsum(terms)[-1] / len(counts))


def identity_safety(true: Ints, guessed: Ints) -> float:
    """1 less the share of pseudonyms whose user was named."""
    return float(1 - (true == guessed).sum() / len(true))


def trace_safety(original: Traces, guessed: Ints) -> float:
    """1 less the weighted share of places that were found, near ones in part; hospitals weigh ten times."""
    true = original.cells.ravel()
    weights = np.where(np.isin(true, np.array(HOSPITALS) - 1), float(HOSPITAL_WEIGHT), 1.0)
    loss = losses()[true, guessed.ravel()]
    # The contest's program takes 1 − d / 2, which is this to the last digit: halves are exact.
    return float(1 - np.cumsum(weights * (1 - loss))[-1] / np.cumsum(weights)[-1])


def read_traces(path: Path, n_users: int, n_slots: int) -> Traces:
    """Read original or reference traces."""
    frame = _read_numbers(path, [USER, TIME, CELL], n_users * n_slots)
    first = int(frame[TIME][0])
    expected = pl.Series(np.tile(np.arange(first, first + n_slots), n_users))
    users = pl.Series(np.repeat(np.arange(1, n_users + 1), n_slots))
    if not (frame[TIME] == expected).all() or not (frame[USER] == users).all():
        raise InputError.of(f"users from 1 to {n_users:,}, each with {n_slots:,} times in their order", file=path)
    return Traces((frame[CELL].to_numpy() - 1).reshape(n_users, n_slots), first)


def read_guess(path: Path, column: str, n_rows: int, n_known: int) -> Ints:
    """Read an attacker's guess, one number a line."""
    frame = _read_numbers(path, [column], n_rows)
    found: Ints = frame[column].to_numpy() - 1
    bad = np.flatnonzero((found < 0) | (found >= n_known))
    faults, expected = FaultList(str(path)), "a whole number from 1 to {n:,}"
    for row in bad[:20].tolist():
        faults.add(expected, line=row + 2, column=column, value=found[row] + 1, rule="known", parameters={"n": n_known})
    faults.count_more(max(0, len(bad) - 20))
    faults.raise_if_any()
    return found


def read_released(path: Path, n_users: int, n_slots: int) -> Released:
    """Read what a team releases: a cell, several with blanks between them, or a star."""
    lines = _lines(path)
    faults = FaultList(str(path))
    if not lines or lines[0] != CELL:
        faults.add("the header reg_id", line=1, value=lines[0] if lines else "", rule="file-form")
        faults.raise_if_any()
    if len(lines) - 1 != n_users * n_slots:
        known = {"n_rows": n_users * n_slots}
        faults.add("{n_rows:,} lines below the header", value=f"{len(lines) - 1:,}", rule="same-rows", parameters=known)
        faults.raise_if_any()
    words = pl.Series(lines[1:], dtype=pl.String)
    is_star = (words == STAR).to_numpy()
    parts = words.str.split(" ")
    told = parts.explode()
    cells = told.cast(pl.Int64, strict=False)
    is_good = told.str.contains(r"^[1-9][0-9]{0,3}$") & cells.is_between(1, N_CELLS)
    counts = parts.list.len().to_numpy().astype(np.int64)
    row_of = np.repeat(np.arange(len(words)), counts)
    bad = np.unique(row_of[~is_good.fill_null(False).to_numpy()])
    bad = bad[~is_star[bad]]
    for row in bad[:20].tolist():
        faults.add(
            "a cell from 1 to 1024, some with one blank between them, or *",
            line=row + 2,
            column=CELL,
            value=words[row],
            rule="cell",
        )
    faults.count_more(max(0, len(bad) - 20))
    faults.raise_if_any()
    kept = cells.to_numpy()[~is_star[row_of]].astype(np.int64) - 1
    return Released(kept, np.concatenate([[0], np.cumsum(np.where(is_star, 0, counts))]), n_slots)


def _lines(path: Path) -> list[str]:
    try:
        text = read_bytes(check_is_file(path)).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError.of("UTF-8", file=path).under("file-form") from None
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _read_numbers(path: Path, columns: Sequence[str], n_rows: int) -> pl.DataFrame:
    """Read a file of whole numbers with a header."""
    lines, faults = _lines(path), FaultList(str(path))
    if not lines or lines[0] != ",".join(columns):
        faults.add(Text("the header {names}", names=",".join(columns)), line=1, rule="file-form")
    elif len(lines) - 1 != n_rows:
        known = {"n_rows": n_rows}
        faults.add("{n_rows:,} lines below the header", value=f"{len(lines) - 1:,}", rule="same-rows", parameters=known)
    faults.raise_if_any()
    words = pl.Series(lines[1:], dtype=pl.String)
    pattern = "^" + ",".join(["([0-9]{1,9})"] * len(columns)) + "$"
    bad = (~words.str.contains(pattern)).arg_true().to_list()
    for row in bad[:20]:
        faults.add("whole numbers", line=row + 2, value=words[row], rule="file-form")
    faults.count_more(max(0, len(bad) - 20))
    faults.raise_if_any()
    parts = words.str.split_exact(",", len(columns) - 1).struct.unnest()
    return parts.rename(dict(zip(parts.columns, columns, strict=True))).cast(pl.Int64)


def write_lines(path: Path, columns: Sequence[str], *values: Sequence[object]) -> None:
    """Write a file: a header and one line for each value of the columns."""
    rows = [",".join(map(str, row)) for row in zip(*values, strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n", encoding="ascii")


def write_traces(path: Path, traces: Traces) -> None:
    """Write original or reference traces."""
    users = np.repeat(np.arange(1, traces.n_users + 1), traces.n_slots).tolist()
    times = np.tile(np.arange(traces.n_slots) + traces.first_time, traces.n_users).tolist()
    write_lines(path, [USER, TIME, CELL], users, times, (traces.cells.ravel() + 1).tolist())


def write_public(path: Path, released: Released, first_time: int) -> None:
    """Write what attackers see, by pseudonyms that follow the numbers of users."""
    n_users = len(released.counts) // released.n_slots
    names = np.repeat(np.arange(n_users) + n_users + 1, released.n_slots).tolist()
    times = np.tile(np.arange(released.n_slots) + first_time, n_users).tolist()
    write_lines(path, [PSEUDONYM, TIME, CELL], names, times, released.words)


def read_public(path: Path, n_users: int, n_slots: int) -> Released:
    """Read what attackers see."""
    words = [line.rsplit(",", 1)[-1] for line in _lines(path)]
    return _from_words(path, words, n_users, n_slots)


def _from_words(path: Path, words: Sequence[str], n_users: int, n_slots: int) -> Released:
    if len(words) != n_users * n_slots + 1:
        raise InputError.of(f"{n_users * n_slots:,} lines below the header", file=path)
    cells = [[] if word == STAR else [int(one) - 1 for one in word.split(" ")] for word in words[1:]]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in cells])])
    return Released(np.array([one for row in cells for one in row], np.int64), starts, n_slots)
