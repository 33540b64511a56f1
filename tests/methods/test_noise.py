from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.swap_odds import pk_of_matrices

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.seeds import generator
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.perturbing.noise import Noise, n_decimals, written
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows

AGES = pl.DataFrame({"age": ["30", "30", "50", "50"]})
AGE = Hierarchy.of_levels("age", [[str(age) for age in range(101)], ["*"] * 101])


def noisy(frame: pl.DataFrame, seed: int = 2, trees: Any = None, **options: Any) -> Perturbed:
    columns = tuple(frame.columns)
    return Noise(**options).perturb(Original(frame, columns, columns, hierarchies=trees or {}), seed=seed)


def in_order(changed: Perturbed) -> pl.DataFrame:
    """The released rows in the order of the original."""
    assert changed.rows is not None
    return changed.frame[changed.rows.arg_sort()]


def test_noise_is_added_and_rounded_by_hand() -> None:
    # The ages have a standard deviation of 10; a Laplace parameter of 5/√2 has a deviation of 5.
    added = generator(2, "noise", "age").laplace(0, 5 / math.sqrt(2), 4)
    np.testing.assert_allclose(added, [-2.7, -3.3, 1.1, 4.1], atol=0.05)
    changed = noisy(AGES, scale=0.5, low=(0,), high=(100,))
    assert in_order(changed)["age"].to_list() == [27, 27, 51, 54]
    assert changed.facts["deviations"] == {"age": 5}
    assert changed.promises["pk-anonymity"].value == pytest.approx(1)
    strong = noisy(AGES, scale=20, low=(0,), high=(100,)).promises["pk-anonymity"].value
    assert strong == pytest.approx(1 + 3 * math.exp(-math.sqrt(2)))
    assert strong == pytest.approx(1.73, abs=0.005)


def test_bounds_come_from_the_hierarchy_and_without_them_nothing_is_promised() -> None:
    changed = noisy(AGES, scale=20, trees={"age": AGE})
    assert changed.promises["pk-anonymity"].value == pytest.approx(1.73, abs=0.005)
    assert changed.frame["age"].is_between(0, 100).all()
    assert changed.facts["bounds"] == {"age": [0, 100]}
    unbounded = noisy(AGES, scale=20)
    assert unbounded.promises == {}
    assert unbounded.facts["no_promise_for_want_of_bounds"] == ["age"]
    # With one bound sums are put onto it, but a promise needs both.
    half = noisy(AGES, scale=20, low=(25,))
    assert half.frame["age"].min() == 25
    assert half.promises == {}


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_pk_asked_for_is_reached_with_the_smallest_scale_that_does(kind: str) -> None:
    changed = noisy(AGES, pk=2, kind=kind, trees={"age": AGE})
    scale = changed.facts["scale"]
    assert changed.promises["pk-anonymity"].value >= 2
    assert noisy(AGES, scale=scale * 0.999, kind=kind, trees={"age": AGE}).promises["pk-anonymity"].value < 2
    if kind == "laplace":
        # 2 = 1 + 3·exp(−2√2·100/10/scale).
        assert scale == pytest.approx(20 * math.sqrt(2) / math.log(3))
    same = pl.DataFrame({"age": [7] * 4})
    assert noisy(same, pk=4, kind=kind, trees={"age": AGE}).promises["pk-anonymity"].value == 4


def test_pk_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(InputError, match="option pk: found '2', expected low and high of age, without which noise"):
        noisy(AGES, pk=2)
    with pytest.raises(CannotAnonymize, match="with k = 5 needs as many rows that agree on what is not changed; the f"):
        noisy(AGES, pk=5, trees={"age": AGE})
    with pytest.raises(CannotAnonymize, match="bounds are so wide that no noise up to scale 1000 gives k = 2"):
        noisy(AGES, pk=2, low=(0,), high=(1e9,))


