"""The columns of a purchase history, found in a frame by name and read as what they are.

Nothing is lost on the way: a cell that cannot be read, and one that is empty in a row which is not, is a fault.

Dates and times are read by `moments`. Amounts come as people write them: $48,123, 1,200円 or
25.123,45 €, which no program takes for numbers. Places come as names, or as coordinates, which are put into the cells
of a grid: `item=lat+lon@0.01` names the two columns and the side of a cell.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import polars as pl

from tokumei.core.errors import FaultList, InputError, nearest
from tokumei.core.text import Text
from tokumei.data.files.strict import NUMBER, add_value_faults, does_not_fit
from tokumei.data.frames import check_single
from tokumei.data.moments import TIMES, dates_expected, read_moments, read_times

# So many texts are tried before all are: most columns of text hold no amounts.
TRIED_FIRST = 20
# A sign of money before, or it or a unit after the number. Letters before a number make a code of it.
_AMOUNT = re.compile(
    r"(?P<before>(?:[A-Z]{0,3}[$€£¥￥₩₹]|USD|EUR|GBP|JPY)?)\s?(?P<number>[+-]?[0-9][0-9.,]*)\s?(?P<after>[^\d\s.,]{0,6})"
)
_POINT = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]*)(\.[0-9]+)?")
_COMMA = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}(\.[0-9]{3})+|[1-9][0-9]*)(,[0-9]+)?")


def read_amounts(texts: Sequence[str], *, is_sure: bool = False) -> list[float] | None:
    """Read every text of a column as an amount with one sign or unit; None where they are none, or could be two.

    Whether a comma parts thousands or decimals is told by all texts together. Where they do not tell, as 1,250 alone,
    it parts thousands, or they are none if one is to be sure.

    >>> read_amounts(["$48,123", "$1,200.50"]), read_amounts(["25.123,45 €", "900,00 €"]), read_amounts(["1,200円"])
    ([48123.0, 1200.5], [25123.45, 900.0], [1200.0])
    >>> read_amounts(["$5", "€5"]), read_amounts(["007 kg"]), read_amounts(["A1", "A2"])
    (None, None, None)
    >>> read_amounts(["1,250", "2,500"]), read_amounts(["1,250", "2,500"], is_sure=True)
    ([1250.0, 2500.0], None)
    """
    if not texts or _read(texts[:TRIED_FIRST], is_sure=False) is None:
        return None
    return _read(texts, is_sure=is_sure)


def _read(texts: Sequence[str], *, is_sure: bool) -> list[float] | None:
    found = [_AMOUNT.fullmatch(text.strip()) for text in texts]
    parts = [one for one in found if one is not None]
    if len(parts) < len(texts) or len({(one["before"], one["after"]) for one in parts}) > 1:
        return None
    numbers = [one["number"] for one in parts]
    by_point, by_comma = (all(form.fullmatch(number) for number in numbers) for form in (_POINT, _COMMA))
    if is_sure and by_point and by_comma and not all(number.lstrip("+-").isdigit() for number in numbers):
        return None
    if by_point:
        return [float(number.replace(",", "")) for number in numbers]
    if by_comma:
        return [float(number.replace(".", "").replace(",", ".")) for number in numbers]
    return None


SCHEMA: dict[str, pl.DataType] = {
    "customer": pl.String(),
    "invoice": pl.String(),
    "date": pl.Date(),
    "time": pl.Time(),
    "item": pl.String(),
    "price": pl.Float64(),
    "quantity": pl.Int64(),
}
# Whoever came and when: a visit or a log-in is an event of a history, too.
NEEDED = ("customer", "date")
NAMES = ("customer", "invoice", "item")
EXPECTED = {"price": "a price, as 1.95", "quantity": "a quantity, as 2 or 0.5"}
# Amounts are floats: from here on some whole numbers are none. What is one already may have lost its last digits.
MOST_EXACT = 2**53

log = logging.getLogger("tokumei.notes")


@dataclass(frozen=True)
class Grid:
    """A grid of places, whose cells are squares of so many units of two columns of coordinates."""

    columns: tuple[str, str]
    side: Decimal

    @classmethod
    def of(cls, written: str) -> Grid | None:
        """Read what is written as lat+lon@0.01; None if it is no grid.

        >>> Grid.of("lat+lon@0.01"), Grid.of("item")
        (Grid(columns=('lat', 'lon'), side=Decimal('0.01')), None)
        """
        found = GRID.fullmatch(written)
        side = Decimal(found["side"]) if found else Decimal(0)
        return cls((found["first"], found["second"]), side) if found and side else None

    def cells(self, coordinates: Sequence[pl.Series]) -> pl.Series:
        """Return the cell of each place, named by its corner of least coordinates; missing where one of these is."""
        n_decimals = max(0, -int(self.side.as_tuple().exponent))
        unit = 10**n_decimals
        side = int(self.side * unit)
        corners = []
        for numbers in coordinates:
            # A hair is added, since 0.29 / 0.01 is 28.999….
            corner = (numbers * unit / side + 1e-9).floor().cast(pl.Int64) * side
            size = corner.abs()
            parts = pl.DataFrame({"sign": corner < 0, "whole": size // unit, "rest": size % unit})
            decimals = pl.format(".{}", pl.col("rest").cast(pl.String).str.zfill(n_decimals))
            text = pl.format(
                "{}{}{}",
                pl.when("sign").then(pl.lit("-")).otherwise(pl.lit("")),
                pl.col("whole"),
                decimals if n_decimals else pl.lit(""),
            )
            corners.append(parts.select(text).to_series())
        return pl.DataFrame({"first": corners[0], "second": corners[1]}).select(
            pl.concat_str("first", "second", separator=" ")
        )["first"]


GRID = re.compile(r"(?P<first>.+)\+(?P<second>.+)@(?P<side>[0-9]*\.?[0-9]+)")


@dataclass(frozen=True)
class Source:
    """Where a frame came from: what to call it, and the line on which each of its rows stood."""

    name: str
    line_of: Callable[[int], int] = lambda row: row + 1


def read_columns_of_history(
    frame: pl.DataFrame,
    source: Source,
    columns: Mapping[str, str],
    *,
    date_format: str | None = None,
    carried: Sequence[str] = (),
    amounts: Mapping[str, pl.DataFrame] | None = None,
) -> pl.DataFrame:
    """Convert a frame to the columns of SCHEMA; what is absent is missing in every row, and noted.

    amounts: what the texts of prices and quantities stand for, where these are not all rows: what a comma in an amount
    stands for is only told by all together.
    """
    found = find_columns(frame.columns, columns, source.name, carried)
    faults = FaultList(source.name)
    left_out = left_over(frame.columns, columns, carried)
    frame = _with_cells(frame, found, source, faults)
    read: dict[str, pl.Series] = {}
    for role, name in found.items():
        cells = _without_empty_text(frame[name])
        check_single({name: cells.dtype}, [name], source.name)
        if role == "date":
            moments = read_moments(cells, date_format)
            if moments.is_bad.any():
                _add(faults, source, cells, moments.is_bad, dates_expected(cells, date_format))
            read["date"] = moments.date
            if moments.time is not None:
                read.setdefault("time", moments.time)
                if "time" in found:
                    faults.add("dates without a time of day, since there is a column of times", column=name)
        elif role == "time":
            read["time"], is_bad = read_times(cells)
            _add(faults, source, cells, is_bad, TIMES)
        elif role in NAMES:
            read[role] = _as_names(cells)
        else:
            read[role], is_bad = _as_numbers(cells)
            told = None if amounts is None else amounts.get(role)
            if amounts is None and is_bad.any():
                told = written_amounts(cells, source.name)
            if told is None:
                _add(faults, source, cells, is_bad, EXPECTED[role])
            else:
                read[role] = cells.replace_strict(told["text"], told["amount"], return_dtype=pl.Float64)
            is_too_large = (read[role].abs() >= MOST_EXACT).fill_null(False)
            _add(faults, source, cells, is_too_large, f"an amount below {MOST_EXACT:,}, to keep all its digits")
    faults.raise_if_any()
    _check_whole(frame, found, read, source)
    if "quantity" in read:
        read["quantity"] = as_quantity(read["quantity"])
    absent = {role: nothing(role, kind, frame.height) for role, kind in SCHEMA.items() if role not in read}
    if left_out:
        names = (source.name, ", ".join(left_out), ", ".join(absent) or "nothing")
        log.info("%s: left out %s (--carry keeps them in a release); absent: %s", *names)
    return pl.DataFrame({role: (read | absent)[role].alias(role) for role in SCHEMA})


def _with_cells(frame: pl.DataFrame, found: Mapping[str, str], source: Source, faults: FaultList) -> pl.DataFrame:
    """Return the frame with a column for the items that are cells of a grid, if they are."""
    grid = grid_of(found, frame.columns)
    if grid is None:
        return frame
    coordinates = []
    for name in grid.columns:
        cells = _without_empty_text(frame[name])
        numbers, is_bad = _as_numbers(cells)
        _add(faults, source, cells, is_bad, "a coordinate, as 39.9042")
        coordinates.append(numbers)
    faults.raise_if_any()
    return frame.with_columns(grid.cells(coordinates).alias(found["item"]))


def grid_of(found: Mapping[str, str], names: Sequence[str]) -> Grid | None:
    """Return the grid whose cells the items are; None where they are a column of the file."""
    item = found.get("item", "")
    return None if item in names else Grid.of(item)


def columns_read(found: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return the columns of a file that its history is read from."""
    grid = grid_of(found, names)
    own = [name for role, name in found.items() if grid is None or role != "item"]
    return list(dict.fromkeys([*own, *(() if grid is None else grid.columns)]))


