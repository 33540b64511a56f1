"""The library and every command but the server work where a system has no fcntl, no resource and no os.fork.

These are hidden here, on Linux. Windows and macOS themselves were not tried.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tokumei
from tokumei.core.errors import InputError
from tokumei.core.locks import _held_by_a_file

SOURCE = Path(tokumei.__file__).parent
# As on Windows: modules that are not there, functions and flags that os does not have.
HIDING = """
import os, signal, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty"):
    sys.modules[name] = None
for name in ("fork", "forkpty", "sysconf", "getuid", "geteuid", "getgid", "fchmod", "chown", "nice", "killpg", "setsid",
             "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "statvfs", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGALRM"):
    delattr(signal, name)
"""
COMMANDS = """
from contextlib import chdir
from tokumei.cli.main import main

def run(line):
    try:
        main(line.split())
    except SystemExit as ended:
        assert ended.code == 0, line
"""
EVERYTHING = """
import importlib, pathlib
source = pathlib.Path({source!r})
for file in sorted(source.rglob("*.py")):
    parts = file.relative_to(source).with_suffix("").parts
    if "platform" not in parts and file.name not in ("__init__.py", "__main__.py"):
        importlib.import_module(".".join(("tokumei", *parts)))
"""
LINES = [
    "data make survey --seed 1 --out survey",
    "inspect survey/survey.parquet --job job.toml",
    "anonymize table survey/survey.parquet --qi sex,age_band,region --k 5 --out release.csv --rows rows.csv --json",
    "audit release.csv --qi sex,age_band,region --k 5",
    "attack table record-linkage --original survey/survey.parquet --release release.csv --qi region --rows rows.csv",
    "data make retail --customers 20 --seed 1 --out shop",
    "anonymize history shop/history.parquet --method pseudonyms --out A.parquet --published S.parquet --truth F.csv",
    "attack history s6 --knowledge shop/history.parquet --release S.parquet --out guess.csv",
    "contest prepare --edition pwscup2018 --set n_customers=20 --out cup",
    "contest submit cup --team alpha --with months",
    "contest submit cup --team beta --with generalize-2",
    "contest publish cup",
    "contest attack cup --team alpha --target beta --with items-in-common",
    "contest judge cup",
    "contest rank cup --close",
    "contest replay cup",
]


def hidden(code: str, cwd: Path) -> None:
    done = subprocess.run([sys.executable, "-c", HIDING + code], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_all_files_but_those_of_the_server_import(tmp_path: Path) -> None:
    hidden(EVERYTHING.format(source=str(SOURCE)), tmp_path)


@pytest.mark.slow
def test_commands_run_and_end_well(tmp_path: Path) -> None:
    hidden(COMMANDS + "".join(f"run({line!r})\n" for line in LINES), tmp_path)


@pytest.mark.thorough
def test_job_and_its_verification_run(tmp_path: Path) -> None:
    lines = [
        *LINES[:2],
        "run job.toml --out dossier",
        "verify dossier/dossier.json",
        "demo --customers 20 --out demo.html",
    ]
    hidden(COMMANDS + "".join(f"run({line!r})\n" for line in lines), tmp_path)


def test_lock_by_a_file_lets_one_in_and_says_what_to_delete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokumei.core.locks.LONGEST_WAIT", 0.0)
    path = tmp_path / "account.toml"
    with _held_by_a_file(path):
        with pytest.raises(InputError, match=r"delete \.account\.toml\.lock"), _held_by_a_file(path):
            pass
        assert (tmp_path / ".account.toml.lock").exists()
    with _held_by_a_file(path):
        pass
    assert not list(tmp_path.iterdir())
