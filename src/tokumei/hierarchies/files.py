"""Hierarchies as files: the CSV form that ARX uses, one line for each value, one column for each level."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.csv import DELIMITERS, find_delimiter, first_bytes, read_csv, write_csv
from tokumei.data.files.source import check_is_file
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