def nothing(name: str, kind: pl.DataType, n_rows: int) -> pl.Series:
    """Return a column that is missing in every row."""
    return pl.Series(name, [None], dtype=kind).new_from_index(0, n_rows)


def find_columns(
    names: Sequence[str], columns: Mapping[str, str], file: str, carried: Sequence[str] = ()
) -> dict[str, str]:
    """Match the columns of a file to roles: as declared, else by their own names."""
    faults = FaultList(file)
    grid = grid_of(columns, names)
    wanted = [(role, name) for role, name in columns.items() if grid is None or role != "item"]
    for role, name in [*wanted, *(("item", name) for name in (() if grid is None else grid.columns))]:
        if name and name not in names:
            near = nearest(name, names)
            expected = f"a column of the file{f', such as {near}' if near else ': ' + ', '.join(names)}"
            faults.add(expected, column=role, value=name)
    for name in carried:
        if name not in names:
            near = nearest(name, names)
            expected = f"a column of the file{f', such as {near}' if near else ': ' + ', '.join(names)}"
            raise InputError.of(expected, file=file, option="--carry", value=name)
        if name in SCHEMA or name in columns_read(columns, names):
            raise InputError.of("a column that is none of the history's own", option="--carry", value=name)
    faults.raise_if_any()
    taken = set(columns.values())
    found = {role: columns.get(role, role if role in names and role not in taken else "") for role in SCHEMA}
    found = {role: name for role, name in found.items() if name}
    for role in NEEDED:
        if role not in found:
            how = f"{role}=NAME (in the shell --columns {role}=NAME) with one of: {', '.join(names)}"
            faults.add(Text("a column named {role}, or {how}", role=role, how=how), column=role)
    faults.raise_if_any()
    return found


