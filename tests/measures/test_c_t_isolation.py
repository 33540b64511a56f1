from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.safety.c_t_isolation import CTIsolation


def table(**columns: Sequence[float | str]) -> Table:
    return Table.with_quasi_identifiers(pl.DataFrame(columns), list(columns))


ORIGINAL = table(age=[10, 14, 20, 30])
RELEASED = table(age=[12, 31, 41])


def test_row_isolates_who_is_alone_within_c_times_the_distance() -> None:
    isolation = CTIsolation(c=2, t=2)
    assert isolation.isolates(ORIGINAL, RELEASED).tolist() == [False, True, False]
    assert isolation.measure(ORIGINAL, RELEASED).value == pytest.approx(1 / 3)
    assert not isolation.holds(ORIGINAL, RELEASED)
    assert CTIsolation(c=2, t=2, share=0.4).holds(ORIGINAL, RELEASED)


def test_more_people_asked_for_are_farther_away() -> None:
    # 12 has 10 and 14 within 4; 20 is 8 away. 41 has 30 and 20 within 22; 14 is 27 away.
    assert CTIsolation(c=2, t=3).isolates(ORIGINAL, RELEASED).tolist() == [True, True, True]
    assert CTIsolation(c=4, t=3).isolates(ORIGINAL, RELEASED).tolist() == [False, True, False]
    assert CTIsolation(c=4, t=5).measure(ORIGINAL, RELEASED).value == 1


def test_original_released_unchanged_isolates_all_who_differ() -> None:
    assert CTIsolation().measure(ORIGINAL, ORIGINAL).value == 1
    twins = table(age=[10, 10, 20, 20])
    assert CTIsolation().measure(twins, twins).value == 0


def test_columns_are_measured_in_standard_deviations() -> None:
    # Pay differs a thousandfold; unscaled, age would say nothing.
    original = table(age=[0, 2, 0, 2], pay=[0, 0, 1000, 1000])
    released = table(age=[1.0], pay=[1.0])
    assert CTIsolation(c=2, t=3).isolates(original, released).tolist() == [True]
    assert CTIsolation(c=2, t=2).isolates(original, released).tolist() == [False]
    assert CTIsolation(("age",), c=2, t=4).isolates(original, released).tolist() == [False]
    assert CTIsolation(c=1.5, t=3, is_scaled=False).isolates(original, released).tolist() == [True]


numbers = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=8)


@given(numbers, numbers, st.sampled_from([1.0, 1.5, 2.0, 4.0]), st.integers(2, 4))
def test_isolation_is_that_of_the_plain_definition(
    ours: list[tuple[int, int]], theirs: list[tuple[int, int]], c: float, t: int
) -> None:
    original, released = (
        pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}, orient="row") for rows in (ours, theirs)
    )
    tables = [Table.with_quasi_identifiers(frame, ["a", "b"]) for frame in (original, released)]
    found = CTIsolation(c=c, t=t, is_scaled=False).isolates(*tables)
    for number, point in enumerate(theirs):
        distances = np.hypot(*(np.array(ours) - np.array(point)).T)
        # Any person may be the one who is isolated.
        isolated = [(distances <= c * distance * (1 + 1e-9)).sum() < t for distance in distances]
        assert found[number] == any(isolated)


def test_no_released_rows_isolate_nobody() -> None:
    assert CTIsolation().measure(ORIGINAL, table(age=[])).value == 0


def test_text_that_is_a_number_counts_and_what_is_none_is_an_input_error() -> None:
    assert CTIsolation(c=2).measure(table(age=["10", "14", "20", "30"]), RELEASED).value == pytest.approx(1 / 3)
    with pytest.raises(InputError, match=r"line 2, column age: found '20-29', expected a finite number"):
        CTIsolation().measure(ORIGINAL, table(age=["12", "20-29"]))
    with pytest.raises(InputError, match="column pay: expected one of the columns age"):
        CTIsolation(("pay",)).measure(ORIGINAL, RELEASED)


@pytest.mark.parametrize(("option", "value"), [("c", 0.5), ("t", 1), ("share", 1.5)])
def test_options_out_of_range_are_input_errors(option: str, value: float) -> None:
    with pytest.raises(InputError, match=f"option {option}"):
        CTIsolation(**{option: value})  # type: ignore[arg-type]


def test_nobody_can_be_isolated_where_nobody_is() -> None:
    assert CTIsolation().measure(table(age=[]), RELEASED).value == 0
    assert CTIsolation().measure(table(age=[10]), RELEASED).value == 1
