from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases
from tests.releases import release_of

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.data.release import Recipe
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.losses import LOSSES
from tokumei.measures.requirement import SAFETY
from tokumei.methods.apply import apply_recipe
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, searches
from tokumei.methods.tables import check_promise, write_anonymized

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["31", "35", "42"], ["30s", "30s", "40s"], ["*", "*", "*"]])
HIERARCHIES = {"sex": SEX, "age": AGE}
PEOPLE = pl.DataFrame(
    {
        "name": ["Ann", "Bea", "Cid", "Dan", "Eve"],
        "sex": ["f", "f", "m", "m", "f"],
        "age": [31, 35, 31, 31, 42],
        "illness": ["flu", "cold", "flu", "cold", "flu"],
    }
)
TWO = Goal([SAFETY.make("k-anonymity", k=2)])


def test_release_suppresses_the_one_who_sticks_out() -> None:
    release = release_of(PEOPLE, HIERARCHIES, replace(TWO, suppression=0.2), keep=["illness"])
    assert release.frame.rows() == [
        ("f", "30s", "flu"),
        ("f", "30s", "cold"),
        ("m", "30s", "flu"),
        ("m", "30s", "cold"),
    ]
    assert release.rows is not None
    assert release.rows.to_list() == [0, 1, 2, 3]
    assert release.mapping["age"].rows() == [("31", "30s"), ("35", "30s"), ("42", "40s")]
    assert release.recipe.options["levels"] == {"sex": 0, "age": 1}


def test_column_that_nobody_declared_is_not_released() -> None:
    assert release_of(PEOPLE, HIERARCHIES, TWO).frame.columns == ["sex", "age"]


def test_protected_column_is_released_and_diverse() -> None:
    goal = Goal([SAFETY.make("l-diversity", sensitive="illness", l=2)])
    release = release_of(PEOPLE, HIERARCHIES, goal)
    assert release.frame.columns == ["sex", "age", "illness"]
    check_promise(release.frame, goal, [])


def test_t_closeness_with_suppression_compares_with_the_original() -> None:
    goal = Goal([SAFETY.make("t-closeness", sensitive="illness", t=0.2)], suppression=0.4)
    release = release_of(PEOPLE, HIERARCHIES, goal)
    # On another table it would be that table.
    assert release.recipe.options["requirements"][0]["options"]["reference"] is None


def test_population_requirement_follows_the_levels() -> None:
    everybody = count_classes(pl.concat([PEOPLE, PEOPLE]), ["sex", "age"])
    goal = Goal([SAFETY.make("k-map", population=everybody, k=4)])
    release = release_of(PEOPLE, HIERARCHIES, goal)
    again = pl.concat([release.frame, release.frame])
    assert count_classes(again, ["sex", "age"]).k >= 4


def test_broken_promise_is_noticed() -> None:
    with pytest.raises(PromiseBroken, match="3 classes"):
        check_promise(PEOPLE, replace(TWO), [SEX.recoding(0), AGE.recoding(0)])


def test_written_release_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_promise(*arguments: object) -> None:
        raise PromiseBroken("broken")

    monkeypatch.setattr("tokumei.methods.tables.check_promise", break_promise)
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(PromiseBroken):
        write_anonymized(PEOPLE, HIERARCHIES, TWO, tmp_path / "out.csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.csv", "old")]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_written_release_is_the_one_made_in_memory(tmp_path: Path, engine: str) -> None:
    goal = replace(TWO, suppression=0.2)
    write_anonymized(PEOPLE, HIERARCHIES, goal, tmp_path / "out.parquet", keep=["illness"], engine=engine)
    released = release_of(PEOPLE, HIERARCHIES, goal, keep=["illness"]).frame
    assert sorted(pl.read_parquet(tmp_path / "out.parquet").rows()) == sorted(released.rows())


def test_recipe_applies_to_next_month() -> None:
    release = release_of(PEOPLE, HIERARCHIES, replace(TWO, suppression=0.2), keep=["illness"])
    following = pl.DataFrame({"sex": ["m", "m"], "age": [42, 42], "illness": ["flu", "flu"], "name": ["X", "Y"]})
    assert apply_recipe(release.recipe, following).release.frame.rows() == [("m", "40s", "flu"), ("m", "40s", "flu")]


def test_recipe_on_an_unseen_value_names_it() -> None:
    # Sexes are published as they are, and follow no rule, while a column of stars would take any.
    release = release_of(PEOPLE, HIERARCHIES, replace(TWO, suppression=0.2))
    with pytest.raises(InputError) as caught:
        apply_recipe(release.recipe, PEOPLE.with_columns(sex=pl.lit("x")))
    assert (caught.value.faults[0].column, caught.value.faults[0].value) == ("sex", "x")


def test_recipe_on_data_it_does_not_protect_is_refused() -> None:
    release = release_of(PEOPLE, HIERARCHIES, replace(TWO, suppression=0.2))
    with pytest.raises(CannotAnonymize, match="decide anew"):
        apply_recipe(release.recipe, pl.DataFrame({"sex": ["f", "m"], "age": [31, 42]}))


def test_file_that_is_no_recipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"method": "optimal", "options": {}, "seed": null, "versions": {}}')
    with pytest.raises(InputError, match="requirements, suppression"):
        Recipe.load(tmp_path / "r.json")
    (tmp_path / "r.json").write_text("[1")
    with pytest.raises(InputError, match="recipe of a table"):
        Recipe.load(tmp_path / "r.json")


ROWS = st.lists(st.tuples(st.sampled_from("fm"), st.sampled_from([31, 35, 42, None])), min_size=1, max_size=30)


@pytest.mark.slow
@settings(max_examples=cases(40))
@given(ROWS, st.sampled_from(searches()), st.sampled_from(["prec", "ncp", "discernibility"]), st.randoms())
def test_release_holds_whatever_the_order_of_rows_and_columns(
    rows: list[Any], method: str, loss: str, random: Any
) -> None:
    frame = pl.DataFrame(rows, schema={"sex": pl.String, "age": pl.Int64}, orient="row")
    goal = replace(TWO, method=TABLE_ANONYMIZERS.make(method), loss=LOSSES.make(loss), suppression=0.2)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=random.randint(0, 99))
    results: list[Any] = []
    # Among equal losses the first columns of the table are kept finest.
    for one in (frame, shuffled, shuffled.select("age", "sex")):
        try:
            release = release_of(one, HIERARCHIES, goal)
        except CannotAnonymize:
            results.append(None)
        else:
            counts = count_classes(release.frame, ["sex", "age"])
            assert counts.n_rows == 0 or counts.k >= 2
            results.append(counts.to_frame().rows())
    assert results[0] == results[1]
    assert (results[0] is None) == (results[2] is None)


def test_recipe_survives_being_written(tmp_path: Path) -> None:
    import json

    recipe = release_of(PEOPLE, HIERARCHIES, TWO).recipe
    (tmp_path / "r.json").write_text(json.dumps(recipe.as_dict()))
    assert isinstance(Recipe.load(tmp_path / "r.json"), Recipe)
    again = [apply_recipe(one, PEOPLE).release.frame for one in (Recipe.load(tmp_path / "r.json"), recipe)]
    assert again[0].equals(again[1])
