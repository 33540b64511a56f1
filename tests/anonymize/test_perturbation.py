from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.anonymize.perturbation import Original
from tokumei.core.errors import InputError


def test_numbers_of_a_text_column_are_read_and_missing_ones_are_not_a_number() -> None:
    original = Original(pl.DataFrame({"age": [" 31", "4.5", None]}), ("age",))
    np.testing.assert_array_equal(original.numbers("age"), [31.0, 4.5, np.nan])


@pytest.mark.parametrize("cell", ["inf", "nan", "1e101", "-1e300", "old", ""])
def test_numbers_that_no_sum_can_hold_are_refused(cell: str) -> None:
    with pytest.raises(InputError, match=r"line 2, column age: found .* expected a finite number of at most 1e\+100"):
        Original(pl.DataFrame({"age": ["31", cell]}), ("age",)).numbers("age")


def test_whole_numbers_stay_whole_unless_they_are_too_large_for_that() -> None:
    original = Original(pl.DataFrame({"age": ["31", None], "debt": ["1e50", "1"], "price": [0.5, 1.0]}), ("age",))
    assert original.with_numbers("age", np.array([40.0, np.nan])).to_list() == [40, None]
    assert original.with_numbers("age", np.array([40.0, np.nan])).dtype == pl.Int64
    assert original.with_numbers("age", np.array([40.5, np.nan])).dtype == pl.Float64
    assert original.with_numbers("debt", np.array([1e50, 1.0])).to_list() == [1e50, 1.0]
    assert original.with_numbers("price", np.array([2.0, 1.0])).dtype == pl.Float64


@pytest.mark.parametrize("cells", [[[1], [2]], [True, False], [{"a": 1}], [b"1"]])
def test_column_that_is_neither_numbers_nor_text_is_refused(cells: list[object]) -> None:
    with pytest.raises(InputError, match=r"column age: found .* expected a column of numbers or text"):
        Original(pl.DataFrame({"age": cells}), ("age",)).numbers("age")


def test_column_without_any_value_has_no_number() -> None:
    assert np.isnan(Original(pl.DataFrame({"age": [None, None]}), ("age",)).numbers("age")).all()
