from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import ColumnMap
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.predictor import CountedNodes, LatticeCounts, LevelMaps

SEX = Hierarchy.of_levels("sex", [["m", "f"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["31", "35", "48"], ["30s", "30s", "40s"], ["*"] * 3])
LATTICE = Lattice.of([SEX, AGE])
PEOPLE = pl.DataFrame({"age": [31, 31, 35, 48, 48], "sex": ["m", "f", "m", "m", None], "illness": list("abcde")})


def test_counts_are_rolled_up_to_nodes_and_their_cost_is_added_up() -> None:
    counted = CountedNodes(LATTICE, count_classes(PEOPLE, ["age", "sex", "illness"]))
    assert counted.k((1, 1)) == 2
    assert counted.classes((1, 0)).to_frame().rows() == [("*", "31", 2), ("*", "35", 1), ("*", "48", 2)]
    assert counted.n_classes_counted == 2 + 3


def test_missing_value_is_a_class_of_its_own_until_the_top() -> None:
    count = LatticeCounts.of(LATTICE, count_classes(PEOPLE, ["age", "sex"])).classes
    assert count((0, 2)).to_frame().rows() == [("f", "*", 1), ("m", "*", 3), (None, "*", 1)]
    assert count((1, 2)).to_frame().rows() == [("*", "*", 5)]


def test_counter_may_give_k_alone() -> None:
    counted = CountedNodes(LATTICE, lambda node: 10 - sum(node))
    assert counted.k((1, 2)) == 7
    with pytest.raises(TypeError, match="not only its k"):
        counted.classes((0, 0))


def test_hierarchy_without_a_top_is_refused() -> None:
    open_ended = Hierarchy.of_levels("sex", [["m", "f"]])
    with pytest.raises(InputError, match=r"column sex.*one label"):
        CountedNodes(Lattice.of([open_ended]), lambda node: 1)


def test_table_without_rows_is_refused() -> None:
    with pytest.raises(InputError, match="a table with rows"):
        CountedNodes(LATTICE, count_classes(PEOPLE.clear(), ["age", "sex"])).k((0, 0))


LEAVES = ["a", "b", "ab", "é", "あ", "10"]


@given(
    st.lists(st.sampled_from(LEAVES) | st.none(), unique=True),
    st.lists(st.sampled_from("zyx"), min_size=6, max_size=6),
)
def test_level_maps_of_texts_are_those_of_the_recodings(values: list[str | None], labels: list[str]) -> None:
    hierarchy = Hierarchy.of_levels("a", [LEAVES, labels, ["*"] * 6])
    domain = pl.Series("a", values, pl.String).sort(nulls_last=True)
    maps = LevelMaps(hierarchy, domain)
    for level in range(3):
        plain = ColumnMap.of(domain, hierarchy.recoding(level))
        assert maps.at(level).codes.tolist() == plain.codes.tolist()
        assert maps.at(level).domain.to_list() == plain.domain.to_list()


def test_level_map_of_a_value_without_a_leaf_names_it() -> None:
    hierarchy = Hierarchy.of_levels("a", [LEAVES, ["*"] * 6])
    with pytest.raises(InputError, match="hierarchy"):
        LevelMaps(hierarchy, pl.Series(["c"])).at(1)
