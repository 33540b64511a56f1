from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY
from tokumei.methods.local.cell_levels import CellLevels
from tokumei.methods.local.encoding import encode_rows
from tokumei.methods.local.mu_argus import MuArgus, RareCombinations, recode_branches, suppress_rare
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowRelease, release_rows

AGE = Hierarchy.of_levels("age", [["31", "35", "42", "44"], ["30s", "30s", "40s", "40s"], ["*"] * 4])
CITY = Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo", "Chiba"], ["west", "west", "east", "east"], ["*"] * 4])
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
PEOPLE = pl.DataFrame({"age": [31, 35, 42, 42, 42, 42, 44], "city": ["Tokyo"] * 5 + ["Kyoto"] * 2})


def made(people: pl.DataFrame, *, n_way: int = 3, k: int = 2, **options: Any) -> RowRelease:
    goal = Goal([SAFETY.make("k-anonymity", k=k)], method=MuArgus(n_way), **options)
    trees = {one.attribute: one for one in (AGE, CITY, SEX) if one.attribute in people.columns}
    return release_rows(people, people.columns, trees, goal)


def test_branch_is_recoded_where_cheaper_and_cells_are_suppressed_elsewhere() -> None:
    # The example of the catalogue.
    found = made(PEOPLE)
    assert found.release.frame.rows() == [
        ("30s", "Tokyo"),
        ("30s", "Tokyo"),
        ("42", "Tokyo"),
        ("42", "Tokyo"),
        ("42", "Tokyo"),
        ("*", "Kyoto"),
        ("*", "Kyoto"),
    ]
    assert found.loss is not None
    assert found.loss.value == pytest.approx((2 * 2 / 4 + 2) / 7 / 2)


def test_row_without_a_cell_left_is_left_out_or_joined_by_those_with_least_to_lose() -> None:
    one_from_kyoto = PEOPLE[:6]
    found = made(one_from_kyoto, suppression=0.2)
    assert found.release.frame.rows() == [("30s", "Tokyo")] * 2 + [("42", "Tokyo")] * 3
    assert found.n_suppressed == 1
    # The two in their thirties have less to lose than the three of 42.
    found = made(one_from_kyoto)
    assert found.release.frame.rows() == [("*", "*")] * 2 + [("42", "Tokyo")] * 3 + [("*", "*")]


def test_step_that_does_not_help_is_taken_back() -> None:
    # West would be as rare as Kyoto, so its cell is suppressed; and then the two of 42 are alike again.
    people = pl.DataFrame({"age": [42] * 4, "city": ["Tokyo", "Tokyo", "Chiba", "Kyoto"]})
    found = made(people, n_way=1, weights={"city": 1.0})
    assert found.release.frame.rows() == [("42", "Tokyo"), ("42", "Tokyo"), ("42", "*"), ("42", "*")]


def test_rows_alone_in_all_columns_are_changed_though_every_pair_is_frequent() -> None:
    # Each pair of values stands in two rows, each row alone: what looking at pairs does not see.
    people = pl.DataFrame(
        {
            "age": [31, 31, 31, 31, 44, 44, 44, 44],
            "city": ["Tokyo", "Tokyo", "Kyoto", "Kyoto"] * 2,
            "sex": ["f", "m"] * 4,
        }
    )
    task = encode_rows(people, {"age": AGE, "city": CITY, "sex": SEX}, [SAFETY.make("k-anonymity", k=2)]).task
    cells = CellLevels.of(task)
    rare = RareCombinations(cells, 2)
    rare.count()
    assert not rare.is_rare.any()
    found = made(people, n_way=2)
    assert found.counts is not None
    assert found.counts.k >= 2
    # One column gone for all is the least that can be lost; sex has no step between.
    assert found.loss is not None
    assert found.loss.value == pytest.approx(1 / 3)


ROW = st.tuples(
    st.sampled_from(["31", "35", "42", "44"]) | st.none(),
    st.sampled_from(["Kyoto", "Osaka", "Tokyo", "Chiba"]) | st.none(),
    st.sampled_from("fm"),
)


@pytest.mark.slow
@settings(max_examples=cases(80))
@given(st.lists(ROW, min_size=1, max_size=25), st.sampled_from([1, 2, 3]), st.sampled_from([2, 3]))
def test_no_combination_of_told_values_is_rare_after_the_first_phase(rows: list[Any], n_way: int, k: int) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(["age", "city", "sex"], pl.String), orient="row")
    encoded = encode_rows(frame, {"age": AGE, "city": CITY, "sex": SEX}, [SAFETY.make("k-anonymity", k=k)])
    cells = CellLevels.of(encoded.task)
    rare = RareCombinations(cells, n_way)
    recode_branches(rare)
    # Nothing was suppressed so far, and equal values have equal labels.
    for tree, nodes in zip(cells.trees, cells.nodes, strict=True):
        assert not (nodes == tree.nothing).any()
        pairs = set(zip(tree.attribute.leaf_of.tolist(), nodes.tolist(), strict=True))
        assert len(pairs) == len(set(tree.attribute.leaf_of.tolist()))
    suppress_rare(rare)
    recoding = cells.recoding(np.zeros(encoded.task.n_classes, np.bool_))
    labels = pl.DataFrame(
        {
            name: [cells_of.labels[code] for code in cells_of.codes[encoded.class_of]]
            for name, cells_of in zip(frame.columns, recoding.cells, strict=True)
        },
        schema=dict.fromkeys(frame.columns, pl.String),
    )
    for columns in rare.combinations:
        names = [frame.columns[index] for index in columns]
        told = labels.select(names).filter(pl.all_horizontal(pl.col(names).ne_missing("*")))
        assert all(n >= k for n in told.group_by(names).len()["len"])


def test_number_of_columns_must_be_positive() -> None:
    with pytest.raises(InputError, match="at least 1"):
        MuArgus(0)


def test_combinations_too_many_to_list_are_refused_at_once() -> None:
    names = [str(index) for index in range(40)]
    people = pl.DataFrame({name: ["a", "a"] for name in names})
    goal = Goal([SAFETY.make("k-anonymity", k=2)], method=MuArgus(n_way=20))
    with pytest.raises(InputError, match="combinations of fewer columns: 618,679,078,297 of them"):
        release_rows(people, names, {}, goal)
