"""A bundle for Codabench keeps that server's rules, scores as here, and puts secrets where participants cannot look."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.contest.codabench_server import (
    faults_of,
    inner_files,
    packed,
    read_json,
    results_csv,
    run_program,
)
from tests.contest.conftest import written
from tests.contest.small_editions import SMALL

from tokumei.contest.codabench.bundle import Dates, export_bundle
from tokumei.contest.codabench.results import rank_results
from tokumei.contest.custom.template import template
from tokumei.contest.edition import EDITIONS
from tokumei.contest.folder import Contest
from tokumei.contest.phases import attack, judge, prepare, publish, ranking, score, submit
from tokumei.contest.replay import played_guess, played_release
from tokumei.contest.season import rank_attackers
from tokumei.contest.setting import parse_setting
from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.registry import part_name

CHECK, SCORE = "ingestion_program", "scoring_program"
# Editions that rank by more than one number of each guess.
MORE_THAN_FOUND = ("pwscup2019", "pwscup2025", "pwscup2026")


def export(contest: Contest, path: Path, **more: object) -> Path:
    dates = Dates.of(contest, "2026-08-01T09:30", "2026-08-15", "2026-08-29")
    export_bundle(contest, path, image="me/tokumei:1", dates=dates, **more)  # type: ignore[arg-type]
    return path


def play(contest: Contest, tmp_path: Path) -> None:
    """Play a contest of two teams here and on Codabench, and hold every digit of the one against the other."""
    edition, teams = contest.edition, ("alpha", "beta")
    own = teams if edition.terms.own_files else ()
    bundle = export(contest, tmp_path / "first.zip", teams=own)
    assert faults_of(bundle) == []
    for team, anonymizer in zip(teams, edition.anonymizers(), strict=False):
        with played_release(contest, anonymizer, team) as release:
            given = packed(release, team, tmp_path / f"{team}.zip")
            root = tmp_path / f"app-{team}"
            # The check is the same for both.
            for kind in (CHECK, SCORE)[team != teams[0] :]:
                done = run_program(bundle, 0, kind, given, root)
                assert (done.returncode, done.stderr) == (0, "")
            here = score(contest, release, team)
            assert read_json(root / "output/tokumei.json")["release"] == plain(here.as_dict())
            assert read_json(root / "output/scores.json")["utility"] == here.utility
            submit(contest, team, release)
    publish(contest)
    bundle = export(contest, tmp_path / "second.zip", teams=own, is_shown=True)
    assert faults_of(bundle) == []
    scores, outputs = {}, tmp_path / "outputs"
    for attacker, target in (("alpha", "beta"), ("beta", "alpha")):
        given, root = tmp_path / f"guesses-{attacker}.zip", tmp_path / f"attack-{attacker}"
        for level in edition.terms.knowledge_files:
            with played_guess(contest, edition.attacks()[0], attacker, target, level) as guess:
                packed(guess, attacker, given, f"{target}/{level}/" if level else f"{target}/")
                attack(contest, attacker, target, guess, knowledge=level)
        for kind in (CHECK, SCORE)[attacker != teams[0] :]:
            done = run_program(bundle, 1, kind, given, root)
            assert (done.returncode, done.stderr) == (0, "")
        scores[attacker] = read_json(root / "output/scores.json")
        with zipfile.ZipFile(outputs.with_name(f"{attacker}-output.zip"), "w") as archive:
            archive.write(root / "output/tokumei.json", "tokumei.json")
    judge(contest)
    outputs.mkdir()
    for attacker in scores:
        (tmp_path / f"{attacker}-output.zip").rename(outputs / f"{attacker}-output.zip")
    # All that a score of ours tells comes back in the outputs.
    found = rank_results(contest, outputs)
    assert list(found.standings) == ranking(contest)
    assert list(found.attackers) == rank_attackers(contest.season().entries())
    table = results_csv(bundle, 1, scores, tmp_path / "results.csv")
    if part_name(edition) in MORE_THAN_FOUND:
        with pytest.raises(InputError, match="more than a CSV holds"):
            rank_results(contest, table)
    else:
        told = rank_results(contest, table)
        assert [line.team for line in told.standings] == [line.team for line in ranking(contest)]
        assert [line.value for line in told.standings] == pytest.approx(
            [line.value for line in ranking(contest)], abs=1e-9
        )
        assert [line.found for line in told.attackers] == pytest.approx(
            [line.found for line in found.attackers], abs=1e-9
        )
    means = {line.team: line.found for line in found.attackers}
    assert {team: numbers["found"] for team, numbers in scores.items()} == pytest.approx(means, abs=1e-9)


def plain(found: object) -> object:
    """Return a score as JSON holds it."""
    return json.loads(json.dumps(found))


@pytest.mark.slow
def test_release_is_scored_in_a_process_of_its_own_as_here(tmp_path: Path) -> None:
    contest = prepare(EDITIONS.make_from_text("pwscup2018", SMALL["pwscup2018"]), tmp_path / "cup", seed=1)
    bundle, root = export(contest, tmp_path / "bundle.zip"), tmp_path / "app"
    with played_release(contest, "generalize-2", "alpha") as release:
        given = packed(release, "alpha", tmp_path / "alpha.zip")
        for kind in (CHECK, SCORE):
            done = run_program(bundle, 0, kind, given, root)
            assert (done.returncode, done.stdout, done.stderr) == (0, "The submission keeps the rules.\n", "")
        assert read_json(root / "output/tokumei.json")["release"] == plain(score(contest, release).as_dict())


@pytest.mark.thorough
def test_contest_with_levels_scores_on_codabench_as_here(tmp_path: Path) -> None:
    edition = EDITIONS.make_from_text("pwscup2017", SMALL["pwscup2017"] | {"known": "50,25"})
    play(prepare(edition, tmp_path / "cup", seed=1), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in EDITIONS.names() if name != "pwscup2017"])
def test_every_edition_scores_on_codabench_as_here(name: str, tmp_path: Path) -> None:
    edition = EDITIONS.make_from_text(name, SMALL.get(name, {}))
    play(prepare(edition, tmp_path / "cup", seed=1), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["table", "history"])
def test_contest_of_ones_own_scores_on_codabench_as_here(kind: str, tmp_path: Path) -> None:
    play(prepare(parse_setting(template(kind), folder=tmp_path), tmp_path / "cup", seed=1), tmp_path)


def test_secrets_stand_in_reference_data_alone(tmp_path: Path) -> None:
    contest = prepare(
        EDITIONS.make_from_text("pwscup2017", SMALL["pwscup2017"] | {"known": "50,25"}), tmp_path / "cup", seed=1
    )
    knowledge = {path.read_bytes() for path in contest.knowledge_files(contest.season()).values()}
    files = inner_files(export(contest, tmp_path / "first.zip"))
    assert {name.split("/")[1] for name, content in files.items() if content in knowledge and "zip/" in name} == {
        "reference_data.zip"
    }
    for team in ("alpha", "beta"):
        with played_release(contest, "monthly-pseudonyms", team) as release:
            submit(contest, team, release)
    publish(contest)
    files = inner_files(export(contest, tmp_path / "second.zip", is_shown=True))
    truths = {path.read_bytes() for path in (contest.folder / "secret" / "truth").rglob("*") if path.is_file()}
    holders = {name for name, content in files.items() if content in truths}
    assert holders and all(name.startswith("attack/reference_data.zip/truth/") for name in holders)
    key = contest.key.written().strip().encode()
    assert not any(key in content or contest.key.key in content for content in files.values())
    submitted = {path.read_bytes() for path in (contest.folder / "secret" / "submissions").rglob("*") if path.is_file()}
    assert not any(content in submitted for content in files.values())
    found = yaml.safe_load(files["competition.yaml"])
    assert found["make_input_data_available"] is False
    assert [phase["hide_score_output"] for phase in found["phases"]] == [False, True]


def test_bundle_of_teams_with_data_of_their_own_holds_theirs_and_not_the_hidden_data(tmp_path: Path) -> None:
    contest = prepare(EDITIONS.make_from_text("pwscup2025", SMALL["pwscup2025"]), tmp_path / "cup", seed=1)
    with pytest.raises(InputError, match="the name of each team"):
        export(contest, tmp_path / "none.zip")
    files = inner_files(export(contest, tmp_path / "bundle.zip", teams=("alpha", "beta")))
    own = [name for name in files if "/own/" in name and not name.startswith("starting_kit")]
    assert sorted(own) == [
        f"{phase}/reference_data.zip/own/{team}/B.csv"
        for phase in ("anonymize", "attack")
        for team in ("alpha", "beta")
    ]
    # All of P is the knowledge that attackers get, so that it stands with the scoring before; nowhere else.
    hidden = (contest.folder / "secret" / "data" / "P.csv").read_bytes()
    assert [name for name, content in files.items() if content == hidden] == [
        "anonymize/reference_data.zip/knowledge/A.csv"
    ]


def test_verdicts_are_hidden_unless_the_organizer_shows_them(closed_up: Contest, tmp_path: Path) -> None:
    from tokumei.contest.codabench import programs

    bundle = export(closed_up, tmp_path / "bundle.zip")
    (board,) = yaml.safe_load(inner_files(bundle)["competition.yaml"])["leaderboards"]
    assert [one["key"] for one in board["columns"]] == ["score", "utility", "safety", "guesses"]
    # Here in this process, since the tiny edition is not installed in another.
    with zipfile.ZipFile(bundle) as archive:
        archive.extract("attack/reference_data.zip", tmp_path)
    with zipfile.ZipFile(tmp_path / "attack/reference_data.zip") as archive:
        archive.extractall(tmp_path / "input/ref")
    guess = tmp_path / "input/res/inner/beta/half"
    guess.mkdir(parents=True)
    written(guess / "G.csv", "0 1 2 3 4 5")
    (tmp_path / "input/res/inner/team.txt").write_text("alpha\n")
    # What a Mac puts into a zip file beside what was packed.
    (tmp_path / "input/res/__MACOSX/inner").mkdir(parents=True)
    (tmp_path / "input/res/inner/.hidden").mkdir()
    (tmp_path / "output").mkdir()
    assert programs.main(["score", str(tmp_path / "input"), str(tmp_path / "output")]) == 0
    assert read_json(tmp_path / "output/scores.json") == {"guesses": 1.0}
    (verdict,) = read_json(tmp_path / "output/tokumei.json")["guesses"]
    mine = next(one for one in closed_up.season().guesses.values() if one.attacker == "alpha")
    assert mine.score is not None
    assert verdict["score"] == mine.score.as_dict()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "a file team.txt"),
        ({"team.txt": "../up"}, "a name of at most 40"),
        ({"team.txt": "alpha"}, "a folder for each team that is attacked, named after it: alpha, beta"),
        ({"team.txt": "alpha", "gamma/half/G.csv": "0"}, "a folder named after a team: alpha, beta"),
        ({"team.txt": "alpha", "alpha/half/G.csv": "0"}, "The team 'alpha' cannot attack itself."),
        ({"team.txt": "alpha", "beta/G.csv": "0"}, "a folder for each level of knowledge: half, all"),
        ({"team.txt": "alpha", "beta/some/G.csv": "0"}, "a folder for each level of knowledge: half, all"),
        ({"team.txt": "alpha", "beta/half/H.csv": "0"}, "the file G.csv"),
        ({"team.txt": "alpha", "beta/half/G.csv": "9\n9\n"}, "a row of D"),
    ],
)
def test_submission_that_does_not_fit_is_refused_before_and_at_scoring(
    files: dict[str, str], said: str, closed_up: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tokumei.contest.codabench import programs

    bundle = export(closed_up, tmp_path / "bundle.zip")
    for data, place in (("input_data", "input_data"), ("reference_data", "input/ref")):
        with zipfile.ZipFile(bundle) as archive:
            archive.extract(f"attack/{data}.zip", tmp_path)
        with zipfile.ZipFile(tmp_path / f"attack/{data}.zip") as archive:
            archive.extractall(tmp_path / place)
    given, output = tmp_path / "input/res", tmp_path / "output"
    given.mkdir(parents=True)
    output.mkdir()
    for name, text in files.items():
        (given / name).parent.mkdir(parents=True, exist_ok=True)
        (given / name).write_text(text)
    for words in (["check", str(tmp_path / "input_data"), str(given)], ["score", str(tmp_path / "input"), str(output)]):
        assert programs.main(words) == 1
        assert said in capsys.readouterr().err
    assert list(output.iterdir()) == []


def test_bundle_before_publishing_has_nothing_to_attack(contest: Contest, tmp_path: Path) -> None:
    from tokumei.contest.codabench.programs import check

    bundle = export(contest, tmp_path / "bundle.zip")
    with zipfile.ZipFile(bundle) as archive:
        archive.extract("attack/input_data.zip", tmp_path)
    with zipfile.ZipFile(tmp_path / "attack/input_data.zip") as archive:
        archive.extractall(tmp_path / "input_data")
    (tmp_path / "given").mkdir()
    (tmp_path / "given/team.txt").write_text("alpha")
    with pytest.raises(NotAllowed, match="have not begun"):
        check(tmp_path / "input_data", tmp_path / "given")
    with pytest.raises(NotAllowed, match="not published"):
        rank_results(contest, results_csv(bundle, 1, {"alpha": {"guesses": 1}}, tmp_path / "results.csv"))


def test_program_of_another_version_scores_nothing(contest: Contest, tmp_path: Path) -> None:
    from tokumei.contest.codabench.programs import TASK, Task

    (tmp_path / TASK).write_text(Task("anonymize").written().replace('"version": "', '"version": "9.'))
    with pytest.raises(NotAllowed, match=r"exported by tokumei 9\."):
        Task.read(tmp_path)


def test_results_of_releases_come_in_the_order_of_their_scores(contest: Contest, tmp_path: Path) -> None:
    bundle = export(contest, tmp_path / "bundle.zip")
    scores = {"beta": {"score": 0.5, "utility": 0.25}, "al.pha": {"score": 0.125, "utility": 0.5, "safety": 0.0}}
    found = rank_results(contest, results_csv(bundle, 0, scores, tmp_path / "results.csv"))
    assert [(one.place, one.team, one.value, one.utility, one.safety) for one in found.standings] == [
        (1, "al.pha", 0.125, 0.5, 0.0),
        (2, "beta", 0.5, 0.25, None),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "first column is 'Username'"),
        ("Team,x\n", "first column is 'Username'"),
        ("Username,utility\n", "columns such as"),
        ("Username,anonymize(1)-utility lost,attack(2)-utility lost\n", "columns such as"),
        ("Username,anonymize(1)-utility lost\nalpha\n", "2 cells"),
        ("Username,anonymize(1)-utility lost\nalpha,1\nalpha,2\n", "each participant once"),
        ("Username,anonymize(1)-utility lost\nalpha,much\n", "a number"),
        ("Username,anonymize(1)-utility lost\nalpha,\n", "a number in the column 'utility lost'"),
        ("Username,attack(1)-guesses taken\nalpha,1\n", "this board has no verdicts"),
        ("Username,attack(1)-001 alpha half\nbeta,1.5\n", "a share from 0 to 1"),
    ],
)
def test_results_that_do_not_fit_are_refused(text: str, said: str, closed_up: Contest, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(text)
    with pytest.raises(InputError, match=re.escape(said)):
        rank_results(closed_up, tmp_path / "results.csv")


def test_dates_must_follow_each_other(contest: Contest) -> None:
    with pytest.raises(InputError, match="a time after 2026-08-01 09:30"):
        Dates.of(contest, "2026-08-01T09:30", "2026-08-01")
    with pytest.raises(InputError, match="a time such as"):
        Dates.of(contest, "soon")
    # A time with its zone is told in UTC.
    assert Dates.of(contest, "2026-08-01T09:30+09:00").start.isoformat() == "2026-08-01T00:30:00+00:00"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found.update(version=1), "version: 2"),
        (lambda found: found.update(image="none.png"), "image"),
        (lambda found: found["tasks"][0].pop("scoring_program"), "scoring program"),
        (lambda found: found["phases"][1].update(start="2026-08-10 00:00:00"), "must begin after"),
        (lambda found: found["phases"][0].update(tasks=[9]), "phase 0: tasks"),
        (lambda found: found["leaderboards"][0]["columns"][0].update(key="utility"), "unique keys"),
        (lambda found: found["leaderboards"][0]["columns"][0].update(title="x" * 37), "lengths"),
    ],
)
def test_rules_of_codabench_find_what_is_wrong(
    change: Callable[[dict[str, object]], object], fault: str, contest: Contest, tmp_path: Path
) -> None:
    bundle = export(contest, tmp_path / "bundle.zip")
    assert faults_of(bundle) == []
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    found = yaml.safe_load(files["competition.yaml"])
    change(found)
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as archive:
        for name, content in (files | {"competition.yaml": yaml.safe_dump(found).encode()}).items():
            archive.writestr(name, content)
    assert any(fault in one for one in faults_of(tmp_path / "changed.zip"))
