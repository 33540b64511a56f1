"""Columns as pieces: the values, or the short ranges of numbers, that a model sees and new rows are drawn from.

No piece stands for fewer rows than asked for, so that neither a rare label nor a number of one person is written again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import CannotAnonymize
from tokumei.core.text import Text
from tokumei.methods.perturbing.perturbation import LARGEST_WHOLE, Floats, Ints, Original

Flags = npt.NDArray[np.bool_]

# How days and moments are written in text; a column keeps a form only where all its cells have it.
DATE_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d")
MOMENT_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M")
# Of these, digits alone are numbers unless they are days of such years.
FIRST_YEAR, LAST_YEAR = 1900, 2100
PLAIN_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
MOST_DECIMALS = 6
# Finer quantiles than these cost time and tell more of single people.
MOST_RANGES = 2_000


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written: its type, its decimals, and the step that all are multiples of."""

    name: str
    dtype: Any
    # Of numbers that have no fixed number of decimals, None.
    decimals: int | None
    step: int = 1
    # Of text that is a date or a moment, its form.
    written_as: str | None = None
    # Of text, whether all numbers have all their decimals written.
    is_padded: bool = False

    @property
    def kind(self) -> str:
        """What can be compared: numbers, moments, or times of day."""
        is_moment = self.written_as is not None or isinstance(self.dtype, pl.Datetime) or self.dtype == pl.Date
        return "moment" if is_moment else str(self.dtype) if self.dtype.is_temporal() else "number"

    def read(self, values: pl.Series) -> Floats:
        """Return a column of this form as numbers, moments as microseconds; what is missing is NaN."""
        if self.written_as is not None:
            values = values.str.to_datetime(self.written_as, time_unit="us")
        elif self.kind == "moment":
            values = values.cast(pl.Datetime("us", getattr(self.dtype, "time_zone", None)))
        physical = values.to_physical() if values.dtype.is_temporal() else values
        return physical.cast(pl.Float64).fill_null(float("nan")).to_numpy()

    def rounded(self, numbers: Floats) -> Floats:
        """Return numbers as the column could hold them."""
        if self.decimals is None:
            return numbers
        unit = self.step / 10**self.decimals
        # Dividing once more gives the float that is written with these decimals.
        return np.asarray(np.round(np.round(numbers / unit) * self.step / 10**self.decimals, self.decimals))

    def write(self, numbers: Floats) -> pl.Series:
        """Return numbers as the column, NaN as missing."""
        values = pl.Series(self.name, self.rounded(numbers)).fill_nan(None)
        if self.decimals is not None and self.decimals <= 0:
            values = values.cast(pl.Int64)
        if self.written_as is not None:
            return values.cast(pl.Int64).cast(pl.Datetime("us")).dt.to_string(self.written_as)
        if isinstance(self.dtype, pl.Datetime) or self.dtype == pl.Date:
            zone = getattr(self.dtype, "time_zone", None)
            return values.cast(pl.Int64).cast(pl.Datetime("us", zone)).cast(self.dtype)
        if self.dtype != pl.String:
            return values.cast(self.dtype)
        if self.decimals is None or values.dtype == pl.Int64:
            return values.cast(pl.String)
        texts = [None if one is None else f"{one:.{self.decimals}f}" for one in values]
        if not self.is_padded:
            texts = [one and one.rstrip("0").rstrip(".") for one in texts]
        return pl.Series(self.name, texts, pl.String)


def read_numbers(original: Original, name: str) -> tuple[Floats, NumberForm] | None:
    """Read a column of numbers, dates or moments; None where its values are labels.

    Text is read as numbers where it is declared to be, or where no number is written in two ways: 007 is a label.
    """
    values = original.column(name)
    dtype = values.dtype
    if dtype.is_temporal():
        found = NumberForm(name, dtype, 0)
        return (numbers := found.read(values)), _with_step(found, numbers)
    if dtype.is_numeric():
        numbers = original.numbers(name)
        return numbers, _with_step(NumberForm(name, dtype, _decimals(numbers)), numbers)
    if dtype != pl.String or not values.drop_nulls().len():
        return None
    form = _moment_form(values.drop_nulls().unique())
    if form is not None:
        found = NumberForm(name, pl.String, 0, written_as=form)
        return (numbers := found.read(values)), _with_step(found, numbers)
    known = values.drop_nulls().unique()
    is_plain = bool(known.str.contains(PLAIN_NUMBER).all())
    if name not in original.numeric and not (is_plain and name not in original.quasi_identifiers):
        return None
    numbers = original.numbers(name)
    parts = known.str.extract(r"\.([0-9]*)$").fill_null("").str.len_chars()
    found = NumberForm(name, pl.String, _decimals(numbers), is_padded=is_plain and parts.n_unique() == 1)
    if found.is_padded:
        found = NumberForm(name, pl.String, int(parts[0]), is_padded=True)
    return numbers, _with_step(found, numbers)


