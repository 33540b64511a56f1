"""`tokumei check` and `tokumei score` as a team uses them before it submits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.commands import tokumei, tokumei_json

HISTORY = "101,2010/12/1,A1,1,1\n102,2010/12/3,B2,3,3\n"
RELEASE = "7,[2010/12/1;2010/12/3],{A1;B2},1,*\n8,2010/12/3,B2,3,3\n"
MASTER = "101,f,1950/1/1,France\n"
HISTORY_2017 = "101,0,2010/12/1,8:30,A1,1.5,2\n101,0,2010/12/9,9:00,B2,2,3\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    contents = {"T": HISTORY, "A": RELEASE, "M": MASTER, "T17": HISTORY_2017, "AT": HISTORY_2017.replace("101,", "P,")}
    for name, content in contents.items():
        (tmp_path / f"{name}.csv").write_text(content)
    return tmp_path


def test_check_of_a_valid_release_says_so(files: Path) -> None:
    given = ["--edition", "pwscup2018", "--history", files / "T.csv", files / "A.csv"]
    found = tokumei_json("check", *given)
    assert (found["edition"], found["is_valid"]) == ("pwscup2018", True)
    done = tokumei("check", *given)
    assert done.returncode == 0
    assert "is valid" in done.stdout


def test_check_of_a_release_with_faults_names_all_and_ends_with_1(files: Path) -> None:
    (files / "A.csv").write_text("7,[2010/12/3;2010/12/1],{A1;D4},1,*\n7,2010/12/3,B2,3,3\n")
    given = ["--edition", "pwscup2018", "--data", f"T={files / 'T.csv'}", files / "A.csv"]
    found = tokumei_json("check", *given, exit_code=1)
    assert found["error"] == "InputError"
    assert [(fault["line"], fault["column"]) for fault in found["faults"]] == [
        (1, "date"),
        (1, "item"),
        (2, "customer"),
    ]
    done = tokumei("check", *given)
    assert done.returncode == 1
    assert "A.csv, line 2, column customer: found '7', expected another pseudonym than in line 1" in done.stderr
    assert "(rule no-shared-pseudonym)" in done.stderr
    assert [fault["rule"] for fault in found["faults"]] == ["range-order", "item-of-t", "no-shared-pseudonym"]
    # A release that is not valid has no score.
    assert tokumei_json("score", *given, exit_code=1)["n_faults"] == 3


def test_score_prints_the_object_that_programs_rely_on(files: Path) -> None:
    given = ["--edition", "pwscup2018", "--history", files / "T.csv", files / "A.csv"]
    assert tokumei_json("score", *given) == {"utility": 0.3125}
    assert "0.3125" in tokumei("score", *given).stdout


def test_score_of_2017_takes_knowledge_by_level(files: Path) -> None:
    # Of the two rows the first is known.
    (files / "T25.csv").write_text(f"{HISTORY_2017.splitlines()[0]}\nDEL,,,,,,\n")
    given = ["--edition", "pwscup2017", "--master", files / "M.csv", "--history", files / "T17.csv"]
    level = ["--set", "known=25", "--knowledge", f"25={files / 'T25.csv'}"]
    found = tokumei_json("score", *given, *level, files / "AT.csv")
    assert found["safety"]["S6"] == {
        "25": {"row": 1.0, "cell": pytest.approx(1 / 12), "month": 1.0, "transaction": 1.0}
    }
    assert found["total"] == 0.5
    # Before attacks begin nobody has the knowledge, and the utility is scored alone.
    without = tokumei_json("score", *given, files / "AT.csv")
    assert (without["utility"], without["safety"], without["total"]) == (found["utility"], {}, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--edition", "pwscup2017"], "--data M=FILE"),
        (["--edition", "pwscup2018", "--master", "M.csv", "--history", "T.csv"], "a data file of the edition: T"),
        (["--edition", "pwscup2018", "--history", "T.csv", "--data", "T=T.csv"], "T once"),
        (["--edition", "pwscup2018", "--data", "T"], "NAME=FILE"),
        (["--edition", "pwscup2018", "--history", "none.csv"], "a file that exists"),
        (["--edition", "pwcup2018", "--history", "T.csv"], "pwscup2018"),
        (["--edition", "pwscup2018", "--history", "T.csv", "--knowledge", "25=T.csv"], "know all data"),
        (["--edition", "pwscup2018", "--history", "T.csv", "--set", "customers=3"], "n_customers"),
        (["--edition", "pwscup2018", "--history", "T.csv", "A.csv"], "the files of the release: A"),
    ],
)
def test_score_with_options_that_do_not_fit_says_what_would(files: Path, options: list[str], said: str) -> None:
    words = [str(files / word) if word.endswith(".csv") and "=" not in word else word for word in options]
    found = tokumei_json("score", *words, files / "A.csv", exit_code=2)
    assert said in found["message"]
