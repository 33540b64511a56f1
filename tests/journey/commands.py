"""Commands as a person or a program gives them, run in this process: what a process of its own adds is tested once."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tokumei.cli.main import main


@dataclass(frozen=True)
class Done:
    """A command that ended: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def tokumei(*arguments: object, cwd: Path | None = None) -> Done:
    """Run a command to its end, whatever becomes of it."""
    # Streams over bytes, as a process has them.
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with chdir(cwd or "."), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert isinstance(ended.value.code, int)
    printed, said = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Done(ended.value.code, printed, said)


def tokumei_json(*arguments: object, exit_code: int = 0, cwd: Path | None = None) -> dict[str, Any]:
    """Run with --json; standard output must be one object and nothing else."""
    done = tokumei(*arguments, "--json", cwd=cwd)
    assert done.returncode == exit_code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.stderr == ""
    return found


def tokumei_here(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, dict[str, Any]]:
    """Run with --json, and give the exit code and the one object."""
    with pytest.raises(SystemExit) as done:
        main([*map(str, arguments), "--json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    return done.value.code, json.loads(printed.out)
