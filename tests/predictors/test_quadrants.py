from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.power_law import PowerLaw
from tokumei.predictors.predictor import (
    Prediction,
    Quadrants,
    area_with_prediction,
    area_without_prediction,
    is_served,
    most_that_hold,
    quadrants,
)

AGE = Hierarchy.of_levels("age", [["31", "35", "48", "49"], ["30s", "30s", "40s", "40s"], ["*"] * 4])
LATTICE = Lattice.of([AGE])


def test_four_answers_fall_into_four_quadrants() -> None:
    served, refused, holds, fails = True, False, True, False
    counted = Quadrants.of([(served, holds), (refused, holds), (refused, holds), (served, fails), (refused, fails)])
    assert counted == Quadrants(alpha=1, beta=2, gamma=1, delta=1)
    assert counted.n_nodes == 5
    assert counted.shares == {"alpha": 0.2, "beta": 0.4, "gamma": 0.2, "delta": 0.2}
    assert counted + Quadrants(1, 0, 0, 5) == Quadrants(2, 2, 1, 6)


def test_shares_of_no_nodes_are_refused() -> None:
    with pytest.raises(InputError):
        _ = Quadrants(0, 0, 0, 0).shares


def test_cautious_rule_asks_the_low_end_and_the_thesis_k_itself() -> None:
    prediction = Prediction(12, 9, 20)
    assert [is_served(prediction, k_p) for k_p in (9, 10)] == [True, False]
    assert [is_served(prediction, k_p, by="k") for k_p in (12, 13)] == [True, False]


def test_quadrants_of_a_law_are_those_counted_by_hand() -> None:
    # k = 40/x + 1: 41, 21 and 11 for 1, 2 and 4 classes, without a band.
    law = PowerLaw().fit_points(LATTICE, [1, 2], [40, 20])
    ks: dict[Node, int] = {(2,): 40, (1,): 9, (0,): 12}
    assert quadrants(law, ks, 10.5) == Quadrants(alpha=2, beta=0, gamma=1, delta=0)
    assert quadrants(law, ks, 12) == Quadrants(alpha=1, beta=1, gamma=1, delta=0)
    assert quadrants(law, ks, 30) == Quadrants(alpha=1, beta=0, gamma=0, delta=2)


def test_areas_are_the_rectangles_of_the_thesis() -> None:
    # At 100 classes the user would get 3 where 10 are asked for; 40 classes hold, 60 are predicted to.
    assert area_without_prediction(k_p=10, k_u=3, x_u=100, x_n=40) == 7 * 60
    assert area_with_prediction(k_p=10, k_u=3, x_u=100, x_n=40, x_p=60) == 7 * 20


def test_area_of_a_request_that_holds_or_of_a_cautious_prediction_is_nothing() -> None:
    assert area_without_prediction(k_p=10, k_u=12, x_u=30, x_n=40) == 0
    assert area_with_prediction(k_p=10, k_u=3, x_u=100, x_n=40, x_p=25) == 0


@pytest.mark.parametrize(("k_p", "x_n"), [(3, 9), (6, 2), (30, 1), (31, 0)])
def test_most_classes_that_hold_end_where_the_first_fails(k_p: int, x_n: int) -> None:
    assert most_that_hold(k_p, {4: 5, 1: 30, 2: 12, 9: 7, 18: 2}) == x_n


@given(*(st.floats(1, 1_000) for _ in range(5)))
def test_prediction_never_adds_to_the_area(k_p: float, k_u: float, x_u: float, x_n: float, x_p: float) -> None:
    assert 0 <= area_with_prediction(k_p, k_u, x_u, x_n, x_p) <= area_without_prediction(k_p, k_u, x_u, x_n)


@given(st.floats(1.5, 60), st.floats(1.1, 500))
def test_law_serves_what_lies_below_its_inverse(k_p: float, x: float) -> None:
    law = PowerLaw().fit_points(LATTICE, [1, 10], [90, 9])
    if abs(law.inverse(k_p) / x - 1) > 1e-9:
        assert is_served(law.predict_at(x), k_p, by="k") == (x < law.inverse(k_p))
