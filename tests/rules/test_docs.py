"""The docs say what is true: code in them runs, pages made from code are fresh, links lead somewhere."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Mapping
from contextlib import chdir, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.journey.commands import tokumei

from tokumei.cli.catalogue import catalogue, registries
from tokumei.cli.main import built
from tokumei.core.registry import part_options

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
# A call ends with its line, the code that it stands in, or where another program begins.
CALL = re.compile(r"(?<![\w./-])tokumei ([^`\n|;&]*)")
OF_OTHER_PROGRAMS = {"--strict", "--many", "--pwprompt", "--owner", "--pty", "--uid"}
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_catalogue_is_what_make_docs_writes() -> None:
    assert (ROOT / "docs" / "catalogue.md").read_text() == catalogue(), "run make docs"


def test_every_registered_part_has_a_sentence_and_help_for_each_option() -> None:
    for registry in registries().values():
        for name in registry:
            part = registry.get(name)
            assert part.__doc__, name
            assert not part.__doc__.startswith(f"{part.__name__}("), f"{name} has only the docstring dataclass made"
            for option in part_options(part):
                assert len(option.help.split()) > 1, f"{name}: {option.name} has no words of help"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page.name in ("README.md", "start.md") else pytest.mark.thorough, id=page.name)
        for page in PAGES
        if BLOCK.search(page.read_text())
    ],
)
def test_code_in_the_docs_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    for language, code in BLOCK.findall(page.read_text()):
        if language == "python":
            with chdir(tmp_path), redirect_stdout(io.StringIO()):
                exec(compile(code, page.name, "exec"), {"__name__": "__main__"})
            continue
        for line in code.splitlines():
            name, *words = shlex.split(line)
            assert name == "tokumei", line
            done = tokumei(*words, cwd=tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_docs_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@cache
def command_options() -> dict[tuple[str, ...], set[str]]:
    """Return the options of each command by the words that call it."""
    found: dict[tuple[str, ...], set[str]] = {}
    left: list[tuple[tuple[str, ...], Any]] = [((), built())]
    while left:
        words, command = left.pop()
        found[words] = {"--help", *(name for one in command.params for name in (*one.opts, *one.secondary_opts))}
        left += [((*words, name), inner) for name, inner in getattr(command, "commands", {}).items()]
    return found


def wrong_options(text: str, known: Mapping[tuple[str, ...], set[str]]) -> list[str]:
    """Return the options in a page that no command has, and those in a call that the command called does not have."""
    every = set().union(*known.values()) | OF_OTHER_PROGRAMS
    wrong = [name for name in OPTION.findall(text) if name not in every]
    for call in CALL.findall(text):
        words = call.split()
        n_words = max(n for n in range(len(words) + 1) if tuple(words[:n]) in known)
        own = known[tuple(words[:n_words])] | OF_OTHER_PROGRAMS
        wrong += [name for name in OPTION.findall(call) if name not in own]
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_in_the_docs_is_one_of_its_command(page: Path) -> None:
    assert wrong_options(page.read_text(), command_options()) == []


def test_option_that_no_command_or_another_has_is_found() -> None:
    known = command_options()
    assert wrong_options("Say `tokumei audit a.csv --qi age --kk 5`.", known) == ["--kk", "--kk"]
    assert wrong_options("$ tokumei audit a.csv --qi age --port 8000", known) == ["--port"]
    assert wrong_options("`--delimiter` separates", known) == []


def test_rooms_of_the_map_are_the_rooms_of_the_package() -> None:
    text = (ROOT / "docs" / "map.md").read_text()
    rooms = {match.split("/")[0] for match in re.findall(r"^\| `([a-z/]+)` \|", text, re.MULTILINE)}
    package = {path.name for path in (ROOT / "src" / "tokumei").iterdir() if (path / "__init__.py").exists()}
    assert rooms == package


def test_walks_of_the_map_name_few_files_that_are_there() -> None:
    text = (ROOT / "docs" / "map.md").read_text().partition("## Two walks")[2].partition("\n## ")[0]
    walks = [re.findall(r"`([a-z0-9_/]+\.py)`", walk) for walk in text.split("\n**")[1:]]
    assert len(walks) == 2
    for named in walks:
        assert 5 < len(named) <= 15
        assert [name for name in named if not (ROOT / "src" / "tokumei" / name).is_file()] == []
