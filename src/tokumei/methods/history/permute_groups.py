"""Purchases dealt out within groups of like customers: what anybody can find is bounded by proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.score import most_within
from tokumei.core.seeds import generator
from tokumei.core.text import Json
from tokumei.data.history import History
from tokumei.data.release import Recipe, Release
from tokumei.engines.item_sets import Floats, Ints
from tokumei.methods.history.like_months import Limits, groups_under
from tokumei.methods.history.steps import Changed, release_under_pseudonyms

OPEN = -1


@dataclass(frozen=True)
class PermuteGroups:
    """Cut groups of customers with like months to equal numbers of rows and deal their purchases out among them.

    | original       | block | released, one group of a and b |
    |----------------|-------|--------------------------------|
    | a, 2 May, tea  | 1     | P1, 3 May, tea                 |
    | b, 3 May, soap | 1     | P2, 2 May, soap                |
    | a, 9 May, jam  | 2     | P2, 9 May, jam                 |
    | b, 8 May, rice | 2     | P1, 8 May, rice                |
    | a, 9 May, oil  |       | (cut)                          |

    In each month all customers of a group keep as many rows as the one with the fewest. The first rows of all of them,
    by date, are one block, the second rows the next. In every block the purchases are dealt out anew to the group's
    pseudonyms, one each, and the days of the block to the purchases: so neither the pseudonym nor the day tells whose
    a purchase was. A pseudonym lives for the whole time. Customers whom it would cost most to group are left open:
    their rows stay as they are.

    **The bound on labels** (`bound`). Whoever attacks, knowing whatever of the original and of the method but its seed,
    is expected to find the pseudonyms of at most (open + groups) / n of the n customers, in all months of each.
    *Proof.* What each pseudonym of a group gets is drawn from the group's purchases before it is known whose pseudonym
    it is: pseudonyms have equal numbers of rows in every month, at most what each customer of the group has there, so
    that any of them can stand in the place of any customer. Then they are handed to the g customers by a permutation π
    that is uniform and independent of all else. The published rows are the same for every π, only the truth differs.
    So a guess, which is made from the published rows, is independent of π, and is right about one customer with the
    chance 1/g at most, whatever it is; over the g customers of a group this adds up to 1. Groups are found in the same
    way, and of the open at most all, hence at most open + groups customers in expectation. Guesses of one pseudonym
    each have at most the variance 1 in a group, so that the share found has at most the standard deviation √groups / n
    about its expectation. ∎

    **The bound on purchases** (`attribution_bound`). It is of the pseudonyms' holders that the first bound speaks; what
    is feared is that *purchases* are known to be somebody's. Whoever knows the method and who shops when, but nothing
    of who buys what, is expected to give at most (open rows + blocks) / rows of the published rows to their buyers.
    *Proof.* Take two histories that differ in the purchases (items, prices and all else but days) of one block alone,
    which are the same ones in another order of the customers. Groups, cuts and blocks come from the numbers and days of
    rows and from the seed, so both have the same. Dealt out by two uniform permutations that are independent of each
    other and of all else, one to pseudonyms and one to days, the block of either history is published as any given rows
    with the same chance. So published rows make none of the orders likelier than it was before. Whoever held all of
    them for equally likely gives each of the block's g purchases to its buyer with the chance 1/g, and one of them in
    expectation. In an open row the buyer may be seen. ∎ Whoever knows some purchases of a block has fewer left to mix
    up: in expectation one of those unknown in each block is right still, so that at most
    (open unknown rows + blocks) / (unknown rows) are. Whoever knows habits is no surer of an order with the release
    than without it.

    Both hold of the published rows, which are shuffled; the release beside the original is the publisher's. That
    *somebody* of the group bought a thing, or was there on a day, is no secret. Times and invoices, which would join
    the rows of a basket again, are hidden. Dealt out by `baskets`, whole baskets go to one pseudonym and keep their
    day: only the bound on labels holds, and who knows some rows of a basket learns the rest.

    Groups are searched: from every customer alone, the two groups that lose the fewest rows are merged until the
    bound on labels holds, so that how many customers to a group and how many stay open come out of what they cost. They
    are often the customers with the most rows: `most_open` limits them, and `attributed` the second bound. Where that
    is exceeded, customers are merged by the rows that are cut for each row whose buyer is hidden, with several weights,
    until it holds, too; of these groupings that is taken which leaves the most rows with their buyers.
    """

    # As much as is held tolerable for a recipient who is trusted (CHEO); what is published needs less.
    bound: float = field(
        default=0.33,
        metadata={
            "help": "Largest share of customers whose pseudonym any attacker may be expected to find; purchases have "
            "another bound."
        },
    )
    smallest: int = field(
        default=2, metadata={"help": "Fewest customers in a group: each is found with chance 1/g at most."}
    )
    most_open: float = field(
        default=1.0,
        metadata={"help": "Largest share of customers left open, 0 to 1; the bound limits them in any case."},
    )
    attributed: float = field(
        default=1.0,
        metadata={
            "help": "Largest share of purchases that may be expected to be given to their buyers; a smaller one cuts "
            "more rows, most where few customers have most of them."
        },
    )
    deals: Literal["rows", "baskets"] = field(
        default="rows",
        metadata={"help": "Deal out single rows and their days, or whole baskets (a customer's rows of a day)."},
    )

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Cut, deal out, hand out under pseudonyms, and recount the bound on what came out."""
        groups = self.group(original)
        dealt = deal(original, groups, self.deals, generator(seed, "permute-groups", "deal"))
        holders = draw_holders(groups, generator(seed, "permute-groups", "hand out"))
        release = hand_out(original, groups, dealt, holders, hides_baskets=self.deals == "rows", seed=seed)
        cut = {"rows_cut": int(original.kept.height - release.frame["customer"].count())}
        found = {**groups.promise, **(groups.promise_of_rows if self.deals == "rows" else {}), **cut}
        check_equal_counts(groups, release)
        return Release(
            release.frame, Recipe("permute-groups", asdict(self), seed, found=found), release.rows, release.pseudonyms
        )

    def group(self, original: History) -> Groups:
        """Find the groups that keep most rows under the bound."""
        [groups] = group_each(original, [self])
        if isinstance(groups, CannotAnonymize):
            raise groups
        return groups

    def limits(self, n_customers: int) -> Limits:
        """Return how many customers may be open or in groups of their own."""
        found, is_open = (most_within(share, n_customers) for share in (self.bound, self.most_open))
        return Limits(found, self.smallest, is_open, self.attributed)

    def check_options(self) -> None:
        """Refuse what is no share, and groups of one."""
        for name in ("bound", "most_open", "attributed"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if self.smallest < 2:
            raise InputError.of("at least two customers in a group", option="smallest", value=self.smallest)
        if self.deals not in ("rows", "baskets"):
            raise InputError.of("rows or baskets", option="deals", value=self.deals)
        if self.deals == "baskets" and self.attributed < 1:
            expected = "1 where whole baskets are dealt out, of whose purchases no bound holds"
            raise InputError.of(expected, option="attributed", value=self.attributed)


def group_each(original: History, methods: Sequence[PermuteGroups]) -> list[Groups | CannotAnonymize]:
    """Find the groups of each method, or why there are none; those that differ in their bound alone in one search."""
    for one in methods:
        one.check_options()
    customers, n_rows = rows_by_month(original)
    found: dict[PermuteGroups, Groups | CannotAnonymize] = {}
    for alike in {replace(one, bound=1.0): None for one in methods}:
        # The largest bound first: groups of the smaller ones are merged from its groups.
        bounds = sorted({one.bound for one in methods if replace(one, bound=1.0) == alike}, reverse=True)
        some = [replace(alike, bound=bound) for bound in bounds]
        for one, labels in zip(some, groups_under(n_rows, [one.limits(len(customers)) for one in some]), strict=True):
            found[one] = labels if isinstance(labels, CannotAnonymize) else Groups(customers, n_rows, labels)
    return [found[one] for one in methods]


def rows_by_month(original: History) -> tuple[pl.Series, Ints]:
    """Return the customers in alphabetical order and the rows of each (down) in each month (across)."""
    customers = pl.Series("customer", original.customers, pl.String)
    n_rows = np.zeros((len(customers), len(original.periods)), np.int64)
    rows = original.frame.select("customer", period=original.period).drop_nulls()
    rows = rows.join(pl.DataFrame({"customer": customers, "at": np.arange(len(customers))}), on="customer")
    np.add.at(n_rows, (rows["at"].to_numpy(), rows["period"].to_numpy() - (original.periods or [0])[0]), 1)
    return customers, n_rows


@dataclass(frozen=True, eq=False)
class Groups:
    """Customers in alphabetical order, their rows in each month, and the group of each (−1: left open)."""

    customers: pl.Series
    n_rows: Ints
    labels: Ints

    @cached_property
    def members(self) -> list[Ints]:
        """The customers of each group, by number."""
        order = np.argsort(self.labels, kind="stable")
        order = order[self.labels[order] >= 0]
        return np.split(order, np.flatnonzero(np.diff(self.labels[order])) + 1) if len(order) else []

    @property
    def promise(self) -> Json:
        """The bound, what it is made of, and how far a draw may lie from it."""
        n, n_open, n_groups = len(self.labels), int((self.labels == OPEN).sum()), len(self.members)
        return {
            "bound": (n_open + n_groups) / max(1, n),
            "bound_deviation": math.sqrt(n_groups) / max(1, n),
            "open": n_open,
            "groups": n_groups,
            "smallest_group": min((len(one) for one in self.members), default=0),
        }

    @property
    def promise_of_rows(self) -> Json:
        """The bound on purchases given to their buyers, where rows and days are dealt out, and what it is made of."""
        return {
            "attribution_bound": (self.open_rows + sum(self.blocks)) / max(1, self.rows_left),
            "open_rows": self.open_rows,
            "blocks": sum(self.blocks),
        }

    @cached_property
    def blocks(self) -> list[int]:
        """The blocks of each group, which are the rows that each of its customers keeps."""
        return [int(self.n_rows[one].min(axis=0).sum()) for one in self.members]

    @property
    def open_rows(self) -> int:
        """The rows of open customers."""
        return int(self.n_rows[self.labels == OPEN].sum())

    @property
    def rows_left(self) -> int:
        """The rows that are released."""
        return self.open_rows + sum(n * len(one) for n, one in zip(self.blocks, self.members, strict=True))

    @property
    def rows_cut(self) -> int:
        """The rows that are not released."""
        return int(self.n_rows.sum()) - self.rows_left

    @property
    def open_share(self) -> float:
        """The share of the released rows that open customers have."""
        return self.open_rows / max(1, self.rows_left)


def deal(original: History, groups: Groups, deals: str, rng: np.random.Generator) -> pl.DataFrame:
    """Deal the purchases of each group out to as many bundles as it has customers.

    Gives the columns row (of the original), day_of (the row whose day it gets), period, group and bundle; open
    customers are not among them. In every month the bundles of a group have as many rows as its customer with the
    fewest, drawn alike from all.
    """
    rows = _rows_of_groups(original, groups)
    least, who, period = (rows[name].to_numpy() for name in ("least", "number", "period"))
    # All rows of a basket get one number, so that baskets stay together in the order that is drawn.
    basket = (
        np.arange(rows.height)
        if deals == "rows"
        else rows.select(pl.struct("number", "date").rank("dense")).to_series().to_numpy()
    )
    drawn = rng.random(int(basket.max(initial=0)) + 1)[basket]
    order = np.lexsort((np.arange(rows.height), drawn, period, who))
    rank = np.empty(rows.height, np.int64)
    rank[order] = _rank_in_runs(who[order], period[order])
    kept = np.flatnonzero(rank < least)
    if deals == "rows":
        return deal_blocks(rows[kept], *rng.random((2, len(kept))))
    turn = np.empty(rows.height, np.int64)
    turn[order] = _turn_in_runs(who[order], period[order], basket[order])
    # Each turn begins with another customer, and each month too: this is what makes the dealing even.
    seat = (rows["seat"].to_numpy() + turn + period) % np.maximum(1, rows["size"].to_numpy())
    group = rows["group"].to_numpy()
    kept = kept[np.lexsort((rank[kept], seat[kept], turn[kept], period[kept], group[kept]))]
    bundle = _rank_in_runs(group[kept], period[kept]) // np.maximum(1, least[kept])
    dealt = rows[kept].select("row", pl.col("row").alias("day_of"), "period", "group")
    return dealt.with_columns(bundle=pl.Series(bundle))


def deal_blocks(rows: pl.DataFrame, by_label: Floats, by_day: Floats) -> pl.DataFrame:
    """Deal the rows of each block out to bundles, and their days to the rows, each in the order of its own numbers.

    The j-th rows of all customers of a group in a month are a block. In it the row with the least number of `by_label`
    goes to the first bundle, and gets the day of the row with the least number of `by_day`.
    """
    who, period, group = (rows[name].to_numpy() for name in ("number", "period", "group"))
    # Of one day in the order of the original: what was bought must not tell which block it is in.
    order = np.lexsort((rows["row"].to_numpy(), rows["date"].to_numpy(), period, who))
    block = np.empty(rows.height, np.int64)
    block[order] = _rank_in_runs(who[order], period[order])
    label, day = (np.lexsort((numbers, block, period, group)) for numbers in (by_label, by_day))
    dealt = rows[label].select("row", rows["row"].gather(day).alias("day_of"), "period", "group")
    return dealt.with_columns(bundle=pl.Series(_rank_in_runs(group[label], period[label], block[label])))


def draw_holders(groups: Groups, rng: np.random.Generator) -> list[Ints]:
    """Draw for each group which customer gets which bundle: the permutation that nobody can know."""
    return [rng.permutation(members) for members in groups.members]


def hand_out(
    original: History, groups: Groups, dealt: pl.DataFrame, holders: list[Ints], *, hides_baskets: bool, seed: int
) -> Release:
    """Put the bundles in the place of their holders' rows, each bundle under a pseudonym of its own."""
    holder = np.concatenate([*holders, np.zeros(0, np.int64)]).astype(np.int64)
    moved = put_in_place(original, groups, dealt, holders, hides_baskets=hides_baskets)
    recipe = Recipe("permute-groups", {}, seed)
    release = release_under_pseudonyms(moved.history, _lives(original, groups, holder), recipe=recipe, seed=seed)
    return replace(release, rows=moved.rows)


def put_in_place(
    original: History, groups: Groups, dealt: pl.DataFrame, holders: list[Ints], *, hides_baskets: bool
) -> Changed:
    """Put the bundles in the place of their holders' rows, still under the holders' own names.

    Which of a holder's rows a purchase replaces is nobody's to see; those near in date and price are chosen.
    """
    firsts = np.cumsum([0, *(len(one) for one in groups.members)])
    holder = np.concatenate([*holders, np.zeros(0, np.int64)]).astype(np.int64)
    frame = original.frame
    source = np.where(frame["customer"].is_null().to_numpy(), -1, np.arange(original.n_rows))
    slots = _rows_of_groups(original, groups).sort("number", "period", "date", "price", "row")
    source[slots["row"].to_numpy()] = -1
    life = firsts[dealt["group"].to_numpy()] + dealt["bundle"].to_numpy()
    contents = dealt.with_columns(
        pl.Series("holder", holder[life]),
        pl.Series("date", frame["date"].gather(dealt["day_of"])),
        pl.Series("price", frame["price"].gather(dealt["row"])),
    ).sort("holder", "period", "date", "price", "row")
    cells = slots.group_by("number", "period", maintain_order=True).agg(n=pl.len())
    cells = cells.with_columns(start=pl.col("n").cum_sum() - pl.col("n"))
    cells = contents.join(cells, left_on=["holder", "period"], right_on=["number", "period"], maintain_order="left")
    rank = _rank_in_runs(cells["holder"].to_numpy(), cells["period"].to_numpy())
    n_here = cells.select(pl.len().over("holder", "period")).to_series().to_numpy()
    # Spread over the holder's rows in order of time: strictly rising, since there are no more purchases than rows.
    spread = ((2 * rank + 1) * cells["n"].to_numpy()) // (2 * np.maximum(1, n_here))
    place = slots["row"].to_numpy()[cells["start"].to_numpy() + spread]
    source[place] = cells["row"].to_numpy()
    day_of = source.copy()
    day_of[place] = cells["day_of"].to_numpy()
    return _moved(original, source, day_of, groups, hides_baskets=hides_baskets)


def check_equal_counts(groups: Groups, release: Release) -> None:
    """Recount on the release that all customers of a group have equal numbers of rows in every month."""
    rows = release.frame.select(pseudonym="customer", period=History(release.frame).period).drop_nulls()
    counts = rows.group_by("pseudonym", "period").agg(n=pl.len())
    names = pl.DataFrame({"customer": groups.customers, "group": groups.labels}).filter(pl.col("group") >= 0)
    truth = (release.pseudonyms if release.pseudonyms is not None else pl.DataFrame()).join(names, on="customer")
    found = truth.join(counts, on=["pseudonym", "period"], how="left")
    sizes = pl.DataFrame({"group": np.arange(len(groups.members)), "size": [len(one) for one in groups.members]})
    by_month = found.group_by("group", "period").agg(pl.col("n").n_unique(), present=pl.len()).join(sizes, on="group")
    if by_month.filter((pl.col("n") > 1) | (pl.col("present") != pl.col("size"))).height:
        raise PromiseBroken("Customers of one group differ in their numbers of rows, so that the bound does not hold.")


def _rows_of_groups(original: History, groups: Groups) -> pl.DataFrame:
    """Return the rows of grouped customers, each with its group, the seat in it, and the least rows there."""
    members = groups.members
    number = np.concatenate([*members, np.zeros(0, np.int64)]).astype(np.int64)
    sizes = np.array([len(one) for one in members], np.int64)
    who = pl.DataFrame(
        {
            "customer": groups.customers.gather(number),
            "number": number,
            "group": np.repeat(np.arange(len(members)), sizes),
            "size": np.repeat(sizes, sizes),
            "seat": np.concatenate([*(np.arange(size) for size in sizes), np.zeros(0, np.int64)]).astype(np.int64),
        }
    )
    first = (original.periods or [0])[0]
    rows = original.frame.select("customer", "date", "price", period=original.period - first)
    rows = rows.with_row_index("row").with_columns(pl.col("row", "period").cast(pl.Int64))
    found = rows.join(who, on="customer", how="inner", maintain_order="left")
    least = np.zeros((len(members), groups.n_rows.shape[1]), np.int64)
    for at, one in enumerate(members):
        least[at] = groups.n_rows[one].min(axis=0)
    return found.with_columns(least=pl.Series(least[found["group"].to_numpy(), found["period"].to_numpy()]))


def _moved(original: History, source: Ints, day_of: Ints, groups: Groups, *, hides_baskets: bool) -> Changed:
    """Write the purchase of the source row and the day of another in the place of each row; −1 leaves it deleted."""
    frame = original.frame
    is_kept = pl.Series(source >= 0)
    moved = frame.drop("customer")[np.maximum(source, 0)] if frame.height else frame.drop("customer")
    moved = moved.with_columns(
        frame["customer"], frame["date"].gather(np.maximum(day_of, 0)) if frame.height else "date"
    )
    moved = moved.select(frame.columns)
    if hides_baskets and groups.members:
        is_open = moved["customer"].is_in(groups.customers.filter(pl.Series(groups.labels == OPEN)).to_list())
        time = pl.when(pl.col("time").is_not_null()).then(pl.time(0, 0))
        moved = moved.with_columns(pl.when(is_open).then("time").otherwise(time).alias("time"))
        # Of everybody, since a column that only some rows have cannot be read again.
        if frame["invoice"].drop_nulls().n_unique() > 1:
            moved = moved.with_columns(invoice=pl.lit(None, frame.schema["invoice"]))
    history = History(moved.with_columns(pl.when(is_kept).then(pl.all())), original.name)
    return Changed(history, pl.Series("row", np.where(source >= 0, source, np.arange(original.n_rows))))


def _lives(original: History, groups: Groups, holder: Ints) -> pl.DataFrame:
    """Name the life of each customer: the bundle that was handed out, so that pseudonyms belong to bundles."""
    life = np.empty(len(groups.labels), np.int64)
    life[holder] = np.arange(len(holder))
    is_open = groups.labels == OPEN
    life[is_open] = len(holder) + np.arange(int(is_open.sum()))
    by_customer = pl.DataFrame({"customer": groups.customers, "life": life})
    periods = pl.DataFrame({"period": original.periods}, schema={"period": pl.Int32})
    return by_customer.join(periods, how="cross")


def _rank_in_runs(*keys: Ints) -> Ints:
    """Count from 0 within each run of equal keys."""
    n = len(keys[0])
    is_first = _is_first(*keys)
    starts = np.maximum.accumulate(np.where(is_first, np.arange(n), 0)) if n else np.zeros(0, np.int64)
    rank: Ints = np.arange(n) - starts
    return rank


def _turn_in_runs(who: Ints, period: Ints, basket: Ints) -> Ints:
    """Count the baskets from 0 within each customer and month."""
    if not len(who):
        return np.zeros(0, np.int64)
    begins = np.cumsum(_is_first(who, period, basket))
    starts = np.maximum.accumulate(np.where(_is_first(who, period), begins, 0))
    turn: Ints = begins - starts
    return turn


def _is_first(*keys: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mark the start of each run of equal keys."""
    is_first = np.zeros(len(keys[0]), bool)
    is_first[:1] = True
    for key in keys:
        is_first[1:] |= key[1:] != key[:-1]
    return is_first
