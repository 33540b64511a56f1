"""Numbers of chance beside rows, held against the generator written out in plain Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.philox import philox_number, philox_step

from tokumei.engines.draws import chance_beside, chance_column, drawn_numbers

KEY = "0123456789abcdef0f1e2d3c4b5a6978"


def test_generator_gives_what_its_authors_print() -> None:
    # Two of the known answers that are published with Random123, for philox4x64 of ten rounds.
    zeros = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert philox_step(0, 0) == zeros
    ones = [0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0]
    assert philox_step(2**128 - 1, 2**256 - 1) == ones


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**40), st.integers(0, 9))
def test_numbers_are_those_of_the_generator_wherever_a_run_begins(key: int, first: int, n: int) -> None:
    drawn = drawn_numbers(f"{key:032x}", first, n)
    assert drawn.tolist() == [philox_number(key, row) for row in range(first, first + n)]


def test_each_key_gives_a_column_of_the_upper_halves_of_its_numbers() -> None:
    frame = chance_beside([KEY, KEY[::-1]], 5, 3)
    assert frame.columns == [chance_column(KEY), chance_column(KEY[::-1])]
    assert frame.to_series().to_list() == [philox_number(int(KEY, 16), row) >> 32 for row in range(5, 8)]
    assert chance_beside([], 0, 4).columns == []
