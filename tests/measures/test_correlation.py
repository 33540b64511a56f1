from __future__ import annotations

import pytest

from tokumei.core.errors import InputError
from tokumei.measures.table.row_by_row import least_significant_correlation, pearson_correlation


def test_correlation_of_three_values_is_that_worked_out_by_hand() -> None:
    # Deviations −1, 0, 1 and −2, 1, 1: 3 over the root of 2 · 6.
    assert pearson_correlation([1, 2, 3], [1, 4, 4]) == pytest.approx(3 / 12**0.5)


def test_correlation_with_what_never_changes_is_none() -> None:
    assert pearson_correlation([1, 2, 3], [5, 5, 5]) is None


def test_correlation_of_unequally_many_values_is_refused() -> None:
    with pytest.raises(InputError, match="as many of both"):
        pearson_correlation([1, 2], [1])


def test_thirteen_releases_need_a_correlation_of_055() -> None:
    assert least_significant_correlation(13) == pytest.approx(0.553, abs=5e-4)