def test_labels_that_are_no_numbers_are_no_bounds() -> None:
    frame = pl.DataFrame({"age": [1, 2]})
    tree = Hierarchy.of_levels("age", [["1", "2", "old"], ["*"] * 3])
    assert noisy(frame, trees={"age": tree}).facts["no_promise_for_want_of_bounds"] == ["age"]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_variance_grows_by_the_square_of_the_scale(kind: str) -> None:
    frame = pl.DataFrame({"income": generator(1).normal(1_000, 100, 50_000)})
    released = in_order(noisy(frame, scale=0.5, kind=kind))["income"]
    noise = (released - frame["income"]).to_numpy()
    size = 0.5 * float(frame["income"].to_numpy().std())
    # The standard error of the mean is size/√n; that of a variance is below 2.3·size²/√n for both kinds.
    assert abs(noise.mean()) < 5 * size / 50_000**0.5
    assert noise.var() == pytest.approx(size**2, rel=5 * 2.3 / 50_000**0.5)
    # Four standard deviations of a Laplace distribution are passed by exp(−4√2) = 0.35 %, of a normal one hardly ever.
    n_far = (np.abs(noise) > 4 * size).sum()
    assert 100 < n_far < 250 if kind == "laplace" else n_far < 20


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_promise_is_at_most_what_the_rounded_release_gives(kind: str) -> None:
    from scipy.stats import laplace, norm

    # Ages 0 to 4 in ten rows: the probability of each released age from each original one, by the distribution.
    frame = pl.DataFrame({"age": [0, 1, 2, 3, 4] * 2})
    changed = noisy(frame, scale=3, kind=kind, low=(0,), high=(4,))
    size = 3 * math.sqrt(2)
    added = laplace(scale=size / math.sqrt(2)) if kind == "laplace" else norm(scale=size)
    edges = np.array([-np.inf, 0.5, 1.5, 2.5, 3.5, np.inf])
    matrix = np.array([np.diff(added.cdf(edges - age)) for age in range(5)])
    exact = pk_of_matrices([matrix], 10)
    promised = changed.promises["pk-anonymity"].value
    assert 1 < promised <= exact
    # The rounding is all that is lost.
    assert promised > exact * 0.5


def test_columns_multiply_what_they_tell() -> None:
    frame = pl.DataFrame({"age": [0, 4] * 5, "income": [0, 40] * 5})
    one = noisy(frame[["age"]], scale=10, low=(0,), high=(4,)).promises["pk-anonymity"].value
    both = noisy(frame, scale=10, low=(0, 0), high=(4, 40)).promises["pk-anonymity"].value
    # Both columns tell the same relative to their noise.
    assert (both - 1) / 9 == pytest.approx(((one - 1) / 9) ** 2)


def test_promise_is_over_rows_that_agree_on_what_is_not_changed_and_what_is_missing() -> None:
    frame = pl.DataFrame({"age": [30, 40, None, 50, 60, None, None], "city": ["a"] * 6 + ["b"]})
    changed = noisy(frame, columns=("age",), low=(0,), high=(100,))
    assert in_order(changed)["age"].is_null().to_list() == [False, False, True, False, False, True, True]
    assert changed.promises["pk-anonymity"].inputs["n_alike"] == 1
    assert noisy(frame[:6], columns=("age",), low=(0,), high=(100,)).promises["pk-anonymity"].inputs["n_alike"] == 2


def test_numbers_keep_their_decimals_but_none_far_below_the_noise() -> None:
    prices = pl.DataFrame({"price": ["1.25", "3.5", "9"]})
    released = noisy(prices, scale=1).frame["price"]
    assert released.equals(released.round(2))
    assert not released.equals(released.round(1))
    thirds = noisy(pl.DataFrame({"price": [1 / 3, 1e4 / 3]})).frame["price"]
    assert thirds.equals(thirds.round(1))


