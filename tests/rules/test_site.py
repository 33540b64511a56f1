"""The site: every page of the docs is on it, and reading it asks no other machine for anything."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from tests.journey.commands import tokumei

import tokumei as tk
from tokumei.cli.commands import TOKUMEI

ROOT = Path(__file__).resolve().parents[2]


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Settings(yaml.SafeLoader):
    """Reads the settings; what names a function of Python is none of our business here."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    found: dict[str, Any] = yaml.load((ROOT / "site" / "mkdocs.yml").read_text(), Settings)
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    loaded("pages").write_pages(folder, lambda notebook: iter([]))
    return folder


def in_nav(part: object) -> list[str]:
    if isinstance(part, str):
        return [part]
    inner = part.values() if isinstance(part, dict) else part
    return [name for one in inner for name in in_nav(one)]  # type: ignore[attr-defined]


def test_every_page_stands_in_the_navigation_and_each_title_has_its_japanese(
    settings: dict[str, Any], pages: Path
) -> None:
    named = in_nav(settings["nav"])
    there = {str(page.relative_to(pages)) for page in pages.rglob("*.md") if not page.name.endswith(".ja.md")}
    assert {page for page in there if not re.fullmatch(r"studies/.+-.+\.md", page)} == set(named)
    (i18n,) = [one["i18n"] for one in settings["plugins"] if isinstance(one, dict) and "i18n" in one]
    translated = i18n["languages"][1]["nav_translations"]
    titles = {title for part in settings["nav"] for title in titles_of(part)}
    assert titles - set(translated) == set()


def titles_of(part: object) -> set[str]:
    if not isinstance(part, dict):
        return set()
    found = set(part)
    for inner in part.values():
        for one in inner if isinstance(inner, list) else []:
            found |= titles_of(one)
    return found


def test_readers_fetch_nothing_from_elsewhere(settings: dict[str, Any]) -> None:
    assert settings["theme"]["font"] is False
    # It would have readers fetch a script where pages are opened from a disk.
    assert "offline" not in settings["plugins"]
    assert not {"extra_javascript", "repo_url", "google_analytics"} & set(settings)


def test_commands_and_public_names_are_all_there(pages: Path) -> None:
    commands = (pages / "reference" / "commands.md").read_text()
    for path in TOKUMEI.paths():
        assert f"`tokumei {path}`" in commands, path
    python = (pages / "reference" / "python.md").read_text()
    for name in set(tk.__all__) - {"errors"}:
        assert f".{name}\n" in python, name


def test_links_out_of_the_docs_become_words_and_lists_stand_apart() -> None:
    for_site = loaded("pages").for_site
    said = for_site("See [the image](../../deploy/Dockerfile) and [tables](tables.md):\n- one\n", Path("howto/x.md"))
    assert said == "See the image and [tables](tables.md):\n\n- one\n"
    code = "```text\na\n- b\n```\n"
    assert for_site(code, Path("x.md")) == code


def test_docstrings_become_lists_and_code() -> None:
    pytest.importorskip("griffe")
    told = loaded("docstrings").as_markdown("Count.\n\nby: columns,\nof: rows.\n\n>>> 1 + 1\n2")
    assert told == "Count.\n\n- `by`: columns,\n- `of`: rows.\n\n```pycon\n>>> 1 + 1\n2\n```"


@pytest.mark.thorough
def test_site_builds_without_a_dead_link_and_asks_nobody() -> None:
    pytest.importorskip("mkdocs_static_i18n")
    subprocess.run([sys.executable, ROOT / "site" / "pages.py"], cwd=ROOT, check=True)
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", "site/mkdocs.yml"]
    subprocess.run(build, cwd=ROOT, check=True)
    site = ROOT / "dist" / "site"
    assert "五つのコマンド" in (site / "ja" / "index.html").read_text()
    for page in site.rglob("*.html"):
        text = page.read_text()
        loads = re.findall(r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//[^"'>\s]+""", text)
        loads += re.findall(r"""<link[^>]*rel=["']?stylesheet["']?[^>]*href=["']?(?:https?:)?//""", text)
        assert not loads, page.name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first-release.md", pytest.param("first-release.ja.md", marks=pytest.mark.thorough)])
def test_five_commands_lead_from_nothing_to_an_audited_release(name: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / name).read_text()
    (block,) = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(commands) <= 5
    assert commands[0] == "pip install 'tokumei[full]'"
    (made,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    subprocess.run([sys.executable, "-c", made], cwd=tmp_path, check=True)
    for command in commands[1:]:
        done = tokumei(*command.split()[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    release = tk.read_frame(tmp_path / "dossier" / "release.csv")
    assert tk.count_classes(release, ["age", "sex", "city"]).k >= 5
    assert "name" not in release.columns
    assert (tmp_path / "dossier" / "public.html").is_file()
    # The page of the site begins with the same line.
    assert commands[0] in (ROOT / "docs" / "index.md").read_text()
