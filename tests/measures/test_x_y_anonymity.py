from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tokumei.engines.count import count_classes
from tokumei.measures.safety.diversity import XYAnonymity, count_together

# Many rows a person: the class `f` has five rows, but only two people.
VISITS = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "f", "f", "m", "m", "m"],
        "person": [1, 1, 1, 2, 2, 3, 4, None],
        "ward": ["a", "b", "b", "a", "a", "a", "a", "a"],
    }
)


def test_x_y_anonymity_counts_different_people_not_rows() -> None:
    counts = count_classes(VISITS, ["sex"], sensitive=["person"])
    assert XYAnonymity("person", 3, is_missing_a_value=True).holds_in(counts).tolist() == [False, True]
    assert XYAnonymity("person", 3, is_missing_a_value=True).measure(counts).value == 2


def test_missing_y_is_a_value_unless_declared_otherwise() -> None:
    counts = count_classes(VISITS, ["sex"], sensitive=["person"])
    assert XYAnonymity("person", 3).holds_in(counts).tolist() == [False, False]


def test_several_columns_count_together() -> None:
    counts = count_together(count_classes(VISITS, ["sex", "person", "ward"]), ["person", "ward"])
    assert counts.to_frame().rows() == [("f", 5), ("m", 3)]
    # (1,a) (1,b) (2,a) and (3,a) (4,a) (missing,a).
    assert XYAnonymity("y", 3).holds_in(counts).tolist() == [True, True]
    assert counts.histograms["y"].counts.tolist() == [1, 2, 2, 1, 1, 1]


ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.integers(0, 3), st.sampled_from("xy")))


@given(ROWS)
def test_distinct_combinations_of_y_equal_those_counted_row_by_row(rows: list[tuple[str, str, int, str]]) -> None:
    frame = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String, "r": pl.Int64, "s": pl.String}, orient="row")
    counts = count_together(count_classes(frame, ["p", "r", "q", "s"]), ["r", "s"])
    expected: dict[tuple[str, str], set[tuple[int, str]]] = {}
    for p, q, r, s in rows:
        expected.setdefault((p, q), set()).add((r, s))
    smallest = min((len(found) for found in expected.values()), default=0)
    assert XYAnonymity("y", 1).measure(counts).value == smallest
    assert counts.n_rows == len(rows)
