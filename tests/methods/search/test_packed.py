"""Packed roll-ups against counting anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import costly_cases

from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.methods.search.packed import PackedLattice, joined, lay_fields

LETTERS = list("abcdef")


def three_levels(name: str) -> Hierarchy:
    pairs = ["ab", "ab", "cd", "cd", "ef", "ef"]
    return Hierarchy.of_levels(name, [LETTERS, pairs, ["*"] * 6])


ROW = st.tuples(st.none() | st.sampled_from(LETTERS), st.sampled_from(LETTERS), st.sampled_from("xyz") | st.none())


@pytest.mark.slow
@settings(max_examples=costly_cases(60))
@given(st.lists(ROW, min_size=1, max_size=40))
def test_every_node_rolled_up_equals_every_node_counted(rows: list[tuple[str | None, str, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "s": pl.String}, orient="row")
    lattice = Lattice.of([three_levels("a"), three_levels("b")])
    packed = PackedLattice(lattice, count_classes(frame, ["a", "b"], sensitive=["s"]))
    for node in reversed(list(lattice)):
        recodings = [h.recoding(level) for h, level in zip(lattice.hierarchies, node, strict=True)]
        anew = count_classes(frame, ["a", "b"], recodings=recodings, sensitive=["s"])
        assert _classes(packed.counts(packed.at(node))) == _classes(anew)


def _classes(counts: ClassCounts) -> dict[tuple[object, ...], tuple[int, tuple[tuple[str, int], ...]]]:
    frame = counts.to_frame()
    histogram = counts.histograms["s"]
    values: dict[int, list[tuple[str, int]]] = {}
    for at, value, n in zip(histogram.class_of, histogram.value_of, histogram.counts, strict=True):
        values.setdefault(int(at), []).append((str(histogram.values[int(value)]), int(n)))
    return {row[:-1]: (row[-1], tuple(sorted(values[at]))) for at, row in enumerate(frame.iter_rows())}


NUMBERS = st.integers(0, 3) | st.integers(0, 2**31) | st.integers(2**62, 2**64 - 1)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 1), st.integers(1, 2**33)), max_size=40), st.booleans())
def test_equal_classes_are_joined_in_order(rows: list[tuple[int, int, int]], has_two_words: bool) -> None:
    words = [np.array([row[at] for row in rows], np.uint64) for at in range(1 + has_two_words)]
    sizes = np.array([row[2] for row in rows], np.int64)
    expected: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        # The last word counts most.
        expected[tuple(reversed(row[: len(words)]))] += row[2]
    bits = int(sizes.sum()).bit_length()
    found = [(joined(words, sizes, 0), 0)]
    if not has_two_words and all(row[0] >> (64 - bits) == 0 for row in rows):
        found.append((joined([words[0] << np.uint64(bits)], sizes, bits), bits))
    for packed, shift in found:
        columns = [(word >> np.uint64(shift)).tolist() for word in reversed(packed.words)]
        assert list(zip(*columns, strict=True)) == sorted(expected)
        assert packed.sizes.tolist() == [expected[key] for key in sorted(expected)]


def test_fields_fill_a_word_and_then_start_another() -> None:
    fields = lay_fields([2, 1 << 40, 1 << 30])
    assert [(one.word, one.shift, one.bits) for one in fields] == [(0, 0, 1), (0, 1, 40), (1, 0, 30)]
    assert [(one.word, one.shift) for one in lay_fields([2, 4], lowest=62)] == [(0, 62), (1, 0)]


def test_sizes_stand_in_the_lowest_bits_where_there_is_room() -> None:
    names = [f"c{n}" for n in range(20)]
    lattice = Lattice.of([three_levels(name) for name in names])
    for n_rows, size_bits in ((15, 4), (16, 0)):
        frame = pl.DataFrame({name: [LETTERS[at % 6] for at in range(n_rows)] for name in names})
        packed = PackedLattice(lattice, count_classes(frame, names))
        # Twenty fields of three bits leave four: fifteen rows fit beside them, sixteen do not.
        classes = packed.at(lattice.bottom).classes
        assert (len(classes.words), int(classes.words[0].min())) == (1, 0)
        assert all(int(word) % (1 << size_bits) == 0 for word in classes.words[0])
        assert packed.at((1,) * 20).classes.sizes.tolist() == ([6, 5, 4] if n_rows == 15 else [6, 6, 4])


def test_attributes_of_more_than_64_bits_are_counted_all_the_same() -> None:
    names = [f"c{n}" for n in range(30)]
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.choice(LETTERS, 50) for name in names})
    lattice = Lattice.of([three_levels(name) for name in names])
    packed = PackedLattice(lattice, count_classes(frame, names))
    assert len(packed.at(lattice.bottom).classes.words) == 2
    node = tuple([2] * 28 + [1, 0])
    recodings = [h.recoding(level) for h, level in zip(lattice.hierarchies, node, strict=True)]
    anew = count_classes(frame, names, recodings=recodings)
    assert sorted(packed.at(node).classes.sizes.tolist()) == sorted(anew.sizes.tolist())


def test_value_without_a_leaf_is_named() -> None:
    frame = pl.DataFrame({"a": ["a", "zebra"]})
    with pytest.raises(Exception, match="zebra"):
        PackedLattice(Lattice.of([three_levels("a")]), count_classes(frame, ["a"]))
