"""What programs do by the API: everything that a team and an organizer do on the pages."""

from __future__ import annotations

import io
import json
import logging
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from tests.platform.programs import Program, program_of
from tests.platform.sites import (
    SOURCE,
    Site,
    captain,
    do_jobs,
    enter_team,
    evaluated,
    guess,
    make_contest,
    make_person,
    participation,
    release,
    run_at_once,
)

from tokumei.platform.contests.models import Board, Contest, Submission
from tokumei.platform.contests.services import joining
from tokumei.platform.files import uploads
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import begin
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Membership

GOOD = b"11\n20\n30\n40\n50\n60\n"
# |10 - 11| / 100 of six rows.
GOOD_UTILITY = 0.01 / 6


def file(content: bytes = GOOD, name: str = "R.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def begin_attacks(contest: Contest) -> None:
    """Publish the releases now."""
    Contest.objects.filter(pk=contest.pk).update(attacks_open_at=timezone.now())
    contest.refresh_from_db()
    run_at_once(begin("publish", contest.pk).pk)
    contest.refresh_from_db()
    assert contest.phase == "attack"


@pytest.fixture
def cup(site: Site) -> Contest:
    """An open contest with two teams."""
    return make_contest("red", "blue")


@pytest.fixture
def red(cup: Contest) -> Program:
    """A program of the red team's captain."""
    return program_of(captain("red"), "submit")


@pytest.fixture
def attacks(cup: Contest) -> Contest:
    """The contest in its attack phase: red and blue have released."""
    evaluated(release(cup, "red"))
    evaluated(release(cup, "blue", "10 20 30 40 50 61"))
    begin_attacks(cup)
    return cup


def test_contests_are_listed_with_the_own_team(cup: Contest, red: Program) -> None:
    page = red.get("/contests").json()
    assert page["n"] == 1
    (line,) = page["items"]
    assert (line["slug"], line["phase"], line["team"]["slug"]) == ("cup", "anonymize", "red")
    assert red.get("/contests", offset=1).json() == {"n": 1, "items": []}


def test_contest_tells_rules_limits_and_attempts_left(cup: Contest, red: Program) -> None:
    evaluated(release(cup, "red"))
    shown = red.get("/contests/cup").json()
    assert shown["rules"]["release_files"] == [{"name": "R", "file_name": "R.csv", "holds": "a number a row"}]
    assert list(shown["rules"]["knowledge_files"]) == ["half", "all"]
    assert shown["attempts"] == {
        "today_allowed": 20,
        "today_used": 1,
        "in_all_allowed": 20,
        "in_all_used": 1,
        "n_left": 19,
    }
    assert shown["limits"]["digits_shown"] == 3
    assert [team["slug"] for team in shown["teams"]] == ["blue", "red"]


def test_rules_come_in_the_language_that_is_asked_for(cup: Contest) -> None:
    program = program_of(captain("red"), **{"Accept-Language": "ja"})
    rules = program.get("/contests/cup").json()["rules"]
    assert (rules["language"], rules["title"]) == ("ja", "小さな匿名化")
    assert program.get("/contests/nothing").json()["message"] == "ページが見つかりません"


def test_release_is_submitted_evaluated_and_shown_rounded(cup: Contest, red: Program) -> None:
    answer = red.send("/contests/cup/releases", {"R": file()})
    assert answer.status_code == 201
    made = answer.json()
    assert (made["state"], made["is_final"], made["score"]) == ("waiting", False, None)
    run_at_once(Job.objects.get(submission__key=made["key"]).pk)
    shown = red.get(f"/submissions/{made['key']}").json()
    assert (shown["state"], shown["is_final"], shown["is_score_hidden"]) == ("scored", True, False)
    assert Submission.objects.get().score == {
        "details": {"moved": 0.01},
        "utility": GOOD_UTILITY,
        "safety": None,
        "flags": [],
    }
    assert shown["score"]["utility"] == 0.002
    listed = red.get("/contests/cup/submissions").json()
    assert listed == {"n": 1, "items": [shown]}
    assert red.get("/submissions").json() == listed
    assert red.get("/contests/cup/submissions", kind="guess").json() == {"n": 0, "items": []}
    back = red.get(f"/submissions/{made['key']}/files/R.csv")
    assert b"".join(back.streaming_content) == GOOD


def test_release_as_a_zip_is_taken_under_any_name(cup: Contest, red: Program) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("R.csv", GOOD)
    assert red.send("/contests/cup/releases", {"whatever": file(packed.getvalue(), "my.zip")}).status_code == 201


def test_refused_release_tells_its_faults_with_line_and_value(cup: Contest, red: Program) -> None:
    made = red.send("/contests/cup/releases", {"R": file(b"11\nx\n30\n40\n50\n60\n")}).json()
    run_at_once(Job.objects.get(submission__key=made["key"]).pk)
    shown = red.get(f"/submissions/{made['key']}").json()
    assert (shown["state"], shown["n_faults"]) == ("refused", 1)
    (fault,) = shown["faults"]
    assert (fault["line"], fault["value"], fault["expected"]) == (2, "x", "a whole number")
    assert fault["rule"] == "number"


@pytest.mark.parametrize("files", [{}, {"R": file(b"")}, {"S": file(), "T": file()}])
def test_upload_that_is_not_what_the_edition_wants_is_400_and_costs_nothing(
    cup: Contest, red: Program, files: dict[str, Any]
) -> None:
    answer = red.send("/contests/cup/releases", files)
    assert answer.status_code == 400
    assert answer.json()["error"] == "InputError"
    assert answer.json()["n_faults"] == len(answer.json()["faults"]) == 1
    assert red.get("/contests/cup").json()["attempts"]["in_all_used"] == 0


def test_upload_as_json_is_400(cup: Contest, red: Program) -> None:
    answer = red.call("POST", "/contests/cup/releases", {"R": "11"})
    assert (answer.status_code, answer.json()["error"]) == (400, "InputError")


def test_submitting_at_the_wrong_time_is_403_with_the_reason(attacks: Contest, red: Program) -> None:
    answer = red.send("/contests/cup/releases", {"R": file()})
    assert answer.status_code == 403
    assert answer.json() == {
        "error": "NotAllowed",
        "message": "Releases are accepted only while the contest is open for them.",
    }


def test_guess_is_submitted_and_shown_without_what_would_undo_the_rounding(attacks: Contest, red: Program) -> None:
    (target,) = red.get("/contests/cup/targets").json()
    assert (target["team"]["slug"], target["attempts"]["all"]["n_left"]) == ("blue", 10)
    answer = red.send("/contests/cup/targets/blue/guesses?knowledge=all", {"G": file(b"0\n1\n2\n3\n4\n5\n", "G.csv")})
    assert answer.status_code == 201
    key = answer.json()["key"]
    run_at_once(Job.objects.get(submission__key=key).pk)
    shown = red.get(f"/submissions/{key}").json()
    assert (shown["target"], shown["knowledge"], shown["state"]) == ("blue", "all", "scored")
    assert (shown["score"], shown["is_score_hidden"]) == (None, True)
    Contest.objects.update(shows_guess_scores=True)
    shown = red.get(f"/submissions/{key}").json()
    assert shown["score"]["success"] in (0, 0.25, 0.5, 0.75)
    assert (shown["score"]["details"], shown["score"]["is_proof"]) == ({}, False)


def test_guess_with_an_unknown_level_is_400_and_at_ones_own_release_404(attacks: Contest, red: Program) -> None:
    rows = b"0\n1\n2\n3\n4\n5\n"
    unknown = red.send("/contests/cup/targets/blue/guesses?knowledge=most", {"G": file(rows)})
    assert (unknown.status_code, unknown.json()["faults"][0]["value"]) == (400, "most")
    assert red.send("/contests/cup/targets/red/guesses?knowledge=all", {"G": file(rows)}).status_code == 404


def test_files_are_listed_and_sent_as_they_are_published(cup: Contest, red: Program) -> None:
    (data,) = red.get("/contests/cup/files").json()
    assert (data["kind"], data["name"], data["n_bytes"]) == ("data", "D.csv", len(SOURCE))
    sent = red.get("/contests/cup/files/data/D.csv")
    assert sent["Content-Type"] == "application/octet-stream"
    assert sent["Content-Disposition"] == 'attachment; filename="D.csv"'
    assert b"".join(sent.streaming_content) == SOURCE
    evaluated(release(cup, "blue"))
    begin_attacks(cup)
    found = {(one["kind"], one["team"], one["level"]): one["name"] for one in red.get("/contests/cup/files").json()}
    assert found == {
        ("data", "", ""): "D.csv",
        ("knowledge", "", "half"): "K50.csv",
        ("knowledge", "", "all"): "K100.csv",
        ("release", "blue", ""): "P.csv",
    }
    published = red.get("/contests/cup/files/release/P.csv", team="blue")
    assert sorted(b"".join(published.streaming_content).split()) == sorted(GOOD.split())
    assert red.get("/contests/cup/files/release/P.csv").status_code == 404


def test_scoreboard_is_as_the_organizer_sets_it(attacks: Contest, red: Program) -> None:
    evaluated(guess(attacks, "red", "blue"))
    Contest.objects.update(shows_guess_scores=True)
    board = red.get("/contests/cup/scoreboard").json()
    assert (board["digits"], board["is_hidden"], len(board["lines"])) == (3, False, 2)
    assert {line["team"]["slug"]: line["utility"] for line in board["lines"]} == {"red": 0.002, "blue": 0.002}
    assert [(one["attacker"], one["target"]) for one in board["attacks"]] == [("red", "blue")]
    Contest.objects.update(board=Board.HIDDEN)
    hidden = red.get("/contests/cup/scoreboard").json()
    assert (hidden["is_hidden"], hidden["lines"], hidden["attacks"]) == (True, [], [])
    exact = program_of(attacks.organizer, "read").get("/contests/cup/scoreboard").json()
    assert exact["digits"] is None
    assert {line["utility"] for line in exact["lines"]} == {GOOD_UTILITY}


def test_team_joins_and_withdraws(cup: Contest) -> None:
    user = make_person("gina")
    teams.create_team(user, slug="green", display_name="Green")
    program = program_of(user, "submit")
    assert program.get("/teams").json() == [{"slug": "green", "display_name": "Green", "role": "captain"}]
    assert program.send("/contests/cup/releases", {"R": file()}).status_code == 403
    joined = program.call("POST", "/contests/cup/join", {"team": "green"})
    assert (joined.status_code, joined.json()["team"]["slug"]) == (200, "green")
    assert program.send("/contests/cup/releases", {"R": file()}).status_code == 201
    assert program.call("POST", "/contests/cup/withdraw").status_code == 204
    assert program.get("/contests/cup").json()["team"] is None


def test_member_who_is_no_captain_neither_joins_nor_withdraws(cup: Contest) -> None:
    member, team = make_person("mia"), participation(cup, "red").team
    # As one who came in before the team joined.
    Membership.objects.create(team=team, user=member)
    program = program_of(member, "submit")
    assert program.call("POST", "/contests/cup/withdraw").status_code == 403
    assert program.call("POST", "/contests/cup/join", {"team": "red"}).status_code == 403
    assert program.call("POST", "/contests/cup/join", {"team": "blue"}).status_code == 404


def test_private_contest_is_joined_by_invitation(site: Site) -> None:
    contest = make_contest(is_public=False)
    user = make_person("gina")
    teams.create_team(user, slug="green", display_name="Green")
    program = program_of(user, "submit")
    assert program.get("/contests").json()["n"] == 0
    assert program.call("POST", "/contests/cup/join", {"team": "green"}).status_code == 404
    _, invitation = joining.invite(contest)
    wrong = program.call("POST", "/contests/other/join", {"team": "green", "invitation": invitation})
    assert wrong.status_code == 404
    joined = program.call("POST", "/contests/cup/join", {"team": "green", "invitation": invitation})
    assert joined.status_code == 200
    assert program.get("/contests/cup").status_code == 200


def new_contest(**more: Any) -> dict[str, Any]:
    now = timezone.now()
    moments = {"opens_at": now, "attacks_open_at": now + timedelta(days=1), "closes_at": now + timedelta(days=2)}
    written = {name: moment.isoformat() for name, moment in moments.items()}
    return {"slug": "spring", "title": "Spring cup", "edition": "odd", "options": {"n_rows": "8"}} | written | more


def test_organizer_makes_a_contest_changes_it_and_announces(site: Site) -> None:
    program = program_of(make_person("olga", is_organizer=True))
    made = program.call("POST", "/contests", new_contest(releases_in_all=3))
    assert made.status_code == 201, made.content
    assert (made.json()["phase"], made.json()["limits"]["releases_in_all"]) == ("preparing", 3)
    contest = Contest.objects.get()
    assert contest.options == {"n_rows": 8}
    run_at_once(Job.objects.get().pk)
    (data,) = program.get("/contests/spring/files").json()
    sent = program.get(f"/contests/spring/files/data/{data['name']}")
    assert len(b"".join(sent.streaming_content).splitlines()) == 8
    later = contest.closes_at + timedelta(days=1)
    schedule = {
        "opens_at": contest.opens_at.isoformat(),
        "attacks_open_at": contest.attacks_open_at.isoformat(),
        "closes_at": later.isoformat(),
    }
    assert program.call("PUT", "/contests/spring/schedule", schedule).status_code == 200
    board = {"board": "frozen", "digits_shown": 2, "shows_guess_scores": False}
    assert program.call("PUT", "/contests/spring/board", board).json()["limits"]["board"] == "frozen"
    contest.refresh_from_db()
    assert (contest.closes_at, contest.digits_shown) == (later, 2)
    said = {"title": "Welcome", "text": "Read the rules.\nThen begin."}
    assert program.call("POST", "/contests/spring/announcements", said).status_code == 201
    (listed,) = program.get("/contests/spring/announcements").json()
    assert {name: listed[name] for name in said} == said


@pytest.mark.parametrize(
    ("wrong", "column"),
    [
        ({"edition": "od"}, "edition"),
        ({"options": {"n_rows": "many"}}, "n_rows"),
        ({"slug": "new"}, "slug"),
        ({"slug": "No Slug"}, "slug"),
        ({"closes_at": "2026-01-01T00:00:00"}, "closes_at"),
        ({"closes_at": "9999-12-31T23:59:59-12:00"}, "closes_at"),
        ({"digits_shown": 16}, "digits_shown"),
        ({"color": "red"}, "color"),
        ({"title": "a\x00b"}, "title"),
    ],
)
def test_contest_that_cannot_be_is_400_and_says_where(site: Site, wrong: dict[str, Any], column: str) -> None:
    program = program_of(make_person("olga", is_organizer=True))
    answer = program.call("POST", "/contests", new_contest(**wrong))
    assert answer.status_code == 400
    assert [fault["column"] for fault in answer.json()["faults"]] == [column]
    assert Contest.objects.count() == 0


def test_contest_by_who_is_no_organizer_is_403(site: Site) -> None:
    assert program_of(make_person("gina")).call("POST", "/contests", new_contest()).status_code == 403


def test_closed_contest_can_be_exported_with_its_key(attacks: Contest, red: Program) -> None:
    assert red.get("/contests/cup/export").status_code == 403
    assert red.get("/contests/cup").json()["key"] == ""
    Contest.objects.update(closes_at=timezone.now())
    attacks.refresh_from_db()
    run_at_once(begin("close", attacks.pk).pk)
    do_jobs("contest")
    sent = red.get("/contests/cup/export")
    with zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))) as archive:
        assert "cup/public/data/D.csv" in archive.namelist()
        assert archive.read("cup/secret/key").decode().strip() == red.get("/contests/cup").json()["key"]
        head = json.loads(archive.read("cup/head.json"))["hash"]
    assert red.get("/contests/cup").json()["heads"]["close"] == head


