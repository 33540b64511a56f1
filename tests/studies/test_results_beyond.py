"""What the studies beyond the papers choose by, worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei_studies.results.adult_losses import judge_all, least_loss
from tokumei_studies.results.attacks_by_knowledge import Tried, winners

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["31", "35", "42"], ["30s", "30s", "40s"], ["*"] * 3])


def test_winners_are_ordered_by_what_they_find_and_then_by_name() -> None:
    tried = [Tried("r", "s2", 25, 0.1), Tried("r", "s1", 25, 0.1), Tried("r", "s3", 25, 0.5), Tried("r", "s4", 50, 0.9)]
    assert [one.attack for one in winners(tried, "r", 25)] == ["s3", "s1", "s2"]


def test_least_loss_is_of_the_nodes_that_hold() -> None:
    people = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "age": ["31", "35", "31", "35", "42"]})
    lattice = Lattice.of([SEX, AGE])
    nodes = judge_all(lattice, count_classes(people, ["sex", "age"]))
    assert {name: len(judged) for name, judged in nodes.items()} == dict.fromkeys(nodes, 6)
    # At k = 2 without the age (two and three people): level 0 of 1 and 2 of 2, on average a half.
    assert least_loss(nodes["prec"], 2) == pytest.approx(1 / 2)
    # That node has the squares 4 + 9; to leave out the sex as well gives 25.
    assert least_loss(nodes["discernibility"], 2) == 13
    assert least_loss(nodes["discernibility"], 3) == 25
    # Ages, as numbers, cover everything; the two sexes nothing.
    assert least_loss(nodes["ncp"], 2) == pytest.approx(1 / 2)
