"""The files of PWSCUP 2018, its rules, and the checks that hold submissions against them.

Files are UTF-8 CSV without a header, plain or gzipped.

| file | holds                                            | read as                               |
|------|--------------------------------------------------|---------------------------------------|
| T    | the original history, without invoice and time   | History                               |
| A    | the release, row by row as T, cells generalized  | GeneralizedHistory, `*` where deleted |
| A′   | the release as published: kept rows, sorted      | GeneralizedHistory                    |
| F′   | an attack: pseudonym and customer                | frame                                 |

A cell of A is a value, `*`, a range `[lo;hi]` of dates, prices or quantities, or a set `{a;b;…}` of items.

A row moved to another place shows where its cells cannot stand for the values, or its pseudonym for the customer, that
stand there in T; one whose cells fit both places cannot be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.contest.checks import ALIKE, ALIKE_JA, FILE_FORM, SAME_ROWS, RowFaults, read_submitted_rows
from tokumei.contest.edition import Rule
from tokumei.core.errors import FaultList
from tokumei.data.cells import Kind, RangeCells, read_range_cells
from tokumei.data.files.layout import LONGEST_RECORD
from tokumei.data.files.released_histories import CONTEST, LARGEST_SET, cells_of, published_text, text_of
from tokumei.data.files.strict import (
    CUSTOMER,
    DATE,
    ITEM,
    LINE_END,
    PRICE,
    QUANTITY,
    ColumnType,
    StrictFile,
    add_value_faults,
    write_value,
)
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory

LONGEST_LINE = 8_000


def _as_text(cell: pl.Expr) -> pl.Expr:
    return cell


def _or_range(kind: ColumnType) -> ColumnType:
    """Return the type of a column that may generalize another to ranges; it is read as cells later."""
    value = kind.pattern.removeprefix("^").removesuffix("$")
    pattern = rf"^(\*|{value}|\[{value};{value}\])$"
    return ColumnType(f"{kind.expected}, a range [lo;hi] of two such with lo ≤ hi, or *", pattern, _as_text)


PSEUDONYM = ColumnType("a pseudonym of 1 to 9 digits, the first not 0", r"^[1-9][0-9]{0,8}$", _as_text)
PSEUDONYM_OR_STAR = ColumnType(
    "a pseudonym of 1 to 9 digits, the first not 0, or * in all cells", r"^(\*|[1-9][0-9]{0,8})$", _as_text
)
ITEM_SET = ColumnType(
    f"{ITEM.expected}, a set {{a;b;…}} of 1 to {LARGEST_SET} different ones, or *",
    r"^(\*|[A-Z0-9]{1,9}|\{[A-Z0-9]{1,9}(;[A-Z0-9]{1,9})*\})$",
    _as_text,
)
# Other than in T, leading zeros are allowed.
RELEASED_DATE = replace(DATE, expected="a real date YYYY/M/D", pattern=r"^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$")
_CELLS = {
    "date": _or_range(RELEASED_DATE),
    "item": ITEM_SET,
    "price": _or_range(PRICE),
    "quantity": _or_range(QUANTITY),
}
HISTORY = StrictFile(
    {"customer": CUSTOMER, "date": DATE, "item": ITEM, "price": PRICE, "quantity": QUANTITY}, longest_line=LONGEST_LINE
)
RELEASE = StrictFile({"customer": PSEUDONYM_OR_STAR, **_CELLS}, longest_line=LONGEST_LINE, mixes_line_ends=True)
PUBLISHED = StrictFile({"customer": PSEUDONYM, **_CELLS}, longest_line=LONGEST_LINE)
# Whoever dares to name nobody hands in an empty file.
GUESS = StrictFile(
    {"pseudonym": PSEUDONYM, "customer": CUSTOMER},
    longest_line=LONGEST_LINE,
    mixes_line_ends=True,
    may_be_empty=True,
)


# F′ names the customer of any of the pseudonyms.
read_guess, write_guess = GUESS.read, GUESS.write


def read_history(path: Path | str) -> History:
    """Read T; invoice and time are missing."""
    return History.of(HISTORY.read(path), name="T")


def write_history(history: History, path: Path | str) -> None:
    """Write T."""
    HISTORY.write(history.frame, path)


def read_release(path: Path | str) -> GeneralizedHistory:
    """Read A."""
    return _read_cells(RELEASE, path, "A")


def write_release(release: GeneralizedHistory, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write A."""
    _write_cells(RELEASE, text_of(release, CONTEST), path, line_end)


