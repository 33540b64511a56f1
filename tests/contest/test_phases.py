"""The phases: what each does, refuses and leaves behind."""

from __future__ import annotations

import errno
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from tokumei.contest import log
from tokumei.contest.edition import EDITIONS
from tokumei.contest.folder import Contest, open_contest
from tokumei.contest.log import read_log
from tokumei.contest.phases import (
    attack,
    check_guess,
    check_release,
    close,
    judge,
    prepare,
    publish,
    ranking,
    score,
    submit,
)
from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError

CANARY = "1357913579"


def release(tmp_path: Path, rows: str = "11 20 30 40 50 60") -> Path:
    return written(tmp_path / "R.csv", rows)


def written(path: Path, rows: str) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows.split()))
    return path


def everything(contest: Contest) -> dict[str, bytes]:
    return {
        path.relative_to(contest.folder).as_posix(): path.read_bytes()
        for path in contest.folder.rglob("*")
        if path.is_file()
    }


def test_submit_scores_keeps_the_files_and_logs_both(contest: Contest, tmp_path: Path) -> None:
    taken = submit(contest, "alpha", release(tmp_path))
    # One number of six moved by 1 of 100.
    assert (taken.number, taken.n_left) == (1, 2)
    assert taken.score.utility == pytest.approx(0.01 / 6)
    line = read_log(contest.folder)[-1]
    assert (line.step, line.facts["team"], line.facts["score"]) == ("submit", "alpha", taken.score.as_dict())
    assert list(line.facts["files"]) == ["secret/submissions/alpha/001/R.csv"]


def test_check_and_score_leave_no_trace(contest: Contest, tmp_path: Path) -> None:
    before = everything(contest)
    check_release(contest, release(tmp_path))
    assert score(contest, release(tmp_path)).details == {"moved": pytest.approx(0.01)}
    assert everything(contest) == before


def test_faulty_release_costs_no_attempt_and_leaves_a_line_without_its_content(
    contest: Contest, tmp_path: Path
) -> None:
    before = everything(contest)
    for _ in range(4):
        with pytest.raises(InputError) as error:
            submit(contest, "alpha", release(tmp_path, f"1 2 3 x{CANARY} 5 6"))
    # The fault names the file that was handed in, not the copy among the secrets.
    assert [(fault.file, fault.line) for fault in error.value.faults] == [(str(tmp_path / "R.csv"), 4)]
    after = everything(contest)
    assert {name for name in after if after[name] != before.get(name)} == {"log.jsonl", "head.json"}
    assert CANARY.encode() not in after["log.jsonl"]
    line = read_log(contest.folder)[-1]
    assert (line.step, line.facts["team"], line.facts["n_faults"]) == ("refuse", "alpha", 1)
    assert submit(contest, "alpha", release(tmp_path)).n_left == 2


