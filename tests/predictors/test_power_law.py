from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.power_law import PowerLaw, law_in_words

SEX = Hierarchy.of_levels("sex", [["m", "f"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["31", "35", "48", "49"], ["30s", "30s", "40s", "40s"], ["*"] * 4])
LATTICE = Lattice.of([SEX, AGE])


def test_line_through_two_points_is_the_one_drawn_by_hand() -> None:
    # From (1, 100) to (10, 10) ln k falls as ln x rises: α = 100, β = −1, and the 1 is added afterwards.
    law = PowerLaw().fit_points(LATTICE, [1, 10], [100, 10])
    assert (law.alpha, law.beta) == pytest.approx((100, -1))
    assert law.predict_at(10).k == pytest.approx(11)
    assert law.predict_at(50).k == pytest.approx(3)


def test_inverse_gives_the_class_count_of_a_k() -> None:
    law = PowerLaw().fit_points(LATTICE, [1, 10], [100, 10])
    assert law.inverse(11) == pytest.approx(10)
    assert law.inverse(5) == pytest.approx(25)
    assert law.inverse(1) == math.inf


def test_band_follows_from_the_residuals() -> None:
    # At ln x = −1, 0, 1 the points lie 1, −2 and 1 times ln 2 off a level line, whose slope they do not change.
    x = [1 / math.e, 1, math.e]
    law = PowerLaw(caution=0.15865525393145707).fit_points(LATTICE, x, [8, 1, 8])  # type: ignore[arg-type]
    assert (law.alpha, law.beta) == pytest.approx((4, 0))
    # One degree of freedom is left: √((1 + 4 + 1) / 1) · ln 2.
    assert law.spread == pytest.approx(math.sqrt(6) * math.log(2))
    # At the caution of one standard deviation, at the middle: √(1 + 1/3) of the spread.
    factor = math.exp(law.spread * math.sqrt(4 / 3))
    prediction = law.predict_at(1)
    assert (prediction.low, prediction.high) == pytest.approx((4 / factor + 1, 4 * factor + 1))
    # One from the middle the sum of squares, 2, comes in.
    factor = math.exp(law.spread * math.sqrt(4 / 3 + 1 / 2))
    assert law.predict_at(math.e).high == pytest.approx(4 * factor + 1)


def test_smallest_nodes_are_sampled_with_the_whole_table() -> None:
    assert PowerLaw(largest=2).sampled(LATTICE) == [(1, 2), (0, 2), (1, 1)]
    assert PowerLaw(n_nodes=4).sampled(LATTICE) == [(1, 2), (0, 2), (1, 1), (0, 1)]


def test_fit_counts_the_sampled_nodes_and_no_other() -> None:
    asked = []

    def count(node: tuple[int, ...]) -> int:
        asked.append(node)
        return 64 // LATTICE.class_count(node) ** 2

    law = PowerLaw(largest=4).fit(LATTICE, count)
    assert asked == [(1, 2), (0, 2), (1, 1), (0, 1), (1, 0)]
    assert law.n_classes_counted == 1 + 2 + 2 + 4 + 4
    assert (law.alpha, law.beta) == pytest.approx((64, -2))
    assert law.predict((0, 0)).k == pytest.approx(2)


def test_fit_on_counts_is_the_fit_on_their_nodes() -> None:
    people = pl.DataFrame({"sex": list("mmffmmff"), "age": [31, 31, 31, 35, 48, 48, 49, 49]})
    counts = count_classes(people, ["sex", "age"])
    by_hand = PowerLaw().fit_points(LATTICE, [1, 2, 2, 4, 4, 8], [8, 4, 4, 2, 1, 1])
    law = PowerLaw().fit(LATTICE, counts)
    assert (law.alpha, law.beta) == pytest.approx((by_hand.alpha, by_hand.beta))


def test_user_with_the_knowledge_alone_predicts_the_same_digits() -> None:
    law = PowerLaw().fit_points(LATTICE, [1, 2, 4, 9], [997, 301, 88, 13])
    published = json.loads(json.dumps(law.knowledge))
    user = PowerLaw.from_knowledge(LATTICE, published)
    assert [user.predict(node) for node in LATTICE] == [law.predict(node) for node in LATTICE]
    assert (user.knowledge, user.n_classes_counted) == (law.knowledge, 0)


def test_law_that_does_not_fall_has_no_inverse() -> None:
    law = PowerLaw().fit_points(LATTICE, [1, 2], [1, 1])
    assert law.predict_at(2).k == 2
    with pytest.raises(InputError, match="falls"):
        law.inverse(2)


@pytest.mark.parametrize("options", [{"largest": 1}, {"n_nodes": 1}, {"caution": 0.0}])
def test_option_that_leaves_no_line_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        PowerLaw(**options)  # type: ignore[arg-type]


def test_sampled_nodes_of_one_class_count_are_refused() -> None:
    with pytest.raises(InputError, match="two different class counts"):
        PowerLaw().fit_points(LATTICE, [2, 2], [5, 6])


@given(
    st.integers(1, 1_000_000),
    st.lists(st.tuples(st.integers(2, 1_000), st.integers(1, 1_000_000)), min_size=1, max_size=12),
    st.floats(1, 10_000),
)
def test_band_holds_the_prediction_and_inverse_undoes_it(n_rows: int, points: list[tuple[int, int]], x: float) -> None:
    points = [(1, n_rows), *points]
    law = PowerLaw().fit_points(LATTICE, [x for x, _ in points], [k for _, k in points])
    prediction = law.predict_at(x)
    assert 1 <= prediction.low <= prediction.k <= prediction.high
    if law.beta < -0.01 and prediction.k > 1.001:
        assert law.inverse(prediction.k) == pytest.approx(x, rel=1e-6)


def test_r_is_the_correlation_of_ln_k_and_ln_x_and_x_is_where_the_law_says_k() -> None:
    lattice = Lattice.of([Hierarchy.of_levels("a", [list("xyz"), ["*"] * 3])])
    x, k = [1, 2, 4, 9], [100, 30, 20, 4]
    law = PowerLaw().fit_points(lattice, x, k)
    assert law.correlation == pytest.approx(abs(np.corrcoef(np.log(x), np.log(k))[0, 1]))
    numbers = law.numbers(10)
    alpha, beta, x_for_k = (numbers[name] or math.nan for name in ("alpha", "beta", "x_for_k"))
    assert alpha * x_for_k**beta + 1 == pytest.approx(10)
    assert law_in_words(numbers, 10).startswith("k = ")
    # All alike: it does not fall, so that no x is where k is 10, and nothing correlates.
    flat = PowerLaw().fit_points(lattice, x, [5] * 4).numbers(10)
    assert (flat["x_for_k"], flat["r"]) == (None, None)
    # A law that hardly falls would need more classes than there are numbers.
    slow = PowerLaw().fit_points(lattice, [1, 2], [1e9, 1e9 * (1 - 1e-7)]).numbers(2)
    assert slow["x_for_k"] is None
