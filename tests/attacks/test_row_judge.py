from __future__ import annotations

import polars as pl
import pytest

from tokumei.attacks.nearest_rows import judge_rows
from tokumei.core.errors import InputError


def test_success_is_the_share_of_rows_found_and_no_guess_is_wrong() -> None:
    score = judge_rows(pl.Series([3, 1, None, 0]), pl.Series([3, 2, 1, 0]), 5)
    assert score.value == 0.5
    assert score.baseline == 0.2
    assert score.interval is not None
    assert score.interval[0] < 0.5 < score.interval[1]


def test_guess_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="a guess for each of 2 rows"):
        judge_rows(pl.Series([1]), pl.Series([1, 2]), 5)
