"""Every example in a docstring holds, wherever it stands."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import tokumei

SOURCE = Path(tokumei.__file__).parent
MODULES = [
    ".".join(["tokumei", *file.relative_to(SOURCE).with_suffix("").parts])
    for file in sorted(SOURCE.rglob("*.py"))
    if ">>>" in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some of them write files.
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted
    assert not done.failed
