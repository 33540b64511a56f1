"""Columns that are released unchanged: those that lead to people are refused together, and kept only by name."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import tokumei as tk
from tokumei.cli.main import main

PEOPLE = pl.DataFrame(
    {
        "sex": ["f", "m"] * 20,
        "code": [f"x{number}" for number in range(40)],
        "pressure": [120.5 + number / 10 if number % 4 == 0 else 130.0 + number % 4 for number in range(40)],
        "note": [f"came back after the {number % 22}th day of treatment and felt better then" for number in range(40)],
        "ward": ["a", "b"] * 20,
    }
)
KEEP = ["code", "pressure", "note", "ward"]


def test_guard_names_all_columns_at_once_with_the_reason() -> None:
    with pytest.raises(tk.errors.InputError) as caught:
        tk.anonymize(PEOPLE, ["sex"], k=2, keep=KEEP)
    faults = {one.column: str(one.expected) for one in caught.value.faults}
    assert faults.keys() == {"code", "pressure", "note"}
    assert "no identifier among the columns to keep (40 rows are singled out by it)" in faults["code"]
    # Ten readings are rare among 13 values: no code, and told what to do with it.
    assert "no measurement with rare values" in faults["pressure"] or "no identifier" in faults["pressure"]
    assert "its rarest value has 1" in faults["note"]
    assert all("--keep-anyway releases it all the same" in said for said in faults.values())


def test_yes_is_said_for_each_column_and_stands_in_the_result() -> None:
    with pytest.raises(tk.errors.InputError) as caught:
        tk.anonymize(PEOPLE, ["sex"], k=2, keep=KEEP, keep_anyway=["code"])
    assert {one.column for one in caught.value.faults} == {"pressure", "note"}
    made = tk.anonymize(PEOPLE, ["sex"], k=2, keep=KEEP, keep_anyway=["code", "pressure", "note"])
    told = made.to_dict()["kept_anyway"]
    assert [one["column"] for one in told] == ["code", "pressure", "note"]
    assert "Released as it is although it may lead to people: code" in str(made.sections())
    assert tk.anonymize(PEOPLE, ["sex"], k=2, keep=["ward"]).to_dict().get("kept_anyway") is None
    with pytest.raises(tk.errors.InputError, match="a column that is kept"):
        tk.anonymize(PEOPLE, ["sex"], k=2, keep=["ward"], keep_anyway=["code"])


@pytest.mark.parametrize(
    ("said", "code"), [(["--keep-anyway"], 0), (["--keep-anyway", "code"], 0), (["--keep-anyway", "ward"], 2)]
)
def test_shell_says_yes_to_all_or_to_some(
    said: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    out = tmp_path / "out.csv"
    given = ["anonymize", "table", str(tmp_path / "people.csv"), "--qi", "sex", "--k", "2", "--keep", "code,ward"]
    with pytest.raises(SystemExit) as done:
        main([*given, *said, "--out", str(out), "--json"])
    assert done.value.code == code
    if code == 0:
        assert [one["column"] for one in json.loads(capsys.readouterr().out)["kept_anyway"]] == ["code"]


def test_first_page_of_the_dossier_says_what_was_kept(tmp_path: Path) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    roles = '[roles]\nsex = "quasi-identifier"\ncode = "other"\nward = "other"\n'
    text = f'[input]\nfile = "people.csv"\n{roles}[requirements]\nk = 2\n'
    text += '[output]\nkeep = ["code", "ward"]\nkeep_anyway = ["code"]\n'
    done = tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    page = (tmp_path / "out" / "report.md").read_text().partition("## What was done")[0]
    assert "Released as it is although it may lead to people: code (40 rows are singled out by it)" in page
    dossier = json.loads((tmp_path / "out" / "dossier.json").read_text())
    assert [one["column"] for one in dossier["results"]["kept_anyway"]] == ["code"]
    assert done.results["kept_anyway"] == dossier["results"]["kept_anyway"]
