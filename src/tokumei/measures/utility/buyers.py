"""Whether it still shows who buys an item: by sex and by age."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.utility._rows import check_aligned
from tokumei.measures.utility.top_items import top_items


@dataclass(frozen=True)
class Buyers:
    """Mean distance of the buyers' shares by sex and age of an item: 0 if the same, 1 if no group is shared.

    Customers have their attributes in a master frame with the column `customer`; a date among them counts as its
    decade. The buyers of an item are the customers, in a release the pseudonyms, who have a row with it; their
    shares by the groups of `by` are compared before and after by the total variation, half the sum of |p − q|, and an
    item that nobody buys any more is at distance 1. It is the mean over the `n_items` items with the most buyers. The
    release must keep the rows of the original, and each row belongs to whom it did, unless the pseudonyms have a
    master of their own.
    """

    master: pl.DataFrame | None = field(
        default=None, compare=False, metadata={"help": "Attributes of the original's customers."}
    )
    released_master: pl.DataFrame | None = field(
        default=None, compare=False, metadata={"help": "Attributes of the pseudonyms, where these were released too."}
    )
    by: tuple[str, ...] = field(default=("sex", "birth"), metadata={"help": "Attributes that make the groups."})
    n_items: int = field(default=100, metadata={"help": "How many of the most bought items are looked at."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the buyers of the items most bought."""
        self.check_options()
        items = top_items(original, self.n_items)
        before = self._counts(original.frame, original.frame["customer"], self.master, items)
        if self.released_master is not None:
            after = self._counts(released.frame, released.frame["customer"], self.released_master, items)
        else:
            check_aligned(original, released)
            after = self._counts(released.frame, original.frame["customer"], self.master, items)
        return self.compare(items, before, after)

    def check_options(self) -> None:
        """Refuse to look at no item."""
        if self.n_items < 1:
            raise InputError.of("at least one item", option="n_items", value=self.n_items)

    def compare(self, items: list[str], before: pl.DataFrame, after: pl.DataFrame) -> Score:
        """Compare the buyers of each item and group before and after: its columns, and the buyers last."""
        ours, theirs = _shares(before), _shares(after)
        distances = [_distance(ours.get(item, {}), theirs.get(item, {})) for item in items]
        value = math.fsum(distances) / len(distances) if distances else 0.0
        return Score("buyers", value, best=0, worst=1, inputs={"items": len(items), "by": ", ".join(self.by)})

    def _counts(
        self, rows: pl.DataFrame, owners: pl.Series, master: pl.DataFrame | None, items: list[str]
    ) -> pl.DataFrame:
        """Count the buyers of each item and group."""
        kept = rows.select("item", pseudonym="customer", customer=owners).drop_nulls("pseudonym")
        bought = kept.filter(pl.col("item").is_in(items)).unique(["item", "pseudonym", "customer"])
        if master is not None:
            bought = bought.join(self.groups(master), on="customer", how="left")
        by = list(self.by) if master is not None else []
        return bought.group_by("item", *by).agg(n=pl.len()).select("item", *by, "n")

    def groups(self, master: pl.DataFrame) -> pl.DataFrame:
        """Return the customers of a master with the attributes of the groups."""
        for name in ("customer", *self.by):
            if name not in master.columns:
                raise InputError.of(f"a column of the master: {', '.join(master.columns)}", value=name)
        decades = [
            (pl.col(name).dt.year() // 10 * 10).alias(name) if master.schema[name].is_temporal() else pl.col(name)
            for name in self.by
        ]
        return master.select(pl.col("customer").cast(pl.String), *decades)


def _shares(counts: pl.DataFrame) -> dict[str, dict[tuple[object, ...], float]]:
    """Return the share of each group among the buyers of each item."""
    found: dict[str, dict[tuple[object, ...], float]] = {}
    for item, *group, n in counts.iter_rows():
        found.setdefault(item, {})[tuple(group)] = n
    return {item: {group: n / sum(sizes.values()) for group, n in sizes.items()} for item, sizes in found.items()}


def _distance(before: dict[tuple[object, ...], float], after: dict[tuple[object, ...], float]) -> float:
    if not after:
        return 1.0
    return min(1.0, math.fsum(abs(before.get(group, 0.0) - after.get(group, 0.0)) for group in {*before, *after}) / 2)
