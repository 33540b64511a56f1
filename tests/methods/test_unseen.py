"""Values that a recipe has no label for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.commands import tokumei_json

import tokumei as tk

PEOPLE = {"age": ["31", "31", "52", "52"], "town": ["A", "A", "B", "B"], "sex": ["f", "m", "f", "m"]}
SEX = tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
NEXT = {
    "age": ["31", "31", "99", "52", "52", None],
    "town": ["A"] * 2 + ["B"] * 4,
    "sex": ["f", "x", "m", "f", "m", "f"],
}


def recipe() -> tk.Recipe:
    made = tk.anonymize(tk.Table(PEOPLE, qi=["age", "town", "sex"], hierarchies={"sex": SEX}), k=2, suppress=0.5)
    # Only the sexes have to be hidden.
    assert made.to_dict()["levels"] == {"age": 0, "town": 0, "sex": 1}
    found: tk.Recipe = made.recipe
    return found


def test_unseen_value_is_refused_with_its_line_and_count(tmp_path: Path) -> None:
    path = tmp_path / "next.csv"
    path.write_text('note,age,town,sex\n"two\nlines",31,A,f\n,31,A,m\n,99,B,f\n,99,B,m\n', encoding="utf-8")
    with pytest.raises(tk.errors.InputError) as raised:
        tk.apply(recipe(), path)
    (fault,) = raised.value.faults
    assert (fault.file, fault.line, fault.column, fault.value) == (str(path), 5, "age", "99")
    assert "in 2 rows" in fault.expected


def test_column_that_is_hidden_anyhow_takes_any_value() -> None:
    found = tk.apply(recipe(), {"age": ["31", "31"], "town": ["A", "A"], "sex": ["x", None]}, keep_order=True)
    assert found.frame["sex"].to_list() == ["*", "*"]


def test_unseen_rows_are_left_out_or_hidden_if_asked_for() -> None:
    left = tk.apply(recipe(), NEXT, unseen="suppress", keep_order=True)
    # The row of 99 is unseen, and the one without an age is alone.
    assert left.frame["age"].to_list() == ["31", "31", "52", "52"]
    assert left.release.rows is not None
    assert left.release.rows.to_list() == [0, 1, 3, 4]
    assert left.n_suppressed == 2
    hidden = tk.apply(recipe(), {**NEXT, "age": ["31", "31", "99", "98", "52", "52"]}, unseen="top", keep_order=True)
    assert hidden.frame["age"].to_list() == ["31", "31", "*", "*", "52", "52"]


def test_other_words_than_the_three_are_refused() -> None:
    with pytest.raises(tk.errors.InputError, match="refuse, suppress, top"):
        tk.apply(recipe(), NEXT, unseen="drop")  # type: ignore[arg-type]


def test_command_names_what_it_does_not_know(tmp_path: Path) -> None:
    recipe_file, data, out = tmp_path / "recipe.json", tmp_path / "people.csv", tmp_path / "out.csv"
    data.write_text("age\n31\n31\n52\n52\n")
    tokumei_json("anonymize", "table", data, "--qi", "age", "--k", 2, "--out", out, "--recipe", recipe_file)
    data.write_text("age\n31\n31\n77\n")
    again = tmp_path / "again.csv"
    failed = tokumei_json("anonymize", "apply", recipe_file, data, "--out", again, exit_code=2)
    assert (failed["faults"][0]["line"], failed["faults"][0]["value"]) == (4, "77")
    assert not again.exists()
    done = tokumei_json("anonymize", "apply", recipe_file, data, "--out", again, "--unseen", "suppress")
    assert (done["rows"], done["suppressed"]) == (2, 1)
