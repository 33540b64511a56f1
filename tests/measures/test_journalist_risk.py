from __future__ import annotations

import polars as pl
import pytest

from tokumei.engines.count import count_classes
from tokumei.measures.safety.risks import JournalistRisk

RELEASED = pl.DataFrame({"age": [30, 30, 40, 50]})
# 30 fits five people, 40 two, 50 one, and 60 is not in the release.
POPULATION = pl.DataFrame({"age": [30] * 5 + [40] * 2 + [50] + [60] * 9})


def test_journalist_risk_is_one_over_the_people_of_the_population() -> None:
    counts, population = count_classes(RELEASED, ["age"]), count_classes(POPULATION, ["age"])
    risk = JournalistRisk(population, threshold=0.5)
    score = risk.measure(counts)
    assert score.value == 1
    assert score.inputs["least"] == 1 / 5
    assert score.inputs["mean"] == pytest.approx((2 / 5 + 1 / 2 + 1) / 4)
    assert score.inputs["share_above"] == 1 / 4
    assert risk.holds_in(counts).tolist() == [True, True, False]


def test_journalist_risk_of_the_population_itself_is_the_prosecutors() -> None:
    population = count_classes(POPULATION, ["age"])
    score = JournalistRisk(population, threshold=0.5).measure(population)
    assert score.inputs["mean"] == pytest.approx(4 / 17)
