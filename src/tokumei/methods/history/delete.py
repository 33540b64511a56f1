"""Rows deleted: at random, because they give their customer away, or until no combination of items is rare."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.score import most_within
from tokumei.core.seeds import key_of
from tokumei.core.text import Text, counted
from tokumei.data.history import History
from tokumei.engines.changing import ChangingRows, Rows, count
from tokumei.engines.draws import BITS
from tokumei.engines.history_rows import Frame
from tokumei.engines.item_sets import Floats, Ints, ItemSets, Matrix, fewest_sharing
from tokumei.methods.history.steps import Changed, HistoryStep, StepAnywhere, without_rows

# What the six sample attackers of PWSCUP 2017 compare; `group` is an item's first two characters.
COMPARED = (
    ("date", "quantity"),
    ("group", "price"),
    ("group", "quantity"),
    ("date", "group"),
    ("group", "price", "quantity"),
    ("group", "date", "quantity"),
)


@dataclass(frozen=True)
class Delete(StepAnywhere):
    """Delete the rows that are singular, then those that give most away, then some at random.

    | rule                | deletes                                                                          |
    |---------------------|----------------------------------------------------------------------------------|
    | `once`              | items with a single row in the whole history                                     |
    | `price_deviations`  | prices beyond the mean by more than so many standard deviations                  |
    | `telling`           | the share of rows that fewest customers share by date, kind of item, price, quantity |
    | `random`            | a share of the rows, each with the same chance                                   |

    The rules apply in this order, each to the rows that those before it left, and stop when the largest share
    is reached. Shares are of all rows, those deleted earlier included. A deleted row is missing in every column. Of a
    history that lacks prices or items, as visits do, `telling` compares what it has, and the rule about them deletes
    nothing.
    """

    once: bool = field(default=True, metadata={"help": "Delete items bought only once."})
    price_deviations: float = field(
        default=4.0, metadata={"help": "Standard deviations from the mean beyond which a price is deleted; 0: none is."}
    )
    telling: float = field(default=0.0, metadata={"help": "Share of rows to delete that give most away."})
    random: float = field(default=0.0, metadata={"help": "Share of rows to delete at random."})
    most: float = field(default=0.5, metadata={"help": "Largest share of rows that may be deleted in all."})

    def change_rows(self, rows: Rows, *, seed: int) -> Rows:
        """Delete rows; the others stay as they are."""
        import narwhals as nw

        self.check_options()
        # Rows have an order by chance, so that a rule that is cut short does not spare the end of the file.
        [key] = self.chance_keys(seed)
        drawn = rows.with_chance(key)
        n_most = most_within(self.most, rows.n_rows)
        n_left_out, n_gone = rows.n_rows - rows.n_kept, 0
        gone: Frame | None = None
        for rule, (candidates, orders, n_wanted) in enumerate(self._rules(rows, drawn)):
            listed = candidates if gone is None else candidates.join(gone, on="row", how="anti")
            listed = listed.select("row", *orders)
            # What every row may be is looked up again sooner than written down and read.
            if candidates is not drawn:
                listed = rows.computed(f"{seed}-candidates-{rule}", listed)
            n_listed = count(rows, listed)
            n = min(n_wanted, max(0, n_most - n_left_out - n_gone), n_listed)
            if n:
                chosen = listed.select("row") if n == n_listed else rows.first(listed, orders, n)
                gone = rows.computed(f"{seed}-gone-{rule}", chosen if gone is None else nw.concat([gone, chosen]))
                n_gone += n
        return rows if gone is None else rows.without(gone, n_gone)

    def _rules(self, rows: ChangingRows, drawn: Frame) -> Iterator[tuple[Frame, dict[str, int], int]]:
        """Yield for each rule the rows it would delete, by what they are ordered, and how many of them at most."""
        import narwhals as nw

        by_chance = {"chance": BITS}
        if self.once and "item" not in rows.absent:
            items = drawn.group_by("item").agg(n=nw.len()).filter(nw.col("n") == 1)
            yield drawn.join(items, on="item", how="semi"), by_chance, rows.n_rows
        if self.price_deviations:
            prices = rows.collect(drawn.group_by("price").agg(n=nw.len())).drop_nulls()
            if prices.height:
                least, most = _usual(prices.sort("price"), self.price_deviations)
                is_far = (nw.col("price") < least) | (nw.col("price") > most)
                yield drawn.filter(is_far), by_chance, rows.n_rows
        if self.telling:
            orders = {"hidden": UNIT_BITS, **by_chance}
            yield _hidden(drawn, compared_without(rows.absent)), orders, round(self.telling * rows.n_rows)
        if self.random:
            yield drawn, by_chance, round(self.random * rows.n_rows)

    def chance_keys(self, seed: int) -> list[str]:
        """Return the key of what orders the rows by chance."""
        return [key_of(seed, "delete")]

    def check_options(self) -> None:
        """Refuse options beyond their ends."""
        for name in ("telling", "random", "most"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if self.price_deviations < 0:
            raise InputError.of("0 or more", option="price_deviations", value=self.price_deviations)


def compared_without(absent: Collection[str]) -> Sequence[tuple[str, ...]]:
    """Return what attackers can compare of a history that lacks some columns; dates alone if nothing else."""
    gone = {"group" if column == "item" else column for column in absent}
    return [columns for columns in COMPARED if not gone & set(columns)] or [("date",)]


def _usual(prices: pl.DataFrame, deviations: float) -> tuple[float, float]:
    """Return the ends of what is near the mean, of distinct prices in order and how often each stands."""
    price, n = prices["price"].to_numpy(), prices["n"].to_numpy()
    mean = float((price * n).sum() / n.sum())
    deviation = float(np.sqrt(((price - mean) ** 2 * n).sum() / n.sum()))
    # A hair is added, since the mean of equal prices can differ from them in its last digit.
    far = deviations * deviation + 1e-9
    return mean - far, mean + far


# A customer alone with what is compared gives away so many units; six of these are less than 2³¹.
UNITS = 300_000_000
UNIT_BITS = 31


def _hidden(rows: Frame, compared: Sequence[tuple[str, ...]]) -> Frame:
    """Add how little each row gives away, `hidden`: the most units less 1 / customers alike, for each comparison."""
    import narwhals as nw

    rows = rows.with_columns(group=nw.col("item").str.slice(0, 2))
    units, hidden = nw.lit(UNITS, nw.Int64), nw.lit(len(compared) * UNITS, nw.Int64)
    found = rows
    for at, columns in enumerate(compared):
        # Distinct customers in two steps, which engines do out of memory.
        buyers = rows.group_by("customer", *columns).agg(n_rows=nw.len())
        alike = buyers.group_by(*columns).agg(n=nw.len().cast(nw.Int64))
        # A whole number of units: engines would add up fractions in orders of their own.
        given_away = alike.select(*columns, ((units - units % nw.col("n")) // nw.col("n")).alias(f"units_{at}"))
        found = found.join(given_away, on=list(columns), how="inner")
        hidden = hidden - nw.col(f"units_{at}")
    return found.with_columns(hidden=hidden)


LARGEST_M = 2


@dataclass(frozen=True)
class KmAnonymity(HistoryStep):
    """Delete items of customers until each combination of up to m items is bought by at least k customers or none.

    | customer: items | released, k = 2, m = 2 |
    |-----------------|------------------------|
    | 1: a b c        | 1: a b                 |
    | 2: a b          | 2: a b                 |
    | 3: a c          | 3: a                   |

    An attacker who knows m items of a customer then finds k customers who fit. Each customer keeps items from the
    most bought downwards, as long as every combination with those kept is common enough; since a deletion makes
    other combinations rarer, this goes on until nothing changes. The promise is about pseudonyms: it is recounted
    on the release, and pseudonyms that change from month to month break it.
    """

    k: int = field(default=2, metadata={"help": "Fewest customers who share a combination of items."})
    m: int = field(default=2, metadata={"help": "Most items an attacker knows: 1 or 2."})

    def change(self, history: History, *, seed: int) -> Changed:  # noqa: ARG002 - Nothing is drawn.
        """Delete the rows of every item that a customer may not keep."""
        self._check_options()
        sets = ItemSets.of(history)
        kept = self._kept(sets.bought)
        if len(sets.customers) and not kept.nnz:
            raise CannotAnonymize(
                Text("No item is bought by at least {customers}.", customers=counted(self.k, "customer"))
            )
        customer, item = kept.nonzero()
        allowed = pl.DataFrame({"customer": sets.customers.gather(customer), "item": sets.items.gather(item)})
        marked = history.frame.select("customer", "item").join(
            allowed.with_columns(is_kept=pl.lit(True)), on=["customer", "item"], how="left", maintain_order="left"
        )
        changed = without_rows(history, marked["is_kept"].is_null().to_numpy())
        self.check_promise(changed.history)
        return changed

    def check_promise(self, released: History) -> None:
        """Recount how many share the rarest combination."""
        bought = ItemSets.of(released).bought
        if bought.nnz and (fewest := fewest_sharing(bought, self.m)) < self.k:
            raise PromiseBroken(
                f"A combination of up to {self.m} items belongs to {fewest} pseudonyms, fewer than k = {self.k}."
            )

    def _check_options(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        if not 1 <= self.m <= LARGEST_M:
            raise InputError.of(f"from 1 to {LARGEST_M}", option="m", value=self.m)

    def _kept(self, bought: Matrix) -> Matrix:
        """Take items away from customers until every combination is common enough."""
        from scipy import sparse

        while True:
            n_buyers: Floats = np.asarray(bought.sum(axis=0))
            smaller = sparse.csr_array(bought.multiply(n_buyers >= self.k))
            smaller.eliminate_zeros()
            if self.m > 1:
                smaller = _without_rare_pairs(smaller, self.k)
            if smaller.nnz == bought.nnz:
                return smaller
            bought = smaller


def _without_rare_pairs(bought: Matrix, k: int) -> Matrix:
    """Keep of each customer's items, most bought first, those that are common together with all kept before."""
    from scipy import sparse

    together = sparse.csr_array(bought.T @ bought)
    rare = sparse.csr_array((together.data < k, together.indices, together.indptr), shape=together.shape)
    rare.eliminate_zeros()
    # How many rare pairs each item makes with the others of its customer; all without any may stay.
    conflicts = sparse.csr_array((bought @ rare.astype(np.float64)).multiply(bought))
    conflicts.eliminate_zeros()
    is_rare = rare.toarray()
    rank = np.empty(bought.shape[1], np.int64)
    rank[np.argsort(-np.asarray(bought.sum(axis=0)), kind="stable")] = np.arange(bought.shape[1])
    taken: list[Ints] = []
    for customer in np.flatnonzero(np.diff(conflicts.indptr)):
        items = conflicts.indices[conflicts.indptr[customer] : conflicts.indptr[customer + 1]]
        items = items[np.argsort(rank[items])]
        among = is_rare[np.ix_(items, items)]
        may_stay = np.ones(len(items), bool)
        for index in range(len(items)):
            if may_stay[index]:
                may_stay[index + 1 :] &= ~among[index, index + 1 :]
        taken.append(customer * bought.shape[1] + items[~may_stay])
    row, column = np.divmod(np.concatenate([*taken, np.array([], np.int64)]), bought.shape[1])
    kept = sparse.csr_array(bought - sparse.csr_array((np.ones(len(row)), (row, column)), shape=bought.shape))
    kept.eliminate_zeros()
    return kept
