"""Run a notebook from top to bottom and write it as a page, each result with its figure as a notebook shows it."""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A cell: its words or its code, what the code printed, and its last value as HTML."""

    source: str
    is_code: bool
    printed: str = ""
    html: str = ""


def run(notebook: Path) -> Iterator[Cell]:
    """Run each cell in turn, in a folder that is empty before and gone afterwards."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    with TemporaryDirectory() as folder, chdir(folder):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                printed = io.StringIO()
                with redirect_stdout(printed):
                    value = _value_of(source, scope, notebook.name)
                yield Cell(source, True, printed.getvalue(), _html(value))
            else:
                yield Cell(source, False)


def _value_of(source: str, scope: dict[str, Any], name: str) -> object:
    """Run the statements of a cell, and return what its last line is worth, if it is an expression."""
    tree = ast.parse(source, name)
    *before, last = tree.body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, name, "exec"), scope)
        return None
    exec(compile(ast.Module(before, []), name, "exec"), scope)
    return eval(compile(ast.Expression(last.value), name, "eval"), scope)


def _html(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    return f"<pre>{escape(repr(value))}</pre>"


def as_page(cells: Iterator[Cell], name: str) -> str:
    """Return a notebook with its results as Markdown; only its first heading is one of the page."""
    parts: list[str] = []
    for cell in cells:
        if not cell.is_code:
            parts.append(re.sub(r"^# ", "## ", cell.source) if parts else cell.source)
            continue
        parts.append(f"```python\n{cell.source.rstrip()}\n```")
        if cell.printed.strip():
            parts.append(f"```text\n{cell.printed.rstrip()}\n```")
        if cell.html:
            # An empty line would end the block.
            parts.append('<div class="result">' + re.sub(r"\n\s*\n", "\n", cell.html) + "</div>")
    return "\n\n".join([*parts, f"[The notebook]({name}), to run and change."]) + "\n"
