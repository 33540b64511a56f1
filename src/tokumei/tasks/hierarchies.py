"""The hierarchies of a job: those that were given, and sensible ones where none was."""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.result import Section, Sentence
from tokumei.core.text import Text
from tokumei.data.table import check_column
from tokumei.data.written_numbers import read_amounts
from tokumei.hierarchies.builders.calendar import Calendar
from tokumei.hierarchies.builders.from_data import FromData, told_of_labels
from tokumei.hierarchies.builders.intervals import Intervals
from tokumei.hierarchies.builders.magnitudes import LARGEST, Magnitudes
from tokumei.hierarchies.builders.prefix import Prefix
from tokumei.hierarchies.files import has_hierarchy, read_hierarchies, read_hierarchy
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.leaves import LARGEST_NUMBER, are_numbers, leaf_texts, unreadable
from tokumei.hierarchies.ordered_labels import order_labels
from tokumei.hierarchies.written_dates import read_days
from tokumei.methods.local.encoding import flat_hierarchy

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


def given_hierarchies(given: Any, columns: Iterable[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies that were given: a folder, or a hierarchy or file by column, with "" for a folder beside."""
    if given is None:
        return {}
    if isinstance(given, (str, Path)):
        given = {"": given}
    if not isinstance(given, Mapping):
        raise InputError.of("a folder, or a hierarchy by column", option="hierarchies", value=type(given).__name__)
    wanted = list(columns)
    alone = {name: one for name, one in given.items() if name}
    for name, one in alone.items():
        if not isinstance(one, (Hierarchy, str, Path)):
            expected = "a tk.Hierarchy or the name of its file"
            raise InputError.of(expected, option=f"hierarchies {name}", value=type(one).__name__)
    found = {
        name: one if isinstance(one, Hierarchy) else read_hierarchy(one, name)
        for name, one in alone.items()
        if name in wanted
    }
    if "" in given:
        folder = given[""]
        rest = [name for name in wanted if name not in found and has_hierarchy(folder, name)]
        found |= read_hierarchies(folder, rest)
    return {name: found[name] for name in wanted if name in found}


def check_hierarchies_are_used(given: Any, columns: Iterable[str]) -> None:
    """Raise for a hierarchy of a column that the job does not know: whoever gave it believes that it is used."""
    if isinstance(given, Mapping):
        for name in given:
            if name:
                check_column(name, columns, "the column of a hierarchy", "the job")


def is_folder_given(given: Any) -> bool:
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
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values


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
