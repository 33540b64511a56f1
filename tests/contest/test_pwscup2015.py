from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import cases
from tests.contest.conftest import made

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, Standing, TeamEntry, files_in
from tokumei.contest.editions.pwscup2015.edition import Pwscup2015
from tokumei.contest.editions.pwscup2015.files import GUESS_RULES, RELEASE_RULES, Microdata, check_guess, check_release
from tokumei.contest.season import rank_attackers
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.seeds import generator
from tokumei.data.files.strict import read_rows, write_rows
from tokumei.data.table import Table

EDITION = Pwscup2015(n_rows=120)
TERMS = EDITION.terms
HONEST = ["shuffle", "noise", "drop", "swap", "average"]
FORM = Microdata(("sex", "town"), ("income", "rent"))
X = b"sex,town,income,rent\nf,1,10,1\nf,2,20,2\nm,1,30,3\nm,2,40,4\nf,3,50,5\nm,3,60,6\n"
Y = b"sex,town,income,rent\nm,3,61,6\nf,1,11,1.5\nf,2,20,2\nm,1,31,-3\nf,3,50.25,5\n"
I = b"6\n1\n2\n3\n5\n"  # noqa: E741 - The contest calls it so.
Q = b"1\n1\n6\n2\n3\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("data")
    EDITION.make_data(folder, seed=1)
    return files_in(folder, TERMS.data_files)


