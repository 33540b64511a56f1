"""Further changes to a release of a history: widen, delete, permute, re-pseudonymize.

All work on the released rows, under the names of the customers they belong to, and end with fresh pseudonyms: so the
release that is changed must not have been published, or who has both puts them side by side.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei.core.text import counted
from tokumei.data.history import History
from tokumei.data.release import Recipe, Release
from tokumei.methods.history.dealing import OPEN, Groups, deal, draw_holders, put_in_place, rows_by_cell
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.habits import known_by_habits
from tokumei.methods.history.like_months import Limits, group_like_months
from tokumei.methods.history.permute_groups import check_equal_counts
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import all_rows, release_under_pseudonyms

# How far values are moved: within a week and a quarter of themselves, or anywhere in their month and up to the double.
WIDENED = (
    Perturb(days=7, quantities=0.25, prices=0.25),
    Perturb(days=31, quantities=1.0, prices=1.0, hides_times=True, whole_baskets=False),
)


@dataclass(frozen=True)
class Change:
    """Further changes to a release, and how far each goes.

    widen: 0 leaves values as they are, 1 moves them within a week and a quarter, 2 anywhere in their month.
    delete: share of all rows deleted, those that give most away.
    lifetime: months after which a pseudonym is exchanged for a new one; None leaves lives as they are.
    found: customers at risk are merged into groups with like months, whose purchases are permuted, until open customers
        at risk and groups together are at most so many; None permutes nobody.
    """

    widen: int = 0
    delete: float = 0.0
    lifetime: int | None = None
    found: int | None = None

    @property
    def name(self) -> str:
        """Describe the change."""
        parts = [
            "" if not self.widen else "widen " + ("within a week" if self.widen == 1 else "within the month"),
            f"delete {self.delete:.0%}" if self.delete else "",
            "" if self.lifetime is None else f"pseudonyms of {counted(self.lifetime, 'month')}",
            "" if self.found is None else f"permute groups until {self.found:,} may be found",
        ]
        return ", ".join(part for part in parts if part) or "nothing"

    def is_within(self, other: Change) -> bool:
        """Whether the other change goes at least as far in every way."""
        endless = float("inf")
        mine, theirs = (
            (one.widen, one.delete, -(one.lifetime or endless), -(endless if one.found is None else one.found))
            for one in (self, other)
        )
        return all(a <= b for a, b in zip(mine, theirs, strict=True))

    def apply(self, unnamed: History, lives: pl.DataFrame, at_risk: Collection[str], *, seed: int) -> Release:
        """Change released rows that stand under their customers' names, and give everybody fresh pseudonyms.

        `lives` has the columns customer, period and pseudonym of the release that is changed; CannotAnonymize where no
        groups can be made of those at risk.
        """
        history = unnamed
        if self.widen:
            history = _moved_as_far_as_can_be(history, WIDENED[self.widen - 1], seed)
        if self.delete:
            rule = Delete(once=False, price_deviations=0.0, telling=self.delete, most=1.0)
            history = rule.change(history, seed=seed).history
        facts: dict[str, object] = {}
        cells = lives.rename({"pseudonym": "life"})
        if self.lifetime is not None:
            first = lives["period"].min()
            block = (pl.col("period") - first) // self.lifetime
            cells = cells.with_columns(life=pl.concat_str("life", block.cast(pl.String), separator="\0"))
        groups, rows = None, all_rows(history)
        if self.found is not None:
            groups = group_those_at_risk(history, at_risk, self.found)
            facts = {name: value for name, value in groups.promise.items() if name in ("groups", "smallest_group")}
            facts |= groups.promise_of_rows
            facts["open_at_risk"] = int(np.isin(groups.customers.filter(groups.labels == OPEN), list(at_risk)).sum())
            dealt = deal(history, groups, "rows", generator(seed, "harden", "deal"))
            facts["known_by_habits"] = known_by_habits(history, groups, dealt["row"].to_numpy())
            holders = draw_holders(groups, generator(seed, "harden", "hand out"))
            moved = put_in_place(history, groups, dealt, holders, hides_baskets=True)
            history, rows = moved.history, moved.rows
            cells = _lives_of_groups(cells, groups)
        recipe = Recipe("harden", asdict(self), seed, found=facts)
        numbered = cells.with_columns(life=pl.col("life").rank("dense").cast(pl.Int64) - 1)
        release = release_under_pseudonyms(history, numbered, recipe=recipe, seed=seed)
        if groups is not None:
            check_equal_counts(groups, release)
        return replace(release, rows=rows)


def unname(original: History, released: History) -> History:
    """Put the customers of the original in the place of a release's pseudonyms, row for row."""
    is_kept = released.frame["customer"].is_not_null()
    frame = released.frame.with_columns(original.frame["customer"]).with_columns(pl.when(is_kept).then(pl.all()))
    return History(frame.select(released.frame.columns), released.name)


