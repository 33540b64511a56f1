"""Purchase histories in whatever file they come: a contest's, or a table with a header.

A file of a contest has no header: seven columns as in 2016 and 2017, or five as in 2018. Any other has the columns of a
history by name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.csv import find_delimiter, first_bytes, header_names, read_csv, write_csv
from tokumei.data.files.formats import read_frame, write_frame
from tokumei.data.files.history_formats import history_format
from tokumei.data.files.source import check_is_file
from tokumei.data.history import SCHEMA, History, period_name

CONTEST_2017 = "pwscup2017"
CONTEST_2017_COLUMNS, CONTEST_2018_COLUMNS = 7, 5
# In 2017 every invoice is 0; in 2016 they are real.
NO_INVOICE = "0"
# The paper's direction of a guess, in which a customer may occur several times in a month.
BY_PSEUDONYM = ["month", "pseudonym", "customer"]


def read_history(path: Path | str) -> History:
    """Read an original history: T of any contest, or a table with a header."""
    cells = _contest_cells(Path(path))
    if cells is None:
        return History.of(_typed(read_frame(path)), name=str(path))
    if len(cells) == CONTEST_2018_COLUMNS:
        return history_format("pwscup2018").read_history(path)
    return history_format("pwscup2017" if cells[1] == NO_INVOICE else "pwscup2016").read_history(path)


def read_released_history(path: Path | str) -> History:
    """Read a release or what was published of it: A(T) or S of 2017, or a table with a header."""
    if _contest_cells(Path(path)) is None:
        return History.of(_typed(read_frame(path)), name=str(path))
    return history_format(CONTEST_2017).read_release(path)


def read_known_history(path: Path | str) -> History:
    """Read an attacker's knowledge: T_α of 2017, the T of any contest, or a table with a header."""
    cells = _contest_cells(Path(path))
    # Unknown rows of T_α stand without an invoice, all others have the invoice 0.
    if cells is not None and len(cells) == CONTEST_2017_COLUMNS and cells[1] in (NO_INVOICE, ""):
        return history_format(CONTEST_2017).read_knowledge(path)
    return read_history(path)


def write_released_history(history: History, path: Path | str) -> None:
    """Write a release: as A(T) of 2017 where the name ends in .csv or .csv.gz and it fits, else as a table."""
    path = Path(path)
    if ".csv" in path.suffixes and history.frame["time"].is_not_null().any():
        history_format(CONTEST_2017).write_release(history, path)
    else:
        write_frame(history.frame, path)


def write_pseudonyms(cells: pl.DataFrame, customers: list[str], path: Path | str) -> None:
    """Write customer, period and pseudonym as the contest's table: a line a customer, a column a month.

    Where a customer is given several pseudonyms of a month, a line is a month and pseudonym with its customer.
    """
    wide = pl.DataFrame({"customer": customers}, schema={"customer": pl.String})
    named = cells.with_columns(pl.col("period").map_elements(period_name, return_dtype=pl.String).alias("month"))
    if cells.select("customer", "period").is_duplicated().any():
        write_csv(named.select(BY_PSEUDONYM).sort("month", "pseudonym"), path)
        return
    months = sorted(named["month"].unique().to_list())
    contest = history_format(CONTEST_2017)
    if set(months) <= set(contest.PERIODS):
        months = list(contest.PERIODS)
    for month in months:
        one = named.filter(pl.col("month") == month).select("customer", pl.col("pseudonym").alias(month))
        wide = wide.join(one, on="customer", how="left", maintain_order="left")
    if months == list(contest.PERIODS):
        contest.write_truth(wide, path)
    else:
        write_csv(wide, path)


def read_pseudonyms(path: Path | str) -> tuple[pl.DataFrame, list[str], list[int]]:
    """Read the contest's table of pseudonyms: the cells that hold one, the customers, and the periods."""
    names = header_names(first_bytes(check_is_file(path)), find_delimiter(first_bytes(Path(path))))
    if names == BY_PSEUDONYM:
        named = read_csv(path).frame.drop_nulls()
        cells = named.with_columns(pl.col("month").map_elements(_period, return_dtype=pl.Int32).alias("period"))
        lines = cells.select("customer", "period", "pseudonym")
        return lines, sorted(set(lines["customer"])), sorted(set(lines["period"]))
    wide = read_csv(path).frame if names[0] == "customer" else history_format(CONTEST_2017).read_truth(path)
    months = [name for name in wide.columns if name != "customer"]
    long = wide.unpivot(months, index="customer", variable_name="month", value_name="pseudonym").drop_nulls()
    cells = long.with_columns(pl.col("month").map_elements(_period, return_dtype=pl.Int32).alias("period"))
    periods = [_period(month) for month in months]
    return cells.select("customer", "period", "pseudonym"), wide["customer"].to_list(), periods


def _period(month: str) -> int:
    year, mark, number = month.partition("-")
    if not (mark and year.isdecimal() and number.isdecimal()):
        raise InputError.of("months written YYYY-MM as column names", value=month)
    return int(year) * 12 + int(number) - 1


def _contest_cells(path: Path) -> list[str] | None:
    """Give the cells of the first line of a contest file, or None where the file has a header."""
    if path.suffix not in (".csv", ".gz", ".txt"):
        return None
    head = first_bytes(check_is_file(path))
    if not head:
        return None
    cells = header_names(head, find_delimiter(head))
    is_named = {"customer", "item"} <= set(cells)
    return None if is_named or len(cells) not in (CONTEST_2017_COLUMNS, CONTEST_2018_COLUMNS) else cells


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Read the text columns of a CSV file as a history's types; what does not fit is told by History."""
    readers: dict[pl.DataType, Callable[[pl.Expr], pl.Expr]] = {
        pl.Date(): lambda cell: cell.str.to_date("%Y-%m-%d", strict=False),
        pl.Time(): lambda cell: cell.str.slice(0, 8).str.to_time("%H:%M:%S", strict=False),
    }
    return frame.with_columns(
        readers[kind](pl.col(name))
        for name, kind in SCHEMA.items()
        if kind in readers and frame.schema.get(name) == pl.String()
    )
