from __future__ import annotations

from fractions import Fraction
from math import comb

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.attacks.history.fitting import CHANCE, LEVEL, chance_of_proof, chances_in_class, judge_guesses, n_needed
from tokumei.core.errors import InputError

# Table 4 of the report on PWSCUP 2018.
PRINTED = {7: 7, 10: 10, 11: 10, 12: 11, 15: 13, 24: 18, 30: 22, 49: 34, 90: 59, 99: 64, 990: 606, 999: 612}


def chance_bound(n: int, s: int, p: Fraction = CHANCE) -> Fraction:
    """Bound the chance that s or more of n guesses on a safe release are right: u(p, n, s), which may exceed 1."""
    return sum((comb(n, k) * p**k for k in range(s, n + 1)), Fraction(0))


def test_chance_bound_is_the_sum_of_the_paper() -> None:
    # C(3,2)/9 + C(3,3)/27
    assert chance_bound(3, 2) == Fraction(10, 27)
    assert chance_bound(3, 4) == 0
    assert chance_bound(2, 0) == Fraction(16, 9)


@pytest.mark.parametrize("n", list(PRINTED))
def test_n_needed_is_as_printed(n: int) -> None:
    assert n_needed(n) == PRINTED[n]


@pytest.mark.parametrize("n", range(7))
def test_n_needed_of_few_guesses_cannot_be_reached(n: int) -> None:
    assert n_needed(n) == n + 1


@given(
    st.integers(0, 60),
    st.fractions(Fraction(1, 20), Fraction(19, 20)),
    st.fractions(Fraction(1, 10**6), Fraction(1, 2)),
)
def test_n_needed_is_the_least_number_below_the_level(n: int, p: Fraction, level: Fraction) -> None:
    needed = n_needed(n, p, level)
    assert needed == next((s for s in range(n + 1) if chance_bound(n, s, p) < level), n + 1)


def test_n_needed_refuses_chances_that_are_none() -> None:
    for n, p, level in ((-1, CHANCE, LEVEL), (7, Fraction(0), LEVEL), (7, CHANCE, Fraction(1))):
        with pytest.raises(InputError):
            n_needed(n, p, level)


def test_chances_in_a_class_of_three_are_those_of_six_orders() -> None:
    assert chances_in_class(3) == [Fraction(2, 6), Fraction(3, 6), 0, Fraction(1, 6)]


def test_twelve_pairs_are_proven_unsafe_as_the_report_says() -> None:
    once = chance_of_proof([2] * 12)
    assert once == Fraction(299, 4096)
    assert float(once) == pytest.approx(0.07300, abs=5e-6)
    assert float((1 - once) ** 13) == pytest.approx(0.3733, abs=5e-5)


def test_judge_counts_right_guesses_of_those_submitted() -> None:
    truth = pl.DataFrame({"pseudonym": [str(n) for n in range(9)], "customer": [f"c{n}" for n in range(9)]})
    all_right = judge_guesses(truth[:7], truth)
    assert (all_right.n_guesses, all_right.n_right, all_right.n_needed) == (7, 7, 7)
    assert all_right.is_unsafe
    one_wrong = truth[:7].with_columns(customer=pl.Series(["c1", *truth["customer"][1:7]]))
    assert judge_guesses(one_wrong, truth).n_right == 6
    assert not judge_guesses(one_wrong, truth).is_unsafe
    assert not judge_guesses(truth[:6], truth).is_unsafe


def test_judge_refuses_two_guesses_for_one_pseudonym() -> None:
    twice = pl.DataFrame({"pseudonym": ["1", "1"], "customer": ["a", "b"]})
    with pytest.raises(InputError, match="one customer for each pseudonym"):
        judge_guesses(twice, twice)
