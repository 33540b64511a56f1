from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measures.pairs import table

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.table.spread import SpreadColumn, pair_counts, spread_columns

LABELS = {"20": [20], "22": [22], "20-22": [20, 22], "*": [20, 22, 26], "26": [26], "30": [30]}


def column(original: list[int | None], released: list[str | None]) -> SpreadColumn:
    (found,) = spread_columns(table({"age": original}), table({"age": released}), {}, [])
    return found


def test_weights_spread_each_label_over_its_numbers() -> None:
    found = column([20, 22, 26, None], ["20-22", "20-22", "*", None])
    assert found.numbers.tolist() == [20, 22, 26]
    assert found.weights(found.original).tolist() == [1, 1, 1]
    assert found.weights(found.released) == pytest.approx([4 / 3, 4 / 3, 1 / 3])


def test_moments_are_those_of_the_numbers_a_label_stands_for() -> None:
    found = column([20, 22, 26], ["20-22", "26", None])
    means, variances = found.moments(found.released)
    by_row = means[found.released.codes]
    assert by_row[:2].tolist() == [21, 26]
    assert np.isnan(by_row[2])
    assert variances[found.released.codes][:2].tolist() == [1, 0]


def test_shares_of_a_label_add_up_to_one() -> None:
    found = column([20, 22, 26, None], ["*", "20", "20-22", None])
    shares = found.released.shares(*found.bins)[found.released.codes]
    third = pytest.approx(1 / 3)
    assert shares.tolist() == [[third, third, third, 0], [1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [0, 0, 0, 1]]


def test_number_outside_the_hierarchy_is_taken_as_it_is_where_all_are_numbers() -> None:
    tree = Hierarchy.of_levels("age", [["20", "22"], ["*", "*"]])
    original, released = table({"age": [20, 22]}), table({"age": [20.5, 22.0]})
    (found,) = spread_columns(original, released, {"age": tree}, [])
    assert found.numbers.tolist() == [20, 20.5, 22]


def test_pair_counts_are_in_order() -> None:
    one, other, counts = pair_counts(np.array([1, 0, 1, 0]), np.array([2, 0, 2, 1]), 3)
    assert (one.tolist(), other.tolist(), counts.tolist()) == ([0, 0, 1], [0, 1, 2], [1, 1, 2])


def test_table_without_rows_is_refused() -> None:
    with pytest.raises(InputError, match="a row or more"):
        spread_columns(table({"age": [20]}), table({"age": []}), {}, [])


@given(st.lists(st.sampled_from(list(LABELS)), min_size=1, max_size=12))
def test_weights_and_moments_equal_plain_loops(labels: list[str]) -> None:
    (found,) = spread_columns(table({"age": [20, 22, 26]}), table({"age": labels}), {}, [])
    numbers = found.numbers.tolist()
    weights = dict.fromkeys(numbers, 0.0)
    # A number that is released and not in the original is a leaf as well, which * covers.
    meaning = LABELS | {"*": numbers}
    for label in labels:
        for number in meaning[label]:
            weights[number] += 1 / len(meaning[label])
    assert found.weights(found.released) == pytest.approx(list(weights.values()))
    means, variances = found.moments(found.released)
    assert means[found.released.codes] == pytest.approx([np.mean(meaning[label]) for label in labels])
    assert variances[found.released.codes] == pytest.approx([np.var(meaning[label]) for label in labels], abs=1e-9)
