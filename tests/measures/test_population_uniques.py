"""How many are alone in a whole population: each estimator worked by hand, and the rule that chooses one."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.measures.safety import population_uniques as module
from tokumei.measures.safety.population_uniques import (
    ESTIMATORS,
    SizeCounts,
    fit_pitman,
    hoshino_start,
    pitman_uniques,
    population_uniques,
    shlosser_classes,
    snb_uniques,
    zayatz_uniques,
)

# n 100, u 52: 30 classes of one, 10 of two, 12 others.
SIZES = [1] * 30 + [2] * 10 + [4] * 10 + [5] * 2


def likelihood(theta: float, alpha: float, sizes: list[int]) -> float:
    """Log-likelihood of Pitman's sampling formula, factor by factor."""
    classes = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
    rows = sum(math.log(theta + i) for i in range(1, sum(sizes)))
    return classes - rows + sum(math.log(j - alpha) for size in sizes for j in range(1, size))


def test_simple_estimator_of_hoshino_follows_the_formula_worked_by_hand() -> None:
    # c = 30 * 29 / 10 = 87.
    theta = (100 * 52 * 87 - 30 * 99 * (2 * 52 + 87)) / (2 * 30 * 52 + 30 * 87 - 100 * 87)
    alpha = (theta * (30 - 100) + 99 * 30) / (100 * 52)
    assert (round(theta, 4), round(alpha, 4)) == (38.6768, 0.0505)
    assert hoshino_start(SizeCounts.of(SIZES)) == pytest.approx((theta, alpha))


def test_pitman_is_likeliest_among_its_neighbors_and_gives_the_people_of_the_formula() -> None:
    theta, alpha = fit_pitman(SizeCounts.of(SIZES)) or (0, 0)
    best = likelihood(theta, alpha, SIZES)
    for t, a in ((theta + 0.01, alpha), (theta - 0.01, alpha), (theta, alpha + 1e-4), (theta, alpha - 1e-4)):
        assert likelihood(t, a, SIZES) < best
    wanted = math.gamma(theta + 1) / math.gamma(theta + alpha) * 10_000**alpha
    assert pitman_uniques(SizeCounts.of(SIZES), 10_000) == pytest.approx(wanted)


def test_pitman_is_where_the_slopes_worked_by_hand_are_zero() -> None:
    # Of 20 rows in eight classes: four of 1, two of 2, one of 3, one of 9.
    t, a = fit_pitman(SizeCounts.of([1, 1, 1, 1, 2, 2, 3, 9])) or (0, 0)
    by_t = sum(1 / (t + i * a) for i in range(1, 8)) - sum(1 / (t + i) for i in range(1, 20))
    of_nine = sum(1 / (j - a) for j in range(1, 9))
    by_a = sum(i / (t + i * a) for i in range(1, 8)) - 2 / (1 - a) - (1 / (1 - a) + 1 / (2 - a)) - of_nine
    assert [by_t, by_a] == pytest.approx([0, 0], abs=1e-9)
    assert 0 < a < 1


def test_zayatz_follows_the_chances_worked_by_hand() -> None:
    # Four rows of eight people: two alone, and a class of two.
    # H(1) = 4/8, H(2) = C(2,1) C(6,3) / C(8,4) = 40/70; so 2 (1/2) / (2 (1/2) + 4/7) = 7/11 of the two are alone
    # in the population, too, and as many who are not among the rows.
    assert zayatz_uniques(SizeCounts.of([1, 1, 2]), 8) == pytest.approx(2 * 7 / 11 * 2)
    # Of a class of three of five people at least two are among four.
    assert zayatz_uniques(SizeCounts.of([1, 3]), 5) == pytest.approx(1 * (4 / 5) / (4 / 5 + 0) * 5 / 4)


