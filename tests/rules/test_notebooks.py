"""Every notebook runs from top to bottom, shows figures, and is kept without results or data."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# It starts a process for each command.
LONG = {"contest"}


@pytest.fixture(scope="module")
def running() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_notebooks", ROOT / "site" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclass looks its module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_six() -> None:
    assert [one.stem for one in NOTEBOOKS] == ["attackers", "contest", "hospital", "papers", "predict", "shop"]
    assert {one.suffix for one in NOTEBOOKS[0].parent.iterdir()} == {".ipynb"}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda one: one.stem)
def test_notebook_is_kept_without_results(notebook: Path) -> None:
    kept = json.loads(notebook.read_text(encoding="utf-8"))
    assert kept["nbformat"] == 4
    for cell in kept["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert notebook.stat().st_size < 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook",
    [pytest.param(one, marks=pytest.mark.thorough if one.stem in LONG else (), id=one.stem) for one in NOTEBOOKS],
)
def test_notebook_runs_and_shows_figures(notebook: Path, running: ModuleType) -> None:
    cells = list(running.run(notebook))
    assert sum("<svg" in cell.html for cell in cells) >= 1
    page = running.as_page(iter(cells), notebook.name)
    # One title; what stands between fences may have comments.
    words = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^# .*", words, re.MULTILINE) == [words.splitlines()[0]]
    assert f"({notebook.name})" in page
