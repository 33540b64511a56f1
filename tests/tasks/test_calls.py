"""The calls that people write who know pandas: each works, or the error names the one that does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import UnknownName

# Takes any call, of which some here are wrong on purpose.
door: Any = tk
DF = pd.DataFrame(
    {
        "age": [20 + n * 7 % 60 for n in range(120)],
        "city": [["Kyoto", "Osaka", "Chiba"][n % 3] for n in range(120)],
        "ill": [["flu", "cold"][n * n % 5 % 2] for n in range(120)],
    }
)
T = tk.Table(DF, qi=["age", "city"], sensitive=["ill"])
R: Any = tk.anonymize(T, k=5, seed=1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: door.count(DF), "There is no tokumei.count. Write tokumei.count_classes."),
        (lambda: door.read_csv("a.csv"), "Write tokumei.read_frame."),
        (lambda: door.anonymise(DF), "Write tokumei.anonymize."),
        (lambda: door.anonymize(T, k=5, l=2), "found 'l', expected an option of anonymize: 'l_diversity'"),
        (lambda: door.anonymize(T, k=5, t=0.2), "found 't', expected an option of anonymize: 't_closeness'"),
        (lambda: door.compare(T, k=5, l=2), "found 'l', expected an option of compare: 'l_diversity'"),
        (lambda: door.anonymize(T, k=5, suppression=0.1), "expected an option of anonymize: 'suppress'"),
        (lambda: door.anonymize(T, k=5, drop=["ill"]), "columns without a role are not released; keep names those"),
        (lambda: door.anonymize(T, k=5, random_state=1), "expected an option of anonymize: 'seed'"),
        (lambda: door.audit(DF, quasi_identifiers=["age"]), "expected an option of audit: 'qi'"),
        (lambda: door.Table(DF, quasi_identifiers=["age"]), "expected an option of Table: 'qi'"),
        (lambda: door.compare(T, k=5, method="mondrian"), "expected an option of compare: 'methods'"),
        (lambda: door.harden(T, R, max_found=0.1), "found 'max_found', expected an option of harden: 'bound'"),
        (lambda: door.harden(T, R), "expected bound=…, which tk.harden needs"),
        (lambda: door.anonymize(DF, ["age"], 5), r"a call as help\(tk.anonymize\) shows it: too many positional"),
        (lambda: R.to_pandas(), "There is no TableRelease.to_pandas. Write TableRelease.frame."),
        (lambda: R.to_polars(), "Write TableRelease.table."),
        (lambda: R.to_csv("out.csv"), r"Write TableRelease.save\('release.csv'\)."),
        (lambda: R.summary(), r"Write TableRelease.to_dict\(\)."),
        (lambda: R.n_supressed, "Write TableRelease.n_suppressed."),
        (
            lambda: door.Job(DF, qi=["age"]),
            r"found 'qi', expected a job file, as tk.Job.read\('job.toml'\).*tk.anonymize",
        ),
        (lambda: door.Job(DF), "found 'DataFrame', expected a job file"),
        (lambda: door.run("job.toml", "out"), r"found 'job.toml', expected a tk.Job, as tk.Job.read\('job.toml'\)"),
        (lambda: tk.apply(DF, R.recipe), r"the table comes second: tk.apply\(recipe, df\)"),
        (lambda: tk.Recipe.load("nowhere.json"), "nowhere.json: expected a file that exists"),
    ],
)
def test_call_of_another_library_is_answered_with_the_name_here(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(tk.errors.TokumeiError, match=said):
        call()


def test_names_that_are_not_there_are_no_attributes_for_those_who_ask() -> None:
    assert not hasattr(tk, "count")
    assert not hasattr(R, "to_csv")
    assert getattr(R, "_repr_png_", None) is None
    assert issubclass(UnknownName, AttributeError)


def test_frame_and_its_release_go_together() -> None:
    assert tk.attack(DF, R, "record-linkage").scores == tk.attack(T, R, "record-linkage").scores
    assert tk.measure(DF, R, "statistics").scores == tk.measure(T, R, "statistics").scores
    assert tk.harden(DF, R, bound=0.9, attacks=["record-linkage"]).to_dict()


def test_report_without_a_file_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tk.report(R).dossier["holds"] is True
    assert not list(tmp_path.iterdir())


def test_recipe_is_saved_loaded_and_applied_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "recipe.json"
    R.recipe.save(file)
    assert tk.Recipe.load(file).as_dict() == R.recipe.as_dict()
    assert tk.apply(str(file), DF).release.frame.equals(R.table)
    with pytest.raises(tk.errors.InputError, match="does not exist yet"):
        R.recipe.save(file)


def test_labels_are_parsed_and_numbers_have_their_middle() -> None:
    found = R.numeric()
    labels = R.frame["age"].map(tk.parse_label)
    assert found["age"].tolist() == [one.middle for one in labels]
    assert {one.low <= age <= one.high for one, age in zip(labels, DF["age"].iloc[R.rows], strict=True)} == {True}
    assert found["city"].tolist() == R.frame["city"].tolist()
    # In a release of any frame, and with nothing said of a value.
    top = tk.anonymize(pl.from_pandas(DF[["age"]]), ["age"], k=100, suppress=0)
    assert set(top.frame["age"]) == {"*"}
    assert top.numeric()["age"].to_list() == [None] * 120


@pytest.mark.parametrize(
    ("label", "low", "high", "middle", "members"),
    [
        ("20-24", 20, 24, 22, ()),
        ("-5..-1", -5, -1, -3, ()),
        ("[2.5, 5)", 2.5, 5, 3.75, ()),
        ("<18", None, 18, 18, ()),
        ("≥65", 65, None, 65, ()),
        ("31", 31, 31, 31, ("31",)),
        ("{30;34}", None, None, 32, ("30", "34")),
        ("{a, b}", None, None, None, ("a", "b")),
        ("130**", None, None, None, ("130**",)),
        ("*", None, None, None, ()),
        (None, None, None, None, ()),
        (float("nan"), None, None, None, ()),
    ],
)
def test_label_is_read_as_what_it_stands_for(
    label: object, low: float | None, high: float | None, middle: float | None, members: tuple[str, ...]
) -> None:
    found = tk.parse_label(label)
    assert (found.low, found.high, found.middle, found.members) == (low, high, middle, members)
    assert found.is_anything == (label == "*")


def test_ends_that_belong_to_a_label_are_told() -> None:
    assert [(one.has_low, one.has_high) for one in map(tk.parse_label, ["[2, 5)", "(2, 5]", "<5", ">=5"])] == [
        (True, False), (False, True), (False, False), (True, False),
    ]  # fmt: skip


TYPED = pd.DataFrame(
    {
        "sex": pd.Categorical(["m", "f"] * 30, categories=["f", "m", "x"], ordered=True),
        "age": pd.array([30, 40, None] * 20, dtype="Int64"),
        "born": pd.to_datetime(["1990-01-01", "1980-05-17"] * 30),
        "is_in": [True, False] * 30,
        "pay": pd.array([1.5, None] * 30, dtype="Float32"),
        "note": pd.array(["a", "b"] * 30, dtype="string"),
    },
    index=pd.Index([f"p{n}" for n in range(60)], name="person"),
)


def test_pandas_index_and_types_survive_the_round_trip() -> None:
    pd.testing.assert_frame_equal(tk.Table(TYPED, ["sex", "age"]).to_frame(), TYPED)
    plain = TYPED.reset_index(drop=True)
    pd.testing.assert_frame_equal(tk.Table(plain, ["sex", "age"]).to_frame(), plain)


def test_types_of_a_release_are_those_of_the_original_where_no_cell_became_a_label() -> None:
    kept = ["born", "is_in", "pay", "note"]
    made = tk.anonymize(TYPED, ["sex", "age"], k=5, keep=kept, keep_order=True)
    pd.testing.assert_frame_equal(made.frame, TYPED.reset_index(drop=True))
    # The index would tell whose each row is.
    assert made.frame.index.name is None
    hidden = tk.anonymize(TYPED, ["age"], k=60, suppress=0)
    assert set(hidden.frame["age"]) == {"*"}
    applied = tk.apply(made.recipe, TYPED, keep_order=True)
    assert applied.frame.dtypes.to_dict() == made.frame.dtypes.to_dict()


def labels_of(given: Any, column: str) -> list[list[str]]:
    """Return the levels of the hierarchy that a release is made by, of what somebody wrote for a column."""
    tree = tk.anonymize(DF, [column], k=5, hierarchies={column: given}).hierarchies[column]
    return [list(one.labels) for one in tree.levels[1:]]


@pytest.mark.parametrize(
    "given",
    [
        {"Kyoto": "west", "Osaka": "west", "Chiba": "east"},
        {"Kyoto": ["west"], "Osaka": ["west"], "Chiba": ["east"]},
        {"east": ["Chiba"], "west": {"Kyoto", "Osaka"}},
        pd.DataFrame({"city": ["Chiba", "Kyoto", "Osaka"], "side": ["east", "west", "west"]}),
        pl.DataFrame({"city": ["Chiba", "Kyoto", "Osaka"], "side": ["east", "west", "west"], "top": ["*"] * 3}),
        lambda city: "east" if city == "Chiba" else "west",
    ],
)
def test_hierarchy_of_names_is_taken_as_people_write_it(given: Any) -> None:
    assert labels_of(given, "city") == [["east", "west"], ["*"]]


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ([18, 65], [["18-64", "≥65"], ["*"]]),
        ([[30, 45, 65], [45]], [["<30", "30-44", "45-64", "≥65"], ["<45", "≥45"], ["*"]]),
        (range(30, 80, 20), [["<30", "30-49", "50-69", "≥70"], ["*"]]),
        (
            lambda age: [f"{age // 10}0s", "young" if age < 50 else "old"],
            [[f"{n}0s" for n in range(2, 8)], ["young", "old"], ["*"]],
        ),
        (tk.Hierarchy.intervals("age", range(20, 80), width=20, factors=()), [["20-39", "40-59", "60-79"], ["*"]]),
    ],
)
def test_hierarchy_of_numbers_is_taken_as_people_write_it(given: Any, levels: list[list[str]]) -> None:
    assert labels_of(given, "age") == levels


@pytest.mark.parametrize(
    ("column", "given", "said"),
    [
        ("city", {"Kyoto": "west"}, "column city: found 'Chiba', expected a value with a label that is text"),
        ("city", {"Kyoto": ["a"], "Osaka": ["a", "b"], "Chiba": ["c", "b"]}, "found 'Kyoto', expected .* as many"),
        ("city", {"a": ["Kyoto", "Osaka"], "b": ["Osaka", "Chiba"]}, "found 'Osaka', expected one group"),
        ("age", lambda age: age // 10, "found '20', expected a value with a label that is text"),
        ("age", [65, 18], "expected cuts that rise"),
        ("age", ["a"], "found 'a', expected numbers to cut at"),
        ("age", 5, "found 'int', expected a tk.Hierarchy, the name of its file, a mapping, a frame, a list of cuts"),
    ],
)  # fmt: skip
def test_hierarchy_that_says_too_little_is_refused(column: str, given: Any, said: str) -> None:
    with pytest.raises(tk.errors.InputError, match=said):
        labels_of(given, column)


def test_hierarchies_as_people_write_them_go_to_every_job() -> None:
    given = {"age": [40, 60], "city": {"west": ["Kyoto", "Osaka"], "east": ["Chiba"]}}
    t = tk.Table(DF, ["age", "city"], ["ill"], hierarchies=given)
    r = tk.anonymize(t, k=5)
    assert tk.attack(t, r.frame, "record-linkage", rows=r.rows).scores == tk.attack(t, r, "record-linkage").scores
    assert tk.measure(t, r).scores
    assert tk.compare(t, k=5, methods=["optimal"]).found
    assert tk.predict(DF, ["age", "city"], hierarchies=given).n_rows == 120
    by_illness = {"ill": {"flu": "airways", "cold": "airways"}}
    assert tk.audit(
        DF, ["city"], sensitive=["ill"], t_closeness={"ill": "1:hierarchical"}, hierarchies=by_illness
    ).holds
    with pytest.raises(tk.errors.InputError, match="where the original is not there"):
        tk.attack(tk.Table(r.frame, ["age", "city"]), attack="downcoding", hierarchies=given)
