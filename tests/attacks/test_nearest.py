from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.attacks.nearest_rows import NOBODY, SharedClasses, nearest_rows, sensitive_index
from tokumei.core.errors import InputError
from tokumei.data.table import Table

PEOPLE = st.lists(st.tuples(st.integers(0, 2), st.integers(-4, 4)), min_size=1, max_size=12)
TABLE = Table.with_quasi_identifiers({"q": ["a"], "s": [1], "t": [2]}, ["q"], sensitive=["s", "t"])


@given(PEOPLE, PEOPLE)
def test_nearest_rows_are_those_found_by_looking_at_all(
    known: list[tuple[int, int]], published: list[tuple[int, int]]
) -> None:
    classes = SharedClasses(np.array([one for one, _ in known]), np.array([one for one, _ in published]))
    found = nearest_rows(
        classes, np.array([float(value) for _, value in known]), np.array([float(value) for _, value in published])
    )
    for index, (wanted, value) in enumerate(published):
        rows = [(abs(other - value), other, row) for row, (one, other) in enumerate(known) if one == wanted]
        assert found[index] == (min(rows)[2] if rows else NOBODY)


def test_sensitive_column_is_named_or_counted() -> None:
    assert sensitive_index(TABLE, "t", 2) == 1
    assert sensitive_index(TABLE, "", 2) == 0
    with pytest.raises(InputError, match="no column 4"):
        sensitive_index(TABLE, "", 4)
    with pytest.raises(InputError, match="found 'q', expected a sensitive column: s, t"):
        sensitive_index(TABLE, "", 1)
