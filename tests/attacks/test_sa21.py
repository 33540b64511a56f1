from __future__ import annotations

from tokumei.attacks.nearest_rows import Sa21
from tokumei.data.table import Table


def table(q: str, s: list[int]) -> Table:
    return Table.with_quasi_identifiers({"q": list(q), "s": s}, ["q"], sensitive=["s"])


def test_sa21_takes_the_nearest_of_all() -> None:
    # Of 20 and 20 the first row; 25 is as near to 20 as to 30: the lower.
    guess = Sa21("s").guess(table("abcd", [10, 20, 30, 20]), table("dddd", [12, 20, 27, 25]), seed=0)
    assert guess.to_list() == [0, 1, 2, 1]
