"""The files of PWSCUP 2023, its rules, and the checks that hold submissions against them.

| file | holds                                                | who has it            |
|------|------------------------------------------------------|-----------------------|
| p    | the public columns, digits                           | everybody             |
| a    | public and secret columns, digits or `*`             | the team              |
| r    | the team's secret columns                            | the team              |
| seed | the whole number that R was drawn from (seed.txt)    | the team              |
| b    | the lines of a, sorted                               | everybody, in attacks |
| f    | a guess of r, in the order of p                      | the attacker          |

No file has a header. Lines end in LF or CRLF, and the last one may end in nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tokumei.contest.checks import Together
from tokumei.contest.edition import Rule
from tokumei.contest.editions.pwscup2023.stream import Digits, secret_table
from tokumei.core.errors import FaultList, InputError
from tokumei.core.text import Text
from tokumei.data.files.disk import check_is_file, read_bytes

# Cells as they stand in files: a digit's byte, or that of a deleted cell.
Cells = npt.NDArray[np.uint8]
ZERO, STAR, COMMA = ord("0"), ord("*"), ord(",")
N_SECRET = 10
LONGEST_SEED = 100
SEED = re.compile(rb"0|[1-9][0-9]*")

FORM = Rule(
    "file-form",
    "The file is text without a header: cells separated by commas, as many in every line, each one character. It may "
    "be gzipped.",
    "ファイルはヘッダーなしのテキストとし、全行のセル数を揃え、各セルは1文字、区切りはカンマとする。gzip 圧縮も可。",
)
SAME_ROWS = Rule(
    "same-rows",
    "The file has one line for each row of P, in the order of P.",
    "行数と行の順序は P と同じとする。",
)
DIGIT = Rule("digit", "A cell is a digit; in a.csv it may be * instead.", "セルは数字1文字とする。a.csv では * も可。")
SEED_FORM = Rule(
    "seed-form",
    f"The first line of seed.txt is a whole number of at most {LONGEST_SEED} digits without leading zeros.",
    f"seed.txt の1行目は、先頭に余分な 0 のない{LONGEST_SEED}桁以内の整数とする。",
)
FROM_SEED = Rule(
    "from-seed", "r.csv is what the seed gives, cell by cell.", "r.csv はシードから生成した表と全セルで一致する。"
)
RELEASE_RULES = (FORM, SAME_ROWS, DIGIT, SEED_FORM, FROM_SEED)
GUESS_RULES = (FORM, SAME_ROWS, DIGIT)


def read_cells(path: Path, n_columns: int, n_rows: int | None = None, *, may_delete: bool = False) -> Cells:
    """Read a table of one-character cells; what breaks a rule is a fault with its line and column."""
    data = read_bytes(check_is_file(path))
    found = _read_regular(data, n_columns, may_delete=may_delete)
    if found is None:
        found = _read_lines(path, data, n_columns, may_delete=may_delete)
    if n_rows is not None and len(found) != n_rows:
        faults = FaultList(str(path))
        expected = "{n_rows:,} lines, one for each row of P"
        faults.add(expected, value=f"{len(found):,}", rule=SAME_ROWS.name, parameters={"n_rows": n_rows})
        faults.raise_if_any()
    return found


def _read_regular(data: bytes, n_columns: int, *, may_delete: bool) -> Cells | None:
    """Read a file whose lines are all right and end alike at once; None where one is not."""
    for end in (b"\n", b"\r\n"):
        whole = data if data.endswith(b"\n") else data + end
        length = 2 * n_columns - 1 + len(end)
        if not whole.endswith(end) or len(whole) % length:
            continue
        lines = np.frombuffer(whole, np.uint8).reshape(-1, length)
        cells = lines[:, 0 : 2 * n_columns : 2][:, :n_columns]
        is_good = (cells - ZERO) < 10
        if may_delete:
            is_good |= cells == STAR
        commas, ends = lines[:, 1 : 2 * n_columns - 1 : 2], lines[:, 2 * n_columns - 1 :]
        if is_good.all() and (commas == COMMA).all() and (ends == np.frombuffer(end, np.uint8)).all():
            return np.ascontiguousarray(cells)
    return None


def _read_lines(path: Path, data: bytes, n_columns: int, *, may_delete: bool) -> Cells:
    """Read line by line, and raise every fault."""
    faults, rows = FaultList(str(path)), []
    for number, line in enumerate(_lines(data), 1):
        cells = line.split(b",")
        if len(cells) != n_columns:
            expected = "{n} cells, separated by commas"
            faults.add(expected, line=number, value=len(cells), rule=FORM.name, parameters={"n": n_columns})
            continue
        for place, cell in enumerate(cells, 1):
            if not (len(cell) == 1 and (cell.isdigit() or (may_delete and cell == b"*"))):
                told = cell.decode("utf-8", "replace")
                expected = "a digit or *" if may_delete else "a digit"
                faults.add(expected, line=number, column=str(place), value=told, rule=DIGIT.name)
        rows.append(b"".join(cells))
    faults.raise_if_any()
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, n_columns)


def _lines(data: bytes) -> Iterator[bytes]:
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for line in lines:
        yield line.removesuffix(b"\r")


def read_digits(path: Path, n_columns: int, n_rows: int | None = None) -> Digits:
    """Read a table of digits as numbers."""
    return read_cells(path, n_columns, n_rows) - np.uint8(ZERO)


def write_cells(cells: Cells, path: Path) -> None:
    """Write a table of one-character cells."""
    lines = np.full((len(cells), 2 * cells.shape[1]), COMMA, np.uint8)
    lines[:, ::2] = cells
    lines[:, -1] = ord("\n")
    path.write_bytes(lines.tobytes())


def write_digits(digits: Digits, path: Path) -> None:
    """Write a table of digits."""
    write_cells(digits + np.uint8(ZERO), path)


def read_seed(path: Path) -> int:
    """Read seed.txt; lines after the first are not looked at, as the contest's program did not."""
    line = next(_lines(read_bytes(check_is_file(path))), b"")
    if SEED.fullmatch(line) is None or len(line) > LONGEST_SEED:
        expected = Text("a whole number of at most {n} digits without leading zeros", n=LONGEST_SEED)
        raise InputError.of(expected, file=path, line=1, value=line[:60].decode("utf-8", "replace")).under(
            SEED_FORM.name
        )
    return int(line)


