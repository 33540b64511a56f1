"""The demo, by small scripts; the real ones are played in test_serve.py."""

from __future__ import annotations

import json
import stat
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.test import RequestFactory
from django.utils import timezone
from tests.platform.sites import Site, make_contest, make_person

from tokumei.contest.edition import EDITIONS
from tokumei.core.errors import InputError
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Phase, State, Submission
from tokumei.platform.contests.services import scoreboard
from tokumei.platform.demo import play, set_up
from tokumei.platform.demo.script import ATTACK, CLOSED, OPEN, SIDES, Script, ScriptedGuess, ScriptedRelease, move
from tokumei.platform.jobs.process import Interrupted
from tokumei.platform.teams.models import Team

SMALL: dict[str, Any] = {"edition": "odd", "options": {}}
RELEASES = (ScriptedRelease("sakura", "as-is"), ScriptedRelease("maple", "tens"))
GUESSES = (ScriptedGuess("sakura", "maple", "nearest", "all"), ScriptedGuess("maple", "sakura", "in-order", "half"))


@pytest.fixture
def demo(site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site whose demo is played by the same people in a moment."""
    settings.DATA = site.folder
    monkeypatch.setattr(set_up, "ATTACK", replace(ATTACK, **SMALL, releases=RELEASES, guesses=GUESSES))
    spoilt = (ScriptedRelease("maple", "tens", is_spoilt=True), ScriptedRelease("maple", "tens"))
    monkeypatch.setattr(set_up, "OPEN", replace(OPEN, **SMALL, releases=spoilt))
    monkeypatch.setattr(set_up, "CLOSED", replace(CLOSED, **SMALL, releases=RELEASES, guesses=GUESSES[:1]))
    return site


def start(site: Site) -> str:
    """Start the demo as a server does, and do what it leaves to the worker; give what it prints."""
    lines = set_up.set_up(site.folder)
    if set_up.has_rest(site.folder):
        set_up.play_rest()
    return "\n".join(lines)


def phases() -> dict[str, str]:
    return {contest.slug: contest.phase for contest in Contest.objects.all()}


def password_in(printed: str) -> str:
    return printed.partition("password of all is")[2].split()[0]


def test_demo_has_a_contest_of_each_phase_and_log_ins_that_work(demo: Site) -> None:
    printed = start(demo)
    assert phases() == {"summer-cup": Phase.ATTACK, "autumn-cup": Phase.ANONYMIZE, "spring-cup": Phase.CLOSED}
    for name in ("organizer", "admin", "haruka", "kenta", "alice"):
        assert name in printed
        found = authenticate(RequestFactory().post("/login"), username=name, password=password_in(printed))
        assert found == User.objects.get(username=name)
    attacked = Contest.objects.get(slug="summer-cup")
    assert set(scoreboard.attack_matrix(attacked, None)) == {("sakura", "maple"), ("maple", "sakura")}
    opened = Contest.objects.get(slug="autumn-cup").submissions.order_by("at")
    assert [one.state for one in opened] == [State.REFUSED, State.SCORED]
    assert [fault["line"] for fault in opened[0].faults] == [3, 5]
    # Within their phases, and none in the future.
    for one in Submission.objects.select_related("contest"):
        begin, end = (
            (one.contest.opens_at, one.contest.attacks_open_at)
            if one.kind == Kind.RELEASE
            else (one.contest.attacks_open_at, one.contest.closes_at)
        )
        assert begin < one.at < min(end, timezone.now())


def test_password_is_drawn_for_each_folder_and_kept_to_its_owner(demo: Site) -> None:
    printed = start(demo)
    notes = demo.folder / "demo.json"
    assert stat.S_IMODE(notes.stat().st_mode) == 0o600
    assert json.loads(notes.read_text())["password"] == password_in(printed)
    assert len(password_in(printed)) >= 20


def test_second_start_doubles_nothing_and_prints_the_same(demo: Site) -> None:
    def count() -> list[int]:
        return [model.objects.count() for model in (User, Team, Contest, Submission)]

    first, counted = start(demo), count()
    assert start(demo) == first
    assert count() == counted
    # All is played: nothing is left to the worker.
    assert not set_up.has_rest(demo.folder)


def test_start_that_was_broken_off_is_taken_up(demo: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = play._finish, []

    def finish_twice(evaluation: Any) -> None:
        calls.append(evaluation)
        if len(calls) > 2:
            raise Interrupted
        real(evaluation)

    with monkeypatch.context() as broken, pytest.raises(Interrupted):
        broken.setattr(play, "_finish", finish_twice)
        set_up.set_up(demo.folder)
    assert phases() == {"summer-cup": Phase.ANONYMIZE}
    start(demo)
    assert phases() == {"summer-cup": Phase.ATTACK, "autumn-cup": Phase.ANONYMIZE, "spring-cup": Phase.CLOSED}
    made = Counter((one.contest.slug, one.kind) for one in Submission.objects.select_related("contest"))
    assert made == {
        ("summer-cup", "release"): 2,
        ("summer-cup", "guess"): 2,
        ("autumn-cup", "release"): 2,
        ("spring-cup", "release"): 2,
        ("spring-cup", "guess"): 1,
    }


def test_demo_started_after_months_looks_as_on_its_first_day(demo: Site) -> None:
    start(demo)
    before = {one.pk: one.at for one in Submission.objects.all()}
    for contest in Contest.objects.all():
        move(contest, timedelta(days=-100))
    start(demo)
    assert phases() == {"summer-cup": Phase.ATTACK, "autumn-cup": Phase.ANONYMIZE, "spring-cup": Phase.CLOSED}
    assert {one.pk: one.at for one in Submission.objects.all()} == before


def test_contest_that_went_on_gets_a_successor(demo: Site) -> None:
    start(demo)
    now = timezone.now()
    # The organizer closed the attacks while the demo ran.
    Contest.objects.filter(slug="summer-cup").update(closes_at=now, closed_at=now)
    start(demo)
    assert phases() == {
        "summer-cup": Phase.CLOSED,
        "summer-cup-2": Phase.ATTACK,
        "autumn-cup": Phase.ANONYMIZE,
        "spring-cup": Phase.CLOSED,
    }


def test_folder_in_real_use_is_refused(site: Site) -> None:
    make_person("somebody")
    with pytest.raises(InputError, match="real use"):
        set_up.set_up(site.folder)
    assert User.objects.count() == 1
    assert not (site.folder / "demo.json").exists()


def test_moving_a_contest_moves_all_of_its_times(site: Site) -> None:
    contest = make_contest(is_prepared=False)
    opens_at, closes_at = contest.opens_at, contest.closes_at
    move(contest, timedelta(days=3))
    assert (contest.opens_at, contest.closes_at) == (opens_at + timedelta(days=3), closes_at + timedelta(days=3))
    assert contest.closed_at is None


@pytest.mark.parametrize("script", [ATTACK, OPEN, CLOSED], ids=lambda script: script.slug)
def test_script_plays_what_its_edition_has(script: Script) -> None:
    edition = EDITIONS.make(script.edition, **script.options)
    teams = {side.slug for side in SIDES}
    assert {move.anonymizer for move in script.releases} <= set(edition.anonymizers())
    assert {move.attack for move in script.guesses} <= set(edition.attacks())
    assert {move.knowledge for move in script.guesses} <= set(edition.terms.knowledge_files)
    released = {move.team for move in script.releases if not move.is_spoilt}
    assert {move.target for move in script.guesses} <= released <= teams
    assert all(move.team != move.target for move in script.guesses)
