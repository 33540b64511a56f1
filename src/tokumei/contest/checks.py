"""What contests with purchase histories share: their data, the files that are handed in, the faults in them.

Purchases are a shop's real ones, sampled, or made-up ones. Submitted files are read here, and faults name the rule they
break. Some attacks guess a table of pseudonyms: one cell for each customer and month.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import polars as pl

from tokumei.contest.edition import Rule
from tokumei.core.errors import LISTED_FAULTS, FaultList, InputError
from tokumei.core.seeds import generator
from tokumei.core.text import counted
from tokumei.data.files.csv import TextFrame, find_delimiter, first_bytes, header_names, write_csv
from tokumei.data.files.disk import check_is_file
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_frame
from tokumei.data.files.histories import write_history_table
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.strict import DELETED, ColumnType, StrictFile
from tokumei.data.history import History, period_name, period_of, read_history
from tokumei.data.made_retail import make_retail
from tokumei.data.online_retail import SPELLINGS, clean_retail, to_history

ALIKE, ALIKE_JA = "All lines end alike, in \\r\\n or in \\n", "改行は \\r\\n か \\n のどちらかに統一し"
FILE_FORM = Rule(
    "file-form",
    "The file is UTF-8 text without byte order mark or header: cells without quotes, separated by commas, as many in "
    f"every line. {ALIKE}; the last line end may be missing. It may be gzipped.",
    "ファイルは UTF-8 の CSV とする。BOM とヘッダーは付けず、全行のセル数を揃え、セルを引用符で囲まない。"
    f"{ALIKE_JA}、最終行の改行は省略できる。gzip 圧縮も可。",
)
SAME_ROWS = Rule(
    "same-rows",
    "The release has the rows of T in their order: one line for each row, none added, none left out.",
    "加工データの行数と行の順序は T と同じとし、行の追加や欠落を認めない。",
)

# The rules that releases of purchases row by row have in common.
NO_CUSTOMER_ID = Rule(
    "no-customer-id", "No pseudonym is a customer id of M.", "仮名は M の顧客IDと一致してはならない。"
)
DATE_FORM = Rule(
    "date-form", "The date exists and is written YYYY/M/D.", "購入日は実在する日付とし、YYYY/M/D の形式で書く。"
)
TIME_FORM = Rule("time-form", "The time exists and is written h:mm.", "購入時刻は実在する時刻とし、h:mm の形式で書く。")
ITEM_OF_T = Rule("item-of-t", "The item occurs in T.", "商品IDは T に現れるものに限る。")
PRICE_FORM = Rule(
    "price-form",
    "The price is above 0 and has at most 5 digits before and 2 after the point, without leading zeros.",
    "単価は整数部5桁以内、小数部2桁以内で、先頭に余分な 0 のない正の数とする。",
)
QUANTITY_FORM = Rule(
    "quantity-form",
    "The quantity is a whole number of 1 to 6 digits, the first not 0.",
    "数量は先頭が 0 でない1〜6桁の整数とする。",
)

SAME_NAME = "{name} as in line {other_line}, for the same customer"
SAME_NAME_MONTHLY = f"{SAME_NAME} in the month"
OTHER_NAME = "another pseudonym than in line {other_line}, where it stands for {customer}"
OTHER_NAME_MONTHLY = f"{OTHER_NAME} in the month"
# What a fault's text is filled in with: the same in every row, or by the row.
Parameters = Mapping[str, object] | Callable[[int], Mapping[str, object]]
NO_PARAMETERS: Mapping[str, object] = {}
Read = TypeVar("Read")


@dataclass(frozen=True)
class HistoryFile:
    """The form of the files that hold one history, and what messages call it."""

    form: StrictFile
    name: str

    def read(self, path: Path | str) -> History:
        """Read the history; a deleted row is missing in every column."""
        return History(self.form.read(path), self.name)

    def write(self, history: History, path: Path | str, *, line_end: str | None = None) -> None:
        """Write the columns that the file has."""
        self.form.write(history.frame, path, line_end=line_end)


def read_submitted_rows(form: StrictFile, path: Path) -> TextFrame:
    """Read the cells of a submitted file as text; what is wrong with its form is told as a fault of that rule."""
    try:
        return form.read_text(path)
    except InputError as error:
        raise error.under(FILE_FORM.name) from None


@dataclass
class RowFaults:
    """Collects the faults of one submitted file; each has the name of the rule it breaks."""

    text: TextFrame
    faults: FaultList = field(init=False)

    def __post_init__(self) -> None:
        self.faults = FaultList(self.text.file)

    def add(
        self,
        rule: str,
        expected: str,
        *,
        row: int | None = None,
        column: str | None = None,
        value: object = None,
        parameters: Mapping[str, object] = NO_PARAMETERS,
    ) -> None:
        """Add one fault, by the row of the frame it stands in; `parameters` are the {names} of what was expected."""
        line = None if row is None else self.text.line_of(row)
        self.faults.add(expected, line=line, column=column, value=value, rule=rule, parameters=parameters)

    def add_cells(
        self, rule: str, column: str, is_bad: pl.Series, expected: str, parameters: Parameters = NO_PARAMETERS
    ) -> None:
        """Add a fault for each marked cell; what was expected there may depend on the row."""
        if is_bad.any():
            rows = is_bad.arg_true()
            self.add_rows(rule, self.text.frame[column].gather(rows).fill_null(""), rows, expected, parameters)

    def add_rows(
        self, rule: str, found: pl.Series, rows: pl.Series | None, expected: str, parameters: Parameters = NO_PARAMETERS
    ) -> None:
        """Add a fault for each value found, in the column of its name (none: in the whole line); the first are listed.

        `rows` are those the values stand in; None where they stand in no row, since it is missing.
        """
        for place, value in enumerate(found.head(LISTED_FAULTS)):
            row = None if rows is None else int(rows[place])
            given = parameters if isinstance(parameters, Mapping) else parameters(-1 if row is None else row)
            self.add(rule, expected, row=row, column=found.name or None, value=value, parameters=given)
        self.faults.count_more(max(0, len(found) - LISTED_FAULTS))

    def read(self, types: Mapping[str, tuple[str, ColumnType]], skipped: pl.Expr | None = None) -> pl.DataFrame:
        """Read columns by the rule and the type of each; a cell that does not fit is a fault and comes out missing.

        The rows marked in `skipped` are not checked and come out missing, too.
        """
        is_checked = pl.lit(True) if skipped is None else ~skipped
        # All in one pass: for files of a few rows the calls take longer than the work.
        reads, faulty = [], []
        for name, (_, kind) in types.items():
            cell, read = pl.col(name), kind.read(pl.col(name))
            is_good = cell.str.contains(kind.pattern).fill_null(False) & read.is_not_null()
            reads.append(pl.when(is_checked & is_good).then(read).alias(name))
            faulty.append((is_checked & ~is_good).alias(f"is_bad_{name}"))
        frame = self.text.frame.select(*reads, *faulty)
        for name, (rule, kind) in types.items():
            self.add_cells(rule, name, frame[f"is_bad_{name}"], kind.expected)
        return frame.select(list(types))

    def check_known(
        self,
        rule: str,
        cells: pl.Series,
        known: pl.Series,
        expected: str,
        parameters: Parameters = NO_PARAMETERS,
        *,
        may_be_empty: bool = False,
    ) -> pl.Series:
        """Refuse the cells of a column that hold none of the known values; returns which."""
        is_unknown = ~cells.is_in(known.unique().implode()).fill_null(may_be_empty)
        self.add_cells(rule, cells.name, is_unknown, expected, parameters)
        return is_unknown

    def check_no_customer(self, names: pl.Series, customers: pl.Series, expected: str) -> None:
        """Refuse a pseudonym that is the id of a customer."""
        is_customer = names.is_in(customers.unique().implode()).fill_null(False)
        self.add_cells(NO_CUSTOMER_ID.name, "customer", is_customer, expected)

    def check_deleted(self, rule: str) -> pl.Series:
        """Mark the rows with DEL in their first cell, and refuse what stands behind it."""
        first, *others = self.text.frame.columns
        is_marked = (self.text.frame[first] == DELETED).fill_null(False)
        for name in others:
            is_left = is_marked & self.text.frame[name].is_not_null()
            self.add_cells(rule, name, is_left, f"an empty cell after {DELETED}")
        return is_marked

    def check_same_month(self, dates: pl.Series, periods: pl.Series) -> None:
        """Refuse dates of another month than that of the same row of T."""
        is_moved = (dates.to_frame().select(period_of(pl.col(dates.name))).to_series() != periods).fill_null(False)
        expected = "a day of {month}, the month in T"
        self.add_cells("same-month", dates.name, is_moved, expected, lambda row: {"month": period_name(periods[row])})

    def check_one_line_each(self, rules: tuple[str, str], names: pl.Series, known: pl.Series, customer: str) -> None:
        """Refuse lines of nobody known, second lines of one customer, and customers without a line.

        customer: what they are called in faults, such as "customer of T".
        """
        is_unknown = self.check_known(rules[0], names, known, f"a {customer}")
        self.add_cells(rules[1], names.name, ~is_unknown & ~names.is_first_distinct(), "one line for each customer")
        missing = known.filter(~known.is_in(names.implode()))
        self.add_rows(rules[1], missing, None, f"a line for every {customer}, for this one too")

    def read_row_numbers(self, rule: str, column: str, kind: ColumnType, n_rows: int, expected: str) -> pl.Series:
        """Read row numbers; one beyond the rows there are is a fault, and what is no number comes out missing."""
        numbers = self.read({column: (rule, kind)})[column]
        is_beyond = (numbers > n_rows).fill_null(False)
        self.add_cells(rule, column, is_beyond, expected, {"n_rows": n_rows})
        return numbers

    def check_n_rows(
        self,
        n_rows: int,
        rule: str = SAME_ROWS.name,
        expected: str = "{n_rows:,} rows as in T, in their order",
        unit: str = "row",
    ) -> bool:
        """Refuse a file with more or fewer rows; tells whether rows can be compared one by one."""
        n_found = self.text.frame.height
        if n_found == n_rows:
            return True
        # The first line too many, or the last there is.
        row = max(0, min(n_rows, n_found - 1))
        self.add(rule, expected, row=row, value=counted(n_found, unit), parameters={"n_rows": n_rows})
        return False

    def check_names(
        self, rules: tuple[str, str], names: pl.Series, keys: pl.DataFrame, *, is_monthly: bool = False
    ) -> None:
        """Refuse a second pseudonym of one customer, and one pseudonym of two customers, within equal periods.

        `rules` name the two; `keys` has the customer of each row and the period for which a pseudonym counts, which
        faults call a month where it is one; missing names are left out. The first line of a customer or of a pseudonym
        counts, and the fault names it.
        """
        rows = keys.with_row_index("row").with_columns(name=names).filter(pl.col("name").is_not_null())
        first = rows.with_columns(
            pl.col("name", "row").first().over("customer", "period").name.prefix("own_"),
            pl.col("customer", "row").first().over("name", "period").name.prefix("shared_"),
        )
        others = first.filter(pl.col("own_name") != pl.col("name"))
        sharing = first.filter(pl.col("shared_customer") != pl.col("customer"))
        for row, name, found, at in others.head(LISTED_FAULTS).select("row", "own_name", "name", "own_row").rows():
            expected = SAME_NAME_MONTHLY if is_monthly else SAME_NAME
            known = {"name": name, "other_line": self.text.line_of(at)}
            self.add(rules[0], expected, row=row, column="customer", value=found, parameters=known)
        self.faults.count_more(max(0, others.height - LISTED_FAULTS))
        columns = ["row", "shared_customer", "name", "shared_row"]
        for row, whose, found, at in sharing.head(LISTED_FAULTS).select(columns).rows():
            expected = OTHER_NAME_MONTHLY if is_monthly else OTHER_NAME
            known = {"customer": whose, "other_line": self.text.line_of(at)}
            self.add(rules[1], expected, row=row, column="customer", value=found, parameters=known)
        self.faults.count_more(max(0, sharing.height - LISTED_FAULTS))

    def raise_if_any(self) -> None:
        """Raise one InputError that lists the first faults in the order of the file."""
        self.faults.raise_if_any()


class Together:
    """Collects the errors of several files, so that a team learns all of them at once."""

    def __init__(self) -> None:
        self.errors: list[InputError] = []

    def try_to(self, read: Callable[[], Read]) -> Read | None:
        """Do it; where that fails, return None and keep the error."""
        try:
            return read()
        except InputError as error:
            self.errors.append(error)
            return None

    def raise_if_any(self) -> None:
        """Raise what was found, the faults of the first file first."""
        faults = [fault for error in self.errors for fault in error.faults]
        if faults:
            groups = [group for error in self.errors for group in error.groups]
            raise InputError(faults[:LISTED_FAULTS], sum(error.n_faults for error in self.errors), groups)


# The twelve months of the contests; Online Retail goes on for nine days more.
FIRST_DAY, LAST_DAY = datetime.date(2010, 12, 1), datetime.date(2011, 11, 30)
# Every release of UCI spells this column alike.
TELLING_COLUMN = SPELLINGS["StockCode"][0]


def sample_purchases(source: Path | None, n_customers: int, *, seed: int) -> History:
    """Return a sample of customers' purchases in the twelve months: from the source, or made up without one."""
    if source is None:
        return History.of(make_retail(n_customers, seed=seed), name="T")
    rows = read_purchases(source).kept.filter(pl.col("date").is_between(FIRST_DAY, LAST_DAY))
    customers = rows["customer"].unique().sort()
    if not 1 <= n_customers <= len(customers):
        expected = f"from 1 to the {len(customers):,} customers of the source"
        raise InputError.of(expected, file=source, option="n_customers", value=n_customers)
    drawn = generator(seed, "contest", "customers").choice(len(customers), n_customers, replace=False)
    chosen = customers.gather(np.sort(drawn))
    return History(rows.filter(pl.col("customer").is_in(chosen.implode())), "T")


