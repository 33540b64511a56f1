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
    asked = ["--qi", "age", "--k", 2, "--suppress", 0.4]
    tokumei_json("anonymize", "table", data, *asked, "--out", out, "--recipe", recipe_file)
    data.write_text("age\n31\n31\n77\n")
    again = tmp_path / "again.csv"
    failed = tokumei_json("anonymize", "apply", recipe_file, data, "--out", again, exit_code=2)
    assert (failed["faults"][0]["line"], failed["faults"][0]["value"]) == (4, "77")
    assert not again.exists()
    done = tokumei_json("anonymize", "apply", recipe_file, data, "--out", again, "--unseen", "suppress")
    assert (done["rows"], done["suppressed"], done["unseen"]) == (2, 1, 1)
    assert done["promises"]["k-anonymity (k 2)"]["value"] == 2


@pytest.mark.parametrize("ages", [("31", "77"), ("77",), ("31", "31", "77", "52")])
def test_more_than_the_recipe_may_leave_out_is_refused_with_exit_code_1(tmp_path: Path, ages: tuple[str, ...]) -> None:
    recipe_file, data, again = tmp_path / "recipe.json", tmp_path / "people.csv", tmp_path / "again.csv"
    data.write_text("age\n31\n31\n52\n52\n")
    asked = ["--qi", "age", "--k", 2, "--suppress", 0.4]
    tokumei_json("anonymize", "table", data, *asked, "--out", tmp_path / "out.csv", "--recipe", recipe_file)
    data.write_text("\n".join(["age", *ages, ""]))
    refused = tokumei_json("anonymize", "apply", recipe_file, data, "--out", again, "--unseen", "suppress", exit_code=1)
    assert refused["error"] == "CannotAnonymize"
    assert not again.exists()


NEXT_MONTH: dict[str, tuple[list[str], list[str]]] = {
    # This month's values, and next month's.
    "dates": ([f"2020-0{1 + n % 7}-{1 + n % 28:02}" for n in range(84)], ["2020-08-01", "2021-01-31"] * 5),
    "timestamps": ([f"2020-0{1 + n % 7}-0{1 + n % 9}T08:30:00+09:00" for n in range(84)], ["2020-08-01T23:59:59Z"] * 9),
    "ages": ([str(20 + n % 50) for n in range(100)], ["78", "79"] * 5),
    "postal codes": ([f"1{n % 4}5{n % 7}{n % 3}" for n in range(84)], ["10599"] * 9),
    "incomes": ([str(37 * 2 ** (n % 15)) for n in range(90)], ["5000000"] * 9),
}


