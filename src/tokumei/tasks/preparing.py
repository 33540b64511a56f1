"""What is made ready before a table is anonymized: its columns and their hierarchies.

Single columns come first: keyed pseudonyms, shifted dates, rounding, top codes, masks. Then each quasi-identifier has
the hierarchy that was given, or a sensible one made from its values.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.result import Section, Sentence
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.frames import written
from tokumei.data.history_columns import read_amounts
from tokumei.data.release import Recipe
from tokumei.data.table import check_column
from tokumei.hierarchies.builders.dates import Calendar
from tokumei.hierarchies.builders.from_data import FromData, told_of_labels
from tokumei.hierarchies.builders.groups import Prefix
from tokumei.hierarchies.builders.intervals import LARGEST, Intervals, Magnitudes
from tokumei.hierarchies.files import has_hierarchy, read_hierarchies, read_hierarchy
from tokumei.hierarchies.given import hierarchy_given
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.leaves import LARGEST_NUMBER, are_numbers, leaf_texts, read_date, unreadable
from tokumei.hierarchies.ordered_labels import order_labels
from tokumei.hierarchies.written_dates import read_days
from tokumei.inspection.patterns import EMBEDDED
from tokumei.methods.local.encoding import flat_hierarchy

SHORTEST_KEY = 16
MASK = "[masked]"
PSEUDONYMS = "pseudonyms"
KEYED = (PSEUDONYMS, "shift-dates")
WAYS = (PSEUDONYMS, "shift-dates", "round", "top-code", "grid", "mask")


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
        """Return the frame with the column changed; persons are read from the original, as columns may have changed."""
        source = frame if original is None else original
        change: Callable[[pl.DataFrame], list[str | None]] = {
            PSEUDONYMS: self._pseudonyms,
            "shift-dates": lambda one: self._shifted(one, source),
            "round": lambda one: self._numbers(one, lambda number: _written(_nearest(number, self.base))),
            "top-code": lambda one: self._numbers(one, self._top_coded),
            "grid": lambda one: self._numbers(one, lambda number: _written(_middle(number, self.base))),
            "mask": self._masked,
        }[self.by]
        return frame.with_columns(pl.Series(self.column, change(frame), dtype=pl.String))

    def as_dict(self) -> Json:
        """Return the change for JSON, without where its key lies."""
        named = {"column": self.column, "by": self.by, "person": self.person, "days": self.days}
        return {name: one for name, one in {**named, "base": self.base, "at": self.at}.items() if one}

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


def prepare_again(
    frame: pl.DataFrame, recipe: Recipe, released: Iterable[str], keys: JsonView, name: str
) -> pl.DataFrame:
    """Change the columns of another table as those of a recipe's own were; `keys` are files by column."""
    wanted = set(released)
    again = [Preparation(**one) for one in recipe.options.get("prepared", ()) if one["column"] in wanted]
    for one in again:
        if one.by in KEYED and one.column not in keys:
            expected = f"the key by which {one.column} was changed ({one.by}), as --key '{one.column}=FILE'"
            raise InputError.of(expected, file=name, column=one.column)
    keyed = [one["column"] for one in recipe.options.get("prepared", ()) if one["by"] in KEYED]
    for column in keys:
        check_column(column, keyed, "one changed by a key", "the recipe")
    return prepare(frame, [replace(one, key=Path(keys[one.column])) if one.by in KEYED else one for one in again], name)


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


# About as many intervals as a person can look over; each further level joins two.
INTERVALS = 16
# Fewer numbers than this are codes rather than amounts: the value or nothing.
FEWEST_NUMBERS = 4
# Where more of the different numbers than this lie in one of these intervals, they tell nothing of them.
MOST_IN_ONE = 0.75
# More distinct texts than this are not looked at for an order.
MOST_LABELS = 10_000
# Codes have so many characters, so many digits among them, and are masked in so many levels at most.
SHORTEST_CODE, LONGEST_CODE, DIGITS_OF_CODE, MOST_MASKS = 3, 16, 2, 8
# Dates over more calendar years than this are joined by decade, too, before nothing is said of them.
MANY_YEARS = 10

# Gives the distinct values of a column.
Values = Callable[[str], pl.Series]