def left_over(names: Sequence[str], columns: Mapping[str, str], carried: Sequence[str]) -> list[str]:
    """Return the columns of a file that are none of the history's and not carried, either."""
    used = {*columns_read({role: columns.get(role, role) for role in SCHEMA}, names), *carried}
    return [name for name in names if name not in used]


def _check_whole(frame: pl.DataFrame, found: Mapping[str, str], read: Mapping[str, pl.Series], source: Source) -> None:
    """Refuse a cell that is empty in a row that is not: a row is deleted as a whole, a column absent as a whole."""
    faults = FaultList(source.name)
    customer = read["customer"]
    is_deleted = customer.is_null()
    n_kept = len(customer) - customer.null_count()
    for role, cells in read.items():
        name = found.get(role, found["date"])
        if role == "customer":
            is_left = pl.Series([False]).new_from_index(0, len(cells))
            for other in read.values():
                is_left |= is_deleted & other.is_not_null()
            if is_left.any():
                _add(faults, source, _as_text(frame[name]), is_left, "a customer in every row that holds anything")
        else:
            is_empty = cells.is_null() & ~is_deleted
            is_absent = role not in NEEDED and is_empty.sum() == n_kept
            if is_empty.any() and not is_absent:
                _add(faults, source, _as_text(frame[name]), is_empty, in_every_row(role))
    faults.raise_if_any()


