"""What is done to single columns before anything else: keyed pseudonyms, shifted dates, rounding, top codes, masks."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.table import check_column
from tokumei.hierarchies.leaves import read_date
from tokumei.inspection.patterns import EMBEDDED

SHORTEST_KEY = 16
MASK = "[masked]"
KEYED = ("pseudonyms", "shift-dates")
WAYS = ("pseudonyms", "shift-dates", "round", "top-code", "grid", "mask")


@dataclass(frozen=True)
class Preparation:
    """One change of one column.

    | by            | needs                   | does                                                                |
    |---------------|-------------------------|---------------------------------------------------------------------|
    | `pseudonyms`  | `key`                   | one pseudonym for a value under one key, another under another      |
    | `shift-dates` | `key`, `person`, `days` | all dates of a person move alike, by `days` at most and never by 0  |
    | `round`       | `base`                  | numbers to the nearest multiple                                     |
    | `top-code`    | `at`                    | numbers above become "90+" for `at = 89`                            |
    | `grid`        | `base`                  | coordinates to the middle of their cell                             |
    | `mask`        | nothing                 | e-mail addresses, telephone numbers and links become [masked]       |
    """

    column: str
    by: str
    key: Path | None = None
    person: str | None = None
    days: int = 0
    base: float = 0.0
    at: float = 0.0

    def apply(self, frame: pl.DataFrame, original: pl.DataFrame | None = None) -> pl.DataFrame:
        """Give the frame with the column changed; persons are read from the original, which may be changed since."""
        source = frame if original is None else original
        change: Callable[[pl.DataFrame], list[str | None]] = {
            "pseudonyms": self._pseudonyms,
            "shift-dates": lambda one: self._shifted(one, source),
            "round": lambda one: self._numbers(one, lambda number: _written(_nearest(number, self.base))),
            "top-code": lambda one: self._numbers(one, self._top_coded),
            "grid": lambda one: self._numbers(one, lambda number: _written(_middle(number, self.base))),
            "mask": self._masked,
        }[self.by]
        return frame.with_columns(pl.Series(self.column, change(frame), dtype=pl.String))

    def check_key(self) -> None:
        """Refuse a key that is not there or too short, where one is needed."""
        if self.by in KEYED:
            self._secret()

    def _secret(self) -> bytes:
        if self.key is None or not self.key.is_file():
            raise InputError.of("a key file that exists", file=self.key)
        secret = self.key.read_bytes().strip()
        if len(secret) < SHORTEST_KEY:
            raise InputError.of(f"a key of {SHORTEST_KEY} bytes or more", file=self.key, value=f"{len(secret)} bytes")
        return secret

    def _pseudonyms(self, frame: pl.DataFrame) -> list[str | None]:
        secret = self._secret()
        known = {v: _digest(secret, v).hex()[:20] for v in frame[self.column].cast(pl.String).unique() if v is not None}
        return [None if value is None else known[value] for value in frame[self.column].cast(pl.String)]

    def _shifted(self, frame: pl.DataFrame, source: pl.DataFrame) -> list[str | None]:
        secret = self._secret()
        cells, persons = frame[self.column].cast(pl.String), source[self.person or self.column].cast(pl.String)
        # Each date is read and each person's shift drawn once, however many rows they have.
        days = {text: read_date(text) for text in cells.unique().drop_nulls()}
        shifts = {who: dt.timedelta(days=self._offset(secret, who)) for who in persons.unique().drop_nulls()}
        made: list[str | None] = []
        for row, (text, who) in enumerate(zip(cells, persons, strict=True), start=1):
            day = None if text is None else days[text]
            if text is not None and day is None:
                raise InputError.of(Text("a date in row {n:,}", n=row), column=self.column, value=text)
            if day is not None and who is None:
                raise InputError.of(Text("a person in row {n:,}, whose dates are shifted", n=row), column=self.person)
            made.append(None if day is None else str(day + shifts[who]))
        return made

    def _offset(self, secret: bytes, person: str) -> int:
        drawn = int.from_bytes(_digest(secret, f"days of {person}")[:8], "big") % (2 * self.days)
        # From -days to days without 0, which would leave a person's dates as they are.
        return drawn - self.days if drawn < self.days else drawn - self.days + 1

    def _numbers(self, frame: pl.DataFrame, change: Callable[[float], str]) -> list[str | None]:
        made: list[str | None] = []
        for row, value in enumerate(frame[self.column].cast(pl.String), start=1):
            try:
                number = None if value is None else float(value)
            except ValueError:
                number = math.nan
            if number is not None and not math.isfinite(number):
                raise InputError.of(Text("a number in row {n:,}", n=row), column=self.column, value=value)
            made.append(None if number is None else change(number))
        return made

    def _top_coded(self, number: float) -> str:
        return f"{_written(math.floor(self.at) + 1)}+" if number > self.at else _written(number)

    def _masked(self, frame: pl.DataFrame) -> list[str | None]:
        return frame[self.column].cast(pl.String).str.replace_all(EMBEDDED, MASK).to_list()


def prepare(frame: pl.DataFrame, preparations: Sequence[Preparation], name: str) -> pl.DataFrame:
    """Change columns in the order given; whose a row is is told by the frame as it was before the first change."""
    check_preparations(frame.columns, preparations, name)
    made = frame
    for one in preparations:
        made = one.apply(made, frame)
    return made


def check_preparations(columns: Sequence[str], preparations: Sequence[Preparation], name: str) -> None:
    """Refuse columns that a file does not have, and keys that cannot be used."""
    for one in preparations:
        for column in (one.column, one.person or one.column):
            check_column(column, columns, "a column to prepare", name)
        one.check_key()


def _digest(secret: bytes, text: str) -> bytes:
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()


def _nearest(number: float, base: float) -> float:
    return math.floor(number / base + 0.5) * base


def _middle(number: float, base: float) -> float:
    return (math.floor(number / base) + 0.5) * base


def _written(number: float) -> str:
    return f"{number:.10g}"
