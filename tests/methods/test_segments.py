from __future__ import annotations

import numpy as np

from tokumei.methods.local.cuts import spread, starts_of_runs, within_run


def test_runs_are_numbered_and_added_up_each_for_itself() -> None:
    values = np.array([4, 4, 7, 7, 7, 4])
    starts = np.flatnonzero(starts_of_runs(values))
    assert starts.tolist() == [0, 2, 5]
    assert spread(starts, 6).tolist() == [0, 0, 1, 1, 1, 2]
    assert within_run(values, starts).tolist() == [0, 4, 0, 7, 14, 0]
