"""The thesis's PAK: sample small nodes, start where the law says, stop or search on, keep table C."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import costly_cases

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.measures.losses import LOSSES
from tokumei.measures.requirement import SAFETY
from tokumei.methods.recipes import Goal
from tokumei.methods.search.predicted import Pak
from tokumei.methods.search.problem import Problem
from tokumei.methods.tables import decide

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
BANDS = Hierarchy.of_levels("age", [["31", "35", "42"], ["30s", "30s", "40s"], ["*"] * 3])
AGE = Hierarchy.of_levels("age", [list("123456"), list("AABBCC"), list("XXXXYY"), ["*"] * 6])
TOWN = Hierarchy.of_levels("町", [list("pqrstu"), list("aabbcd"), list("xxxyyy"), ["*"] * 6])
FIVE = [("f", "31"), ("f", "35"), ("m", "31"), ("m", "31"), ("f", "42")]
ROW = st.tuples(st.sampled_from("fm") | st.none(), st.sampled_from("123456"), st.sampled_from("pqrstu"))


def problem(rows: list[Any], hierarchies: list[Hierarchy], k: int, **options: Any) -> Problem:
    names = [one.attribute for one in hierarchies]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    asked = [SAFETY.make("k-anonymity", k=k)]
    return Problem(Lattice.of(hierarchies), count_classes(frame, names), asked, LOSSES.make("prec"), **options)


def test_pak_on_five_people_starts_at_three_classes_and_goes_coarser() -> None:
    five = problem(FIVE, [SEX, BANDS], 2)
    found = Pak(z=1).search(five)
    # (sex, *) for the law, (*, age) where it says, and then the one that holds, counted already.
    assert five.counted_nodes() == [(0, 2), (1, 0)]
    assert (found.judged.node, found.judged.k, found.is_proven) == ((0, 2), 2, False)
    assert five.n_classes_checked == 2 + 3


def test_pak_below_starts_at_no_more_classes_than_predicted() -> None:
    # The law through 10 people in one class and 3 men in the smaller of two reaches 2 at 3.77 classes.
    ten = [("f", "31")] * 7 + [("m", "31")] * 3
    starts = {}
    for is_below in (False, True):
        asked = problem(ten, [SEX, BANDS], 2)
        Pak(z=1, below=is_below).search(asked)
        starts[is_below] = asked.lattice.class_count(asked.counted_nodes()[1])
    assert starts == {False: 4, True: 3}


@settings(max_examples=costly_cases(80))
@given(st.lists(ROW, min_size=3, max_size=60), st.integers(1, 4), st.integers(1, 12), st.sampled_from([0.0, 0.2]))
def test_pak_that_goes_finer_finds_the_most_classes_that_hold(
    rows: list[Any], k: int, z: int, suppression: float
) -> None:
    every = problem(rows, [SEX, AGE, TOWN], k, suppression=suppression)
    holding = [every.lattice.class_count(node) for node in every.lattice if every.judge(node).holds]
    asked = problem(rows, [SEX, AGE, TOWN], k, suppression=suppression)
    if not holding:
        with pytest.raises(CannotAnonymize):
            Pak(z=z).search(asked)
        return
    stopped = Pak(z=z).search(asked)
    assert stopped.judged.holds
    best = Pak(z=z, finer=True).search(problem(rows, [SEX, AGE, TOWN], k, suppression=suppression))
    assert every.lattice.class_count(best.judged.node) == max(holding)


@settings(max_examples=30)
@given(st.lists(ROW, min_size=4, max_size=60), st.integers(2, 4))
def test_pak_that_stops_has_the_most_classes_up_to_where_it_started(rows: list[Any], k: int) -> None:
    asked = problem(rows, [SEX, AGE, TOWN], k)
    found = Pak(z=3).search(asked)
    count = asked.lattice.class_count
    start = max(count(node) for node in asked.counted_nodes()[3:] or [found.judged.node])
    holding = [count(node) for node in asked.lattice if count(node) <= start and asked.judge(node).holds]
    assert count(found.judged.node) == max(holding)


def test_table_of_counted_nodes_spares_the_next_run_its_sampling(tmp_path: Path) -> None:
    rows = [(sex, age, town) for sex in "fm" for age in "123456" for town in "pqrstu"] * 3
    file = tmp_path / "c.json"
    first = problem(rows, [SEX, AGE, TOWN], 9)
    found = Pak(table=str(file)).search(first)
    kept = json.loads(file.read_text())
    assert [one["classes"] for one in kept["nodes"]] == sorted(one["classes"] for one in kept["nodes"])
    assert len(kept["nodes"]) == first.n_nodes_checked
    again = problem(rows, [SEX, AGE, TOWN], 9)
    assert Pak(table=str(file)).search(again).judged.node == found.judged.node
    assert again.n_nodes_checked < first.n_nodes_checked - 5
    # Another k is searched without sampling, and what it counts is added.
    other = problem(rows, [SEX, AGE, TOWN], 40)
    Pak(table=str(file)).search(other)
    assert 0 < other.n_nodes_checked < 5
    assert len(json.loads(file.read_text())["nodes"]) >= len(kept["nodes"])


def test_table_of_another_day_costs_no_safety(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    Pak(table=str(file)).search(problem([("f", "31"), ("m", "31")] * 3, [SEX, BANDS], 2))
    # As many rows, and a woman alone: the table says that telling the sexes holds.
    found = Pak(table=str(file)).search(problem([("f", "31"), *[("m", "31")] * 5], [SEX, BANDS], 2))
    assert found.judged.k >= 2
    assert found.judged.node[0] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "in JSON"),
        ("[1]", "that 'pak' wrote"),
        ('{"kind": "tokumei counted nodes", "rows": 4, "labels": {}}', "the same rows, 5"),
        ('{"kind": "tokumei counted nodes", "rows": 5, "labels": {}}', "the same labels"),
    ],
)
def test_file_that_is_no_table_of_these_rows_is_refused_and_left_alone(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        Pak(table=str(file)).search(problem(FIVE, [SEX, BANDS], 2))
    assert file.read_text() == text


@pytest.mark.parametrize("nodes", ['[{"levels": {"sex": 7, "age": 0}, "k": 2}]', '[{"levels": {}, "k": 2}]', "[3]"])
def test_table_with_nodes_that_cannot_be_is_refused(tmp_path: Path, nodes: str) -> None:
    file = tmp_path / "c.json"
    made_for = '"kind": "tokumei counted nodes", "rows": 5, "labels": {"sex": [2, 1], "age": [3, 2, 1]}'
    file.write_text(f'{{{made_for}, "nodes": {nodes}}}')
    with pytest.raises(InputError, match="nodes with 'levels' and a 'k'"):
        Pak(table=str(file)).search(problem(FIVE, [SEX, BANDS], 2))


def test_pak_of_one_row_keeps_all_if_one_is_enough() -> None:
    assert Pak().search(problem([("f", "31")], [SEX, BANDS], 1)).judged.node == (0, 0)


def test_pak_prefers_the_attributes_that_are_preferred() -> None:
    rows = [(age, town) for age in "123456" for town in "pqrstu"]
    kept = {name: Pak().search(problem(rows, [AGE, TOWN], 6, preference=[name])).judged.node for name in ("age", "町")}
    assert kept["age"][0] < kept["age"][1]
    assert kept["町"][1] < kept["町"][0]


def test_no_node_to_sample_is_refused() -> None:
    with pytest.raises(InputError, match="1 node or more"):
        Pak(z=0)


@pytest.mark.parametrize("k", [2, 10, 999, 1000])
def test_flat_law_reaches_every_k_at_any_class_count_or_none(k: int) -> None:
    # k is 1,000 at every node but for rounding: a class count at which the law reaches 2 is beyond any float.
    same = pl.DataFrame({"sex": ["f"] * 1000, "town": ["Kyoto"] * 1000})
    trees = {
        "sex": Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]]),
        "town": Hierarchy.of_levels("town", [["Kyoto", "Nara"], ["*", "*"]]),
    }
    goal = Goal([SAFETY.make("k-anonymity", k=k)], method=Pak())
    assert decide(count_classes(same, list(trees)), trees, goal).levels == {"sex": 0, "town": 0}
