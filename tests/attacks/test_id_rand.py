from __future__ import annotations

import polars as pl
import pytest

from tokumei.attacks.nearest_rows import IdRand, judge_rows
from tokumei.data.table import Table

KNOWN = Table.with_quasi_identifiers({"q": ["a", "b", "a", "c"]}, ["q"])
PUBLISHED = Table.with_quasi_identifiers({"q": ["a", "b", "d"]}, ["q"])


def test_id_rand_draws_among_those_who_look_the_same() -> None:
    guesses = [IdRand().guess(KNOWN, PUBLISHED, seed=seed).to_list() for seed in range(40)]
    assert {guess[0] for guess in guesses} == {0, 2}
    assert {guess[1] for guess in guesses} == {1}
    assert {guess[2] for guess in guesses} == {None}


def test_id_rand_expects_one_over_the_class_where_the_person_is_in_it() -> None:
    # One of two, the only one, and somebody who now looks like nobody.
    assert IdRand().expect(KNOWN, PUBLISHED, pl.Series([0, 1, 3])).value == (1 / 2 + 1 + 0) / 3


def test_id_rand_finds_on_the_mean_what_it_expects() -> None:
    truth = pl.Series([2, 1, 3])
    found = [judge_rows(IdRand().guess(KNOWN, PUBLISHED, seed=seed), truth, 4).value for seed in range(400)]
    assert sum(found) / 400 == pytest.approx(IdRand().expect(KNOWN, PUBLISHED, truth).value, abs=0.03)
