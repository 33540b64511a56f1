"""The files of PWSCUP 2026, its rules, and the checks that hold submissions against them.

Files are UTF-8 CSV with a header, in which columns may stand in any order.

| file          | holds                                                                        | who has it            |
|---------------|------------------------------------------------------------------------------|-----------------------|
| A_bg          | people who are in no cohort                                                  | everybody             |
| P             | everybody who may be in a cohort                                             | the organizer         |
| B             | a team's own cohort, with `is_rare`                                          | that team             |
| utility_ref   | mean and covariance of the background, the time score's scale and floor      | that team             |
| C             | the release: the columns of B without `record_id`                            | everybody, from then  |
| aia_challenge | people of the cohort and as many who are not, without times                  | everybody, from then  |
| F_mia         | for each row of the attacker's own cohort how surely it is in the target's   | the attacker          |
| F_aia         | for each row of the challenge its time                                       | the attacker          |
| truth         | who is in, and the times of the challenge                                    | the organizer         |
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.edition import Rule
from tokumei.contest.tables import number_in
from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.csv import TextFrame, read_csv, write_csv
from tokumei.data.files.disk import read_bytes
from tokumei.data.files.strict import NUMBER, ColumnType

Floats = npt.NDArray[np.float64]

CONTINUOUS = ("age", "BMI", "SBP", "TG", "HDL", "ALT", "FPG")
RANGES: Mapping[str, tuple[float, float]] = {
    "BMI": (10, 55),
    "SBP": (40, 250),
    "TG": (1, 3000),
    "HDL": (10, 160),
    "ALT": (0.1, 700),
    "FPG": (40, 400),
}
LONGEST = 10.0
# What stands in the time of whoever was watched to the end: 3,652 days.
WATCHED_TO_END = 3652 / 365.25
BINARY = ("sex", "smoking", "onset", "death")
# As the contest's own files have them.
COLUMNS = ("age", "sex", "prefecture", "BMI", "SBP", "TG", "HDL", "ALT", "smoking", "FPG", "time", "onset", "death")
RECORD, RARE, ROW = "record_id", "is_rare", "challenge_row_id"
KNOWN = ("age", "SBP", "TG", "HDL", "ALT", "sex", "prefecture")
TARGET, TIME_HAT = "target_k", "time_hat"


WORD = ColumnType("a text that is not empty", r"(?s)\S", lambda cell: cell, takes_names=True)
ZERO_OR_ONE = ColumnType("0 or 1", r"^[01](\.0*)?$", lambda cell: cell.cast(pl.Float64, strict=False))
WHOLE_ID = ColumnType("a whole number of 0 or more", r"^[0-9]{1,9}$", lambda cell: cell.cast(pl.Int64, strict=False))
CONFIDENCE = number_in(0, 1)
# Ages beyond anybody's: the contest names no ends, and none is too old to be released.
TYPES: Mapping[str, ColumnType] = {
    "age": number_in(0, 150, whole=True),
    "prefecture": WORD,
    "time": number_in(0, LONGEST, above=True),
    **{name: number_in(*ends) for name, ends in RANGES.items()},
    **dict.fromkeys(BINARY, ZERO_OR_ONE),
}
TIME = ColumnType("a number of 0 or more", NUMBER.pattern, lambda cell: _not_negative(NUMBER.read(cell)))


def _not_negative(number: pl.Expr) -> pl.Expr:
    return pl.when(number >= 0).then(number)


FORM = Rule(
    "file-form",
    "The file is UTF-8 text with a header: cells separated by commas, as many in every line. It may be gzipped.",
    "ファイルはヘッダー付きの UTF-8 の CSV とし、全行のセル数を揃える。gzip 圧縮も可。",
)
RELEASE_RULES = (
    FORM,
    Rule(
        "columns",
        f"C has these columns in any order and no others: {', '.join(COLUMNS)}.",
        f"C の列は次の13列とし、順序は問わない：{'、'.join(COLUMNS)}。",
    ),
    Rule("same-number", "C has as many rows as B.", "C の行数は B と同じとする。"),
    Rule(
        "ranges",
        "Ages are whole; "
        + "; ".join(f"{name} is from {low:g} to {high:g}" for name, (low, high) in RANGES.items())
        + f"; time is above 0 and at most {LONGEST:g}.",
        "年齢は整数、"
        + "、".join(f"{name} は {low:g}〜{high:g}" for name, (low, high) in RANGES.items())
        + f"、time は 0 より大きく {LONGEST:g} 以下とする。",
    ),
    Rule(
        "zero-or-one",
        "sex, smoking, onset and death are 0 or 1.",
        "sex・smoking・onset・death は 0 または 1 とする。",
    ),
    Rule("prefecture", "The prefecture is not empty.", "prefecture は空にしない。"),
    Rule("one-outcome", "onset and death are not both 1.", "onset と death を同時に 1 にしない。"),
)
GUESS_RULES = (
    FORM,
    Rule(
        "own-records",
        "F_mia has one line for each record_id of the attacker's own cohort.",
        "F_mia は攻撃者自身のコホートの record_id ごとに1行とする。",
    ),
    Rule(
        "confidence",
        "F_mia has a column named as in mia_columns, with numbers from 0 to 1; columns of other targets may stand "
        "beside it.",
        "F_mia には mia_columns にある名前の列があり、値は 0〜1 とする。他の対象の列があってもよい。",
    ),
    Rule(
        "challenge-rows",
        "F_aia has one line for each row of the challenge; lines of other targets may stand beside them.",
        "F_aia はチャレンジの行ごとに1行とする。他の対象の行があってもよい。",
    ),
    Rule("time-hat", "time_hat is a number of 0 or more.", "time_hat は 0 以上の数とする。"),
)
CELL_RULES = dict.fromkeys(("age", "time", *RANGES), "ranges") | {"prefecture": "prefecture"}
CELL_RULES |= dict.fromkeys(BINARY, "zero-or-one")


@dataclass(frozen=True)
class Cohort:
    """People of a health check with what became of them in ten years."""

    frame: pl.DataFrame

    def __len__(self) -> int:
        return self.frame.height

    def of(self, name: str) -> Floats:
        """Return a column of numbers."""
        found: Floats = self.frame[name].to_numpy().astype(np.float64)
        return found

    @cached_property
    def continuous(self) -> Floats:
        """The seven continuous columns, a row a person."""
        return np.column_stack([self.of(name) for name in CONTINUOUS])

    @property
    def watched(self) -> tuple[Floats, Floats]:
        """Times, and whether diabetes set in at their end."""
        return self.of("time"), self.of("onset")

    def rows(self, is_taken: npt.NDArray[np.bool_]) -> Cohort:
        """Return some of the people."""
        return Cohort(self.frame.filter(pl.Series(is_taken)))

    def sorted(self) -> Cohort:
        """Order the rows by what they say, so that their order tells nothing and changes no digit."""
        named = [name for name in self.frame.columns if name in COLUMNS]
        return Cohort(self.frame.sort(named, maintain_order=True))


@dataclass(frozen=True)
class Reference:
    """What the use of releases of one cohort is measured by; `floor` and `signal` are those of the time score."""

    mean: Floats
    covariance: Floats
    floor: float
    signal: float
    least: float = 4.0

    @cached_property
    def inverse(self) -> Floats:
        """The pseudo-inverse of the covariance."""
        return np.asarray(np.linalg.pinv(self.covariance), np.float64)

    def distances(self, cohort: Cohort) -> Floats:
        """Mahalanobis distance of each person from the middle of the background."""
        off = cohort.continuous - self.mean
        found: Floats = np.sqrt(np.maximum(0.0, np.einsum("ij,jk,ik->i", off, self.inverse, off)))
        return found

    @classmethod
    def read(cls, path: Path) -> Reference:
        """Read utility_ref.json as the organizers write it."""
        try:
            found = json.loads(read_bytes(path))
            mean, covariance = np.array(found["mu"], np.float64), np.array(found["sigma"], np.float64)
            made = cls(
                mean, covariance, float(found["km_floor"]), float(found["km_signal_D"]), float(found["band"]["lo"])
            )
        except (ValueError, KeyError, TypeError):
            made = None
        n = len(CONTINUOUS)
        if made is None or made.mean.shape != (n,) or made.covariance.shape != (n, n):
            raise InputError.of("JSON with mu, sigma, band, km_signal_D and km_floor", file=path)
        if not (np.isfinite(made.covariance).all() and math.isfinite(made.floor) and made.signal > 0):
            raise InputError.of("finite numbers, and km_signal_D above 0", file=path)
        return made

    def write(self, path: Path) -> None:
        """Write it as the organizers do."""
        found = {
            "mu": self.mean.tolist(),
            "sigma": self.covariance.tolist(),
            "band": {"lo": self.least, "hi": 10.0, "cap": 12.0},
            "b_is_rare": None,
            "km_signal_D": self.signal,
            "km_floor": self.floor,
        }
        path.write_text(json.dumps(found), encoding="utf-8")


def read_cohort(path: Path, more: Sequence[str] = ()) -> Cohort:
    """Read people; `more` names further columns of whole numbers that the file must have. Any others are left out."""
    text = _read_text(path)
    faults = RowFaults(text)
    types = dict(TYPES) | dict.fromkeys(more, WHOLE_ID)
    _check_columns(text, list(types), faults, may_have_more=True)
    kept = [name for name in text.frame.columns if name in types]
    frame = faults.read({name: (CELL_RULES.get(name, FORM.name), types[name]) for name in kept})
    faults.raise_if_any()
    if not frame.height:
        raise InputError.of("at least one row", file=path)
    return Cohort(frame)


def check_release(n_rows: int, path: Path) -> None:
    """Raise one InputError with every fault of C."""
    text = _read_text(path)
    faults = RowFaults(text)
    _check_columns(text, list(COLUMNS), faults)
    frame = faults.read({name: (CELL_RULES[name], TYPES[name]) for name in COLUMNS})
    both = ((frame["onset"] == 1) & (frame["death"] == 1)).fill_null(False)
    faults.add_cells("one-outcome", "death", both, "0, since onset is 1")
    faults.check_n_rows(n_rows, "same-number", "{n_rows:,} rows, as many as B")
    faults.raise_if_any()


def _read_text(path: Path) -> TextFrame:
    try:
        return read_csv(path, mixes_line_ends=False)
    except InputError as error:
        raise error.under(FORM.name) from None


def _check_columns(text: TextFrame, wanted: list[str], faults: RowFaults, *, may_have_more: bool = False) -> None:
    """Refuse a file without the columns at once, since nothing else can be said of it."""
    for name in wanted:
        if name not in text.frame.columns:
            faults.add("columns", "a column of this name", column=name)
    for name in text.frame.columns:
        if name not in wanted and not may_have_more:
            faults.add("columns", "no column of another name", column=name)
    faults.raise_if_any()


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a file of the contest, whole numbers without a point."""
    whole = [name for name in frame.columns if name in (RECORD, ROW, "age", *BINARY, RARE, "is_member")]
    write_csv(frame.with_columns(pl.col(whole).cast(pl.Int64)), path)


