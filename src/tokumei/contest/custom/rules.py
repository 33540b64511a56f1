"""The rules of a contest of one's own, made from its settings, and the checks that hold submissions against them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.forms import FORM, ROW_NUMBER, deleted_rows, faults_of, read_form, release_types
from tokumei.contest.custom.settings import ROW, Settings
from tokumei.contest.edition import Rule
from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.columns import does_not_fit
from tokumei.data.files.strict import DELETED
from tokumei.data.history import History, period_name, period_of

FILE_RULE = Rule(
    FORM,
    "The file is UTF-8 text with the header of T: cells separated by commas, as many in every line. It may be gzipped.",
    "ファイルは UTF-8 の CSV とし、T と同じヘッダーを付け、全行のセル数を揃える。gzip 圧縮も可。",
)
SAME_ROWS = Rule(
    "same-rows",
    f"The release has the rows of T in their order; a deleted row is {DELETED} in its first cell, or nothing, and "
    "nothing in all others.",
    "加工データの行数と行の順序は T と同じとする。"
    f"削除した行は先頭セルを {DELETED} または空とし、残りのセルを空にする。",
)
CELL_FORM = Rule("cell-form", "Every cell has the form of its column.", "各セルは列ごとの形式に従う。")


def release_rules(settings: Settings) -> tuple[Rule, ...]:
    """Give the rules that the settings ask for."""
    checks = settings.checks
    rules = [
        FILE_RULE,
        SAME_ROWS,
        CELL_FORM,
        Rule(
            "least-kept",
            f"At least {checks.least_kept:.0%} of the rows are kept, and at least one.",
            f"少なくとも{checks.least_kept:.0%}の行(最低1行)を残す。",
        ),
    ]
    if checks.values_of_original:
        columns = ", ".join(checks.values_of_original)
        rules.append(
            Rule(
                "values-of-original",
                f"Values of these columns occur in the same column of T: {columns}.",
                f"次の列の値は T の同じ列に現れるものに限る:{columns}。",
            )
        )
    if checks.unchanged:
        columns = ", ".join(checks.unchanged)
        rules.append(
            Rule("unchanged", f"These columns stay as in T: {columns}.", f"次の列は T のままとする:{columns}。")
        )
    if settings.is_history:
        rules += _history_rules(settings)
    return tuple(rules)


def _history_rules(settings: Settings) -> list[Rule]:
    span, span_ja = ("a month", "同じ月") if settings.checks.pseudonyms == "month" else ("the whole time", "全期間")
    rules = [
        Rule("no-customer-id", "No pseudonym is a customer of T.", "仮名は T の顧客IDと一致してはならない。"),
        Rule(
            "one-pseudonym",
            f"A customer has one pseudonym in all rows of {span}.",
            f"同じ顧客の{span_ja}の行には同じ仮名を付ける。",
        ),
        Rule(
            "no-shared-pseudonym",
            f"Two customers never share a pseudonym in {span}.",
            f"{span_ja}に異なる顧客へ同じ仮名を付けてはならない。",
        ),
    ]
    if settings.checks.same_month:
        rules.append(
            Rule(
                "same-month", "The date stays in the month of the same row of T.", "日付は T の同じ行と同じ年月とする。"
            )
        )
    return rules


def guess_rules(settings: Settings) -> tuple[Rule, ...]:
    """Give the rules of a guess."""
    if not settings.is_history:
        return (
            Rule(
                FORM,
                f"The file is UTF-8 text with the header {ROW}.",
                f"ファイルは UTF-8 とし、ヘッダーは {ROW} とする。",
            ),
            Rule(
                "row-of-t",
                "Line i is the row of T, counted from 1, that row i of S is believed to be; one may be named twice.",
                "i 行目は S の i 行目に対応すると推定した T の行番号(1から数える)とする。重複してもよい。",
            ),
            Rule("row-for-row", "There is one line for each row of S.", "S の各行についてちょうど1行ずつ書く。"),
        )
    return (
        Rule(
            FORM,
            "The file is UTF-8 text; its header is customer and the months of T, such as 2011-01.",
            "ファイルは UTF-8 の CSV とし、ヘッダーは customer と T の各月(2011-01 など)とする。",
        ),
        Rule("each-customer-once", "Every customer of T has one line.", "T の全顧客についてちょうど1行ずつ書く。"),
        Rule(
            "pseudonym-of-s",
            "The other cells are each a pseudonym of S, or nothing where the customer is believed to have no row.",
            "残りのセルは S に現れる仮名とする。その月に行がないと推定するときは空とする。",
        ),
    )


def check_release(settings: Settings, original: pl.DataFrame, path: Path) -> None:
    """Raise one InputError with every fault of A."""
    text = read_form(path, original.columns)
    faults = faults_of(text)
    is_deleted = deleted_rows(text) | _marked_rows(faults)
    cells = _read_cells(settings, original, faults, is_deleted)
    n_least = max(1, math.ceil(settings.checks.least_kept * original.height - 1e-9))
    n_kept = text.frame.height - int(is_deleted.sum())
    if n_kept < n_least:
        known = {"n_least": n_least, "n_rows": original.height}
        faults.add(
            "least-kept", "at least {n_least:,} of {n_rows:,} rows kept", value=f"{n_kept:,} rows", parameters=known
        )
    for name in settings.checks.values_of_original:
        if name in cells.columns:
            is_unknown = ~cells[name].is_in(original[name].unique().implode()).fill_null(True)
            faults.add_cells("values-of-original", name, is_unknown, "a value that T has in this column")
    if settings.is_history:
        is_customer = cells["customer"].is_in(original["customer"].unique().implode()).fill_null(False)
        faults.add_cells("no-customer-id", "customer", is_customer, "a pseudonym that is no customer of T")
    if text.frame.height != original.height:
        faults.check_n_rows(original.height)
    else:
        _check_against(settings, original, cells, is_deleted, faults)
    faults.raise_if_any()


def _marked_rows(faults: RowFaults) -> pl.Series:
    """Mark the rows with DEL and refuse what stands behind it; to all other rules they are deleted."""
    frame = faults.text.frame
    first, *others = frame.columns
    is_marked = (frame[first] == DELETED).fill_null(False)
    for name in others:
        is_left = is_marked & frame[name].is_not_null()
        faults.add_cells(SAME_ROWS.name, name, is_left, f"an empty cell after {DELETED}")
    return is_marked


def _read_cells(settings: Settings, original: pl.DataFrame, faults: RowFaults, is_deleted: pl.Series) -> pl.DataFrame:
    """Read all cells; one that does not fit is a fault and comes out missing."""
    text, columns = faults.text.frame, []
    for name, kind in release_types(settings, original).items():
        read = text.select(kind.read(pl.col(name))).to_series()
        is_bad = does_not_fit(text[name], kind, read) & ~is_deleted
        faults.add_cells(CELL_FORM.name, name, is_bad, kind.expected)
        columns.append(pl.select(pl.when(~is_bad & ~is_deleted).then(read).alias(name)).to_series())
    return pl.DataFrame(columns)


def _check_against(
    settings: Settings, original: pl.DataFrame, cells: pl.DataFrame, is_deleted: pl.Series, faults: RowFaults
) -> None:
    """Hold a release against the same rows of T."""
    for name in settings.checks.unchanged:
        if name in cells.columns:
            # A cell that could not be read, or is missing and may not be, is told already.
            is_readable = cells[name].is_not_null()
            if release_types(settings, original)[name].is_optional:
                is_readable |= faults.text.frame[name].is_null()
            is_changed = cells[name].ne_missing(original[name]) & is_readable & ~is_deleted
            faults.add_cells("unchanged", name, is_changed, "{truth} as in T", _values_of(original[name]))
    if not settings.is_history:
        return
    periods = original.select(period_of(pl.col("date"))).to_series()
    if settings.checks.same_month:
        is_moved = (cells.select(period_of(pl.col("date"))).to_series() != periods).fill_null(False)
        expected = "a day of {month}, the month in T"
        faults.add_cells("same-month", "date", is_moved, expected, lambda row: {"month": period_name(periods[row])})
    is_monthly = settings.checks.pseudonyms == "month"
    spans = periods if is_monthly else pl.zeros(original.height, pl.Int32, eager=True)
    keys = pl.DataFrame({"customer": original["customer"], "period": spans})
    rules = ("one-pseudonym", "no-shared-pseudonym")
    faults.check_names(rules, cells["customer"], keys, is_monthly=is_monthly)


def _values_of(truth: pl.Series) -> Callable[[int], Mapping[str, str]]:
    return lambda row: {"truth": str(truth[row])}


def check_history_guess(original: History, published: pl.DataFrame, path: Path) -> None:
    """Raise one InputError with every fault of a table of pseudonyms."""
    months = [period_name(period) for period in original.periods]
    text = read_form(path, ["customer", *months])
    faults = faults_of(text)
    customers, known = text.frame["customer"], pl.Series("customer", original.customers, dtype=pl.String)
    is_known = customers.is_in(known.implode()).fill_null(False)
    faults.add_cells("each-customer-once", "customer", ~is_known, "a customer of T")
    is_again = is_known & ~customers.is_first_distinct()
    faults.add_cells("each-customer-once", "customer", is_again, "one line for each customer")
    missing = known.filter(~known.is_in(customers.implode()))
    faults.add_rows("each-customer-once", missing, None, "a line for every customer of T, for this one too")
    names = published["customer"].unique()
    for month in months:
        is_bad = ~text.frame[month].is_in(names.implode()).fill_null(True)
        faults.add_cells("pseudonym-of-s", month, is_bad, "a pseudonym of S, or nothing")
    faults.raise_if_any()


def check_row_guess(n_rows: int, n_published: int, path: Path) -> None:
    """Raise one InputError with every fault of a list of row numbers."""
    faults = faults_of(read_form(path, [ROW]))
    rows = faults.read({ROW: ("row-of-t", ROW_NUMBER)})[ROW]
    is_beyond = (rows > n_rows).fill_null(False)
    faults.add_cells("row-of-t", ROW, is_beyond, "a row of T, from 1 to {n_rows:,}", {"n_rows": n_rows})
    n_found = faults.text.frame.height
    if n_found != n_published:
        row = max(0, min(n_published, n_found - 1))
        expected = "{n_rows:,} lines, one for each row of S"
        faults.add("row-for-row", expected, row=row, value=f"{n_found:,} lines", parameters={"n_rows": n_published})
    faults.raise_if_any()


def check_original(settings: Settings, frame: pl.DataFrame, file: str) -> None:
    """Refuse data in which a contest cannot be held: no rows, or rows without a value that every row needs."""
    faults = FaultList(file)
    if not frame.height:
        raise InputError.of("at least one row", file=file)
    needed = list(frame.columns) if settings.is_history else list(settings.roles.sensitive)
    for name in needed:
        missing = frame[name].is_null().arg_true()
        if len(missing):
            faults.add("no empty cells in this column", line=int(missing[0]) + 2, column=name, value="")
            faults.count_more(len(missing) - 1)
    faults.raise_if_any()
