"""The options of reading files, the same in every command that reads: `@reads_tables`, `@reads_histories`.

A command has one parameter `reading`; the decorator puts the options in its place and hands them over as one object.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tokumei.cli.options import names, pairs
from tokumei.core.errors import InputError, nearest
from tokumei.core.wording import choice_of
from tokumei.data.files.reading import Reading

PANEL = "How files are read"
# What a history knows of a purchase; `tokumei.data.history` has their types, and takes long to import.
ROLES = ("customer", "invoice", "date", "time", "item", "price", "quantity")

Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        rich_help_panel=PANEL,
        help="Separates the cells of a text file; 'blanks' for any run of blanks. Found if not given.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", rich_help_panel=PANEL, help="Of a text file, such as cp932 or cp1252; found if not given."
    ),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", rich_help_panel=PANEL, help="The sheet of a workbook that has several.")
]
SkipRows = Annotated[
    int, typer.Option("--skip-rows", min=0, rich_help_panel=PANEL, help="How many lines stand above the header.")
]
NullValues = Annotated[
    str | None,
    typer.Option("--null-values", metavar="A,B,…", rich_help_panel=PANEL, help="Texts that stand for a missing value."),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", rich_help_panel=PANEL, help="The first line is data; columns are called 1, 2, 3, …"),
]
Trim = Annotated[
    bool,
    typer.Option(
        "--trim",
        rich_help_panel=PANEL,
        help="Leave out blanks at the ends of names and cells; so anyway where one stands after every delimiter.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="ROLE=NAME,…",
        rich_help_panel=PANEL,
        help=f"Which column is the {', '.join(ROLES)}, as in customer=household_id; nothing after = if there is none.",
    ),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format",
        metavar="FORMAT",
        rich_help_panel=PANEL,
        help="How dates are written, as in %m/%d/%Y; year first, with or without a time, is found.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        rich_help_panel=PANEL,
        help="table (with a header), pwscup2016, pwscup2017 or pwscup2018; told by the first line if not given.",
    ),
]
OF_TABLES: dict[str, tuple[Any, Any]] = {
    "delimiter": (Delimiter, None),
    "encoding": (Encoding, None),
    "sheet": (Sheet, None),
    "skip_rows": (SkipRows, 0),
    "null_values": (NullValues, None),
    "no_header": (NoHeader, False),
    "trim": (Trim, False),
}
OF_HISTORIES = OF_TABLES | {"columns": (Columns, None), "date_format": (DateFormat, None), "format": (Format, None)}

Command = Callable[..., None]


def reads_tables(command: Command) -> Command:
    """Add the options of reading tables to a command."""
    return _with_options(command, OF_TABLES)


def reads_histories(command: Command) -> Command:
    """Add the options of reading histories to a command: those of tables, and which column is what."""
    return _with_options(command, OF_HISTORIES)


def reading_of(given: dict[str, Any]) -> Reading:
    """Read the options as they were typed."""
    columns = pairs(given.get("columns") or [], "--columns")
    for role in columns:
        if role not in ROLES:
            near = nearest(role, ROLES)
            expected = f"'{near}'" if near else choice_of(ROLES)
            raise InputError.of(f"{expected} before =", option="--columns", value=role)
    nulls = given["null_values"]
    return Reading(
        encoding=given["encoding"],
        delimiter=_unescaped(given["delimiter"]),
        sheet=given["sheet"],
        skip_rows=given["skip_rows"],
        null_values=tuple(names(nulls, "--null-values")) if nulls else (),
        has_header=not given["no_header"],
        trim=given["trim"],
        columns=columns,
        date_format=given.get("date_format"),
        format=given.get("format"),
    )


def _unescaped(delimiter: str | None) -> str | None:
    # Few shells let one type a tab.
    return "\t" if delimiter in ("\\t", "tab") else delimiter


def _with_options(command: Command, options: dict[str, tuple[Any, Any]]) -> Command:
    signature = inspect.signature(command, eval_str=True)
    own = [part for name, part in signature.parameters.items() if name != "reading"]
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, keyword, default=default, annotation=kind) for name, (kind, default) in options.items()
    ]
    # By name alone, so that what has no default may stand after what has one.
    parts = [*(part.replace(kind=keyword) for part in own), *added]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        typed = {name: given.pop(name) for name in options}
        reading = reading_of(typed)
        try:
            command(**given, reading=reading)
        except InputError as error:
            # What looks at columns need not know where they come from; a command with one file does.
            file = given.get("file") or given.get("data")
            if file is None:
                raise
            raise error.within(file) from error

    run.__signature__ = signature.replace(parameters=parts)  # type: ignore[attr-defined]
    run.__annotations__ = {part.name: part.annotation for part in parts}
    return run
