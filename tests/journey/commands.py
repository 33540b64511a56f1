"""Commands as a program runs them: in a process of their own, or in this one where many are tried."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tokumei.cli.main import main


def tokumei(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever becomes of it."""
    command = [sys.executable, "-m", "tokumei", *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def tokumei_json(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    """Run with --json; standard output must be one object and nothing else."""
    done = tokumei(*arguments, "--json")
    assert done.returncode == exit_code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.stderr == ""
    return found


def tokumei_here(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, dict[str, Any]]:
    """Run with --json in this process, and give the exit code and the one object."""
    with pytest.raises(SystemExit) as done:
        main([*map(str, arguments), "--json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    return done.value.code, json.loads(printed.out)
