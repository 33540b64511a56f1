from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.swap_odds import pk_of_matrices

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.seeds import generator
from tokumei.methods.perturbing.pram import estimated_counts, largest_retention, retention_pk

N_VALUES = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def retention_matrix(retain: float, n_values: int) -> npt.NDArray[np.float64]:
    """Return the probability of every released value (column) from every original one (row)."""
    return retain * np.eye(n_values) + (1 - retain) / n_values


def test_two_values_half_kept_by_hand() -> None:
    np.testing.assert_allclose(retention_matrix(0.5, 2), [[0.75, 0.25], [0.25, 0.75]])
    assert retention_pk(0.5, [2], 10) == pytest.approx(2)


@given(st.floats(0, 1), N_VALUES, st.integers(0, 1_000))
def test_k_is_that_of_the_matrices(retain: float, n_values: list[int], n_records: int) -> None:
    matrices = [retention_matrix(retain, n) for n in n_values]
    assert retention_pk(retain, n_values, n_records) == pytest.approx(pk_of_matrices(matrices, n_records), rel=1e-6)


@given(st.floats(1, 1_000), N_VALUES, st.integers(0, 1_000))
def test_largest_retention_reaches_k_and_a_little_more_does_not(pk: float, n_values: list[int], n_records: int) -> None:
    try:
        retain = largest_retention(pk, n_values, n_records)
    except CannotAnonymize:
        assert n_records < pk
        return
    assert not n_records or retention_pk(retain, n_values, n_records) >= pk
    assert retain == 1 or retention_pk(min(1, retain + 1e-6), n_values, n_records) < pk


def test_largest_retention_by_hand() -> None:
    # 2 = 1 + 9·((1 − r)/(1 + r))² where r is a half.
    assert largest_retention(2, [2], 10) == pytest.approx(0.5)
    assert largest_retention(1, [2], 10) == 1
    assert largest_retention(10, [2], 10) == pytest.approx(0, abs=1e-6)
    assert largest_retention(7, [1], 10) == 1
    with pytest.raises(
        CannotAnonymize, match="with k = 11 needs as many rows that agree on what is not changed; the f"
    ):
        largest_retention(11, [2], 10)


def test_estimated_counts_undo_the_matrix_by_hand() -> None:
    # Of 100 rows 80 had the first value: 0.75·80 + 0.25·20 = 65 are expected to be released with it.
    np.testing.assert_allclose(estimated_counts([65, 35], [0.5]), [80, 20])


@given(st.lists(st.floats(0.1, 1), min_size=1, max_size=3))
def test_estimated_counts_undo_the_matrices_of_all_axes(retain: list[float]) -> None:
    before = generator(1).integers(0, 50, [2, 3, 4][: len(retain)]).astype(float)
    expected = before
    for axis, kept in enumerate(retain):
        matrix = retention_matrix(kept, before.shape[axis])
        expected = np.moveaxis(np.tensordot(expected, matrix, (axis, 0)), -1, axis)
    np.testing.assert_allclose(estimated_counts(expected, retain), before, atol=1e-6)


@pytest.mark.parametrize("retain", [[], [0.5, 0.5], [0.0], [1.5], [float("nan")]])
def test_probabilities_that_cannot_be_undone_are_refused(retain: list[float]) -> None:
    with pytest.raises(InputError, match="option retain"):
        estimated_counts([65, 35], retain)