def test_submit_whose_line_cannot_be_written_leaves_nothing_and_can_be_done_again(
    contest: Contest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(contest)

    def full_disk(folder: Path, link: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(log, "_write_head", full_disk)
        with pytest.raises(OSError, match="No space left"):
            submit(contest, "alpha", release(tmp_path))
    assert everything(contest) == before
    assert submit(contest, "alpha", release(tmp_path)).number == 1


def test_last_release_counts(contest: Contest, tmp_path: Path) -> None:
    for rows in ("0 0 0 0 0 0", "10 20 30 40 50 60"):
        submit(contest, "alpha", release(tmp_path, rows))
    publish(contest)
    shown = contest.path("public", "releases", "alpha", "P.csv").read_text().split()
    assert sorted(map(int, shown)) == [10, 20, 30, 40, 50, 60]
    assert ranking(contest)[0].utility == 0


def test_more_releases_than_allowed_are_refused_without_a_line(contest: Contest, tmp_path: Path) -> None:
    for _ in range(3):
        submit(contest, "alpha", release(tmp_path))
    before = everything(contest)
    with pytest.raises(NotAllowed, match="all of its 3 releases"):
        submit(contest, "alpha", release(tmp_path))
    assert everything(contest) == before
    assert submit(contest, "beta", release(tmp_path)).number == 1


@pytest.mark.parametrize(
    "team",
    ["", "../secret", "a/b", ".", "..", "-a", "_a", "a b", "a\n", "a\x00", "チーム", "é", "a" * 41, "a.b", "con:"],
)
def test_team_name_that_is_not_plain_is_refused(contest: Contest, tmp_path: Path, team: str) -> None:
    with pytest.raises(InputError, match="a name of at most 40"):
        submit(contest, team, release(tmp_path))


def test_team_name_that_differs_in_capitals_only_is_refused(contest: Contest, tmp_path: Path) -> None:
    submit(contest, "Alpha", release(tmp_path))
    with pytest.raises(InputError, match="unlike that of the team 'Alpha'"):
        submit(contest, "alpha", release(tmp_path))
    publish(contest)
    with pytest.raises(InputError, match="unlike that of the team 'Alpha'"):
        attack(contest, "ALPHA", "Alpha", written(tmp_path / "G.csv", "0 1 2 3 4 5"), knowledge="all")


def test_publish_shows_knowledge_and_keeps_the_truth_secret(closed_up: Contest) -> None:
    for name in ("K50.csv", "K100.csv"):
        assert (
            closed_up.path("public", "knowledge", name).read_bytes()
            == closed_up.path("secret", "knowledge", name).read_bytes()
        )
    shown = closed_up.path("public", "releases", "alpha", "P.csv").read_text().split()
    truth = closed_up.path("secret", "truth", "alpha", "F.csv").read_text().split()
    assert [["11", "20", "30", "40", "50", "60"][int(row)] for row in truth] == shown
    assert not list(closed_up.path("public").rglob("F.csv"))


def test_teams_are_shuffled_by_seeds_of_their_own(contest: Contest, tmp_path: Path) -> None:
    teams = [f"team{number}" for number in range(4)]
    for team in teams:
        submit(contest, team, release(tmp_path))
    publish(contest)
    orders = {contest.path("secret", "truth", team, "F.csv").read_text() for team in teams}
    assert len(orders) > 1


def test_publishing_nothing_is_refused(contest: Contest) -> None:
    with pytest.raises(NotAllowed, match="nothing to publish"):
        publish(contest)


def test_what_a_broken_publish_left_gives_way_to_the_next(contest: Contest, tmp_path: Path) -> None:
    submit(contest, "alpha", release(tmp_path))
    (contest.path("public", "releases", "ghost")).mkdir(parents=True)
    publish(contest)
    assert [path.name for path in contest.path("public", "releases").iterdir()] == ["alpha"]


def test_judge_tells_the_share_that_is_right(contest: Contest, tmp_path: Path) -> None:
    submit(contest, "alpha", release(tmp_path))
    publish(contest)
    truth = contest.path("secret", "truth", "alpha", "F.csv").read_text().split()
    half = " ".join([*truth[:3], *(str((int(row) + 1) % 6) for row in truth[3:])])
    taken = attack(contest, "beta", "alpha", written(tmp_path / "G.csv", half), knowledge="half")
    assert taken.n_left == 1
    (judged,) = judge(contest)
    assert judged.score is not None
    assert (judged.line, judged.score.success) == (taken.line, 0.5)
    assert judge(contest) == []
    # Utility 0.01/6 and success 1/2.
    assert close(contest)[0].value == pytest.approx((0.01 / 6 + 0.5) / 2)


def test_attack_on_oneself_on_nobody_or_with_unknown_knowledge_is_refused(closed_up: Contest, tmp_path: Path) -> None:
    guess = written(tmp_path / "G.csv", "0 1 2 3 4 5")
    with pytest.raises(NotAllowed, match="cannot attack itself"):
        attack(closed_up, "alpha", "alpha", guess, knowledge="all")
    with pytest.raises(NotFound, match="No team named 'gamma'"):
        attack(closed_up, "alpha", "gamma", guess, knowledge="all")
    with pytest.raises(NotFound):
        attack(closed_up, "alpha", "../truth/beta", guess, knowledge="all")
    with pytest.raises(InputError, match="'half', 'all'"):
        attack(closed_up, "alpha", "beta", guess)


def test_guesses_are_limited_for_each_release_and_level(closed_up: Contest, tmp_path: Path) -> None:
    guess = written(tmp_path / "G.csv", "0 1 2 3 4 5")
    assert attack(closed_up, "alpha", "beta", guess, knowledge="half").n_left == 0
    with pytest.raises(NotAllowed, match="all of its 2 guesses at 'beta' with knowledge half"):
        attack(closed_up, "alpha", "beta", guess, knowledge="half")
    assert attack(closed_up, "alpha", "beta", guess, knowledge="all").n_left == 1


def test_faulty_guess_is_refused_and_logged(closed_up: Contest, tmp_path: Path) -> None:
    guess = written(tmp_path / "G.csv", "0 1 2 3 4 99")
    with pytest.raises(InputError, match="line 6"):
        check_guess(closed_up, "beta", guess)
    with pytest.raises(InputError, match="line 6"):
        attack(closed_up, "alpha", "beta", guess, knowledge="half")
    line = read_log(closed_up.folder)[-1]
    assert (line.step, line.facts["what"]) == ("refuse", "guess")


def test_closing_waits_for_every_verdict(closed_up: Contest, tmp_path: Path) -> None:
    attack(closed_up, "alpha", "beta", written(tmp_path / "G.csv", "0 1 2 3 4 5"), knowledge="all")
    with pytest.raises(NotAllowed, match="not judged yet: 1"):
        close(closed_up)
    judge(closed_up)
    standings = close(closed_up)
    assert [standing.place for standing in standings] == [1, 2]
    assert closed_up.path("ranking.json").is_file()


def test_steps_out_of_their_phase_are_refused(contest: Contest, closed_up: Contest, tmp_path: Path) -> None:
    guess = written(tmp_path / "G.csv", "0 1 2 3 4 5")
    steps: list[Callable[[], object]]
    steps = [lambda: submit(closed_up, "gamma", release(tmp_path)), lambda: publish(closed_up)]
    for step in steps:
        with pytest.raises(NotAllowed, match="belongs to the phase 'anonymize'"):
            step()
    close(closed_up)
    steps += [
        lambda: attack(closed_up, "alpha", "beta", guess, knowledge="all"),
        lambda: judge(closed_up),
        lambda: close(closed_up),
    ]
    for step in steps:
        with pytest.raises(NotAllowed, match="in the phase 'closed'"):
            step()


def test_attack_steps_before_publishing_are_refused(contest: Contest, tmp_path: Path) -> None:
    guess = written(tmp_path / "G.csv", "0 1 2 3 4 5")
    for step in (
        lambda: attack(contest, "alpha", "beta", guess, knowledge="all"),
        lambda: judge(contest),
        lambda: close(contest),
        lambda: check_guess(contest, "beta", guess),
    ):
        with pytest.raises(NotAllowed, match="belongs to the phase 'attack'"):
            step()


def test_same_seed_and_steps_give_the_same_bytes(
    closed_up: Contest, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    again = tmp_path_factory.mktemp("again")
    other = prepare(EDITIONS.make("tiny"), again / "contest", seed=1, source=tmp_path / "source.csv")
    for team, rows in {"alpha": "11 20 30 40 50 60", "beta": "60 60 60 60 60 60"}.items():
        submit(other, team, release(again, rows))
    publish(other)
    attack(other, "alpha", "beta", written(again / "G.csv", "0 1 2 3 4 5"), knowledge="half")
    attack(other, "beta", "alpha", written(again / "G.csv", "5 4 3 2 1 0"), knowledge="all")
    judge(other)
    assert everything(other) == everything(closed_up)


def test_contests_without_a_seed_have_different_keys(tmp_path: Path, contest: Contest) -> None:
    one, two = (prepare(EDITIONS.make("tiny"), tmp_path / name) for name in ("one", "two"))
    assert one.key != two.key
    assert one.key.key.hex().encode() not in one.path("log.jsonl").read_bytes()


def test_of_processes_that_want_the_last_attempt_one_gets_it(contest: Contest, tmp_path: Path) -> None:
    for _ in range(2):
        submit(contest, "alpha", release(tmp_path))
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        jobs = [(contest.folder, release(tmp_path), Path(__file__).parent)] * 6
        outcomes = pool.starmap(_try_to_submit, jobs)
    assert sorted(outcomes) == [*["NotAllowed"] * 5, "taken"]
    assert len(contest.season().releases) == 3


def _try_to_submit(folder: Path, given: Path, tests: Path) -> str:
    import sys
    from importlib.metadata import EntryPoint

    sys.path.insert(0, str(tests))
    EDITIONS._found["tiny"] = EntryPoint("tiny", "tiny_edition:Tiny", "tokumei.contest.editions")
    try:
        submit(open_contest(folder), "alpha", given)
    except TokumeiError as error:
        return type(error).__name__
    return "taken"
