from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.engines import grouping
from tokumei.engines.grouping import Classes, NestedClasses

RADICES = {0: 2, 1: 3, 2: 4, 3: 1}
CLASS = st.tuples(*(st.integers(0, radix - 1) for radix in RADICES.values()))


@given(
    st.dictionaries(CLASS, st.integers(1, 9), max_size=20),
    st.lists(st.sets(st.sampled_from(list(RADICES))), min_size=1, max_size=6),
    st.sampled_from([0, 2, 1 << 30]),
)
def test_classes_over_some_columns_are_those_that_a_plain_count_gives(
    sizes: dict[tuple[int, ...], int], asked: list[set[int]], worth: int
) -> None:
    table = np.array(list(sizes), np.int32).reshape(-1, len(RADICES))
    whole = Classes({one: table[:, one] for one in RADICES}, np.array(list(sizes.values()), np.int64))
    with pytest.MonkeyPatch.context() as patch:
        # Whether every set is counted on the way, or none.
        patch.setattr(grouping, "WORTH", worth)
        classes = NestedClasses(whole, RADICES)
        for columns in asked:
            found = classes.over(columns)
            rows = [tuple(int(found.codes[one][row]) for one in sorted(columns)) for row in range(len(found.sizes))]
            plain: Counter[tuple[int, ...]] = Counter()
            for row, size in sizes.items():
                plain[tuple(row[one] for one in sorted(columns))] += size
            assert dict(zip(rows, found.sizes.tolist(), strict=True)) == plain
