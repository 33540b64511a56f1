"""PWSCUP 2019 against the known answers: the contest's programs on the practice traces of Osaka, seed by seed."""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tokumei.contest.editions.pwscup2019 import attacks, players
from tokumei.contest.editions.pwscup2019.edition import read_ptable
from tokumei.contest.editions.pwscup2019.files import (
    CELL,
    N_CELLS,
    Ints,
    Released,
    Traces,
    identity_safety,
    read_guess,
    read_public,
    read_released,
    read_traces,
    trace_safety,
    utility,
    write_lines,
    write_public,
)
from tokumei.contest.editions.pwscup2019.players import Stream

Anonymizer = Callable[[Traces, Stream], Released]
N, SLOTS = 2000, 40
ANONYMIZERS: dict[str, Anonymizer] = {
    "A1": players.keep,
    "A2 default": partial(players.merge_and_delete, bits=(2, 2), deleted=0.5),
    "A2 1 1 0": players.merge_and_delete,
    "A2 0 0 .5": partial(players.merge_and_delete, bits=(0, 0), deleted=0.5),
    "A3 8": players.randomize,
    "A4 4 1": players.planar_laplace,
    "A5 .3": partial(players.exchange, share=0.3),
}
# Use, and the beginning of the SHA-256 of the file where that is told.
RELEASES = {
    "A1": (1.0, "9f53e5ebe826"),
    "A2 default": (0.3255519500386591, "09e32906739a"),
    "A2 1 1 0": (0.8531601112191394, "991cbe4f1e16"),
    "A2 0 0 .5": (0.5008250000000001, "27c97be6ec81"),
    "A3 8": (0.7531539902323094, ""),
    "A4 4 1": (0.7545833409951082, "bdd8b6bd9fcc"),
    "A5 .3": (0.714583786813703, ""),
}
# I3 and T3 with the beginnings of the digests of their guesses.
FIRST_HOUR = {
    "A1": (0.889, "9ee90c39ebf5", 0.7879817119732544, "bf46f8d74707"),
    "A4 4 1": (0.9635, "73b161af56a1", 0.8595463976956565, "d3f9317e4ec3"),
    "A3 8": (0.9035, "625597d4c609", 0.8489490363849617, "33b7bdb4873f"),
    "A5 .3": (0.924, "fcac0fa6dbc7", 0.7875950617732789, "d76151afb676"),
    "A2 1 1 0": (0.931, "f9bbae1d2f38", 0.8191055736681414, "f26031ad3206"),
}
Guesser = Callable[[Released, Traces, Stream], Ints]


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2019"


@pytest.fixture(scope="module")
def original(folder: Path) -> Traces:
    return read_traces(folder / "orgtraces_team001_data01_IDP.csv.gz", N, SLOTS)


@pytest.fixture(scope="module")
def reference(folder: Path) -> Traces:
    return read_traces(folder / "reftraces_team001_data01_IDP.csv.gz", N, SLOTS)


@pytest.fixture(scope="module")
def users() -> Ints:
    return players.shuffled_users(N, Stream(1))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def of_lines(name: str, numbers: Ints, path: Path) -> str:
    write_lines(path, [name], (numbers.ravel() + 1).tolist())
    return digest(path)


@pytest.mark.parametrize("name", ANONYMIZERS)
def test_sample_anonymizers_give_the_contests_files_and_their_use(name: str, original: Traces, tmp_path: Path) -> None:
    released = ANONYMIZERS[name](original, Stream(1))
    use, beginning = RELEASES[name]
    assert utility(original, released) == use
    write_lines(tmp_path / "ano.csv", [CELL], released.words)
    assert digest(tmp_path / "ano.csv").startswith(beginning)
    again = read_released(tmp_path / "ano.csv", N, SLOTS)
    assert (again.cells == released.cells).all()
    assert (again.starts == released.starts).all()


def test_file_that_the_contest_shipped_is_read_as_it_is(folder: Path, original: Traces) -> None:
    assert (
        utility(original, read_released(folder / "anotraces_team001_data01_IDP.csv.gz", N, SLOTS)) == 0.3255519500386591
    )


def test_scores_of_plain_answers(folder: Path, original: Traces, reference: Traces, tmp_path: Path) -> None:
    first = np.zeros_like(original.cells)
    assert utility(original, Released.single(reference)) == 0.20181234023861494
    assert utility(original, Released.single(Traces(first))) == 0.0008774311175698823
    (tmp_path / "ano.csv").write_text("reg_id\n" + "1 33 1024\n" * (N * SLOTS))
    assert utility(original, read_released(tmp_path / "ano.csv", N, SLOTS)) == 0.003763936126595424
    assert trace_safety(original, reference.cells) == 0.8034195480633985
    assert trace_safety(original, first) == 0.9993461216997908
    shipped = read_guess(folder / "etraces_team020-001_data01_IDP.csv.gz", CELL, N * SLOTS, N_CELLS)
    assert trace_safety(original, shipped) == 0.966614349241424


