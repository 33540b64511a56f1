"""Reports: one self-contained HTML file with no script and no outside request, Markdown, or a printed PDF.

A document of headings, sentences, tables and figures becomes any of the three.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.result import shown
from tokumei.core.text import Text
from tokumei.data.files.disk import write_text

SHORT, SHORT_WORD = 6, 12
# What stands where there is no number.
MISSING = "–"


@dataclass
class Page:
    """A page built from top to bottom; all text is escaped, so that no value of the data can become markup."""

    title: str
    language: str = "en"
    # Stands above the page, and on every sheet when it is printed.
    mark: str = ""
    _parts: list[str] = field(default_factory=list)
    _is_folded: bool = False

    def heading(self, text: str) -> None:
        """Start a section."""
        self._unfold()
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def folded(self, text: str) -> None:
        """Start a section that is opened by a click, and stands open on paper."""
        self._unfold()
        self._parts.append(f"<details><summary><h2>{escape(text)}</h2></summary>")
        self._is_folded = True

    def _unfold(self) -> None:
        if self._is_folded:
            self._parts.append("</details>")
        self._is_folded = False

    def facts(self, listed: Sequence[tuple[str, str]]) -> None:
        """Add answers, each beside its question."""
        rows = "".join(f"<dt>{escape(asked)}</dt><dd>{escape(answer)}</dd>" for asked, answer in listed)
        self._parts.append(f"<dl>{rows}</dl>")

    def paragraph(self, text: str) -> None:
        """Add a paragraph of plain text."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def items(self, texts: Sequence[str]) -> None:
        """Add a list, a line for each text."""
        self._parts.append(f"<ol>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ol>")

    def figure(self, svg: str, caption: str) -> None:
        """Add a figure that this package drew, with a caption that says what it shows."""
        label = escape(caption, quote=True)
        self._parts.append(
            f'<figure><div class="figure" role="img" aria-label="{label}">{svg}</div>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str) -> None:
        """Add a table; numbers are aligned to the right, and so is the sign that one is missing."""
        kinds = ["number" if _are_numbers([row[index] for row in rows]) else "text" for index in range(len(columns))]
        head = "".join(f'<th class="{kind}">{escape(column)}</th>' for kind, column in zip(kinds, columns, strict=True))
        body = "".join(
            f"<tr>{''.join(_table_cell(value, kind) for value, kind in zip(row, kinds, strict=True))}</tr>"
            for row in rows
        )
        self._parts.append(
            f'<div class="table"><table><caption>{escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def to_html(self) -> str:
        """Build the whole page."""
        self._unfold()
        style = resources.files("tokumei.reports").joinpath("page.css").read_text(encoding="utf-8")
        mark = ""
        if self.mark:
            # Letters alone stand in a string of a style sheet as they are.
            signs = "".join(one if one.isalnum() or one in " .,:、。：" else " " for one in self.mark)
            style += f'@page {{ @top-center {{ content: "{signs}"; font-size: .7rem; color: #5b6776; }} }}\n'
            mark = f'<p class="mark">{escape(self.mark)}</p>\n'
        return (
            f'<!doctype html>\n<html lang="{escape(self.language, quote=True)}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
            f"{mark}<h1>{escape(self.title)}</h1>\n" + "\n".join(self._parts) + "\n</main>\n</body>\n</html>\n"
        )

    def write(self, path: Path | str) -> None:
        """Write the page atomically."""
        write_text(path, self.to_html())


def _are_numbers(values: Sequence[object]) -> bool:
    numbers = [value for value in values if value != MISSING]
    return all(isinstance(value, (int, float)) for value in numbers) and (bool(numbers) or not values)


def _table_cell(value: object, kind: str) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:.3f}</td>'
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if value == MISSING and kind == "number":
        return f'<td class="number">{MISSING}</td>'
    # Where a language breaks between any two signs, a word of two would stand in two lines.
    text = str(value)
    is_short = len(text) <= (SHORT_WORD if text.isascii() else SHORT)
    short = ' class="short"' if is_short else ""
    return f"<td{short}>{escape(text)}</td>"


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SUFFIXES = (".html", ".md", ".pdf")


@dataclass
class Document:
    """Blocks from top to bottom, in one language: a text in `words` is said as there, all others as they are."""

    title: str
    language: str = "en"
    # What the document is, on every page: to be published, or not.
    mark: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    # How the language says what the library says.
    forms: Mapping[str, str] = field(default_factory=dict)
    blocks: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def say(self, text: str, **values: Any) -> str:
        """Translate a text into the language of the document, with its {values} put in."""
        told = self.words.get(text, text)
        return told.format(**{name: shown(value) for name, value in values.items()}) if values else told

    def tell(self, text: str) -> str:
        """Translate a sentence of the library into the language of the document, if that has words for its form."""
        said = text.in_words(self.forms) if isinstance(text, Text) else self.forms.get(text)
        return text if said is None else said

    def heading(self, text: str) -> None:
        """Start a section."""
        self.blocks.append(("heading", (self.say(text),)))

    def folded(self, text: str) -> None:
        """Start a section for whoever checks; on a screen it is opened by a click."""
        self.blocks.append(("folded", (self.say(text),)))

    def facts(self, listed: Mapping[str, str]) -> None:
        """Add answers by their questions; the answers are in the language of the document already."""
        self.blocks.append(("facts", ([(self.say(asked), answer) for asked, answer in listed.items()],)))

    def paragraph(self, text: str, **values: Any) -> None:
        """Add a sentence or more."""
        self.blocks.append(("paragraph", (self.say(text, **values),)))

    def items(self, texts: Sequence[str]) -> None:
        """Add a list of sentences that are in the language of the document already."""
        self.blocks.append(("items", (list(texts),)))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str) -> None:
        """Add a table; its cells are shown as they are, since a value of the data may be a word, too."""
        cells = [[_shown_cell(value) for value in row] for row in rows]
        self.blocks.append(("table", ([self.say(one) for one in columns], cells, self.say(caption))))

    def figure(self, svg: str, caption: str) -> None:
        """Add a figure that was drawn here."""
        self.blocks.append(("figure", (svg, self.say(caption))))

    def to_page(self) -> Page:
        """Build the document as one HTML page."""
        page = Page(self.title, self.language, self.mark)
        for kind, parts in self.blocks:
            getattr(page, kind)(*parts)
        return page

    def to_markdown(self) -> str:
        """Build the document as Markdown; figures, whose numbers stand in tables too, are left out."""
        lines = [f"# {_plain(self.title)}", "", *([f"*{_plain(self.mark)}*", ""] if self.mark else [])]
        for kind, parts in self.blocks:
            if kind in ("heading", "folded"):
                lines += [f"## {_plain(parts[0])}", ""]
            elif kind == "paragraph":
                lines += [_plain(parts[0]), ""]
            elif kind == "facts":
                lines += [*(f"- **{_plain(asked)}**: {_plain(answer)}" for asked, answer in parts[0]), ""]
            elif kind == "items":
                lines += [*(f"{at}. {_plain(text)}" for at, text in enumerate(parts[0], start=1)), ""]
            elif kind == "table":
                head, rows, caption = parts
                lines += [f"*{_plain(caption)}*", "", _line(head), _line(["---"] * len(head))]
                lines += [*(_line([shown(value) for value in row]) for row in rows), ""]
        return "\n".join(lines)

    def write(self, path: Path, form: str | None = None) -> None:
        """Write it by the suffix of its file: .html, .md, or .pdf where a browser can print it."""
        suffix = form or path.suffix
        if suffix == ".md":
            write_text(path, self.to_markdown())
        elif suffix == ".pdf":
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder) / "page.html"
                self.to_page().write(source)
                print_page(source, path)
        else:
            self.to_page().write(path)


