"""The process that draws the figures of a contest beside the pages."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep

import polars as pl
import pytest

from tokumei.platform.contests import drawing
from tokumei.platform.contests.drawing import Drawer, DrawingFailed
from tokumei.platform.jobs import process
from tokumei.reports.figures import history_figure, standings_figure

TEAMS = [
    {"team": "alpha", "utility": 0.25, "safety": 0.5, "is_ranked": True},
    {"team": "匿名", "utility": 0.5, "safety": 0.25, "is_ranked": False},
]
TITLES = {"x_title": "use lost", "y_title": "safety lost"}


@pytest.fixture
def drawer() -> Iterator[Drawer]:
    made = Drawer()
    yield made
    made.end()


def test_figures_are_those_that_this_process_would_draw(drawer: Drawer) -> None:
    assert drawer.draw("standings_figure", TEAMS, TITLES) == standings_figure(pl.DataFrame(TEAMS), **TITLES)
    titles = {"time_title": "when", "value_title": "lost", "team_title": "team"}
    # A team whose score is missing, and then nobody's there.
    for best in ([None, 0.5], [None, None]):
        rows = [{"team": "alpha", "at": f"2026-05-0{day}T12:00:00", "best": value} for day, value in enumerate(best, 1)]
        days = [datetime(2026, 5, day, 12) for day in (1, 2)]
        points = pl.DataFrame({"team": ["alpha"] * 2, "at": days, "best": best}, schema_overrides={"best": pl.Float64})
        assert drawer.draw("history_figure", rows, titles) == history_figure(points, **titles)


def test_process_that_was_killed_is_followed_by_another(drawer: Drawer) -> None:
    first = drawer.draw("standings_figure", TEAMS, TITLES)
    pid = drawer.pid
    os.kill(pid, signal.SIGKILL)
    assert drawer.draw("standings_figure", TEAMS, TITLES) == first
    assert drawer.pid != pid


def test_process_that_takes_for_ever_is_given_up(drawer: Drawer, monkeypatch: pytest.MonkeyPatch) -> None:
    first = drawer.draw("standings_figure", TEAMS, TITLES)
    os.kill(drawer.pid, signal.SIGSTOP)
    monkeypatch.setattr(drawing, "MOST_SECONDS", 0.2)
    monkeypatch.setattr(drawing, "MOST_ATTEMPTS", 1)
    with pytest.raises(DrawingFailed):
        drawer.draw("standings_figure", TEAMS, TITLES)
    monkeypatch.undo()
    assert drawer.draw("standings_figure", TEAMS, TITLES) == first


def test_what_cannot_be_drawn_is_said_and_nothing_after_it_suffers(drawer: Drawer) -> None:
    with pytest.raises(DrawingFailed):
        drawer.draw("standings_figure", [{"team": "without numbers"}], TITLES)
    assert "<svg" in drawer.draw("standings_figure", TEAMS, TITLES)


def test_process_stands_back_and_ends_with_its_drawer(drawer: Drawer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "NICENESS", 10)
    drawer.draw("standings_figure", TEAMS, TITLES)
    pid = drawer.pid
    assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
    # Standing back is for whole sessions: in ours, this process would stand back too.
    assert os.getsid(pid) != os.getsid(0)
    drawer.end()
    give_up = monotonic() + 30
    while Path(f"/proc/{pid}").exists() and monotonic() < give_up:
        sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