@pytest.mark.parametrize("values", sorted(NEXT_MONTH))
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_rules_of_a_recipe_apply_to_values_never_seen(tmp_path: Path, values: str, method: str) -> None:
    now, then = NEXT_MONTH[values]
    table = tk.Table({"value": now, "sex": ["f", "m"] * (len(now) // 2)}, qi=["value", "sex"])
    made = tk.anonymize(table, k=4, method=method)
    made.save(tmp_path / "out.csv", recipe=tmp_path / "recipe.json")
    # A recipe with a rule lists nobody's values.
    assert method != "optimal" or "value" not in made.recipe.options["mapping"]
    month = {"value": then, "sex": ["f"] * len(then)}
    found = tk.apply(tmp_path / "recipe.json", month)
    assert (found.n_suppressed, found.applied.n_unseen) == (0, 0)
    assert found.promises["k-anonymity (k 4)"].value >= 4
    own = tk.apply(tmp_path / "recipe.json", table.frame, keep_order=True)
    assert sorted(own.frame.rows()) == sorted(made.table.rows())


def test_recipe_of_lists_alone_follows_the_rules_in_them() -> None:
    made = tk.anonymize(tk.Table({"age": NEXT_MONTH["ages"][0]}, qi=["age"]), k=5).recipe
    old = {name: one for name, one in made.options.items() if name != "rules"}
    labels = {str(age): f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in range(20, 70)}
    old["mapping"] = {"age": labels}
    found = tk.apply(tk.Recipe("optimal", old), {"age": ["78"] * 5})
    assert found.frame["age"].to_list() == ["70-79"] * 5


def test_unseen_values_of_a_method_on_rows_are_told_or_left_out() -> None:
    made = tk.anonymize(tk.Table(PEOPLE, qi=["age", "town"]), k=2, method="mondrian", suppress=0.5)
    month = {"age": ["31", "31", "52"], "town": ["A", "A", "C"]}
    for unseen in ("refuse", "top"):
        with pytest.raises(tk.errors.InputError, match="town"):
            tk.apply(made.recipe, month, unseen=unseen)
    found = tk.apply(made.recipe, month, unseen="suppress", keep_order=True)
    assert (found.frame.height, found.applied.n_unseen) == (2, 1)
    assert found.release.rows is not None
    assert found.release.rows.to_list() == [0, 1]


@pytest.mark.parametrize(
    "rule", [{"rule": "magic"}, {"rule": "calendar", "to": "week"}, {"rule": "prefix", "kept": "a"}]
)
def test_rule_that_is_not_known_is_refused(rule: dict[str, str]) -> None:
    made = tk.anonymize(tk.Table({"age": NEXT_MONTH["ages"][0]}, qi=["age"]), k=5).recipe
    with pytest.raises(tk.errors.InputError, match="a rule of this version"):
        tk.apply(tk.Recipe("optimal", {**made.options, "rules": {"age": rule}}), {"age": ["31"]})


JANUARY = {"who": ["p", "q", "r", "s"], "age": ["31", "31", "52", "52"], "ill": ["flu", "cold", "flu", "cut"]}


def test_promise_is_recounted_on_both_months_together_where_people_repeat(tmp_path: Path) -> None:
    table = tk.Table(JANUARY, qi=["age"], sensitive=["ill"], person="who")
    made = tk.anonymize(table, k=2, alpha_k={"ill": 0.5})
    made.save(tmp_path / "out.csv", recipe=tmp_path / "recipe.json")
    found = tk.apply(tmp_path / "recipe.json", JANUARY, together=JANUARY)
    assert {name: one.value for name, one in found.promises_together.items()} == {
        name: one.value for name, one in found.promises.items()
    }
    # Each month half of a class has the flu; in both together p and q had it.
    february = {**JANUARY, "ill": ["cold", "flu", "cut", "flu"]}
    assert tk.apply(tmp_path / "recipe.json", february).frame.height == 4
    with pytest.raises(tk.errors.PromiseBroken, match=r"alpha|α"):
        tk.apply(tmp_path / "recipe.json", february, together=JANUARY)
    for name, month in (("january", JANUARY), ("february", february)):
        tk.write_frame(tk.Table(month).frame, tmp_path / f"{name}.csv")
    asked = [tmp_path / "recipe.json", tmp_path / "february.csv", "--out", tmp_path / "next.csv"]
    failed = tokumei_json("anonymize", "apply", *asked, "--together", tmp_path / "january.csv", exit_code=1)
    assert failed["error"] == "PromiseBroken"
    assert not (tmp_path / "next.csv").exists()


def test_months_of_rows_are_not_counted_together() -> None:
    with pytest.raises(tk.errors.InputError, match="protects people or households"):
        tk.apply(recipe(), NEXT, together=NEXT)


def test_rows_left_out_for_unseen_values_are_held_against_the_share_of_people() -> None:
    rows = {"who": ["p", "q", "p", "q", "r", "r"], "age": ["31"] * 6, "town": ["A", "A", "A", "A", "B", "B"]}
    made = tk.anonymize(tk.Table(rows, qi=["age", "town"], person="who"), k=1, suppress=0.4)
    month = {**rows, "town": ["A", "A", "A", "A", "A", "C"]}
    assert tk.apply(made.recipe, month, unseen="suppress").n_suppressed == 1
    # Two rows are two fifths of six rows at most, and more than two fifths of three people.
    with pytest.raises(tk.errors.CannotAnonymize, match="decide anew"):
        tk.apply(made.recipe, {**rows, "town": ["A", "A", "A", "A", "C", "C"]}, unseen="suppress")