def given_hierarchies(given: object, columns: Iterable[str], values: Values | None = None) -> dict[str, Hierarchy]:
    """Read the hierarchies that were given: a folder, or one by column, with "" for a folder beside.

    values: gives the values of a column, which all but a `tk.Hierarchy` and a file are made for.
    """
    if given is None:
        return {}
    if isinstance(given, (str, Path)):
        given = {"": given}
    if not isinstance(given, Mapping):
        raise InputError.of("a folder, or a hierarchy by column", option="hierarchies", value=type(given).__name__)
    wanted = list(columns)
    alone = {name: one for name, one in given.items() if name}
    found = {name: _hierarchy_given(one, name, values) for name, one in alone.items() if name in wanted}
    if "" in given:
        folder = given[""]
        rest = [name for name in wanted if name not in found and has_hierarchy(folder, name)]
        found |= read_hierarchies(folder, rest)
    return {name: found[name] for name in wanted if name in found}


def _hierarchy_given(given: object, name: str, values: Values | None) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, (str, Path)):
        return read_hierarchy(given, name)
    if values is None:
        expected = "a tk.Hierarchy or the name of its file, where the original is not there"
        raise InputError.of(expected, option=f"hierarchies {name}", value=type(given).__name__)
    return hierarchy_given(given, name, values(name))


def check_hierarchies_are_used(given: object, columns: Iterable[str]) -> None:
    """Raise for a hierarchy of a column that the job does not know: whoever gave it believes that it is used."""
    if isinstance(given, Mapping):
        for name in given:
            if name:
                check_column(name, columns, "the column of a hierarchy", "the job")


def is_folder_given(given: object) -> bool:
    """Whether a folder of hierarchies was named, which then is meant to hold one for each column."""
    return isinstance(given, (str, Path)) or (isinstance(given, Mapping) and "" in given)


def made_hierarchy(column: str, values: pl.Series) -> tuple[Hierarchy, Text]:
    """Make a sensible hierarchy for a column that has none, and say what it is."""
    values = _plain(values)
    if not values.drop_nulls().len():
        return Hierarchy.of_levels(column, [["(no value)"], [SUPPRESSED]]), Text("no values at all")
    # Before numbers, since 19850401 is both.
    days = days_of(values)
    if days:
        decades = max(days).year - min(days).year >= MANY_YEARS
        said = "days, months, quarters and years" + (", then decades" if decades else "")
        return Calendar(decades).build(column, values), Text(said)
    if is_of_numbers(values) and values.drop_nulls().n_unique() >= FEWEST_NUMBERS:
        _check_size(column, values)
        builder, told = _intervals(values.cast(pl.Float64).drop_nulls())
        return builder.build(column, values), told
    if values.dtype == pl.String:
        texts = leaf_texts(column, values)
        amounts = read_amounts(texts)
        if amounts is not None and len(set(amounts)) >= FEWEST_NUMBERS:
            return _of_amounts(column, texts, amounts)
        # Many texts are names or notes: nobody writes so many ranges.
        ordered = order_labels(texts) if len(texts) <= MOST_LABELS else None
        if ordered is not None and len(ordered.labels) >= FEWEST_NUMBERS:
            fan_out = max(2, math.ceil(len(ordered.labels) / INTERVALS))
            return FromData(fan_out=fan_out).build(column, values), told_of_labels(ordered, fan_out)
        if _are_codes(texts):
            step = math.ceil(len(texts[0]) / MOST_MASKS)
            return Prefix(step).build(column, values), Text("codes: masked from the right")
    return flat_hierarchy(column, values), Text("unordered: the value or nothing")


def told_of_made(made: Mapping[str, Text | str]) -> list[Section]:
    """Describe which hierarchies were made and as what; nothing where all were given."""
    if not made:
        return []
    said = "; ".join(f"{column}: {what}" for column, what in made.items())
    return [Sentence(f"No hierarchy was given for these columns, so one was made of each: {said}.")]


