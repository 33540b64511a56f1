"""Hierarchies as files in the CSV form that ARX uses, and the items of a history rolled up by them.

A file has one line for each value and one column for each level. A release may name categories where the original names
articles, and who attacks may know no more of a purchase than its category. Two sides are compared at the coarser of
their levels.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.csv import DELIMITERS, find_delimiter, first_bytes, read_csv, write_csv
from tokumei.data.files.disk import check_is_file
from tokumei.data.history import History
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy

# Enough lines to tell the delimiter by.
LOOKED_AT = 1000


def read_hierarchy(
    path: Path | str, attribute: str, *, delimiter: str | None = None, may_cross: bool = False
) -> Hierarchy:
    """Read the hierarchy of one attribute; the delimiter is found unless it is given.

    A level that does not follow from the one before is mostly a slip of the pen, and refused unless it may be.

    >>> import tokumei as tk
    >>> sex = tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
    >>> tk.write_hierarchy(sex, "sex.csv")
    >>> tk.read_hierarchy("sex.csv", "sex").leaves
    ('f', 'm')
    """
    path = check_is_file(path)
    head = first_bytes(path)
    delimiter = delimiter or _find_delimiter(head)
    n_levels = max(1, len(next(_records(head, delimiter), [])))
    text = read_csv(path, delimiter=delimiter, columns=[str(level) for level in range(n_levels)])
    for level in text.frame.columns:
        for row in text.frame[level].is_null().arg_true()[:1]:
            raise InputError.of("a label at every level", file=path, line=text.line_of(row), column=str(int(level) + 1))
    columns = [column.to_list() for column in text.frame.get_columns()]
    hierarchy = Hierarchy.of_levels(attribute, columns, file=str(path))
    if not may_cross:
        hierarchy.check_nested(file=str(path))
    return hierarchy


def write_hierarchy(hierarchy: Hierarchy, path: Path | str, *, delimiter: str = ";") -> None:
    """Write a hierarchy in the form `read_hierarchy` reads.

    >>> import tokumei as tk
    >>> sex = tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
    >>> tk.write_hierarchy(sex, "sex.csv")
    """
    columns = {str(level): hierarchy.labels_at(level) for level in range(len(hierarchy.levels))}
    write_csv(pl.DataFrame(columns), path, delimiter=delimiter, has_header=False)


def read_hierarchies(folder: Path | str, attributes: Iterable[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies of these attributes from a folder with one file each.

    The file of `age` is `age.csv`, or any name that ends so after a `_` or `-`: `adult_hierarchy_age.csv`.

    >>> import tokumei as tk
    >>> sex = tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
    >>> tk.write_hierarchy(sex, "sex.csv")
    >>> list(tk.read_hierarchies(".", ["sex"]))
    ['sex']
    """
    files = _files_in(Path(folder))
    return {name: read_hierarchy(_file_of(name, files, Path(folder)), name) for name in attributes}


def has_hierarchy(folder: Path | str, attribute: str) -> bool:
    """Whether a folder holds a file for an attribute."""
    return bool(_named_for(attribute, _files_in(Path(folder))))


def _find_delimiter(head: bytes) -> str:
    """Return the delimiter under which the file looks most like a hierarchy.

    Counting marks is not enough here: labels such as `[20, 25)` hold as many commas as the line has semicolons.
    """
    likeness = {mark: _likeness(list(itertools.islice(_records(head, mark), LOOKED_AT))) for mark in DELIMITERS}
    best = max(DELIMITERS, key=lambda mark: likeness[mark])
    return best if likeness[best] > (0.0, 0) else find_delimiter(head)


def _likeness(records: list[list[str]]) -> tuple[float, int]:
    """How much cut lines look like a hierarchy: equally many cells first, then a last level that is one label."""
    if not records or len(records[0]) < 2:
        return 0.0, 0
    n_alike = sum(len(record) == len(records[0]) for record in records)
    tops = {record[-1] for record in records if record}
    return n_alike / len(records), 2 if tops == {SUPPRESSED} else int(len(tops) == 1)


def _records(head: bytes, delimiter: str) -> Iterator[list[str]]:
    """Cut the start of a file into cells; what is broken ends it, and is told when the file is read."""
    text = io.StringIO(head.decode("utf-8", errors="replace"), newline="")
    try:
        yield from csv.reader(text, delimiter=delimiter)
    except csv.Error:
        return


def _files_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError.of("a folder of hierarchies", file=folder)
    return sorted(path for path in folder.iterdir() if path.suffix == ".csv")


def _named_for(attribute: str, files: list[Path]) -> list[Path]:
    exact = [path for path in files if path.stem == attribute]
    return exact or [path for path in files if path.stem.endswith((f"_{attribute}", f"-{attribute}"))]


def _file_of(attribute: str, files: list[Path], folder: Path) -> Path:
    found = _named_for(attribute, files)
    if len(found) != 1:
        names = ", ".join(path.name for path in found or files)
        expected = f"one file for the attribute, named {attribute}.csv or …_{attribute}.csv"
        raise InputError.of(expected, file=folder, column=attribute, value=names or "no CSV file")
    return found[0]


ITEM = "item"


def item_hierarchy(given: object) -> Hierarchy | None:
    """Return the item hierarchy that was given: one, its file, or either by the column item; None if none."""
    if isinstance(given, Mapping):
        for column in given:
            if column != ITEM:
                expected = "item=FILE, the one column of a history that has categories"
                raise InputError.of(expected, option="hierarchy", value=column)
        given = given.get(ITEM)
    if given is None or isinstance(given, Hierarchy):
        return given
    if not isinstance(given, (str, Path)):
        raise InputError.of("a hierarchy or its file", option="hierarchy", value=type(given).__name__)
    return read_hierarchy(given, ITEM)


def level_of(history: History, hierarchy: Hierarchy) -> int:
    """Return the level at which the items of a history stand: the finest that has them all."""
    items = set(history.kept[ITEM].drop_nulls())
    levels = [set(level.labels) for level in hierarchy.levels]
    for number, labels in enumerate(levels):
        if items <= labels:
            return number
    most = max(levels, key=lambda labels: len(items & labels))
    raise InputError.of(
        "an item that the hierarchy has, all items of a file at one level",
        file=history.name,
        column=ITEM,
        value=min(items - most),
    )


def roll_up(history: History, hierarchy: Hierarchy, level: int) -> History:
    """Put the label of a level in the place of each item, which may be a label of a finer level already."""
    hierarchy.check_level(level)
    if ITEM in history.absent or not history.kept.height:
        return history
    now = level_of(history, hierarchy)
    if now >= level:
        return history
    labels = dict(zip(hierarchy.labels_at(now), hierarchy.labels_at(level), strict=True))
    rolled = history.frame.with_columns(pl.col(ITEM).replace_strict(labels, return_dtype=pl.String))
    return History(rolled, history.name).with_more(history.carried, history.left_out)


def roll_together(known: History, seen: History, hierarchy: Hierarchy | None) -> tuple[History, History]:
    """Roll the finer of two histories up to the level of the other, so that their items can be compared."""
    if hierarchy is None or any(ITEM in one.absent or not one.kept.height for one in (known, seen)):
        return known, seen
    level = max(level_of(known, hierarchy), level_of(seen, hierarchy))
    return roll_up(known, hierarchy, level), roll_up(seen, hierarchy, level)
