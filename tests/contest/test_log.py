"""The log of a contest: only ever added to, and every change noticed."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from tokumei.contest.log import HEAD, LOG, locked_log, read_log, start_log
from tokumei.core.errors import NotFound, PromiseBroken


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    start_log(tmp_path, {"a": 1})
    for number in range(3):
        with locked_log(tmp_path) as log:
            log.append("submit", {"team": "é", "n": number})
    return tmp_path


def lines(folder: Path) -> list[bytes]:
    return (folder / LOG).read_bytes().splitlines(keepends=True)


def test_log_read_back_gives_what_was_written(folder: Path) -> None:
    found = read_log(folder)
    assert [(line.number, line.step) for line in found] == [(1, "prepare"), *((n, "submit") for n in (2, 3, 4))]
    assert [line.facts.get("n") for line in found] == [None, 0, 1, 2]


def test_line_holds_number_step_facts_and_the_hash_before_and_no_time(folder: Path) -> None:
    shape = json.loads(lines(folder)[1])
    assert shape == {
        "number": 2,
        "previous_hash": read_log(folder)[0].hash,
        "payload": {"step": "submit", "facts": {"team": "é", "n": 0}},
    }


def test_head_tells_the_number_and_the_hash_of_the_last_line(folder: Path) -> None:
    assert json.loads((folder / HEAD).read_text()) == {"number": 4, "hash": read_log(folder)[-1].hash}


def test_same_steps_give_the_same_bytes(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    start_log(other, {"a": 1})
    with locked_log(other) as log:
        for number in range(3):
            log.append("submit", {"n": number, "team": "é"})
    assert lines(other) == lines(folder)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_changed_line_is_named(folder: Path, number: int) -> None:
    found = lines(folder)
    found[number - 1] = found[number - 1].replace(b'"facts":{', b'"facts":{"x":1,')
    (folder / LOG).write_bytes(b"".join(found))
    # The line itself is whole; the next one, or the head, no longer fits it.
    with pytest.raises(PromiseBroken, match=f"{LOG}, line ({number}|{number + 1}):"):
        read_log(folder)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_missing_line_is_named(folder: Path, number: int) -> None:
    found = lines(folder)
    (folder / LOG).write_bytes(b"".join(found[: number - 1] + found[number:]))
    with pytest.raises(PromiseBroken, match=f"{LOG}, line {number}: is number {number + 1}"):
        read_log(folder)


def test_line_missing_at_the_end_is_named(folder: Path) -> None:
    (folder / LOG).write_bytes(b"".join(lines(folder)[:-1]))
    with pytest.raises(PromiseBroken, match="line 4: is missing at the end"):
        read_log(folder)


def test_reordered_lines_are_named(folder: Path) -> None:
    one, two, three, four = lines(folder)
    (folder / LOG).write_bytes(one + three + two + four)
    with pytest.raises(PromiseBroken, match="line 2: is number 3"):
        read_log(folder)


@pytest.mark.parametrize("spelling", [b"{}\n", b"nonsense\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"\n"])
def test_line_that_is_no_step_is_named_without_a_traceback(folder: Path, spelling: bytes) -> None:
    found = lines(folder)
    found[2] = spelling
    (folder / LOG).write_bytes(b"".join(found))
    with pytest.raises(PromiseBroken, match="line 3: is not as it was written"):
        read_log(folder)


def test_line_spelled_otherwise_is_named_though_it_says_the_same(folder: Path) -> None:
    found = lines(folder)
    found[1] = found[1].replace(b":", b": ")
    (folder / LOG).write_bytes(b"".join(found))
    with pytest.raises(PromiseBroken, match="line 2: is not as it was written"):
        read_log(folder)


@pytest.mark.parametrize("head", [None, b"", b"{}", b'{"number":9,"hash":"x"}', b'{"number":1,"hash":"x"}'])
def test_head_that_is_gone_or_wrong_is_noticed(folder: Path, head: bytes | None) -> None:
    (folder / HEAD).unlink() if head is None else (folder / HEAD).write_bytes(head)
    with pytest.raises(PromiseBroken, match=HEAD):
        read_log(folder)


def test_write_broken_off_within_a_line_is_as_if_never_begun(folder: Path) -> None:
    whole = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(whole + b'{"before":"12')
    assert len(read_log(folder)) == 4
    with locked_log(folder) as log:
        log.append("publish", {})
    assert [line.step for line in read_log(folder)][-2:] == ["submit", "publish"]


def test_machine_that_stops_between_line_and_head_loses_nothing(folder: Path) -> None:
    head = (folder / HEAD).read_bytes()
    with locked_log(folder) as log:
        log.append("publish", {})
    (folder / HEAD).write_bytes(head)
    assert len(read_log(folder)) == 5
    with locked_log(folder) as log:
        log.append("close", {})
    assert len(read_log(folder)) == 6


def test_number_that_json_does_not_know_is_refused_and_writes_nothing(folder: Path) -> None:
    before = (folder / LOG).read_bytes()
    with locked_log(folder) as log, pytest.raises(ValueError, match="JSON"):
        log.append("submit", {"n": float("nan")})
    assert (folder / LOG).read_bytes() == before


def test_folder_without_a_log_is_no_contest(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is no contest"):
        read_log(tmp_path)


def test_processes_that_add_at_once_all_get_their_line(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add_lines, args=(folder, 10)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    assert [line.number for line in read_log(folder)] == list(range(1, 35))


def _add_lines(folder: Path, n_lines: int) -> None:
    for number in range(n_lines):
        with locked_log(folder) as log:
            log.append("submit", {"n": number})
