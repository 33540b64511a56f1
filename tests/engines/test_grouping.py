from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.engines.grouping import count_rows, group_recoded_rows, group_rows, radix_order

# Up to twelve columns of up to a million values: keys of 1 to 240 bits, so that every way of packing is met.
RADICES = st.lists(st.sampled_from([1, 2, 3, 70, 1000, 10**6]), min_size=0, max_size=12)


@given(RADICES, st.integers(0, 60), st.randoms(use_true_random=False))
def test_group_rows_agrees_with_a_dictionary(radices: list[int], n_rows: int, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    # Few different codes a column, so that equal rows are frequent.
    columns = [rng.choice(rng.integers(0, radix, 2), n_rows).astype(np.int32) for radix in radices]
    weights = rng.integers(1, 100, n_rows)
    grouping = group_rows(columns, radices, n_rows)

    rows = list(zip(*columns, strict=True)) if columns else [()] * n_rows
    plain: dict[tuple[int, ...], int] = {}
    for row, weight in zip(rows, weights, strict=True):
        plain[row] = plain.get(row, 0) + int(weight)
    assert len(grouping.a_row_of) == len(plain)
    assert {rows[r]: s for r, s in zip(grouping.a_row_of, grouping.sums(weights).tolist(), strict=True)} == plain
    assert grouping.least_sum(weights) == min(plain.values(), default=0)
    for group, row in zip(grouping.group_of, rows, strict=True):
        assert rows[grouping.a_row_of[group]] == row


def test_groups_are_numbered_in_the_order_of_their_codes() -> None:
    columns = [np.array([1, 0, 1, 0], np.int32), np.array([0, 5, 0, 2], np.int32)]
    for radices in ([2, 6], [2**31, 2**31]):
        grouping = group_rows(columns, radices, 4)
        assert [(columns[0][r], columns[1][r]) for r in grouping.a_row_of] == [(0, 2), (0, 5), (1, 0)]


@pytest.mark.parametrize("n_values", [4, 100_000])
def test_recoded_rows_group_like_rows_that_were_recoded_before(n_values: int) -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, n_values, 500).astype(np.int32) for _ in range(3)]
    code_map = rng.integers(0, 3, n_values).astype(np.int32)
    fast = group_recoded_rows(columns, [code_map, None, code_map], [3, n_values, 3], 500)
    plain = group_rows([code_map[columns[0]], columns[1], code_map[columns[2]]], [3, n_values, 3], 500)
    assert fast.group_of.tolist() == plain.group_of.tolist()


@pytest.mark.parametrize("most", [1, 3, 70_000, 1 << 40])
def test_radix_order_equals_sorting_by_the_last_first(most: int) -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, most, 500), rng.integers(0, 5, 500) * 20_000, rng.integers(0, 3, 500)]
    assert radix_order(columns).tolist() == np.lexsort(columns).tolist()


def test_radix_order_of_equal_or_no_rows_leaves_them() -> None:
    assert radix_order([np.zeros(3, np.int64)]).tolist() == [0, 1, 2]
    assert radix_order([np.zeros(0, np.int64)]).tolist() == []


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_radix_order_sorts(dtype: type) -> None:
    rng = np.random.default_rng(2)
    word: Any = rng.integers(0, 2**32 - 1, 1000).astype(dtype)
    assert (word[radix_order([word])] == np.sort(word)).all()


@given(RADICES, st.integers(0, 60), st.randoms(use_true_random=False))
def test_counted_rows_are_the_groups_of_the_same_rows(radices: list[int], n_rows: int, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    columns = [rng.choice(rng.integers(0, radix, 2), n_rows).astype(np.int32) for radix in radices]
    codes, sizes = count_rows(columns, radices, n_rows)
    grouping = group_rows(columns, radices, n_rows)
    assert codes.tolist() == [column[grouping.a_row_of].tolist() for column in columns]
    assert sizes.tolist() == grouping.sums(np.ones(n_rows, np.int64)).tolist()
