"""Where the purchases of a contest come from: a shop's real ones, sampled, or made-up ones."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.files.csv import find_delimiter, first_bytes, header_names, write_csv
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_frame
from tokumei.data.files.histories import read_history, write_history_table
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.source import check_is_file
from tokumei.data.history import History
from tokumei.data.made.retail import make_retail
from tokumei.data.online_retail import SPELLINGS, clean_retail, to_history

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
    check_is_file(path)
    if format_of(path) in TEXT_SUFFIXES:
        head = first_bytes(path)
        is_raw = TELLING_COLUMN in header_names(head, find_delimiter(head))
        return to_history(clean_retail(read_frame(path))) if is_raw else read_history(path)
    frame = read_frame(path)
    return to_history(clean_retail(frame)) if TELLING_COLUMN in frame.columns else read_history(path)
