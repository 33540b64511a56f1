"""Parts by name: every measure, attack, method and edition.

A part is a frozen dataclass whose fields are its options. A registry lists the names of its parts by the module that
has them; the class of `same-day` is `SameDay`. A module is imported only when one of its parts is asked for. Other
packages add parts by an entry point in the registry's group:

    [project.entry-points."tokumei.attacks.history"]
    my-attack = "my_package.my_attack:MyAttack"
"""

from __future__ import annotations

import importlib
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from tokumei.core.errors import DuplicatePart, InputError, UnknownPart
from tokumei.core.fields import fit, type_name, wanted
from tokumei.core.text import Text, choice_of

P = TypeVar("P")


@dataclass(frozen=True)
class Option:
    """One option of a part, as read from its dataclass field."""

    name: str
    type: Any
    default: Any
    help: str
    # Names a file of this machine, which nobody may name from afar.
    is_file: bool = False

    @property
    def is_required(self) -> bool:
        """Whether the part cannot be made without it."""
        return self.default is MISSING

    @property
    def type_name(self) -> str:
        """The type in words, as shown on the command line."""
        return type_name(self.type)


class Registry(Generic[P]):
    """The parts of one kind: built-in ones by module, and the entry points of others.

    parts: by the name of a module of the package, the names of the parts that it has.
    group: of entry points; the package's name if not given.
    """

    def __init__(
        self, kind: str, package: str, parts: Mapping[str, Sequence[str]], *, group: str | None = None
    ) -> None:
        self.kind = kind
        self.package = package
        self.parts = parts
        self.group = group or package

    @cached_property
    def _found(self) -> dict[str, str | EntryPoint]:
        """Where each part is, by name; nothing is imported."""
        found: dict[str, str | EntryPoint] = {
            name: f"{self.package}.{module}" for module, names in self.parts.items() for name in names
        }
        for point in entry_points(group=self.group):
            if point.name in found:
                raise DuplicatePart(f"Two parts claim the {self.kind} name '{point.name}'; one is {point.value}.")
            found[point.name] = point
        return found

    def names(self) -> list[str]:
        """All names, in alphabetical order."""
        return sorted(self._found)

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def get(self, name: str) -> type[P]:
        """Import the part of that name; UnknownPart tells the nearest name."""
        if name not in self._found:
            raise UnknownPart(self.kind, name, self._found)
        where = self._found[name]
        if isinstance(where, EntryPoint):
            part: object = where.load()
        else:
            part = getattr(importlib.import_module(where), class_name(name))
        if not (isinstance(part, type) and is_dataclass(part)):
            raise TypeError(f"The {self.kind} '{name}' must be a dataclass, whose fields are its options.")
        return typing.cast("type[P]", part)

    def make(self, name: str, **options: object) -> P:
        """Make the part with these options; unknown and missing options are input errors."""
        return make_part(self.get(name), options, kind=self.kind, name=name)

    def make_from_text(self, name: str, options: Mapping[str, str]) -> P:
        """Make the part from options as typed on a command line."""
        return make_part_from_text(self.get(name), options, kind=self.kind, name=name)


def make_part(part: type[P], options: Mapping[str, object], *, kind: str, name: str) -> P:
    """Make a part with these options; unknown and missing options are input errors."""
    known = {option.name: option for option in part_options(part)}
    for given in options:
        if given not in known:
            raise InputError.of(
                Text("an option of the {sort} '{name}': {names}", sort=kind, name=name, names=wanted(given, known)),
                value=given,
            )
    for option in known.values():
        if option.is_required and option.name not in options:
            raise InputError.of(
                Text("the option '{option}' of the {sort} '{name}'", option=option.name, sort=kind, name=name)
            )
    return part(**options)


def make_part_from_text(part: type[P], options: Mapping[str, str], *, kind: str, name: str) -> P:
    """Make a part from options as typed on a command line."""
    known = {option.name: option for option in part_options(part)}
    values = {given: read_option(known[given], text) if given in known else text for given, text in options.items()}
    return make_part(part, values, kind=kind, name=name)


def class_name(name: str) -> str:
    """Return the name of a part's class: `same-day` → `SameDay`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("-"))


def part_name(part: object) -> str:
    """Return the name of a part or of its class: `SameDay` → `same-day`."""
    kind = part if isinstance(part, type) else type(part)
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


def part_options(part: type) -> list[Option]:
    """Read the options of a part from its dataclass fields."""
    hints = typing.get_type_hints(part)
    return [
        Option(
            name=field.name,
            type=hints[field.name],
            default=field.default_factory() if field.default_factory is not MISSING else field.default,
            help=field.metadata.get("help", ""),
            is_file=field.metadata.get("is_file", False),
        )
        for field in fields(part)
        if field.init
    ]


def read_option(option: Option, text: str) -> object:
    """Read one option from text by the type of its field."""
    try:
        return fit(option.type, text, is_typed=True)
    except ValueError:
        raise InputError.of(option.type_name, column=option.name, value=text) from None


def preset_of(
    kind: type[P], presets: Mapping[str, P], asked: str | P, changes: Mapping[str, object], *, sort: str
) -> P:
    """Return a preset by its name, or the part itself, with some of its options changed.

    changes: values, or their texts as typed on a command line. sort: what presets are called in an error.
    """
    if isinstance(asked, str):
        name = asked.replace("_", "-")
        if name not in presets:
            raise UnknownPart(sort, asked, presets)
        asked = presets[name]
    known = {option.name: option for option in part_options(kind)}
    for name in changes:
        if name not in known:
            raise InputError.of(choice_of(known), option=name)
    read = {
        name: read_option(known[name], value) if isinstance(value, str) else value for name, value in changes.items()
    }
    return replace(asked, **read)  # type: ignore[type-var]
