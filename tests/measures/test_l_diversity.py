from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.engines.count import count_classes
from tokumei.measures.safety.diversity import LDiversity
from tokumei.measures.safety.sensitive_values import SensitiveValues

# A: flu 2, cold 1, ulcer 1. B: flu 1, cold 1. C: flu 3, missing 1.
PATIENTS = pl.DataFrame(
    {
        "zip": ["A"] * 4 + ["B"] * 2 + ["C"] * 4,
        "illness": ["flu", "flu", "cold", "ulcer", "flu", "cold", "flu", "flu", "flu", None],
    }
)


def achieved(requirement: LDiversity, frame: pl.DataFrame = PATIENTS) -> list[float]:
    counts = count_classes(frame, ["zip"], sensitive=["illness"])
    return list(requirement.achieved(requirement.values_in(counts)))


def test_distinct_l_is_the_number_of_values() -> None:
    assert achieved(LDiversity("illness", 3, is_missing_a_value=True)) == [3, 2, 2]
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    assert LDiversity("illness", 3, is_missing_a_value=True).measure(counts).value == 2
    assert LDiversity("illness", 3, is_missing_a_value=True).holds_in(counts).tolist() == [True, False, False]


def test_entropy_l_is_e_to_the_entropy() -> None:
    # A: exp(½ ln 2 + 2 · ¼ ln 4) = √2 · 2; C: exp(¾ ln 4/3 + ¼ ln 4).
    quarter = math.exp(0.75 * math.log(4 / 3) + 0.25 * math.log(4))
    entropy = LDiversity("illness", 2, "entropy", is_missing_a_value=True)
    assert achieved(entropy) == pytest.approx([2 * math.sqrt(2), 2, quarter])
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    assert entropy.holds_in(counts).tolist() == [True, True, False]


def test_entropy_of_equally_frequent_values_is_their_number_in_spite_of_rounding() -> None:
    for n in range(1, 60):
        frame = pl.DataFrame({"zip": ["A"] * n, "illness": [str(i) for i in range(n)]})
        counts = count_classes(frame, ["zip"], sensitive=["illness"])
        assert LDiversity("illness", n, "entropy").holds_in(counts).all()


def test_recursive_l_compares_the_most_frequent_value_with_the_tail() -> None:
    # A: 2 < 2·4, 2 < 2·2, but not 2 < 2·1. B: 1 < 2·2 and 1 < 2·1. C: 3 < 2·4, but not 3 < 2·1.
    assert achieved(LDiversity("illness", 2, "recursive", 2, is_missing_a_value=True)) == [2, 2, 1]
    # With c = 4 even 3 < 4·1 holds.
    assert achieved(LDiversity("illness", 2, "recursive", 4, is_missing_a_value=True)) == [3, 2, 2]
    # With c = ½ the most frequent value must be less than half: none is, but ℓ = 1 always holds.
    assert achieved(LDiversity("illness", 1, "recursive", 0.5, is_missing_a_value=True)) == [1, 1, 1]


def test_missing_values_that_do_not_count_leave_fewer() -> None:
    assert achieved(LDiversity("illness", 2)) == [3, 2, 1]
    unknown = pl.DataFrame({"zip": ["A", "B", "B"], "illness": [None, "flu", "cold"]})
    for kind in ("distinct", "entropy", "recursive"):
        requirement = LDiversity("illness", 1, kind, 2)
        assert achieved(requirement, unknown) == pytest.approx([0, 2])


Rows = list[tuple[str, str]]
SOME_ROWS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("uvwxyz")), min_size=1, max_size=60)


@given(SOME_ROWS, st.sampled_from([0.5, 1, 1.5, 2, 3, 10]))
def test_all_kinds_equal_their_definitions_in_plain_python(rows: Rows, c: float) -> None:
    frame = pl.DataFrame(rows, schema=["zip", "illness"], orient="row")
    entropies, recursives = [], []
    for index in sorted({index for index, _ in rows}):
        r = sorted(Counter(s for p, s in rows if p == index).values(), reverse=True)
        entropies.append(math.exp(-sum(n / sum(r) * math.log(n / sum(r)) for n in r)))
        recursives.append(max(n for n in range(1, len(r) + 1) if n == 1 or r[0] < c * sum(r[n - 1 :])))
    assert achieved(LDiversity("illness", 1, "entropy"), frame) == pytest.approx(entropies)
    assert achieved(LDiversity("illness", 1, "recursive", c), frame) == recursives


def test_counts_descend_within_each_class() -> None:
    counts = count_classes(PATIENTS, ["zip"], sensitive=["illness"])
    assert SensitiveValues.of(counts, "illness").descending.tolist() == [2, 1, 1, 1, 1, 3]


def test_recursive_l_of_one_row_is_one_with_any_c() -> None:
    one = pl.DataFrame({"zip": ["A"], "illness": ["flu"]})
    for c in (0.5, 1.0, 3.0):
        counts = count_classes(one, ["zip"], sensitive=["illness"])
        assert LDiversity("illness", 1, "recursive", c).measure(counts).value == 1
