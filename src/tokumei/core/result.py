"""What a job gives: an object that a terminal, a notebook and a program can each show in their own way."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from tokumei.core.text import Json, JsonView

# A frame of the library that somebody works with: Polars, pandas or Arrow.
UserFrame: TypeAlias = Any


@dataclass(frozen=True)
class Facts:
    """Names and values, one below the other."""

    values: JsonView
    title: str | None = None


@dataclass(frozen=True)
class Rows:
    """A table; cells are numbers, names or sentences."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str | None = None


@dataclass(frozen=True)
class Sentence:
    """A paragraph of plain words."""

    text: str


Section = Facts | Rows | Sentence
# What others call a thing that results have under another name, with the call to write in its place.
OTHER_NAMES = {
    **{name: f"save('release.{name.removeprefix('to_')}')" for name in ("to_csv", "to_parquet")},
    **dict.fromkeys(("df", "data", "dataframe", "head", "columns", "shape"), "frame"),
    "to_polars": "table",
    "to_pandas": "table.to_pandas()",
    **dict.fromkeys(("summary", "describe", "to_json", "as_dict"), "to_dict()"),
    **dict.fromkeys(("plot", "show"), "figure()"),
    "to_html": "figure()",
    "write_csv": "save('release.csv')",
    "suppressed": "n_suppressed",
}
# Frames whose columns have numbers for names, as pandas gives where nobody named them.
NUMBERED_PANDAS = "pandas with numbered columns"


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, which a notebook shows by itself."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Drawing of {len(self.svg):,} characters of SVG"


class Result:
    """The base of all results: give `to_dict` and `sections`, and everything else follows.

    `to_dict` is what `--json` prints. `sections` are facts, tables and sentences for people, which the command line and
    the notebook lay out.
    """

    # What frames the caller works with: polars, pandas or arrow.
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the result as plain values, as `--json` prints them."""
        raise NotImplementedError

    def sections(self) -> Sequence[Section]:
        """Return what people read, from top to bottom; all facts unless a result says more."""
        return [Facts(self.to_dict())]

    def figure(self) -> Drawing | None:
        """Draw the figure of the result; None if there is nothing to draw."""
        return None

    def to_frame(self) -> UserFrame:
        """Return the first table of the result as a frame of the caller's kind, or its facts as names and values."""
        sections = self.sections()
        for section in sections:
            if isinstance(section, Rows):
                return frame_of(section.columns, section.rows, self.frame_kind)
        facts = [pair for one in sections if isinstance(one, Facts) for pair in one.values.items()]
        return frame_of(["name", "value"], [[name, shown(value)] for name, value in facts], self.frame_kind)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # Asked for what is not there alone: notebooks try many names that begin so.
            if name.startswith("_"):
                raise AttributeError(name)
            from tokumei.core.errors import UnknownName

            known = [one for one in dir(self) if not one.startswith("_")]
            others = {one: call for one, call in OTHER_NAMES.items() if call.partition("(")[0].split(".")[0] in known}
            if self.frame_kind.startswith("pandas"):
                others["to_pandas"] = "frame"
            raise UnknownName(type(self).__name__, name, known, others)

    def written_to(self, out: object) -> Result:
        """Return the same result with the file that was written of it, or itself if none was."""
        return self if out is None else Saved(self, str(out))

    def __repr__(self) -> str:
        known = [
            f"{name} {shown(value)}"
            for section in self.sections()
            if isinstance(section, Facts)
            for name, value in section.values.items()
            if value is not None and not isinstance(value, (list, tuple, dict))
        ]
        return f"{type(self).__name__}({', '.join(known)})"

    def _repr_html_(self) -> str:
        figure = self.figure()
        parts = [_section_html(section) for section in self.sections()]
        return f"<div>{''.join([*parts, *([] if figure is None else [f'<div>{figure.svg}</div>'])])}</div>"


@dataclass(frozen=True, repr=False)
class Saved(Result):
    """A result with the file that was written of it."""

    result: Result
    out: str

    def to_dict(self) -> Json:
        """Return the result's values and the file."""
        return {**self.result.to_dict(), "out": self.out}

    def sections(self) -> Sequence[Section]:
        """Return the result's sections with the file at the end, where it is seen."""
        return [*self.result.sections(), Facts({"out": self.out})]


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """A result of few words: plain values and what people read of them; all values as facts if nothing is said."""

    values: JsonView
    parts: Sequence[Section] = field(default_factory=tuple)

    def to_dict(self) -> Json:
        """Return the values."""
        return dict(self.values)

    def sections(self) -> Sequence[Section]:
        """Return the sections to show, or else all values."""
        return self.parts or [Facts(self.values)]


def shown(value: object) -> str:
    """Write a value for people: numbers with thousands apart or four digits, control characters escaped."""
    # Most values are plain text, and a wide file has hundreds of thousands.
    if type(value) is str and value.isprintable():
        return value
    if type(value) is int:
        return f"{value:,}"
    if value is None or (isinstance(value, (list, tuple, Mapping)) and not value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(part) for part in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    # A value of the data must not move the cursor, color the screen or turn the direction of writing.
    text = str(value)
    return text if text.isprintable() else "".join(ch if _is_plain(ch) else repr(ch)[1:-1] for ch in text)


def frame_of(columns: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "polars") -> UserFrame:
    """Build a frame of rows; a column that mixes numbers and words becomes words, so that none is lost."""
    import polars as pl

    listed = [list(row) for row in rows]
    series = []
    for index, name in enumerate(columns):
        values = [row[index] for row in listed]
        is_plain = all(value is None or isinstance(value, (bool, int, float)) for value in values)
        values = values if is_plain else [None if value is None else shown(value) for value in values]
        series.append(pl.Series(name or f"column {index + 1}", values, strict=False))
    return as_kind(pl.DataFrame(series), kind)


def as_kind(frame: UserFrame, kind: str) -> UserFrame:
    """Convert a Polars frame to the kind that its caller works with: polars, pandas or arrow."""
    if kind == NUMBERED_PANDAS:
        return frame.to_pandas().rename(columns={name: int(name) for name in frame.columns if name.isdecimal()})
    if kind == "pandas":
        return frame.to_pandas()
    return frame.to_arrow() if kind == "arrow" else frame


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _section_html(section: Section) -> str:
    if isinstance(section, Sentence):
        return f"<p>{escape(shown(section.text))}</p>"
    title = "" if section.title is None else f"<caption>{escape(section.title)}</caption>"
    if isinstance(section, Facts):
        pairs = [[name.replace("_", " "), value] for name, value in section.values.items()]
        return f"<table>{title}<tbody>{''.join(_row_html(pair) for pair in pairs)}</tbody></table>"
    head = "".join(f"<th>{escape(shown(name))}</th>" for name in section.columns)
    body = "".join(_row_html(row) for row in section.rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row_html(row: Sequence[object]) -> str:
    cells = []
    for value in row:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        align = "right" if is_number else "left"
        cells.append(f'<td style="text-align: {align}; padding: 0.2em 0.6em">{escape(shown(value))}</td>')
    return f"<tr>{''.join(cells)}</tr>"
