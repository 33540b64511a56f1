"""PWSCUP 2023 on tables of a few rows, with answers worked out by hand."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2023 import files, players
from tokumei.contest.editions.pwscup2023.edition import Pwscup2023
from tokumei.contest.editions.pwscup2023.files import GUESS_RULES, RELEASE_RULES, check_release, read_cells, read_digits
from tokumei.contest.editions.pwscup2023.stream import RubyStream, public_table, secret_table
from tokumei.core.errors import InputError

# Three rows of two public columns, with the secret digits that seed 7 gives.
SECRET = secret_table(3, 10, 7)
R = "".join(",".join(map(str, row)) + "\n" for row in SECRET.tolist())
P = "1,2\n0,5\n1,2\n"
A = "".join(f"{p},{r}\n" for p, r in zip(P.split(), R.split(), strict=True))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def edition() -> Pwscup2023:
    return Pwscup2023(n_rows=3, n_public=2)


@pytest.fixture
def data(tmp_path: Path) -> Files:
    return {"p": write(tmp_path / "p.csv", P)}


def release(folder: Path, a: str = A, r: str = R, seed: str = "7\n") -> Files:
    return {
        "a": write(folder / "a.csv", a),
        "r": write(folder / "r.csv", r),
        "seed": write(folder / "seed.txt", seed),
    }


def plain_stream(seed: int) -> random.Random:
    """Python's own twister, seeded as NumPy's: a plain oracle of Ruby's stream."""
    state = np.random.RandomState(seed if seed < 2**32 else [seed % 2**32, seed >> 32]).get_state(legacy=False)["state"]
    found = random.Random()
    found.setstate((3, (*map(int, state["key"]), int(state["pos"])), None))
    return found


def plain_rand(stream: random.Random, x: int) -> int:
    """Draw as Ruby does: the lowest bits of the next output, again while they are too large."""
    while (value := stream.getrandbits(32) & ((1 << (x - 1).bit_length()) - 1)) > x - 1:
        pass
    return value


@pytest.mark.parametrize("seed", [0, 1, 7, 2**32 - 1, 5 * 2**32 + 3, 2**63])
def test_tables_are_those_of_drawing_one_digit_after_the_other(seed: int) -> None:
    for n in (2, 3, 16, 17, 40):
        stream, total = plain_stream(seed), np.zeros((n, 10), int)
        for _ in range(2):
            total += [[plain_rand(stream, 10) for _ in range(10)] for _ in range(n)]
            for left in range(n, 1, -1):
                plain_rand(stream, left)
        assert (secret_table(n, 10, seed) == total % 10).all()
        stream = plain_stream(seed)
        drawn = [[min(plain_rand(stream, 10), plain_rand(stream, 10)) for _ in range(3)] for _ in range(n)]
        assert (public_table(n, 3, seed) == drawn).all()


def test_highest_word_of_one_is_dropped() -> None:
    assert (RubyStream(2**32).digits(50) == RubyStream(0).digits(50)).all()
    assert (RubyStream(2**32 + 5).digits(50) == RubyStream(5).digits(50)).all()
    assert (RubyStream(2**33).digits(50) != RubyStream(0).digits(50)).any()
    # 2⁶⁴ + 2³² + 5 is left with two words.
    assert (RubyStream(2**64 + 2**32 + 5).digits(50) != RubyStream(5).digits(50)).any()


def test_use_is_the_share_of_cells_unchanged(edition: Pwscup2023, data: Files, tmp_path: Path) -> None:
    # 36 cells: one public digit changed, two secret ones deleted.
    rows = [row.split(",") for row in A.split()]
    rows[0][0], rows[1][5], rows[2][11] = "9", "*", "*"
    given = release(tmp_path, "\n".join(",".join(row) for row in rows))
    assert edition.check_and_score(data, {}, given).details == {"utility": 33 / 36}
    assert edition.check_and_score(data, {}, release(tmp_path)).utility == 0.0


