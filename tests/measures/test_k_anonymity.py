from __future__ import annotations

import polars as pl

from tokumei.engines.count import count_classes
from tokumei.measures.safety.class_sizes import KAnonymity

# Classes of 3, 2 and 1 rows; the missing value is a class of its own.
PEOPLE = pl.DataFrame({"age": [30, 30, 30, 40, 40, None]})


def test_k_is_the_size_of_the_smallest_class() -> None:
    counts = count_classes(PEOPLE, ["age"])
    assert KAnonymity(2).measure(counts).value == 1
    assert KAnonymity(2).holds_in(counts).tolist() == [True, True, False]


def test_k_without_the_suppressed_record_is_that_of_the_others() -> None:
    released = count_classes(PEOPLE[:5], ["age"])
    assert KAnonymity(2).measure(released).value == 2
    assert KAnonymity(2).holds_in(released).all()