def in_every_row(role: str) -> Text:
    """Describe what is expected where a cell is empty in a column that is not."""
    wanted = Text("{an} {role} in every row", an="an" if role[0] in "aeiou" else "a", role=role)
    if role in NEEDED:
        return wanted
    return Text("{wanted} (or --columns {role}= where the history has none)", wanted=wanted, role=role)


def _add(faults: FaultList, source: Source, cells: pl.Series, is_bad: pl.Series, expected: str) -> None:
    add_value_faults(cells, is_bad, expected, faults, line_of=source.line_of)


def _as_text(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.String, strict=False)


def _without_empty_text(cells: pl.Series) -> pl.Series:
    if cells.dtype != pl.String or not (cells == "").any():
        return cells
    return cells.to_frame().select(pl.when(pl.first() != "").then(pl.first())).to_series().alias(cells.name)


def _as_names(cells: pl.Series) -> pl.Series:
    """Return names as text; numbers that became fractions beside missing values are restored."""
    if cells.dtype.is_float():
        whole = cells.cast(pl.Int64, strict=False)
        if (whole == cells).all():
            return whole.cast(pl.String)
    return cells.cast(pl.String)


def _as_numbers(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Read numbers; give them and the cells that are none."""
    if cells.dtype == pl.String:
        bare = cells.str.strip_chars()
        read = bare.to_frame("x").select(NUMBER.read(pl.col("x"))).to_series()
        return read, does_not_fit(bare, NUMBER.optional(), read)
    read = cells.cast(pl.Float64, strict=False)
    is_lost = (read.is_null() & cells.is_not_null()) | ~read.is_finite().fill_null(True)
    return read, is_lost


def written_amounts(cells: pl.Series, file: str) -> pl.DataFrame | None:
    """Return the amounts that all texts of a column write, as 7,18 € or $1,200.50, with a note.

    None where all are plain numbers, or some are neither.
    """
    if cells.dtype != pl.String or not _as_numbers(cells)[1].any():
        return None
    texts = _without_empty_text(cells).drop_nulls().unique(maintain_order=True)
    amounts = read_amounts(texts.to_list(), is_sure=True)
    if amounts is None:
        return None
    log.info("%s, column %s: '%s' was read as %s, and all like it", file, cells.name, texts[0], amounts[0])
    return pl.DataFrame({"text": texts, "amount": pl.Series(amounts, dtype=pl.Float64)})


def as_quantity(numbers: pl.Series) -> pl.Series:
    """Return quantities as whole numbers where all are, else as they are."""
    whole = numbers.cast(pl.Int64, strict=False)
    return whole if (whole == numbers).all() and whole.null_count() == numbers.null_count() else numbers


def check_none_absent(
    columns: Iterable[str], absent: Collection[str], file: str, who: str, without: Mapping[str, str] | None = None
) -> None:
    """Refuse work that needs a column which a history does not have, and say by which option it does without."""
    for column in columns:
        if column in absent:
            expected = Text("a history with the column {column}, which {who} needs", column=column, who=who)
            if without is not None and column in without:
                form = "a history with the column {column}, which {who} needs; --set {option} does without"
                expected = Text(form, column=column, who=who, option=without[column])
            raise InputError.of(expected, file=file)
