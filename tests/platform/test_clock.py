"""A clock that is set back, and a data folder that others can read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from tokumei.core.errors import InputError
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.start import create_data_folder


def test_clock_set_back_does_not_reopen_a_published_phase() -> None:
    now = timezone.now()
    contest = Contest(
        opens_at=now - timedelta(days=3),
        attacks_open_at=now - timedelta(days=1),
        closes_at=now + timedelta(days=1),
        prepared_at=now,
        published_at=now - timedelta(days=1),
    )
    assert contest.phase_at(now - timedelta(days=2)) == Phase.ATTACK
    contest.closed_at = now
    assert contest.phase_at(now - timedelta(days=2)) == Phase.CLOSED
    contest.published_at = contest.closed_at = None
    assert contest.phase_at(now - timedelta(days=2)) == Phase.ANONYMIZE


def test_data_folder_that_others_can_read_is_mended_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKUMEI_SECRET_KEY", raising=False)
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    create_data_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "could be read by others" in capsys.readouterr().err
    key = folder / "secret-key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    key.chmod(0o644)
    create_data_folder(folder)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_bytes() == before
    assert "secret-key could be read by others" in capsys.readouterr().err


def test_data_folder_of_somebody_else_that_others_can_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_not_ours(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", is_not_ours)
    with pytest.raises(InputError, match="only its owner can read"):
        create_data_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_server_writes_everything_for_its_owner_alone(tmp_path: Path) -> None:
    """A real command under the widest umask: no file or folder below the data folder is anybody else's to read."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TOKUMEI_", "DJANGO_"))}
    environment.pop("DATABASE_URL", None)
    before = os.umask(0)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tokumei", "user", "yuki", "--email", "y@example.org", "--data", tmp_path / "data"],
            input="a good long one\na good long one\n",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    found = [path for path in (tmp_path / "data").rglob("*") if not path.is_relative_to(tmp_path / "data" / "static")]
    assert {"tokumei.sqlite3", "secret-key"} <= {path.name for path in found}
    assert [str(path) for path in [tmp_path / "data", *found] if path.stat().st_mode & 0o077] == []
