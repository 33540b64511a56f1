from __future__ import annotations

import numpy as np
import pytest

from tokumei.anonymize.local.segments import order_by, spread, starts_of_runs, within_run
from tokumei.core.seeds import generator


@pytest.mark.parametrize("most", [1, 3, 70_000, 1 << 40])
def test_order_by_columns_equals_sorting_by_the_last_first(most: int) -> None:
    rng = generator(1, "segments")
    columns = [rng.integers(0, most, 500), rng.integers(0, 5, 500) * 20_000, rng.integers(0, 3, 500)]
    assert order_by(columns).tolist() == np.lexsort(columns).tolist()


def test_order_by_of_equal_or_no_rows_leaves_them() -> None:
    assert order_by([np.zeros(3, np.int64)]).tolist() == [0, 1, 2]
    assert order_by([np.zeros(0, np.int64)]).tolist() == []


def test_runs_are_numbered_and_added_up_each_for_itself() -> None:
    values = np.array([4, 4, 7, 7, 7, 4])
    starts = np.flatnonzero(starts_of_runs(values))
    assert starts.tolist() == [0, 2, 5]
    assert spread(starts, 6).tolist() == [0, 0, 1, 1, 1, 2]
    assert within_run(values, starts).tolist() == [0, 4, 0, 7, 14, 0]