@pytest.mark.parametrize(
    ("values", "most", "n"), [([1, 2], 9, 0), ([1.5], 9, 1), ([0.25, math.nan], 9, 2), ([1 / 3], 4, 4)]
)
def test_decimals_are_counted(values: list[float], most: int, n: int) -> None:
    assert n_decimals(np.array(values), most) == n


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.floats(-1e4, 1e4), st.floats(1e-6, 1e3))
def test_sums_stay_within_bounds_of_any_decimals(low: float, width: float, added: float, size: float) -> None:
    high = low + width
    numbers = np.array([low + width / 3, np.nan])
    out = written(numbers, np.array([added, 1.0]), min(size, width), low, high)
    slack = 1e-6 * width
    assert low - slack <= out[0] <= high + slack
    assert np.isnan(out[1])


@pytest.mark.parametrize("values", [[], ["7"], [None, None], [0.1] * 6])
def test_column_that_does_not_vary_stays(values: list[Any]) -> None:
    frame = pl.DataFrame({"age": pl.Series(values, dtype=None if values and values[0] else pl.Int64)})
    changed = noisy(frame, low=(0,), high=(100,))
    assert changed.frame["age"].cast(pl.Float64).equals(frame["age"].cast(pl.Float64))
    assert changed.promises["pk-anonymity"].value == len(values)


def test_numbers_near_the_smallest_there_are_get_noise_too() -> None:
    frame = pl.DataFrame({"price": [1e-200, 2e-200, 3e-200]})
    changed = noisy(frame, scale=1, low=(0,), high=(1,))
    assert not in_order(changed).equals(frame)
    assert changed.promises["pk-anonymity"].value == 1


def test_rows_are_released_in_an_order_that_is_drawn_and_by_the_seed_alone() -> None:
    frame = pl.DataFrame({"age": list(range(200))})
    changed = noisy(frame)
    assert changed.rows is not None
    assert sorted(changed.rows) == list(range(200))
    assert (changed.rows == pl.Series(range(200))).sum() < 10
    assert changed.frame.equals(noisy(frame).frame)
    assert not in_order(changed).equals(in_order(noisy(frame, seed=3)))


def test_release_carries_the_promise() -> None:
    goal = Goal([], method=Noise(scale=20), numeric=["age"])
    found = release_rows(AGES, ["age"], {"age": AGE}, goal, seed=2)
    assert found.promises["pk-anonymity"].value == pytest.approx(1.73, abs=0.005)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"scale": 0}, "option scale: found '0', expected more than 0 and at most 1000"),
        ({"scale": -1}, "option scale"),
        ({"scale": float("nan")}, "option scale: found 'nan'"),
        ({"scale": float("inf")}, "option scale"),
        ({"pk": 1}, "option pk: found '1', expected a number above 1"),
        ({"pk": float("nan")}, "option pk"),
        ({"pk": 2, "scale": 1}, "option pk: found '2', expected either scale or pk"),
        ({"low": (-1e300,)}, "option low"),
        ({"kind": "uniform"}, "option kind: found 'uniform', expected laplace or gaussian"),
        ({"low": (0, 1)}, "option low: found '0,1', expected a number for each of age"),
        ({"high": (float("inf"),)}, "option high: found 'inf', expected a finite number"),
        ({"low": (9,), "high": (3,)}, "option high: found '3', expected more than 9, which is low"),
        ({"low": (40,)}, "line 1, column age: found '30', expected a number of at least 40"),
        (
            {"low": (0,), "high": (45,)},
            "line 3, column age: found '50', expected a number of at least 0 and at most 45",
        ),
        ({"columns": ("income",)}, "option columns"),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        noisy(AGES, **options)


def test_bound_beyond_the_hierarchy_is_named() -> None:
    with pytest.raises(
        InputError, match="option low: found '200', expected bounds of age that fit its hierarchy, 0 to 100"
    ):
        noisy(AGES, trees={"age": AGE}, low=(200,))
