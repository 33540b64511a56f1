from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tokumei.attacks.history import plain_attacks
from tokumei.attacks.history.plain_attacks import count_items, nearest_by_cosine, nearest_by_jaccard, weigh_by_rarity

N_ITEMS = 12
SETS = st.lists(st.frozensets(st.integers(0, N_ITEMS - 1), min_size=1), min_size=1, max_size=12)


def matrix(sets: list[frozenset[int]]) -> csr_array:
    dense = np.zeros((len(sets), N_ITEMS), np.float32)
    for row, items in enumerate(sets):
        dense[row, list(items)] = 1
    return csr_array(dense)


def plain_nearest(one: frozenset[int], others: list[frozenset[int]]) -> tuple[int, float]:
    likenesses = [len(one & other) / len(one | other) for other in others]
    best = max(range(len(others)), key=lambda number: (likenesses[number], -number))
    return (best, likenesses[best]) if likenesses[best] else (-1, 0)


@given(released=SETS, known=SETS)
def test_nearest_by_jaccard_is_what_plain_sets_give(
    released: list[frozenset[int]], known: list[frozenset[int]]
) -> None:
    best, how_like = nearest_by_jaccard(matrix(released), matrix(known))
    plain = [plain_nearest(one, known) for one in released]
    assert best.tolist() == [number for number, _ in plain]
    assert how_like.tolist() == pytest.approx([likeness for _, likeness in plain])


@given(known=SETS)
def test_nearest_by_jaccard_finds_every_set_in_itself(known: list[frozenset[int]]) -> None:
    best, how_like = nearest_by_jaccard(matrix(known), matrix(known))
    assert [known[number] for number in best] == known
    assert how_like.tolist() == [1] * len(known)


def test_nearest_by_jaccard_in_small_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    known, released = (
        [frozenset(rng.choice(N_ITEMS, rng.integers(1, 9), replace=False).tolist()) for _ in range(n)] for n in (30, 40)
    )
    best, how_like = nearest_by_jaccard(matrix(released), matrix(known))
    monkeypatch.setattr(plain_attacks, "BLOCK_CELLS", 100)
    again = nearest_by_jaccard(matrix(released), matrix(known))
    assert best.tolist() == again[0].tolist()
    assert how_like.tolist() == again[1].tolist()


def test_weigh_by_rarity_is_worked_out_by_hand() -> None:
    # Item 0 has two buyers of two, item 1 one: weights ln(2/2) + 1 = 1 and ln(2/1) + 1.
    counts = csr_array(np.array([[3.0, 1.0], [2.0, 0.0]], np.float32))
    expected = [[3 / 4, (np.log(2) + 1) / 4], [1, 0]]
    np.testing.assert_allclose(weigh_by_rarity(counts, counts).toarray(), expected, rtol=1e-6)


def test_nearest_by_cosine_takes_the_smallest_angle() -> None:
    known = csr_array(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], np.float32))
    released = csr_array(np.array([[5.0, 4.0, 0.0], [9.0, 1.0, 0.0], [0.0, 0.0, 2.0]], np.float32))
    best, how_like = nearest_by_cosine(released, known)
    assert best.tolist() == [1, 0, -1]
    assert how_like.tolist() == pytest.approx([9 / np.sqrt(2 * 41), 9 / np.sqrt(82), 0])


def test_count_items_cuts_released_items_to_what_is_known() -> None:
    known = pl.DataFrame({"customer": ["b", "a", "b"], "item": ["22", "84", "22"]})
    released = pl.DataFrame({"customer": ["P", "P"], "item": ["22728", "85123A"]})
    counts = count_items(known, released)
    assert counts.known_customers.to_list() == ["a", "b"]
    # The items are 22, 84 and 85.
    assert counts.known.toarray().tolist() == [[0, 1, 0], [2, 0, 0]]
    assert counts.released.toarray().tolist() == [[1, 0, 1]]
