"""How a file is to be read: what neither its name nor its bytes can be trusted to tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError, word_meant
from tokumei.core.text import Json, Text

# As a delimiter: any run of blanks and tabs between two cells, and those around a line, as in tables made for the eye.
BLANKS = "blanks"


@dataclass(frozen=True)
class Reading:
    """The options that every command and function takes which reads a file.

    | field         | says                                                                                       |
    |---------------|--------------------------------------------------------------------------------------------|
    | `encoding`    | the encoding of a text file; found if None                                                 |
    | `delimiter`   | what separates its cells, or `blanks` for any run of blanks; found if None                 |
    | `sheet`       | the sheet of a workbook that has several                                                   |
    | `skip_rows`   | lines above the header: a title, a source, an empty line                                   |
    | `null_values` | texts that stand for a missing value, besides the empty cell                               |
    | `has_header`  | whether the first line names the columns; if not they are called 1, 2, 3, …                |
    | `trim`        | whether blanks at the ends of names and cells are left out; so where each delimiter has one |
    | `rename`      | whether the second column of a name is read as `name_2`, an unnamed third as `column_3`    |
    | `codes`       | whether codes stay where a file of Stata, SAS or SPSS has labels for them                  |
    | `columns`     | for a history: which column of the file is its customer, date, item, price …; none if empty |
    | `date_format` | how dates are written where it is none of the usual ways, as in %m/%d/%Y                   |
    | `carry`       | for a history: further columns that a release keeps as they are                            |
    | `format`      | for a history: the edition whose form the file has; told by the first line if None         |
    """

    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    skip_rows: int = 0
    null_values: tuple[str, ...] = ()
    has_header: bool = True
    trim: bool = False
    rename: bool = False
    codes: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    date_format: str | None = None
    format: str | None = None
    carry: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.skip_rows < 0:
            raise InputError.of("how many lines to skip, at least 0", option="skip_rows", value=self.skip_rows)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Reading:
        """Make one of what `as_dict` gave."""
        lists = {name: tuple(options.get(name, ())) for name in ("null_values", "carry")}
        return cls(**(dict(options) | lists))

    @classmethod
    def of_keywords(cls, options: Mapping[str, object], what: str, others: Iterable[str]) -> Reading:
        """Make one of the keywords of `what`, which has `others` too; an unknown one is told the nearest name."""
        known = [*others, *(each.name for each in fields(cls))]
        for option in options:
            if option not in cls.__dataclass_fields__:
                near = word_meant(option, known)
                raise InputError.of(
                    Text("an option of {what}: {names}", what=what, names=repr(near) if near else ", ".join(known)),
                    value=option,
                )
        return cls.of(options)

    @classmethod
    def of_lines(cls, text: str) -> Reading:
        """Make one of lines such as encoding=cp932 and columns=customer=household_id,date=day, as a form has them."""
        known = [each.name for each in fields(cls) if each.name not in ("has_header", "carry")]
        given: dict[str, Any] = {}
        for line in (line.strip() for line in text.splitlines() if line.strip()):
            name, mark, value = (part.strip() for part in line.partition("="))
            name = name.removeprefix("--").replace("-", "_")
            if not mark or name not in known or name in given:
                raise InputError.of(
                    Text("one of {names}, each once, then = and a value", names=", ".join(known)), value=line
                )
            given[name] = value
        if "skip_rows" in given:
            if not given["skip_rows"].isdecimal():
                raise InputError.of("how many lines to skip, at least 0", option="skip_rows", value=given["skip_rows"])
            given["skip_rows"] = int(given["skip_rows"])
        for name in ("trim", "rename", "codes"):
            if name in given:
                if given[name] not in ("yes", "no"):
                    raise InputError.of("yes or no", option=name, value=given[name])
                given[name] = given[name] == "yes"
        if "null_values" in given:
            given["null_values"] = [one.strip() for one in given["null_values"].split(",")]
        if "columns" in given:
            pairs = [one.partition("=") for one in given["columns"].split(",")]
            if not all(mark and role.strip() for role, mark, _ in pairs):
                raise InputError.of("ROLE=NAME, separated by commas", option="columns", value=given["columns"])
            given["columns"] = {role.strip(): name.strip() for role, _, name in pairs}
        return cls.of(given)

    def check_is_for_file(self, data: object) -> None:
        """Refuse to read anything but a file in some way of its own: a frame is what it is."""
        if self != AS_IT_IS and not isinstance(data, (str, Path)):
            raise InputError.of("a file, which is read so", value=", ".join(self.as_dict()))

    def as_dict(self) -> Json:
        """Return what differs from a file that is read as it is, for JSON."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        kept = {name: value for name, value in found.items() if value != getattr(AS_IT_IS, name)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}

    @property
    def is_whole_text(self) -> bool:
        """Whether a text file is what it seems, from its first line on, so that an engine may read it by itself."""
        is_changed = self.skip_rows or self.null_values or self.rename or self.delimiter == BLANKS
        return not is_changed and self.has_header


AS_IT_IS = Reading()
