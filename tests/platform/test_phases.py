"""The phases of a contest on the server, down to a folder that the command line replays."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from tests.journey.commands import tokumei_json
from tests.platform.sites import Site, do_jobs, evaluated, guess, make_contest, participation, release, run_at_once

from tokumei.contest.folder import open_contest
from tokumei.contest.phases import ranking
from tokumei.core.errors import InputError, NotAllowed
from tokumei.data.files.reading import Reading
from tokumei.platform.contests.models import Contest, Phase, Submission
from tokumei.platform.contests.services import contests, joining, phase_work, scoreboard, showing, teamwork
from tokumei.platform.contests.services.phase_work import begin_due_work, phase_jobs
from tokumei.platform.contests.services.rulebook import edition_of
from tokumei.platform.contests.services.showing import export_folder
from tokumei.platform.jobs.models import Job
from tokumei.platform.messages import NotReady


def end_anonymizing(contest: Contest) -> Contest:
    """Let the time for releases end and the job publish them."""
    return _pass(contest, "publish", opens_at=-2, attacks_open_at=-1)


def end_attacks(contest: Contest) -> Contest:
    """Let the time for attacks end and the job close the contest."""
    return _pass(contest, "close", opens_at=-3, attacks_open_at=-2, closes_at=-1)


def _pass(contest: Contest, change: str, **hours: int) -> Contest:
    now = timezone.now()
    moved = {name: now + timedelta(hours=number) for name, number in hours.items()}
    Contest.objects.filter(pk=contest.pk).update(**moved)
    # Submissions came in before that.
    Submission.objects.filter(contest=contest).update(at=now - timedelta(hours=4))
    begin_due_work()
    for job in phase_jobs(contest).filter(kind=change):
        run_at_once(job.pk)
    return Contest.objects.get(pk=contest.pk)


def play(contest: Contest) -> Contest:
    """Play a whole contest: two releases, two guesses of which one is refused."""
    for name, rows in {"red": "11 20 30 40 50 60", "blue": "60 60 60 60 60 60"}.items():
        evaluated(release(contest, name, "0 0 0 0 0 0"))
        evaluated(release(contest, name, rows))
    evaluated(release(contest, "red", "x"))
    contest = end_anonymizing(contest)
    evaluated(guess(contest, "red", "blue", "0 1 2 3 4 5", "half"))
    evaluated(guess(contest, "red", "blue", "9 9 9 9 9 9", "half"))
    evaluated(guess(contest, "blue", "red", "5 4 3 2 1 0", "all"))
    return end_attacks(contest)


def test_contest_begins_when_its_folder_is_there(site: Site) -> None:
    contest = make_contest(is_prepared=False)
    assert contest.phase == Phase.PREPARING
    run_at_once(Job.objects.get().pk)
    contest = Contest.objects.get()
    assert contest.phase == Phase.ANONYMIZE
    assert (contest.folder / "public" / "data" / "D.csv").read_text().startswith("n0,10\n")
    assert not contest.sources.exists()


def test_contest_with_unusable_setting_is_refused_at_once(site: Site) -> None:
    with pytest.raises(InputError, match="n_rows"):
        make_contest(options={"n_row": 3})
    with pytest.raises(InputError, match="before"):
        make_contest(attacks_open_at=timezone.now() - timedelta(days=9))
    with pytest.raises(InputError, match="at most 10"):
        make_contest(guesses_on_one=11)
    with pytest.raises(InputError, match="name that ends in"):
        make_contest(source=SimpleUploadedFile("D.exe", b"x"))
    assert not Contest.objects.exists()
    assert not list((site.folder / "files").rglob("source*.*"))


def test_contest_reads_its_source_as_the_organizer_says(site: Site) -> None:
    rows = "".join(f"{one}|0{month}/15/2011|A100|12.5|2\n" for one in (11, 12, 13) for month in (3, 4))
    shop = SimpleUploadedFile("売上.csv", f"売上一覧\n会員番号|日付|商品|単価|点数\n{rows}".encode("cp932"))
    lines = "columns=customer=会員番号,date=日付,item=商品,price=単価,quantity=点数\ndate_format=%m/%d/%Y\n"
    reading = Reading.of_lines(f"{lines}--encoding = cp932\ndelimiter=|\nskip-rows=1")
    contest = make_contest(
        edition="pwscup2017", options={"n_customers": 3, "known": [50]}, source=shop, reading=reading
    )
    assert (contest.trouble, contest.trouble_details) == ("", "")
    assert len((contest.folder / "public" / "data" / "T.csv").read_text().splitlines()) == 6
    with pytest.raises(InputError, match="a data file, which is read so"):
        make_contest(source=None, reading=reading)


def test_contest_with_unusable_source_tells_its_organizer(site: Site) -> None:
    contest = make_contest(
        edition="pwscup2018", options={"n_customers": 5}, source=SimpleUploadedFile("T.csv", b"no,such,table\n")
    )
    assert contest.phase == Phase.PREPARING
    assert contest.trouble == phase_work.BAD_SOURCE
    assert contest.trouble_details


def test_visitor_replays_a_closed_contest_by_the_command_and_the_heads_that_were_shown(
    site: Site, tmp_path: Path
) -> None:
    contest = make_contest("red", "blue")
    assert_key_is_nowhere(contest)
    shown = [*heads_on_the_page()]
    contest = play(contest)
    assert (contest.phase, contest.trouble) == (Phase.CLOSED, "")
    with pytest.raises(NotReady):
        export_folder(contest)
    do_jobs("contest")
    answer: Any = Client().get("/contests/cup/export")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
        archive.extractall(tmp_path)
        # Real times would tell which file was made first.
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    # One more for each phase that ended, and the key.
    assert heads_on_the_page()[:1] == shown
    *heads, key = heads_on_the_page()
    assert len(heads) == 3
    assert (tmp_path / "cup" / "secret" / "key").read_text().strip() == key
    for head in heads:
        assert tokumei_json("contest", "replay", tmp_path / "cup", "--head", head)["n_worked_out"] > 5
    # The live board and the folder's ranking are the same digits.
    lines = scoreboard.standings(contest, None).lines
    assert lines == ranking(open_contest(tmp_path / "cup"))
    assert {line.team for line in lines} == {"red", "blue"}


def heads_on_the_page() -> list[str]:
    """Read what a visitor is shown of the log, in its order."""
    return re.findall(r'<code class="hash">([0-9a-f]{64})</code>', Client().get("/contests/cup").content.decode())


def assert_key_is_nowhere(contest: Contest) -> None:
    """No row of the database knows the key of a contest that runs."""
    key = (contest.folder / "secret" / "key").read_text().strip()
    models = [model for model in apps.get_models() if model._meta.app_label in ("contests", "jobs")]
    rows = [str(row) for model in models for row in model._base_manager.values()]
    assert len(rows) > 3
    assert key not in "".join(rows)


def test_export_before_the_end_is_refused(site: Site) -> None:
    contest = make_contest()
    with pytest.raises(NotAllowed, match="over"):
        export_folder(contest)


def test_publishing_waits_for_the_last_evaluation(site: Site) -> None:
    contest = make_contest("red", "blue")
    evaluated(release(contest, "red"))
    late = release(contest, "blue")
    contest = end_anonymizing(contest)
    assert contest.phase == Phase.PUBLISHING
    assert not Job.objects.filter(kind="publish").exists()
    evaluated(late)
    contest = end_anonymizing(contest)
    assert contest.phase == Phase.ATTACK
    assert {one.team for one in showing.downloads(contest, None) if one.kind == "release"} == {"red", "blue"}


def test_publishing_takes_up_where_it_broke_off(site: Site) -> None:
    from tokumei.contest.phases import submit

    contest = make_contest("red", "blue")
    for name in ("red", "blue"):
        found = evaluated(release(contest, name))
    # A job that entered one release and died then.
    submit(open_contest(contest.folder), "blue", found.folder)
    contest = end_anonymizing(contest)
    assert (contest.phase, contest.trouble) == (Phase.ATTACK, "")
    assert [one.team for one in open_contest(contest.folder).season().releases] == ["blue", "red"]


def test_score_that_was_changed_is_trouble_and_overwrites_nothing(site: Site) -> None:
    contest = make_contest("red")
    found = evaluated(release(contest, "red"))
    forged = {**(found.score or {}), "utility": 0.0}
    Submission.objects.filter(pk=found.pk).update(score=forged)
    contest = end_anonymizing(contest)
    assert (contest.phase, contest.trouble) == (Phase.PUBLISHING, phase_work.CHANGED_SINCE)
    assert contest.trouble_details == "red"
    assert open_contest(contest.folder).season().releases == []
    found.refresh_from_db()
    assert found.score == forged
    # Once the cause is gone, the organizer has it tried again.
    Submission.objects.filter(pk=found.pk).update(score={**forged, "utility": 0.01 / 6})
    contests.retry_work(contest)
    contest = end_anonymizing(contest)
    assert (contest.phase, contest.trouble) == (Phase.ATTACK, "")


def test_file_that_was_changed_after_its_score_is_trouble(site: Site) -> None:
    contest = make_contest("red", "blue")
    for name in ("red", "blue"):
        found = evaluated(release(contest, name, "60 60 60 60 60 60"))
    file = found.folder / "R.csv"
    file.write_text("10\n20\n30\n40\n50\n60\n")
    contest = end_anonymizing(contest)
    assert (contest.trouble, contest.trouble_details) == (phase_work.CHANGED_SINCE, "blue")


@pytest.mark.parametrize("forge", ["score", "target", "seal"])
def test_guess_whose_score_target_or_seal_was_changed_is_trouble(site: Site, forge: str) -> None:
    contest = make_contest("red", "blue", "green")
    for name in ("red", "blue", "green"):
        evaluated(release(contest, name, "11 20 30 40 50 60"))
    contest = end_anonymizing(contest)
    evaluated(guess(contest, "red", "blue", "0 1 2 3 4 5"))
    found = evaluated(guess(contest, "red", "blue", "5 4 3 2 1 0"))
    forged = {
        "score": {**(found.score or {}), "success": 1.0},
        "target": participation(contest, "green").team,
        "seal": "0" * 64,
    }
    Submission.objects.filter(pk=found.pk).update(**{forge: forged[forge]})
    contest = end_attacks(contest)
    assert (contest.phase, contest.trouble) == (Phase.CLOSING, phase_work.CHANGED_SINCE)
    assert contest.trouble_details == "red 2"
    assert open_contest(contest.folder).season().guesses == {}


def test_contest_is_published_and_closed_without_scoring_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = make_contest("red", "blue")

    def scored_again(*_: Any) -> None:
        raise AssertionError

    def end(phase: Callable[[Contest], Contest]) -> Contest:
        with monkeypatch.context() as patch:
            for name in ("check", "score", "check_guess", "judge"):
                patch.setattr(type(edition_of(contest)), name, scored_again)
            return phase(contest)

    for name in ("red", "blue"):
        evaluated(release(contest, name))
    contest = end(end_anonymizing)
    evaluated(guess(contest, "red", "blue"))
    assert end(end_attacks).phase == Phase.CLOSED


def test_contest_without_a_release_waits_for_its_organizer_and_ends(site: Site) -> None:
    contest = end_anonymizing(make_contest("red"))
    assert (contest.phase, contest.trouble) == (Phase.PUBLISHING, phase_work.NOTHING_RELEASED)
    now = timezone.now()
    contests.change_schedule(
        contest,
        opens_at=contest.opens_at,
        attacks_open_at=now + timedelta(hours=1),
        closes_at=now + timedelta(hours=2),
    )
    contest.refresh_from_db()
    assert (contest.phase, contest.trouble) == (Phase.ANONYMIZE, "")
    contest = end_attacks(contest)
    assert (contest.phase, contest.trouble) == (Phase.CLOSED, phase_work.ENDED_EMPTY)


def test_schedule_keeps_what_has_begun(site: Site) -> None:
    contest = make_contest("red")
    now = timezone.now()
    later: Any = {"attacks_open_at": now + timedelta(days=3), "closes_at": now + timedelta(days=4)}
    with pytest.raises(NotAllowed, match="opened"):
        contests.change_schedule(contest, opens_at=now - timedelta(days=9), **later)
    with pytest.raises(NotAllowed, match="past"):
        contests.change_schedule(
            contest,
            opens_at=contest.opens_at,
            attacks_open_at=now - timedelta(minutes=1),
            closes_at=now + timedelta(days=1),
        )
    evaluated(release(contest, "red"))
    contest = end_anonymizing(contest)
    with pytest.raises(NotAllowed, match="published"):
        contests.change_schedule(contest, opens_at=contest.opens_at, **later)
    contests.change_schedule(
        contest, opens_at=contest.opens_at, attacks_open_at=contest.attacks_open_at, closes_at=now + timedelta(days=8)
    )
    contest.refresh_from_db()
    assert contest.closes_at == now + timedelta(days=8)


def test_downloads_open_phase_by_phase_and_never_show_the_truth(site: Site) -> None:
    contest = make_contest("red", "blue", opens_at=timezone.now() + timedelta(hours=1))
    assert showing.downloads(contest, None) == []
    assert [one.kind for one in showing.downloads(contest, contest.organizer)] == ["data"]
    Contest.objects.filter(pk=contest.pk).update(opens_at=timezone.now() - timedelta(hours=1))
    contest.refresh_from_db()
    assert [one.path.name for one in showing.downloads(contest, None)] == ["D.csv"]
    evaluated(release(contest, "red"))
    contest = end_anonymizing(contest)
    found = {(one.kind, one.path.name, one.team, one.level) for one in showing.downloads(contest, None)}
    assert found == {
        ("data", "D.csv", "", ""),
        ("knowledge", "K50.csv", "", "half"),
        ("knowledge", "K100.csv", "", "all"),
        ("release", "P.csv", "red", ""),
    }


def test_scoreboard_shows_what_the_organizer_set(site: Site) -> None:
    contest = make_contest("red", "blue")
    evaluated(release(contest, "red", "11 20 30 40 50 60"))
    (line,) = scoreboard.standings(contest, None).lines
    # (0.01 / 6 + 0) / 2, shown by three digits; exact for the organizer.
    assert (line.team, line.value, line.utility) == ("red", 0.001, 0.002)
    assert scoreboard.standings(contest, contest.organizer).lines[0].utility == 0.01 / 6
    contests.change_board(contest, board="frozen", digits_shown=1, shows_guess_scores=True)
    evaluated(release(contest, "blue", "10 20 30 40 50 60"))
    assert [line.team for line in scoreboard.standings(contest, None).lines] == ["red"]
    assert [line.team for line in scoreboard.standings(contest, contest.organizer).lines] == ["blue", "red"]
    contests.change_board(contest, board="hidden", digits_shown=1, shows_guess_scores=True)
    hidden = scoreboard.standings(contest, None)
    assert (hidden.lines, hidden.seen.is_hidden) == ([], True)
    assert teamwork.history(contest, None) == []
    contests.change_board(contest, board="live", digits_shown=1, shows_guess_scores=True)
    assert len(scoreboard.standings(contest, None).lines) == 2


def test_team_that_leaves_stands_on_no_board(site: Site) -> None:
    contest = make_contest("red", "blue")
    for name in ("red", "blue"):
        evaluated(release(contest, name))
    joining.withdraw(participation(contest, "red"))
    assert [line.team for line in scoreboard.standings(contest, None).lines] == ["blue"]
    contest = end_anonymizing(contest)
    with pytest.raises(NotAllowed, match="published"):
        joining.withdraw(participation(contest, "blue"))


def test_attacks_stay_out_of_the_board_where_guesses_are_secret(site: Site) -> None:
    contest = make_contest("red", "blue", shows_guess_scores=False)
    for name in ("red", "blue"):
        evaluated(release(contest, name))
    contest = end_anonymizing(contest)
    truth = " ".join((contest.folder / "secret" / "truth" / "blue" / "F.csv").read_text().split())
    evaluated(guess(contest, "red", "blue", truth))
    assert scoreboard.attack_matrix(contest, None) == {}
    assert {line.team: line.safety for line in scoreboard.standings(contest, None).lines} == {"red": 0, "blue": 0}
    assert scoreboard.attack_matrix(contest, contest.organizer) == {("red", "blue"): 1.0}
    contest = end_attacks(contest)
    assert scoreboard.attack_matrix(contest, None) == {("red", "blue"): 1.0}


def test_contest_with_submissions_cannot_be_removed(site: Site) -> None:
    contest = make_contest("red")
    release(contest, "red")
    with pytest.raises(NotAllowed, match="submissions"):
        contests.delete_contest(contest)
    empty = make_contest(slug="empty")
    contests.delete_contest(empty)
    assert not empty.folder.exists()
    assert list(Contest.objects.all()) == [contest]
