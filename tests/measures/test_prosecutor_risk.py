from __future__ import annotations

import polars as pl
import pytest

from tokumei.engines.count import count_classes
from tokumei.measures.safety.risks import ProsecutorRisk

# Risks: four records at 1/4, three at 1/3, one at 1.
PEOPLE = pl.DataFrame({"age": [30] * 4 + [40] * 3 + [50]})


def test_prosecutor_risk_is_one_over_the_class_size() -> None:
    counts = count_classes(PEOPLE, ["age"])
    profile = ProsecutorRisk(threshold=0.3).profile(counts)
    assert (profile.least, profile.largest) == (1 / 4, 1)
    assert profile.mean == pytest.approx(3 / 8)
    assert profile.share_above == 4 / 8
    assert ProsecutorRisk(threshold=0.3).measure(counts).value == 1
    assert ProsecutorRisk(threshold=0.3).holds_in(counts).tolist() == [True, False, False]


def test_prosecutor_risk_equal_to_the_threshold_holds() -> None:
    assert ProsecutorRisk(threshold=1 / 3).holds_in(count_classes(PEOPLE, ["age"])).tolist() == [True, True, False]


def test_suppressed_records_are_at_no_risk() -> None:
    # The one of fifty was suppressed, so seven of eight records are released.
    profile = ProsecutorRisk(threshold=0.3, n_suppressed=1).profile(count_classes(PEOPLE[:7], ["age"]))
    assert (profile.least, profile.largest) == (1 / 4, 1 / 3)
    assert profile.mean == pytest.approx(2 / 8)
    assert profile.share_above == 3 / 8
