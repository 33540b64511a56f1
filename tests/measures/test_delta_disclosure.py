from __future__ import annotations

import math

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.measures.safety.closeness import DeltaDisclosure

PEOPLE = pl.DataFrame({"zip": list("AAAABBBB"), "illness": ["flu"] * 3 + ["cold"] + ["flu"] * 2 + ["cold"] * 2})


def test_delta_disclosure_of_the_worked_example() -> None:
    counts = count_classes(PEOPLE, ["zip"], sensitive=["illness"])
    part = DeltaDisclosure("illness", 0.5)
    assert part.measure(counts).value == pytest.approx(math.log2(3 / 2))
    assert part.holds_in(counts).tolist() == [False, True]
    assert DeltaDisclosure("illness", 0.6).holds_in(counts).tolist() == [True, True]


def test_class_that_lacks_a_value_is_infinitely_far() -> None:
    counts = count_classes(
        PEOPLE.filter(pl.col("illness") == "flu").vstack(PEOPLE[-1:]), ["zip"], sensitive=["illness"]
    )
    part = DeltaDisclosure("illness", 100)
    assert part.measure(counts).value == math.inf
    assert part.holds_in(counts).tolist() == [False, True]


def test_difference_that_is_delta_is_too_much_and_delta_is_above_zero() -> None:
    table = pl.DataFrame({"zip": list("AABBBB"), "illness": ["flu", "cold", "flu", "flu", "flu", "cold"]})
    counts = count_classes(table, ["zip"], sensitive=["illness"])
    # In A a cold has 1/2 instead of 1/3.
    assert not DeltaDisclosure("illness", math.log2(1.5)).holds_in(counts)[0]
    with pytest.raises(InputError, match="a number above 0"):
        DeltaDisclosure("illness", 0)


def test_no_rows_differ_in_nothing() -> None:
    counts = count_classes(PEOPLE.head(0), ["zip"], sensitive=["illness"])
    assert DeltaDisclosure("illness", 1).measure(counts).value == 0
