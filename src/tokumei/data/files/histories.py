"""Purchase histories in whatever file they come: a table with a header, or the form of a contest.

A table has the columns of a history by name, or by the names that `Reading.columns` declares. A contest's files have no
header; their form is asked for by its name, or told by a first line that can be nothing else. What is written has the
form that is asked for, and never one that its content suggests.

A room above brings the forms of contests: each edition has a module of its files, which is imported when its form is
asked for and not before. What such a module may have is what `HistoryFormat` says.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import pkgutil
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import polars as pl

from tokumei.core.errors import Fault, FaultGroup, InputError, UnknownPart
from tokumei.data.cells import NAME, NOTATION
from tokumei.data.files.csv import find_delimiter, first_bytes, header_names
from tokumei.data.files.disk import check_is_file
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, scan_frame, write_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history_columns import NEEDED

if TYPE_CHECKING:
    from tokumei.data.history import History

PACKAGE = "tokumei.contest.editions"


class HistoryFormat(Protocol):
    """The files of a contest: an original, a release, an attacker's knowledge, and the pseudonyms of customers."""

    PERIODS: tuple[str, ...]

    def read_history(self, path: Path | str) -> History:
        """Read an original."""

    def read_released_history(self, path: Path | str) -> History:
        """Read a release of a contest that has customers besides."""

    def write_released_history(self, history: History, path: Path | str) -> None:
        """Write a release of a contest that has customers besides."""

    def read_release(self, path: Path | str) -> History:
        """Read a release."""

    def write_release(self, release: History, path: Path | str) -> None:
        """Write a release."""

    def read_known_history(self, path: Path | str) -> History:
        """Read what an attacker knows, be it the original itself."""

    def write_knowledge(self, knowledge: History, path: Path | str) -> None:
        """Write what an attacker knows."""

    def read_truth(self, path: Path | str) -> pl.DataFrame:
        """Read the pseudonym of each customer in each period."""

    def write_truth(self, truth: pl.DataFrame, path: Path | str) -> None:
        """Write the pseudonym of each customer in each period."""


def format_names() -> list[str]:
    """Name the formats that histories can be read in."""
    folder = importlib.import_module(PACKAGE)
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if module.ispkg)
    # Small editions have no module of their own for files.
    found = [name for name in names if importlib.util.find_spec(f"{PACKAGE}.{name}.files") is not None]
    return [name for name in found if hasattr(_module(name), "read_history")]


def history_format(name: str, *needed: str) -> HistoryFormat:
    """Return the format of a name that has the functions needed; a contest has not every kind of file."""
    if name not in format_names():
        raise UnknownPart("format of histories", name, format_names())
    found = _module(name)
    for function in needed:
        if not hasattr(found, function):
            raise InputError.of(f"a format that can {function.replace('_', ' ')}", option="format", value=name)
    return cast("HistoryFormat", found)


def _module(name: str) -> object:
    return importlib.import_module(f"{PACKAGE}.{name}.files")


log = logging.getLogger("tokumei.notes")
TABLE = "table"
CONTEST_2016, CONTEST_2017, CONTEST_2018 = "pwscup2016", "pwscup2017", "pwscup2018"
# In 2017 every invoice is 0; in 2016 they are real.
NO_INVOICE, DELETED = "0", ("DEL", "", "", "", "", "", "")
DAY = re.compile(r"[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}")
# By its number of cells: which of them is the date, in a form that no header has.
DATE_CELL = {7: 2, 5: 1}
# A released cell of 2018: a star, a range, a set.
RANGE_OR_STAR = r"^(\*|\[.*;.*\])$"
# A set of several names, or a name with a backslash before a mark of the notation: no shop calls its items so.
SEVERAL_OR_ESCAPED = rf"(?s)^\{{{NAME};.*\}}$|\\{NOTATION}"
WELL_FORMED_ITEM = rf"(?s)^(\*|{NAME}|\{{{NAME}(?:;{NAME})*\}})$"
WITHOUT_RANGES = (
    "a release without ranges and sets, which only 'measure history' and the attacks generalized, items-in-common and "
    "sum-of-quantities take"
)
RELEASED = ["customer", "date", "item", "price", "quantity"]
GENERALIZED = re.compile(r"\*|\[[^;\]]*;[^;\]]*\]|\{[^}]*\}")