def test_full_disk_is_507_and_costs_nothing(cup: Contest, red: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(*given: Any, **options: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(uploads, "_store", is_full)
    answer = red.send("/contests/cup/releases", {"R": file()})
    assert (answer.status_code, answer.json()["error"]) == (507, "DiskFull")
    assert Submission.objects.count() == 0


def test_body_that_is_too_large_is_413_unread(cup: Contest, red: Program, settings: Any) -> None:
    settings.MAX_REQUEST_BYTES = 1000
    answer = red.send("/contests/cup/releases", {"R": file(5000 * b"1")})
    assert (answer.status_code, answer.json()["error"]) == (413, "TooLarge")


def test_json_body_that_is_too_large_is_413(site: Site, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answer = program_of(make_person("olga", is_organizer=True)).call(
        "POST", "/contests", new_contest(own_toml=5000 * "#")
    )
    assert (answer.status_code, answer.json()["error"]) == (413, "TooLarge")


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "\x00", "{" * 100_000, '{"a": NaN}'])
def test_body_that_is_no_json_object_is_400(site: Site, body: str) -> None:
    program = program_of(make_person("olga", is_organizer=True))
    answer = program.call("POST", "/contests", body)
    assert (answer.status_code, answer.json()["error"]) == (400, "InputError")


def test_nothing_below_api_is_html(site: Site, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(make_person("gina"))
    client.raise_request_exception = False
    program.client.raise_request_exception = False
    from tokumei.platform.api import operations

    def fail(user: Any) -> Any:
        raise RuntimeError("a secret")

    monkeypatch.setattr(operations, "teams_of", fail)
    answers = {
        "unknown": client.get("/api/nothing"),
        "unknown version": client.get("/api/v2/me"),
        "method": client.delete("/api/v1/me"),
        "broken": program.get("/teams"),
        "host": client.get("/api/v1/me", headers={"Host": "evil.example"}),
        "form": program.send("/contests/x/join", {"team": "red"}),
    }
    statuses = {name: answer.status_code for name, answer in answers.items()}
    assert statuses == {
        "unknown": 404,
        "unknown version": 404,
        "method": 405,
        "broken": 500,
        "host": 400,
        "form": 400,
    }
    for answer in answers.values():
        assert answer["Content-Type"] == "application/json"
        assert set(answer.json()) >= {"error", "message"}
        assert "a secret" not in answer.content.decode()
    assert answers["method"]["Allow"] == "GET"


def test_canaries_of_the_truth_are_in_no_answer_and_no_log(
    attacks: Contest, red: Program, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = [path.read_bytes() for path in (attacks.folder / "secret").rglob("*") if path.is_file()]
    assert secrets
    paths = ["/contests", "/submissions", "/teams", "/me"]
    paths += [f"/contests/cup{rest}" for rest in ("", "/files", "/targets", "/scoreboard", "/submissions")]
    said = b"".join(red.get(path).content for path in paths) + caplog.text.encode()
    for secret in secrets:
        assert secret.strip() not in said
    assert str(attacks.folder).encode() not in said
    assert attacks.folder_key.encode() not in said


def test_other_teams_join_the_same_contest_by_the_same_rules(cup: Contest, red: Program) -> None:
    again = red.call("POST", "/contests/cup/join", {"team": "red"})
    assert again.status_code == 200
    enter_team(cup, "green")
    assert [team["slug"] for team in red.get("/contests/cup").json()["teams"]] == ["blue", "green", "red"]
    assert Path(cup.folder).is_dir()
