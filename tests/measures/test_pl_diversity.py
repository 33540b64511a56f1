from __future__ import annotations

import itertools
import math

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.safety.pk_anonymity import PlDiversity

ILLNESSES = ["flu", "cold", "cold", "flu", "cold"]


def table(sexes: str, illnesses: list[str]) -> Table:
    return Table.with_quasi_identifiers(pl.DataFrame({"sex": list(sexes), "illness": illnesses}), ["sex"])


ORIGINAL, RELEASED = table("fffmm", ILLNESSES), table("mffmf", ILLNESSES)


def test_pl_diversity_of_the_worked_example() -> None:
    part = PlDiversity(1, "illness", ("sex",), (1 / 3,))
    assert part.measure(ORIGINAL, RELEASED).value == pytest.approx(7 / 6)
    assert part.measure(ORIGINAL, RELEASED).inputs["told"] == "cold"
    assert PlDiversity(1, "illness", ("sex",), (0.0,)).measure(ORIGINAL, RELEASED).value == pytest.approx(5 / 3)
    assert PlDiversity(1, "illness", ("sex",), (1.0,)).measure(ORIGINAL, RELEASED).value == 1


@pytest.mark.parametrize("retention", [0.2, 1 / 3, 0.7])
@pytest.mark.parametrize("released", ["mffmf", "fffff", "ffffm", "mmmmm"])
def test_no_posterior_is_above_what_is_promised(retention: float, released: str) -> None:
    """Go through all assignments of five people to five records: no value of anybody is likelier than 1/ℓ."""
    promised = PlDiversity(1, "illness", ("sex",), (retention,), n_values=(2,)).measure(
        ORIGINAL, table(released, ILLNESSES)
    )
    stay, change = retention + (1 - retention) / 2, (1 - retention) / 2
    weights: dict[tuple[int, str], float] = {}
    total = 0.0
    for order in itertools.permutations(range(5)):
        pairs = zip("fffmm", order, strict=True)
        weight = math.prod(stay if released[record] == sex else change for sex, record in pairs)
        total += weight
        for person, record in enumerate(order):
            key = person, ILLNESSES[record]
            weights[key] = weights.get(key, 0.0) + weight
    assert max(weights.values()) / total <= 1 / promised.value + 1e-9


def test_randomized_sensitive_column_and_other_slips_are_refused() -> None:
    with pytest.raises(InputError, match="a column that was not randomized"):
        PlDiversity(1, "sex", ("sex",), (0.5,))
    with pytest.raises(InputError, match="at least 1"):
        PlDiversity(0.5, "illness", ("sex",), (0.5,))
    with pytest.raises(InputError, match="column weight"):
        PlDiversity(1, "weight", ("sex",), (0.5,)).measure(ORIGINAL, RELEASED)