@contextmanager
def plain_source(source: Path | None, reading: Reading) -> Iterator[Path | None]:
    """Provide a source as every edition reads it: as it is, or converted to a plain table.

    The same file and reading give the same bytes, by which a replay knows the source again. Where columns are named, or
    how dates are written, the source is a history.
    """
    if reading == AS_IT_IS:
        yield source
        return
    if source is None:
        raise InputError.of("a source, which is read so", option="source", value=", ".join(reading.as_dict()))
    with TemporaryDirectory() as folder:
        plain = Path(folder) / f"{source.name}.csv"
        if reading.columns or reading.date_format or reading.format:
            write_history_table(read_history(source, reading), plain)
        else:
            write_csv(read_frame(source, reading), plain)
        try:
            yield plain
        except InputError as error:
            # The copy is gone when the message is read.
            faults = [replace(one, file=str(source)) if one.file == str(plain) else one for one in error.faults]
            raise InputError(faults, error.n_faults) from error


def read_purchases(path: Path) -> History:
    """Read a contest's T, a table with the columns of a history, or Online Retail as UCI has it, cleaned."""
    rows = read_raw_retail(path)
    return read_history(path) if rows is None else to_history(rows)


def read_raw_retail(path: Path) -> pl.DataFrame | None:
    """Read Online Retail as UCI has it, cleaned; None where a file has other columns."""
    check_is_file(path)
    if format_of(path) in TEXT_SUFFIXES:
        head = first_bytes(path)
        if not head or TELLING_COLUMN not in header_names(head, find_delimiter(head)):
            return None
    frame = read_frame(path)
    return clean_retail(frame) if TELLING_COLUMN in frame.columns else None


Attack = TypeVar("Attack")
# The option of attacks that may else name one customer for several pseudonyms.
EACH_ONCE = "each_once"


def for_a_table(attack: Attack) -> Attack:
    """Return the attack that names each customer once a month, since a table has one cell for that."""
    part: object = attack
    has_option = is_dataclass(part) and any(field.name == EACH_ONCE for field in fields(part))
    found: Attack = replace(attack, **{EACH_ONCE: True}) if has_option else attack  # type: ignore[type-var]
    return found
