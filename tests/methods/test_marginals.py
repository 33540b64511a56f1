from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.cases import cases

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY
from tokumei.methods.perturbing.marginals import Marginals
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows

PEOPLE = pl.DataFrame(
    {
        "sex": list("ffffmmmm"),
        "age": ["20s", "20s", "20s", "30s", "20s", "30s", "30s", "30s"],
        "smokes": ["yes", "yes", "yes", "no", "yes", "no", "no", "no"],
    }
)
COLUMNS = ("sex", "age", "smokes")


def cells(frame: pl.DataFrame) -> set[tuple[Any, ...]]:
    return set(frame.rows())


def test_counts_are_published_where_no_cell_is_small() -> None:
    changed = Marginals(k=2).perturb(Original(PEOPLE, COLUMNS), seed=1)
    assert cells(changed.frame) == {
        ("sex", "f", None, None, 4),
        ("sex", "m", None, None, 4),
        ("age", "20s", None, None, 4),
        ("age", "30s", None, None, 4),
        ("smokes", "yes", None, None, 4),
        ("smokes", "no", None, None, 4),
        ("age", "20s", "smokes", "yes", 4),
        ("age", "30s", "smokes", "no", 4),
    }
    assert changed.promises["k"].value == 4
    assert changed.rows is None


def test_tables_form_no_circle() -> None:
    changed = Marginals(k=1).perturb(Original(PEOPLE, COLUMNS), seed=1)
    # Age tells all of smoking; of sex both tell as much, and the first pair is taken.
    assert changed.facts["tables"] == [["age", "smokes"], ["sex", "age"]]


def test_column_with_a_small_count_goes_up_its_hierarchy() -> None:
    city = Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo"], ["west", "west", "east"]])
    people = pl.DataFrame({"city": ["Kyoto", "Osaka", "Tokyo", "Tokyo"]})
    changed = Marginals(k=2).perturb(Original(people, ("city",), hierarchies={"city": city}), seed=1)
    assert cells(changed.frame) == {("city", "west", None, None, 2), ("city", "east", None, None, 2)}
    assert changed.facts["levels"] == {"city": 1}


def test_rows_drawn_have_what_the_tables_tell() -> None:
    people = pl.concat([PEOPLE] * 50)
    frame = Marginals(k=2, publish="rows").perturb(Original(people, COLUMNS), seed=1).frame
    assert frame.height == 400
    # Age and smoking go together in every row; 3 of 4 women are in their twenties: 200 · 3/4 ± 4 standard deviations.
    assert set(frame.select("age", "smokes").rows()) == {("20s", "yes"), ("30s", "no")}
    women = frame.filter(sex="f")
    assert abs(women.filter(age="20s").height - women.height * 0.75) < 4 * np.sqrt(200 * 0.75 * 0.25)


def test_same_seed_draws_the_same_rows_and_another_does_not() -> None:
    original = Original(pl.concat([PEOPLE] * 20), COLUMNS)
    first, again, other = (Marginals(k=2, publish="rows").perturb(original, seed=seed).frame for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_fewer_rows_than_k_cannot_be_published() -> None:
    with pytest.raises(CannotAnonymize, match="8 rows, fewer than k = 9"):
        Marginals(k=9).perturb(Original(PEOPLE, COLUMNS), seed=1)


def test_k_that_is_asked_of_marginals_is_their_own() -> None:
    made = tk.anonymize(tk.Table(PEOPLE, qi=COLUMNS), method="marginals", k=2)
    asked = tk.anonymize(tk.Table(PEOPLE, qi=COLUMNS), method=Marginals(k=2))
    assert made.frame.equals(asked.frame)
    assert made.recipe.as_dict()["method"] == asked.recipe.as_dict()["method"]
    with pytest.raises(InputError, match="one k; the method was given 3"):
        tk.anonymize(tk.Table(PEOPLE, qi=COLUMNS), method=Marginals(k=3), k=2)


def test_requirement_of_classes_is_refused_for_counts() -> None:
    goal = Goal([SAFETY.make("k-anonymity", k=2)], method=Marginals(k=2))
    with pytest.raises(InputError, match="marginals releases no rows of people"):
        release_rows(PEOPLE, COLUMNS, {}, goal)


ROWS = st.lists(
    st.tuples(st.sampled_from("fm"), st.sampled_from(["1", "2", "3", None]), st.sampled_from("xyz")),
    min_size=4,
    max_size=40,
)
AGE = Hierarchy.of_levels("age", [["1", "2", "3"], ["1-2", "1-2", "3"], ["*"] * 3])


@pytest.mark.slow
@settings(max_examples=cases(40), deadline=None)
@given(ROWS, st.sampled_from([2, 3]))
def test_no_class_is_shown_to_be_small_by_all_tables_together(rows: list[Any], k: int) -> None:
    """Of each class that may have people at all, k or more are possible: found by linear programming."""
    frame = pl.DataFrame(rows, schema=["sex", "age", "city"], orient="row")
    changed = Marginals(k=k).perturb(Original(frame, ("sex", "age", "city"), hierarchies={"age": AGE}), seed=1)
    assert changed.frame["rows"].min() >= k  # type: ignore[operator]
    values: list[list[Any]] = [["f", "m"], ["1", "2", "3", None], list("xyz")]
    classes = list(product(*values))
    known, totals = [], []
    for column, label, other, other_label, n in changed.frame.rows():
        known.append([_is_in(one, column, label) and _is_in(one, other, other_label) for one in classes])
        totals.append(n)
    # A class that lies in no published cell of some column has nobody.
    limits = [(0, None) if _may_have_rows(one, changed.frame) else (0, 0) for one in classes]
    for index, limit in enumerate(limits):
        if limit == (0, 0):
            continue
        aim = -np.eye(len(classes))[index]
        found = linprog(aim, A_eq=np.array(known, float), b_eq=np.array(totals, float), bounds=limits)
        assert found.status == 0
        assert found.fun is not None
        assert -found.fun >= k - 1e-6


def _is_in(values: tuple[Any, ...], column: str | None, label: str | None) -> bool:
    if column is None:
        return True
    value = values[["sex", "age", "city"].index(column)]
    if label == "*":
        return True
    return value is not None and value in label.split("-") if column == "age" and label == "1-2" else value == label


def _may_have_rows(values: tuple[Any, ...], frame: pl.DataFrame) -> bool:
    tables = {(column, other) for column, _, other, _, _ in frame.rows()}
    return all(
        any(
            (column, other) == table and _is_in(values, column, label) and _is_in(values, other, other_label)
            for column, label, other, other_label, _ in frame.rows()
        )
        for table in tables
    )
