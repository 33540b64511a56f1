"""A purchase history: who bought what, when, for how much; and which of it an attacker knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.text import counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame, kind_of
from tokumei.data.history_columns import SCHEMA, Source, check_none_absent, left_over, read_columns_of_history

Draw = Literal["contest", "uniform"]


def known_rows(customers: pl.Series, share: float, *, seed: int, draw: Draw = "contest") -> pl.Series:
    """Mark a share of the rows as known.

    `contest` draws as the organizers of PWSCUP did: at random, but so that every customer has at least one known row
    (if the share is too small for that, exactly one each). `uniform` gives each row the same chance; of customers with
    few purchases it leaves many wholly unknown. Deleted rows are never known.
    """
    if draw not in ("contest", "uniform"):
        raise InputError.of("contest or uniform", option="draw", value=draw)
    order = generator(seed, "knowledge", str(share)).permutation(len(customers))
    n_known = round(share * len(customers))
    if draw == "uniform" or not n_known:
        return pl.Series(order < n_known)
    shuffled = pl.DataFrame({"customer": customers, "order": order}).with_row_index("row").sort("order")
    ranked = shuffled.filter(pl.col("customer").is_not_null()).with_columns(
        is_first=pl.col("customer").is_first_distinct()
    )
    # One row of each customer first, then the others in the order that was drawn.
    chosen = ranked.sort(~pl.col("is_first"), "order")["row"].head(max(n_known, int(ranked["is_first"].sum())))
    is_known = np.zeros(len(customers), np.bool_)
    is_known[chosen.to_numpy()] = True
    return pl.Series(is_known)


# The contests cut items to two characters: an attacker saw the kind of thing, not the article.
KNOWN_ITEM_CHARACTERS = 2


@dataclass(frozen=True, init=False)
class History:
    """Purchases in a frame or a file, in the order they were given: who bought what, when, for how much.

    data: a pandas, Polars or Arrow frame, a mapping of columns, or the name of a file (CSV, Parquet, Excel, JSON, …).
    customer, date, time, item, price, quantity, invoice: which column is which; one that is not named is found by its
        own name, or absent.
    date_format: how dates are written where it is none of the usual ways, as %d/%m/%Y.
    carry: further columns that a release keeps as they are.
    options: how a file is read: `encoding`, `delimiter`, `sheet`, `skip_rows`, `null_values`, `has_header`, `trim`.

    In a release that keeps the rows of its original, a deleted row is missing in every column. A history of visits
    or log-ins has no items, prices or quantities: an absent column is missing in every row.

    >>> import datetime, tokumei as tk
    >>> row = {"customer": ["a"], "date": [datetime.date(2011, 3, 9)], "item": ["x"], "price": [1.5], "quantity": [2]}
    >>> tk.History.of(row).n_rows
    1
    """

    frame: pl.DataFrame
    name: str
    # What frames whoever made it works with: polars, pandas or arrow.
    kind: str
    # Further columns that a release carries along, row for row, and those that are left out.
    carried: pl.DataFrame | None = field(default=None, compare=False)
    left_out: tuple[str, ...] = field(default=(), compare=False)

    def __init__(
        self,
        data: object,
        name: str | None = None,
        *,
        customer: str | int | None = None,
        date: str | int | None = None,
        time: str | int | None = None,
        item: str | int | None = None,
        price: str | int | None = None,
        quantity: str | int | None = None,
        invoice: str | int | None = None,
        date_format: str | None = None,
        carry: Iterable[str] = (),
        **options: object,
    ) -> None:
        """Take any frame or file."""
        declared = {
            "customer": customer,
            "invoice": invoice,
            "date": date,
            "time": time,
            "item": item,
            "price": price,
            "quantity": quantity,
        }
        columns = {role: str(column) for role, column in declared.items() if column is not None}
        reading = Reading.of_keywords(options, "History", [*declared, "name", "date_format", "carry"])
        reading.check_is_for_file(data)
        wanted = (carry,) if isinstance(carry, str) else tuple(carry)
        carried: pl.DataFrame | None = None
        if isinstance(data, (str, Path)):
            read = read_history(data, replace(reading, columns=columns, date_format=date_format, carry=wanted))
            frame, name, carried, left_out = read.frame, name or read.name, read.carried, read.left_out
        else:
            given, name = as_frame(data), name or "history"
            frame = given
            if columns or date_format or wanted or not _is_read(frame):
                frame = read_columns_of_history(given, Source(name), columns, date_format=date_format, carried=wanted)
            carried = given.select(wanted) if wanted else None
            left_out = tuple(left_over(given.columns, columns, wanted))
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "carried", carried)
        object.__setattr__(self, "left_out", left_out)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "kind", kind_of(data))

    def __repr__(self) -> str:
        absent = f", no {', '.join(self.absent)}" if self.absent else ""
        without = f", without {', '.join(self.left_out)}" if self.left_out else ""
        return f"History({counted(self.n_rows, 'row')}, {counted(len(self.customers), 'customer')}{absent}{without})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.frame.head()._repr_html_()}"

    def __len__(self) -> int:
        return self.n_rows

    @classmethod
    def of(cls, data: object, *, name: str = "history", columns: Mapping[str, str] | None = None) -> History:
        """Make a history of any frame and look at every cell, as for a file."""
        return cls(read_columns_of_history(as_frame(data), Source(name), columns or {}), name)

    def with_more(self, carried: pl.DataFrame | None, left_out: Iterable[str] = ()) -> History:
        """Return the history with columns that it carries along, and the names of those that are left out."""
        made = History(self.frame, self.name)
        for name, value in (("kind", self.kind), ("carried", carried), ("left_out", tuple(left_out))):
            object.__setattr__(made, name, value)
        return made

    def with_rows(self, frame: pl.DataFrame) -> History:
        """Return a history of the same name with other rows."""
        return History(frame, self.name)

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return self.frame.height

    @cached_property
    def kept(self) -> pl.DataFrame:
        """The rows that are not deleted."""
        # Of millions of rows a copy that is the same costs as much again.
        return (
            self.frame.filter(pl.col("customer").is_not_null()) if self.frame["customer"].null_count() else self.frame
        )

    @cached_property
    def customers(self) -> list[str]:
        """All customer ids or pseudonyms, in alphabetical order."""
        return self.kept["customer"].unique().sort().to_list()

    @cached_property
    def absent(self) -> tuple[str, ...]:
        """The columns that the history does not have: missing in every row that is not deleted."""
        n_kept = self.kept.height
        return tuple(role for role in SCHEMA if n_kept and self.kept[role].null_count() == n_kept)

    def check_has(self, columns: Iterable[str], who: str, without: Mapping[str, str] | None = None) -> None:
        """Refuse work that needs a column which the history does not have."""
        check_none_absent(columns, self.absent, self.name, who, without)

    def known(
        self, share: float, *, seed: int, draw: Draw = "contest", item_characters: int | None = KNOWN_ITEM_CHARACTERS
    ) -> History:
        """Draw what an attacker knows: a share of the rows, items by their first characters (whole if None).

        As in the contests nobody is left without a known row; `draw="uniform"` gives each row the same chance
        whoever it is. Unknown rows are missing in every column.
        """
        if not 0 <= share <= 1:
            raise InputError.of("a share from 0 to 1", option="share", value=share)
        is_known = known_rows(self.frame["customer"], share, seed=seed, draw=draw)
        item = pl.col("item") if item_characters is None else pl.col("item").str.slice(0, item_characters)
        seen = self.frame.with_columns(item=item).with_columns(pl.when(is_known).then(pl.all()))
        return History(seen, f"{self.name}, {share:.0%} known")

    @cached_property
    def period(self) -> pl.Series:
        """The month of each row as a count of months (12·year + month − 1), so that neighbors differ by one."""
        return self.frame.select(period_of(pl.col("date")).alias("period")).to_series()

    @cached_property
    def periods(self) -> list[int]:
        """All months from the first purchase to the last, those without any included."""
        present = self.period.drop_nulls()
        if present.is_empty():
            return []
        first, last = present.to_numpy().min(), present.to_numpy().max()
        return list(range(int(first), int(last) + 1))


def _is_read(frame: pl.DataFrame) -> bool:
    """Whether a frame has the columns of a history, in their order and types; quantities may have decimals."""
    return frame.columns == list(SCHEMA) and all(
        frame.schema[role] == kind or (role == "quantity" and frame.schema[role] == pl.Float64)
        for role, kind in SCHEMA.items()
    )


def free_prefix(prefix: str, names: pl.Series) -> str:
    """Lengthen a prefix by its letter until no name begins with it: a customer may be called P12 already.

    >>> free_prefix("P", pl.Series(["Pam", "a", None]))
    'PP'
    """
    while names.str.starts_with(prefix).any():
        prefix += prefix[0]
    return prefix


def period_of(date: pl.Expr) -> pl.Expr:
    """Return the month of a date as a count of months."""
    return date.dt.year().cast(pl.Int32) * 12 + date.dt.month().cast(pl.Int32) - 1


def period_name(period: int) -> str:
    """Write a period as year and month: 24131 → 2010-12."""
    return f"{period // 12:04d}-{period % 12 + 1:02d}"


def read_history(path: Path | str, reading: Reading = AS_IT_IS) -> History:
    """Read an original history."""
    from tokumei.data.files import histories

    form = histories.form_of(path, reading)
    return _read_table(path, reading) if form == histories.TABLE else histories.history_format(form).read_history(path)


def read_released_history(path: Path | str, reading: Reading = AS_IT_IS) -> History:
    """Read a release or what was published of it; a table has the names of a history, or those of the original."""
    from tokumei.data.files import histories

    own = histories.reading_of_release(path, reading)
    form = histories.form_of(path, own)
    if form == histories.TABLE:
        try:
            return _read_table(path, own)
        except InputError:
            histories.refuse_ranges(path, reading)
            raise
    histories.refuse_ranges(path, reading)
    if form == histories.CONTEST_2016:
        return histories.history_format(form, "read_released_history").read_released_history(path)
    return histories.history_format(form, "read_release").read_release(path)


def read_known_history(path: Path | str, reading: Reading = AS_IT_IS) -> History:
    """Read an attacker's knowledge: T_α of 2017, all of T in any contest, or a table as that of the original."""
    from tokumei.data.files import histories

    reading = histories.reading_of_release(path, reading)
    form = histories.form_of(path, reading)
    if form == histories.TABLE:
        return _read_table(path, reading)
    contest = histories.history_format(form)
    return contest.read_known_history(path) if form == histories.CONTEST_2017 else contest.read_history(path)


def _read_table(path: Path | str, reading: Reading) -> History:
    from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_frame, read_text_frame

    if format_of(path) in TEXT_SUFFIXES:
        text = read_text_frame(path, reading)
        return _history_of(text.frame, Source(str(path), text.line_of), reading)
    n_above = reading.skip_rows + reading.has_header
    return _history_of(read_frame(path, reading), Source(str(path), lambda row: row + n_above + 1), reading)


def _history_of(frame: pl.DataFrame, source: Source, reading: Reading) -> History:
    carried, columns = list(reading.carry), reading.columns
    read = read_columns_of_history(frame, source, columns, date_format=reading.date_format, carried=carried)
    left_out = left_over(frame.columns, columns, carried)
    return History(read, source.name).with_more(frame.select(carried) if carried else None, left_out)