def read_membership(path: Path, column: str, records: pl.Series | None) -> pl.DataFrame:
    """Read F_mia: how sure the attacker is of each of its own records, of any if none are given."""
    text = _read_text(path)
    faults = RowFaults(text)
    _check_columns(text, [RECORD, column], faults, may_have_more=True)
    targets = [name for name in text.frame.columns if name != RECORD]
    for name in targets:
        if not name.isdecimal():
            faults.add("confidence", "the number of a target", column=name)
    frame = faults.read({RECORD: ("own-records", WHOLE_ID), column: ("confidence", CONFIDENCE)})
    faults.add_cells("own-records", RECORD, _repeats(frame[RECORD]), "each record once")
    if records is not None:
        own = records.cast(pl.Int64)
        unknown = (~frame[RECORD].is_in(own.implode())) & frame[RECORD].is_not_null()
        faults.add_cells("own-records", RECORD, unknown, "a record_id of the attacker's own cohort")
        missing = own.filter(~own.is_in(frame[RECORD].implode())).cast(pl.String).rename(RECORD)
        faults.add_rows("own-records", missing, None, "a line for every record of the attacker's own cohort")
    faults.raise_if_any()
    return frame.rename({column: "confidence"}).sort(RECORD)


def read_times(path: Path, target: str, rows: pl.Series | None) -> pl.DataFrame:
    """Read F_aia: the guessed time of each row of a target's challenge."""
    text = _read_text(path)
    faults = RowFaults(text)
    _check_columns(text, [TARGET, ROW, TIME_HAT], faults, may_have_more=True)
    kinds = {TARGET: ("challenge-rows", WHOLE_ID), ROW: ("challenge-rows", WHOLE_ID), TIME_HAT: ("time-hat", TIME)}
    frame = faults.read(kinds)
    is_ours = (frame[TARGET] == int(target)).fill_null(False)
    ours = frame.select(pl.when(is_ours).then(pl.col(ROW)).alias(ROW))[ROW]
    faults.add_cells("challenge-rows", ROW, _repeats(ours), "each row of the challenge once")
    if rows is not None:
        unknown = (~ours.is_in(rows.implode())) & ours.is_not_null()
        faults.add_cells("challenge-rows", ROW, unknown, "a row of the challenge")
        missing = rows.filter(~rows.is_in(ours.drop_nulls().implode())).cast(pl.String).rename(ROW)
        faults.add_rows("challenge-rows", missing, None, "a line for every row of the challenge")
    faults.raise_if_any()
    return frame.filter(is_ours).select(ROW, TIME_HAT).sort(ROW)


