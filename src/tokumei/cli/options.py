"""Options that several commands share, and how lists and pairs are read from them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.core.errors import InputError

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A CSV, Parquet or Excel file, a folder or '*.parquet', or a table of the engine."
    ),
]
HierarchiesOption = Annotated[
    Path | None, typer.Option("--hierarchies", metavar="DIR", help="Folder with one hierarchy file for each column.")
]
EngineOption = Annotated[
    str, typer.Option("--engine", help="local, duckdb, spark, or an address as postgresql://host/db.")
]
RuleOption = Annotated[
    str, typer.Option("--rule", help="What must reach k: low, the low end of the band, or k itself, as in the thesis.")
]
LargestOption = Annotated[
    int | None, typer.Option("--largest", min=2, help="Largest class count that the power law is fitted on.")
]
NNodesOption = Annotated[
    int | None, typer.Option("--n-nodes", min=2, help="How many nodes the power law is fitted on, smallest first.")
]
CautionOption = Annotated[
    float | None, typer.Option("--caution", min=0, max=0.5, help="Chance that k lies below the band, and above it.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace outputs that exist.")]
DeskOption = Annotated[Path, typer.Option("--desk", metavar="DIR", help="The folder of the offer's desk.")]
ProviderKeyOption = Annotated[Path, typer.Option("--key", metavar="NAME.key", help="The provider's key, to sign with.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
ItemHierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", metavar="item=FILE", help="Categories of items: a line an item, its levels after it."),
]
DrawOption = Annotated[
    str,
    typer.Option(
        "--draw",
        metavar="contest|uniform",
        help="How known rows are drawn: so that nobody is left without one, as in PWSCUP 2017, or all alike.",
    ),
]


def names(text: str, option: str) -> list[str]:
    """Read names separated by commas; one that holds a comma stands in quotes, as in '"income, yearly",age'."""
    found = [_unquoted(name) for name in _parts(text, ",", option) if name.strip()]
    if not found:
        raise InputError.of("names separated by commas", option=option, value=text)
    for name in found:
        if found.count(name) > 1:
            raise InputError.of("each name once", option=option, value=name)
    return found


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """Read pairs such as age=2; several may stand in one text, separated by commas, and names in quotes."""
    found: dict[str, str] = {}
    for part in (part.strip() for text in texts for part in _parts(text, ",", option)):
        name, *values = _parts(part, "=", option)
        if not values or not name.strip():
            raise InputError.of("name=value", option=option, value=part)
        if _unquoted(name) in found:
            raise InputError.of("each name once", option=option, value=part)
        found[_unquoted(name)] = _unquoted("=".join(values))
    return found


def _parts(text: str, mark: str, option: str) -> list[str]:
    """Cut a text at each mark outside quotes."""
    if text.count('"') % 2:
        raise InputError.of("a closing quote for each opening one", option=option, value=text)
    # Of the pieces between quotes every second one is inside.
    pieces = [piece if index % 2 else piece.replace(mark, "\0") for index, piece in enumerate(text.split('"'))]
    return '"'.join(pieces).split("\0")


def _unquoted(name: str) -> str:
    """Take the quotes off a name; what is inside stays as it is, blanks at its ends included."""
    name = name.strip()
    is_quoted = len(name) > 1 and name.startswith('"') and name.endswith('"')
    return name[1:-1].replace('""', '"') if is_quoted else name


def part_options(
    texts: list[str] | None, function: Callable[..., Any] | None = None, *, option: str = "--set"
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
