from __future__ import annotations

from tokumei.attacks.nearest_rows import Sort
from tokumei.data.table import Table


def table(s: list[int], t: list[int]) -> Table:
    return Table.with_quasi_identifiers({"s": s, "t": t}, [], sensitive=["s", "t"])


def test_sort_matches_by_the_rank_of_sums() -> None:
    # The sums are 4, 1, 3, 2 and 30, 10, 20, 40.
    guess = Sort().guess(table([3, 1, 0, 2], [1, 0, 3, 0]), table([0, 5, 10, 40], [30, 5, 10, 0]), seed=0)
    assert guess.to_list() == [2, 1, 3, 0]


def test_sort_of_fewer_rows_stretches_the_ranks() -> None:
    # Rows by their sums: 1, 3, 2, 0. The lower half has its middle at the second, the upper at the last.
    assert Sort().guess(table([3, 1, 0, 2], [1, 0, 3, 0]), table([40, 20], [0, 0]), seed=0).to_list() == [0, 3]
