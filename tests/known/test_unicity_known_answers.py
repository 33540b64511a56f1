"""How many purchases single out the customers of the 2017 set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.tasks.threat_history import unicity_history


def test_shares_are_those_of_the_docs(shared_data: Path) -> None:
    original = read_history(shared_data / "pwscup2017" / "T.csv.gz")
    found = unicity_history(original, points=4, exactness=["day and item", "month and item", "day"])
    by_day, by_month, by_date = (one.shares for one in found.curves)
    assert by_day == pytest.approx((0.804, 0.981, 0.995, 0.996), abs=0.03)
    assert by_month == pytest.approx((0.160, 0.722, 0.888, 0.938), abs=0.03)
    assert (by_date[3], found.curves[2].shares_of_enough[3]) == pytest.approx((0.51, 0.94), abs=0.03)
    assert found.curves[2].n_enough[3] == 145
    # The mark of the literature on credit cards is .90 for four points.
    assert by_day[3] >= 0.9
