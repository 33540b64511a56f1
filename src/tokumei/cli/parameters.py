"""Click commands made of functions: what a parameter takes is its type, and how it is called stands beside it.

`size: Annotated[int, Option("--size", min=1, help="Rows to draw.")] = 5` is an option of a command.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, ParamSpec, get_args, get_origin

import click

from tokumei.core.errors import InputError

OPTIONS_PANEL = "Options"
P = ParamSpec("P")


@dataclass(frozen=True)
class Option:
    """How an option is called, --name of its parameter if not stated, and what the help says of it.

    panel: the title in the help under which it stands.
    alone: what the option stands for where it is given without a value.
    """

    flag: str | None = None
    help: str = ""
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    panel: str = OPTIONS_PANEL
    alone: str | None = None


@dataclass(frozen=True)
class Names(Option):
    """An option whose value is names separated by commas."""

    metavar: str | None = "A,B,…"


@dataclass(frozen=True)
class Argument:
    """What the usage line calls an argument, and what the help says of it."""

    metavar: str
    help: str = ""
    min: float | None = None
    max: float | None = None


class PanelOption(click.Option):
    """An option that stands under a title of the help."""

    panel = OPTIONS_PANEL


class _Whole(click.IntRange):
    """A whole number between bounds."""

    name = "integer"


class _Within(click.FloatRange):
    """A number between bounds; NaN, which compares with none, is refused."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class _NameList(click.ParamType[list[str] | None]):
    """Names separated by commas."""

    name = "names"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[str] | None:
        """Read the names; an empty text is none where none are needed."""
        if isinstance(value, list) or param is None or not (value or param.required):
            return value if isinstance(value, list) else None
        return names(str(value), param.opts[0])


class _Member(click.Choice[Any]):
    """One of the values of an enumeration."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        """Return a member as it is typed: by its value, where Click would take its name."""
        return str(choice.value if isinstance(choice, Enum) else choice)


def shows_no_result(command: Callable[P, None]) -> Callable[P, None]:
    """Mark a command that runs until it is ended, so that it gets no --json."""
    command.shows_no_result = True  # type: ignore[attr-defined]
    return command


def parameters_of(function: Callable[..., Any]) -> list[click.Parameter]:
    """Return the options and arguments of a function, in the order of its parameters."""
    return [_parameter(one) for one in inspect.signature(function, eval_str=True).parameters.values()]


def _parameter(one: inspect.Parameter) -> click.Parameter:
    kind, about = get_args(one.annotation)
    if NoneType in get_args(kind):
        kind = get_args(kind)[0]
    is_several = get_origin(kind) is list and not isinstance(about, Names)
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    is_required = one.default is inspect.Parameter.empty
    given: dict[str, Any] = {"help": about.help, "required": is_required}
    if not is_required:
        given["default"] = one.default
    if is_several:
        given["callback"] = _listed
    if isinstance(about, Argument):
        n_words = -1 if is_several else 1
        return click.Argument([one.name], type=_type(kind, about), metavar=about.metavar, nargs=n_words, **given)
    if kind is bool:
        given["is_flag"] = True
    else:
        typed = _NameList() if isinstance(about, Names) else _type(kind, about)
        given |= {"type": typed, "multiple": is_several, "metavar": about.metavar or _metavar(kind)}
    if about.alone is not None:
        given |= {"is_flag": False, "flag_value": about.alone}
    option = PanelOption([one.name, about.flag or f"--{one.name.replace('_', '-')}"], show_default=True, **given)
    option.panel = about.panel
    return option


def _listed(_context: click.Context, _param: click.Parameter, values: Sequence[object] | None) -> list[Any] | None:
    return list(values) if values else None


def _type(kind: type, about: Option | Argument) -> Any:
    if issubclass(kind, Enum):
        return _Member(kind)
    if issubclass(kind, Path):
        return click.Path(path_type=Path)
    if not _is_bounded(about):
        return kind
    return _Whole(about.min, about.max) if kind is int else _Within(about.min, about.max)  # type: ignore[arg-type]


# What stands for a value in the help where a command names nothing better.
METAVARS = {int: "N", float: "X", str: "TEXT", Path: "FILE"}


def _metavar(kind: type) -> str:
    if issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    return METAVARS.get(kind, kind.__name__.upper())


def _is_bounded(about: Option | Argument) -> bool:
    return about.min is not None or about.max is not None


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
