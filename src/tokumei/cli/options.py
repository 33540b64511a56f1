"""Options that several commands share, and how lists and pairs are read from them.

The options of reading files are the same in every command that reads: `@reads_tables`, `@reads_histories`. A command
has one parameter `reading`; the decorator puts the options in its place and hands them over as one object.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

from tokumei.cli.parameters import Argument, Names, Option, pairs
from tokumei.core.errors import InputError, nearest
from tokumei.core.text import choice_of
from tokumei.data.files.reading import Reading

SourceArgument = Annotated[
    str,
    Argument(
        metavar="FILE",
        help="A file (CSV, Parquet, Excel, JSON, Stata, …), a folder or '*.parquet', or a table of the engine.",
    ),
]
HierarchiesOption = Annotated[
    Path | None, Option("--hierarchies", metavar="DIR", help="Folder with one hierarchy file for each column.")
]
EngineOption = Annotated[str, Option("--engine", help="local, duckdb, spark, or an address as postgresql://host/db.")]
RuleOption = Annotated[
    str, Option("--rule", help="What must reach k: low, the low end of the band, or k itself, as in the thesis.")
]
LargestOption = Annotated[
    int | None, Option("--largest", min=2, help="Largest class count that the power law is fitted on.")
]
NNodesOption = Annotated[
    int | None, Option("--n-nodes", min=2, help="How many nodes the power law is fitted on, smallest first.")
]
CautionOption = Annotated[
    float | None, Option("--caution", min=0, max=0.5, help="Chance that k lies below the band, and above it.")
]
ForceOption = Annotated[bool, Option("--force", help="Overwrite outputs that exist.")]
DeskOption = Annotated[Path, Option("--desk", metavar="DIR", help="The folder of the offer's desk.")]
ProviderKeyOption = Annotated[Path, Option("--key", metavar="NAME.key", help="The provider's key, to sign with.")]
SeedOption = Annotated[int, Option("--seed", min=0, help="The same seed gives the same result.")]
ItemHierarchyOption = Annotated[
    list[str] | None,
    Option("--hierarchy", metavar="item=FILE", help="Categories of items: a line an item, its levels after it."),
]
DrawOption = Annotated[
    str,
    Option(
        "--draw",
        metavar="contest|uniform",
        help="How known rows are drawn: so that nobody is left without one, as in PWSCUP 2017, or all alike.",
    ),
]


def part_options(
    texts: list[str] | None, function: Callable[..., object] | None = None, *, option: str = "--set"
) -> dict[str, str]:
    """Read the options of a part, each name=value; not split at commas, since a value may itself be a list.

    function: what the options are handed to as keywords; those that it has itself are the command's own.
    option: the option that they were given by.
    """
    found: dict[str, str] = {}
    taken = () if function is None else signature(function).parameters
    for text in texts or []:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise InputError.of("name=value", option=option, value=text)
        key = name.strip().replace("-", "_")
        if key in taken:
            raise InputError.of("an option of the part, not of the command", option=option, value=text)
        found[key] = value
    return found


def level_pairs(texts: list[str]) -> dict[str, int]:
    """Read levels such as age=2,sex=1."""
    levels: dict[str, int] = {}
    for name, value in pairs(texts, "--levels").items():
        if not value.isdecimal():
            raise InputError.of("a level as a whole number", option=f"--levels {name}", value=value)
        levels[name] = int(value)
    return levels


def columns_of(alone: list[str] | None, option: str = "--hierarchy") -> dict[str, Path]:
    """Read the files of single columns, as in age=ages.csv; a file's name may hold a comma."""
    found: dict[str, Path] = {}
    for text in alone or []:
        name, mark, file = text.rpartition("=")
        if not mark or not name or not file:
            raise InputError.of("COLUMN=FILE", option=option, value=text)
        found[name.strip().strip('"')] = Path(file)
    return found


