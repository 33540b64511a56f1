"""Reading a TOML file in which every slip is told by file, line, key, value and what was expected."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError, UnknownPart, nearest
from tokumei.core.registry import Option, Registry, fit_option, part_options
from tokumei.core.text import Text, choice_of
from tokumei.data.files.disk import check_is_file

LARGEST_FILE = 1_000_000
LONGEST_TEXT = 2_000
MOST_PARTS = 10
# A key of dotted parts, bare or in quotes, or the head of a section.
DOTTED = re.compile(r"\s*\[{0,2}\s*[A-Za-z0-9_\"'-]+\s*\.")
_REQUIRED: Any = object()


@dataclass(frozen=True)
class Where:
    """A TOML text and the name of its file; knows on which line a setting stands, as far as the text tells."""

    file: str
    text: str

    def line(self, section: str, key: str, number: int | None = None) -> int | None:
        """Find a key of a section, of the numbered one where there are several; else where the section starts."""
        lines = self.text.splitlines()
        head = re.escape(section)
        starts = [at for at, line in enumerate(lines) if re.match(rf"\s*\[\[?\s*{head}\s*\]\]?\s*(#.*)?$", line)]
        place = (number or 1) - 1
        if place >= len(starts):
            return None
        for at in range(starts[place] + 1, len(lines)):
            if re.match(r"\s*\[", lines[at]):
                break
            if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", lines[at]):
                return at + 1
        return starts[place] + 1

    def fault(
        self, expected: str, section: str, key: str = "", value: object = None, number: int | None = None
    ) -> InputError:
        """Make the error for one setting."""
        place = f"[{section}] {key}".strip()
        return InputError.of(expected, file=self.file, line=self.line(section, key, number), column=place, value=value)


def read_toml(path: Path) -> tuple[Where, dict[str, Any]]:
    """Read a TOML file of reasonable size."""
    path = check_is_file(path)
    if path.stat().st_size > LARGEST_FILE:
        raise InputError.of(Text("a TOML file of at most {n:,} bytes", n=LARGEST_FILE), file=path)
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InputError.of("text in UTF-8", file=path) from None
    return parse_toml(text, str(path))


def parse_toml(text: str, file: str) -> tuple[Where, dict[str, Any]]:
    """Parse the text of a TOML file."""
    for number, written in enumerate(text.splitlines(), start=1):
        # A key of many parts takes the parser time by its square, and nobody needs one.
        key = written.partition("=")[0]
        if key.count(".") > MOST_PARTS and DOTTED.match(key):
            raise InputError.of(Text("keys of at most {n} parts", n=MOST_PARTS), file=file, line=number, value=key)
    try:
        return Where(file, text), tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise InputError.of(Text("TOML ({why})", why=error), file=file, line=int(at[1]) if at else None) from None
    except RecursionError:
        raise InputError.of("TOML that is not nested so deep", file=file) from None


@dataclass
class Section:
    """One section of the file; remembers which keys were asked for, so that any other is a slip."""

    where: Where
    name: str
    found: Mapping[str, Any]
    number: int | None = None
    asked: set[str] = field(default_factory=set)

    def fault(self, expected: str, key: str = "", value: object = None) -> InputError:
        """Make the error for one key."""
        return self.where.fault(expected, self.name, key, value, self.number)

    def get(self, key: str, expected: str, kinds: type | tuple[type, ...], default: Any = _REQUIRED) -> Any:
        """Return the value of a key; an error if it has another type, or is missing without a default."""
        self.asked.add(key)
        if key not in self.found:
            if default is _REQUIRED:
                raise self.fault(expected, key)
            return default
        value = self.found[key]
        # A truth value is a whole number to Python, but not to whoever writes a file.
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise self.fault(expected, key, value)
        return value

    def text(self, key: str, default: Any = _REQUIRED, *, expected: str = "text") -> str:
        """Return a text that is not empty."""
        value: str = self.get(key, expected, str, default)
        if key in self.found and not (value.strip() and len(value) <= LONGEST_TEXT):
            raise self.fault(f"{expected} of 1 to {LONGEST_TEXT:,} characters", key, value)
        return value

    def maybe_text(self, key: str, expected: str) -> str | None:
        """Return a text, even of blanks, or None where the key is missing."""
        value: str | None = self.get(key, expected, str, None)
        if value is not None and not 0 < len(value) <= LONGEST_TEXT:
            raise self.fault(expected, key, value)
        return value

    def choice(self, key: str, known: Collection[str], default: Any = _REQUIRED) -> str:
        """Return one of some words."""
        value: str = self.get(key, choice_of(known), str, default)
        if value not in known:
            raise self.fault(_wanted(value, known), key, value)
        return value

    def number_between(self, key: str, least: float, most: float, default: Any = _REQUIRED) -> float:
        """Return a number within bounds."""
        expected = Text("a number from {n:g} to {m:g}", n=least, m=most)
        value = self.get(key, expected, (int, float), default)
        if not least <= value <= most:
            raise self.fault(expected, key, value)
        return float(value)

    def whole(self, key: str, least: int, most: int, default: Any = _REQUIRED) -> int:
        """Return a whole number within bounds."""
        expected = Text("a whole number from {n:,} to {m:,}", n=least, m=most)
        value: int = self.get(key, expected, int, default)
        if not least <= value <= most:
            raise self.fault(expected, key, value)
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value: bool = self.get(key, "true or false", bool, default)
        return value

    def names(self, key: str, default: Any = _REQUIRED, *, known: Collection[str] | None = None) -> tuple[str, ...]:
        """Return a list of distinct names, each of the known ones where these are listed."""
        values = self.get(key, 'a list of names such as ["a", "b"]', list, default)
        for value in values:
            if not isinstance(value, str) or not value:
                raise self.fault('a list of names such as ["a", "b"]', key, value)
            if known is not None and value not in known:
                raise self.fault(_wanted(value, known), key, value)
        if len(set(values)) < len(values):
            raise self.fault("each name once", key, ", ".join(values))
        return tuple(values)

    def section(self, key: str) -> Section:
        """Return a section within this one, empty where it is missing."""
        found = self.get(key, f"a section [{self.name}.{key}]", dict, {})
        return Section(self.where, f"{self.name}.{key}", found)

    def finish(self) -> None:
        """Refuse the keys that nobody asked for, naming the nearest."""
        for key, value in self.found.items():
            if key not in self.asked:
                raise self.fault(f"a key of [{self.name}]: {_wanted(key, self.asked)}", key, value)


def make_part(section: Section, registry: Registry[Any], name: str, options: Mapping[str, Any]) -> Any:
    """Make the part of a name with its options, as written in the file."""
    try:
        known = {option.name: option for option in part_options(registry.get(name))}
    except UnknownPart:
        raise section.fault(f"a {registry.kind}: {_wanted(name, registry.names())}", "name", name) from None
    fitted = {}
    for key, value in options.items():
        if key not in known:
            raise section.fault(f"an option of '{name}': {_wanted(key, known)}", "options", key)
        fitted[key] = _fitted(section, known[key], value)
    for option in known.values():
        if option.is_required and option.name not in fitted:
            raise section.fault(f"the option {option.name} of '{name}'", "options")
    return registry.make(name, **fitted)


def _fitted(section: Section, option: Option, value: object) -> Any:
    try:
        return fit_option(option, value)
    except ValueError:
        raise section.fault(f"{option.type_name} as the option {option.name}", "options", value) from None


def _wanted(given: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = nearest(given, names)
    return f"'{near}'" if near else choice_of(names)
