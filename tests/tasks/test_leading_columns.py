"""Columns whose values lead to people are stopped in whatever role they are, and released only by their name."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tokumei as tk
from tokumei.cli.main import main
from tokumei.core.errors import InputError
from tokumei.inspection.leading_columns import leading_column, unchanged_values
from tokumei.tasks.table_release import NAMED, SINGLES

# Each name stands in ten rows, so that nobody is singled out by counting rows.
PEOPLE = pl.DataFrame(
    {
        "name": ["Ann Lee", "Bea Kim", "Cal Roe", "Dan Fox"] * 10,
        "age": [30, 40, 50, 60] * 10,
        "illness": ["flu", "cold"] * 20,
    }
)


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("name", ["Ann Lee", "Bea Kim"] * 20),
        pl.Series("patient_id", [f"P{1000 + 7 * (row // 5)}" for row in range(200)]),
        pl.Series("担当", ["佐藤", "鈴木", "高橋", "田中"] * 10),
        pl.Series("住所", ["東京都新宿区西新宿2-8-1", "大阪府大阪市北区1-2-3"] * 10),
        pl.Series("memo", ["call her son at 090-1234-5678", "none", "seen"] * 9),
    ],
    ids=lambda values: values.name,
)
def test_names_codes_addresses_and_texts_lead_to_people_however_often_they_stand(values: pl.Series) -> None:
    found = leading_column(values)
    assert found is not None
    assert set(found.examples) <= set(values)


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("icd", ["J10", "E11", "C50"] * 30),
        pl.Series("ward", ["a", "b"] * 30),
        pl.Series("name", ["Ann Lee"] * 30),
        pl.Series("cells", [[1], [2]]),
        # Towns are called as families are.
        pl.Series("町", ["川口", "大宮", "浦和"] * 20),
        pl.Series("town", ["川口", "松本", "石川", "高山"] * 20),
    ],
    ids=lambda values: values.name,
)
def test_values_of_things_and_a_single_value_lead_to_nobody(values: pl.Series) -> None:
    assert leading_column(values) is None


def test_header_that_speaks_of_codes_is_not_enough_where_values_decide() -> None:
    numbers = pl.Series("id", list(range(1000, 1040)) * 5)
    assert leading_column(numbers) is not None
    assert leading_column(numbers, is_general=False) is None


def test_values_counted_once_are_judged_as_all_rows_are() -> None:
    values = PEOPLE["name"].unique(maintain_order=True)
    assert leading_column(values, pl.Series([10] * 4)) == leading_column(PEOPLE["name"])


def test_cells_that_read_as_in_the_original_are_unchanged() -> None:
    released = pl.Series("age", ["31", "30-39", "*", "34"])
    assert unchanged_values(pl.Series("age", [31, 34, 36]), released).to_list() == ["31", "34"]


@pytest.mark.parametrize(
    ("qi", "sensitive", "form"), [(["age"], ["name"], SINGLES), (["age", "name"], [], NAMED)], ids=["sensitive", "qi"]
)
def test_names_are_stopped_in_every_role_and_released_by_their_name(
    qi: list[str], sensitive: list[str], form: str
) -> None:
    table = tk.Table(PEOPLE, qi, sensitive)
    with pytest.raises(InputError) as refused:
        tk.anonymize(table, k=5)
    fault = refused.value.faults[0]
    assert (fault.form, fault.column, fault.value) == (form, "name", "Ann Lee, Bea Kim, Cal Roe")
    made = tk.anonymize(table, k=5, keep_anyway=["name"])
    assert [one.column for one in made.kept_anyway] == ["name"]


def test_names_of_which_nothing_is_left_may_be_a_quasi_identifier() -> None:
    each = PEOPLE.with_columns(name=pl.Series([f"Ann{chr(97 + row)} Lee{chr(97 + row // 2)}" for row in range(40)]))
    assert tk.anonymize(tk.Table(each, ["age", "name"]), k=5).kept_anyway == []


@pytest.mark.parametrize("order", [["--keep-order"], []], ids=["counted alone", "counted along"])
def test_files_are_stopped_on_engines_as_tables_in_memory_are(
    tmp_path: Path, order: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = ["anonymize", "table", str(tmp_path / "people.csv"), "--qi", "age", "--k", "5", "--keep", "name"]
    with pytest.raises(SystemExit) as done:
        main([*asked, "--engine", "duckdb", "--out", str(tmp_path / "out.csv"), *order])
    assert done.value.code == 2
    assert "Ann Lee" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