def item_file(texts: list[str] | None) -> Path | None:
    """Read the file of the item hierarchy, as in item=categories.csv."""
    found = columns_of(texts)
    for column in found:
        if column != "item":
            raise InputError.of("item=FILE, the one column that has categories", option="--hierarchy", value=column)
    return found.get("item")


PANEL = "How files are read"
# What a history knows of a purchase; `tokumei.data.history` has their types, and takes long to import.
ROLES = ("customer", "invoice", "date", "time", "item", "price", "quantity")

Delimiter = Annotated[
    str | None,
    Option(
        "--delimiter",
        panel=PANEL,
        help="Delimiter of a text file; 'blanks' for any run of blanks. Detected if not given.",
    ),
]
Encoding = Annotated[
    str | None, Option("--encoding", panel=PANEL, help="Of a text file, such as cp932 or cp1252; found if not given.")
]
Sheet = Annotated[str | None, Option("--sheet", panel=PANEL, help="The sheet of a workbook that has several.")]
SkipRows = Annotated[int, Option("--skip-rows", min=0, panel=PANEL, help="How many lines stand above the header.")]
NullValues = Annotated[
    list[str] | None, Names("--null-values", panel=PANEL, help="Texts that stand for a missing value.")
]
NoHeader = Annotated[
    bool, Option("--no-header", panel=PANEL, help="The first line is data; columns are called 1, 2, 3, …")
]
Trim = Annotated[
    bool,
    Option(
        "--trim",
        panel=PANEL,
        help="Strip blanks from the ends of names and cells; done anyway where every delimiter is followed by one.",
    ),
]
Rename = Annotated[
    bool,
    Option("--rename", panel=PANEL, help="Read the second column of a name as name_2, an unnamed third as column_3."),
]
Codes = Annotated[
    bool, Option("--codes", panel=PANEL, help="Keep codes where a file of Stata, SAS or SPSS has labels for them.")
]
Columns = Annotated[
    list[str] | None,
    Option(
        "--columns",
        metavar="ROLE=NAME,…",
        panel=PANEL,
        help=f"Which column is the {', '.join(ROLES)}, as in customer=household_id; nothing after = if there is none. "
        "item=lat+lon@0.01 makes cells of a grid of coordinates.",
    ),
]
DateFormat = Annotated[
    str | None,
    Option(
        "--date-format",
        metavar="FORMAT",
        panel=PANEL,
        help="How dates are written, as in %m/%d/%Y; %s and %Q are seconds and milliseconds since 1970. Year first, "
        "with or without a time, is found.",
    ),
]
Format = Annotated[
    str | None,
    Option(
        "--format",
        metavar="FORMAT",
        panel=PANEL,
        help="table (with a header), pwscup2016, pwscup2017 or pwscup2018; told by the first line if not given.",
    ),
]
OF_TABLES: dict[str, tuple[object, object]] = {
    "delimiter": (Delimiter, None),
    "encoding": (Encoding, None),
    "sheet": (Sheet, None),
    "skip_rows": (SkipRows, 0),
    "null_values": (NullValues, None),
    "no_header": (NoHeader, False),
    "trim": (Trim, False),
    "rename": (Rename, False),
    "codes": (Codes, False),
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
    return Reading(
        encoding=given["encoding"],
        delimiter=_unescaped(given["delimiter"]),
        sheet=given["sheet"],
        skip_rows=given["skip_rows"],
        null_values=tuple(given["null_values"] or ()),
        has_header=not given["no_header"],
        trim=given["trim"],
        rename=given["rename"],
        codes=given["codes"],
        columns=columns,
        date_format=given.get("date_format"),
        format=given.get("format"),
    )


def _unescaped(delimiter: str | None) -> str | None:
    # Few shells let one type a tab.
    return "\t" if delimiter in ("\\t", "tab") else delimiter


def _with_options(command: Command, options: dict[str, tuple[object, object]]) -> Command:
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
