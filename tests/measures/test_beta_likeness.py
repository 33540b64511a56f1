from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.measures.safety.closeness import BetaLikeness

# All rows: flu 5/8, cold 3/8. A: flu 3/4, a gain of 1/5. B: cold 1/2, a gain of 1/3.
PATIENTS = pl.DataFrame(
    {"zip": ["A"] * 4 + ["B"] * 4, "illness": ["flu", "flu", "flu", "cold", "flu", "flu", "cold", "cold"]}
)


def achieved(requirement: BetaLikeness, counts: ClassCounts) -> list[float]:
    return list(requirement.achieved(requirement.values_in(counts)))


def test_basic_beta_is_the_largest_relative_gain() -> None:
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    assert achieved(BetaLikeness("illness", 1, "basic"), counts) == pytest.approx([1 / 5, 1 / 3])
    assert BetaLikeness("illness", 1, "basic").measure(counts).value == pytest.approx(1 / 3)
    assert BetaLikeness("illness", 1 / 5, "basic").holds_in(counts).tolist() == [True, False]


def test_enhanced_beta_refuses_a_gain_above_minus_ln_p() -> None:
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    # −ln 5/8 = 0.47 and −ln 3/8 = 0.98 bind neither gain.
    assert achieved(BetaLikeness("illness", 1), counts) == pytest.approx([1 / 5, 1 / 3])
    # Flu is 3/4 of all rows and all of A: its gain 1/3 is more than −ln 3/4 = 0.29.
    certain = pl.DataFrame({"zip": ["A", "A", "B", "B"], "illness": ["flu", "flu", "flu", "cold"]})
    counts = count_classes(certain, ["zip"], sensitive=["illness"])
    assert achieved(BetaLikeness("illness", 9, "basic"), counts) == pytest.approx([1 / 3, 1])
    assert achieved(BetaLikeness("illness", 9), counts) == [math.inf, 1]
    assert BetaLikeness("illness", 9).holds_in(counts).tolist() == [False, True]
    assert BetaLikeness("illness", 9).measure(counts).value == math.inf


def test_value_unknown_to_the_reference_gains_without_end() -> None:
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    requirement = BetaLikeness("illness", 9, "basic", reference={"flu": 1, "ulcer": 1})
    assert achieved(requirement, counts) == [math.inf, math.inf]
    even = BetaLikeness("illness", 9, "basic", reference={"flu": 1, "cold": 1})
    assert achieved(even, counts) == pytest.approx([1 / 2, 0])


def test_missing_value_is_one_of_its_own_or_left_out() -> None:
    frame = pl.DataFrame({"zip": ["A", "A", "B", "B"], "illness": ["flu", None, "flu", "cold"]})
    counts = count_classes(frame, ["zip"], sensitive=["illness"])
    assert achieved(BetaLikeness("illness", 1, "basic", is_missing_a_value=True), counts) == pytest.approx([1, 1])
    left_out = BetaLikeness("illness", 1, "basic")
    assert achieved(left_out, counts) == pytest.approx([1 / 2, 1 / 2])


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("uvwx")), min_size=1, max_size=40))
def test_both_kinds_equal_their_definitions_in_plain_python(rows: list[tuple[str, str]]) -> None:
    counts = count_classes(pl.DataFrame(rows, schema=["zip", "illness"], orient="row"), ["zip"], sensitive=["illness"])
    overall = Counter(s for _, s in rows)
    names = sorted({name for name, _ in rows})
    for beta in (0.1, 0.5, 1, 2):
        basic, enhanced = [], []
        for name in names:
            own = Counter(s for other, s in rows if other == name)
            pairs = [(own[s] / own.total(), overall[s] / len(rows)) for s in own]
            basic.append(all((q - p) / p <= beta + 1e-9 for q, p in pairs))
            enhanced.append(all((q - p) / p <= min(beta, -math.log(p)) + 1e-9 for q, p in pairs))
        assert BetaLikeness("illness", beta, "basic").holds_in(counts).tolist() == basic
        assert BetaLikeness("illness", beta).holds_in(counts).tolist() == enhanced
