"""Wider labels: cells of a grid and nodes of a hierarchy, and that no label ever says less than it covered."""

from __future__ import annotations

import random
from fractions import Fraction

import polars as pl
import pytest

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import Vocabulary
from tokumei.methods.label_ladders import GridLadder, Ladder, TreeLadder, label_cost

TENS = GridLadder([Fraction(n) for n in range(20, 100, 10)], [Fraction(n) for n in range(30, 110, 10)], is_whole=True)
HALVES = GridLadder(
    [Fraction(n, 2) for n in range(8)], [Fraction(n, 2) for n in range(1, 9)], is_whole=False
)  # 0 to 4 by 0.5
TOWNS = Hierarchy.of_levels(
    "town", [["Kyoto", "Osaka", "Tokyo", "Chiba"], ["west", "west", "east", "east"], ["Japan"] * 4, ["*"] * 4]
)


@pytest.mark.parametrize(
    ("labels", "covered"),
    [
        (["31-45"], "30-49"),
        (["30-49"], "30-49"),
        (["31"], "31"),
        (["31", "31-45"], "30-49"),
        (["31-45", "50-58"], "30-59"),
        (["[31, 50)"], "30-49"),
        ([None], None),
        ([None, "31"], "*"),
        (["*", "31"], "*"),
        (["<30", "31"], "*"),
    ],
)
def test_least_cells_that_cover_labels(labels: list[str | None], covered: str | None) -> None:
    assert TENS.cover(labels) == covered


def test_decimals_end_where_a_cell_ends() -> None:
    assert HALVES.cover(["[0.7, 1.5]"]) == "[0.5, 2)"
    assert HALVES.cover(["[0.5, 1.5)"]) == "[0.5, 1.5)"


def test_wider_ranges_are_twice_as_many_cells_side_by_side() -> None:
    steps, label = [], "31"
    while label != "*":
        label = str(TENS.wider(label))
        steps.append(label)
    # Cells of ten from 20, then two of them, four, and all eight.
    assert steps == ["30-39", "20-39", "20-59", "20-99", "*"]


def test_tree_covers_by_the_finest_node() -> None:
    tree = TreeLadder(Vocabulary(TOWNS))
    assert tree.cover(["Kyoto", "Osaka"]) == "west"
    assert tree.cover(["{Kyoto;Osaka}"]) == "west"
    assert tree.cover(["Kyoto", "east"]) == "Japan"
    assert tree.cover(["Kyoto"]) == "Kyoto"
    assert tree.cover(["Kyoto", None]) == "*"
    assert [tree.wider(one) for one in ("Kyoto", "west", "Japan", "*", None)] == ["west", "Japan", "*", "*", "*"]
    assert tree.cover_costs("Kyoto", ["Kyoto", "Osaka", "east", "*"]).tolist() == [0, 0.5, 1, 1]


def test_column_without_a_hierarchy_has_the_value_or_nothing() -> None:
    flat = TreeLadder(Vocabulary.of("sex", [pl.Series(["f", "m"])], is_numeric=False))
    assert (flat.cover(["f", "m"]), flat.wider("f"), flat.cover(["f", "f"])) == ("*", "*", "f")


def test_grid_of_labels_alone_keeps_rows_and_holds_all_ends() -> None:
    grid = GridLadder.of_labels("age", ["17-23", "24-39", "40", "41-90", None], [5, 5, 2, 5, 1], k=2, n_columns=1)
    for label in ("17-23", "24-39", "40", "41-90", "17-90"):
        assert grid.cover([label]) not in (None, "*")
    # Whatever stands in a cell, it is one of several values.
    assert all(end - start >= 2 for start, end in zip(grid.starts, grid.ends, strict=True))


@pytest.mark.parametrize("seed", range(60))
def test_covering_and_widening_never_lose_a_value(seed: int) -> None:
    rng = random.Random(seed)
    if seed % 2:
        values = sorted(rng.sample(range(-40, 200), rng.randint(4, 40)))
        scale = rng.choice([1, 10])
        numbers = [Fraction(one, scale) for one in values]
        texts = [str(one // scale) if scale == 1 else f"{float(one) / scale:.1f}" for one in values]
        vocabulary = Vocabulary.of("x", [pl.Series(texts)], is_numeric=True)
        labels: list[str | None] = [*texts]
        for _ in range(6):
            low, high = sorted(rng.sample(range(len(texts)), 2))
            join = f"{texts[low]}..{texts[high]}" if scale == 1 else f"[{texts[low]}, {texts[high]}]"
            labels.append(join)
        ladder: Ladder = GridLadder.of_labels("x", labels, [2] * len(labels), k=2, n_columns=2)
        assert len(numbers) == len(texts)
    else:
        vocabulary = Vocabulary(TOWNS)
        labels = ["Kyoto", "Osaka", "Tokyo", "Chiba", "west", "east", "{Kyoto;Tokyo}", "*", None]
        ladder = TreeLadder(vocabulary)
    for _ in range(20):
        chosen = rng.sample(labels, rng.randint(1, 3))
        covered = ladder.cover(chosen)
        assert _held(vocabulary, chosen) <= _held(vocabulary, [covered])
        wider = ladder.wider(covered)
        assert _held(vocabulary, [covered]) <= _held(vocabulary, [wider])
        assert label_cost(vocabulary, wider) >= label_cost(vocabulary, covered) - 1e-12
        # What is public stays as it is, so that nobody can tell what was changed by doing it again.
        if len(chosen) > 1 or covered not in chosen:
            assert ladder.cover([covered]) == covered


def _held(vocabulary: Vocabulary, labels: list[str | None]) -> set[int]:
    sets = vocabulary.leaf_sets(labels)
    return {
        index for first, end in zip(sets.first.tolist(), sets.end.tolist(), strict=True) for index in range(first, end)
    }