def form_of(path: Path | str, reading: Reading = AS_IT_IS) -> str:
    """Return the form of a file: `table`, or that of a contest by its name."""
    if reading.format is not None:
        return reading.format
    path = Path(path)
    if reading != AS_IT_IS or format_of(path) not in TEXT_SUFFIXES:
        return TABLE
    cells = first_cells(path)
    if tuple(cells) == DELETED:
        return CONTEST_2017
    place = DATE_CELL.get(len(cells))
    if place is None or not (DAY.fullmatch(cells[place]) or _are_generalized(cells)):
        return TABLE
    if len(cells) == 7:
        return CONTEST_2017 if cells[1] == NO_INVOICE else CONTEST_2016
    return CONTEST_2018


def refuse_ranges(path: Path | str, reading: Reading) -> None:
    """Refuse a release whose cells may be ranges and sets, where values are needed."""
    if is_generalized_file(path, reading):
        raise InputError.of(WITHOUT_RANGES, file=path)


def write_history_table(history: History, path: Path | str) -> None:
    """Write a history as a table with a header: the columns that it has, and those that it carries."""
    frame = history.frame.select(role for role in history.frame.columns if role not in history.absent)
    if format_of_name(path) in TEXT_SUFFIXES and "time" in frame.columns:
        has_fractions = (frame["time"].dt.nanosecond() != 0).any()
        frame = frame.with_columns(pl.col("time").dt.to_string("%H:%M:%S%.f" if has_fractions else "%H:%M:%S"))
    write_frame(frame if history.carried is None else frame.hstack(history.carried), path)


# How a release names the invoices under a pseudonym; contests take shorter names.
NAMED_ANEW = r"^B[0-9a-f]{20}$"


def write_released_history(history: History, path: Path | str, form: str = TABLE) -> None:
    """Write a release in the form that is asked for; a Parquet file is a table whatever the form.

    That of 2016 has no deleted rows, which are left out, and that of 2017 no invoices but 0: both are said.
    """
    check_form_of_release(form, is_generalized=False)
    if form == TABLE or format_of_name(path) not in TEXT_SUFFIXES:
        write_history_table(history, path)
        return
    try:
        if form == CONTEST_2016:
            _write_2016(history, path)
        else:
            _write_2017(history, path)
    except InputError as error:
        advice = Fault("a form that can hold this release, such as table", option="--out-format", value=form)
        groups = [*error.groups, FaultGroup(1, (advice,))]
        raise InputError([*error.faults, advice], error.n_faults + 1, groups) from None


def _write_2016(history: History, path: Path | str) -> None:
    history.check_has(["invoice", "time"], CONTEST_2016)
    n_deleted = history.n_rows - history.kept.height
    if n_deleted:
        said = "%s: %s has no deleted rows; they are left out (%s of %s), and the others no longer stand row for row"
        log.info(said, Path(path).name, CONTEST_2016, f"{n_deleted:,}", f"{history.n_rows:,}")
    rows = history.kept
    if rows["invoice"].drop_nulls().str.contains(NAMED_ANEW).all():
        # Names that the release made up are too long for this form.
        rows = rows.with_columns(invoice=_numbered(rows["invoice"]))
    contest = history_format(CONTEST_2016, "write_released_history")
    contest.write_released_history(history.with_rows(rows), path)


def _numbered(invoices: pl.Series) -> pl.Series:
    """Return numbers in place of names, in the order of the names, which is random."""
    number = invoices.rank("dense").cast(pl.String)
    return "B" + number.str.zfill(len(str(invoices.n_unique())))


def _write_2017(history: History, path: Path | str) -> None:
    history.check_has(["time"], CONTEST_2017)
    is_kept = pl.col("customer").is_not_null()
    invoices = history.kept["invoice"].drop_nulls()
    if (invoices != NO_INVOICE).any():
        log.info("%s: %s has no invoices; all are written as %s", Path(path).name, CONTEST_2017, NO_INVOICE)
    frame = history.frame.with_columns(invoice=pl.when(is_kept).then(pl.lit(NO_INVOICE)))
    history_format(CONTEST_2017, "write_release").write_release(history.with_rows(frame), path)


