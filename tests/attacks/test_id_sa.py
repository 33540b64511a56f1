from __future__ import annotations

from tokumei.attacks.nearest_rows import IdSa
from tokumei.data.table import Table


def table(q: str, s: list[int]) -> Table:
    return Table.with_quasi_identifiers({"q": list(q), "s": s}, ["q"], sensitive=["s"])


def test_id_sa_takes_the_nearest_of_those_who_look_the_same() -> None:
    # 4 is nearer to 5 than to 1 in class a; in class b it is nearer to 1 than to 9, and 5 is as near: the lower.
    guess = IdSa("s").guess(table("aabb", [1, 5, 1, 9]), table("abbc", [4, 4, 5, 1]), seed=0)
    assert guess.to_list() == [1, 2, 2, None]
