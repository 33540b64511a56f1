"""The docs say what is true: code in them runs, pages made from code are fresh, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tokumei.cli.catalogue import catalogue, registries
from tokumei.core.registry import part_options

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
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


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
def test_code_in_the_docs_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    for language, code in BLOCK.findall(page.read_text()):
        if language == "python":
            subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, timeout=300)
            continue
        for line in code.splitlines():
            words = shlex.split(line)
            assert words[0] == "tokumei", line
            done = subprocess.run(
                [sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_docs_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_rooms_of_the_map_are_the_rooms_of_the_package() -> None:
    text = (ROOT / "docs" / "map.md").read_text()
    rooms = {match.split("/")[0] for match in re.findall(r"^\| `([a-z/]+)` \|", text, re.MULTILINE)}
    package = {path.name for path in (ROOT / "src" / "tokumei").iterdir() if (path / "__init__.py").exists()}
    assert rooms == package
