"""Contests of one's own: slips in the file, rules, scores by hand, whole cycles of both kinds."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.contest.custom.edition import CustomEdition
from tokumei.contest.custom.template import template
from tokumei.contest.edition import Attempt, Files, GuessScore, OpenFiles, ReleaseScore, TeamEntry, files_in
from tokumei.contest.pages import rules_text
from tokumei.contest.setting import parse_setting, read_setting
from tokumei.core.errors import InputError, UnknownPart
from tokumei.data.files.csv import read_csv

KINDS = ("history", "table")

HISTORY = """
[contest]
title = "Shop"
kind = "history"
[data]
source = "shop.csv"
[checks]
least_kept = 0.5
values_of_original = ["item"]
unchanged = ["quantity"]
[[metrics]]
name = "rows"
weight = 3
[[metrics]]
name = "price"
[[attacks]]
name = "exact-match"
options = { fields = ["date", "quantity"] }
[score]
formula = "max(U, S) + 0.1 * rows"
"""
T_HISTORY = [
    "customer,date,item,price,quantity",
    "Ann,2011-01-03,A,2.5,6",
    "Ann,2011-02-07,B,1.0,12",
    "Bob,2011-01-05,A,2.5,1",
    "Bob,2011-02-09,C,10.0,2",
]
A_HISTORY = [
    "customer,date,item,price,quantity",
    "p,2011-01-03,A,2.5,6",
    "DEL,,,,",
    "q,2011-01-06,A,2.5,1",
    "r,2011-02-09,C,5.0,2",
]

TABLE = """
[contest]
title = "People"
kind = "table"
[data]
source = "people.csv"
delimiter = ";"
[data.types]
age = "integer"
income = "integer"
[roles]
identifiers = ["name"]
quasi_identifiers = ["sex", "age"]
sensitive = ["income"]
[checks]
least_kept = 0.75
values_of_original = ["sex"]
unchanged = ["age"]
[[metrics]]
name = "row-count"
[[metrics]]
name = "mean-mae"
[[attacks]]
name = "sort"
[score]
utility = "max"
"""
PEOPLE = ["name;sex;age;income", "Ann;f;30;100", "Bob;m;40;200", "Cid;m;;400", "Dee;f;30;300"]
A_TABLE = ["sex,age,income", "f,30,110", "f,40,200", ",,", "m,30,300"]


def _edition(text: str, folder: Path = Path()) -> CustomEdition:
    edition = parse_setting(text, folder=folder)
    assert isinstance(edition, CustomEdition)
    return edition


def _read(path: Path) -> CustomEdition:
    edition = read_setting(path)
    assert isinstance(edition, CustomEdition)
    return edition


def _write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def shop(tmp_path: Path) -> tuple[CustomEdition, Files]:
    _write(tmp_path / "shop.csv", T_HISTORY)
    (tmp_path / "data").mkdir()
    edition = _edition(HISTORY, tmp_path)
    edition.make_data(tmp_path / "data", seed=1)
    return edition, files_in(tmp_path / "data", edition.terms.data_files)


@pytest.fixture
def people(tmp_path: Path) -> tuple[CustomEdition, Files]:
    _write(tmp_path / "people.csv", PEOPLE)
    (tmp_path / "data").mkdir()
    edition = _edition(TABLE, tmp_path)
    edition.make_data(tmp_path / "data", seed=1)
    return edition, files_in(tmp_path / "data", edition.terms.data_files)


SLIPS = [
    ('kind = "history"', 'kind = "histori"', "[contest] kind", "'history'"),
    ('title = "Shop"', "", "[contest] title", "text"),
    ('title = "Shop"', "title = 5", "[contest] title", "text"),
    ('title = "Shop"', 'title = ""', "[contest] title", "1 to 2,000 characters"),
    ("[contest]", "[contests]", "[contests]", "'contest'"),
    ('source = "shop.csv"', 'sauce = "shop.csv"', "[data] sauce", "'source'"),
    ('source = "shop.csv"', 'source = "../shop.csv"', "[data] source", "without a folder"),
    ('source = "shop.csv"', 'source = "/etc/passwd"', "[data] source", "without a folder"),
    ('source = "shop.csv"', 'delimiter = ",,"', "[data] delimiter", "one ASCII character"),
    ('source = "shop.csv"', 'columns = { custommer = "x" }', "[data.columns] custommer", "'customer'"),
    ("least_kept = 0.5", "least_kept = 50", "[checks] least_kept", "a number from 0 to 1"),
    ("least_kept = 0.5", "least_kept = true", "[checks] least_kept", "a number from 0 to 1"),
    ("least_kept = 0.5", "least_keptt = 0.5", "[checks] least_keptt", "'least_kept'"),
    ('["item"]', '["itm"]', "[checks] values_of_original", "'item'"),
    ('["item"]', '"item"', "[checks] values_of_original", "a list of names"),
    ('["item"]', '["item", "item"]', "[checks] values_of_original", "each name once"),
    ("least_kept = 0.5", 'pseudonyms = "year"', "[checks] pseudonyms", "one of month, whole"),
    ('name = "rows"', 'name = "row"', "[[metrics]] name", "'rows'"),
    ('name = "rows"', 'nam = "rows"', "[[metrics]] name", "a history utility"),
    ("weight = 3", "weight = -1", "[[metrics]] weight", "a number from 0 to 1e+06"),
    ("weight = 3", "options = { k = 3 }", "[[metrics]] options", "an option of 'rows'"),
    ("weight = 3", 'label = "S"', "[[metrics]] label", "not U or S"),
    ("weight = 3", 'label = "price"', "[[metrics]] label", "that no other has"),
    ("weight = 3", 'label = "a b"', "[[metrics]] label", "letters, digits"),
    ('name = "exact-match"', 'name = "exact-mach"', "[[attacks]] name", "'exact-match'"),
    ('{ fields = ["date", "quantity"] }', "{ fields = 3 }", "[[attacks]] options", "list of text"),
    ("[score]", "[knowledge]\nshares = [0.255]\n[score]", "[knowledge] shares", "whole hundredths"),
    ("[score]", "[knowledge]\nshares = [0.5, 0.5]\n[score]", "[knowledge] shares", "each share once"),
    ("[score]", "[knowledge]\nshares = 0.5\n[score]", "[knowledge] shares", "a list of shares"),
    ("[score]", "[limits]\nreleases = 0\n[score]", "[limits] releases", "from 1 to 10,000"),
    ("[score]", "[limits]\nguess = 3\n[score]", "[limits] guess", "'guesses'"),
    ("[score]", "[phases]\nanonymizing = {}\n[score]", "[phases] anonymizing", "'anonymize'"),
    ("[score]", '[phases]\nattack = { opens = "soon" }\n[score]', "[phases.attack] opens", "a date"),
    (
        "[score]",
        "[phases]\nattack = { opens = 2030-02-01, closes = 2030-01-01 }\n[score]",
        "[phases.attack] closes",
        "after the one",
    ),
    ("max(U, S) + 0.1 * rows", "max(U, S) + row", "[score] formula", "'rows'"),
    ("max(U, S) + 0.1 * rows", "U ** 2", "[score] formula", "only numbers, names"),
    ("[score]", '[roles]\nsensitive = ["a"]\n[score]', "[roles]", "only a table"),
    ("[score]", "[score]\nutility = 3", "[score] utility", "one of mean, max"),
]


@pytest.mark.parametrize(("right", "wrong", "key", "expected"), SLIPS)
def test_slip_in_the_file_is_told_by_key_value_and_what_was_expected(
    tmp_path: Path, right: str, wrong: str, key: str, expected: str
) -> None:
    assert right in HISTORY
    path = tmp_path / "my.toml"
    path.write_text(HISTORY.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        _read(path)
    (fault,) = caught.value.faults
    assert fault.file == str(path)
    assert fault.column == key.replace("[[", "[").replace("]]", "]")
    assert expected in fault.expected


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ('sensitive = ["income"]', 'sensitive = ["age"]', "one role for each column"),
        ('["sex", "age"]', "[]", "at least one column"),
        ('["sex", "age"]', '["sex", "row"]', "another name"),
        ('income = "integer"', 'income = "text"', "as the column is sensitive"),
        ('income = "integer"', 'salary = "integer"', "a column with a role"),
        ('income = "integer"', 'income = "intger"', "'integer'"),
        ('unchanged = ["age"]', 'unchanged = ["surname"]', "one of age, income, sex"),
        ('name = "sort"', 'name = "s1"', "a table attack"),
    ],
)
def test_slip_in_the_roles_of_a_table_is_told(right: str, wrong: str, expected: str) -> None:
    assert right in TABLE
    with pytest.raises(InputError, match=re.escape(expected)):
        _edition(TABLE.replace(right, wrong, 1))


def test_slip_names_the_line_it_stands_on() -> None:
    with pytest.raises(InputError) as caught:
        _edition(HISTORY.replace("weight = 3", "weight = 'much'"))
    assert caught.value.faults[0].line == HISTORY.splitlines().index("weight = 3") + 1


@pytest.mark.parametrize(
    "text", ["", "x = 1", "[contest", "metrics = 3", "contest = 3", "[[contest]]", "a = " + "[" * 5000]
)
def test_file_that_is_no_contest_is_an_input_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape("my.toml")):
        _read(path)


def test_file_in_another_encoding_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes("[contest]\ntitle = '大会'".encode("utf-16"))
    with pytest.raises(InputError, match="UTF-8"):
        _read(path)


def test_phases_and_limits_are_read_for_whoever_runs_the_contest() -> None:
    edition = _edition(
        HISTORY + "[limits]\nreleases = 3\nguesses = 2\n"
        "[phases]\nanonymize = { opens = 2030-04-01 }\nattack = { closes = 2030-05-01T09:00:00+09:00 }\n"
    )
    assert (edition.terms.n_releases_allowed, edition.terms.n_guesses_allowed) == (3, 2)
    anonymize, attack = edition.settings.phases
    assert anonymize.opens == datetime.datetime(2030, 4, 1, tzinfo=datetime.UTC)
    assert (anonymize.closes, attack.opens) == (None, None)
    assert attack.closes == datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)


def test_history_is_scored_by_hand(shop: tuple[CustomEdition, Files], tmp_path: Path) -> None:
    edition, data = shop
    release = {"A": _write(tmp_path / "A.csv", A_HISTORY)}
    edition.check(data, release)
    score = edition.score(data, {}, release)
    # One row of four is gone; one price is half of what it was, over four rows.
    assert score.details["utility"] == {"rows": 0.25, "price": 0.125}
    assert score.utility == pytest.approx((3 * 0.25 + 0.125) / 4)
    # By day and quantity the attack finds Ann in January and Bob in February. Ann's February is deleted and left alone,
    # so that she is right in every month; Bob is not found in January.
    assert score.details["safety"] == {"exact-match": {"100": 0.5}}
    assert score.details["total"] == pytest.approx(0.5 + 0.1 * 0.25)


def test_table_is_scored_by_hand(people: tuple[CustomEdition, Files], tmp_path: Path) -> None:
    edition, data = people
    release = {"A": _write(tmp_path / "A.csv", A_TABLE)}
    edition.check(data, release)
    score = edition.score(data, {}, release)
    assert score.details["utility"]["row-count"] == 0.25
    # The mean goes from 250 to 610 / 3, in standard deviations of √12,500.
    assert score.details["utility"]["mean-mae"] == pytest.approx((250 - 610 / 3) / 12_500**0.5)
    assert score.utility == pytest.approx(max(score.details["utility"].values()))
    # Three rows against four by rank: 110 → 100, 200 → 300 (the third), 300 → 400.
    assert score.details["safety"] == {"sort": {"100": pytest.approx(1 / 3)}}


def test_identifiers_never_enter_the_contest(people: tuple[CustomEdition, Files]) -> None:
    _, data = people
    assert read_csv(data["T"]).frame.columns == ["sex", "age", "income"]
    assert "Ann" not in data["T"].read_text()


HISTORY_BROKEN: list[tuple[str, int, str]] = [
    ("file-form", 1, "p,2011-01-03,A,2.5"),
    ("file-form", 0, "customer,day,item,price,quantity"),
    ("cell-form", 1, "p p,2011-01-03,A,2.5,6"),
    ("cell-form", 1, "p,2011-01-32,A,2.5,6"),
    ("cell-form", 1, "p,2011-01-03,A,1e99,6"),
    ("same-rows", 2, "DEL,,A,,"),
    ("values-of-original", 1, "p,2011-01-03,D,2.5,6"),
    ("unchanged", 1, "p,2011-01-03,A,2.5,7"),
    ("same-month", 1, "p,2011-02-03,A,2.5,6"),
    ("no-customer-id", 1, "Ann,2011-01-03,A,2.5,6"),
    ("no-shared-pseudonym", 1, "q,2011-01-03,A,2.5,6"),
]


@pytest.mark.parametrize(("rule", "line", "text"), HISTORY_BROKEN)
def test_history_that_breaks_one_rule_is_refused_by_that_rule(
    shop: tuple[CustomEdition, Files], tmp_path: Path, rule: str, line: int, text: str
) -> None:
    lines = list(A_HISTORY)
    lines[line] = text
    _assert_broken(shop, tmp_path, lines, rule)


def test_history_with_two_pseudonyms_of_a_customer_is_refused_where_one_is_asked_for(
    shop: tuple[CustomEdition, Files], tmp_path: Path
) -> None:
    whole = HISTORY.replace("least_kept = 0.5", 'least_kept = 0.5\npseudonyms = "whole"')
    _assert_broken((_edition(whole), shop[1]), tmp_path, A_HISTORY, "one-pseudonym")
    _assert_broken(shop, tmp_path, [*A_HISTORY, A_HISTORY[1]], "same-rows")
    _assert_broken(shop, tmp_path, A_HISTORY[:-1], "same-rows")
    gone = [A_HISTORY[0], A_HISTORY[1], *["DEL,,,,"] * 3]
    _assert_broken(shop, tmp_path, gone, "least-kept")


@pytest.mark.parametrize(
    ("rule", "line", "text"),
    [
        ("cell-form", 1, "f,30,many"),
        ("cell-form", 1, "f,30,"),
        ("cell-form", 1, ",30,110"),
        ("values-of-original", 1, "x,30,110"),
        ("unchanged", 1, "f,31,110"),
        ("unchanged", 1, "f,,110"),
        ("least-kept", 1, "DEL,,"),
        ("file-form", 1, "f,30,110,5"),
    ],
)
def test_table_that_breaks_one_rule_is_refused_by_that_rule(
    people: tuple[CustomEdition, Files], tmp_path: Path, rule: str, line: int, text: str
) -> None:
    lines = list(A_TABLE)
    lines[line] = text
    _assert_broken(people, tmp_path, lines, rule)


@pytest.mark.parametrize(
    ("success", "value", "title"),
    [
        ("row", 0, "customers found in every month"),
        ("cell", 2 / 4, "share of all cells of F"),
        ("month", 2 / 3, "single months found"),
        # Both customers claim p and r, each with one of three rows: half of either is named.
        ("transaction", (1 / 2 + 1 / 2) / 3, "published rows found"),
    ],
)
def test_contest_ranks_by_what_its_file_counts_as_found(
    shop: tuple[CustomEdition, Files], tmp_path: Path, success: str, value: float, title: str
) -> None:
    data = shop[1]
    edition = _edition(f'{HISTORY}success = "{success}"\n', tmp_path)
    edition.publish(data, {"A": _write(tmp_path / "A.csv", A_HISTORY)}, tmp_path, tmp_path, seed=1)
    guess = {"Fh": _write(tmp_path / "Fh.csv", ["customer,2011-01,2011-02", "Ann,p,r", "Bob,p,r"])}
    score = edition.judge(data, {"S": tmp_path / "S.csv"}, {"F": tmp_path / "F.csv"}, guess)
    assert score.success == score.details[success] == pytest.approx(value)
    released = ReleaseScore({"utility": {"rows": 0.0, "price": 0.0}}, 0.0, 0.0)
    (line,) = edition.rank([TeamEntry("x", released, [Attempt("y", "", score)])])
    assert line.value == pytest.approx(value)
    assert f"({title})" in edition.terms.summary
    assert "- **total**：" in rules_text(edition.terms, "ja")
    # Whatever the organizers write above the rules, these say what is counted.
    own = _edition(f'{HISTORY}success = "{success}"\n'.replace("[data]", 'summary = "Ours."\n[data]', 1), tmp_path)
    assert f"({title})" in rules_text(own.terms)


def _assert_broken(contest: tuple[CustomEdition, Files], tmp_path: Path, lines: list[str], rule: str) -> None:
    edition, data = contest
    with pytest.raises(InputError) as caught:
        edition.check(data, {"A": _write(tmp_path / "A.csv", lines)})
    assert [fault.rule == rule for fault in caught.value.faults] == [True], str(caught.value)
    assert rule in {known.name for known in edition.terms.release_rules}


def test_guesses_of_pseudonyms_are_checked_and_judged(shop: tuple[CustomEdition, Files], tmp_path: Path) -> None:
    edition, data = shop
    edition.publish(data, {"A": _write(tmp_path / "A.csv", A_HISTORY)}, tmp_path, tmp_path, seed=1)
    published, truth = {"S": tmp_path / "S.csv"}, {"F": tmp_path / "F.csv"}
    assert truth["F"].read_text() == "customer,2011-01,2011-02\nAnn,p,\nBob,q,r\n"
    assert sorted(published["S"].read_text().splitlines()[1:]) == sorted(
        line for line in A_HISTORY[1:] if not line.startswith("DEL")
    )
    guess = {"Fh": _write(tmp_path / "Fh.csv", ["customer,2011-01,2011-02", "Bob,q,p", "Ann,p,"])}
    edition.check_guess(data, published, guess)
    details = edition.judge(data, published, truth, guess).details
    # Of the three published rows those of Ann in January and of Bob in January are named.
    assert details["transaction"] == pytest.approx(2 / 3)
    # Two of four cells hold a pseudonym that was named, and customers have one in three of them.
    assert (details["row"], details["cell"], details["month"]) == (0.5, 0.5, pytest.approx(2 / 3))
    for lines, rule in (
        (["customer,2011-01", "Ann,p", "Bob,q"], "file-form"),
        (["customer,2011-01,2011-02", "Ann,p,"], "each-customer-once"),
        (["customer,2011-01,2011-02", "Ann,p,", "Ann,p,", "Bob,,"], "each-customer-once"),
        (["customer,2011-01,2011-02", "Ann,p,", "Bob,,", "Cid,,"], "each-customer-once"),
        (["customer,2011-01,2011-02", "Ann,p,", "Bob,x,"], "pseudonym-of-s"),
    ):
        with pytest.raises(InputError, match=f"rule {rule}"):
            edition.check_guess(data, published, {"Fh": _write(tmp_path / "Fh.csv", lines)})


def test_guesses_of_rows_are_checked_and_judged(people: tuple[CustomEdition, Files], tmp_path: Path) -> None:
    edition, data = people
    edition.publish(data, {"A": _write(tmp_path / "A.csv", A_TABLE)}, tmp_path, tmp_path, seed=1)
    published, truth = {"S": tmp_path / "S.csv"}, {"F": tmp_path / "F.csv"}
    rows = [int(line) for line in truth["F"].read_text().splitlines()[1:]]
    seen = published["S"].read_text().splitlines()[1:]
    assert [A_TABLE[row] for row in rows] == seen
    guess = {"Fh": _write(tmp_path / "Fh.csv", ["row", str(rows[0]), str(rows[0]), str(rows[0])])}
    edition.check_guess(data, published, guess)
    assert edition.judge(data, published, truth, guess).success == pytest.approx(1 / 3)
    for lines, rule in (
        (["row", "1", "2"], "row-for-row"),
        (["row", "1", "2", "5"], "row-of-t"),
        (["row", "1", "2", "x"], "row-of-t"),
        (["rw", "1"], "file-form"),
    ):
        with pytest.raises(InputError, match=f"rule {rule}"):
            edition.check_guess(data, published, {"Fh": _write(tmp_path / "Fh.csv", lines)})


def test_source_with_other_names_and_dates_is_read_by_its_declared_columns(tmp_path: Path) -> None:
    named = HISTORY.replace(
        'source = "shop.csv"',
        'source = "s.tsv"\ncolumns = { customer = "Who", date = "Day", item = "What", price = "Each", quantity = "N" }',
    )
    _write(tmp_path / "s.tsv", ["Who\tDay\tWhat\tEach\tN", "Ann\t2011/1/3\tA\t2.5\t6", "Bob\t2011/1/5\tA\t2.5\t1"])
    edition = _edition(named, tmp_path)
    edition.make_data(tmp_path, seed=1)
    assert (tmp_path / "T.csv").read_text().splitlines()[1] == "Ann,2011-01-03,A,2.5,6"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["customer,date,item,price", "Ann,2011-01-03,A,2.5"], "a column of the file for quantity"),
        (["customer,date,item,price,quantity", "Ann,3 Jan,A,2.5,6"], "a date such as"),
        (["customer,date,item,price,quantity", "Ann,2011-01-03,A,cheap,6"], "found 'cheap', expected a price"),
        (["customer,date,item,price,quantity", "Ann,2011-01-03,,2.5,6"], "no empty cells"),
        (["customer,date,item,price,quantity", "Ann,2011-01-03,A,-2.5,6"], "a price from 0"),
    ],
)
def test_source_that_does_not_fit_is_refused_and_nothing_is_left(
    tmp_path: Path, lines: list[str], expected: str
) -> None:
    _write(tmp_path / "shop.csv", lines)
    with pytest.raises(InputError, match=expected):
        _edition(HISTORY, tmp_path).make_data(tmp_path, seed=1)
    assert not (tmp_path / "T.csv").exists()


def test_column_of_a_table_without_a_role_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "people.csv", [f"{line};{'x' if number else 'more'}" for number, line in enumerate(PEOPLE)])
    with pytest.raises(InputError, match="a role for every column"):
        _edition(TABLE, tmp_path).make_data(tmp_path, seed=1)


def test_attack_that_cannot_work_on_the_data_is_told_before_the_contest(tmp_path: Path) -> None:
    _write(tmp_path / "people.csv", PEOPLE)
    with pytest.raises(InputError, match="no column 21"):
        _edition(TABLE.replace('name = "sort"', 'name = "sa21"'), tmp_path).make_data(tmp_path, seed=1)


def test_rank_averages_the_best_attacks_over_the_levels() -> None:
    text = HISTORY.replace("[score]", "[knowledge]\nshares = [0.25, 1.0]\n[score]").replace(
        "max(U, S) + 0.1 * rows", "1 / (S - 0.55) + 0 * U"
    )
    edition = _edition(text)
    assert list(edition.terms.knowledge_files) == ["25", "100"]

    def entry(team: str, safety: float, *attempts: tuple[str, float]) -> TeamEntry:
        judged = [Attempt("x", level, GuessScore(success, {})) for level, success in attempts]
        return TeamEntry(team, ReleaseScore({"utility": {"rows": 0.0, "price": 0.0}}, 0.0, safety), judged)

    entries = [
        entry("a", 0.1, ("25", 0.4), ("25", 0.2), ("100", 0.8)),
        entry("b", 0.7, ("100", 1.0)),
        entry("c", 0.55),
    ]
    standings = {standing.team: standing for standing in edition.rank(entries)}
    assert standings["a"].safety == pytest.approx(0.6)
    assert standings["a"].value == pytest.approx(20)
    # An attack at one level only counts half.
    assert standings["b"].safety == 0.7
    assert standings["c"].value is None
    assert "finite" in standings["c"].reason
    assert [standing.team for standing in edition.rank(entries[::-1])] == ["b", "a", "c"]


def _play(edition: CustomEdition, folder: Path) -> list[Any]:
    def made(name: str) -> Path:
        (folder / name).mkdir(parents=True)
        return folder / name

    terms = edition.terms
    edition.make_data(made("data"), seed=1)
    # Read once, as a contest's folder and the server do.
    data = OpenFiles(files_in(folder / "data", terms.data_files))
    edition.draw_knowledge(data, made("knowledge"), seed=2)
    knowledge = files_in(folder / "knowledge", terms.all_knowledge_files)
    entries = []
    for team in edition.anonymizers():
        edition.anonymize(team, data, made(f"{team}/release"), seed=3)
        release = files_in(folder / team / "release", terms.release_files)
        edition.check(data, release)
        score = edition.score(data, knowledge, release)
        edition.publish(data, release, made(f"{team}/published"), made(f"{team}/truth"), seed=4)
        published = files_in(folder / team / "published", terms.published_files)
        attempts = []
        for level, roles in terms.knowledge_files.items():
            for attack in edition.attacks():
                known = {role.name: knowledge[role.name] for role in roles}
                edition.attack(attack, data, known, published, made(f"{team}/{attack}{level}"), seed=5)
                guess = files_in(folder / team / f"{attack}{level}", terms.guess_files)
                edition.check_guess(data, published, guess)
                truth = files_in(folder / team / "truth", terms.truth_files)
                attempts.append(Attempt(attack, level, edition.judge(data, published, truth, guess)))
        entries.append(TeamEntry(team, score, attempts))
    return edition.rank(entries)


@pytest.mark.parametrize("kind", KINDS)
def test_template_works_for_a_whole_cycle_twice_to_the_same_bytes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(template(kind), encoding="utf-8")
    one, two = (_play(_read(path), tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert {standing.team for standing in one} == set(_read(path).anonymizers())
    written = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.csv"))
    assert written
    for file in written:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file
    simplest = _read(path).anonymizers()[0]
    assert one[0].team != simplest


@pytest.mark.parametrize("kind", KINDS)
def test_table_and_history_with_shares_of_knowledge_and_strict_checks_play_too(kind: str, tmp_path: Path) -> None:
    text = template(kind).replace(
        "unchanged = []", 'unchanged = ["quantity"]' if kind == "history" else 'unchanged = ["sex"]'
    )
    text = text.replace("# [knowledge]\n# shares", "[knowledge]\nshares").replace(
        "least_kept = 0.5", "least_kept = 0.9"
    )
    edition = _edition(text)
    assert len(edition.levels) == 2
    assert len(_play(edition, tmp_path)) == len(edition.anonymizers())


@pytest.mark.parametrize("kind", KINDS)
def test_template_uncommented_is_still_a_contest(kind: str) -> None:
    # Examples in remarks are settings too: a reader takes away the # and goes on.
    text = re.sub(r"(?m)^# (?=(\[|[a-z_]+ = ))", "", template(kind))
    if kind == "table":
        text = text.replace('"sex", "age", "region"', '"sex", "age", "region", "month"')
    edition = _edition(text)
    assert edition.settings.phases[0].name == "anonymize"


def test_template_of_an_unknown_kind_is_told_the_nearest() -> None:
    with pytest.raises(UnknownPart, match="history"):
        template("historie")


def test_unknown_players_are_refused(shop: tuple[CustomEdition, Files], tmp_path: Path) -> None:
    edition, data = shop
    with pytest.raises(UnknownPart, match="perturb"):
        edition.anonymize("pertub", data, tmp_path, seed=1)
    with pytest.raises(UnknownPart, match="exact-match"):
        edition.attack("exact-mach", data, {}, {}, tmp_path, seed=1)


CELLS = st.one_of(
    st.sampled_from(
        ["", "DEL", "*", "-1", "1e99", "NaN", "99999999999999999999", '"', "\x00", "é", "p\r", "2011-02-30"]
    ),
    st.text(max_size=5),
)


@given(drawn=st.data())
@settings(max_examples=cases(400))
def test_mutated_releases_always_get_a_verdict(drawn: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    text, source, valid = drawn.draw(
        st.sampled_from([(HISTORY, ("shop.csv", T_HISTORY), A_HISTORY), (TABLE, ("people.csv", PEOPLE), A_TABLE)])
    )
    made = folder / source[0].removesuffix(".csv")
    edition = _edition(text, folder)
    if not made.exists():
        _write(folder / source[0], source[1])
        made.mkdir()
        edition.make_data(made, seed=1)
    lines = list(valid)
    for _ in range(drawn.draw(st.integers(1, 3))):
        at = drawn.draw(st.integers(0, len(lines) - 1))
        cells = lines[at].split(",")
        cells[drawn.draw(st.integers(0, len(cells) - 1))] = drawn.draw(CELLS)
        lines[at] = ",".join(cells)
    path = folder / "mutant.csv"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    files = {"T": made / "T.csv"}
    try:
        edition.check(files, {"A": path})
    except InputError as error:
        assert error.faults
        return
    # What passes the check can be scored.
    assert edition.score(files, {}, {"A": path}).utility >= 0


def test_row_order_of_equal_rows_does_not_matter_to_published_truth(tmp_path: Path) -> None:
    _write(tmp_path / "people.csv", [PEOPLE[0], *["Ann;f;30;100"] * 3, "Bob;m;40;200"])
    edition = _edition(TABLE, tmp_path)
    edition.make_data(tmp_path, seed=1)
    data = files_in(tmp_path, edition.terms.data_files)
    edition.anonymize("as-it-is", data, tmp_path, seed=1)
    edition.publish(data, {"A": tmp_path / "A.csv"}, tmp_path, tmp_path, seed=2)
    rows = pl.read_csv(tmp_path / "F.csv")["row"].to_list()
    assert sorted(rows) == [1, 2, 3, 4]
