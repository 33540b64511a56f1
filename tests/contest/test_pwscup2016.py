"""PWSCUP 2016: every rule by a submission that breaks only it, the scores by hand, and a whole cycle."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.contest.edition import EDITIONS, Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2016.edition import Pwscup2016
from tokumei.contest.editions.pwscup2016.files import (
    GUESS_RULES,
    RELEASE_RULES,
    Originals,
    check_guess,
    check_release,
    read_history,
    read_master,
    read_permutation,
)
from tokumei.contest.editions.pwscup2016.players import ATTACKS, AttackerView
from tokumei.core.errors import InputError, UnknownPart

EDITION = Pwscup2016(n_customers=24)
TERMS = EDITION.terms
N_ROWS = 2_285

M = ["1,f,1961/5/3,France", "2,m,1974/10/12,Japan", "3,f,1955/1/30,France"]
T = [
    "1,100,2010/12/1,8:26,A1,2.5,6",
    "1,100,2010/12/1,8:26,B2,1,12",
    "2,101,2010/12/5,9:00,A1,2.5,1",
    "2,102,2011/1/7,12:30,C3,10.95,2",
    "3,103,2011/1/9,17:01,B2,1,24",
]
# Row i came from row P[i] of M.
M_RELEASE = ["r,f,1950/1/1,France", "p,f,1960/1/1,France", "q,m,1970/1/1,Japan"]
T_RELEASE = [
    "r,1,2011/1/8,0:00,B2,1,20",
    "p,2,2010/12/2,0:00,A1,2.5,6",
    "q,3,2010/12/5,0:00,A1,2.4,1",
    "p,2,2010/12/1,0:00,B2,1,12",
    "q,4,2011/1/7,0:00,C3,11,2",
]
P = ["3", "1", "2"]
RELEASE = {"M_release": M_RELEASE, "T_release": T_RELEASE, "P": P}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("data")
    (folder / "M.csv").write_text("\n".join(M) + "\n")
    (folder / "T.csv").write_text("\n".join(T) + "\n")
    return files_in(folder, TERMS.data_files)


@pytest.fixture(scope="module")
def originals(data: Files) -> Originals:
    return Originals.read(data)


def _write(folder: Path, files: dict[str, list[str]]) -> Files:
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return {name: folder / f"{name}.csv" for name in files}


def _faults(check: Callable[[], None]) -> list[str]:
    with pytest.raises(InputError) as caught:
        check()
    return [str(fault) for fault in caught.value.faults]


def _with(name: str, line: int, text: str) -> dict[str, list[str]]:
    changed = {role: list(lines) for role, lines in RELEASE.items()}
    changed[name][line - 1] = text
    return changed


def test_edition_is_registered_by_its_file_name() -> None:
    assert EDITIONS.get("pwscup2016") is Pwscup2016


def test_release_that_keeps_all_rules_passes(data: Files, tmp_path: Path) -> None:
    EDITION.check(data, _write(tmp_path, RELEASE))


BROKEN = {
    "file-form": (_with("T_release", 2, "p,2,2010/12/2,0:00,A1,2.5"), "T_release.csv, line 2"),
    "customers-kept": (_with("M_release", 3, "r,m,1970/1/1,Japan"), "M_release.csv, line 3, column customer"),
    "pseudonym-form": (_with("M_release", 1, "r r,f,1950/1/1,France"), "M_release.csv, line 1, column customer"),
    "no-customer-id": (_with("T_release", 1, "3,1,2011/1/8,0:00,B2,1,20"), "T_release.csv, line 1, column customer"),
    "sex-form": (_with("M_release", 3, "q,x,1970/1/1,Japan"), "M_release.csv, line 3, column sex"),
    "birth-form": (_with("M_release", 3, "q,m,1970/2/30,Japan"), "M_release.csv, line 3, column birth"),
    "country-of-m": (_with("M_release", 3, "q,m,1970/1/1,Iceland"), "M_release.csv, line 3, column country"),
    "rows-limit": (RELEASE | {"T_release": [*T_RELEASE * 10, T_RELEASE[0]]}, "T_release.csv, line 51"),
    "pseudonym-of-m": (_with("T_release", 1, "s,1,2011/1/8,0:00,B2,1,20"), "T_release.csv, line 1, column customer"),
    "invoice-form": (_with("T_release", 1, "r,a,2011/1/8,0:00,B2,1,20"), "T_release.csv, line 1, column invoice"),
    "date-form": (_with("T_release", 1, "r,1,2011/02/8,0:00,B2,1,20"), "T_release.csv, line 1, column date"),
    "date-in-range": (_with("T_release", 1, "r,1,2011/1/10,0:00,B2,1,20"), "T_release.csv, line 1, column date"),
    "time-form": (_with("T_release", 1, "r,1,2011/1/8,24:00,B2,1,20"), "T_release.csv, line 1, column time"),
    "item-of-t": (_with("T_release", 1, "r,1,2011/1/8,0:00,B3,1,20"), "T_release.csv, line 1, column item"),
    "price-form": (_with("T_release", 1, "r,1,2011/1/8,0:00,B2,1.005,20"), "T_release.csv, line 1, column price"),
    "quantity-form": (_with("T_release", 1, "r,1,2011/1/8,0:00,B2,1,-2"), "T_release.csv, line 1, column quantity"),
    "permutation": (_with("P", 3, "1"), "P.csv, line 3, column row"),
}


def test_every_release_rule_has_a_submission_that_breaks_only_it() -> None:
    assert set(BROKEN) == {rule.name for rule in RELEASE_RULES}


@pytest.mark.parametrize("rule", BROKEN)
def test_release_that_breaks_one_rule_is_refused_by_that_rule_alone(data: Files, tmp_path: Path, rule: str) -> None:
    files, where = BROKEN[rule]
    faults = _faults(lambda: EDITION.check(data, _write(tmp_path, files)))
    assert len(faults) == 1
    assert where in faults[0]
    assert faults[0].endswith(f"(rule {rule})")


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        (RELEASE | {"M_release": [*M_RELEASE, "s,f,1960/1/1,France"]}, "customers-kept"),
        (_with("P", 3, "4"), "permutation"),
        (_with("P", 3, "0"), "permutation"),
        (_with("P", 3, "2.0"), "permutation"),
        (RELEASE | {"P": P[:-1]}, "permutation"),
        (RELEASE | {"P": [*P, "4"]}, "permutation"),
        # A number for each row of T, as P is not.
        (RELEASE | {"P": ["5", "1", "3", "2", "4"]}, "permutation"),
        (_with("T_release", 2, "p,2,2010/11/30,0:00,A1,2.5,6"), "date-in-range"),
        (_with("M_release", 1, f"{'p' * 21},f,1950/1/1,France"), "pseudonym-form"),
        (_with("T_release", 1, "r,1,2011/1/8,0:00,,1,20"), "item-of-t"),
    ],
)
def test_release_with_another_fault_of_a_rule_is_refused(
    data: Files, tmp_path: Path, files: dict[str, list[str]], rule: str
) -> None:
    faults = _faults(lambda: EDITION.check(data, _write(tmp_path, files)))
    assert all(fault.endswith(f"(rule {rule})") for fault in faults), faults


def test_master_without_a_customer_is_refused_with_the_count(data: Files, tmp_path: Path) -> None:
    # What T_release says of the missing pseudonym is not told: it follows.
    faults = _faults(lambda: EDITION.check(data, _write(tmp_path, RELEASE | {"M_release": M_RELEASE[:-1]})))
    assert faults == [
        f"{tmp_path / 'M_release.csv'}, line 2: found '2 lines', "
        "expected 3 lines, as many as M has customers (rule customers-kept)"
    ]


def test_faults_of_all_three_files_are_told_at_once(data: Files, tmp_path: Path) -> None:
    files = {
        "M_release": BROKEN["sex-form"][0]["M_release"],
        "T_release": BROKEN["item-of-t"][0]["T_release"],
        "P": BROKEN["permutation"][0]["P"],
    }
    faults = _faults(lambda: EDITION.check(data, _write(tmp_path, files)))
    assert [fault.rsplit("(rule ")[1] for fault in faults] == ["sex-form)", "item-of-t)", "permutation)"]


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        (["3", "1"], "row-for-row"),
        (["1", "1", "3", "2", "1"], "row-for-row"),
        (["3", "1", "4"], "row-of-m"),
        (["3", "1", "x"], "row-of-m"),
        (["3,3", "1,1", "2,2"], "file-form"),
    ],
)
def test_guess_that_breaks_one_rule_is_refused(data: Files, tmp_path: Path, lines: list[str], rule: str) -> None:
    guess = _write(tmp_path, {"Q": lines})
    faults = _faults(lambda: EDITION.check_guess(data, {}, guess))
    assert all(fault.endswith(f"(rule {rule})") for fault in faults)
    assert rule in {known.name for known in GUESS_RULES}


def test_judge_counts_the_customers_with_q_equal_to_p(data: Files, tmp_path: Path) -> None:
    # One customer may be named twice.
    files = _write(tmp_path, {"Q": ["3", "3", "2"], "P": P})
    EDITION.check_guess(data, {}, files)
    score = EDITION.judge(data, {}, files, files)
    assert score.success == 2 / 3
    assert score.details["baseline"] == 1 / 3


def test_rows_may_be_left_out_and_added(data: Files, tmp_path: Path) -> None:
    for rows in (T_RELEASE[:1], [*T_RELEASE, "p,9,2011/1/1,0:00,C3,1,1"]):
        release = _write(tmp_path, RELEASE | {"T_release": rows})
        EDITION.check(data, release)
        assert 0 <= EDITION.score(data, {}, release).utility <= 1


def test_score_by_hand(data: Files, tmp_path: Path) -> None:
    score = EDITION.score(data, {}, _write(tmp_path, RELEASE))
    # By decade and country, mean prices are France 1950s 1, France 1960s 1.75, Japan 1970s 6.725 before, and 1, 1.75
    # and 6.7 after: an error of 0.025 / 3, where losing every price would be one of 9.475 / 3.
    assert score.details["mean_price_error"] == pytest.approx(0.025 / 3)
    assert score.details["utility"]["crosstab"] == pytest.approx(0.025 / 9.475)
    # The invoices 100, 101, 102 and 103 are kept as 2, 3, 4 and 1, so all itemsets are.
    assert score.details["utility"]["frequent-itemsets"] == 0
    # Only the fourth row of T_release agrees with one of T on date, item, price and quantity: it tells who p is.
    assert score.details["safety"]["same-fields"] == 1 / 3
    # Item sets {A1, B2}, {A1, C3} and {B2} are as they were.
    assert score.details["safety"]["jaccard"] == 1
    assert score.safety == 1
    assert score.details["total"] == (score.utility + 1) / 2
    assert score.flags == ()


def test_score_does_not_depend_on_the_order_of_the_release(data: Files, tmp_path: Path) -> None:
    order = [3, 0, 4, 2, 1]
    moved = {
        "M_release": M_RELEASE[::-1],
        "T_release": [T_RELEASE[i] for i in order],
        "P": P[::-1],
    }
    first = EDITION.score(data, {}, _write(tmp_path, RELEASE))
    assert EDITION.score(data, {}, _write(tmp_path, moved)) == first


def test_made_data_has_the_size_of_the_contest_and_birth_dates(tmp_path: Path) -> None:
    EDITION.make_data(tmp_path, seed=1)
    master, history = read_master(tmp_path / "M.csv"), read_history(tmp_path / "T.csv")
    assert (master.height, history.n_rows) == (24, N_ROWS)
    assert master["birth"].dt.year().is_between(1930, 1989).all()
    assert master["birth"].dt.day().n_unique() > 1
    assert set(history.customers) <= set(master["customer"])


def test_data_from_online_retail_is_the_contests_set(tmp_path: Path, shared_data: Path) -> None:
    source = shared_data / "online_retail" / "online_retail_full.parquet"
    Pwscup2016().make_data(tmp_path, seed=1, source=source)
    assert read_history(tmp_path / "T.csv").frame.equals(read_history(shared_data / "pwscup2016" / "T.csv.gz").frame)
    countries = read_master(tmp_path / "M.csv")["country"]
    assert countries.head(3).to_list() == ["United Kingdom", "Iceland", "Finland"]


def test_data_from_a_contest_file_keeps_the_smallest_ids(tmp_path: Path, data: Files) -> None:
    Pwscup2016(n_customers=2).make_data(tmp_path, seed=1, source=data["T"])
    assert read_history(tmp_path / "T.csv").customers == ["1", "2"]
    assert read_master(tmp_path / "M.csv")["customer"].to_list() == ["1", "2"]


def test_source_without_invoices_or_with_other_ids_is_refused(tmp_path: Path) -> None:
    named = tmp_path / "named.csv"
    named.write_text("customer,date,item,price,quantity\n1,2011-01-01,A,1.5,1\n")
    with pytest.raises(InputError, match="invoices and times"):
        EDITION.make_data(tmp_path, seed=1, source=named)
    named.write_text("customer,invoice,date,time,item,price,quantity\nx,1,2011-01-01,12:00:00,A,1.5,1\n")
    with pytest.raises(InputError, match="customer ids of 1 to 9 digits"):
        EDITION.make_data(tmp_path, seed=1, source=named)


def test_unknown_players_are_told_the_nearest_name(data: Files, tmp_path: Path) -> None:
    with pytest.raises(UnknownPart, match="yamaoka"):
        EDITION.anonymize("yamaoke", data, tmp_path, seed=1)
    with pytest.raises(UnknownPart, match="jaccard"):
        EDITION.attack("jacard", data, {}, {}, tmp_path, seed=1)


def _play(folder: Path) -> tuple[list[str], list[tuple[str, float]]]:
    """Play a whole season and give the ranking with the success of each attack on each release."""
    (folder / "data").mkdir()
    EDITION.make_data(folder / "data", seed=7)
    data = files_in(folder / "data", TERMS.data_files)
    entries, successes = [], []
    for team in EDITION.anonymizers():
        parts = {part: folder / f"{team}-{part}" for part in ("release", "published", "truth")}
        for part in parts.values():
            part.mkdir()
        EDITION.anonymize(team, data, parts["release"], seed=8)
        release = files_in(parts["release"], TERMS.release_files)
        EDITION.check(data, release)
        score = EDITION.score(data, {}, release)
        EDITION.publish(data, release, parts["published"], parts["truth"], seed=9)
        published = files_in(parts["published"], TERMS.published_files)
        attempts = []
        for attack in EDITION.attacks():
            (folder / f"{team}-{attack}").mkdir()
            EDITION.attack(attack, data, {}, published, folder / f"{team}-{attack}", seed=10)
            guess = files_in(folder / f"{team}-{attack}", TERMS.guess_files)
            EDITION.check_guess(data, published, guess)
            judged = EDITION.judge(data, published, files_in(parts["truth"], TERMS.truth_files), guess)
            attempts.append(Attempt(attack, "", judged))
            successes.append((f"{team} {attack}", judged.success))
        entries.append(TeamEntry(team, ReleaseScore.of(score.as_dict()), attempts))
    return [standing.team for standing in EDITION.rank(entries)], successes


def test_whole_cycle_runs_twice_to_the_same_bytes_and_ranks_the_cheater_last(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    ranking, successes = _play(tmp_path / "one")
    assert (ranking, successes) == _play(tmp_path / "two")
    written = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.csv"))
    assert len(written) == 2 + len(EDITION.anonymizers()) * (6 + len(EDITION.attacks()))
    for path in written:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes(), path
    assert ranking[-1] == "yamaoka"
    found = dict(successes)
    assert found["pseudonyms same-fields"] == found["pseudonyms jaccard"] == 1
    assert found["perturb same-fields"] < 0.5
    assert found["perturb jaccard"] > 0.5
    # All members of a group have the same items, so one of each group of four is found.
    assert found["dummies jaccard"] == pytest.approx(1 / 4)
    assert max(success for name, success in successes if name.startswith("yamaoka")) <= 1 / 6


def test_published_order_tells_nothing_and_the_truth_follows_it(tmp_path: Path) -> None:
    EDITION.make_data(tmp_path, seed=3)
    data = files_in(tmp_path, TERMS.data_files)
    EDITION.anonymize("pseudonyms", data, tmp_path, seed=4)
    release = files_in(tmp_path, TERMS.release_files)
    orders = []
    for seed in (5, 6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "truth").mkdir()
        EDITION.publish(data, release, folder, folder / "truth", seed=seed)
        rows = read_permutation(folder / "truth" / "P.csv").to_list()
        shown = (folder / "M_release.csv").read_text().splitlines()
        said = (tmp_path / "M.csv").read_text().splitlines()
        assert [line.split(",", 1)[1] for line in shown] == [said[row - 1].split(",", 1)[1] for row in rows]
        assert sorted((folder / "T_release.csv").read_text().splitlines()) == sorted(
            (tmp_path / "T_release.csv").read_text().splitlines()
        )
        orders.append(rows)
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == list(range(1, 25))


@pytest.mark.parametrize(
    ("flagged", "places"), [("last", {"a": 2, "b": 1, "c": 3}), ("shown", {"a": 3, "b": 2, "c": 1})]
)
def test_rank_takes_the_best_attack_and_treats_flagged_releases_as_told(flagged: str, places: dict[str, int]) -> None:
    edition = Pwscup2016(flagged=flagged)  # type: ignore[arg-type]
    losses = {"frequent-itemsets": 0.1, "rfm-table": 0.2, "crosstab": 0.0}

    def entry(team: str, safety: float, successes: Sequence[float], flags: tuple[str, ...] = ()) -> TeamEntry:
        attempts = [Attempt("x", "", GuessScore(success, {})) for success in successes]
        return TeamEntry(team, ReleaseScore({"utility": losses}, 0.2, safety, flags), attempts)

    entries = [entry("a", 0.3, [0.1, 0.9]), entry("b", 0.4, [0.2]), entry("c", 0.0, [], ("A lie.",))]
    standings = edition.rank(entries)
    assert {standing.team: standing.place for standing in standings} == places
    assert edition.rank(entries[::-1]) == standings
    values = {standing.team: standing.value for standing in standings}
    assert values["a"] == pytest.approx((0.2 + 0.9) / 2)
    assert values["b"] == pytest.approx((0.2 + 0.4) / 2)
    assert {standing.team for standing in standings if standing.reason} == {"c"}


def test_mean_of_the_losses_can_make_u(data: Files, tmp_path: Path) -> None:
    score = Pwscup2016(combine="mean").score(data, {}, _write(tmp_path, RELEASE))
    assert score.utility == pytest.approx(sum(score.details["utility"].values()) / 3)


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_on_one_pseudonym_for_all_purchases_name_a_customer_or_none(attack: str) -> None:
    frame = pl.DataFrame(
        {
            "customer": ["1", "1", "2"],
            "invoice": ["1", "1", "2"],
            "date": [datetime.date(2011, 1, day) for day in (1, 1, 2)],
            "time": [datetime.time(9)] * 3,
            "item": ["A", "B", "A"],
            "price": [1.0, 2.0, 1.0],
            "quantity": [1, 2, 3],
        }
    )
    master = pl.DataFrame(
        {"customer": ["1", "2"], "sex": ["f", "m"], "birth": [datetime.date(1960, 1, 1)] * 2, "country": ["X", "X"]}
    )
    released = frame.with_columns(customer=pl.lit("p"))
    names = master.with_columns(customer=pl.Series(["p", "q"]))
    guess = ATTACKS[attack](AttackerView(master, frame, names, released))
    assert len(guess) == 2
    assert set(guess.drop_nulls()) <= {0, 1}


CELLS = st.one_of(
    st.sampled_from(
        ["", "DEL", "*", "0", "-1", "1e9", "99999999999999999999", "é", '"', "\x00", " p", "p\r", "١", "NaN"]
    ),
    st.text(max_size=6),
)


def _mutated(draw: st.DrawFn, lines: list[str]) -> bytes:
    """Change a valid file in one to three places: a cell, a line, a byte, the line ends."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1)) if lines else 0
        match draw(st.sampled_from(["cell", "drop", "twice", "swap", "cut", "add"])) if lines else "add":
            case "cell":
                cells = lines[at].split(",")
                cells[draw(st.integers(0, len(cells) - 1))] = draw(CELLS)
                lines[at] = ",".join(cells)
            case "drop":
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "swap":
                lines[0], lines[at] = lines[at], lines[0]
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case _:
                lines.append(draw(CELLS))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    whole = (end.join(lines) + draw(st.sampled_from([end, "", end * 2]))).encode("utf-8", "surrogatepass")
    mark = draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b"]))
    return mark + whole


@st.composite
def _mutants(draw: st.DrawFn) -> dict[str, bytes]:
    valid = RELEASE | {"Q": ["5", "1", "3", "2", "4"]}
    chosen = draw(st.sampled_from([*valid, "T_release"]))
    return {chosen: _mutated(draw, valid[chosen])}


@given(mutant=_mutants())
@settings(max_examples=cases(2_500))
def test_mutated_submissions_always_get_a_verdict(
    mutant: dict[str, bytes], originals: Originals, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "mutant"
    folder.mkdir(exist_ok=True)
    if not (folder / "P.csv").exists():
        _write(folder, RELEASE)
    files = {name: folder / f"{name}.csv" for name in RELEASE}
    for name, content in mutant.items():
        (folder / f"{name}.csv").write_bytes(content)
    try:
        if "Q" in mutant:
            check_guess(originals, folder / "Q.csv")
        else:
            check_release(originals, files)
    except InputError as error:
        assert error.n_faults >= len(error.faults) >= 1
        assert all(fault.expected for fault in error.faults)
    for name in mutant.keys() - {"Q"}:
        _write(folder, {name: RELEASE[name]})
