"""Replaying a contest: what is true passes, and every change is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokumei.contest.folder import Contest, files_below
from tokumei.contest.log import HEAD, LOG, locked_log, read_log, start_log
from tokumei.contest.phases import close
from tokumei.contest.replay import replay
from tokumei.core.errors import PromiseBroken


@pytest.fixture
def closed(closed_up: Contest) -> Contest:
    close(closed_up)
    return closed_up


def forge(contest: Contest, change: Callable[[int, str, dict[str, Any]], tuple[str, dict[str, Any]] | None]) -> None:
    """Write the log anew with a change, hashes and head and all, as a dishonest organizer could."""
    lines = read_log(contest.folder)
    (contest.folder / LOG).unlink()
    (contest.folder / HEAD).unlink()
    start_log(contest.folder, lines[0].facts)
    with locked_log(contest.folder) as log:
        for line in lines[1:]:
            changed = change(line.number, line.step, json.loads(json.dumps(line.facts)))
            if changed is not None:
                log.append(*changed)


def test_replay_of_a_contest_that_is_true_passes(closed: Contest) -> None:
    found = replay(closed.folder)
    # prepare, 2 × submit, publish, 2 × attack, 2 × judge, close.
    assert (found.n_lines, found.phase) == (9, "closed")
    # Setting, data, 2 knowledge twice, 2 releases, 2 published, 2 truths, 2 guesses, ranking.
    assert found.n_files == 1 + 1 + 4 + 2 + 2 + 2 + 2 + 1
    assert found.head == json.loads((closed.folder / HEAD).read_text())["hash"]


def test_replay_in_every_phase_passes(contest: Contest, tmp_path: Path) -> None:
    assert replay(contest.folder).phase == "anonymize"


def test_quick_replay_works_nothing_out(closed: Contest) -> None:
    assert replay(closed.folder, is_quick=True).n_worked_out == 0
    assert replay(closed.folder).n_worked_out > 0


def test_replay_with_the_source_samples_the_data_again(contest: Contest, tmp_path: Path) -> None:
    without = replay(contest.folder).n_worked_out
    assert replay(contest.folder, source=tmp_path / "source.csv").n_worked_out == without + 2
    (tmp_path / "other.csv").write_text("n0,1\n")
    with pytest.raises(PromiseBroken, match=r"line 1 \(prepare\): the source"):
        replay(contest.folder, source=tmp_path / "other.csv")


def test_every_file_that_is_changed_or_gone_is_named(closed: Contest) -> None:
    files = [path for path in files_below(closed.folder) if path.name not in (LOG, HEAD)]
    assert len(files) == 16
    for path in files:
        content = path.read_bytes()
        for spoilt in (content + b"\n", None):
            path.unlink() if spoilt is None else path.write_bytes(spoilt)
            with pytest.raises(PromiseBroken, match=closed.name(path).replace(".", r"\.")):
                replay(closed.folder, is_quick=True)
            path.write_bytes(content)
    replay(closed.folder)


@pytest.mark.parametrize("name", ["public/data/extra.csv", "secret/submissions/alpha/009/R.csv", "public/releases/x"])
def test_file_that_no_line_tells_of_is_named(closed: Contest, name: str) -> None:
    path = closed.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1\n")
    with pytest.raises(PromiseBroken, match=f"{name}: no line of the log"):
        replay(closed.folder, is_quick=True)


def test_key_that_is_another_is_noticed(closed: Contest) -> None:
    closed.path("secret", "key").write_text("00" * 32 + "\n")
    with pytest.raises(PromiseBroken, match="secret/key: is not the key"):
        replay(closed.folder)


def test_score_forged_with_a_whole_new_chain_is_found(closed: Contest) -> None:
    def change(number: int, step: str, facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if number == 3:
            facts["score"]["utility"] = 0.0
        return step, facts

    forge(closed, change)
    replay(closed.folder, is_quick=True)
    with pytest.raises(PromiseBroken, match=r"line 3 \(submit by beta\): the score is utility: 0\.25"):
        replay(closed.folder)


def test_verdict_forged_with_a_whole_new_chain_is_found(closed: Contest) -> None:
    def change(number: int, step: str, facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if step == "judge":
            facts["score"]["success"] = 0.123
        return step, facts

    forge(closed, change)
    with pytest.raises(PromiseBroken, match=r"line 7 \(judge\): the verdict is success: .* 0\.123 in the log"):
        replay(closed.folder)


def test_step_against_the_rules_is_found_though_the_chain_is_whole(closed: Contest) -> None:
    def change(number: int, step: str, facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if step == "attack" and facts["team"] == "alpha":
            facts["team"] = "beta"
        return step, facts

    forge(closed, change)
    with pytest.raises(
        PromiseBroken, match=r"line 5 \(attack\): was not allowed\. The team 'beta' cannot attack itself"
    ):
        replay(closed.folder, is_quick=True)


def test_step_that_lacks_its_facts_is_found(closed: Contest) -> None:
    def change(number: int, step: str, facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return step, {} if step == "publish" else facts | {"score": 1} if number == 2 else facts

    forge(closed, change)
    with pytest.raises(PromiseBroken, match=r"line 2 \(submit\): lacks facts"):
        replay(closed.folder)


def test_head_shown_before_exposes_a_forged_past(closed: Contest) -> None:
    shown = read_log(closed.folder)[3].hash
    assert replay(closed.folder, is_quick=True, head=shown).n_lines == 9
    forge(closed, lambda number, step, facts: (step, facts | {"note": 1}) if number == 2 else (step, facts))
    with pytest.raises(PromiseBroken, match="no line has the hash"):
        replay(closed.folder, is_quick=True, head=shown)