def _of_amounts(column: str, texts: Sequence[str], amounts: Sequence[float]) -> tuple[Hierarchy, Text]:
    """Return a hierarchy of intervals for texts that stand for amounts."""
    numbers = pl.Series(amounts)
    builder, told = _intervals(numbers)
    made = builder.build(column, numbers)
    place = {float(leaf): at for at, leaf in enumerate(made.leaves)}
    ordered = sorted(zip(amounts, texts, strict=True))
    labels = [made.labels_at(level) for level in range(1, made.height + 1)]
    levels = [[level[place[number]] for number, _ in ordered] for level in labels]
    hierarchy = Hierarchy.of_levels(column, [[text for _, text in ordered], *levels])
    return hierarchy, Text("amounts: {told}", told=told)


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether texts are codes whose beginning says most, as postal codes: digits and letters stand alike in all."""
    if len(texts) < FEWEST_NUMBERS or not SHORTEST_CODE <= len(texts[0]) <= LONGEST_CODE:
        return False
    shape = _shape(texts[0])
    return shape.count("9") >= DIGITS_OF_CODE and all(_shape(text) == shape for text in texts)


def _shape(text: str) -> str:
    return "".join("9" if one.isdecimal() else "a" if one.isalpha() else one for one in text)


def is_of_numbers(values: pl.Series) -> bool:
    """Whether a column holds numbers, though it may be read as text; 0120 is a code, not a number."""
    if values.dtype.is_numeric():
        return bool(values.drop_nulls().len())
    if values.dtype != pl.String:
        return False
    texts = values.drop_nulls().unique()
    has_codes = texts.str.contains(r"^[+-]?0[0-9]").any()
    # First the cheap look, since most columns of text have a letter somewhere.
    looks_so = len(texts) and not has_codes and texts.str.contains(r"^[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?$").all()
    return bool(looks_so) and are_numbers(texts.to_list())


def is_of_dates(values: pl.Series) -> bool:
    """Whether a column holds dates, though it may be read as text."""
    return bool(days_of(values))


def days_of(values: pl.Series) -> list[dt.date] | None:
    """Return the days that a column holds, in no order; None where it holds others than days."""
    if values.dtype == pl.Date:
        return values.drop_nulls().unique().to_list()
    if values.dtype != pl.String and not values.dtype.is_integer():
        return None
    return read_days(values.drop_nulls().unique().cast(pl.String).to_list())


def _plain(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else written(values)


def _check_size(column: str, values: pl.Series) -> None:
    """Raise for numbers that no interval can hold: they are a mark for something else, or a mistake."""
    numbers = values.cast(pl.Float64)
    refused = values.filter(~(numbers.abs() <= LARGEST_NUMBER) & numbers.is_not_null()).unique(maintain_order=True)
    if len(refused):
        hint = " (NaN is missing by the option null-values)" if numbers.is_nan().any() else ""
        texts = refused.cast(pl.String).to_list()
        raise unreadable(column, texts, f"a finite number of at most {LARGEST_NUMBER:g}{hint}")


def _intervals(numbers: pl.Series) -> tuple[Intervals | Magnitudes, Text]:
    """Return intervals of one width; if most numbers would lie in one of them, intervals that grow with the numbers."""
    width, factors = _widths(numbers)
    distinct = numbers.unique()
    fullest = (distinct / width).floor().alias("interval").value_counts()["count"].max()
    is_skewed = len(distinct) >= INTERVALS and fullest > MOST_IN_ONE * len(distinct)  # type: ignore[operator]
    if is_skewed and distinct.abs().max() < LARGEST:  # type: ignore[operator]
        return Magnitudes(), Text("intervals that grow with the numbers, from 1 to 2, 5, 10, 20 and so on")
    return Intervals(width, factors), Text("intervals of {width:g}, joined in pairs", width=width)


def _widths(numbers: pl.Series) -> tuple[float, tuple[int, ...]]:
    """Return a round width that cuts the range into about INTERVALS, and doublings until two or three are left."""
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    # Narrower than the smallest number of full precision there is nothing to divide by.
    wanted = max((high - low) / INTERVALS, sys.float_info.min)
    size = 10.0 ** math.floor(math.log10(wanted))
    width = next(size * step for step in (1, 2, 5, 10) if size * step >= wanted)
    if (numbers == numbers.round()).all():
        width = max(1.0, width)
    n_joins = max(0, math.floor(math.log2(max(1.0, (high - low) / width))) - 1)
    return width, (2,) * n_joins
