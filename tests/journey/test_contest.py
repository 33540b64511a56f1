"""Whole contests through the command line: every edition and a contest of one's own, from prepare to the ranking."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.contest.small_editions import SMALL

from tokumei.cli.main import main
from tokumei.contest.edition import EDITIONS

OWN = ["own-table", "own-history"]
TEAMS = ("alpha", "beta")


class CommandLine:
    """Runs commands in this process, as the `tokumei` program would."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: object, exit_code: int = 0) -> dict[str, Any]:
        """Run with --json; standard output must be one object and nothing else."""
        with pytest.raises(SystemExit) as done:
            main([*(str(argument) for argument in arguments), "--json"])
        shown = self._capsys.readouterr()
        assert done.value.code == exit_code, shown.out + shown.err
        found: dict[str, Any] = json.loads(shown.out)
        assert shown.err == ""
        return found


@pytest.fixture
def tokumei(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


def chosen(tokumei: CommandLine, name: str, folder: Path) -> list[object]:
    """Return the options that choose a contest."""
    if name in OWN:
        path = folder / "my.toml"
        if not path.exists():
            tokumei.run("contest", "new", path, "--kind", name.removeprefix("own-"))
        return ["--contest", path]
    return ["--edition", name, *(word for option in SMALL[name].items() for word in ("--set", "=".join(option)))]


def play(tokumei: CommandLine, name: str, folder: Path, cup: Path) -> list[dict[str, Any]]:
    """Play a small contest of two teams and a third that submits the kit's sample."""
    from tokumei.contest.folder import open_contest

    tokumei.run("contest", "prepare", *chosen(tokumei, name, folder), "--out", cup, "--seed", 7)
    edition = open_contest(cup).edition
    level = next(iter(edition.terms.knowledge_files))
    tokumei.run("contest", "kit", cup, "--out", cup.with_suffix(".zip"))
    kit = cup.with_name(f"{cup.name}-kit")
    with zipfile.ZipFile(cup.with_suffix(".zip")) as packed:
        packed.extractall(kit)
    for team, anonymizer in zip(TEAMS, edition.anonymizers(), strict=False):
        assert tokumei.run("contest", "submit", cup, "--team", team, "--with", anonymizer)["number"] == 1
    assert tokumei.run("contest", "check", kit, kit / "sample" / "release")["is_valid"]
    own, official = (tokumei.run("contest", "score", index, kit / "sample" / "release") for index in (kit, cup))
    assert own["utility"] == official["utility"]
    tokumei.run("contest", "submit", cup, "--team", "gamma", kit / "sample" / "release")
    tokumei.run("contest", "attack", cup, "--team", "beta", "--target", "alpha", kit, exit_code=1)
    assert tokumei.run("contest", "publish", cup)["published"] == ["alpha", "beta", "gamma"]
    for attacker, target in (("beta", "alpha"), ("alpha", "beta")):
        attack = edition.attacks()[0]
        pair = ("--team", attacker, "--target", target, "--knowledge", level)
        tokumei.run("contest", "attack", cup, *pair, "--with", attack)
    tokumei.run("contest", "rank", cup, "--close", exit_code=1)
    assert len(tokumei.run("contest", "judge", cup)["judged"]) == 2
    ranking: list[dict[str, Any]] = tokumei.run("contest", "rank", cup, "--close")["ranking"]
    return ranking


def everything(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# Where each team has data of its own, tests/contest/test_simulate.py and tests/platform/test_own_data.py play.
SHARED = [name for name in EDITIONS.names() if not EDITIONS.make(name).terms.own_files]


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*SHARED, *OWN])
def test_contest_from_prepare_to_rank_is_repeatable_and_every_change_is_found(
    tokumei: CommandLine, tmp_path: Path, name: str
) -> None:
    cup = tmp_path / "cup"
    ranking = play(tokumei, name, tmp_path, cup)
    assert sorted(standing["team"] for standing in ranking) == ["alpha", "beta", "gamma"]
    assert json.loads((cup / "ranking.json").read_text())["ranking"] == ranking
    assert tokumei.run("contest", "replay", cup)["is_true"]

    assert play(tokumei, name, tmp_path, tmp_path / "again") == ranking
    assert everything(tmp_path / "again") == everything(cup)
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "cup.zip").read_bytes()

    for file, content in everything(cup).items():
        (cup / file).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
        found = tokumei.run("contest", "replay", cup, "--quick", exit_code=1)
        assert file.removeprefix("head.") in found["message"], found
        (cup / file).write_bytes(content)
    lines = (cup / "log.jsonl").read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        (cup / "log.jsonl").write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        found = tokumei.run("contest", "replay", cup, "--quick", exit_code=1)
        assert f"log.jsonl, line {number + 1}:" in found["message"]
    (cup / "log.jsonl").write_bytes(b"".join(lines))
    assert tokumei.run("contest", "replay", cup, "--quick")["is_true"]


@pytest.mark.parametrize(
    ("words", "exit_code", "message"),
    [
        (["contest", "show", "nowhere"], 2, "is no contest"),
        (["contest", "prepare", "--out", "cup"], 2, "either --edition or --contest"),
        (["contest", "prepare", "--edition", "pwscup2071", "--out", "cup"], 2, "no edition named 'pwscup2071'"),
        (["contest", "prepare", "--contest", "none.toml", "--out", "cup"], 2, "none.toml"),
        (["contest", "submit", "nowhere", "--team", "a"], 2, "either files or --with"),
        (["contest", "new", "my.toml", "--kind", "tables"], 2, "Did you mean 'table'?"),
        (["contest", "kit", "--out", "kit.zip"], 2, "either --edition or --contest"),
    ],
)
def test_contest_command_that_cannot_be_done_says_why(
    tokumei: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    exit_code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in tokumei.run(*words, exit_code=exit_code)["message"]
    assert list(tmp_path.iterdir()) == []


def test_simulate_prints_a_ranking_and_writes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--edition", "pwscup2018", "--teams", "2", "--customers", "10", "--out", "season"]
    with pytest.raises(SystemExit) as done:
        main(["contest", "simulate", *words])
    assert done.value.code == 0
    shown = capsys.readouterr().out
    for word in ("place", "pseudonyms", "season/results.html"):
        assert word in shown
    assert (tmp_path / "season" / "results.html").stat().st_size > 10_000
