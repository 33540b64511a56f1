"""How many known purchases single customers out, by how exactly they are known: `tokumei knowledge --unicity`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tokumei.attacks.unicity import EXACTNESS, Curve, unicity_curve
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Drawing, Facts, Result, Rows, Section
from tokumei.core.wording import choice_of
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.report.figures import line_figure
from tokumei.report.needs import absent_in_words
from tokumei.report.page import Page
from tokumei.tasks.histories import released_of

# Marks of the literature: who knows four points singles out 90 % of the users of credit cards.
SHOWN_AT = 4


@dataclass(frozen=True, repr=False)
class Unicity(Result):
    """The share of customers singled out by p known purchases, a curve for each exactness of knowledge."""

    curves: Sequence[Curve]
    facts: Mapping[str, Any]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as `tokumei knowledge --unicity --json` prints them."""
        curves = [
            {"knows": one.knows, "singled_out": list(one.shares), "interval": [list(ends) for ends in one.intervals]}
            for one in self.curves
        ]
        return {**self.facts, "curves": curves, "left_out": dict(self.left_out)}

    def sections(self) -> Sequence[Section]:
        """Return the shares by number of points, with the interval at four."""
        n = len(self.curves[0].shares) if self.curves else 0
        at = min(SHOWN_AT, n) - 1
        rows = [[one.knows, *one.shares, one.intervals[at]] for one in self.curves]
        heads = ["known of each purchase", *map(str, range(1, n + 1)), f"95 % interval at {at + 1}"]
        said: list[Section] = [Facts(self.facts), Rows(heads, rows, "Customers singled out by so many purchases")]
        if self.left_out:
            said.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
        return said

    def to_frame(self) -> Any:
        """Return a row for each curve and number of points."""
        return pl.DataFrame(
            [
                {"knows": one.knows, "points": p, "singled_out": share, "from": ends[0], "to": ends[1]}
                for one in self.curves
                for p, (share, ends) in enumerate(zip(one.shares, one.intervals, strict=True), 1)
            ]
        )

    def figure(self) -> Drawing:
        """Draw the curves."""
        return Drawing(
            line_figure(
                self.to_frame(),
                x="points",
                y="singled_out",
                series="knows",
                x_title="purchases that are known",
                y_title="customers singled out",
                series_title="known of each",
                x_format="d",
            )
        )

    def page(self) -> Page:
        """Return the page with the figure and the table."""
        page = Page("How many purchases single a customer out")
        page.paragraph(
            "So many purchases of a customer are drawn at random; the customer is singled out if nobody else made "
            "them all. Who made fewer is known by all of them."
        )
        page.figure(self.figure().svg, "Share of customers singled out, by how exactly a purchase is known.")
        rows = [[one.knows, *(float(share) for share in one.shares)] for one in self.curves]
        page.table(["known of each purchase", *map(str, range(1, len(rows[0])))], rows, "The same in figures.")
        return page

    def __repr__(self) -> str:
        first = self.curves[0]
        at = min(SHOWN_AT, len(first.shares))
        return f"Unicity({first.shares[at - 1]:.1%} of customers singled out by {at} purchases, {first.knows} known)"


def unicity_history(
    history: Any,
    *,
    points: int = 10,
    draws: int = 5,
    seed: int = 0,
    exactness: Sequence[str] | None = None,
    reading: Reading = AS_IT_IS,
) -> Unicity:
    """Measure which share of the customers 1, 2, … known purchases single out.

    history: an original; of a release, pseudonyms stand in the place of customers.
    points, draws: the most purchases that are known, and how often they are drawn.
    exactness: some of "day and item", "month and item" …; all that the history has if not given.
    """
    for name, value in (("points", points), ("draws", draws)):
        if value < 1:
            raise InputError.of("1 or more", option=name, value=value)
    for name in exactness or ():
        if name not in EXACTNESS:
            raise InputError.of(choice_of(EXACTNESS), option="exactness", value=name)
    found = released_of(history, reading)
    if not found.kept.height:
        raise InputError.of("a history with rows", file=found.name)
    left_out, wanted = {}, []
    for name in exactness or EXACTNESS:
        absent = [column for column in EXACTNESS[name][1] if column in found.absent]
        if absent:
            left_out[name] = absent_in_words(absent)
        else:
            wanted.append(name)
    if not wanted:
        raise InputError.of("what the history has", option="exactness", value="; ".join(left_out.values()))
    curves = []
    with step("singling out", len(wanted)) as bar:
        for name in wanted:
            curves.append(unicity_curve(found, name, n_points=points, draws=draws, seed=seed))
            bar.advance()
    return Unicity(curves, {"customers": len(found.customers), "draws": draws, "seed": seed}, left_out)
