from __future__ import annotations

import polars as pl

from tokumei.engines.count import count_classes
from tokumei.measures.safety.diversity import AlphaK

# A: flu 2 of 4. B: flu 2 of 3. C: one row.
PATIENTS = pl.DataFrame(
    {
        "zip": ["A"] * 4 + ["B"] * 3 + ["C"],
        "illness": ["flu", "flu", "cold", "ulcer", "flu", "flu", None, "flu"],
    }
)


def test_alpha_is_the_largest_share_of_a_value() -> None:
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    score = AlphaK("illness", 0.5, 2, is_missing_a_value=True).measure(counts)
    assert (score.value, score.inputs["k"]) == (1, 1)
    assert AlphaK("illness", 0.5, 2, is_missing_a_value=True).holds_in(counts).tolist() == [True, False, False]
    assert AlphaK("illness", 2 / 3, 4, is_missing_a_value=True).holds_in(counts).tolist() == [True, False, False]
    assert AlphaK("illness", 2 / 3, 3, is_missing_a_value=True).holds_in(counts).tolist() == [True, True, False]


def test_missing_values_that_do_not_count_leave_larger_shares() -> None:
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    # In B both known values are flu; its size is still three.
    assert AlphaK("illness", 2 / 3, 3).holds_in(counts).tolist() == [True, False, False]
    assert AlphaK("illness", 1, 3).holds_in(counts).tolist() == [True, True, False]


def test_class_without_any_known_value_has_share_zero() -> None:
    unknown = pl.DataFrame({"zip": ["A", "A", "B", "B"], "illness": [None, None, "flu", "cold"]})
    counts = count_classes(unknown, ["zip"], sensitive=["illness"])
    assert AlphaK("illness", 0.5, 2).holds_in(counts).all()
    assert not AlphaK("illness", 0.5, 2, is_missing_a_value=True).holds_in(counts).all()
