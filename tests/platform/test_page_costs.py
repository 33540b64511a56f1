"""What a page costs does not grow with what was handed in, and what is worked out once is worked out right."""

from __future__ import annotations

import os
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import odd_edition, open_contest, release  # noqa: F401 - fixtures among them.

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, Standing, TeamEntry
from tokumei.contest.season import place_teams, which_counts
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Counts, Kind, State, Submission
from tokumei.platform.contests.services import scoreboard, teamwork
from tokumei.platform.contests.services.rulebook import counting_key, counting_releases, edition_of
from tokumei.platform.contests.services.teamwork import HistoryPoint
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db


def add(
    contest: Contest, team: Team, by: User, at: datetime, target: Team | None = None, value: float = 0.5
) -> Submission:
    """Enter a scored release, or a guess at somebody's."""
    if target is None:
        facts: dict[str, Any] = {"kind": Kind.RELEASE}
        score: dict[str, Any] = {"details": {}, "utility": value, "safety": None, "flags": []}
    else:
        facts = {"kind": Kind.GUESS, "target": target, "knowledge": "half"}
        score = {"success": value, "details": {}, "is_proof": None}
    return Submission.objects.create(
        contest=contest, team=team, by=by, at=at, state=State.SCORED, finished_at=timezone.now(), score=score, **facts
    )


def plain_history(contest: Contest) -> list[HistoryPoint]:
    """Rank anew after each submission, as an organizer sees it."""
    came: dict[str, list[ReleaseScore]] = {}
    counted: dict[str, ReleaseScore] = {}
    rank = edition_of(contest).rank
    guesses: dict[str, list[Attempt]] = {}
    shown: dict[str, tuple[float | None, int]] = {}
    points = []
    for one in contest.submissions.filter(state=State.SCORED).order_by("at", "pk"):
        if one.target is None:
            scores = came.setdefault(one.team.slug, [])
            scores.append(ReleaseScore.of(one.score or {}))
            counted[one.team.slug] = which_counts(contest.counts, scores, rank, lambda score: score)
        else:
            made = Attempt(one.team.slug, one.knowledge, GuessScore.of(one.score or {}))
            guesses.setdefault(one.target.slug, []).append(made)
        entered = [TeamEntry(team, score, tuple(guesses.get(team, ()))) for team, score in counted.items()]
        for line in rank(entered):
            if shown.get(line.team) != (line.value, line.place):
                shown[line.team] = (line.value, line.place)
                points.append(HistoryPoint(one.at, line.team, line.value, line.place))
    return points


@pytest.mark.parametrize("counts", [Counts.LATEST, Counts.BEST])
def test_history_that_is_kept_is_the_one_that_is_made_anew(
    contest: Contest, organizer: User, team: Team, other_team: Team, alice: User, mallory: User, counts: str
) -> None:
    contest.counts = counts
    contest.save()
    draw, now = random.Random(3), timezone.now()
    for _ in range(25):
        (one, by), (other, _whose) = draw.sample([(team, alice), (other_team, mallory)], 2)
        # Some are scored later than others that came after them.
        at = now + timedelta(seconds=draw.randrange(1000))
        add(contest, one, by, at, draw.choice([None, other]), draw.choice([0.1, 0.2, 0.3]))
        assert teamwork.history(contest, organizer) == plain_history(contest)


