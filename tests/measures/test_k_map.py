from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import Recoding
from tokumei.engines.count import count_classes
from tokumei.measures.safety.population import KMap

RELEASED = pl.DataFrame({"sex": ["f", "f", "m", None], "age": [30, 30, 30, 40]})
POPULATION = pl.DataFrame({"age": [30] * 6 + [40] * 4, "sex": ["f"] * 4 + ["m"] * 2 + ["f"] + [None] * 3})


def test_k_map_is_the_fewest_people_that_a_record_fits() -> None:
    # The population's columns come in another order.
    counts, population = count_classes(RELEASED, ["sex", "age"]), count_classes(POPULATION, ["age", "sex"])
    assert KMap(population, 3).measure(counts).value == 2
    assert counts.to_frame().rows() == [("f", 30, 2), ("m", 30, 1), (None, 40, 1)]
    assert KMap(population, 3).holds_in(counts).tolist() == [True, False, True]


def test_k_map_at_another_level_recodes_its_population() -> None:
    nothing = Recoding("age", pl.Series(["30", "40"]), pl.Series(["*", "*"]), "*")
    counts, population = count_classes(RELEASED, ["sex", "age"]), count_classes(POPULATION, ["sex", "age"])
    coarse = counts.roll_up(counts.maps([nothing]))
    assert KMap(population, 3).recoded([nothing]).holds_in(coarse).tolist() == [True, False, True]
    assert KMap(population, 3).recoded([nothing]).measure(coarse).value == 2


def test_population_that_lacks_a_released_person_is_refused() -> None:
    counts, population = count_classes(RELEASED, ["sex", "age"]), count_classes(POPULATION[5:], ["sex", "age"])
    with pytest.raises(
        InputError, match=r"found 'f, 30', expected a population that holds everyone .* 2 rows .* not 0"
    ):
        KMap(population, 3).measure(counts)


def test_population_of_another_type_is_refused() -> None:
    counts = count_classes(RELEASED, ["sex", "age"])
    population = count_classes(POPULATION.cast({"age": pl.String}), ["sex", "age"])
    with pytest.raises(InputError, match="column age: found 'String', expected a population with values of type Int64"):
        KMap(population, 3).holds_in(counts)
