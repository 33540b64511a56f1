from __future__ import annotations

import pytest

from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.measures.safety.class_sizes import MeanClassSize


def test_mean_class_size_is_records_per_class() -> None:
    counts = count_classes({"q": ["a", "a", "a", "b"]}, ["q"])
    assert MeanClassSize(1).measure(counts).value == 2
    assert MeanClassSize(2).holds_in(counts).tolist() == [True, True]
    assert MeanClassSize(2.1).holds_in(counts).tolist() == [False, False]


def test_mean_class_size_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        MeanClassSize(0.5)
