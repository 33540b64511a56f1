"""A tiny edition, registered as another package would register its own, and a contest of it."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tokumei.contest.edition import EDITIONS, Edition
from tokumei.contest.folder import Contest
from tokumei.contest.phases import attack, judge, prepare, publish, submit


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Edition:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    point = EntryPoint("tiny", "tiny_edition:Tiny", "tokumei.contest.editions")
    monkeypatch.setitem(EDITIONS._found, "tiny", point)
    return EDITIONS.make("tiny")


@pytest.fixture
def contest(tiny: Edition, tmp_path: Path) -> Contest:
    """A contest whose data was just prepared: n0,10 … n5,60."""
    source = tmp_path / "source.csv"
    source.write_text("".join(f"n{row},{10 * row + 10}\n" for row in range(6)))
    return prepare(tiny, tmp_path / "contest", seed=1, source=source)


@pytest.fixture
def closed_up(contest: Contest, tmp_path: Path) -> Contest:
    """A contest in which two teams released and attacked each other, and all guesses are judged."""
    for team, rows in {"alpha": "11 20 30 40 50 60", "beta": "60 60 60 60 60 60"}.items():
        submit(contest, team, written(tmp_path / "R.csv", rows))
    publish(contest)
    attack(contest, "alpha", "beta", written(tmp_path / "G.csv", "0 1 2 3 4 5"), knowledge="half")
    attack(contest, "beta", "alpha", written(tmp_path / "G.csv", "5 4 3 2 1 0"), knowledge="all")
    judge(contest)
    return contest


def written(path: Path, rows: str) -> Path:
    """Write a file of one word a row."""
    path.write_text("".join(f"{row}\n" for row in rows.split()))
    return path


def made(folder: Path) -> Path:
    """Make a folder, as whoever calls an edition does."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder
