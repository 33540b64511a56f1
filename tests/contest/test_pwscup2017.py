from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.contest.conftest import made

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.contest.editions.pwscup2017.edition import UTILITIES, Pwscup2017
from tokumei.contest.editions.pwscup2017.files import check_two_anonymous
from tokumei.core.errors import InputError, PromiseBroken, UnknownPart
from tokumei.reports.evaluation import SAMPLE_ATTACKS
from tokumei.tasks.attack_history import judge_files
from tokumei.tasks.report_history import report_history

EDITION = Pwscup2017(n_customers=12)
MASTER = "101,f,1950/1/1,France\n102,m,1980/1/1,Others\n103,f,1930/1/1,United Kingdom\n"
HISTORY = [
    "101,0,2010/12/1,8:30,A1,1.5,2",
    "101,0,2010/12/9,9:00,B2,2,3",
    "102,0,2010/12/1,10:15,A1,1.5,12",
    "102,0,2011/1/5,10:15,C3,0.85,1",
    "103,0,2011/1/7,11:00,B2,2.55,6",
    "103,0,2011/11/30,23:59,C3,10,100",
    "101,0,2011/11/3,8:00,A1,1.45,24",
    "102,0,2011/11/3,8:00,B2,2,4",
]
RELEASE = [f"{'PQR'[int(line[2]) - 1]}{line[3:]}" for line in HISTORY]
SOURCE = """InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country
536365,85123A,a,6,2010-12-01 08:26:00,2.55,17850,United Kingdom
536366,71053,b,2,2011-11-30 18:00:00,3.39,17850,United Kingdom
536367,84406B,c,8,2011-12-01 08:26:00,2.75,13047,United Kingdom
536368,22752,d,-1,2011-01-01 08:26:00,7.65,12583,France
536369,22752,d,1,2011-01-02 08:26:00,7.65,12583,France
"""


