"""Cuts through value trees."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchy.cuts import Cut, all_cuts, n_cuts
from tokumei.hierarchy.hierarchy import Hierarchy

AGE = Hierarchy.of_levels("age", [["23", "27", "31", "38"], ["20s", "20s", "30s", "30s"], ["*"] * 4])
# 'other' is a value of one branch, the name of a group of another, and a repeated name in a third.
OTHER = Hierarchy.of_levels(
    "job",
    [
        ["nurse", "other", "clerk", "priest"],
        ["health", "health", "other", "church"],
        ["care", "care", "other", "church"],
    ],
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    columns = [["a", "b", "c", "d"][: draw(st.integers(1, 4))]]
    for _ in range(draw(st.integers(0, 3))):
        index = {label: number for number, label in enumerate(dict.fromkeys(columns[-1]))}
        labels = draw(st.lists(st.sampled_from("abuv"), min_size=len(index), max_size=len(index)))
        columns.append([labels[index[label]] for label in columns[-1]])
    return Hierarchy.of_levels("x", columns)


def level_choices(hierarchy: Hierarchy) -> set[tuple[int, ...]]:
    """Every choice of a level for each leaf in which leaves of one chosen label agree."""
    labels = [hierarchy.labels_at(level) for level in range(len(hierarchy.levels))]
    leaves = range(len(hierarchy.leaves))
    return {
        chosen
        for chosen in itertools.product(range(len(labels)), repeat=len(leaves))
        if all(
            chosen[other] == chosen[leaf]
            for leaf in leaves
            for other in leaves
            if labels[chosen[leaf]][other] == labels[chosen[leaf]][leaf]
        )
    }


def test_cut_of_labels_recodes_each_branch_at_its_own_depth() -> None:
    cut = Cut.of_labels(AGE, {(0, "23"), (0, "27"), (1, "30s")})
    assert cut.n_values == 3
    assert cut.labels == ((0, "23"), (0, "27"), (1, "30s"))
    assert cut.recoding().labels_of(pl.Series([38, 23, None])).to_list() == ["30s", "23", None]


def test_cut_at_level_is_the_level_itself() -> None:
    cut = Cut.at_level(AGE, 1)
    assert cut.recoding().labels.to_list() == AGE.recoding(1).labels.to_list()
    with pytest.raises(InputError, match="a level from 0 to 2"):
        Cut.at_level(AGE, 3)


def test_cut_of_labels_with_a_gap_names_the_leaf() -> None:
    with pytest.raises(InputError, match="found '27', expected a label for each leaf"):
        Cut.of_labels(AGE, {(0, "23"), (1, "30s")})


def test_cut_of_labels_that_overlap_names_the_leaf() -> None:
    with pytest.raises(InputError, match="found '31', expected one label for each leaf, not both '31' and '30s'"):
        Cut.of_labels(AGE, {(1, "20s"), (0, "31"), (1, "30s")})


def test_cut_of_an_unknown_label_is_refused() -> None:
    with pytest.raises(InputError, match="found '20s', expected a label of level 0"):
        Cut.of_labels(AGE, {(0, "20s")})


def test_cut_of_levels_that_split_a_label_names_the_leaf() -> None:
    with pytest.raises(InputError, match="found '27', expected level 1"):
        Cut(AGE, np.array([1, 0, 1, 1], np.int32))
    with pytest.raises(InputError, match="4 levels"):
        Cut(AGE, np.array([1, 1], np.int32))


def test_cut_of_crossing_levels_is_refused() -> None:
    crossing = Hierarchy.of_levels("x", [list("abc"), list("uuv"), list("pqq")])
    with pytest.raises(InputError):
        Cut.at_level(crossing, 0)
    with pytest.raises(InputError):
        n_cuts(crossing)


def test_refine_replaces_a_label_by_its_children_only() -> None:
    cut = Cut.at_level(AGE, 2).refine((2, "*")).refine((1, "20s"))
    assert cut.labels == ((0, "23"), (0, "27"), (1, "30s"))
    with pytest.raises(InputError, match="above the leaves"):
        cut.refine((0, "23"))
    with pytest.raises(InputError, match="a label of the cut"):
        cut.refine((1, "20s"))


def test_coarsen_replaces_all_below_the_parent() -> None:
    cut = Cut.of_labels(AGE, {(0, "23"), (0, "27"), (1, "30s")})
    assert cut.coarsen((0, "27")) == Cut.at_level(AGE, 1)
    assert cut.coarsen((1, "30s")) == Cut.at_level(AGE, 2)
    with pytest.raises(InputError, match="below the top"):
        Cut.at_level(AGE, 2).coarsen((2, "*"))


def test_cut_same_text_at_two_levels_is_kept_apart() -> None:
    cut = Cut.of_labels(OTHER, {(0, "nurse"), (0, "other"), (1, "other"), (2, "church")})
    assert cut.n_values == 4
    assert cut.recoding().labels.to_list() == ["nurse", "other (level 0)", "other (level 1)", "church"]
    assert cut.coarsen((0, "other")).labels == ((1, "health"), (1, "other"), (2, "church"))
    assert cut.coarsen((1, "other")).labels == ((0, "nurse"), (0, "other"), (2, "other"), (2, "church"))


def test_finer_or_equal_is_a_partial_order() -> None:
    left = Cut.of_labels(AGE, {(0, "23"), (0, "27"), (1, "30s")})
    right = Cut.of_labels(AGE, {(1, "20s"), (0, "31"), (0, "38")})
    assert left.is_finer_or_equal(left)
    assert left.is_finer_or_equal(Cut.at_level(AGE, 1))
    assert not Cut.at_level(AGE, 1).is_finer_or_equal(left)
    assert not left.is_finer_or_equal(right)
    assert not right.is_finer_or_equal(left)
    with pytest.raises(InputError, match="the same hierarchy"):
        left.is_finer_or_equal(Cut.at_level(OTHER, 0))


def test_n_cuts_worked_out_by_hand() -> None:
    # Each of the two decades stays or opens, and the top stays or opens: 1 + 2 × 2.
    assert n_cuts(AGE) == 5
    # The groups give 1 + 1, 1 + 1 and 1 + 1, the next level 1 + 2 each; no top joins the three.
    assert n_cuts(OTHER) == 27


def test_n_cuts_of_a_large_tree_is_exact_and_not_walked_through() -> None:
    leaves = [str(number) for number in range(200)]
    wide = Hierarchy.of_levels("x", [leaves, [str(number // 2) for number in range(200)], ["*"] * 200])
    assert n_cuts(wide) == 2**100 + 1
    with pytest.raises(InputError, match="at most 1,000,000 cuts"):
        next(all_cuts(wide))


@given(trees())
def test_all_cuts_are_those_found_by_trying_everything(hierarchy: Hierarchy) -> None:
    cuts = list(all_cuts(hierarchy))
    found = {tuple(cut.levels.tolist()) for cut in cuts}
    assert len(cuts) == len(set(cuts)) == n_cuts(hierarchy)
    assert found == level_choices(hierarchy)


@given(trees(), st.data())
def test_refined_and_coarsened_cuts_are_ordered(hierarchy: Hierarchy, data: st.DataObject) -> None:
    cut = data.draw(st.sampled_from(list(all_cuts(hierarchy))))
    label = data.draw(st.sampled_from(cut.labels))
    if label[0] > 0:
        finer = cut.refine(label)
        assert finer.is_finer_or_equal(cut)
        assert finer != cut
        child = next(found for found in finer.labels if found not in cut.labels)
        assert finer.coarsen(child) == cut
    if label[0] < hierarchy.height:
        assert cut.is_finer_or_equal(cut.coarsen(label))
    assert cut.recoding().labels.n_unique() == cut.n_values