def group_those_at_risk(history: History, at_risk: Collection[str], most_found: int) -> Groups:
    """Merge customers at risk with like months into groups, until open ones and groups are at most so many.

    In a group whose purchases are permuted anybody is expected to find one customer, whatever they know (see
    `permute-groups`), so that only those who are found now need one: all others stay open. Who is at risk was found by
    purchases, so that the bound on purchases is for whoever holds all orders of a block for equally likely although the
    groups are known.
    """
    customers, n_rows = rows_by_cell(history)
    labels = np.full(len(customers), OPEN, np.int64)
    chosen = np.flatnonzero(customers.is_in(list(at_risk)).to_numpy())
    if len(chosen) > most_found:
        labels[chosen] = group_like_months(n_rows[chosen], Limits(most_found, smallest=2, most_open=len(chosen)))
    return Groups(customers, n_rows, labels)


def _moved_as_far_as_can_be(history: History, rule: Perturb, seed: int) -> History:
    """Move what the history has: one of visits has no prices."""
    absent = history.absent
    fitting = Perturb(
        days=rule.days,
        quantities=0.0 if "quantity" in absent else rule.quantities,
        prices=0.0 if "price" in absent else rule.prices,
        hides_times=rule.hides_times,
        whole_baskets=rule.whole_baskets,
    )
    return fitting.change(history, seed=seed).history


def _lives_of_groups(cells: pl.DataFrame, groups: Groups) -> pl.DataFrame:
    """Extend a change of pseudonym to all customers of its group; others keep their lives.

    Were it otherwise, who changes when would tell the customers of a group apart.
    """
    names = pl.DataFrame({"customer": groups.customers, "group": groups.labels}).filter(pl.col("group") != OPEN)
    mine = cells.join(names, on="customer").sort("customer", "period")
    is_new = (pl.col("life") != pl.col("life").shift()).over("customer").fill_null(False)
    changes = mine.filter(mine.select(is_new).to_series()).select("group", "period").unique()
    periods = cells.select("period").unique()
    grid = names.select("group").unique().join(periods, how="cross")
    grid = grid.join(changes.with_columns(new=1), on=["group", "period"], how="left").sort("group", "period")
    grid = grid.with_columns(segment=pl.col("new").fill_null(0).cum_sum().over("group"))
    grouped = names.join(grid, on="group").select(
        "customer", "period", life=pl.concat_str("customer", pl.col("segment").cast(pl.String), separator="\0")
    )
    open_cells = cells.join(names, on="customer", how="anti").select("customer", "period", "life")
    # A mark keeps a customer's name from being a pseudonym of the release before.
    return pl.concat(
        [open_cells.with_columns(life="o" + pl.col("life")), grouped.with_columns(life="g" + pl.col("life"))]
    )


def lives_of(unnamed: History, released: History) -> pl.DataFrame:
    """Return the pseudonym of each customer in each month of the release: customer, period, pseudonym."""
    columns = {"customer": unnamed.frame["customer"], "period": released.period}
    rows = pl.DataFrame({**columns, "pseudonym": released.frame["customer"]})
    return rows.drop_nulls().unique().sort("customer", "period", "pseudonym")


def longest_life(lives: pl.DataFrame) -> int:
    """Return the most months that a pseudonym lives for one customer, from its first to its last."""
    spans = lives.group_by("customer", "pseudonym").agg(span=pl.col("period").max() - pl.col("period").min() + 1)
    return max(spans["span"].to_list(), default=0)