def written(path: Path, lines: list[str]) -> Path:
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return path


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    """Return M and T of three customers and eight rows."""
    (tmp_path / "M.csv").write_text(MASTER)
    return {"M": tmp_path / "M.csv", "T": written(tmp_path / "T.csv", HISTORY)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("data")
    EDITION.make_data(folder, seed=1)
    return files_in(folder, EDITION.terms.data_files)


@pytest.fixture(scope="module")
def knowledge(data: Files, tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("knowledge")
    EDITION.draw_knowledge(data, folder, seed=2)
    return files_in(folder, EDITION.terms.all_knowledge_files)


def test_terms_say_each_rule_in_both_languages() -> None:
    terms = EDITION.terms
    for rules in (terms.release_rules, terms.guess_rules):
        assert len({rule.name for rule in rules}) == len(rules)
        assert all(rule.says.endswith(".") and rule.says_ja.endswith("。") for rule in rules)
    assert [role.file_name for role in terms.all_knowledge_files] == ["T25.csv", "T50.csv", "T75.csv", "T100.csv"]


def test_made_up_data_fits_the_contest(data: Files) -> None:
    history, master = pwscup2017.read_history(data["T"]), pwscup2017.read_master(data["M"])
    assert history.customers == sorted(master["customer"])
    assert len(history.customers) == 12
    assert (history.periods[0] >= 24131, history.periods[-1] <= 24142) == (True, True)


def test_data_of_the_same_seed_is_the_same_and_of_another_is_not(data: Files, tmp_path: Path) -> None:
    for seed, is_same in ((1, True), (2, False)):
        EDITION.make_data(tmp_path, seed=seed)
        for name, path in data.items():
            assert (path.read_bytes() == (tmp_path / f"{name}.csv").read_bytes()) == is_same


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_data_is_sampled_from_online_retail_before_december_2011(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"retail{suffix}"
    if suffix == ".parquet":
        pl.read_csv(SOURCE.encode()).write_parquet(source)
    else:
        source.write_bytes(gzip.compress(SOURCE.encode()) if suffix == ".csv.gz" else SOURCE.encode())
    Pwscup2017(n_customers=2).make_data(made(tmp_path / "data"), seed=1, source=source)
    assert (tmp_path / "data" / "T.csv").read_text().splitlines() == [
        "17850,0,2010/12/1,8:26,85123A,2.55,6",
        "17850,0,2011/11/30,18:00,71053,3.39,2",
        "12583,0,2011/1/2,8:26,22752,7.65,1",
    ]
    assert pwscup2017.read_master(tmp_path / "data" / "M.csv")["customer"].to_list() == ["12583", "17850"]
    with pytest.raises(InputError, match="the 2 customers of the source"):
        Pwscup2017(n_customers=3).make_data(made(tmp_path / "data"), seed=1, source=source)


def test_data_is_sampled_from_the_history_of_a_contest(data: Files, tmp_path: Path) -> None:
    source = tmp_path / "T.csv.gz"
    source.write_bytes(gzip.compress(data["T"].read_bytes()))
    Pwscup2017(n_customers=5).make_data(made(tmp_path / "data"), seed=3, source=source)
    sample = pwscup2017.read_history(tmp_path / "data" / "T.csv")
    assert len(sample.customers) == 5
    whole = pwscup2017.read_history(data["T"]).frame
    assert sample.frame.equals(whole.filter(pl.col("customer").is_in(sample.customers)))


def test_knowledge_is_drawn_independently_with_items_cut(data: Files, knowledge: Files) -> None:
    n_rows = pwscup2017.read_history(data["T"]).n_rows
    parts = {level: pwscup2017.read_knowledge(knowledge[f"T{level}"]) for level in (25, 50, 75, 100)}
    known = {level: part.frame["customer"].is_not_null() for level, part in parts.items()}
    assert {level: int(rows.sum()) for level, rows in known.items()} == {
        level: round(n_rows * level / 100) for level in parts
    }
    # A quarter and a half drawn apart share an eighth of the rows; nested ones would share a quarter.
    assert 0.08 < float((known[25] & known[50]).sum()) / n_rows < 0.17
    assert parts[100].kept["item"].str.len_chars().max() == 2


def test_score_of_new_names_alone_is_worked_out_by_hand(small: dict[str, Path], tmp_path: Path) -> None:
    edition = Pwscup2017(known=(100,))
    edition.draw_knowledge(small, tmp_path, seed=1)
    release = {"AT": written(tmp_path / "AT.csv", RELEASE)}
    edition.check(small, release)
    score = edition.score(small, files_in(tmp_path, edition.terms.all_knowledge_files), release)
    assert score.details["utility"] == {"E1": 0, "E2": 0, "E3": [0, 0], "E4": 0, "E5": 0, "E6": 0}
    # No two rows share date and quantity: S1 finds all seven months of three customers.
    found = {"row": 1.0, "cell": pytest.approx(7 / 36), "month": 1.0, "transaction": 1.0}
    assert score.details["safety"]["S1"] == {"100": found}
    assert (score.utility, score.safety, score.details["total"]) == (0, 1, 0.5)


def test_score_has_the_digits_of_a_report_on_the_same_files(small: dict[str, Path], tmp_path: Path) -> None:
    EDITION.draw_knowledge(small, tmp_path, seed=2)
    knowledge = files_in(tmp_path, EDITION.terms.all_knowledge_files)
    release = written(tmp_path / "AT.csv", ["DEL,,,,,,", *(line.replace(",1.5,", ",1.6,") for line in RELEASE[1:])])
    details = EDITION.score(small, knowledge, {"AT": release}).details
    known = [f"{level}={knowledge[f'T{level}']}" for level in EDITION.known]
    told = report_history(small["T"], release, knowledge=known, attacks=[*SAMPLE_ATTACKS]).to_dict()
    losses = [told["utility"][name] for names in UTILITIES.values() for name in names]
    scored = [value for one in details["utility"].values() for value in (one if isinstance(one, list) else [one])]
    assert scored == losses
    counts = ("row", "cell", "month", "transaction")
    reported = {(one["attack"].upper(), one["known"]): tuple(one[name] for name in counts) for one in told["attacks"]}
    found = {
        (attack, level): tuple(one[name] for name in counts)
        for attack, levels in details["safety"].items()
        for level, one in levels.items()
    }
    assert found == reported
    assert len(set(found.values())) > 2


def test_score_without_knowledge_is_of_the_utility_alone(small: dict[str, Path], tmp_path: Path) -> None:
    score = EDITION.score(small, {}, {"AT": written(tmp_path / "AT.csv", ["DEL,,,,,,", *RELEASE[1:]])})
    assert score.details["utility"]["E6"] == 0.125
    assert (score.details["safety"], score.details["total"], score.safety) == ({}, None, None)
    with pytest.raises(InputError, match="T25, T50, T75, T100"):
        EDITION.score(small, {"T25": small["T"]}, {"AT": tmp_path / "AT.csv"})


def test_published_rows_tell_nothing_of_their_order(small: dict[str, Path], tmp_path: Path) -> None:
    release = [RELEASE[0].replace("1.5", "1.50"), *RELEASE[1:6], "DEL,,,,,,", RELEASE[7]]
    published = []
    for number, order in enumerate([range(8), reversed(range(8)), (3, 1, 4, 0, 5, 2, 7, 6)]):
        places = list(order)
        data = {**small, "T": written(tmp_path / "moved.csv", [HISTORY[place] for place in places])}
        files = {"AT": written(tmp_path / "AT.csv", [release[place] for place in places])}
        folder = tmp_path / str(number)
        EDITION.publish(data, files, made(folder / "public"), made(folder / "secret"), seed=9)
        assert [path.name for path in (folder / "public").iterdir()] == ["S.csv"]
        published.append(((folder / "public" / "S.csv").read_bytes(), (folder / "secret" / "F.csv").read_bytes()))
    # Wherever the rows stood, and however a number was written, the bytes are the same.
    assert published[0] == published[1] == published[2]
    lines = published[0][0].decode().split("\r\n")
    assert sorted(lines) == sorted([RELEASE[0], *RELEASE[1:6], RELEASE[7], ""])
    assert published[0][1].decode().splitlines()[0] == "101,P" + ",DEL" * 11
    EDITION.publish(small, {"AT": written(tmp_path / "AT.csv", release)}, tmp_path, tmp_path, seed=10)
    shuffled = (tmp_path / "S.csv").read_bytes().decode().split("\r\n")
    assert (shuffled != lines, sorted(shuffled)) == (True, sorted(lines))


def test_judge_counts_customers_who_are_right_in_every_month(small: dict[str, Path], tmp_path: Path) -> None:
    release = {"AT": written(tmp_path / "AT.csv", RELEASE)}
    EDITION.publish(small, release, tmp_path, tmp_path, seed=1)
    published, truth = {"S": tmp_path / "S.csv"}, {"F": tmp_path / "F.csv"}
    deleted = ",DEL" * 9
    lines = [f"103,DEL,R{deleted},R", f"101,P,DEL{deleted},P", f"102,Q,P{deleted},Q"]
    guess = {"Fh": written(tmp_path / "Fh.csv", lines)}
    EDITION.check_guess(small, published, guess)
    score = EDITION.judge(small, published, truth, guess)
    assert score.success == score.details["row"] == pytest.approx(2 / 3)
    # Six of the seven months with a pseudonym are right, of 36 in all.
    assert score.details["cell"] == pytest.approx(6 / 36)
    assert score.details["month"] == pytest.approx(6 / 7)
    # The month that is wrong has one of the eight published rows.
    assert score.details["transaction"] == pytest.approx(7 / 8)
    assert 0 < score.details["baseline"] < 0.1
    assert score.details["interval"] == pytest.approx([0.2077, 0.9385], abs=1e-4)
    assert score.is_proof is None


def test_contest_may_rank_by_the_published_rows_that_are_named(small: dict[str, Path], tmp_path: Path) -> None:
    edition = Pwscup2017(known=(100,), success="transaction")
    edition.publish(small, {"AT": written(tmp_path / "AT.csv", RELEASE)}, tmp_path, tmp_path, seed=1)
    published, truth = {"S": tmp_path / "S.csv"}, {"F": tmp_path / "F.csv"}
    deleted = ",DEL" * 9
    # In December P, with two rows, is claimed by 101, whose it is, and by 103: one of its two rows is named.
    lines = [f"103,P,R{deleted},R", f"101,P,DEL{deleted},P", f"102,Q,P{deleted},Q"]
    guess = {"Fh": written(tmp_path / "Fh.csv", lines)}
    score = edition.judge(small, published, truth, guess)
    assert score.success == score.details["transaction"] == 6 / 8
    assert score.details["month"] == pytest.approx(6 / 7)
    assert (score.details["baseline"], "interval" in score.details) == (pytest.approx(1 / 3), False)
    assert "published rows found" in edition.terms.summary
    # The digits are those of `tokumei judge`, whose cells are those of the paper, too.
    told = judge_files(guess["Fh"], truth["F"], published["S"]).to_dict()
    counts = ("row", "cell", "month", "transaction")
    assert {name: told[name]["value"] for name in counts} == {name: score.details[name] for name in counts}
    edition.draw_knowledge(small, tmp_path, seed=1)
    scored = edition.score(small, {"T100": tmp_path / "T100.csv"}, {"AT": tmp_path / "AT.csv"})
    assert scored.safety == max(one["100"]["transaction"] for one in scored.details["safety"].values())
    with pytest.raises(InputError, match="transaction"):
        Pwscup2017(success="customer")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", EDITION.anonymizers())
def test_built_in_release_is_valid_and_scored(name: str, data: Files, knowledge: Files, tmp_path: Path) -> None:
    EDITION.anonymize(name, data, tmp_path, seed=3)
    release = files_in(tmp_path, EDITION.terms.release_files)
    EDITION.check(data, release)
    score = EDITION.score(data, knowledge, release)
    assert 0 <= score.utility <= 1
    assert score.safety is not None
    assert 0 <= score.safety <= 1
    assert score.details["total"] == pytest.approx((score.utility + score.safety) / 2)
    before = release["AT"].read_bytes()
    EDITION.anonymize(name, data, tmp_path, seed=3)
    assert release["AT"].read_bytes() == before


@pytest.mark.parametrize("name", EDITION.attacks())
def test_built_in_attack_is_valid_and_judged(name: str, data: Files, knowledge: Files, tmp_path: Path) -> None:
    EDITION.anonymize("yearly-pseudonyms", data, tmp_path, seed=3)
    EDITION.publish(data, files_in(tmp_path, EDITION.terms.release_files), tmp_path, tmp_path, seed=4)
    published = files_in(tmp_path, EDITION.terms.published_files)
    # An attack needs no T.
    public = {"M": data["M"]}
    EDITION.attack(name, public, {"T100": knowledge["T100"]}, published, tmp_path, seed=5)
    guess = files_in(tmp_path, EDITION.terms.guess_files)
    EDITION.check_guess(data, published, guess)
    score = EDITION.judge(data, published, files_in(tmp_path, EDITION.terms.truth_files), guess)
    assert 0 <= score.success <= 1
    if name in ("s6", "linkage"):
        assert score.success > 0.5


def test_names_that_nobody_knows_are_refused(data: Files, tmp_path: Path) -> None:
    with pytest.raises(UnknownPart, match="monthly-pseudonyms"):
        EDITION.anonymize("monthly-pseudonym", data, tmp_path, seed=1)
    with pytest.raises(UnknownPart):
        EDITION.attack("s7", data, {}, {}, tmp_path, seed=1)
    with pytest.raises(InputError, match="different shares"):
        Pwscup2017(known=(25, 25))
    with pytest.raises(InputError, match="a weight"):
        Pwscup2017(safety_weight=float("nan"))


def attempt(attacker: str, level: str, success: float) -> Attempt:
    return Attempt(attacker, level, GuessScore(success, {}))


def test_words_of_the_score_say_how_levels_that_nobody_attacked_count() -> None:
    # Who finds everybody at one level of four moves the board by a quarter, and every text must say so.
    standing = EDITION.rank([TeamEntry("a", ReleaseScore({}, 0.0, 0.0), [attempt("b", "25", 1.0)])])[0]
    assert (standing.safety, standing.value) == (0.25, 0.125)
    submitted = next(one for one in EDITION.terms.measures if one.name == "submitted attacks")
    for english in (EDITION.terms.summary, submitted.says):
        assert "over the levels" in english
        assert "0 where nobody guessed" in english or "nobody attacked counts as 0" in english
    for japanese in (EDITION.terms.summary_ja, submitted.says_ja):
        assert "平均" in japanese
        assert "レベルは 0" in japanese


def test_ranking_takes_the_worst_of_sample_and_submitted_attacks() -> None:
    entries = [
        # Submitted: the mean of 0.8, 0.4, 0 and 0, which is worse than the sample attacks.
        TeamEntry(
            "a", ReleaseScore({}, 0.2, 0.1), [attempt("b", "25", 0.8), attempt("c", "25", 0.1), attempt("b", "50", 0.4)]
        ),
        # Its own attack does not count, nor a level that is not played.
        TeamEntry("b", ReleaseScore({}, 0.1, 0.3), [attempt("b", "25", 1.0), attempt("c", "99", 1.0)]),
        TeamEntry("c", ReleaseScore({}, 0.4, 0.0)),
        TeamEntry("d", ReleaseScore({}, 0.9, 0.0), [attempt("a", level, 1.0) for level in ("25", "50", "75", "100")]),
    ]
    standings = EDITION.rank(entries)
    # (0.2 + 0.3) / 2, (0.1 + 0.3) / 2, (0.4 + 0) / 2 and (0.9 + 1) / 2.
    assert [(line.place, line.team) for line in standings] == [(1, "b"), (1, "c"), (3, "a"), (4, "d")]
    assert [line.value for line in standings] == pytest.approx([0.2, 0.2, 0.25, 0.95])
    assert standings[2].numbers == pytest.approx({"sample attacks": 0.1, "submitted attacks": 0.3})
    rng = np.random.default_rng(1)
    for _ in range(5):
        assert EDITION.rank([entries[number] for number in rng.permutation(4)]) == standings


def test_ranking_follows_the_weights() -> None:
    entries = [TeamEntry("a", ReleaseScore({}, 0.2, 0.1)), TeamEntry("b", ReleaseScore({}, 0.1, 0.4))]
    assert [line.team for line in EDITION.rank(entries)] == ["a", "b"]
    by_use = Pwscup2017(utility_weight=1, safety_weight=0)
    assert [(line.team, line.value) for line in by_use.rank(entries)] == [("b", 0.1), ("a", 0.2)]


def test_master_with_a_customer_unlike_all_others_breaks_the_promise() -> None:
    alike = {"customer": ["1", "2"], "sex": ["f", "f"], "birth": ["1950/1/1"] * 2, "country": ["France"] * 2}
    check_two_anonymous(pl.DataFrame(alike))
    with pytest.raises(PromiseBroken, match="2 of 2 customers are unlike all others"):
        check_two_anonymous(pl.DataFrame(alike | {"sex": ["f", "m"]}))
