"""A clock that is set back, and a data folder that others can read."""

from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.environment import create_data_folder


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
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    create_data_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "could be read by others" in capsys.readouterr().err