def _repeats(cells: pl.Series) -> pl.Series:
    return ~cells.is_first_distinct() & cells.is_not_null()


def read_target(path: Path) -> str:
    """Read mia_columns.json: the number under which a target stands in the files of attackers."""
    try:
        (found,) = json.loads(read_bytes(path))["target_columns"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str) or not found.isdecimal():
        raise InputError.of('JSON such as {"target_columns": ["1"]}', file=path)
    return found


@dataclass(frozen=True)
class Challenge:
    """People whose time is asked for, without it."""

    frame: pl.DataFrame

    @classmethod
    def read(cls, path: Path) -> Challenge:
        """Read aia_challenge."""
        text = _read_text(path)
        faults = RowFaults(text)
        types = {name: TYPES[name] for name in KNOWN} | {ROW: WHOLE_ID}
        _check_columns(text, list(types), faults, may_have_more=True)
        frame = faults.read({name: (CELL_RULES.get(name, FORM.name), kind) for name, kind in types.items()})
        faults.raise_if_any()
        return cls(frame)


def assigned_cohorts(teams: Sequence[str], salt: str, n_cohorts: int) -> list[int]:
    """Assign each team one of the prepared cohorts, as the organizers drew them: by a hash, the next free one if taken.

    The hash is SHA-256 of the name and the salt; teams come in the order of their registration.
    """
    if len(teams) > n_cohorts:
        raise InputError.of(Text("at most {n} teams, one for each cohort", n=n_cohorts), value=len(teams))
    taken: list[int] = []
    for team in teams:
        cohort = int.from_bytes(hashlib.sha256((team + salt).encode()).digest(), "big") % n_cohorts
        while cohort in taken:
            cohort = (cohort + 1) % n_cohorts
        taken.append(cohort)
    return taken
