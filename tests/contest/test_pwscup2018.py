from __future__ import annotations

from pathlib import Path

import pytest
from tests.contest.conftest import made

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2018 import files as pwscup2018
from tokumei.contest.editions.pwscup2018.edition import Pwscup2018
from tokumei.core.errors import InputError, UnknownPart

EDITION = Pwscup2018(n_customers=24)
HISTORY = ["101,2010/12/1,A1,1,1", "102,2010/12/3,B2,3,3"]


def written(path: Path, lines: list[str]) -> Path:
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return path


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    return {"T": written(tmp_path / "T.csv", HISTORY)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("data")
    EDITION.make_data(folder, seed=1)
    return files_in(folder, EDITION.terms.data_files)


@pytest.fixture(scope="module")
def published(data: Files, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return what is published of customers under numbers alone, and the truth."""
    folder = tmp_path_factory.mktemp("published")
    EDITION.anonymize("pseudonyms", data, folder, seed=2)
    EDITION.publish(data, files_in(folder, EDITION.terms.release_files), folder, folder, seed=3)
    return files_in(folder, [*EDITION.terms.published_files, *EDITION.terms.truth_files])


def test_terms_say_each_rule_in_both_languages() -> None:
    terms = EDITION.terms
    for rules in (terms.release_rules, terms.guess_rules):
        assert len({rule.name for rule in rules}) == len(rules)
        assert all(rule.says.endswith(".") and rule.says_ja.endswith("。") for rule in rules)
    assert dict(terms.knowledge_files) == {"": ()}


def test_made_up_data_fits_the_contest_and_follows_the_seed(data: Files, tmp_path: Path) -> None:
    history = pwscup2018.read_history(data["T"])
    assert len(history.customers) == 24
    assert (history.periods[0] >= 24131, history.periods[-1] <= 24142) == (True, True)
    EDITION.make_data(tmp_path, seed=1)
    assert (tmp_path / "T.csv").read_bytes() == data["T"].read_bytes()


def test_data_is_sampled_from_a_history(data: Files, tmp_path: Path) -> None:
    Pwscup2018(n_customers=4).make_data(tmp_path, seed=5, source=data["T"])
    lines = (tmp_path / "T.csv").read_text().splitlines()
    customers = {line.split(",")[0] for line in lines}
    assert len(customers) == 4
    assert lines == [line for line in data["T"].read_text().splitlines() if line.split(",")[0] in customers]


def test_score_is_worked_out_by_hand(small: dict[str, Path], tmp_path: Path) -> None:
    # All three columns have the values 1 and 3, so σ is 1; the range of three days is 1 day off on average.
    release = {"A": written(tmp_path / "A.csv", ["7,[2010/12/1;2010/12/3],{A1;B2},1,*", "8,2010/12/3,B2,3,3"])}
    EDITION.check(small, release)
    score = EDITION.score(small, {}, release)
    assert score.details == {"utility": pytest.approx((0.5 + 0.25 + 0 + 0.5) / 4)}
    assert (score.utility, score.safety) == (score.details["utility"], None)


def test_published_rows_are_sorted_and_tell_nothing_of_their_order(tmp_path: Path) -> None:
    history = [*HISTORY, "103,2011/5/5,C3,2.5,10", "101,2011/5/6,A1,1.25,2"]
    release = ["70,2010/12/1,A1,[1.00;1.50],1", "*,*,*,*,*", "9,*,{A1;C3},2.5,*", "70,*,*,*,2"]
    expected = ["70,*,*,*,2", "70,2010/12/1,A1,[1;1.5],1", "9,*,{A1;C3},2.5,*"]
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
        data = {"T": written(tmp_path / "T.csv", [history[place] for place in order])}
        files = {"A": written(tmp_path / "A.csv", [release[place] for place in order])}
        EDITION.check(data, files)
        EDITION.publish(data, files, made(tmp_path / "public"), made(tmp_path / "secret"), seed=sum(order))
        assert (tmp_path / "public" / "A_published.csv").read_text().splitlines() == expected == sorted(expected)
        assert [path.name for path in (tmp_path / "public").iterdir()] == ["A_published.csv"]
        assert (tmp_path / "secret" / "F.csv").read_text().splitlines() == ["70,101", "9,103"]


def test_widest_cells_that_pass_the_check_can_be_published(small: dict[str, Path], tmp_path: Path) -> None:
    lines = ["7,[2010/01/01;2011/12/31],A1,[0.01;99999.99],[1;999999]", "999999999,2010/12/03,B2,3.00,3"]
    release = {"A": written(tmp_path / "A.csv", lines)}
    EDITION.check(small, release)
    assert EDITION.score(small, {}, release).utility > 1_000
    EDITION.publish(small, release, tmp_path, tmp_path, seed=1)
    assert (tmp_path / "A_published.csv").read_text().splitlines() == [
        "7,[2010/1/1;2011/12/31],A1,[0.01;99999.99],[1;999999]",
        "999999999,2010/12/3,B2,3,3",
    ]


def test_judge_tells_what_the_guesses_prove(data: Files, published: Files, tmp_path: Path) -> None:
    truth = published["F"].read_text().splitlines()
    for lines, right, is_proof in ((truth[:7], 7, True), (truth[:6], 6, False), ([*truth[:6], None], 6, False)):
        pseudonym, customer = truth[6].split(",")[0], truth[7].split(",")[1]
        given = [line if line is not None else f"{pseudonym},{customer}" for line in lines]
        guess = {"Fh": written(tmp_path / "Fh.csv", given)}
        EDITION.check_guess(data, published, guess)
        score = EDITION.judge(data, published, published, guess)
        # r(7) is 7, and no number of 6 guesses suffices.
        assert score.details == {"guesses": len(given), "right": right, "needed": 7}
        assert (score.success, score.is_proof) == (right / len(given), is_proof)


@pytest.mark.parametrize("name", EDITION.anonymizers())
def test_built_in_release_is_valid_and_scored(name: str, data: Files, tmp_path: Path) -> None:
    EDITION.anonymize(name, data, tmp_path, seed=3)
    release = files_in(tmp_path, EDITION.terms.release_files)
    EDITION.check(data, release)
    utility = EDITION.score(data, {}, release).utility
    assert (utility == 0) == (name == "pseudonyms")
    before = release["A"].read_bytes()
    EDITION.anonymize(name, data, tmp_path, seed=3)
    assert release["A"].read_bytes() == before


@pytest.mark.parametrize("name", EDITION.attacks())
def test_built_in_attack_is_valid_and_judged(name: str, data: Files, published: Files, tmp_path: Path) -> None:
    EDITION.attack(name, data, {}, published, tmp_path, seed=5)
    guess = files_in(tmp_path, EDITION.terms.guess_files)
    EDITION.check_guess(data, published, guess)
    # Under numbers alone everybody is found, but by luck hardly anyone.
    assert EDITION.judge(data, published, published, guess).is_proof == (name != "blind")


def test_release_of_nothing_is_published_and_cannot_be_attacked(small: dict[str, Path], tmp_path: Path) -> None:
    release = {"A": written(tmp_path / "A.csv", ["*,*,*,*,*"] * 2)}
    EDITION.check(small, release)
    assert EDITION.score(small, {}, release).utility == 1
    EDITION.publish(small, release, tmp_path, tmp_path, seed=1)
    guess = {"Fh": written(tmp_path / "Fh.csv", ["7,101"])}
    with pytest.raises(InputError):
        EDITION.check_guess(small, {"A_published": tmp_path / "A_published.csv"}, guess)


def test_names_that_nobody_knows_are_refused(data: Files, tmp_path: Path) -> None:
    with pytest.raises(UnknownPart, match="generalize-3"):
        EDITION.anonymize("generalize3", data, tmp_path, seed=1)
    with pytest.raises(UnknownPart):
        EDITION.attack("linkage", data, {}, {}, tmp_path, seed=1)
    with pytest.raises(InputError, match="at least 1 customer"):
        Pwscup2018(n_customers=0)


def test_ranking_is_by_use_with_the_unsafe_last() -> None:
    right = Attempt("x", "", GuessScore(1.0, {}, is_proof=True))
    wrong = Attempt("y", "", GuessScore(0.5, {}, is_proof=False))
    entries = [
        TeamEntry("unsafe", ReleaseScore({}, 0.1), [wrong, right]),
        TeamEntry("good", ReleaseScore({}, 0.3), [wrong]),
        TeamEntry("best", ReleaseScore({}, 0.2)),
        TeamEntry("equal", ReleaseScore({}, 0.3)),
        # What a team proves of its own release does not count.
        TeamEntry("x", ReleaseScore({}, 0.9), [right]),
        TeamEntry("also unsafe", ReleaseScore({}, 0.5), [right]),
    ]
    standings = EDITION.rank(entries)
    assert [(line.place, line.team, line.value) for line in standings] == [
        (1, "best", 0.2),
        (2, "equal", 0.3),
        (2, "good", 0.3),
        (4, "x", 0.9),
        (5, "also unsafe", None),
        (5, "unsafe", None),
    ]
    assert (standings[-1].reason, standings[-1].proven_by) == ("proven unsafe by x", ("x",))
    assert standings[2].numbers == {"attacks": 1, "best share right": 0.5}
    assert EDITION.rank(entries[::-1]) == standings