def write_known_history(known: History, path: Path | str, form: str = TABLE) -> None:
    """Write an attacker's knowledge: T_α of 2017 if that is the form of the original, else a table."""
    if form == CONTEST_2017 and format_of_name(path) in TEXT_SUFFIXES:
        history_format(form, "write_knowledge").write_knowledge(known, path)
    else:
        write_history_table(known, path)


def forms_of_releases(*, is_generalized: bool) -> list[str]:
    """Name the forms that have a place for such releases."""
    return [TABLE, CONTEST_2018] if is_generalized else [TABLE, CONTEST_2016, CONTEST_2017]


def check_form_of_release(form: str, *, is_generalized: bool) -> None:
    """Refuse a form that has no place for such releases."""
    forms = forms_of_releases(is_generalized=is_generalized)
    if form not in forms:
        releases = "with" if is_generalized else "without"
        expected = f"{' or '.join(forms)}, the forms of releases {releases} ranges and sets"
        raise InputError.of(expected, option="--out-format", value=form)


def form_of_release(form: str, asked: str | None = None, *, is_generalized: bool = False) -> str:
    """Return the form of a file's release: as asked, the same where it has such releases, or a table."""
    if asked is not None:
        check_form_of_release(asked, is_generalized=is_generalized)
        return asked
    return form if form in forms_of_releases(is_generalized=is_generalized) else TABLE


def is_generalized_file(path: Path | str, reading: Reading = AS_IT_IS) -> bool:
    """Whether the cells of a file may be ranges and sets: a release of 2018, or a table like those of `generalize`."""
    reading = reading_of_release(path, reading)
    form = form_of(path, reading)
    if form != TABLE:
        return form == CONTEST_2018
    # Told by the header alone where that is possible, since looking at cells takes a pass over the file.
    if reading == AS_IT_IS and format_of(path) in TEXT_SUFFIXES and first_cells(Path(path)) != RELEASED:
        return False
    rows = scan_frame(path, reading)
    schema = rows.collect_schema()
    if not set(RELEASED) <= set(schema.names()) or any(schema[name] != pl.String for name in RELEASED):
        return False
    is_range = pl.any_horizontal(pl.col("date", "price", "quantity").str.contains(RANGE_OR_STAR).any())
    item = pl.col("item").str
    has_sets = item.contains(SEVERAL_OR_ESCAPED).any() & item.contains(WELL_FORMED_ITEM).all()
    return bool(rows.select(is_range | has_sets).collect(engine="streaming").item())


def reading_of_release(path: Path | str, reading: Reading) -> Reading:
    """Return how a release, or what is known, is read beside an original that is read so.

    A table with the names of a history is read by them, and a contest's file by its form, whatever the original is.
    """
    if reading == AS_IT_IS:
        return reading
    plain = replace(AS_IT_IS, null_values=reading.null_values, trim=reading.trim)
    if format_of(path) not in TEXT_SUFFIXES:
        names = scan_frame(path, replace(plain, sheet=reading.sheet)).collect_schema().names()
        return plain if set(NEEDED) <= set(names) else replace(reading, format=None)
    if set(NEEDED) <= set(first_cells(check_is_file(path))):
        return plain
    own = form_of(path)
    # Only the form of 2018 is told by its cells alone; a file of 2016 may look like one of 2017.
    is_contest = own == CONTEST_2018 if reading.format is not None else own != TABLE
    return AS_IT_IS if is_contest and reading.has_header else reading


def format_of_name(path: Path | str) -> str:
    """Return the suffix that says how a file is written."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def first_cells(path: Path) -> list[str]:
    """Return the cells of the first line of a text file; none if it is no UTF-8."""
    head = first_bytes(check_is_file(path)).removeprefix(b"\xef\xbb\xbf")
    try:
        head[: 1 << 16].decode("utf-8")
    except UnicodeDecodeError as error:
        # A character may be cut at the end; one that is broken before is in another encoding, so no contest's.
        if error.start < min(len(head), 1 << 16) - 3:
            return []
    return header_names(head, find_delimiter(head)) if head else []


def _are_generalized(cells: list[str]) -> bool:
    return any(GENERALIZED.fullmatch(cell) for cell in cells)