def test_submission_that_is_deleted_while_history_is_made_is_not_in_it(
    contest: Contest, organizer: User, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = add(contest, team, alice, timezone.now(), value=0.1)
    needed = teamwork._needed

    def delete_meanwhile(*given: Any, **how: Any) -> list[int]:
        found = needed(*given, **how)
        Submission.objects.filter(pk=gone.pk).delete()
        return found

    monkeypatch.setattr(teamwork, "_needed", delete_meanwhile)
    assert teamwork.history(contest, organizer) == plain_history(contest)


def test_history_of_very_many_ends_as_the_board(
    contest: Contest, organizer: User, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teamwork, "MOST_MOMENTS", 4)
    now = timezone.now()
    for number in range(11):
        add(contest, team, alice, now + timedelta(seconds=number), value=number / 20)
        board = {line.team: (line.value, line.place) for line in scoreboard.standings(contest, organizer).lines}
        last = {point.team: (point.value, point.place) for point in teamwork.history(contest, organizer)}
        assert last == board
    # Of 13 with what was there before, at most four and the last are ranked: every fourth.
    assert teamwork._spread(13) == {3, 7, 11, 12}
    assert teamwork._spread(4) == {0, 1, 2, 3}


def test_what_counts_is_found_alike_for_one_team_and_for_all(
    contest: Contest, team: Team, other_team: Team, alice: User
) -> None:
    now = timezone.now()
    add(contest, team, alice, now + timedelta(seconds=5))
    add(contest, team, alice, now + timedelta(seconds=2))
    for _ in range(2):
        counting = {number: one.key for number, one in counting_releases(contest).items()}
        for each in (team, other_team):
            assert counting_key(contest, each.pk) == counting.get(each.pk)
        contest.participations.filter(team=other_team).update(disqualified_at=now)
    assert set(counting) == {team.pk}


@pytest.mark.parametrize("page", ["", "contests/cup", "contests/cup/submissions", "contests/cup/scoreboard"])
def test_queries_and_rankings_of_a_page_do_not_grow_with_submissions(
    page: str, contest: Contest, log_in: LogIn, alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = log_in(alice)
    ranked: list[Any] = []
    edition = type(edition_of(contest))
    rank = edition.rank

    def counted(self: Any, entries: Any) -> Any:
        ranked.append(entries)
        return rank(self, entries)

    monkeypatch.setattr(edition, "rank", counted)
    counts = []
    for n_more in (2, 20):
        for number in range(n_more):
            add(contest, team, alice, timezone.now() + timedelta(seconds=number))
        with CaptureQueriesContext(connection) as asked:
            client.get(f"/{page}")
        # Whoever comes first after a score asks for what was scored, but not for each of them.
        assert len(asked) <= N_QUERIES[page] + N_AFTER_A_SCORE
        ranked.clear()
        with CaptureQueriesContext(connection) as asked:
            assert client.get(f"/{page}").status_code == 200
        counts.append(len(asked))
        # Nobody ranks again what somebody ranked.
        assert not ranked
    assert counts[0] == counts[1] <= N_QUERIES[page]


# The session, who is logged in, their notices, and of a contest its row, its teams and its organizers make six of them.
N_AFTER_A_SCORE = 5
N_QUERIES = {"": 15, "contests/cup": 10, "contests/cup/submissions": 11, "contests/cup/scoreboard": 8}


def test_figure_is_at_most_a_moment_behind_and_drawn_no_more_often(
    contest: Contest, log_in: LogIn, alice: User, team: Team
) -> None:
    client, address = log_in(alice), "/contests/cup/figures/standings.svg"
    first = client.get(address)
    assert first["Cache-Control"] == "private, max-age=30"
    release(contest, team, alice, "60 60 60 60 60 10")
    assert client.get(address).content == first.content
    _let_pass(contest, 31)
    assert client.get(address).content != first.content
    # The one before is kept for those who come while another is drawn; what was drawn before that is forgotten.
    _let_pass(contest, 301)
    release(contest, team, alice, "60 60 60 60 60 20")
    client.get(address)
    assert len(_drawn(contest)) == 2


def _let_pass(contest: Contest, seconds: float) -> None:
    """Make all that was drawn older by so many seconds."""
    for path in _drawn(contest):
        os.utime(path, times=(path.stat().st_mtime - seconds,) * 2)


def _drawn(contest: Contest) -> list[Path]:
    return list((Path(settings.MEDIA_ROOT) / "figures" / contest.folder_key).glob("*.svg"))


def test_equal_values_share_a_place_and_the_next_is_as_many_lower() -> None:
    values = {"a": 2.0, "b": 1.0, "c": 1.0, "d": None}
    lines = [Standing(0, team, value, 0.0, None, {}) for team, value in values.items()]
    assert [(line.team, line.place) for line in place_teams(lines)] == [("b", 1), ("c", 1), ("a", 3), ("d", 4)]