BROKEN: list[tuple[str, dict[str, str]]] = [
    ("file-form", {"a": A.replace("1,2,", "1,", 1)}),
    ("file-form", {"a": A + "\n"}),
    ("same-rows", {"a": A + "1,2," + R.split()[0]}),
    ("same-rows", {"a": ""}),
    ("digit", {"a": A.replace("0,5,", "0,05,")}),
    ("digit", {"a": A.replace("0,5,", "0, 5,")}),
    ("digit", {"a": A.replace("0,5,", "0,,")}),
    ("digit", {"a": A.replace("0,5,", '0,"5",')}),
    ("digit", {"a": A.replace("0,5,", "0,٣,")}),
    ("digit", {"r": R.replace(R[0], "*", 1)}),
    ("seed-form", {"seed": "07"}),
    ("seed-form", {"seed": ""}),
    ("seed-form", {"seed": "-7"}),
    ("seed-form", {"seed": " 7"}),
    ("seed-form", {"seed": "1" * 101}),
    ("from-seed", {"seed": "8"}),
]


@pytest.mark.parametrize(("rule", "changed"), BROKEN)
def test_release_that_breaks_one_rule_is_told_its_name(rule: str, changed: dict[str, str], tmp_path: Path) -> None:
    given = release(tmp_path, **changed)
    with pytest.raises(InputError) as caught:
        check_release(3, 2, given["a"], given["r"], given["seed"])
    assert {fault.rule for fault in caught.value.faults} == {rule}


def test_every_rule_is_broken_by_a_test() -> None:
    assert {rule for rule, _ in BROKEN} == {rule.name for rule in RELEASE_RULES}
    assert {rule.name for rule in GUESS_RULES} < {rule for rule, _ in BROKEN}


def test_all_faults_are_told_with_line_and_column(tmp_path: Path) -> None:
    given = release(tmp_path, a=A.replace("\n0,5,", "\n0,x,"), r=R.replace(R[0], str((int(R[0]) + 1) % 10), 1))
    with pytest.raises(InputError) as caught:
        check_release(3, 2, given["a"], given["r"], given["seed"])
    assert [(fault.rule, fault.line, fault.column) for fault in caught.value.faults] == [
        ("digit", 2, "2"),
        ("from-seed", 1, "1"),
    ]


@pytest.mark.parametrize(
    "change", [lambda t: t, lambda t: t.replace("\n", "\r\n"), lambda t: t.replace("\n", "\r\n", 1), str.rstrip]
)
def test_lines_may_end_in_either_way_and_the_last_in_nothing(change: object, tmp_path: Path) -> None:
    assert callable(change)
    assert (read_digits(write(tmp_path / "r.csv", change(R)), 10, 3) == SECRET).all()


def test_further_lines_of_the_seed_are_not_looked_at(tmp_path: Path) -> None:
    assert files.read_seed(write(tmp_path / "seed.txt", "7\r\nand so on\n")) == 7