def test_scores_of_the_second_set_and_of_shipped_tables(folder: Path, tmp_path: Path) -> None:
    original, reference = (
        read_traces(folder / f"{one}traces_team001_data02_TRP.csv.gz", N, SLOTS) for one in ("org", "ref")
    )
    assert trace_safety(original, reference.cells) == 0.8017604087873746
    assert trace_safety(original, original.cells) == 0.0
    (tmp_path / "ptable.csv").write_bytes(gzip.decompress((folder / "ptable_team001_data01_IDP.csv.gz").read_bytes()))
    guessed = read_guess(folder / "etable_team020-001_data01_IDP.csv.gz", "user_id", N, N)
    assert identity_safety(read_ptable(tmp_path / "ptable.csv"), guessed) == 0.999


def test_shuffle_is_that_of_the_contests_program(folder: Path, original: Traces, users: Ints, tmp_path: Path) -> None:
    (tmp_path / "ptable.csv").write_bytes(gzip.decompress((folder / "ka_ptable_seed1.csv.gz").read_bytes()))
    assert (read_ptable(tmp_path / "ptable.csv") == users).all()
    write_public(tmp_path / "pub.csv", Released.single(original).by_user(users), original.first_time)
    assert digest(tmp_path / "pub.csv").startswith("94d13236e9ae")


def guess(name: str, kind: str, released: Released, reference: Traces) -> Ints:
    attack, stream = attacks.ATTACKS[name], Stream(1)
    named, cells = attack(released, reference, stream, is_once=kind == "T")
    return cells() if kind == "T" else named


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST_HOUR)
def test_attacks_by_the_first_hour_guess_as_the_contests(
    name: str, original: Traces, reference: Traces, users: Ints, tmp_path: Path
) -> None:
    identity, of_users, trace, of_cells = FIRST_HOUR[name]
    released = ANONYMIZERS[name](original, Stream(1)).by_user(users)
    named, cells = (guess("first-hour", kind, released, reference) for kind in "IT")
    assert identity_safety(users, named) == identity
    assert trace_safety(original, cells) == trace
    assert of_lines("user_id", named, tmp_path / "etable.csv").startswith(of_users)
    assert of_lines(CELL, cells, tmp_path / "etraces.csv").startswith(of_cells)


@pytest.mark.slow
def test_attacks_by_chance_guess_as_the_contests(original: Traces, reference: Traces, users: Ints) -> None:
    released = Released.single(original).by_user(users)
    assert identity_safety(users, guess("random", "I", released, reference)) == 0.9975
    assert identity_safety(users, guess("tenth", "I", released, reference)) == 0.962
    assert trace_safety(original, guess("tenth", "T", released, reference)) == 0.8562872791291535
    assert trace_safety(original, attacks.random_cells(N, SLOTS, Stream(1))) == 0.9662728439006197


@pytest.mark.slow
def test_first_hour_on_the_organizers_own_set_is_the_contests_guess(folder: Path, tmp_path: Path) -> None:
    released = read_public(folder / "tokyo_prelim_pubtraces_team000_data01_IDP.csv.gz", N, SLOTS)
    reference = read_traces(folder / "tokyo_prelim_reftraces_team000_data01_IDP.csv.gz", N, SLOTS)
    named = guess("first-hour", "I", released, reference)
    expected = "16ac9f85a94838c006171c1e479cc4e1dcd8e8b3dd8b1563cb951fc4cb378ba6"
    assert of_lines("user_id", named, tmp_path / "etable.csv") == expected


@pytest.mark.thorough
def test_habits_find_more_than_the_samples(original: Traces, reference: Traces, users: Ints) -> None:
    released = Released.single(original).by_user(users)
    named, cells = attacks.ATTACKS["habits"](released, reference, Stream(1), is_once=True)
    # The best sample finds .111 of the users and leaves .788.
    assert 1 - identity_safety(users, named) > 0.13
    assert trace_safety(original, cells()) < 0.76


def anonymizer_of(label: str) -> Anonymizer:
    """Return what a line of the organizers' published results was made by, such as A2-0-0-0.5."""
    name, *numbers = label.split("-")
    if name == "A2":
        return partial(players.merge_and_delete, bits=(int(numbers[0]), int(numbers[1])), deleted=float(numbers[2]))
    if name == "A3":
        return partial(players.randomize, eps=float(numbers[0]))
    if name == "A4":
        return partial(players.planar_laplace, eps=float(numbers[0]) / float(numbers[1]))
    return partial(players.exchange, share=float(numbers[0])) if name == "A5" else players.keep


@pytest.mark.slow
def test_use_of_the_organizers_own_results(folder: Path, original: Traces) -> None:
    with (folder / "official_sample_results_team001_data01.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 37
    for row in rows:
        assert utility(original, anonymizer_of(row["Ano"])(original, Stream(1))) == float(row["Util"]), row["Ano"]
