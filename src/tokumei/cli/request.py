"""What is asked of a release, as options of the commands: `@asks(ReleaseRequest)` makes them of its fields.

A command has one parameter `request`; the decorator puts the options in its place and hands them over as one object.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tokumei.cli.options import columns_of
from tokumei.cli.parameters import OPTIONS_PANEL, Names, Option, names, pairs
from tokumei.core.errors import InputError
from tokumei.core.text import JsonView
from tokumei.data.files.reading import Reading
from tokumei.tasks.request import Kind, ReleaseRequest, Requirements, request_fields, role_fields

if TYPE_CHECKING:
    from tokumei.data.table import Table

Command = Callable[..., None]
# How an option of each kind is typed; what it is where it is not given stands with the field.
TYPED: Mapping[Kind, Any] = {
    Kind.WHOLE: int | None,
    Kind.SHARE: float | None,
    Kind.FLAG: bool,
    Kind.LEVELS: list[str] | None,
    Kind.WEIGHTS: list[str] | None,
}
# Stands for all columns where an option is given without any.
ALL = "*"
# What a mark in the notation of a number stands for, where it does not say so itself.
SAID = {"WHOSE": "WHOSE shares count where rows are left out"}
QiOption = Annotated[list[str], Names("--qi", help="The quasi-identifiers: what others may know.")]
NumericOption = Annotated[list[str] | None, Names("--numeric", help="Numeric columns; detected if not given.")]
HierarchyOption = Annotated[
    list[str] | None, Option("--hierarchy", metavar="COLUMN=FILE", help="The hierarchy of one column; repeatable.")
]


ArxOption = Annotated[
    Path | None,
    Option(
        "--from-arx",
        metavar="FILE.deid",
        help="A project of ARX: the roles of columns, their hierarchies, the original and the privacy models are taken "
        "from it where they are not given. A release of as many rows has their order.",
    ),
]
SensitiveColumnsOption = Annotated[
    list[str] | None,
    Names(
        "--sensitive",
        help="The columns others want to learn; they are released, too. A number such as --l-diversity 2 is for each.",
    ),
]
PersonOption = Annotated[
    str | None,
    Option("--person", metavar="COLUMN", help="The column that tells whose a row is, where people have several."),
]
HouseholdOption = Annotated[
    str | None, Option("--household", metavar="COLUMN", help="The column that tells whose household a row is of.")
]


def asks(kind: type[Requirements], *without: str, panel: str = OPTIONS_PANEL) -> Callable[[Command], Command]:
    """Add the options of a request to a command, but for some that it ignores.

    panel: the heading that they stand under in the help.
    """
    wanted = [one for one in (*role_fields(kind), *request_fields(kind)) if one.name not in without]

    def decorated(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        parts: list[inspect.Parameter] = []
        for part in signature.parameters.values():
            if part.name != "request":
                parts.append(part.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            parts += [_parameter(one.name, one.metadata, panel) for one in wanted]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            typed = {one.name: _read(one.name, one.metadata["kind"], given.pop(one.name)) for one in wanted}
            command(**given, request=kind(**{name: value for name, value in typed.items() if value is not None}))

        run.__signature__ = signature.replace(parameters=parts)  # type: ignore[attr-defined]
        run.__annotations__ = {part.name: part.annotation for part in parts}
        return run

    return decorated


def with_sensitive(request: ReleaseRequest, sensitive: list[str] | None) -> ReleaseRequest:
    """Return a request whose sensitive columns have every number that names none, and are released."""
    listed = sensitive or []
    made = request.of_columns(listed)
    there = {*made.sensitive_columns(), *made.keep}
    return replace(made, keep=[*made.keep, *(name for name in listed if name not in there)])


def hierarchies_of(folder: Path | None, alone: list[str] | None) -> object:
    """Return the hierarchies as a request has them: a folder, files by column, both or nothing."""
    if folder is None and not alone:
        return None
    return columns_of(alone) | ({} if folder is None else {"": folder})


def read_table(
    file: object,
    qi: list[str],
    sensitive: list[str],
    reading: Reading,
    *,
    hierarchies: object = None,
    numeric: list[str] | None = None,
) -> Table:
    """Read the table of a command."""
    from tokumei.data.table import Table

    return Table(file, qi, sensitive, hierarchies=hierarchies, numeric=numeric, reading=reading)


def _parameter(name: str, about: JsonView, panel: str) -> inspect.Parameter:
    """Make the option of a field."""
    flag, kind = _flag(name), about["kind"]
    least = 1 if kind == Kind.WHOLE else None
    alone = ALL if kind == Kind.FLAG_OR_NAMES else None
    option = Option(flag, metavar=about["metavar"], help=_help(about), min=least, panel=panel, alone=alone)
    typed = Annotated[TYPED.get(kind, str | None), option]  # type: ignore[valid-type]
    default = False if kind == Kind.FLAG else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=typed)


def _help(about: JsonView) -> str:
    """Return the help of a field with the words that may be typed."""
    said = [about["help"]]
    if about["words"]:
        said.append(f"One of {', '.join(about['words'])}.")
    if about["then"]:
        marks = [f":{mark}" for mark in about["then"]]
        shorter = ["".join(marks[: n + 1]) for n in range(len(marks))]
        said.append(f"After the number {' or '.join(shorter)}.")
        said += [f"{SAID.get(mark, mark)}: {', '.join(words)}." for mark, words in about["then"].items()]
    return " ".join(said)


def _read(name: str, kind: Kind, value: Any) -> Any:
    """Read an option as the field has it."""
    if not value and kind != Kind.SHARE:
        return None
    if kind == Kind.FLAG_OR_NAMES and value == ALL:
        return True
    if kind in (Kind.NAMES, Kind.FLAG_OR_NAMES):
        return names(value, _flag(name))
    if kind == Kind.LEVELS:
        return _levels(value, _flag(name))
    if kind == Kind.WEIGHTS:
        return {column: _number(column, text, _flag(name)) for column, text in pairs(value, _flag(name)).items()}
    return value


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _levels(texts: list[str], option: str) -> dict[str, list[str]] | str:
    """Read options of the form COLUMN=NUMBER or COLUMN=NUMBER:KIND; a column may have several.

    A number alone is for every sensitive column.
    """
    found: dict[str, list[str]] = {}
    if len(texts) == 1 and re.match(r"[.0-9]+(:|$)", texts[0]):
        return texts[0]
    for text in texts:
        column, mark, rest = text.rpartition("=")
        column = column.strip().strip('"')
        if not mark or not column:
            raise InputError.of("COLUMN=NUMBER", option=option, value=text)
        found.setdefault(column, []).append(rest)
    return found


def _number(name: str, text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError.of("a number", option=f"{option} {name}", value=text) from None
