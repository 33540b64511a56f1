from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.methods.perturbing.masking import Swap, swapped_ranks
from tokumei.methods.perturbing.perturbation import Original, Perturbed

INCOMES = pl.DataFrame({"income": ["100", "120", "300", "320", "900"]})


def swapped(frame: pl.DataFrame, seed: int = 1, **options: Any) -> Perturbed:
    return Swap(**options).perturb(Original(frame, tuple(frame.columns), tuple(frame.columns)), seed=seed)


def in_order(changed: Perturbed) -> pl.DataFrame:
    """The released rows in the order of the original."""
    assert changed.rows is not None
    return changed.frame[changed.rows.arg_sort()]


def plain_ranks(n: int, window: int, rng: np.random.Generator) -> list[int]:
    """The definition, with one draw for each rank; of the candidates it takes the one that the draw falls on."""
    luck = rng.random(n)
    partner = list(range(n))
    for rank in range(n):
        near = [one for one in range(rank + 1, min(n, rank + window + 1)) if partner[one] == one]
        if partner[rank] == rank and near:
            other = near[int(luck[rank] * len(near))]
            partner[rank], partner[other] = other, rank
    return partner


def test_window_of_one_rank_exchanges_neighbors() -> None:
    changed = swapped(INCOMES, p=20)
    assert in_order(changed)["income"].to_list() == ["120", "100", "320", "300", "900"]
    assert changed.frame.schema == INCOMES.schema
    assert changed.facts["window"] == 1


def test_share_below_one_rank_still_exchanges_neighbors() -> None:
    assert in_order(swapped(INCOMES, p=0.001))["income"].to_list() == ["120", "100", "320", "300", "900"]


def test_rows_are_released_in_an_order_that_is_drawn() -> None:
    frame = pl.DataFrame({"income": list(range(200))})
    changed = swapped(frame)
    assert changed.rows is not None
    assert sorted(changed.rows) == list(range(200))
    # Of 200 rows in random order about one stands where it stood.
    assert (changed.rows == pl.Series(range(200))).sum() < 10


def test_missing_values_and_other_columns_stay() -> None:
    frame = pl.DataFrame({"income": [5, None, 3, None, 9, 7], "city": list("abcdef")})
    released = in_order(swapped(frame, columns=("income",), p=100))
    assert released["income"].is_null().to_list() == [False, True, False, True, False, False]
    assert released["city"].to_list() == list("abcdef")
    assert sorted(released["income"].drop_nulls()) == [3, 5, 7, 9]


@pytest.mark.parametrize("incomes", [[], [7], [None, None], [4, 4, 4]])
def test_column_with_nothing_to_exchange_stays(incomes: list[int | None]) -> None:
    frame = pl.DataFrame({"income": pl.Series(incomes, dtype=pl.Int64)})
    assert in_order(swapped(frame)).equals(frame)


@given(st.integers(0, 40), st.integers(1, 45), st.integers(0, 1_000))
def test_ranks_change_indices_in_pairs_within_the_window(n: int, window: int, seed: int) -> None:
    partner = swapped_ranks(n, window, generator(seed))
    np.testing.assert_array_equal(partner[partner], np.arange(n))
    assert (np.abs(partner - np.arange(n)) <= window).all()
    # Who stays found nobody near above that was free: no two that stay are near each other.
    stayed = np.flatnonzero(partner == np.arange(n))
    assert (np.diff(stayed) > window).all()


@pytest.mark.parametrize(("n", "window"), [(4, 1), (4, 2), (4, 3), (5, 2)])
def test_ranks_change_indices_as_often_as_by_the_plain_definition(n: int, window: int) -> None:
    n_draws = 20_000
    fast, plain = generator(1), generator(2)
    counts: dict[tuple[int, ...], list[int]] = {}
    for _ in range(n_draws):
        counts.setdefault(tuple(swapped_ranks(n, window, fast).tolist()), [0, 0])[0] += 1
        counts.setdefault(tuple(plain_ranks(n, window, plain)), [0, 0])[1] += 1
    for one, other in counts.values():
        # Five standard deviations of the difference of two binomial counts of even chance.
        assert abs(one - other) < 5 * (0.5 * n_draws) ** 0.5


def test_column_keeps_its_values_and_each_moves_by_few_ranks() -> None:
    frame = pl.DataFrame({"income": generator(3).permutation(1_000), "age": generator(4).integers(0, 90, 1_000)})
    released = in_order(swapped(frame, p=5))
    for name in frame.columns:
        assert released[name].sort().equals(frame[name].sort())
    moved = np.abs((released["income"] - frame["income"]).to_numpy())
    assert moved.max() <= 50
    # Evenly drawn from 50 ranks; those near the edge of what is free are a little nearer.
    assert 15 < moved.mean() < 30
    assert (moved > 0).mean() > 0.97


def test_equal_values_get_their_ranks_by_lot() -> None:
    # Of a hundred zeros and a hundred ones, each zero is as likely as any other to be one of those next to the ones.
    frame = pl.DataFrame({"income": [0] * 100 + [1] * 100})
    n_changed = np.zeros(200)
    for seed in range(100):
        n_changed += (in_order(swapped(frame, seed, p=10))["income"] != frame["income"]).to_numpy()
    # The same tenth or so of the rows is exchanged across, but never the same rows: 100 draws of a chance below 0.2.
    assert n_changed.max() < 30


def test_same_seed_gives_the_same_and_another_another() -> None:
    frame = pl.DataFrame({"income": list(range(50))})
    assert swapped(frame).frame.equals(swapped(frame).frame)
    assert not swapped(frame).frame.equals(swapped(frame, seed=2).frame)


@pytest.mark.parametrize("p", [-1, 0, 100.5, float("nan"), float("inf")])
def test_percentage_that_cannot_be_is_named(p: float) -> None:
    with pytest.raises(InputError, match=r"option p: found .* expected a percentage above 0 and at most 100"):
        swapped(INCOMES, p=p)


def test_text_that_is_no_number_is_named() -> None:
    with pytest.raises(InputError, match="line 1, column city"):
        swapped(pl.DataFrame({"city": ["Kyoto"]}))
