"""Releases as files, made by the command line in this process."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tokumei.cli.main import main

# What a hierarchy of each column says, level by level, and the file that says it.
Trees = dict[str, list[list[str]]]


def write_trees(trees: Trees, folder: Path) -> list[str]:
    """Write the hierarchies, and give the options that name them."""
    folder.mkdir(exist_ok=True)
    options = []
    for name, levels in trees.items():
        file = folder / f"{name}.csv"
        file.write_text("".join(";".join(labels) + "\n" for labels in zip(*levels, strict=True)), encoding="utf-8")
        options += ["--hierarchy", f"{name}={file}"]
    return options


def run(*arguments: object) -> dict[str, Any] | None:
    """Run a command with --json; give what it printed, or None where it refused, which must be in plain words."""
    printed = io.StringIO()
    silent = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO())
    with silent[0], silent[1], pytest.raises(SystemExit) as done:
        main([*map(str, arguments), "--json"])
    found: dict[str, Any] = json.loads(printed.getvalue())
    assert done.value.code in (0, 1, 2), found
    assert "a fault of Tokumei" not in str(found.get("error", ""))
    return found if done.value.code == 0 else None