def check_release(n_rows: int, n_public: int, a: Path, r: Path, seed: Path) -> None:
    """Raise one InputError with every fault of A, of R and of the seed."""
    together = Together()
    together.try_to(lambda: read_cells(a, n_public + N_SECRET, n_rows, may_delete=True))
    digits, number = together.try_to(lambda: read_digits(r, N_SECRET, n_rows)), together.try_to(lambda: read_seed(seed))
    if digits is not None and number is not None:
        together.try_to(lambda: _check_from_seed(digits, number, r))
    together.raise_if_any()


def _check_from_seed(digits: Digits, seed: int, path: Path) -> None:
    drawn, faults = secret_table(len(digits), N_SECRET, seed), FaultList(str(path))
    rows, columns = np.nonzero(digits != drawn)
    for row, column in zip(rows[:20].tolist(), columns[:20].tolist(), strict=True):
        faults.add(
            "{digit}, the digit that the seed gives",
            line=row + 1,
            column=str(column + 1),
            value=str(digits[row, column]),
            rule=FROM_SEED.name,
            parameters={"digit": int(drawn[row, column])},
        )
    faults.count_more(max(0, len(rows) - 20))
    faults.raise_if_any()


def as_lines(cells: Cells) -> npt.NDArray[np.bytes_]:
    """Return each row as one word, which sorts as its line does where a star stands before commas and digits."""
    found: npt.NDArray[np.bytes_] = np.ascontiguousarray(cells).view(f"S{cells.shape[1]}").ravel()
    return found


def sorted_cells(cells: Cells) -> Cells:
    """Sort the rows as text."""
    return np.sort(as_lines(cells)).view(np.uint8).reshape(cells.shape)
