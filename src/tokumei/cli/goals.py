"""What is asked of a release of a table, as options of the commands that make and compare releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.cli.options import names, pairs
from tokumei.core.errors import InputError
from tokumei.data.files.reading import Reading

if TYPE_CHECKING:
    from tokumei.data.table import Table

QiOption = Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers: what others may know.")]
SuppressOption = Annotated[float, typer.Option("--suppress", help="Share of rows that may be left out, 0 to 1.")]
LossOption = Annotated[
    str | None,
    typer.Option(
        "--loss", help="What to keep small: ncp (default), prec, dis, entropy, dm, average-class-size, price."
    ),
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="For --loss price: attribute, label and price as CSV.")
]
WeightsOption = Annotated[
    list[str] | None, typer.Option("--weights", metavar="A=2,B=1", help="How much each column's loss counts.")
]
PreferOption = Annotated[
    str | None, typer.Option("--prefer", metavar="A,B,…", help="Columns to keep finest, among equal losses.")
]
NumericOption = Annotated[
    str | None,
    typer.Option("--numeric", metavar="A,B,…", help="Columns of numbers; those that hold numbers if not given."),
]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", metavar="COLUMN=FILE", help="The hierarchy of one column; repeatable."),
]


def goal_options(
    suppress: float,
    loss: str | None,
    prices: Path | None,
    weights: list[str] | None,
    prefer: str | None,
    population: str | None = None,
) -> dict[str, Any]:
    """Return the goal of a release beside its requirements, as the jobs take it."""
    return {
        "suppress": suppress,
        "loss": loss,
        "prices": prices,
        "weights": {name: _weight(name, text) for name, text in pairs(weights or [], "--weights").items()},
        "prefer": names(prefer, "--prefer") if prefer else [],
        "population": population,
    }


def hierarchies_of(folder: Path | None, alone: list[str] | None) -> Any:
    """Return the hierarchies as the jobs take them: a folder, files by column, both or nothing."""
    if folder is None and not alone:
        return None
    return columns_of(alone) | ({} if folder is None else {"": folder})


def columns_of(alone: list[str] | None) -> dict[str, Any]:
    """Read the files of single columns, as in age=ages.csv; a file's name may hold a comma."""
    found: dict[str, Any] = {}
    for text in alone or []:
        name, mark, file = text.rpartition("=")
        if not mark or not name or not file:
            raise InputError.of("COLUMN=FILE", option="--hierarchy", value=text)
        found[name.strip().strip('"')] = Path(file)
    return found


def read_table(
    file: Any,
    qi: list[str],
    sensitive: list[str],
    reading: Reading,
    *,
    hierarchies: Any = None,
    numeric: list[str] | None = None,
) -> Table:
    """Read the table of a command."""
    from tokumei.data.table import Table

    return Table(file, qi, sensitive, hierarchies=hierarchies, numeric=numeric, reading=reading)


def _weight(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError.of("a number", option=f"--weights {name}", value=text) from None
