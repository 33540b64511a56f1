"""A report as one self-contained HTML file: no script, no outside request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from tokumei.data.files.atomic import write_text

SHORT = 6
# What stands where there is no number.
MISSING = "–"


@dataclass
class Page:
    """A page built from top to bottom; all text is escaped, so that no value of the data can become markup."""

    title: str
    language: str = "en"
    _parts: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Start a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """Add a paragraph of plain text."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def figure(self, svg: str, caption: str) -> None:
        """Add a figure that this package drew, with a caption that says what it shows."""
        label = escape(caption, quote=True)
        self._parts.append(
            f'<figure><div class="figure" role="img" aria-label="{label}">{svg}</div>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str) -> None:
        """Add a table; numbers are aligned to the right, and so is the sign that one is missing."""
        kinds = ["number" if _are_numbers([row[index] for row in rows]) else "text" for index in range(len(columns))]
        head = "".join(f'<th class="{kind}">{escape(column)}</th>' for kind, column in zip(kinds, columns, strict=True))
        body = "".join(
            f"<tr>{''.join(_cell(value, kind) for value, kind in zip(row, kinds, strict=True))}</tr>" for row in rows
        )
        self._parts.append(
            f'<div class="table"><table><caption>{escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def to_html(self) -> str:
        """Build the whole page."""
        style = resources.files("tokumei.report").joinpath("page.css").read_text(encoding="utf-8")
        return (
            f'<!doctype html>\n<html lang="{escape(self.language, quote=True)}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
            f"<h1>{escape(self.title)}</h1>\n" + "\n".join(self._parts) + "\n</main>\n</body>\n</html>\n"
        )

    def write(self, path: Path | str) -> None:
        """Write the page atomically."""
        write_text(path, self.to_html())


def _are_numbers(values: Sequence[Any]) -> bool:
    numbers = [value for value in values if value != MISSING]
    return all(isinstance(value, (int, float)) for value in numbers) and (bool(numbers) or not values)


def _cell(value: Any, kind: str) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:.3f}</td>'
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if value == MISSING and kind == "number":
        return f'<td class="number">{MISSING}</td>'
    # Where a language breaks between any two signs, a word of two would stand in two lines.
    short = ' class="short"' if len(str(value)) <= SHORT else ""
    return f"<td{short}>{escape(str(value))}</td>"