@pytest.mark.parametrize("seed", range(3))
def test_file_read_at_once_is_what_reading_line_by_line_gives(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    for place in range(60):
        cells = np.frombuffer(b"0123456789*", np.uint8)[rng.integers(0, 11, (4, 3))]
        text = bytearray(b"".join(b",".join(bytes([cell]) for cell in row) + b"\n" for row in cells))
        for _ in range(place % 3):
            text[rng.integers(len(text))] = rng.choice(list(b"07*,\n\r x"))
        path = tmp_path / "a.csv"
        path.write_bytes(text)
        try:
            plain = files._read_lines(path, bytes(text), 3, may_delete=True)
        except InputError as error:
            with pytest.raises(InputError) as caught:
                read_cells(path, 3, may_delete=True)
            assert caught.value.faults == error.faults
        else:
            assert (read_cells(path, 3, may_delete=True) == plain).all()


def test_lines_are_published_sorted_a_star_first(edition: Pwscup2023, data: Files, tmp_path: Path) -> None:
    given = release(tmp_path, A.replace("1,2,", "*,2,", 1))
    (tmp_path / "shown").mkdir()
    (tmp_path / "truth").mkdir()
    edition.publish(data, given, tmp_path / "shown", tmp_path / "truth", seed=1)
    lines = given["a"].read_text().split()
    assert (tmp_path / "shown/b.csv").read_text().split() == sorted(lines) == [lines[0], lines[1], lines[2]]
    assert (tmp_path / "truth/r.csv").read_text() == R


def test_guess_is_held_against_the_truth(edition: Pwscup2023, data: Files, tmp_path: Path) -> None:
    truth = {"r": write(tmp_path / "r.csv", R)}
    wrong = R.replace(R[0], str((int(R[0]) + 1) % 10), 1)
    found = edition.check_and_judge(data, {}, truth, {"f": write(tmp_path / "f.csv", wrong)})
    assert found.success == found.details["match"] == 29 / 30
    assert found.details["baseline"] == 0.1
    assert 0.82 < found.details["interval"][0] < 29 / 30 < found.details["interval"][1]


def test_teams_rank_by_the_mean_of_use_and_safety_and_equals_by_safety(edition: Pwscup2023) -> None:
    def entry(team: str, lost: float, **found: float) -> TeamEntry:
        attempts = [Attempt(one, "", GuessScore(success, {})) for one, success in found.items()]
        return TeamEntry(team, ReleaseScore({}, lost), attempts)

    entries = [
        entry("a", 0.25, b=0.5, a=1.0),
        entry("b", 0.5, a=0.25, c=0.125),
        entry("c", 0.75),
        entry("d", 0.0, a=0.5, b=0.125),
    ]
    found = edition.rank(entries)
    # d .25; then three of .375: c found by nobody, b by .25, a by .5.
    assert [(one.place, one.team, one.value) for one in found] == [
        (1, "d", 0.25), (2, "c", 0.375), (3, "b", 0.375), (4, "a", 0.375),
    ]  # fmt: skip


def test_sort_attack_pairs_sorted_rows_with_lines() -> None:
    public = np.array([[1, 2], [0, 5], [1, 2]], np.uint8)
    lines = ["0,5", "1,2", "1,2"]
    published = np.array(
        [[*line.replace(",", "").encode(), *(str(n) * 10).encode()] for n, line in enumerate(lines)], np.uint8
    )
    # Row 2 (0,5) is first; rows 1 and 3 are equal and keep their order.
    assert players.sort_attack(public, published, 1)[:, 0].tolist() == [1, 0, 2]


def test_nearest_rows_settle_pairs_and_vote_among_equals() -> None:
    public = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 2], [9, 9, 9, 9, 9, 9]], np.uint8)
    digits = [
        "1111110000000000",
        "1111130000000000".replace("0", "5"),
        "9999997777777777",
        "9999997777777777",
        "999999" + "8" * 10,
    ]
    published = np.array([[*line.encode()] for line in digits], np.uint8)
    found = players.nearest_rows(public, published, 1)
    # The first line is the first row's; so the second row, which agrees with both in five, is left with the other.
    assert found[:, 0].tolist() == [0, 5, 7]


def test_equal_public_parts_are_the_most_frequent_digits_of_their_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "GROUP", 3)
    cells = np.array([[*line.encode()] for line in ("115", "996", "127", "128")], np.uint8)
    found = players.equal_public(cells, 2, 1)
    assert [bytes(row).decode() for row in found] == ["125", "996", "127", "128"]


def test_sample_anonymizer_changes_a_cell_in_eleven_and_leaves_the_rest() -> None:
    cells = np.full((2000, 18), ord("3"), np.uint8)
    share = (players.sample_anonymizer(cells, 8, 1) != cells).mean()
    # 10 of 110; 36,000 cells, so that six deviations are .0091.
    assert abs(share - 1 / 11) < 0.0091


def test_built_in_teams_keep_the_rules_and_attacks_find_the_sample(tmp_path: Path) -> None:
    edition = Pwscup2023(n_rows=400)
    edition.make_data(tmp_path, seed=1)
    data, found = {"p": tmp_path / "p.csv"}, {}
    for name in edition.anonymizers():
        folder = tmp_path / name
        for one in (folder, folder / "shown", folder / "truth"):
            one.mkdir()
        edition.anonymize(name, data, folder, seed=2)
        given = files_in(folder, edition.terms.release_files)
        assert edition.check_and_score(data, {}, given).utility < 0.5
        edition.publish(data, given, folder / "shown", folder / "truth", seed=3)
        shown = files_in(folder / "shown", edition.terms.published_files)
        truth = files_in(folder / "truth", edition.terms.truth_files)
        for attack in edition.attacks():
            edition.attack(attack, data, {}, shown, folder, seed=4)
            guess = files_in(folder, edition.terms.guess_files)
            found[name, attack] = edition.check_and_judge(data, shown, truth, guess).success
    assert found["random-cells", "nearest-rows"] > 0.7 > 0.2 > found["random-cells", "sort"]
    assert max(found["equal-public", name] for name in edition.attacks()) < 0.3


@pytest.mark.parametrize(("option", "value"), [("n_rows", 1), ("n_public", 0), ("public_seed", -1)])
def test_options_that_no_contest_can_have_are_refused(option: str, value: int) -> None:
    with pytest.raises(InputError, match=option):
        Pwscup2023(**{option: value})
