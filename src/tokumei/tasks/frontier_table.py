"""Releases of one table that promise more and more: what each loses and how many people can be found in it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.result import Drawing, Result, Rows, Section, Sentence
from tokumei.core.wording import counted
from tokumei.data.table import Table
from tokumei.report.sweep import frontier as unbeaten
from tokumei.tasks.anonymize_table import anonymize_table
from tokumei.tasks.request import ReleaseRequest

NOTHING = ReleaseRequest()
# Twelve releases by one method: enough to see where safety begins to cost.
USUAL_KS, USUAL_SHARES = (2, 3, 5, 10, 20, 50), (0.0, 0.05)
FOUND = (
    "Found is the share of all people that an attacker who knows every quasi-identifier of everybody finds on average, "
    "guessing within each class: classes for each row of the original. Who is left out is not found."
)


@dataclass(frozen=True, eq=False, repr=False)
class TableFrontier(Result):
    """Releases of one table, each with the use it lost and the people found, and which of them none beats."""

    n_rows: int
    loss_name: str
    releases: Sequence[Mapping[str, Any]]
    frame_kind: str = "polars"

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {"rows": self.n_rows, "loss_name": self.loss_name, "releases": [dict(one) for one in self.releases]}

    def sections(self) -> Sequence[Section]:
        """Return the table of releases."""
        head = ["method", "k", "may suppress", f"loss ({self.loss_name})", "found", "suppressed", ""]
        rows = [
            [
                *(one["method"], one["k"], one["suppress"], one.get("loss"), one.get("found"), one.get("suppressed")),
                one.get("error") or ("frontier" if one["is_on_frontier"] else ""),
            ]
            for one in self.releases
        ]
        return [Rows(head, rows), Sentence(FOUND)]

    def figure(self) -> Drawing | None:
        """Draw use lost against people found."""
        from tokumei.report.figures import frontier_figure

        made = [one for one in self.releases if "error" not in one]
        if not made:
            return None
        points = pl.DataFrame([{key: one[key] for key in ("loss", "found", "is_on_frontier")} for one in made])
        titles = {"x_title": f"use lost ({self.loss_name})", "y_title": "people found"}
        return Drawing(frontier_figure(points, x="loss", y="found", is_best="is_on_frontier", **titles))

    def __repr__(self) -> str:
        return f"TableFrontier({counted(len(self.releases), 'release')} of {counted(self.n_rows, 'row')})"


def frontier_table(
    table: Table,
    *,
    ks: Sequence[int] = USUAL_KS,
    shares: Sequence[float] = USUAL_SHARES,
    methods: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    asked: ReleaseRequest = NOTHING,
) -> TableFrontier:
    """Anonymize a table by each method for each k and each share that may be left out, and compare the releases.

    methods: options by the name of the method; `optimal` if not given.
    asked: what else every release must hold; its k, its share and its method are what is varied.

    >>> import tokumei as tk
    >>> people = tk.Table({"age": [30, 31, 52, 53]}, qi=["age"])
    >>> [(one["k"], one["found"]) for one in frontier_table(people, ks=[2, 4], shares=[0.0]).releases]
    [(2, 0.5), (4, 0.25)]
    """
    ways = list(itertools.product((methods or {"optimal": {}}).items(), ks, shares))
    if not ways:
        raise InputError.of("a method, a k and a share or more")
    made: list[dict[str, Any]] = []
    with step("trying releases", len(ways)) as bar:
        for (name, options), k, share in ways:
            made.append(
                {"method": name, "k": k, "suppress": share}
                | _try(table, replace(asked, method=name, options=options, k=k, suppress=share, seed=seed))
            )
            bar.advance()
    lines = pl.DataFrame(
        {"utility": [one.get("loss") for one in made], "found": [one.get("found") for one in made]},
        schema={"utility": pl.Float64, "found": pl.Float64},
    )
    for one, is_best in zip(made, unbeaten(lines), strict=True):
        one["is_on_frontier"] = bool(is_best)
    loss_name = next((one["loss_name"] for one in made if "loss_name" in one), "")
    return TableFrontier(table.n_rows, loss_name, made, table.kind)


def _try(table: Table, asked: ReleaseRequest) -> dict[str, Any]:
    """Return what one release lost and how many people are found in it, or why there is none."""
    try:
        done = anonymize_table(table, asked).to_dict()
    except CannotAnonymize as error:
        return {"error": error.text}
    told = {key: done.get(key) for key in ("loss", "loss_name", "suppressed", "classes", "levels")}
    return told | {"k_found": done.get("k"), "found": (done.get("classes") or 0) / max(1, table.n_rows)}
