"""Survival curves and Cox regressions by hand, and as lifelines has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.measures.table.survival import CoxFit, fit_cox, same_conclusions, survival_at, survival_gap


def test_survival_curve_falls_by_the_share_of_those_still_watched() -> None:
    # Of four one has the event at 1, one is lost at 2, one has it at 3 of the two left.
    times, events = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.0, 1.0, 0.0])
    assert survival_at(times, events, np.array([0.0, 1.0, 2.0, 3.0, 9.0])) == pytest.approx(
        [1, 0.75, 0.75, 0.375, 0.375]
    )


def test_area_between_curves_is_by_trapezoids() -> None:
    # One of two has the event, at 1 or at 2: the curves are 1/2 apart at 1, and together at 0 and from 2 on.
    one, other = ((np.array([at, 4.0]), np.array([1.0, 0.0])) for at in (1.0, 2.0))
    assert survival_gap(one, other, 4.0) == pytest.approx(0.5)
    assert survival_gap(one, one, 4.0) == 0


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=12))
def test_survival_curve_is_that_of_lifelines(people: list[tuple[int, bool]]) -> None:
    lifelines = pytest.importorskip("lifelines")
    times, events = np.array([time for time, _ in people], float), np.array([one for _, one in people], float)
    right = lifelines.KaplanMeierFitter().fit(times, events)
    at = np.arange(0.0, 7.0)
    assert survival_at(times, events, at) == pytest.approx(right.survival_function_at_times(at).to_numpy(), abs=1e-12)


def test_intervals_count_as_far_as_they_overlap_and_not_where_conclusions_differ() -> None:
    def fit(*ends: tuple[float, float]) -> CoxFit:
        low, high = np.array(ends).T
        return CoxFit((low + high) / 2, low, high, True)

    one = fit((0.2, 0.6), (-1.0, 1.0), (0.1, 0.5), (0.1, 0.5), (-1.0, 1.0))
    other = fit((0.4, 0.8), (-1.0, 1.0), (-0.1, 0.3), (-0.5, -0.1), (0.0, 4.0))
    # Half of both; all; one is significant alone; both, with other signs; half of one and a quarter of the other.
    assert same_conclusions(one, other) == pytest.approx([0.5, 1.0, 0.0, 0.0, 0.375])


def test_regression_that_does_not_settle_is_not_sound() -> None:
    times = np.arange(1.0, 21.0)
    # Who has the event first is told without error.
    assert not fit_cox({"x": -times}, times, np.ones(20)).is_sound
    rng = np.random.default_rng(1)
    sound = fit_cox({"x": rng.standard_normal(20)}, times, np.ones(20))
    assert sound.is_sound
    assert sound.low[0] < sound.coefficients[0] < sound.high[0]
