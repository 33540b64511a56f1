"""PWSCUP 2023 against the known answers: Ruby's tables byte for byte, the scores of both rounds, published results."""

from __future__ import annotations

import csv
import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, TeamEntry
from tokumei.contest.editions.pwscup2023.edition import Pwscup2023
from tokumei.contest.editions.pwscup2023.files import (
    ZERO,
    Cells,
    read_digits,
    sorted_cells,
    write_cells,
    write_digits,
)
from tokumei.contest.editions.pwscup2023.players import sort_attack
from tokumei.contest.editions.pwscup2023.stream import Digits, public_table, secret_table
from tokumei.contest.season import rank_attackers

N, SEED = 100_000, 123456789
# Seed, SHA-256 of the text, first row, last row, sum of all cells; of P below the first two rows.
TABLES = [
    (0, "9e2bd9fb70089d10b2ff8d0ff5e682b8333b60ed48502432372cb3dd53fcd079", "1559822609", "2084382969", 4504373),
    (42, "cfcc429502e78d16ba3fc3d3b317d5d431beaa80a11329c01d0025f2f344b2e2", "4418406838", "6016062542", 4504406),
    (SEED, "e6f4a45639863c1d2288cf17f37cb87afd4b7128bb1e349ee5bc756f0c7cf230", "8044161855", "7690484124", 4501585),
    (2**32, "9e2bd9fb70089d10b2ff8d0ff5e682b8333b60ed48502432372cb3dd53fcd079", "1559822609", "2084382969", 4504373),
    (
        2**32 + 5,
        "2a036c614796bc1c9b0db214a379b961902df5f650a964eed27ce81029428a83",
        "9977431686",
        "0889482961",
        4500468,
    ),
    (
        98765432109876543210,
        "fa39853b016bc95933e25ee1a3ef88721857dd92e7fc6f8e704c7eb93f8ce454",
        "1062693752",
        "1780606321",
        4498159,
    ),
]
ROUNDS = {"main": (8, 123123123), "pre": (6, 123456789)}
PUBLIC = {
    "main": ("3e37c14f4dbb01ec4d208897b10e52c2e00f0908f4e5b97c71e8169e248022a3", "04017042", "14060023"),
    "pre": ("7373bd3a4362960f6d7a2a663d8bd796282691e465e75867e0b600f3de584c8d", "273032", "135030"),
}
ORIGINALS = {
    "main": "86e5a8b4867123415d79abce0e2afba15ea8a8f2a0a68369d25fc96183e7a767",
    "pre": "a117408b4d24c78cdd7c7d16413ba45c861c8e14666eaccb0c7f6fe59eec18c6",
}
# How many cells are equal, in the main and in the first round.
EQUAL_CELLS = {
    "as it is": (1_800_000, 1_600_000),
    "all deleted": (0, 0),
    "public deleted": (1_000_000, 1_000_000),
    "secret deleted": (800_000, 600_000),
    "reversed": (206_538, 179_732),
    "next secret": (900_092, 700_092),
    "odd plus one": (900_000, 800_000),
}
SORT_FOUND = {
    "as it is": (995_565, 819_313),
    "reversed": (995_565, 819_313),
    "next secret": (100_054, 99_864),
    "odd plus one": (99_952, 99_952),
}
STAR = ord("*")


def text_of(digits: Digits, path: Path) -> bytes:
    write_digits(digits, path)
    return path.read_bytes()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def secret() -> Digits:
    return secret_table(N, 10, SEED)


@pytest.fixture(scope="module", params=ROUNDS)
def played(request: pytest.FixtureRequest, secret: Digits) -> tuple[str, Digits, Cells]:
    """A round: its name, P and O."""
    public = public_table(N, *ROUNDS[request.param])
    return request.param, public, np.hstack([public, secret]) + np.uint8(ZERO)


def changed(name: str, cells: Cells, n_public: int) -> Cells:
    """Make the releases of the table of known answers."""
    found = cells.copy()
    if name == "all deleted":
        found[:] = STAR
    elif name == "public deleted":
        found[:, :n_public] = STAR
    elif name == "secret deleted":
        found[:, n_public:] = STAR
    elif name == "reversed":
        found = found[::-1].copy()
    elif name == "next secret":
        found[:, n_public:] = np.roll(found[:, n_public:], -1, axis=0)
    elif name == "odd plus one":
        found[:, ::2] = (found[:, ::2] - ZERO + 1) % 10 + ZERO
    return found


@pytest.mark.parametrize(("seed", "digest", "first", "last", "total"), TABLES)
def test_secret_table_is_that_of_ruby(
    seed: int, digest: str, first: str, last: str, total: int, tmp_path: Path
) -> None:
    found = secret_table(N, 10, seed)
    text = text_of(found, tmp_path / "r.csv")
    assert (sha256(text), int(found.sum())) == (digest, total)
    assert ["".join(map(str, row)) for row in (found[0], found[-1])] == [first, last]


