"""Every promise of the threat model names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THREATS = ROOT / "docs" / "security.md"
FOLDERS = ("", "tests/", "tests/platform/")


def promises() -> list[tuple[str, str]]:
    """Return each promise with what is said of its tests."""
    table = THREATS.read_text("utf-8").partition("## Promises and their tests")[2]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines() if "|" in line]
    return [(row[0], row[-1]) for row in rows[2:]]


def named_in(said: str) -> list[tuple[str, str]]:
    """Files and functions that a cell names; `::name` goes on with the file before, `…` stands for a rest."""
    found, file = [], ""
    for name in re.findall(r"`([^`]+)`", said):
        if name.startswith("python -m") or ("/" in name and not name.endswith(".py") and "::" not in name):
            continue
        path, _, function = name.partition("::")
        file = file if path in {"", "…"} else path
        if file.endswith(".py"):
            found.append((file, function))
    return found


def test_every_promise_has_a_test() -> None:
    told = promises()
    assert len(told) > 30
    assert [promise for promise, said in told if not re.search(r"`[^`]*(test_|benchmarks|tests/)[^`]*`", said)] == []


@pytest.mark.parametrize(("file", "function"), sorted({one for _, said in promises() for one in named_in(said)}))
def test_test_of_a_promise_is_there(file: str, function: str) -> None:
    path = next((ROOT / folder / file for folder in FOLDERS if (ROOT / folder / file).is_file()), None)
    assert path is not None, f"docs/security.md names {file}, which is not there"
    names = {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}
    start, dots, _ = function.partition("…")
    is_there = any(name.startswith(start) for name in names) if dots else not function or function in names
    assert is_there, f"docs/security.md names {function}, which is not in {file}"
