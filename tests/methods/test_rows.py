from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY, Requirement
from tokumei.methods.local.task import LocalRecoding, LocalTask
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.rows import release_rows

CITY = Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo", "Chiba"], ["west", "west", "east", "east"], ["*"] * 4])
PEOPLE = pl.DataFrame(
    {
        "age": [31, 35, 42, 44, 80],
        "city": ["Kyoto", "Osaka", "Tokyo", "Tokyo", "Chiba"],
        "illness": ["flu", "cold", "flu", "cold", "flu"],
    }
)
K2 = [SAFETY.make("k-anonymity", k=2)]


@dataclass(frozen=True)
class Given:
    """Puts classes into the groups it is told."""

    groups: tuple[int, ...]

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
        return LocalRecoding.of_groups(task, np.array(self.groups))


@dataclass(frozen=True)
class Reversed:
    """Publishes the ages from the last row to the first."""

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        ages = original.numbers("age")[::-1]
        frame = original.frame.with_columns(original.with_numbers("age", ages.copy()))
        return Perturbed(frame, pl.Series(range(original.n_rows)))


def made(groups: Sequence[int], requirements: Sequence[Requirement] = K2, **options: Any) -> Any:
    goal = Goal(requirements, method=Given(tuple(groups)), numeric=["age"], **options)
    return release_rows(PEOPLE, ["age", "city"], {"city": CITY}, goal)


def test_group_gets_a_range_of_numbers_and_the_finest_label_that_covers_it() -> None:
    found = made([0, 0, 1, 1, 1])
    assert found.release.frame.rows() == [
        ("31-35", "west"),
        ("31-35", "west"),
        ("42-80", "east"),
        ("42-80", "east"),
        ("42-80", "east"),
    ]
    # Ages: 4/49 twice and 38/49 three times; cities: 2/4 each.
    assert found.loss.value == pytest.approx(((2 * 4 + 3 * 38) / 49 / 5 + 0.5) / 2)
    assert found.counts.k == 2
    assert found.release.rows.to_list() == [0, 1, 2, 3, 4]


def test_suppressed_row_is_left_out_and_counts_as_all_lost() -> None:
    found = made([0, 0, 1, 1, -1], suppression=0.2)
    assert found.release.frame.rows()[2:] == [("42-44", "Tokyo"), ("42-44", "Tokyo")]
    assert found.n_suppressed == 1
    assert found.loss.value == pytest.approx(((2 * 4 + 2 * 2) / 49 + 1 + 2 * 0.5 + 1) / 10)


def test_more_suppressed_than_allowed_is_an_error() -> None:
    with pytest.raises(CannotAnonymize, match="1 of 5 rows would have to be left out, of which 0 may be"):
        made([0, 0, 1, 1, -1])


def test_release_that_does_not_hold_is_refused() -> None:
    with pytest.raises(PromiseBroken, match="2 classes"):
        made([0, 1, 2, 2, 2])


def test_missing_value_among_others_is_covered_by_nothing_but_the_label_that_says_nothing() -> None:
    people = pl.DataFrame({"age": [31, None, None, None], "city": ["Kyoto", "Kyoto", None, None]})
    # Classes are in the order of their leaves, missing last: (31, Kyoto), (missing, Kyoto), (missing, missing).
    goal = Goal(K2, method=Given((0, 0, 1)), numeric=["age"])
    found = release_rows(people, ["age", "city"], {"city": CITY}, goal)
    assert found.release.frame.rows() == [("*", "Kyoto"), ("*", "Kyoto"), (None, None), (None, None)]


def test_population_is_put_into_the_same_groups() -> None:
    everybody = pl.concat([PEOPLE, PEOPLE[:2], pl.DataFrame({"age": [50], "city": ["Osaka"], "illness": ["flu"]})])
    population = count_classes(everybody, ["age", "city"])
    # The stranger is the class of 50 and Osaka, after those of 44 and before that of 80.
    for k, holds in ((3, True), (4, False)):
        asked = [SAFETY.make("k-map", population=population, k=k)]
        goal = Goal(asked, method=Given((0, 0, 1, 1, 0, 1)), numeric=["age"])
        if holds:
            assert release_rows(PEOPLE, ["age", "city"], {"city": CITY}, goal).release.frame.height == 5
        else:
            with pytest.raises(PromiseBroken):
                release_rows(PEOPLE, ["age", "city"], {"city": CITY}, goal)


def test_groups_are_judged_by_every_requirement() -> None:
    seen = []

    @dataclass(frozen=True)
    class Looking:
        def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
            groups = np.array([0, 0, 1, 1, 2])
            seen.extend([task.holds(groups, 3).tolist(), task.holds_together()])
            return LocalRecoding.of_groups(task, np.zeros(5, np.int64))

    asked = [*K2, SAFETY.make("l-diversity", sensitive="illness", l=2)]
    goal = Goal(asked, method=Looking(), numeric=["age"])
    release_rows(PEOPLE, ["age", "city"], {"city": CITY}, goal)
    assert seen == [[True, True, False], True]


