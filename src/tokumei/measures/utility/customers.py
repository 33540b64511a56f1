"""Who buys what: buyers by sex and age, mean prices, segments by recency, frequency and money."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.utility.purchases import check_aligned, top_items


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


@dataclass(frozen=True)
class Crosstab:
    """Mean absolute error of the mean unit price by decade of birth and country: 0 if the same, no upper end.

    As in PWSCUP 2016: customers have their attributes in a master frame with the column `customer`; a date among them
    counts as its decade. A cell of the table is the plain mean of the unit price over its rows, and the error is the
    mean over the cells that the original fills; a cell that the release leaves empty counts as a mean of 0. The
    released customers have a master of their own; without one the release must keep the rows of the original, and each
    row belongs to whom it did. Without any master there is one cell: everyone.
    """

    master: pl.DataFrame | None = field(
        default=None, compare=False, metadata={"help": "Attributes of the original's customers."}
    )
    released_master: pl.DataFrame | None = field(
        default=None, compare=False, metadata={"help": "Attributes of the pseudonyms, where these were released too."}
    )
    by: tuple[str, ...] = field(default=("birth", "country"), metadata={"help": "Attributes that make the cells."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the tables of both."""
        if self.master is None:
            before, after = _mean_prices(original.kept, []), _mean_prices(released.kept, [])
        else:
            before = self._table(original.frame["customer"], original, self.master)
            if self.released_master is None:
                check_aligned(original, released)
                after = self._table(original.frame["customer"], released, self.master)
            else:
                after = self._table(released.frame["customer"], released, self.released_master)
        errors = [abs(mean - after.get(cell, 0.0)) for cell, mean in before.items()]
        return Score("crosstab", math.fsum(errors) / max(1, len(errors)), best=0, worst=math.inf)

    def _table(self, owners: pl.Series, history: History, master: pl.DataFrame) -> dict[tuple[object, ...], float]:
        rows = history.frame.select(
            pl.col("price"), owners.alias("customer"), released=pl.col("customer").is_not_null()
        )
        attributes = self.attributes(master)
        known = rows.filter("released").join(attributes, on="customer", how="left", validate="m:1")
        return _mean_prices(known, list(self.by))

    def attributes(self, master: pl.DataFrame) -> pl.DataFrame:
        """Return the customers of a master with the attributes of the cells."""
        for name in ("customer", *self.by):
            if name not in master.columns:
                raise InputError.of(f"a column of the master: {', '.join(master.columns)}", value=name)
        return master.select("customer", *(_as_cell(master, name) for name in self.by))


def _as_cell(master: pl.DataFrame, name: str) -> pl.Expr:
    is_date = master.schema[name].is_temporal()
    return (pl.col(name).dt.year() // 10 * 10).alias(name) if is_date else pl.col(name)


def _mean_prices(rows: pl.DataFrame, by: list[str]) -> dict[tuple[object, ...], float]:
    cells = rows.group_by(by).agg("price").iter_rows() if by else [(rows["price"],)] if rows.height else []
    # Exact sums, so that the order of rows cannot change a digit.
    return {tuple(cell[:-1]): math.fsum(cell[-1]) / len(cell[-1]) for cell in cells}


# Money is summed in whole ten-thousandths, exactly: rounding must not lift a customer over the edge of a rank.
MONEY_UNIT = 10_000


@dataclass(frozen=True)
class RfmTable:
    """Error of the customer counts by recency, frequency and money: 0 if the same, 1 if no segment is shared.

    R is the day of the last purchase, F the number of days with a purchase, M the money spent. Each is cut into ranks
    with equally many of the original's customers (ties share a rank), and the same edges rank the release, in which a
    customer is a pseudonym. The papers ask for the root mean square error of the table, normalized, without saying by
    what. Here it is by the greatest error two tables a and b with such counts can have, √((Σa² + Σb²) / cells), so that
    a release that lost everyone scores 1. Divided by the `range` of the original's counts instead, a trial release had
    0.14, of the size printed for PWSCUP 2018 (0.09 to 0.25); but then one that lost everyone would have 0.10.
    """

    n_ranks: int = field(default=10, metadata={"help": "Ranks of each of the three: 10 make a table of 1,000 cells."})
    normalize: Literal["worst", "range"] = field(
        default="worst", metadata={"help": "What the error is divided by: the worst there is, or the range of counts."}
    )

    def measure(self, original: History, released: History) -> Score:
        """Compare the tables of both."""
        self.check_options()
        before, after = customer_values(original), customer_values(released)
        if before.height == 0:
            return Score("rfm-table", float(after.height > 0), best=0, worst=1)
        edges = {name: self.edges(np.sort(before[name].to_numpy())) for name in before.columns}
        return self.score(*(self._table(values, edges) for values in (before, after)))

    def check_options(self) -> None:
        """Refuse ranks that tell nothing."""
        if self.n_ranks < 2:
            raise InputError.of("at least two ranks", option="n_ranks", value=self.n_ranks)

    def score(self, one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Score:
        """Compare the table of an original with that of its release."""
        error = int(((one - other) ** 2).sum())
        if self.normalize == "worst":
            greatest = int((one**2).sum() + (other**2).sum())
        else:
            # From 0 to the greatest count: some segment is empty in all but made-up tables.
            greatest = int(one.max()) ** 2 * len(one)
        return Score("rfm-table", min(1.0, math.sqrt(error / greatest)), best=0, worst=1)

    def edges(self, ordered: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the last value of each rank but the highest."""
        indices = -(-len(ordered) * np.arange(1, self.n_ranks) // self.n_ranks)
        last: npt.NDArray[np.int64] = ordered[np.maximum(indices, 1) - 1]
        return last

    def _table(self, values: pl.DataFrame, edges: dict[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        cells = np.zeros(values.height, np.int64)
        for name, last in edges.items():
            cells = cells * self.n_ranks + np.searchsorted(last, values[name].to_numpy(), side="left")
        return np.bincount(cells, minlength=self.n_ranks ** len(edges))


def customer_values(history: History) -> pl.DataFrame:
    """Return recency, frequency and money of each customer, all as whole numbers."""
    spent = (pl.col("price") * MONEY_UNIT).round().cast(pl.Int64) * pl.col("quantity")
    values = history.kept.group_by("customer").agg(
        recency=pl.col("date").max().cast(pl.Int32).cast(pl.Int64),
        frequency=pl.col("date").n_unique().cast(pl.Int64),
        money=spent.sum(),
    )
    return values.drop("customer")
