"""The command line as a person and a program use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

PEOPLE = "sex;age;town\nf;31;A\nf;31;A\nm;35;B\nm;38;B\n"


def tokumei(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tokumei", *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def tokumei_json(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    """Run with --json; standard output must be one object and nothing else."""
    done = tokumei(*arguments, "--json")
    assert done.returncode == exit_code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.stderr == ""
    return found


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_count_gives_the_keys_that_programs_rely_on(people: Path) -> None:
    found = tokumei_json("count", people, "--by", "sex,age")
    assert set(found) == {"rows", "classes", "k", "unique", "seconds"}
    assert (found["rows"], found["classes"], found["k"], found["unique"]) == (4, 3, 1, 2)


def test_count_at_levels_uses_the_hierarchies(people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    built = tokumei_json(
        *("hierarchy", "build", "intervals", "--data", people, "--column", "age"),
        *("--set", "width=5", "--set", "factors=2", "--out", folder / "age.csv"),
    )
    assert built["values_per_level"] == [3, 2, 1, 1]
    found = tokumei_json("count", people, "--by", "sex,age", "--levels", "age=1", "--hierarchies", folder)
    assert (found["classes"], found["k"]) == (2, 2)


def test_hierarchy_check_of_a_hierarchy_that_lacks_values_fails_with_1(people: Path, tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("A;*\n")
    found = tokumei_json("hierarchy", "check", tmp_path / "town.csv", "--data", people, exit_code=1)
    assert found["missing_values"] == ["B"]
    assert not found["is_good"]


def test_hierarchy_show_prints_labels(tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("A;north;*\nB;south;*\n")
    done = tokumei("hierarchy", "show", tmp_path / "town.csv")
    assert done.returncode == 0
    assert "level 1 (2)" in done.stdout
    assert "south" in done.stdout


def test_describe_shows_each_column(people: Path) -> None:
    found = tokumei_json("data", "describe", people)
    assert found["rows"] == 4
    town = found["columns"][2]
    assert (town["name"], town["distinct"], town["commonest"], town["times"]) == ("town", 2, "A", 2)


def test_make_retail_twice_with_one_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        made = tokumei_json("data", "make", "retail", "--customers", 20, "--seed", 5, "--out", tmp_path / name)
        assert made["customers"] == 20
    for file in ("history.parquet", "master.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_make_services_writes_people_and_hierarchies_that_fit(tmp_path: Path) -> None:
    made = tokumei_json("data", "make", "services", "--services", 1, "--out", tmp_path)
    found = tokumei_json(
        *("count", tmp_path / "S0001.parquet", "--by", "sex,age,prefecture"),
        *("--levels", "sex=1,age=1,prefecture=2", "--hierarchies", made["hierarchies"]),
    )
    assert found["rows"] == made["rows"]
    assert found["classes"] <= 18


def test_make_survey_has_25_columns(tmp_path: Path) -> None:
    made = tokumei_json("data", "make", "survey", "--rows", 100, "--out", tmp_path, "--format", "csv")
    assert (made["rows"], made["columns"]) == (100, 25)
    assert pl.read_csv(made["files"][0]).height == 100


def test_clean_retail_reports_rows_customers_and_items(tmp_path: Path) -> None:
    columns = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country"
    rows = ["1,A,x,6,2010-12-01 08:26:00,2.55,17850,France", "2,B,x,-1,2010-12-01 08:26:00,1,17850,France"]
    (tmp_path / "raw.csv").write_text("\n".join([columns, *rows]) + "\n")
    found = tokumei_json("data", "clean-retail", tmp_path / "raw.csv", "--out", tmp_path / "clean.parquet")
    assert (found["rows"], found["customers"], found["items"], found["dropped"]) == (1, 1, 1, 1)
    assert pl.read_parquet(tmp_path / "clean.parquet").height == 1


def test_demo_writes_a_report_without_outside_requests(tmp_path: Path) -> None:
    found = tokumei_json("demo", "--customers", 30, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert found["report"].endswith("report.html")
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "src=" not in page


def test_parts_lists_options(tmp_path: Path) -> None:
    found = tokumei_json("parts", "history-anonymizer")
    assert found["history-anonymizer"][0]["options"][0]["name"] == "lifetime"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "nowhere.csv", "--by", "a"], "nowhere.csv"),
        (["count", "people.csv", "--by", "sexe"], "a column of the file: sex, age, town"),
        (["count", "people.csv", "--by", ","], "names separated by commas"),
        (["count", "people.csv", "--by", "age", "--levels", "age=1"], "--hierarchies"),
        (["count", "people.csv", "--by", "age", "--levels", "age"], "name=value"),
        (["count", "people.csv", "--by", "age", "--engine", "duckbd"], "duckdb"),
        (["count", "people.csv"], "--by"),
        (["cuont", "people.csv"], "cuont"),
        (["parts", "history-atack"], "history-attack"),
        (["hierarchy", "build", "interval", "--out", "x.csv"], "intervals"),
        (["data", "describe", "."], "."),
    ],
)
def test_bad_usage_ends_with_2_one_clear_message_and_no_traceback(
    people: Path, arguments: list[str], message: str
) -> None:
    done = tokumei(*arguments, cwd=people.parent)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    as_json = tokumei(*arguments, "--json", cwd=people.parent)
    assert as_json.returncode == 2
    assert message in json.loads(as_json.stdout)["message"]


def test_bad_file_as_json_lists_its_faults(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    found = tokumei_json("data", "describe", tmp_path / "bad.csv", exit_code=2)
    assert found["faults"][0]["line"] == 3
    assert found["faults"][0]["expected"] == "2 cells"


def test_failed_command_leaves_no_file(people: Path, tmp_path: Path) -> None:
    done = tokumei("data", "clean-retail", people, "--out", tmp_path / "out.parquet")
    assert done.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_every_command_has_help_with_an_example() -> None:
    done = tokumei("--help")
    assert done.returncode == 0
    for command in (["count"], ["parts"], ["demo"], ["data", "clean-retail"], ["hierarchy", "check"]):
        text = tokumei(*command, "--help").stdout
        assert "Example: tokumei" in text, command