def test_changed_rows_are_released_and_counted() -> None:
    goal = Goal([], method=Reversed(), numeric=["age"])
    found = release_rows(PEOPLE, ["age"], {}, goal, keep=["illness"])
    assert found.release.frame["age"].to_list() == [80, 44, 42, 35, 31]
    assert found.counts is not None
    assert found.counts.k == 1
    with pytest.raises(CannotAnonymize, match="By reversed, 5 classes"):
        release_rows(PEOPLE, ["age"], {}, replace(goal, requirements=K2))


def test_text_that_is_no_number_is_named() -> None:
    people = pl.DataFrame({"age": ["31", "old"]})
    with pytest.raises(InputError, match="line 2, column age: found 'old', expected a finite number"):
        release_rows(people, ["age"], {}, Goal([], method=Reversed()))


@pytest.mark.parametrize("name", ["n", "n_rows", "size", "group", "0", "1"])
def test_population_of_a_column_with_any_name_is_counted(name: str) -> None:
    people = PEOPLE.select(pl.col("age").alias(name), "city")
    population = count_classes(pl.concat([people, people]), [name, "city"])
    k_map = SAFETY.make("k-map", population=population, k=4)
    goal = Goal([k_map], method=Given((0, 0, 1, 1, 1)), numeric=[name])
    assert release_rows(people, [name, "city"], {"city": CITY}, goal).release.frame[name].n_unique() == 2


def test_recipe_of_a_requirement_of_a_population_is_json_without_the_people() -> None:
    k_map = SAFETY.make("k-map", population=count_classes(PEOPLE, ["age", "city"]), k=1)
    recipe = made([0, 0, 1, 1, 1], [k_map]).release.recipe
    assert json.loads(json.dumps(recipe.as_dict()))["options"]["requirements"] == [
        {"name": "k-map", "options": {"k": 1}}
    ]


@pytest.mark.parametrize(("ages", "expected"), [(["31", "old"], "old"), ([31.0, 35.5], "35.5")])
def test_population_with_values_of_another_type_is_named(ages: list[Any], expected: str) -> None:
    people = pl.DataFrame({"age": ages, "city": ["Kyoto", "Osaka"]})
    k_map = SAFETY.make("k-map", population=count_classes(people, ["age", "city"]), k=1)
    with pytest.raises(InputError, match=f"column age: found '{expected}', expected a value of type Int64"):
        made([0, 0, 1, 1, 1], [k_map])


def test_population_with_the_same_numbers_as_text_or_floats_is_read() -> None:
    for dtype in (pl.String, pl.Float64):
        people = PEOPLE.select(pl.col("age").cast(dtype), "city")
        k_map = SAFETY.make("k-map", population=count_classes(people, ["age", "city"]), k=2)
        assert made([0, 0, 1, 1, 1], [k_map]).release.frame.height == 5


@pytest.mark.parametrize("age", [1e308, -1e101])
def test_numbers_too_large_to_measure_widths_are_named(age: float) -> None:
    goal = Goal(K2, method=Given((0, 0)), numeric=["age"])
    with pytest.raises(InputError, match=r"column age: found '.*', expected a number of at most 1e\+100"):
        release_rows(pl.DataFrame({"age": [0.0, age]}), ["age"], {}, goal)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (Given((0, 0, 1, 1, 1)), {"preference": ["age"]}, "option prefer: expected no columns to prefer"),
        (Given((0, 0, 1, 1, 1)), {"weights": {"illness": 2.0}}, "found 'illness', expected a quasi-identifier"),
        (Reversed(), {"preference": ["age"]}, "option prefer: expected no columns to prefer"),
        (Reversed(), {"weights": {"age": 2.0}}, "option weights: found 'age', expected no weights"),
        (Reversed(), {"suppression": 0.1}, "option suppress: found '0.1', expected 0"),
    ],
)
def test_what_the_method_would_not_look_at_is_refused(method: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        release_rows(PEOPLE, ["age", "city"], {}, Goal([], method=method, numeric=["age"], **options), keep=["illness"])


def test_sensitive_lists_cannot_be_compared_with_the_original() -> None:
    people = PEOPLE.with_columns(illness=pl.concat_list("illness"))
    goal = Goal([SAFETY.make("t-closeness", sensitive="illness", t=0.5)], method=Given((0,) * 5), numeric=["age"])
    with pytest.raises(
        InputError, match=r"column illness: found 'List.*', expected a sensitive column of single values"
    ):
        release_rows(people, ["age", "city"], {"city": CITY}, goal)


@pytest.mark.parametrize(
    "method", [name for name in TABLE_ANONYMIZERS if hasattr(TABLE_ANONYMIZERS.get(name), "regroup")]
)
def test_risk_that_could_know_a_population_but_was_told_none_can_be_asked_of_any_regrouper(method: str) -> None:
    risk = SAFETY.make("marketer-risk", threshold=0.4)
    goal = Goal([risk], method=TABLE_ANONYMIZERS.make(method), numeric=["age"])
    found = release_rows(PEOPLE, ["age", "city"], {"city": CITY}, goal)
    # Two classes of five rows are a risk of 0.4.
    assert found.release.frame.n_unique(["age", "city"]) <= 2