def check_suffix(path: Path) -> None:
    """Refuse a file that no document can be written to, and a PDF where no browser is there to print it."""
    if path.suffix not in SUFFIXES:
        raise InputError.of(f"a file that ends in {', '.join(SUFFIXES)}", file=path)
    if path.suffix == ".pdf":
        browser_for(path)


def browser_for(path: Path) -> str:
    """Return the browser that prints PDF, or refuse to write this one where there is none."""
    found = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if found is None:
        raise InputError.of("Chromium to be installed, which prints PDF; or a file that ends in .html", file=path)
    return found


def print_page(source: Path, path: Path) -> None:
    """Print an HTML page as PDF."""
    browser = browser_for(path)
    with tempfile.TemporaryDirectory() as folder:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        command = [browser, *options, f"--user-data-dir={folder}/profile", f"--print-to-pdf={path.resolve()}"]
        # The browser is one of a few names, and the page was written here.
        done = subprocess.run([*command, source.resolve().as_uri()], capture_output=True, timeout=180, check=False)  # noqa: S603
    if not path.exists():
        raise InputError.of(f"a browser that prints ({done.stderr.decode(errors='replace')[-200:].strip()})", file=path)


def _shown_cell(value: object) -> object:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else shown(value)


def _plain(text: str) -> str:
    return " ".join(shown(text).split())


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