def read_published(path: Path | str) -> GeneralizedHistory:
    """Read A′, in which no row is deleted."""
    return _read_cells(PUBLISHED, path, "A′")


def write_published(release: GeneralizedHistory, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write A′ from A: the kept rows, sorted as text, so that their order tells nothing of T."""
    _write_cells(PUBLISHED, published_text(text_of(release, CONTEST)), path, line_end)


def _read_cells(form: StrictFile, path: Path | str, name: str) -> GeneralizedHistory:
    text = form.read(path)
    release = cells_of(text, name, CONTEST)
    _check_cells(release, text, form, path)
    return release


def _write_cells(form: StrictFile, text: pl.DataFrame, path: Path | str, line_end: str) -> None:
    _check_cells(cells_of(text, str(path), CONTEST), text, form, path)
    form.write(text, path, line_end=line_end)


def _check_cells(release: GeneralizedHistory, text: pl.DataFrame, form: StrictFile, path: Path | str) -> None:
    """Refuse what only looks well: days that do not exist, ranges upside down, repeated items, half a deletion."""
    columns = (release.date, release.item, release.price, release.quantity)
    is_left = pl.any_horizontal(*(column.kind != Kind.SUPPRESSED for column in columns))
    is_bad = {
        "customer": release.is_deleted & pl.select(is_left).to_series(),
        "date": release.date.kind == Kind.BROKEN,
        "item": (release.item.kind == Kind.BROKEN) | (release.item.sizes() > LARGEST_SET).fill_null(False),
        "price": release.price.kind == Kind.BROKEN,
        "quantity": release.quantity.kind == Kind.BROKEN,
    }
    faults = FaultList(str(path))
    for name, kind in form.types.items():
        # No pattern allows a line end, so a row is a line.
        add_value_faults(text[name], is_bad[name], kind.expected, faults)
    faults.raise_if_any()


# Rule and type of each column.
CELLS = {
    "customer": ("pseudonym-form", PSEUDONYM_OR_STAR),
    **{column: (f"{column}-form", RELEASE.types[column]) for column in ("date", "item", "price", "quantity")},
}
# What the bounds of a range are read as.
RANGES: dict[str, ColumnType] = {"date": DATE, "price": PRICE, "quantity": QUANTITY}
STAR = "*"
YEARS = (2010, 2011)

RELEASE_RULES = (
    replace(
        FILE_FORM,
        says=FILE_FORM.says.replace(ALIKE, "Lines end in \\r\\n or in \\n"),
        says_ja=FILE_FORM.says_ja.replace(ALIKE_JA, "改行は \\r\\n か \\n とし"),
    ),
    SAME_ROWS,
    Rule(
        "line-length",
        f"A line has at most {LONGEST_LINE:,} characters, the line end not counted.",
        f"1行は改行を除いて {LONGEST_LINE:,} 文字以内とする。",
    ),
    Rule(
        "deleted-whole",
        "A deleted row is * in all five cells; * as the pseudonym alone is not allowed.",
        "削除した行は5セルすべてを * とする。顧客IDだけを * にすることはできない。",
    ),
    Rule(
        "pseudonym-form",
        "A pseudonym is a number of 1 to 9 digits, the first not 0.",
        "仮名は1〜9桁の数字とし、先頭は 0 以外とする。",
    ),
    Rule("one-pseudonym", "A customer has one pseudonym in all rows.", "同じ顧客の全行に同じ仮名を付ける。"),
    Rule(
        "no-shared-pseudonym",
        "No two customers share a pseudonym.",
        "異なる顧客に同じ仮名を付けてはならない。",
    ),
    Rule(
        "date-form",
        "The date is a real one written YYYY/M/D, with or without leading zeros, a range [lo;hi] of two such, or *.",
        "購入日は実在する日付 YYYY/M/D（先頭の 0 は付けても付けなくてもよい）、その範囲 [lo;hi]、または * とする。",
    ),
    Rule(
        "item-form",
        "The item is one, a set {a;b;…} of such, or *.",
        "商品IDは1個の商品、その集合 {a;b;…}、または * とする。",
    ),
    Rule(
        "price-form",
        "The price is above 0, with at most 5 digits before and 2 after the point and no leading zeros, or is a range "
        "[lo;hi] of two such, or *.",
        "単価は整数部5桁・小数部2桁以内で先頭に余分な 0 のない正の数、その範囲 [lo;hi]、または * とする。",
    ),
    Rule(
        "quantity-form",
        "The quantity is a whole number of 1 to 6 digits, the first not 0, a range [lo;hi] of two such, or *.",
        "数量は先頭が 0 でない1〜6桁の整数、その範囲 [lo;hi]、または * とする。",
    ),
    Rule(
        "date-years",
        "The ends of a range of dates lie in 2010 or 2011.",
        "日付の範囲の両端は2010年または2011年とする。",
    ),
    Rule("range-order", "In a range lo is at most hi.", "範囲の下限は上限以下とする。"),
    Rule("set-size", f"A set has at most {LARGEST_SET} items.", f"集合の要素は {LARGEST_SET} 個以内とする。"),
    Rule("set-distinct", "The items of a set differ.", "集合の要素はすべて異なるものとする。"),
    Rule("item-of-t", "Every item occurs in T.", "商品IDはすべて T に現れるものに限る。"),
    Rule(
        "holds-truth",
        "A cell may stand for the value of T: it is that value, a set that has it, a range around it, or *.",
        "セルは T の値を含むこと（その値自身、それを含む集合や範囲、または *）。",
    ),
)
GUESS_RULES = (
    FILE_FORM,
    Rule(
        "pseudonym-of-release",
        "The first cell of a line is a pseudonym of the published release.",
        "各行の先頭セルは公開された加工データに現れる仮名とする。",
    ),
    Rule(
        "customer-of-t",
        "The second cell is a customer of T.",
        "2番目のセルは T の顧客IDとする。",
    ),
    Rule("each-pseudonym-once", "No pseudonym has two lines.", "同じ仮名を2行以上に書いてはならない。"),
)


def check_release(history: History, path: Path) -> None:
    """Raise one InputError with every fault of A."""
    # The length of lines is a rule like the others, so that its faults come together with theirs.
    text = read_submitted_rows(replace(RELEASE, longest_line=LONGEST_RECORD), path)
    faults = RowFaults(text)
    _check_lengths(faults)
    cells = faults.read(CELLS)
    is_left = pl.any_horizontal((pl.col(*RANGES, "item") != STAR).fill_null(True))
    is_half = text.frame.select((pl.col("customer") == STAR).fill_null(False) & is_left).to_series()
    faults.add_cells("deleted-whole", "customer", is_half, "a pseudonym, or * in all five cells")
    is_same = faults.check_n_rows(history.n_rows)
    for column, kind in RANGES.items():
        ranges = _read_ranges(faults, cells[column], kind)
        if column == "date":
            _check_years(faults, ranges)
        if is_same:
            _check_truth(faults, column, ~ranges.contains(history.frame[column]), history)
    items = _Items.of(cells["item"])
    is_unknown = items.check(faults, history.frame["item"])
    if is_same:
        # A cell with an item that T does not have is told once.
        _check_truth(faults, "item", items.misses(history.frame["item"]) & ~is_unknown, history)
        names = cells.select(pl.when(pl.col("customer") != STAR).then("customer")).to_series()
        keys = history.frame.select("customer", period=pl.lit(0))
        faults.check_names(("one-pseudonym", "no-shared-pseudonym"), names, keys)
    faults.raise_if_any()


def _check_lengths(faults: RowFaults) -> None:
    frame = faults.text.frame
    lengths = frame.select(pl.sum_horizontal(pl.all().str.len_chars().fill_null(0)) + frame.width - 1).to_series()
    is_long = lengths > LONGEST_LINE
    if is_long.any():
        found = (lengths.filter(is_long).cast(pl.String) + " characters").alias("")
        expected = "a line of at most {n_most:,} characters"
        faults.add_rows("line-length", found, is_long.arg_true(), expected, {"n_most": LONGEST_LINE})


def _read_ranges(faults: RowFaults, text: pl.Series, kind: ColumnType) -> RangeCells:
    """Read a column of values and ranges; a cell that is a fault comes out suppressed."""
    column = text.name
    cells = read_range_cells(text, kind.read)
    is_broken = (cells.kind == Kind.BROKEN) & text.is_not_null()
    if is_broken.any():
        # What has the form and is yet broken is upside down, or has a bound that does not exist.
        is_upside_down = is_broken & (cells.low > cells.high).fill_null(False)
        faults.add_cells("range-order", column, is_upside_down, "a range [lo;hi] with lo ≤ hi")
        faults.add_cells(f"{column}-form", column, is_broken & ~is_upside_down, RELEASE.types[column].expected)
    bounds = pl.DataFrame({"low": cells.low, "high": cells.high}).select(pl.when(~is_broken).then(pl.all()))
    return RangeCells(cells.kind, bounds["low"], bounds["high"])


def _check_years(faults: RowFaults, dates: RangeCells) -> None:
    """Refuse ranges that begin or end in years that the contest does not have."""
    is_known = [bound.dt.year().is_in(YEARS).fill_null(True) for bound in (dates.low, dates.high)]
    is_odd = (dates.kind == Kind.RANGE) & ~(is_known[0] & is_known[1])
    faults.add_cells("date-years", "date", is_odd, "a range that begins and ends in 2010 or 2011")


@dataclass(frozen=True)
class _Items:
    """The items of all cells, long and narrow: the row and one item of its cell; stars have none."""

    named: pl.DataFrame
    n_rows: int

    @classmethod
    def of(cls, text: pl.Series) -> _Items:
        inner = pl.col("item").str.strip_prefix("{").str.strip_suffix("}")
        cells = text.to_frame().with_row_index("row").filter(pl.col("item") != STAR)
        named = cells.select("row", inner.str.split(";")).explode("item", empty_as_null=True, keep_nulls=True)
        return cls(named, len(text))

    def check(self, faults: RowFaults, truth: pl.Series) -> pl.Series:
        """Refuse sets that are too large or repeat an item, and items that T does not have; mark the last."""
        sizes = self.named.group_by("row").agg(n=pl.len(), n_unique=pl.col("item").n_unique())
        too_many = sizes.filter(pl.col("n") > LARGEST_SET)["row"]
        twice = sizes.filter(pl.col("n") > pl.col("n_unique"))["row"]
        unknown = self.named.filter(~pl.col("item").is_in(truth.unique().implode()))
        faults.add_cells(
            "set-size", "item", self._mark(too_many), "a set of at most {n_most} items", {"n_most": LARGEST_SET}
        )
        faults.add_cells("set-distinct", "item", self._mark(twice), "a set of different items")
        is_unknown = self._mark(unknown["row"])
        first = dict(unknown.unique("row", keep="first", maintain_order=True).iter_rows())
        faults.add_cells(
            "item-of-t", "item", is_unknown, "items of T, which {item} is not", lambda row: {"item": first[row]}
        )
        return is_unknown

    def misses(self, truth: pl.Series) -> pl.Series:
        """Mark the cells that have items, but not the true one."""
        holding = self.named.filter(pl.col("item") == truth.gather(self.named["row"]))["row"]
        return self._mark(self.named["row"]) & ~self._mark(holding)

    def _mark(self, rows: pl.Series) -> pl.Series:
        marks = np.zeros(self.n_rows, bool)
        marks[rows.to_numpy()] = True
        return pl.Series(marks)


def _check_truth(faults: RowFaults, column: str, is_missed: pl.Series, history: History) -> None:
    values = history.frame[column]

    def truth(row: int) -> Mapping[str, str]:
        return {"truth": values.slice(row, 1).to_frame().select(write_value(pl.col(column), values.dtype)).item()}

    faults.add_cells("holds-truth", column, is_missed, "a cell that may stand for {truth}, as in T", truth)


def check_guess(history: History, published: GeneralizedHistory, path: Path) -> None:
    """Raise one InputError with every fault of F′."""
    text = read_submitted_rows(GUESS, path)
    faults = RowFaults(text)
    pseudonyms, customers = text.frame["pseudonym"], text.frame["customer"]
    expected = "a pseudonym of the published release"
    is_unknown = faults.check_known("pseudonym-of-release", pseudonyms, published.customer, expected)
    is_again = ~is_unknown & ~pseudonyms.is_first_distinct()
    faults.add_cells("each-pseudonym-once", "pseudonym", is_again, "one line for each pseudonym")
    faults.check_known("customer-of-t", customers, history.frame["customer"], "a customer of T")
    faults.raise_if_any()
