from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.engines import item_sets
from tokumei.engines.item_sets import Matrix, count_combinations, fewest_sharing

# Customers by the places of their items: a b c, a b, a c, d.
SETS = [{0, 1, 2}, {0, 1}, {0, 2}, {3}]
# The first two share secret 0, the first also has secret 1.
SECRETS = [{0, 1}, {0}, set(), {1}]

Counted = dict[tuple[int, ...], tuple[int, int, int]]


def matrix(sets: list[set[int]], n_columns: int) -> Matrix:
    rows = np.zeros((len(sets), n_columns))
    for row, items in enumerate(sets):
        rows[row, list(items)] = 1
    return sparse.csr_array(rows)


def counted(sets: list[set[int]], size: int, secrets: list[set[int]] | None = None) -> Counted:
    found: Counted = {}
    others = None if secrets is None else matrix(secrets, 2)
    for block in count_combinations(matrix(sets, 4), size, others):
        numbers = zip(block.n_buyers.tolist(), block.n_alike.tolist(), block.secret.tolist(), strict=True)
        for items, one in zip(block.items.tolist(), numbers, strict=True):
            assert tuple(sorted(items)) not in found
            found[tuple(sorted(items))] = one
    return found


def plainly_counted(sets: list[set[int]], size: int, secrets: list[set[int]]) -> Counted:
    found: Counted = {}
    for items in itertools.combinations(range(4), size):
        buyers = [row for row, theirs in enumerate(sets) if theirs >= set(items)]
        if buyers:
            alike = [sum(secret in secrets[row] for row in buyers) for secret in range(2)]
            found[items] = (len(buyers), max(alike), alike.index(max(alike)))
    return found


def test_combinations_that_occur_are_counted_with_who_shares_a_secret() -> None:
    assert counted(SETS, 1, SECRETS) == {(0,): (3, 2, 0), (1,): (2, 2, 0), (2,): (2, 1, 0), (3,): (1, 1, 1)}
    assert counted(SETS, 2, SECRETS) == {(0, 1): (2, 2, 0), (0, 2): (2, 1, 0), (1, 2): (1, 1, 0)}
    assert counted(SETS, 3, SECRETS) == {(0, 1, 2): (1, 1, 0)}
    assert counted(SETS, 2) == {(0, 1): (2, 0, 0), (0, 2): (2, 0, 0), (1, 2): (1, 0, 0)}


def test_fewest_who_share_a_combination_are_counted() -> None:
    assert fewest_sharing(matrix(SETS, 4), 1) == 1
    assert fewest_sharing(matrix(SETS[:3], 4), 1) == 2
    assert fewest_sharing(matrix(SETS[:3], 4), 2) == 1
    assert fewest_sharing(matrix(SETS[1:2] * 3, 4), 3) == 3
    assert fewest_sharing(matrix([], 4), 3) == 0
    assert fewest_sharing(matrix([set()], 4), 3) == 0


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 1))), max_size=8),
    st.integers(1, 3),
    st.sampled_from([1, 3, 10_000]),
)
def test_combinations_are_those_of_the_plain_definition(
    customers: list[tuple[set[int], set[int]]], size: int, block: int
) -> None:
    sets, secrets = [items for items, _ in customers], [theirs for _, theirs in customers]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_sets, "BLOCK_OCCURRENCES", block)
        assert counted(sets, size, secrets) == plainly_counted(sets, size, secrets)


def test_combinations_beyond_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_sets, "MOST_OCCURRENCES", 4)
    # Three pairs of the first customer, one each of the next two.
    with pytest.raises(
        InputError, match=r"found '5', expected customers who together have at most 4 combinations of 2"
    ):
        counted(SETS, 2)
    with pytest.raises(InputError, match="combinations of 1 to 3 items"):
        counted(SETS, 4)