def test_public_table_and_original_are_those_published(played: tuple[str, Digits, Cells], tmp_path: Path) -> None:
    name, public, original = played
    digest, first, second = PUBLIC[name]
    assert sha256(text_of(public, tmp_path / "p.csv")) == digest
    assert ["".join(map(str, row)) for row in public[:2]] == [first, second]
    write_cells(original, tmp_path / "o.csv")
    assert sha256((tmp_path / "o.csv").read_bytes()) == ORIGINALS[name]


def test_published_files_regenerate_byte_for_byte(
    shared_data: Path, played: tuple[str, Digits, Cells], secret: Digits, tmp_path: Path
) -> None:
    name, public, _ = played
    folder = shared_data / "pwscup2023"
    assert text_of(public, tmp_path / "p.csv") == gzip.decompress((folder / f"p-{name}.csv.gz").read_bytes())
    assert text_of(secret, tmp_path / "r.csv") == gzip.decompress((folder / "r_seed123456789.csv.gz").read_bytes())


def test_scores_of_releases_and_of_the_sort_attack(
    played: tuple[str, Digits, Cells], secret: Digits, tmp_path: Path
) -> None:
    name, public, original = played
    place, edition = list(ROUNDS).index(name), Pwscup2023(n_public=ROUNDS[name][0])
    write_digits(public, tmp_path / "p.csv")
    write_digits(secret, tmp_path / "r.csv")
    (tmp_path / "seed.txt").write_text(f"{SEED}\n")
    for change, counts in EQUAL_CELLS.items():
        release = changed(change, original, edition.n_public)
        write_cells(release, tmp_path / "a.csv")
        files = {name: tmp_path / f"{name}.csv" for name in ("a", "r")} | {"seed": tmp_path / "seed.txt"}
        found = edition.check_and_score({"p": tmp_path / "p.csv"}, {}, files)
        assert found.details["utility"] == counts[place] / original.size, change
        if change in SORT_FOUND:
            guess = sort_attack(public, sorted_cells(release), seed=0)
            assert int((guess == secret).sum()) == SORT_FOUND[change][place], change
    assert int((secret == 0).sum()) == 99_782
    assert int((secret == np.roll(secret, -1, axis=0)).sum()) == 100_092


def test_sort_attack_writes_the_file_of_the_contests_program(shared_data: Path, secret: Digits, tmp_path: Path) -> None:
    public = public_table(N, *ROUNDS["main"])
    published = sorted_cells(np.hstack([public, secret]) + np.uint8(ZERO))
    expected = (shared_data / "pwscup2023" / "f_sortattack_identity_main.csv.gz").read_bytes()
    assert text_of(sort_attack(public, published, seed=0), tmp_path / "f.csv") == gzip.decompress(expected)
    (tmp_path / "f.csv.gz").write_bytes(expected)
    assert int((read_digits(tmp_path / "f.csv.gz", 10, N) == secret).sum()) == 995_565


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize("name", ROUNDS)
def test_published_results_follow_from_the_attacks(shared_data: Path, name: str) -> None:
    results, attacks = (
        rows_of(shared_data / "pwscup2023" / f"results_{name}_{kind}.csv") for kind in ("anonymize", "attack")
    )
    # Who submitted no release has no entry; against such a team every other found all.
    missing = {row["team"] for row in results if float(row["x"]) == 0}
    assert missing == ({"07", "13"} if name == "pre" else set())
    entries = [
        TeamEntry(
            row["team"],
            ReleaseScore({}, 1 - float(row["utility"])),
            [Attempt(one["attacker"], "", GuessScore(float(one[row["team"]]), {})) for one in attacks],
        )
        for row in results
        if row["team"] not in missing
    ]
    standings = {line.team: line for line in Pwscup2023().rank(entries)}
    for row in results:
        if row["team"] not in missing:
            line = standings[row["team"]]
            assert line.value is not None
            assert line.safety is not None
            assert line.place == int(row["rank"])
            assert 1 - line.safety == pytest.approx(float(row["safety"]), abs=1.1e-5)
            assert 1 - line.value == pytest.approx(float(row["x"]), abs=1.1e-5)
    n_others = len(results) - 1
    for board in rank_attackers(entries):
        row = next(one for one in attacks if one["attacker"] == board.team)
        n_released = len(entries) - (board.team not in missing)
        n_open = n_others - n_released
        found = (board.found * n_released + n_open) / n_others
        assert found == pytest.approx(float(row["y"]), abs=1.1e-5), board.team
        if not missing:
            assert board.place == int(row["rank"])
