"""Attacking and measuring released tables from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.journey.commands import tokumei, tokumei_json

PEOPLE = "sex,age,illness\nf,31,flu\nf,32,flu\nm,35,flu\nm,38,cold\n"
RELEASE = "sex,age,illness\nf,30-34,flu\nf,30-34,flu\nm,35-39,flu\nm,35-39,cold\n"


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "release.csv").write_text(RELEASE)
    paths = ("--original", tmp_path / "people.csv", "--release", tmp_path / "release.csv")
    return [*paths, "--qi", "sex,age", "--sensitive", "illness", "--numeric", "age"]


IN_ORDER = "--in-order"


def test_attack_table_runs_all_attacks_that_the_files_allow(files: list[object]) -> None:
    found = tokumei_json("attack", "table", *files, IN_ORDER)
    assert set(found) == {
        *("attacks", "deduced", "outcomes", "left_out", "rows", "released", "known", "looked_for", "seed", "seconds")
    }
    assert set(found["attacks"]) == {
        *("record-linkage", "homogeneity", "background-knowledge", "downcoding", "refine"),
        *("distance-linkage", "inference", "linkability", "singling-out"),
    }
    assert set(found["left_out"]) == {
        *("membership", "presence", "population-linkage", "intersection", "linked-rows", "minimality"),
        "reconstruction",
    }
    assert (found["left_out"]["presence"], found["left_out"]["intersection"]) == ("population", "earlier")
    assert (found["rows"], found["released"], found["known"]) == (4, 4, ["sex", "age"])
    linkage = found["attacks"]["record-linkage"]
    assert list(linkage) == ["certain", "success"]
    assert (linkage["certain"]["value"], linkage["success"]["inputs"]["expected"]) == (0, 1 / 2)
    assert found["attacks"]["homogeneity"]["certain"]["value"] == 1 / 2


def test_attack_table_by_somebody_of_a_stated_kind(files: list[object]) -> None:
    found = tokumei_json("attack", "table", "--threat", "employer", "--set", "people_share=1", *files, IN_ORDER)
    assert (found["threat"]["who"], found["threat"]["people_share"]) == ("an employer who looks for their staff", 1)
    assert "presence" in found["left_out"]
    pair = tokumei_json("attack", "table", "record-linkage", *files, IN_ORDER, "--set", "aim=named", "--set", "named=2")
    assert pair["threat"]["named"] == [2]
    assert pair["outcomes"]["record-linkage"]["riskiest"] == [2]
    for wrong, said in (("--set=named=0", "counted from 1"), ("--threat=spouse", "no threat named 'spouse'")):
        assert said in tokumei("attack", "table", *files, IN_ORDER, wrong).stderr.replace("\n", " ")


def test_attack_table_takes_rows_earlier_releases_a_population_and_a_control(
    tmp_path: Path, files: list[object]
) -> None:
    (tmp_path / "release.csv").write_text("sex,age,illness\nm,35-39,cold\nf,30-34,flu\n")
    (tmp_path / "rows.csv").write_text("4\n1\n")
    (tmp_path / "first.csv").write_text(RELEASE)
    (tmp_path / "all.csv").write_text(PEOPLE + "f,40,cough\n")
    (tmp_path / "others.csv").write_text("sex,age,illness\nf,33,cold\n")
    (tmp_path / "first-rows.csv").write_text("1\n2\n3\n4\n")
    found = tokumei_json(
        *("attack", "table", *files, "--rows", tmp_path / "rows.csv", "--population", tmp_path / "all.csv"),
        *("--earlier", tmp_path / "first.csv", "--earlier-rows", tmp_path / "first-rows.csv"),
        *("--control", tmp_path / "others.csv"),
    )
    assert set(found["left_out"]) == {"membership", "linked-rows", "minimality", "reconstruction"}
    linkage = found["attacks"]["record-linkage"]
    assert (linkage["certain"]["value"], linkage["certain"]["control"]) == (1, 1)
    assert found["attacks"]["homogeneity"]["success"]["control"] == 0
    assert found["attacks"]["intersection"]["linked-success"]["inputs"]["k"] == 1
    # Of the two women in their early thirties one is in, as of the two men: all are said to be out.
    assert found["attacks"]["presence"]["success"]["value"] == 3 / 5


def test_attack_table_says_in_words_what_it_found(files: list[object]) -> None:
    done = tokumei("attack", "table", "record-linkage", *files, "--known-share", 0.5, IN_ORDER)
    assert done.returncode == 0, done.stderr
    assert "95 % interval" in done.stdout
    assert "among those that fit." in done.stdout


def test_attack_table_says_where_there_was_nothing_to_find(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text("sex,town\n" + "f,Kyoto\n" * 3 + "m,Osaka\n" * 3)
    asked = ("attack", "table", "downcoding", "--release", tmp_path / "release.csv", "--qi", "sex,town")
    lines = tokumei(*asked).stdout.splitlines()
    for name in ("singled-out-estimate", "cells-certain"):
        (line,) = (one for one in lines if one.startswith(name))
        assert "nothing to find" in line and "0 – 1" not in line
    # What programs read stays a share of nothing.
    assert tokumei_json(*asked)["attacks"]["downcoding"]["cells-certain"]["interval"] == [0, 1]


def test_minimality_of_files_retraces_numbers_and_is_told_the_options_of_the_method(tmp_path: Path) -> None:
    # Of either half of the ages both could be cut, and are not: a safe cut does not look which half has whom.
    rows = [f"{age},{ill}" for age, ill in zip(range(21, 29), ["HIV", "flu"] * 4, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill", *rows]) + "\n")
    who = ("--qi", "age", "--numeric", "age")
    made = ("--method", "mondrian", "--set", "cuts=safe", "--set", "margin=inf", "--k", 2, "--l-diversity", "ill=2")
    files = ("--rows", tmp_path / "rows.csv", "--out", tmp_path / "out.csv", "--recipe", tmp_path / "recipe.json")
    tokumei_json("anonymize", "table", tmp_path / "people.csv", *who, *made, "--keep", "ill", *files)
    recipe = json.loads((tmp_path / "recipe.json").read_text(), parse_constant=pytest.fail)
    assert recipe["options"]["options"]["margin"] == "inf"
    given = ("--original", tmp_path / "people.csv", "--release", tmp_path / "out.csv", "--rows", tmp_path / "rows.csv")
    told = ("--sensitive", "ill", "--method", "mondrian", "--k", 2, "--set", "l=2")
    asked = ("attack", "table", "minimality", *given, *who, *told)
    safe = tokumei_json(*asked, "--method-set", "cuts=safe", "--method-set", "margin=inf")
    as_checked = tokumei_json(*asked)
    refused = [one["attacks"]["minimality"]["above-bound"]["inputs"]["groupings_refused"] for one in (safe, as_checked)]
    assert refused == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["presence"], "expected population, which presence needs"),
        (["linkage"], "Did you mean 'record-linkage'"),
        (["all", "--set", "excludes=2"], "the name of an attack, whose option it is"),
        (["--known", "height"], "found 'height', expected a column of the table"),
        (["--known-share", "2"], "expected a share from 0 to 1"),
        (["--numeric", "aeg"], "expected a column of the table as a known column: 'age'"),
        (["--known", "sex,sex"], "found 'sex', expected each name once"),
        (["homogeneity", "--known", "illness"], "a sensitive column that is not known, which homogeneity needs"),
        (["--earlier", "x.csv", "--earlier-rows", "a.csv", "--earlier-rows", "b.csv"], "one file for each of 1"),
        (["background-knowledge", "--set", "excludes=many"], "whole number"),
        (["downcoding", "--method-set", "ranges=tight"], "--method, whose option it is"),
        (["downcoding", "--method", "mondrian", "--method-set", "cuts"], "option --method-set: found 'cuts'"),
    ],
)
def test_attack_table_refuses_what_does_not_fit(files: list[object], arguments: list[str], message: str) -> None:
    name = [] if arguments[0].startswith("--") else arguments[:1]
    found = tokumei_json("attack", "table", *name, *files, IN_ORDER, *arguments[len(name) :], exit_code=2)
    assert message in found["message"]


def test_attack_table_of_another_number_of_rows_asks_for_rows(tmp_path: Path, files: list[object]) -> None:
    (tmp_path / "release.csv").write_text("sex,age,illness\nf,30-34,flu\n")
    assert "the row of the original behind each" in tokumei_json("attack", "table", *files, exit_code=2)["message"]
    found = tokumei_json("attack", "table", *files, IN_ORDER, exit_code=2)
    assert "or rows with the row of each" in found["message"]
    (tmp_path / "rows.csv").write_text("5\n")
    found = tokumei_json("attack", "table", *files, "--rows", tmp_path / "rows.csv", exit_code=2)
    assert "rows.csv, line 1: found '5', expected a row of the original, counted from 1 to 4" in found["message"]
    (tmp_path / "rows.csv").write_text("1\n2\n")
    found = tokumei_json("attack", "table", *files, "--rows", tmp_path / "rows.csv", exit_code=2)
    assert "rows.csv: found '2 lines', expected a line for each of 1 released rows" in found["message"]


def test_attack_table_of_another_number_of_earlier_rows_asks_for_earlier_rows(
    tmp_path: Path, files: list[object]
) -> None:
    (tmp_path / "first.csv").write_text("sex,age,illness\nf,30-34,flu\n")
    found = tokumei_json("attack", "table", *files, IN_ORDER, "--earlier", tmp_path / "first.csv", exit_code=2)
    assert "or earlier_rows with the row of each" in found["message"]


def test_attack_table_of_a_label_without_a_meaning_names_column_and_value(tmp_path: Path, files: list[object]) -> None:
    (tmp_path / "release.csv").write_text(RELEASE.replace("30-34", "thirty"))
    fault = tokumei_json("attack", "table", *files, IN_ORDER, exit_code=2)["faults"][0]
    assert (fault["column"], fault["value"]) == ("age", "thirty")


def test_measure_table_measures_what_the_columns_allow_and_says_why_not_the_rest(files: list[object]) -> None:
    found = tokumei_json("measure", "table", *files, IN_ORDER)
    assert set(found) == {"scores", "left_out", "seconds"}
    assert {"statistics", "crosstab-error", "row-count"} <= set(found["scores"])
    assert "numbers in a sensitive column" in found["left_out"]["mean-mae"]
    # Each range holds the ages of its own two people.
    assert found["scores"]["statistics"]["value"] == 0


def test_measure_table_says_each_reason_once(files: list[object]) -> None:
    done = tokumei("measure", "table", *files, IN_ORDER)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert said.count("numbers in a sensitive column") == 1
    assert "left out: " in said


def test_measure_table_of_numbers_takes_the_measures_of_2015_too(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("sex,income,debt\nf,1,4\nf,2,3\nm,3,2\nm,4,1\n")
    paths = ("--original", tmp_path / "x.csv", "--release", tmp_path / "x.csv")
    columns = ("--qi", "sex", "--sensitive", "income,debt", "--numeric", "income,debt")
    found = tokumei_json("measure", "table", *paths, *columns, IN_ORDER)
    assert found["left_out"] == {}
    assert {one["value"] for one in found["scores"].values()} == {0}
    one = tokumei_json("measure", "table", *paths, *columns, IN_ORDER, "--measures", "model", "--set", "target=debt")
    assert one["scores"]["model"]["inputs"]["target"] == "debt"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--measures", "crosstab-eror"], "Did you mean 'crosstab-error'"),
        (["--measures", "mean-mae"], "numbers in a sensitive column"),
        (["--set", "target=age"], "one measure, whose option it is"),
        (["--measures", "statistics", "--set", "hierarchies=x"], "expected --hierarchies instead"),
        (["--numeric", "height"], "found 'height', expected a column of the table as numeric"),
    ],
)
def test_measure_table_refuses_what_does_not_fit(files: list[object], arguments: list[str], message: str) -> None:
    assert message in tokumei_json("measure", "table", *files, IN_ORDER, *arguments, exit_code=2)["message"]


def test_downcoding_needs_nothing_but_the_release_and_writes_its_claims(tmp_path: Path) -> None:
    """Labels as ARX writes them, and a range whose ends somebody in the group must have."""
    (tmp_path / "release.csv").write_text("zip;age\n130**;31-45\n130**;31-45\n148**;40-52\n148**;40-52\n")
    (tmp_path / "trees").mkdir()
    leaves = "13053;130**\n13068;130**\n14850;148**\n14853;148**\n"
    (tmp_path / "trees" / "zip.csv").write_text(leaves)
    claims = tmp_path / "claims.csv"
    command = ("attack", "table", "downcoding", "--release", tmp_path / "release.csv", "--qi", "zip,age")
    found = tokumei_json(
        *command, "--hierarchies", tmp_path / "trees", "--method", "mondrian", "--k", 2, "--claims", claims
    )
    assert found["attacks"]["downcoding"]["cells-certain"]["value"] == 1
    assert found["deduced"]["downcoding"]["assumed"]["ranges"]["age"]["are"] == "tight"
    assert (found["out"], found["released"]) == (str(claims), 4)
    lines = claims.read_text().splitlines()
    assert lines[0] == "attack,row,rows,column,label,kind,value,least,most,claim,proven,is_true"
    assert lines[1] == "downcoding,1,2,age,31-45,range end,31,1,1,31 occurs,true,"
    assert len(lines) == 1 + 8
    said = tokumei(*command, "--set", "ranges=grid").stdout
    assert "singled-out-estimate" in said
    assert "told" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record-linkage"], "the original, which record-linkage needs"),
        (["downcoding", "--known", "sex"], "--original"),
        (["downcoding", "--method", "mondrain"], "mondrian"),
        (["downcoding", "--set", "ranges=loose"], "tight or grid"),
        (["downcoding", "--numeric", "agee"], "age"),
    ],
)
def test_release_alone_is_refused_with_one_clear_error(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "release.csv").write_text(RELEASE)
    name, *more = arguments
    command = ("attack", "table", name, "--release", tmp_path / "release.csv", "--qi", "sex,age", *more)
    assert message in tokumei_json(*command, exit_code=2)["message"]
