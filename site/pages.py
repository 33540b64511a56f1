"""What the site has beside the Markdown in docs/: commands, public names, and the pages at the root."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

import tokumei
from tokumei.cli.commands import TOKUMEI

sys.path.insert(0, str(Path(__file__).parent))
from notebooks import Cell, as_page
from notebooks import run as run_notebook

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# Pages at the root of the project, and where they stand on the site.
AT_ROOT = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
}
LINK = re.compile(r"(\[[^\]]*\])\(([^)\s#:]+)(#[^)\s]*)?\)")
# A page and its other language lead to each other at the top of the site.
OTHER_LANGUAGE = re.compile(r"^\[(English|日本語)\]\([^)]*\)\n", re.MULTILINE)
# Lists stand right below their sentence on other sites; here an empty line has to come between.
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LIST = re.compile(r"^(?![-*|>#]|\d+\.|\s|$)(.+)\n(?=(?:- |\d+\. ))", re.MULTILINE)


def write_pages(folder: Path, run: Callable[[Path], Iterator[Cell]] = run_notebook) -> None:
    """Write all pages of the site, from an empty folder on: those of docs/, and those that no file there holds."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    shutil.copy(Path(__file__).with_name("extra.css"), folder)
    for page in folder.rglob("*.md"):
        page.write_text(for_site(page.read_text(encoding="utf-8"), page.relative_to(folder)), encoding="utf-8")
    for notebook in folder.glob("notebooks/*.ipynb"):
        notebook.with_suffix(".md").write_text(as_page(run(notebook), notebook.name), encoding="utf-8")
    pages = {"reference/commands.md": commands_page(), "reference/python.md": python_page()}
    pages |= {place: for_site(at_root(name, place), Path(place)) for name, place in AT_ROOT.items()}
    for place, text in pages.items():
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")


def for_site(text: str, place: Path) -> str:
    """Return a page as the site shows it: files of the project that are no pages are named, not led to."""
    here = (DOCS / place).parent

    def told(found: re.Match[str]) -> str:
        return found[0] if (here / found[2]).resolve().is_relative_to(DOCS) else found[1][1:-1]

    parts = FENCE.split(LINK.sub(told, OTHER_LANGUAGE.sub("", text)))
    # What stands between fences is code.
    parts[::2] = [LIST.sub(r"\1\n\n", part) for part in parts[::2]]
    return "".join(parts)


def at_root(name: str, place: str) -> str:
    """Return a page at the root with its links as they are from where it stands on the site."""

    def moved(found: re.Match[str]) -> str:
        target = AT_ROOT.get(found[2]) or (found[2][5:] if found[2].startswith("docs/") else None)
        anchor = found[3] or ""
        return f"{found[1]}({'../' * place.count('/')}{target}{anchor})" if target else found[1][1:-1]

    return LINK.sub(moved, (ROOT / name).read_text(encoding="utf-8"))


def python_page() -> str:
    """Every public name by its docstring and signature, in the order of the table that `tokumei` begins with."""
    table = (tokumei.__doc__ or "").partition("\n\n")[2]
    names = [name for name in tokumei.__all__ if name != "errors"]
    blocks = [f"::: tokumei.{tokumei._HOMES[name]}.{name}" for name in names]
    errors = "## Errors\n\n::: tokumei.core.errors\n    options:\n      members: []\n      show_root_heading: false\n"
    return "\n\n".join(["# Python", "`import tokumei as tk`", table, "## Names", *blocks, errors])


def commands_page() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    parts = ["# Commands", "Every command has `--help`, and `--json` where it prints a result."]
    for words, command in _commands(("tokumei",), TOKUMEI):
        context = click.Context(command, info_name=" ".join(words))
        if isinstance(command, click.Group):
            parts += [f"## `{' '.join(words)}`", _plain(command.help)]
            continue
        parts += [f"### `{' '.join(words)}`", _plain(command.help)]
        parts.append(f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```")
        found = [one.get_help_record(context) for one in command.params if not getattr(one, "hidden", False)]
        rows = [f"| `{_cell(name)}` | {_cell(about)} |" for name, about in filter(None, found)]
        if rows:
            parts.append("\n".join(["| option | what it does |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _commands(words: tuple[str, ...], command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
        # Commands of the group itself first, so that they do not stand below another group's title.
        for name, one in sorted(found, key=lambda pair: isinstance(pair[1], click.Group)):
            if one is not None:
                yield from _commands((*words, name), one)


def _plain(text: str | None) -> str:
    told = (text or "").replace("\b", "").strip()
    return re.sub(r"^Example: (.+)$", r"```console\n$ \1\n```", told, flags=re.MULTILINE).replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    write_pages(ROOT / "dist" / "pages")