def _moment_form(values: pl.Series) -> str | None:
    """Return the one form in which all texts are dates or moments."""
    for form in (*DATE_FORMS, *MOMENT_FORMS):
        read = values.str.to_datetime(form, strict=False, time_unit="us")
        if read.null_count() or not (read.dt.to_string(form) == values).all():
            continue
        years = read.dt.year()
        if form != "%Y%m%d" or (years.is_between(FIRST_YEAR, LAST_YEAR).all()):
            return form
    return None


def _decimals(numbers: Floats) -> int | None:
    """Return the fewest decimals that write all numbers as they are."""
    known = numbers[~np.isnan(numbers)]
    for decimals in range(MOST_DECIMALS + 1):
        if np.all(np.round(known, decimals) == known):
            is_exact = len(known) == 0 or np.abs(known).max() * 10**decimals < LARGEST_WHOLE
            return decimals if is_exact else None
    return None


def _with_step(form: NumberForm, numbers: Floats) -> NumberForm:
    """Find what all numbers are multiples of, such as whole days or hundreds."""
    known = numbers[~np.isnan(numbers)]
    if form.decimals is None or not len(known):
        return form
    whole = np.round(np.unique(known) * 10**form.decimals).astype(np.int64)
    step = int(np.gcd.reduce(whole))
    return NumberForm(form.name, form.dtype, form.decimals, max(step, 1), form.written_as, form.is_padded)


@dataclass(frozen=True, eq=False)
class Column:
    """A column as pieces: the piece of each row, and how new rows are written of pieces.

    Numbers have a range for each piece, in ascending order, with equal ends where many rows share a number; labels have
    their texts. The missing value is the last piece, where there is one.
    """

    name: str
    # Of each row.
    pieces: Ints
    n_pieces: int
    has_missing: bool
    # Of numbers: the least and the greatest of each piece.
    low: Floats | None = None
    high: Floats | None = None
    form: NumberForm | None = None
    # Of labels.
    labels: tuple[str, ...] = ()
    dtype: Any = pl.String

    @property
    def is_number(self) -> bool:
        """Whether the pieces are ranges of numbers."""
        return self.form is not None

    @property
    def is_missing(self) -> Flags:
        """Whether each row has no value."""
        return np.asarray(self.pieces == (self.n_pieces - 1 if self.has_missing else -1))

    def draw_numbers(self, pieces: Ints, random: np.random.Generator) -> Floats:
        """Draw a number of each piece, evenly; NaN for the missing value."""
        if self.low is None or self.high is None or self.form is None:
            raise TypeError(f"{self.name} is a column of labels")
        missing = [np.nan] if self.has_missing else []
        low, high = np.append(self.low, missing)[pieces], np.append(self.high, missing)[pieces]
        return self.form.rounded(low + random.random(len(pieces)) * (high - low))

    def write(self, pieces: Ints, random: np.random.Generator) -> pl.Series:
        """Return a value of each piece as a column of the release."""
        if self.form is not None:
            return self.form.write(self.draw_numbers(pieces, random))
        texts = [*self.labels, *([None] if self.has_missing else [])]
        drawn = pl.Series(self.name, texts, pl.String).gather(pieces)
        return drawn == "true" if self.dtype == pl.Boolean else drawn.cast(_label_type(self.dtype))


def _label_type(dtype: Any) -> Any:
    return dtype if dtype in (pl.Categorical, pl.Enum, pl.Null) or isinstance(dtype, pl.Enum) else pl.String


def read_column(original: Original, name: str, rare: int, random: np.random.Generator) -> Column:
    """Cut a column into pieces of at least so many rows each.

    Numbers that so many rows share stay; others become ranges, whose outer ends are means of the outermost rows, so
    that nobody's extreme is told. Rows with rare labels get another one, as often as each is; CannotAnonymize where no
    label is left, as in a column of names.

    Example: with rare=2, of the ages 20, 30, 30, 40, 90 the 30 stays, 40 and 90 become a range from 40 to their mean
    65, and the 20 alone becomes a 30.
    """
    read = read_numbers(original, name)
    return _of_labels(original.column(name), rare, random) if read is None else of_numbers(*read, rare)


