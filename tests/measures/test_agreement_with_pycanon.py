"""Safety measures against pycanon, where both define the measure.

Where they differ, pycanon (1.3.6, and 1.0.1.post2 which computes the same) does this:

- Entropy ℓ is cut to a whole number, and by rounding sometimes to one too few.
- Recursive (c,ℓ): its counts ascend, so that it divides the count of the rarest value by the most frequent ones,
  where the definition compares the most frequent with the rarest. Only its ℓ is comparable.
- Enhanced β: it gives the largest of min(β, −ln p) over all values, not whether the gains keep below them. The two
  are the same number wherever enhanced β-likeness holds for some β; else ours is infinite.
- Ordered t-closeness divides by zero if all rows have one value.
- Rows with a missing quasi-identifier are dropped, where they are a class of their own here; missing sensitive values
  are an error, or never equal to themselves.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.measures.audit import Audit, audit

pycanon: Any = pytest.importorskip("pycanon.anonymity")

Rows = list[tuple[str, int, str, int]]
SOME_ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.sampled_from("uvwx"), st.integers(0, 5)),
    min_size=1,
    max_size=30,
)
COLUMNS = ["p", "q", "s", "n"]
QUASI = ["p", "q"]


def both(rows: Rows) -> tuple[pd.DataFrame, ClassCounts, Audit]:
    counts = count_classes(pl.DataFrame(rows, schema=COLUMNS, orient="row"), QUASI, sensitive=["s", "n"])
    return pd.DataFrame(rows, columns=COLUMNS), counts, audit(counts)


@pytest.mark.slow
@settings(max_examples=50)
@given(SOME_ROWS)
def test_k_distinct_l_and_alpha_are_those_of_pycanon(rows: Rows) -> None:
    frame, _, found = both(rows)
    k, worst = found.scores["k-anonymity"].value, found.worst
    assert k == pycanon.k_anonymity(frame, QUASI)
    assert worst["l-diversity-distinct"].value == pycanon.l_diversity(frame, QUASI, ["s", "n"])
    assert (worst["alpha-k"].value, k) == pytest.approx(pycanon.alpha_k_anonymity(frame, QUASI, ["s", "n"]))
    for column in ("s", "n"):
        own = found.by_sensitive[column]
        assert own["l-diversity-distinct"].value == pycanon.l_diversity(frame, QUASI, [column])
        assert own["alpha-k"].value == pytest.approx(pycanon.alpha_k_anonymity(frame, QUASI, [column])[0])
        assert own["l-diversity-distinct"].value == pycanon.recursive_c_l_diversity(frame, QUASI, [column])[1]


@settings(max_examples=50)
@given(SOME_ROWS)
def test_entropy_l_cut_to_a_whole_number_is_that_of_pycanon(rows: Rows) -> None:
    frame, _, found = both(rows)
    for column in ("s", "n"):
        value = found.by_sensitive[column]["l-diversity-entropy"].value
        assert pycanon.entropy_l_diversity(frame, QUASI, [column]) in {
            math.floor(value - 1e-9),
            math.floor(value + 1e-9),
        }


@pytest.mark.slow
@settings(max_examples=50)
@given(SOME_ROWS)
def test_t_is_that_of_pycanon(rows: Rows) -> None:
    frame, _, found = both(rows)
    assume(frame["n"].nunique() > 1)
    text, numbers = found.by_sensitive["s"], found.by_sensitive["n"]
    assert text["t-closeness-equal"].value == pytest.approx(pycanon.t_closeness(frame, QUASI, ["s"]), abs=1e-9)
    assert numbers["t-closeness-ordered"].value == pytest.approx(pycanon.t_closeness(frame, QUASI, ["n"]), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=50)
@given(SOME_ROWS)
def test_beta_is_that_of_pycanon_wherever_some_beta_is_enough(rows: Rows) -> None:
    frame, _, found = both(rows)
    for column in ("s", "n"):
        own = found.by_sensitive[column]
        basic = pycanon.basic_beta_likeness(frame, QUASI, [column])
        assert own["beta-likeness-basic"].value == pytest.approx(basic, abs=1e-9)
        if math.isfinite(own["beta-likeness-enhanced"].value):
            enhanced = pycanon.enhanced_beta_likeness(frame, QUASI, [column])
            assert own["beta-likeness-enhanced"].value == pytest.approx(enhanced, abs=1e-9)


def test_recursive_c_of_pycanon_is_not_that_of_the_definition() -> None:
    # Three u and one v: 3 < c · 1 needs c above 3, while pycanon asks for 1 < c · 3 and gives 1.
    frame, _, _ = both([("a", 0, s, 0) for s in "uuuv"])
    assert pycanon.recursive_c_l_diversity(frame, QUASI, ["s"]) == (1, 2)
    counts = count_classes(pl.from_pandas(frame), QUASI, sensitive=["s"])
    assert audit(counts, c=3).worst["l-diversity-recursive"].value == 1
    assert audit(counts, c=3.1).worst["l-diversity-recursive"].value == 2
