"""The organizers' console: every change it makes, who may make it, and the line that stays of it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.test import Client
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    everybody,
    finish,
    guess,
    move_to,
    odd_edition,
    open_contest,
    participation,
    read,
    release,
    text_of,
)
from tests.platform.sites import do_jobs

from tokumei.contest.log import read_log
from tokumei.contest.replay import replay
from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, OrganizerAction, Phase, State
from tokumei.platform.contests.services import joining, steering
from tokumei.platform.contests.services.scoreboard import standings, winners_of
from tokumei.platform.teams import services as team_services
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db
CONSOLE = "/contests/cup/organize"


def post(client: Client, page: str, status: int = 302, **given: Any) -> str:
    answer = client.post(f"{CONSOLE}/{page}", given)
    assert answer.status_code == status, text_of(answer)
    return text_of(client.get(CONSOLE)) if status == 302 else text_of(answer)


def test_texts_limits_and_board_are_changed_with_a_line_of_what_they_were(
    contest: Contest, organizer: User, log_in: LogIn
) -> None:
    client = log_in(organizer)
    limits = {"releases_a_day": 7, "releases_in_all": 30, "guesses_a_day": 9, "guesses_on_one": 1}
    assert "The limits are changed." in post(client, "limits", **limits)
    too_many = post(client, "limits", 400, **limits | {"guesses_on_one": 999})
    assert "at most" in too_many
    texts: dict[str, Any] = {
        "title": "New <i>title</i>",
        "description": "**Bold** <script>x</script>",
        "description_ja": "**太字**",
    }
    assert "The texts are changed." in post(client, "texts", **texts)
    page = Client().get("/contests/cup").content.decode()
    assert "<strong>Bold</strong> &lt;script&gt;x&lt;/script&gt;" in page
    japanese = Client().get("/contests/cup", headers={"accept-language": "ja"}).content.decode()
    assert "<strong>太字</strong>" in japanese
    contest.refresh_from_db()
    assert contest.releases_a_day == 7
    said = text_of(client.get(f"{CONSOLE}/log"))
    assert "changed the limits" in said
    assert "5 → 7" in said
    assert "Olga" in said
    n_actions = OrganizerAction.objects.count()
    post(client, "limits", **limits)
    assert OrganizerAction.objects.count() == n_actions, "nothing changed, so that nothing is noted"


def test_next_phase_begins_at_once_and_a_page_left_open_cannot_close_the_wrong_one(
    contest: Contest, organizer: User, log_in: LogIn
) -> None:
    client = log_in(organizer)
    post(client, "phase", 403, move="close")
    assert "The next phase begins." in post(client, "phase", move="attack")
    contest.refresh_from_db()
    assert contest.phase == Phase.PUBLISHING
    contest = move_to(contest, Phase.ATTACK)
    post(client, "phase", 403, move="attack")
    post(client, "phase", move="close")
    contest.refresh_from_db()
    assert contest.phase == Phase.CLOSING
    assert [one.what for one in contest.actions.all()[:2]] == ["phase_now", "phase_now"]


def test_held_results_are_the_organizers_alone_until_they_let_them_go(
    contest: Contest, organizer: User, team: Team, alice: User, other_team: Team, log_in: LogIn
) -> None:
    client = log_in(organizer)
    assert "The results are held back." in post(client, "hold", hold="yes")
    contest = move_to(contest, Phase.ATTACK)
    made = guess(contest, team, alice, other_team)
    contest = move_to(contest, Phase.CLOSED)
    player = log_in(alice)
    assert standings(contest, alice).seen.has_attacks is False
    assert standings(contest, organizer).seen.has_attacks is True
    assert "shown at the end" in text_of(player.get("/contests/cup/submissions?kind=guess"))
    assert contest.key not in player.get("/contests/cup").content.decode()
    assert player.get("/contests/cup/export").status_code == 403
    assert "hold the results back" in text_of(player.get("/contests/cup"))
    assert winners_of(contest) == []
    post(client, "hold", hold="no")
    contest.refresh_from_db()
    assert standings(contest, alice).seen.has_attacks is True
    assert contest.key in player.get("/contests/cup").content.decode()
    assert winners_of(contest) != []
    post(client, "hold", 403, hold="yes")
    assert made.state == State.SCORED


def test_submissions_are_judged_again_until_the_log_holds_them(
    contest: Contest, organizer: User, log_in: LogIn
) -> None:
    client = log_in(organizer)
    first = contest.submissions.order_by("pk").first()
    assert first is not None
    before = first.score
    type(first).objects.filter(pk=first.pk).update(score={"utility": 0.5, "safety": None, "details": {}})
    post(client, "rejudge", submission=first.key)
    first.refresh_from_db()
    assert (first.state, first.score) == (State.WAITING, None)
    finish(first.job)
    first.refresh_from_db()
    assert (first.state, first.score) == (State.SCORED, before)
    noted = contest.actions.get(what="rejudge")
    assert noted.details == {"n": 1, "before": {first.key: 0.5}}
    assert client.post(f"{CONSOLE}/rejudge", {"submission": "0" * 24}).status_code == 404
    post(client, "rejudge", team="blue-team")
    waiting = contest.submissions.filter(state=State.WAITING)
    assert [one.team.slug for one in waiting] == ["blue-team"]
    finish(waiting[0].job)
    contest = move_to(contest, Phase.ATTACK)
    with pytest.raises(NotAllowed, match="fixed by the log"):
        steering.rejudge(contest, organizer, [first])


def test_disqualified_team_counts_no_more_and_everybody_reads_why(
    contest: Contest, organizer: User, team: Team, alice: User, log_in: LogIn
) -> None:
    client, number = log_in(organizer), participation(contest, team).pk
    assert "This field is required." in post(client, f"teams/{number}/disqualify", 400, reason=" ")
    post(client, f"teams/{number}/disqualify", reason="Two teams of <b>one</b> person")
    assert [line.team for line in standings(contest, None).lines] == ["blue-team"]
    said = Client().get("/contests/cup/scoreboard").content.decode()
    assert "Red Team: Two teams of &lt;b&gt;one&lt;/b&gt; person" in said
    with pytest.raises(NotAllowed, match="disqualified"):
        release(contest, team, alice)
    post(client, f"teams/{number}/disqualify", 403, reason="again")
    post(client, f"teams/{number}/readmit")
    assert {line.team for line in standings(contest, None).lines} == {"blue-team", "red-team"}
    assert [one.what for one in contest.actions.all()[:2]] == ["readmit", "disqualify"]


def test_attacks_of_a_disqualified_team_hurt_nobody_and_the_contest_still_closes(
    contest: Contest, organizer: User, team: Team, alice: User, other_team: Team
) -> None:
    contest = move_to(contest, Phase.ATTACK)
    guess(contest, team, alice, other_team)
    steering.disqualify(participation(contest, team), organizer, "shared its truth")
    contest = move_to(contest, Phase.CLOSED)
    (line,) = standings(contest, None).lines
    assert line.team == "blue-team"
    without = [entry.attempts for entry in entries_of(contest)]
    assert without == [()]
    assert ranked_by_the_folder(contest) == ["blue-team"]


def test_disqualifying_and_readmitting_after_the_end_amends_the_folder_that_anybody_replays(
    contest: Contest, organizer: User, team: Team, alice: User, other_team: Team
) -> None:
    contest = move_to(contest, Phase.ATTACK)
    guess(contest, team, alice, other_team)
    contest = move_to(contest, Phase.CLOSED)
    before, head = ranked_by_the_folder(contest), contest.heads["close"]
    assert before == [line.team for line in standings(contest, None).lines]
    steering.disqualify(participation(contest, team), organizer, "shared its truth")
    do_jobs("contest")
    contest.refresh_from_db()
    assert ranked_by_the_folder(contest) == ["blue-team"] == [line.team for line in standings(contest, None).lines]
    # What was shown before stands; what counts no more is told by a line of its own.
    replay(contest.folder, head=head)
    assert contest.heads["amend"] == replay(contest.folder).head
    (line,) = [line for line in read_log(contest.folder) if line.step == "disqualify"]
    assert (line.facts["team"], line.facts["reason"]) == ("red-team", "shared its truth")
    assert "Ranking amended" in Client().get("/contests/cup").content.decode()
    with zipfile.ZipFile(io.BytesIO(read(Client().get("/contests/cup/export")))) as packed:
        assert b"red-team" not in packed.read("cup/ranking.json")
    steering.readmit(participation(contest, team), organizer)
    do_jobs("contest")
    assert ranked_by_the_folder(contest) == before
    replay(contest.folder, head=contest.heads["amend"])


def ranked_by_the_folder(contest: Contest) -> list[str]:
    """Return the teams of the final ranking that the folder holds, which a replay agrees with."""
    replay(contest.folder)
    return [line["team"] for line in json.loads((contest.folder / "ranking.json").read_text())["ranking"]]


def entries_of(contest: Contest) -> list[Any]:
    from tokumei.platform.contests.services.rulebook import entries

    return entries(contest)


def test_co_organizer_runs_the_contest_and_cannot_play_in_it(
    contest: Contest, organizer: User, alice: User, make_user: MakeUser, log_in: LogIn
) -> None:
    client, carol = log_in(organizer), make_user("carol")
    assert log_in(carol).get(CONSOLE).status_code == 404
    assert "Saved." in post(client, "organizers", username="Carol")
    assert log_in(carol).get(CONSOLE).status_code == 200
    assert "There is nobody of this name." in post(client, "organizers", 400, username="nobody")
    assert "already" in post(client, "organizers", 400, username="carol")
    assert "cannot organize it" in post(client, "organizers", 400, username="alice")
    grey = team_services.create_team(carol, slug="grey-team", display_name="Grey Team")
    with pytest.raises(NotAllowed, match="organizer knows the truth"):
        joining.join(contest, grey, carol)
    post(client, "organizers", username="carol", do="remove")
    assert log_in(carol).get(CONSOLE).status_code == 404
    # What she saw she knows.
    with pytest.raises(NotAllowed, match="organizer knows the truth"):
        joining.join(contest, grey, carol)


def test_tables_hold_scores_and_no_formula(contest: Contest, organizer: User, team: Team, log_in: LogIn) -> None:
    Team.objects.filter(pk=team.pk).update(display_name="=1+1")
    client = log_in(organizer)

    def table(name: str) -> list[list[str]]:
        answer = client.get(f"{CONSOLE}/tables/{name}.csv")
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert answer["Content-Disposition"].startswith("attachment")
        return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))

    assert table("teams")[2][:3] == ["red-team", "'=1+1", "Alice, Bob"]
    head, *rows = table("submissions")
    assert {row[head.index("team")] for row in rows} == {"red-team", "blue-team"}
    assert all(float(row[head.index("utility")]) >= 0 for row in rows)
    assert [row[1] for row in table("standings")[1:]] == [line.team for line in standings(contest, organizer).lines]
    assert table("log")[-1][2] == "create"
    assert client.get(f"{CONSOLE}/tables/secrets.csv").status_code == 404


def test_submissions_are_listed_with_scores_by_team_kind_and_state(
    contest: Contest, organizer: User, log_in: LogIn
) -> None:
    client, page = log_in(organizer), f"{CONSOLE}/submissions"
    everything = text_of(client.get(page))
    assert "use lost" in everything
    assert everything.count("Judge again") == 2
    assert text_of(client.get(f"{page}?team=red-team&state=scored&kind=release")).count("Judge again") == 1
    assert "Nothing is handed in yet." in text_of(client.get(f"{page}?state=failed"))
    assert text_of(client.get(f"{page}?state=nonsense&page=99")).count("Judge again") == 2


@pytest.mark.parametrize("page", ["", "/teams", "/submissions", "/log"])
def test_console_is_there_for_organizers_alone_in_both_languages(
    contest: Contest, people: dict[str, User | None], log_in: LogIn, page: str
) -> None:
    for role, user in people.items():
        client = Client() if user is None else log_in(user)
        expected = {"visitor": 302, "organizer": 200, "admin": 200}.get(role, 404)
        assert client.get(CONSOLE + page).status_code == expected, role
        assert client.get(CONSOLE + page, headers={"accept-language": "ja"}).status_code == expected, role