@pytest.fixture(scope="module")
def releases(data: Files, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    """What each built-in anonymizer hands in."""
    folder = tmp_path_factory.mktemp("releases")
    for name in EDITION.anonymizers():
        EDITION.anonymize(name, data, made(folder / name), seed=1)
    return {name: files_in(folder / name, TERMS.release_files) for name in EDITION.anonymizers()}


@pytest.fixture
def original(tmp_path: Path) -> Table:
    return FORM.read(written(tmp_path, X=X)["X"], "X")


def written(folder: Path, **files: bytes) -> dict[str, Path]:
    for name, content in files.items():
        (folder / f"{name}.csv").write_bytes(content)
    return {name: folder / f"{name}.csv" for name in files}


def rules_broken(check: Callable[[], None]) -> set[str]:
    """The rules that the faults of a submission name."""
    with pytest.raises(InputError) as caught:
        check()
    return {str(fault.rule) for fault in caught.value.faults}


# One submission for each rule, or some, that break nothing but it.
BROKEN_RELEASES: list[tuple[str, bytes, bytes]] = [
    ("file-form", Y.replace(b"m,3,61,6", b"m,3,61"), I),
    ("file-form", Y.replace(b"rent", b"rent,more", 1), I),
    ("file-form", Y.replace(b"\n", b"\r\n", 2), I),
    ("file-form", b"\xef\xbb\xbf" + Y, I),
    ("file-form", Y.replace(b"61", b"6\0"), I),
    ("file-form", Y.replace(b"61", b"\xff"), I),
    ("file-form", b"", I),
    ("file-form", Y, I.replace(b"6\n", b"6,\n")),
    ("file-form", Y, b"row\n" + I.replace(b"5\n", b"")),
    ("columns", Y.replace(b"sex,town", b"town,sex"), I),
    ("columns", Y.replace(b"rent", b"Rent"), I),
    ("columns", Y.partition(b"\n")[2], I),
    ("rows-added", X + b"m,3,61,6\nf,1,61,6\n", b"1\n2\n3\n4\n5\n6\n" + b"7\n8\n"),
    ("half-kept", b"".join(Y.splitlines(keepends=True)[:3]), b"6\n1\n"),
    ("half-kept", Y.partition(b"\n")[0] + b"\n", b"1\n"),
    ("code-form", Y.replace(b"f,1,", b"f,,"), I),
    ("code-form", Y.replace(b"f,1,", b"=f,1,"), I),
    ("code-of-x", Y.replace(b"f,1,", b"f,4,"), I),
    ("code-of-x", Y.replace(b"f,1,", b"f,01,"), I),
    ("code-of-x", Y.replace(b"f,1,", b"1,1,"), I),
    ("amount-form", Y.replace(b"50.25", b"50.255"), I),
    ("amount-form", Y.replace(b"50.25", b"inf"), I),
    ("amount-form", Y.replace(b"50.25", b""), I),
    ("amount-form", Y.replace(b"50.25", b"1" * 10), I),
    ("one-number-each", Y, I + b"4\n"),
    ("one-number-each", Y, I.replace(b"5\n", b"")),
    ("row-of-x", Y, I.replace(b"6", b"7")),
    ("row-of-x", Y, I.replace(b"6", b"0")),
    ("row-of-x", Y, I.replace(b"6", b"6.0")),
    ("row-of-x", Y, I.replace(b"2", "六".encode())),
    ("each-row-once", Y, I.replace(b"6", b"5")),
]
# Two rules are broken together: where rows are added their numbers cannot all be rows of X, and where none is left
# there is no row number either.
COMPANIONS = {"rows-added": {"row-of-x"}, "half-kept": {"one-number-each"}}


@pytest.mark.parametrize(("rule", "released", "rows"), BROKEN_RELEASES)
def test_release_that_breaks_one_rule_is_told_that_rule(
    original: Table, tmp_path: Path, rule: str, released: bytes, rows: bytes
) -> None:
    broken = rules_broken(lambda: check_release(original, FORM, written(tmp_path, Y=released, I=rows)))
    assert rule in broken
    assert broken - {rule} <= COMPANIONS.get(rule, set())


def test_every_rule_has_a_submission_that_breaks_it() -> None:
    assert {rule for rule, *_ in BROKEN_RELEASES} == {rule.name for rule in RELEASE_RULES}
    assert {rule for rule, _ in BROKEN_GUESSES} == {rule.name for rule in GUESS_RULES}


def test_valid_releases_pass(original: Table, tmp_path: Path) -> None:
    check_release(original, FORM, written(tmp_path, Y=Y, I=I))
    check_release(original, FORM, written(tmp_path, Y=Y.replace(b"\n", b"\r\n"), I=I.removesuffix(b"\n")))
    packed = written(tmp_path, Y=gzip.compress(Y), I=gzip.compress(I))
    check_release(original, FORM, packed)
    # Half of the rows are enough.
    check_release(original, FORM, written(tmp_path, Y=b"".join(Y.splitlines(keepends=True)[:4]), I=b"6\n1\n2\n"))


def test_faults_of_both_files_are_told_at_once_with_line_column_and_value(original: Table, tmp_path: Path) -> None:
    files = written(tmp_path, Y=Y.replace(b"f,2,20", b"f,9,much"), I=I.replace(b"5", b"6"))
    with pytest.raises(InputError) as caught:
        check_release(original, FORM, files)
    found = [(Path(str(fault.file)).name, fault.line, fault.column, fault.value) for fault in caught.value.faults]
    assert found == [("Y.csv", 4, "income", "much"), ("Y.csv", 4, "town", "9"), ("I.csv", 5, "row", "6")]


BROKEN_GUESSES = [
    ("file-form", b"\xff" + Q),
    ("file-form", b""),
    ("file-form", Q.replace(b"6", b"6,6")),
    ("one-number-each", Q + b"1\n"),
    ("one-number-each", Q[2:]),
    ("row-of-x", Q.replace(b"6", b"7")),
    ("row-of-x", Q.replace(b"6", b"-6")),
]


@pytest.mark.parametrize(("rule", "guess"), BROKEN_GUESSES)
def test_guess_that_breaks_one_rule_is_told_that_rule(tmp_path: Path, rule: str, guess: bytes) -> None:
    assert rules_broken(lambda: check_guess(6, 5, written(tmp_path, Q=guess)["Q"])) == {rule}


def test_guess_may_name_a_row_for_several(tmp_path: Path) -> None:
    check_guess(6, 5, written(tmp_path, Q=Q)["Q"])


LINES = st.sampled_from(
    [b"", b"\n", b",", b'"', b"\0", b"\r", b"9" * 30, b"-1", b"f,1,1,1\n", b"\xff\xfe", "é\u202e".encode()]
)


@st.composite
def mutated(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file with some bytes, cells or lines changed, moved, doubled or cut away."""
    content = valid
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        middle = draw(st.one_of(LINES, st.binary(max_size=6), st.text(max_size=4).map(str.encode)))
        lines = content.splitlines(keepends=True)
        content = draw(
            st.sampled_from(
                [
                    content[:start] + middle + content[end:],
                    content[:start] + content[end:],
                    content + content[start:end],
                    content[:end],
                    b"".join(reversed(lines)),
                    b"".join(lines[1:] + lines[:1]),
                    content.replace(b"1", middle),
                    content.replace(b"\n", b"\r\n"),
                ]
            )
        )
    return content


def has_verdict(check: Callable[[], None]) -> bool:
    """Whether a check says yes or tells faults; any other error fails the test."""
    try:
        check()
    except InputError as error:
        assert error.faults
        assert str(error)
        assert json.dumps(error.as_dict())
    return True


FUZZ = settings(max_examples=cases(900), suppress_health_check=list(HealthCheck))


@FUZZ
@given(content=mutated(Y))
def test_any_mutated_table_has_a_verdict(original: Table, tmp_path: Path, content: bytes) -> None:
    assert has_verdict(lambda: check_release(original, FORM, written(tmp_path, Y=content, I=I)))


@FUZZ
@given(content=mutated(I))
def test_any_mutated_row_numbers_have_a_verdict(original: Table, tmp_path: Path, content: bytes) -> None:
    assert has_verdict(lambda: check_release(original, FORM, written(tmp_path, Y=Y, I=content)))


@FUZZ
@given(content=mutated(Q))
def test_any_mutated_guess_has_a_verdict(tmp_path: Path, content: bytes) -> None:
    assert has_verdict(lambda: check_guess(6, 5, written(tmp_path, Q=content)["Q"]))


@settings(max_examples=cases(100), suppress_health_check=list(HealthCheck))
@given(content=mutated(Y), rows=mutated(I))
def test_any_release_that_passes_is_scored_and_published(
    original: Table, tmp_path: Path, content: bytes, rows: bytes
) -> None:
    edition = Pwscup2015(6, FORM.quasi_identifiers, FORM.sensitive, "income", "rent")
    known, release = written(tmp_path, X=X), written(tmp_path, Y=content, I=rows)
    try:
        edition.check(known, release)
    except InputError:
        return
    assert edition.score(known, {}, release).utility >= 0
    edition.publish(known, release, made(tmp_path / "seen"), made(tmp_path / "truth"), seed=1)


def test_score_has_the_thirteen_indices_by_their_names(data: Files, releases: dict[str, Files]) -> None:
    score = EDITION.score(data, {}, releases["noise"])
    details = json.loads(json.dumps(score.details))
    assert {kind: list(values) for kind, values in details.items()} == {
        "utility": ["U1", "U2", "U3", "U4", "U5", "U6"],
        "safety": ["S1", "S2"],
        "reidentification": ["E1", "E2", "E3", "E4", "E5"],
    }
    assert ReleaseScore.of(json.loads(json.dumps(score.as_dict()))) == score


def test_score_of_rows_that_only_changed_their_order_is_lossless_and_unsafe(
    data: Files, releases: dict[str, Files]
) -> None:
    score = EDITION.score(data, {}, releases["shuffle"])
    assert set(score.details["utility"].values()) == {0}
    assert score.utility == 0
    assert score.safety == 1
    assert score.details["reidentification"]["E5"] == 0


def test_score_does_not_depend_on_the_order_handed_in(data: Files, releases: dict[str, Files], tmp_path: Path) -> None:
    score = EDITION.score(data, {}, releases["average"])
    table, rows = EDITION.form.read(releases["average"]["Y"], "Y"), read_rows(releases["average"]["I"])
    order = generator(1).permutation(len(rows))
    EDITION.form.write(table.frame[order], tmp_path / "Y.csv")
    write_rows(rows[order], tmp_path / "I.csv")
    assert EDITION.score(data, {}, files_in(tmp_path, TERMS.release_files)) == score


def test_average_makes_classes_of_five(data: Files, releases: dict[str, Files]) -> None:
    assert EDITION.score(data, {}, releases["average"]).details["safety"]["S1"] >= 5


@pytest.mark.parametrize("name", HONEST)
def test_honest_release_is_not_flagged_and_is_with_its_row_numbers_shuffled(
    data: Files, releases: dict[str, Files], tmp_path: Path, name: str
) -> None:
    honest = EDITION.score(data, {}, releases[name])
    assert honest.flags == ()
    rows = read_rows(releases[name]["I"])
    write_rows(rows[generator(2).permutation(len(rows))], tmp_path / "I.csv")
    cheating = EDITION.score(data, {}, {"Y": releases[name]["Y"], "I": tmp_path / "I.csv"})
    assert [flag[:2] for flag in cheating.flags[:2]] == ["U5", "E5"]
    unchanged = ["U1", "U2", "U3", "U4", "U6"]
    assert [cheating.details["utility"][u] for u in unchanged] == [honest.details["utility"][u] for u in unchanged]
    assert cheating.details["safety"] == honest.details["safety"]
    assert cheating.details["utility"]["U5"] > honest.details["utility"]["U5"]


def test_built_in_cheater_is_flagged_with_evidence(data: Files, releases: dict[str, Files]) -> None:
    flags = EDITION.score(data, {}, releases["yamaoka"]).flags
    assert any("rows" in flag for flag in flags[2:])


@pytest.mark.parametrize("part", [0.5, 1.0])
def test_row_numbers_shuffled_in_part_or_among_rows_that_are_alike_are_flagged(
    data: Files, releases: dict[str, Files], tmp_path: Path, part: float
) -> None:
    release = releases["noise" if part < 1 else "shuffle"]
    table, rows = EDITION.form.read(release["Y"], "Y"), read_rows(release["I"]).to_numpy().copy()
    if part < 1:
        rows[:60] = rows[:60][generator(4).permutation(60)]
    else:
        # Each row is declared to be its neighbor in the order of traits.
        order = table.frame.select(pl.arg_sort_by(EDITION.quasi_identifiers)).to_series().to_numpy()
        rows[order] = np.roll(rows[order], 1)
    write_rows(pl.Series(rows), tmp_path / "I.csv")
    assert EDITION.score(data, {}, {"Y": release["Y"], "I": tmp_path / "I.csv"}).flags


def test_published_rows_tell_neither_their_order_nor_how_numbers_were_written(tmp_path: Path) -> None:
    edition = Pwscup2015(6, FORM.quasi_identifiers, FORM.sensitive, "income", "rent")
    known = written(tmp_path, X=X)
    one = written(tmp_path, Y=Y, I=I)
    edition.publish(known, one, made(tmp_path / "a"), made(tmp_path / "b"), seed=7)
    lines = Y.replace(b"50.25,5", b"050.25,5.00").splitlines(keepends=True)
    backwards = written(tmp_path, Y=b"".join([lines[0], *lines[:0:-1]]), I=b"5\n3\n2\n1\n6\n")
    edition.publish(known, backwards, made(tmp_path / "c"), made(tmp_path / "d"), seed=7)
    for before, after in (("a/Y.csv", "c/Y.csv"), ("b/I.csv", "d/I.csv")):
        assert (tmp_path / before).read_bytes() == (tmp_path / after).read_bytes()
    # The truth goes with the rows: the amounts of row i are about ten times i.
    published = edition.form.read(tmp_path / "a" / "Y.csv", "Y").frame
    assert (published["income"] / 10).round().to_list() == read_rows(tmp_path / "b" / "I.csv").to_list()


def play(folder: Path) -> list[Standing]:
    """A whole season, in which anonymizers are teams and every attack is tried on all."""
    edition = Pwscup2015(n_rows=60)
    terms = edition.terms
    edition.make_data(made(folder / "data"), seed=3)
    data = files_in(folder / "data", terms.data_files)
    edition.draw_knowledge(data, made(folder / "knowledge"), seed=3)
    entries = []
    for team in ("noise", "average", "yamaoka"):
        at = folder / team
        edition.anonymize(team, data, made(at / "release"), seed=3)
        release = files_in(at / "release", terms.release_files)
        edition.check(data, release)
        score = edition.score(data, {}, release)
        edition.publish(data, release, made(at / "published"), made(at / "truth"), seed=3)
        published = files_in(at / "published", terms.published_files)
        truth = files_in(at / "truth", terms.truth_files)
        attempts = []
        for name in edition.attacks():
            edition.attack(name, data, {}, published, made(at / name), seed=3)
            guess = files_in(at / name, terms.guess_files)
            edition.check_guess(data, published, guess)
            attempts.append(Attempt(f"by {name}", "", edition.judge(data, published, truth, guess)))
        entries.append(TeamEntry(team, score, attempts))
    return edition.rank(entries)


def test_season_played_twice_with_a_seed_gives_the_same_bytes_and_ranking(tmp_path: Path) -> None:
    standings = [play(tmp_path / name) for name in ("one", "two")]
    assert standings[0] == standings[1]
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.csv"))
    assert len(files) == 1 + 3 * (2 + 2 + 4)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert standings[0][-1].team == "yamaoka"
    assert standings[0][-1].value is None
    assert standings[0][-1].reason.startswith("U5")


def entry(
    team: str, attacked: Sequence[tuple[str, float]] = (), flags: tuple[str, ...] = (), **changed: float
) -> TeamEntry:
    names = {"utility": "U1 U2 U3 U4 U5 U6", "safety": "S1 S2", "reidentification": "E1 E2 E3 E4 E5"}
    details = {kind: {name: changed.get(name, 0.5) for name in listed.split()} for kind, listed in names.items()}
    attempts = [Attempt(attacker, "", GuessScore(success, {})) for attacker, success in attacked]
    return TeamEntry(team, ReleaseScore(details, 0.5, 0.5, flags), attempts)


def test_rank_adds_up_ranks_and_equals_share_the_mean() -> None:
    # All three are equal in eleven indices: rank 2 each, 22. U1 ranks a, c, b; S1, of which more is better, c, a = b.
    # What others find in a release changes no rank.
    entries = [
        entry("a", [("b", 0.3), ("c", 0.1)], U1=0.1, S1=2),
        entry("b", [("b", 1.0)], U1=0.3, S1=2),
        entry("c", [("a", 0.2)], U1=0.2, S1=5),
    ]
    standings = EDITION.rank(entries)
    values = {line.team: line.value for line in standings}
    assert values == {"a": 22 + 1 + 2.5, "b": 22 + 3 + 2.5, "c": 22 + 2 + 1}
    assert [(line.place, line.team) for line in standings] == [(1, "c"), (2, "a"), (3, "b")]
    assert {line.team: line.numbers["attacks"] for line in standings} == {"a": 0.3, "b": 0.0, "c": 0.2}
    assert EDITION.rank(entries[::-1]) == standings
    assert EDITION.rank([]) == []


def test_attackers_have_a_board_of_their_own() -> None:
    entries = [
        entry("a", [("b", 0.3), ("b", 0.5), ("c", 0.1)]),
        entry("b", [("b", 1.0), ("c", 0.2)]),
        entry("c", [("a", 0.15), ("b", 0.1)]),
    ]
    # b found 0.5 of a and 0.1 of c; c 0.1 and 0.2; a nothing of b, 0.15 of c. What b found in its own does not count.
    board = rank_attackers(entries)
    assert [(line.place, line.team, line.n_attacked) for line in board] == [(1, "b", 2), (2, "c", 2), (3, "a", 1)]
    assert [line.found for line in board] == pytest.approx([0.3, 0.15, 0.075])


def test_flagged_release_comes_last_unless_the_options_say_otherwise() -> None:
    entries = [entry("cheat", flags=("U5 is high.",), U1=0.0), entry("honest")]
    first, last = EDITION.rank(entries)
    # Alone among those ranked, the honest team is first in all thirteen.
    assert (first.team, first.value) == ("honest", 13)
    assert (last.team, last.value, last.reason) == ("cheat", None, "U5 is high.")
    assert Pwscup2015(are_flagged_last=False).rank(entries)[0].team == "cheat"


def test_data_from_a_source_are_its_rows_in_another_order(tmp_path: Path) -> None:
    source = written(tmp_path, source=X.replace(b",", b";"))["source"]
    edition = Pwscup2015(4, FORM.quasi_identifiers, FORM.sensitive, "income", "rent")
    edition.make_data(made(tmp_path / "data"), seed=1, source=source)
    drawn = (tmp_path / "data" / "X.csv").read_bytes().splitlines()
    assert len(drawn) == 5
    assert set(drawn) <= set(X.splitlines())
    with pytest.raises(InputError, match="a source that has the declared columns"):
        edition.make_data(tmp_path / "data", seed=1)


@pytest.mark.parametrize(
    "options",
    [
        {"n_rows": 1},
        {"quasi_identifiers": ()},
        {"sensitive": ()},
        {"sensitive": ("sex",)},
        {"e2_column": "sex"},
        {"e4_column": "none"},
        {"quasi_identifiers": ("town",), "sensitive": ("income",)},
    ],
)
def test_options_that_cannot_be_played_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Pwscup2015(**options)  # type: ignore[arg-type]


def test_unknown_players_are_told_the_nearest_name(data: Files, tmp_path: Path) -> None:
    with pytest.raises(UnknownPart, match="Did you mean 'noise'"):
        EDITION.anonymize("noisy", data, tmp_path, seed=1)
    with pytest.raises(UnknownPart, match="Did you mean 'sort'"):
        EDITION.attack("sorts", data, {}, {}, tmp_path, seed=1)


def test_row_numbers_of_another_length_are_told_even_unchecked(
    data: Files, releases: dict[str, Files], tmp_path: Path
) -> None:
    write_rows(pl.Series(np.arange(1, 4)), tmp_path / "I.csv")
    with pytest.raises(InputError, match="120 row numbers"):
        EDITION.score(data, {}, {"Y": releases["noise"]["Y"], "I": tmp_path / "I.csv"})