def test_shlosser_follows_the_sums_worked_by_hand() -> None:
    # q = 1/2; 2 classes of one, 1 of two. Σ i q² (1-q²)^(i-1) f = 2/4 + 2/4 · 3/4 = 7/8;
    # Σ (1-q)^i ((1+q)^i - 1) f = 2 · 1/2 · 1/2 + 1/4 · 5/4 = 13/16; Σ (1-q)^i f = 5/4; Σ i q (1-q)^(i-1) f = 3/2.
    wanted = 3 + 2 * (7 / 8) / (13 / 16) * ((5 / 4) / (3 / 2)) ** 2
    assert shlosser_classes(SizeCounts.of([1, 1, 2]), 0.5) == pytest.approx(wanted)


def test_snb_follows_the_case_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # With α = 1 and β = 1/2 a class of the population has j people with chance 1/2^j. Of each half are drawn: one of a
    # class with chance Σ j/4^j = 4/9, two with Σ C(j, 2)/4^j = 4/27: of 270 classes 120 and 40, and 135 are of one.
    monkeypatch.setattr(module, "shlosser_classes", lambda counts, fraction: 270.0)
    counts = SizeCounts.of([1] * 120 + [2] * 40 + [3] * 20)
    assert snb_uniques(counts, 2 * 260) == pytest.approx(135, rel=1e-6)
    assert snb_uniques(SizeCounts.of([1, 1, 3]), 100) is None


def test_rule_takes_pitman_up_to_a_tenth_and_above_it_the_smaller_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert population_uniques(SIZES, 1_000).chosen == "pitman"
    above = population_uniques(SIZES, 999)
    smaller = min(("zayatz", "snb"), key=lambda name: above.estimates[name] or math.inf)
    assert above.chosen == smaller
    monkeypatch.setattr(module, "pitman_uniques", lambda counts, population: None)
    monkeypatch.setattr(module, "snb_uniques", lambda counts, population: None)
    found = population_uniques(SIZES, 1_000)
    assert found.chosen == "zayatz"
    assert found.as_dict()["estimates"]["snb"] is None
    assert population_uniques(SIZES, 200).chosen == "zayatz"


def test_sample_of_everybody_is_counted_and_nobody_alone_is_nobody() -> None:
    assert population_uniques([1, 1, 2], 4).alone == 2.0
    assert population_uniques([1, 1, 2], 4).share_of_alone == 1.0
    found = population_uniques([5, 5], 1000)
    assert (found.alone, found.chosen, found.share_of_alone) == (0.0, "counted", None)
    assert population_uniques([], 10).alone == 0.0
    with pytest.raises(InputError):
        population_uniques([1], 0)


def test_share_of_those_alone_is_by_who_is_drawn() -> None:
    found = module.PopulationUniques(100, 5, 1, {"pitman": 10.0}, "pitman")
    # Ten of 100 are alone, and 5/100 of them are in the sample: half of the one who is alone there.
    assert found.share_of_alone == 0.5


@settings(max_examples=cases(60), deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 40))
def test_estimates_lie_between_nobody_and_everybody_and_pitman_is_likeliest(sizes: list[int], times: int) -> None:
    population = sum(sizes) * times
    found = population_uniques(sizes, population)
    assert set(found.estimates) == set(ESTIMATORS)
    for alone in found.estimates.values():
        assert alone is None or 0 <= alone <= population
    fitted = fit_pitman(SizeCounts.of(sizes)) if 1 in sizes else None
    if fitted is not None:
        theta, alpha = fitted
        # No point of a grid is likelier.
        grid = [(t, a) for t in (0.1, 1, 5, 20, 100, theta * 1.1) for a in (0.02, 0.2, 0.5, 0.8, 0.97) if t > -a]
        best = likelihood(theta, alpha, sizes)
        assert all(likelihood(t, a, sizes) <= best + 1e-6 for t, a in grid)


def test_zayatz_falls_as_the_population_grows() -> None:
    shares = [population_uniques(SIZES, n).estimates["zayatz"] or 0 for n in (150, 300, 1_000)]
    assert all(one / n > other / m for (one, n), (other, m) in pairwise(zip(shares, (150, 300, 1_000), strict=True)))
