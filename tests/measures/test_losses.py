"""Each loss on a table of four people, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.people import JapanAge
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.cell_losses import Dis, Entropy, Ncp, Prec, Price
from tokumei.measures.losses import LOSSES, Attribute, AverageClassSize, Discernibility, is_cell_loss, loss_score

# Ages 20, 21, 35 with 1, 1 and 2 people; nobody's age is missing.
AGE = Attribute(
    Hierarchy.of_levels("age", [["20", "21", "35"], ["20s", "20s", "30s"], ["*", "*", "*"]]), np.array([1, 1, 2, 0])
)
# The same with one more person whose age is missing.
GAP = Attribute(AGE.hierarchy, np.array([1, 1, 2, 1]))


def test_prec_is_the_level_over_the_height() -> None:
    assert [Prec().level_cost(AGE, level).rise for level in range(3)] == [0, 0.5, 1]
    assert Prec().level_cost(AGE, 1).rest.tolist() == [0.5, 0.5, 0.5]


def test_dis_is_the_height_of_labels_over_that_of_the_tree() -> None:
    # 35 stands alone as 30s, no higher than it was. 20s is one of two steps up.
    assert Dis().level_cost(AGE, 1).rise == (1 + 1 + 0 + 0) / 2 / 4
    assert Dis().level_cost(AGE, 1).rest.tolist() == [0.5, 1, 1]
    assert Dis().level_cost(AGE, 2).rise == 1


def test_dis_of_levels_that_cross_counts_the_labels_within_each_other() -> None:
    bands = JapanAge((9, 5, 3)).build("age", pl.Series(["5", "25", "35", "65"]))
    leaves = np.isin(bands.leaves, ["5", "25", "35", "65"]).astype(np.int64)
    people = Attribute(bands, np.append(leaves, 0))
    # 5 < 0s < minor < 0-29 < *: four steps, of which 60s and 30s are the first, senior and 60+ alike the second.
    heights = [[0, 0, 0, 0], [1, 1, 1, 1], [3, 3, 1, 2], [2, 2, 2, 2], [4, 4, 4, 4]]
    assert [Dis().level_cost(people, level).rise for level in range(5)] == [sum(one) / 4 / 4 for one in heights]


@pytest.mark.parametrize("labels", [["*", "*"], ["only", "*"], ["*"]])
def test_dis_of_all_at_the_top_is_1_wherever_labels_repeat(labels: list[str]) -> None:
    for leaves in (["a"], ["a", "b", "c"]):
        tree = Hierarchy.of_levels("q", [leaves, *([label] * len(leaves) for label in labels)])
        attribute = Attribute(tree, np.array([2] * len(leaves) + [1]))
        top = Dis().level_cost(attribute, tree.height)
        assert (top.rise, top.rest.tolist()) == (1, [0])


def test_ncp_of_categories_is_the_share_of_leaves_covered() -> None:
    assert Ncp().level_cost(AGE, 0).rise == 0
    assert Ncp().level_cost(AGE, 1).rise == pytest.approx((2 / 3 + 2 / 3 + 0 + 0) / 4)
    assert Ncp().level_cost(AGE, 2).rise == 1


def test_ncp_of_numbers_is_the_share_of_the_width_covered() -> None:
    numeric = Attribute(AGE.hierarchy, AGE.leaf_sizes, is_numeric=True)
    assert Ncp().level_cost(numeric, 1).rise == pytest.approx((1 / 15 + 1 / 15 + 0 + 0) / 4)
    assert Ncp().level_cost(numeric, 2).rise == 1


def test_ncp_of_one_leaf_is_0_until_a_label_says_nothing() -> None:
    for is_numeric in (False, True):
        one = Attribute(Hierarchy.of_levels("age", [["7"], ["odd"], ["*"]]), np.array([3, 0]), is_numeric)
        assert [Ncp().level_cost(one, level).rise for level in range(3)] == [0, 0, 1]


def test_entropy_is_the_share_of_bits_gone() -> None:
    # The ages tell 2, 2, 1 and 1 bits, 1.5 on average; the bands tell 1 bit each.
    assert Entropy().level_cost(AGE, 1).rise == pytest.approx(1 - 1 / 1.5)
    assert Entropy().level_cost(AGE, 1).rest.tolist()[:2] == pytest.approx([1 / 1.5, 1 / 1.5])
    assert Entropy().level_cost(AGE, 2).rise == 1


@pytest.mark.parametrize("loss", [Prec(), Dis(), Ncp(), Entropy()], ids=lambda loss: loss.name)
def test_missing_value_costs_nothing_until_it_stands_with_all(loss: Prec | Dis | Ncp | Entropy) -> None:
    fine, top = loss.level_cost(GAP, 0), loss.level_cost(GAP, 2)
    assert (fine.rise, top.rise) == (0, 1)
    assert len(fine.rest) == 4
    assert top.rest.tolist() == [0]


def test_discernibility_counts_whom_each_record_cannot_be_told_from() -> None:
    loss = Discernibility()
    sizes = np.array([3, 2, 1])
    assert loss.rise(sizes, 6) == 9 + 4 + 1
    # Suppressing the class of one: 9 + 4 + 6.
    assert loss.rise(sizes, 6) + loss.penalty(sizes[:2], sizes[2:], 6) == 9 + 4 + 6
    assert loss.ends(6) == (6, 36)


def test_average_class_size_counts_the_suppressed_as_one_class() -> None:
    loss = AverageClassSize()
    sizes = np.array([3, 1, 1, 1])
    assert loss.rise(sizes, 6) == 1.5
    assert loss.rise(sizes, 6) + loss.penalty(sizes[:1], sizes[1:], 6) == 3


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.csv"
    file.write_text("attribute,label,price\nage,20,4\nage,21,4\nage,35,1\nage,20s,2\nage,30s,1\n")
    return file


def test_price_is_the_share_of_the_price_gone(prices: Path) -> None:
    loss = Price(str(prices))
    assert loss.weight(AGE) == 4 + 4 + 1 + 1
    assert loss.level_cost(AGE, 1).rise == pytest.approx(1 - (2 + 2 + 1 + 1) / 10)
    # Per person an age fetches 2.5 on average.
    assert loss.level_cost(AGE, 1).rest.tolist()[:2] == pytest.approx([2 / 2.5, 1 / 2.5])
    assert loss.level_cost(AGE, 2).rise == 1


def test_price_of_a_label_above_those_under_it_is_a_gain(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("attribute,label,price\nage,20,4\nage,21,4\nage,35,1\nage,20s,1\nage,30s,1\nage,*,3\n")
    # 4 + 4 + 1 + 1 = 10 become 1 + 1 + 1 + 1, and then 3 each; with a missing value 5 times 3.
    assert [Price(str(file)).level_cost(AGE, level).rise for level in range(3)] == pytest.approx([0, 0.6, -0.2])
    assert Price(str(file)).level_cost(GAP, 2).rise == pytest.approx(-0.5)
    assert loss_score(Price(str(file)), -0.2, 4).value == -0.2


def test_prices_of_labels_alone_have_nothing_to_be_compared_with(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("attribute,label,price\nage,20s,2\n")
    with pytest.raises(InputError, match="column age: found 'none', expected a price above 0 for a value that occurs"):
        Price(str(file)).level_cost(AGE, 1)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "price"])
def test_rise_never_falls_and_ends_are_kept(name: str) -> None:
    loss = LOSSES.make(name)
    if is_cell_loss(loss):
        for attribute in (AGE, GAP):
            costs = [loss.level_cost(attribute, level) for level in range(3)]  # type: ignore[union-attr]
            rises = [cost.rise for cost in costs]
            assert rises == sorted(rises)
            assert 0 <= rises[0] <= rises[-1] <= 1
            assert all((cost.rest >= 0).all() for cost in costs)
    else:
        fine, coarse = np.array([1, 1, 2]), np.array([2, 2])
        assert loss.rise(fine, 4) <= loss.rise(coarse, 4)  # type: ignore[union-attr]
        assert loss.least_rise(np.array([3.0]), 4)[0] <= loss.rise(fine, 4)  # type: ignore[union-attr]


def test_loss_score_has_the_ends_of_its_loss() -> None:
    assert loss_score(Prec(), 0.5, 10).worst == 1
    score = loss_score(Discernibility(), 50, 10)
    assert (score.best, score.worst) == (10, 100)
    assert not math.isnan(loss_score(Discernibility(), 1, 1).value)


@pytest.mark.parametrize("leaf", ["Kyoto", "1e300"])
def test_ncp_of_a_numeric_column_names_a_leaf_that_is_no_number(leaf: str) -> None:
    attribute = Attribute(Hierarchy.of_levels("age", [["3", leaf], ["*", "*"]]), np.array([1, 1, 0]), True)
    with pytest.raises(InputError, match=f"column age: found '{leaf}', expected a number of at most"):
        Ncp().level_cost(attribute, 0)
