"""Reading a TOML file in which every slip is told by file, line, key, value and what was expected."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.fields import Fields, fit, wanted
from tokumei.core.registry import Registry, part_options
from tokumei.core.text import JsonView, Text
from tokumei.data.files.disk import check_is_file

P = TypeVar("P")
LARGEST_FILE = 1_000_000
MOST_PARTS = 10
# A key of dotted parts, bare or in quotes, or the head of a section.
DOTTED = re.compile(r"\s*\[{0,2}\s*[A-Za-z0-9_\"'-]+\s*\.")


@dataclass(frozen=True)
class Where:
    """A TOML text and the name of its file; knows on which line a setting stands, as far as the text tells."""

    file: str | None
    text: str

    def line(self, section: str, key: str, number: int | None = None) -> int | None:
        """Find a key of a section, of the nth where there are several; else where the section starts.

        A section without a name is what stands above all sections.
        """
        lines = self.text.splitlines()
        head = re.compile(rf"\s*\[\[?\s*{re.escape(section)}\s*\]\]?\s*(#.*)?$")
        starts = [at for at, line in enumerate(lines) if head.match(line)] if section else [-1]
        place = (number or 1) - 1
        if place >= len(starts):
            return None
        for at in range(starts[place] + 1, len(lines)):
            if re.match(r"\s*\[", lines[at]):
                break
            if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", lines[at]):
                return at + 1
        return starts[place] + 1 or None

    def fault(
        self, expected: str, section: str, key: str = "", value: object = None, number: int | None = None
    ) -> InputError:
        """Make the error for one setting."""
        place = f"[{section}] {key}".strip()
        return InputError.of(expected, file=self.file, line=self.line(section, key, number), column=place, value=value)


def read_toml(path: Path) -> tuple[Where, dict[str, object]]:
    """Read a TOML file of reasonable size."""
    path = check_is_file(path)
    if path.stat().st_size > LARGEST_FILE:
        raise InputError.of(Text("a TOML file of at most {n:,} bytes", n=LARGEST_FILE), file=path)
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InputError.of("text in UTF-8", file=path) from None
    return parse_toml(text, str(path))


def parse_toml(text: str, file: str) -> tuple[Where, dict[str, object]]:
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
class Section(Fields):
    """One section of the file; the nth where there are several."""

    where: Where
    name: str
    found: JsonView
    nth: int | None = None
    asked: set[str] = field(default_factory=set)

    def fault(self, expected: str, key: str = "", value: object = None) -> InputError:
        """Make the error for one key."""
        return self.where.fault(expected, self.name, key, value, self.nth)

    def inside(self, key: str) -> Section:
        """Return a section within this one, empty where it is missing."""
        found = self.get(key, f"a section [{self.name}.{key}]", dict, {})
        return Section(self.where, f"{self.name}.{key}", found)


def make_part(
    section: Section,
    registry: Registry[P],
    name: str,
    options: Mapping[str, object],
    *,
    kind: str | None = None,
    key: str = "name",
    inside: str | None = "options",
) -> P:
    """Make the part of a name with its options, as written in the file.

    kind: what it is called in the file; as in the registry if not given.
    key: under which the name stands.
    inside: the key of the table of the options; None where they stand in the section itself.
    """
    try:
        known = {option.name: option for option in part_options(registry.get(name))}
    except UnknownPart:
        raise section.fault(f"a {kind or registry.kind}: {wanted(name, registry.names())}", key, name) from None
    fitted = {}
    for option, value in options.items():
        if option not in known:
            place, shown = (option, value) if inside is None else (inside, option)
            raise section.fault(f"an option of '{name}': {wanted(option, known)}", place, shown)
        try:
            fitted[option] = fit(known[option].type, value)
        except ValueError:
            expected = known[option].type_name + (f" as the option {option}" if inside else "")
            raise section.fault(expected, inside or option, value) from None
    for one in known.values():
        if one.is_required and one.name not in fitted:
            raise section.fault(f"the option {one.name} of '{name}'", inside or key)
    return registry.make(name, **fitted)
