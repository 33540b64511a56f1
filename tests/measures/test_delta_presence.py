from __future__ import annotations

import polars as pl

from tokumei.engines.count import count_classes
from tokumei.measures.safety.population import DeltaPresence

RELEASED = pl.DataFrame({"age": [30, 30, 40, 50, 50]})
# Released shares: 2/5, 1/4 and 2/2.
POPULATION = pl.DataFrame({"age": [30] * 5 + [40] * 4 + [50] * 2})


def test_delta_presence_is_the_released_share_of_each_class() -> None:
    counts, population = count_classes(RELEASED, ["age"]), count_classes(POPULATION, ["age"])
    presence = DeltaPresence(population, delta_min=0.3, delta_max=0.5)
    assert presence.measure(counts).value == 1
    assert presence.measure(counts).inputs["least"] == 1 / 4
    assert presence.holds_in(counts).tolist() == [True, False, False]


def test_people_of_whom_nobody_is_released_are_known_to_be_absent() -> None:
    counts = count_classes(RELEASED[:3], ["age"])
    population = count_classes(POPULATION, ["age"])
    assert DeltaPresence(population, delta_max=0.5).holds_in(counts).tolist() == [True, True]
    assert DeltaPresence(population, delta_max=0.5, delta_min=0.1).holds_in(counts).tolist() == [False, False]
    assert DeltaPresence(population, delta_max=0.5).measure(counts).inputs["least"] == 0
