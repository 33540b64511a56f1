"""Numbers that change places within blocks of ranks, in memory; tests/tasks/test_draws_on_engines.py has engines."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.seeds import generator
from tokumei.methods.perturbing.masking import BlockSwap, ranks_in_blocks
from tokumei.methods.perturbing.perturbation import Original


def test_five_incomes_change_places_in_one_of_two_ways() -> None:
    frame = pl.DataFrame({"income": ["100", "120", "300", "320", "900"]})
    ways = Counter[tuple[str, ...]]()
    for seed in range(200):
        changed = BlockSwap(p=20).perturb(Original(frame, ("income",), ("income",)), seed=seed)
        assert changed.rows is not None
        ways[tuple(changed.frame[changed.rows.arg_sort()]["income"])] += 1
    # The two places of the first border are as likely: five standard deviations of 200 fair coins are 35.
    assert set(ways) == {("120", "100", "320", "300", "900"), ("100", "300", "120", "900", "320")}
    assert all(abs(n - 100) < 36 for n in ways.values())


@given(st.integers(0, 40), st.integers(1, 45), st.integers(0, 1_000))
def test_ranks_are_paired_within_blocks(n: int, window: int, seed: int) -> None:
    partner = paired(n, window, seed)
    np.testing.assert_array_equal(partner[partner], np.arange(n))
    assert (np.abs(partner - np.arange(n)) <= window).all()
    # By the definition: for some place of the first border no pair crosses one, and at most one of each block stays.
    assert any(are_blocks(partner.tolist(), window, shift) for shift in range(window + 1))


def paired(n: int, window: int, seed: int) -> npt.NDArray[np.int64]:
    random = generator(seed)
    return ranks_in_blocks(window, int(random.integers(window + 1)), random.random(n))


def are_blocks(partner: list[int], window: int, shift: int) -> bool:
    block = [(rank + shift) // (window + 1) for rank in range(len(partner))]
    stayed = Counter(block[rank] for rank, other in enumerate(partner) if rank == other)
    sizes = Counter(block)
    return all(block[rank] == block[other] for rank, other in enumerate(partner)) and all(
        stayed[one] == size % 2 for one, size in sizes.items()
    )


def test_pairs_of_a_block_are_as_likely() -> None:
    pairings = Counter(tuple(paired(4, 3, seed)) for seed in range(4_000))
    whole = [(1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)]
    # One place of the border in four leaves four ranks together, in three pairings; another halves them into the first.
    expected = [4_000 * (1 / 12 + 1 / 4), 4_000 / 12, 4_000 / 12]
    assert all(abs(pairings[one] - n) < 5 * n**0.5 for one, n in zip(whole, expected, strict=True))
