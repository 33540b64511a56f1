"""What is published of an offer, as attacks on tables of counts read it."""

from __future__ import annotations

from typing import Any

import polars as pl

import tokumei as tk
from tokumei.exchange.public_knowledge import CellKnowledge, CellSpace, PublishedCounts, Told, count_table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice

TOWN = Hierarchy.of_levels("town", [["Kyoto", "Osaka", "Nara"], ["*"] * 3])
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])


def unique(found: Any) -> list[str]:
    claims: pl.DataFrame = found.claims
    return claims.filter(kind="unique")["claim"].to_list()


def test_published_counts_are_lines_of_one_table_from_which_the_attack_proves_what_follows() -> None:
    """Kyoto 5 and Osaka 4 of ten people, none of whom has no town but perhaps one: {Nara, missing} has one."""
    known = CellKnowledge(CellSpace(Lattice.of([TOWN, SEX])))
    known.learn_release(PublishedCounts((1, 0), {("*", "f"): 6, ("*", "m"): 4}))
    town = known.cells.leaves[0]
    known.told += [Told(town == 0, 5), Told(town == 1, 4), Told(town >= 2, 1)]
    frame = count_table(known)
    assert frame.rows() == [
        (None, "f", 6),
        (None, "m", 4),
        (None, "(missing)", 0),
        (None, None, 10),
        ("Kyoto", None, 5),
        ("Osaka", None, 4),
        ("{Nara;(missing)}", None, 1),
    ]
    trees = {"town": TOWN, "sex": SEX}
    found = tk.attack(tk.Table(frame, qi=["town", "sex"], hierarchies=trees), attack="reconstruction", fits=2)
    assert unique(found) == ["town {Nara;(missing)}: 1 row"]
    more = pl.concat([frame, pl.DataFrame({"town": ["Nara"], "sex": [None], "rows": [1]}, schema=frame.schema)])
    found = tk.attack(tk.Table(more, qi=["town", "sex"], hierarchies=trees), attack="reconstruction", fits=2)
    assert unique(found) == ["town Nara: 1 row", "town {Nara;(missing)}: 1 row"]