def of_numbers(numbers: Floats, form: NumberForm, rare: int) -> Column:
    """Cut numbers into pieces; see `read_column`."""
    known = ~np.isnan(numbers)
    values, at, counts = np.unique(numbers[known], return_inverse=True, return_counts=True)
    piece_of, low, high = _pieces(values, counts, rare)
    pieces = np.full(len(numbers), len(low), np.int64)
    pieces[known] = piece_of[at]
    has_missing = not known.all()
    return Column(form.name, pieces, len(low) + has_missing, has_missing, low, high, form, dtype=form.dtype)


def _pieces(values: Floats, counts: Ints, rare: int) -> tuple[Ints, Floats, Floats]:
    """Return the piece of each distinct number, in ascending order, and the ends of each piece."""
    size = max(rare, int(counts.sum()) // MOST_RANGES)
    # First, last place and rows of each piece; a shared number stands alone and so does each range between two.
    found: list[list[int]] = []
    is_open = False
    for place, count in enumerate(counts.tolist()):
        if count >= rare:
            found.append([place, place, count])
            is_open = False
        elif is_open and found[-1][2] < size:
            found[-1][1:] = [place, found[-1][2] + count]
        else:
            found.append([place, place, count])
            is_open = True
    kept: list[list[int]] = []
    for first, last, rows in found:
        if rows >= rare:
            kept.append([first, last, rows])
        elif kept and kept[-1][1] == first - 1 and counts[kept[-1][0]] < rare:
            # What is left over at the end of a run of ranges.
            kept[-1][1:] = [last, kept[-1][2] + rows]
    if not kept:
        mean = np.average(values, weights=counts, keepdims=True) if len(values) else values
        return np.zeros(len(values), np.int64), mean, mean
    first_of, last_of = np.array(kept)[:, 0], np.array(kept)[:, 1]
    low, high = values[first_of].copy(), values[last_of].copy()
    # Numbers in no piece go to the nearest one.
    above = np.minimum(np.searchsorted(last_of, np.arange(len(values))), len(kept) - 1)
    below = np.maximum(above - 1, 0)
    is_inside = first_of[above] <= np.arange(len(values))
    is_nearer_below = np.abs(values - high[below]) <= np.abs(low[above] - values)
    piece = np.where(~is_inside & is_nearer_below, below, above)
    if low[0] < high[0]:
        low[0] = _mean_of_first(values[first_of[0] :], counts[first_of[0] :], rare)
        high[0] = max(high[0], low[0])
    if low[-1] < high[-1]:
        upto = last_of[-1] + 1
        high[-1] = max(low[-1], _mean_of_first(values[:upto][::-1], counts[:upto][::-1], rare))
    return piece, low, high


def _mean_of_first(values: Floats, counts: Ints, rare: int) -> float:
    """Return the mean of so many rows from one end."""
    taken = np.minimum(counts, np.maximum(0, rare - (np.cumsum(counts) - counts)))
    return float(np.average(values, weights=taken))


def _of_labels(values: pl.Series, rare: int, random: np.random.Generator) -> Column:
    texts = values.cast(pl.String)
    counts = texts.drop_nulls().value_counts(name="n").sort(texts.name)
    common = counts.filter(pl.col("n") >= rare)
    has_missing = texts.null_count() > 0
    if not common.height and counts.height:
        form = "No value of column {column} has {n:,} rows: it would be told whose they are. Leave the column out."
        raise CannotAnonymize(Text(form, column=values.name, n=rare))
    labels = common[texts.name].to_list()
    place = pl.Series(range(len(labels)), dtype=pl.Int64)
    pieces = texts.replace_strict(common[texts.name], place, default=-1, return_dtype=pl.Int64).to_numpy().copy()
    pieces[texts.is_null().to_numpy()] = len(labels)
    is_rare = np.flatnonzero(pieces < 0)
    if len(is_rare):
        shares = common["n"].to_numpy()
        pieces[is_rare] = random.choice(len(labels), len(is_rare), p=shares / shares.sum())
    return Column(values.name, pieces, len(labels) + has_missing, has_missing, labels=tuple(labels), dtype=values.dtype)
