from __future__ import annotations

import polars as pl
import pytest

from tokumei.engines.class_counts import Recoding
from tokumei.engines.count import count_classes
from tokumei.measures.safety.risks import MarketerRisk

RELEASED = pl.DataFrame({"age": [30, 30, 30, 40]})
POPULATION = pl.DataFrame({"age": [30] * 6 + [40] * 2 + [50]})


def test_marketer_risk_without_population_is_classes_over_records() -> None:
    counts = count_classes(RELEASED, ["age"])
    assert MarketerRisk(0.5).measure(counts).value == 2 / 4
    assert MarketerRisk(0.5).holds_in(counts).tolist() == [True, True]
    assert MarketerRisk(0.49).holds_in(counts).tolist() == [False, False]


def test_marketer_risk_with_population_is_the_expected_share_of_right_matches() -> None:
    counts, population = count_classes(RELEASED, ["age"]), count_classes(POPULATION, ["age"])
    assert MarketerRisk(0.5, population).measure(counts).value == pytest.approx((3 / 6 + 1 / 2) / 4)


def test_marketer_risk_counts_suppressed_records_as_never_found() -> None:
    counts = count_classes(RELEASED, ["age"])
    assert MarketerRisk(0.5, n_suppressed=4).measure(counts).value == 2 / 8


def test_recoding_without_population_changes_nothing() -> None:
    risk = MarketerRisk(0.5)
    assert risk.recoded([Recoding("age", pl.Series(["30"]), pl.Series(["*"]))]) is risk
