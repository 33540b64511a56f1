"""Records one to one: by hand, and of many as of few."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.test_likeness_search import drawn, likeness_of

import tokumei as tk
from tokumei.attacks import assignment
from tokumei.attacks.assignment import BY_DISTANCE, BY_LIKELIHOOD, assignments


def test_each_gets_another_record_by_plain_distance() -> None:
    """To 20, 21 and 40 the nearest of 20.4, 22 and 60 are 20.4, 20.4 and 22; one each costs .4 + 1 + 20."""
    ages = [20.0, 21.0, 40.0]
    found = assignments(likeness_of({"age": ages}, {"age": [60.0, 20.4, 22.0]}), np.arange(3), 1)[BY_DISTANCE]
    # Different records are in the order of their labels.
    assert found.records.tolist() == [0, 1, 2]
    assert found.is_best


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 40))
def test_few_records_of_each_give_the_likeliest_assignment_or_say_what_is_open(seed: int, n: int) -> None:
    likeness, people = drawn(seed, n, 0), np.arange(n)
    told = likeness.says(people) - likeness.common
    with pytest.MonkeyPatch.context() as patch:
        dense = assignments(likeness, people, 1)[BY_LIKELIHOOD].records
        patch.setattr(assignment, "MOST_DENSE", 1)
        patch.setattr(assignment, "CANDIDATES", 5)
        few = assignments(likeness, people, 1)[BY_LIKELIHOOD]
    given_to = few.records >= 0
    assert (np.bincount(few.records[given_to], minlength=len(likeness.sizes)) <= likeness.sizes).all()
    assert few.n_open == (~given_to).sum()
    if few.is_best:
        best, found = (told[people, one].sum() for one in (dense, few.records))
        assert found == pytest.approx(best, abs=0.01)


def test_one_to_one_takes_the_better_of_two_ways_without_looking() -> None:
    """Noise as strong as this hides everybody from likelihoods, and from plain distances a little less."""
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(200, 4))
    frame = pl.DataFrame({f"n{index}": numbers[:, index] for index in range(4)})
    noised = frame.select(pl.all() + pl.Series(rng.normal(0, 0.2, 200)))
    table = tk.Table(frame, qi=frame.columns)
    found = tk.attack(table, noised, "distance-linkage", in_order=True).scores["distance-linkage"]["one-to-one"]
    each = found.inputs["each"]
    assert set(each) == {BY_LIKELIHOOD, BY_DISTANCE}
    assert min(each.values()) <= found.value <= max(each.values()) + 0.05
