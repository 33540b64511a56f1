import math

import pytest

from tokumei.core.score import Score


def test_score_knows_its_direction() -> None:
    assert Score("k", 5, best=math.inf, worst=1).higher_is_better
    assert not Score("loss", 0.2, best=0, worst=1).higher_is_better


def test_score_compares_in_its_own_direction() -> None:
    low, high = Score("loss", 0.1, best=0, worst=1), Score("loss", 0.2, best=0, worst=1)
    assert low.is_better_than(high)
    assert not high.is_better_than(low)


def test_scores_of_different_scales_do_not_compare() -> None:
    with pytest.raises(ValueError, match="different scales"):
        Score("a", 0, best=0, worst=1).is_better_than(Score("b", 0, best=1, worst=0))


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_score_outside_its_ends_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        Score("loss", value, best=0, worst=1)


def test_score_with_equal_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        Score("x", 0, best=0, worst=0)


def test_score_with_interval_upside_down_is_refused() -> None:
    with pytest.raises(ValueError, match="upside down"):
        Score("x", 0.5, best=0, worst=1, interval=(0.6, 0.4))


def test_score_as_dict_writes_infinity_as_null_and_leaves_out_what_is_not_there() -> None:
    assert Score("k", 3, best=math.inf, worst=1).as_dict() == {"name": "k", "value": 3, "best": None, "worst": 1}
