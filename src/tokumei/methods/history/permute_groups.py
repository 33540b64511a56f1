"""Purchases dealt out within groups of like customers: what anybody can find is bounded by proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.score import most_within
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.release import Recipe, Release
from tokumei.engines.item_sets import Ints
from tokumei.methods.history.dealing import (
    OPEN,
    Groups,
    classes_by,
    deal,
    draw_holders,
    put_in_place,
    rows_by_cell,
)
from tokumei.methods.history.habits import known_by_habits
from tokumei.methods.history.like_months import Limits, groups_under
from tokumei.methods.history.steps import release_under_pseudonyms


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

    Habits tell much where some customers buy by the dozen and others singly. With `within`, blocks are of one month
    *and* one class of quantities (or of prices), of which all customers of a group keep as many rows as the one with
    the fewest. The second bound then holds for whoever also knows how many rows of each class everybody has in each
    month: classes are parts of the values of all rows, whoever's they are, so that the purchases of a block can be
    exchanged as above and all else stays as it is. More rows are cut.

    How much habits tell is no bound but counted (`known_by_habits`): the share of the released purchases that whoever
    is granted the groups gives to their buyers by item and quantity, with habits learned from four fifths of all rows.

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
    within: Literal["month", "quantity", "price"] = field(
        default="month",
        metadata={
            "help": "Deal out all purchases of a month together, or those of like quantities or prices alone, so that "
            "whoever usually buys much, or dear, is not told by it."
        },
    )
    classes: int = field(
        default=2, metadata={"help": "So many classes of quantities or prices, each with about as many rows."}
    )

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Cut, deal out, hand out under pseudonyms, and recount the bound on what came out."""
        groups = self.group(original)
        dealt = deal(original, groups, self.deals, generator(seed, "permute-groups", "deal"))
        holders = draw_holders(groups, generator(seed, "permute-groups", "hand out"))
        release = hand_out(original, groups, dealt, holders, hides_baskets=self.deals == "rows", seed=seed)
        cut = {"rows_cut": int(original.kept.height - release.frame["customer"].count())}
        habits = {"known_by_habits": known_by_habits(original, groups, dealt["row"].to_numpy())}
        found = {**groups.promise, **(groups.promise_of_rows if self.deals == "rows" else {}), **habits, **cut}
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

    def classes_of(self, original: History) -> Ints | None:
        """Return the class of each row, within which purchases are dealt out; None where all of a month are in one."""
        if self.within == "month":
            return None
        original.check_has([self.within], "permute-groups", {self.within: "within=month"})
        return classes_by(original, self.within, self.classes)

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
        if self.within not in ("month", "quantity", "price"):
            raise InputError.of("month, quantity or price", option="within", value=self.within)
        if self.classes < 2:
            raise InputError.of("at least two classes", option="classes", value=self.classes)
        if self.deals == "baskets" and self.within != "month":
            expected = "month where whole baskets are dealt out, which hold purchases of several classes"
            raise InputError.of(expected, option="within", value=self.within)
        if self.deals == "baskets" and self.attributed < 1:
            expected = "1 where whole baskets are dealt out, of whose purchases no bound holds"
            raise InputError.of(expected, option="attributed", value=self.attributed)


def group_each(original: History, methods: Sequence[PermuteGroups]) -> list[Groups | CannotAnonymize]:
    """Find the groups of each method, or why there are none; those that differ in their bound alone in one search."""
    for one in methods:
        one.check_options()
    found: dict[PermuteGroups, Groups | CannotAnonymize] = {}
    for alike in {replace(one, bound=1.0): None for one in methods}:
        classes = alike.classes_of(original)
        customers, n_rows = rows_by_cell(original, classes)
        # The largest bound first: groups of the smaller ones are merged from its groups.
        bounds = sorted({one.bound for one in methods if replace(one, bound=1.0) == alike}, reverse=True)
        some = [replace(alike, bound=bound) for bound in bounds]
        limits = [one.limits(len(customers)) for one in some]
        for one, labels in zip(some, groups_under(n_rows, limits), strict=True):
            found[one] = labels if isinstance(labels, CannotAnonymize) else Groups(customers, n_rows, labels, classes)
    return [found[one] for one in methods]


def hand_out(
    original: History, groups: Groups, dealt: pl.DataFrame, holders: list[Ints], *, hides_baskets: bool, seed: int
) -> Release:
    """Put the bundles in the place of their holders' rows, each bundle under a pseudonym of its own."""
    holder = np.concatenate([*holders, np.zeros(0, np.int64)]).astype(np.int64)
    moved = put_in_place(original, groups, dealt, holders, hides_baskets=hides_baskets)
    recipe = Recipe("permute-groups", {}, seed)
    release = release_under_pseudonyms(moved.history, _lives(original, groups, holder), recipe=recipe, seed=seed)
    return replace(release, rows=moved.rows)


def check_equal_counts(groups: Groups, release: Release) -> None:
    """Recount on the release that all customers of a group have equal numbers of rows in every month and class."""
    classes = pl.Series(np.zeros(release.frame.height, np.int64) if groups.classes is None else groups.classes)
    at = pl.Series(np.arange(release.frame.height)) if release.rows is None else release.rows
    rows = release.frame.select(
        pseudonym="customer", period=History(release.frame).period, part=classes.gather(at)
    ).drop_nulls()
    counts = rows.group_by("pseudonym", "period", "part").agg(n=pl.len())
    names = pl.DataFrame({"customer": groups.customers, "group": groups.labels}).filter(pl.col("group") >= 0)
    truth = (release.pseudonyms if release.pseudonyms is not None else pl.DataFrame()).join(names, on="customer")
    found = truth.join(counts, on=["pseudonym", "period"], how="left")
    sizes = pl.DataFrame({"group": np.arange(len(groups.members)), "size": [len(one) for one in groups.members]})
    by_part = found.group_by("group", "period", "part").agg(pl.col("n").n_unique(), present=pl.len())
    if by_part.join(sizes, on="group").filter((pl.col("n") > 1) | (pl.col("present") != pl.col("size"))).height:
        raise PromiseBroken("Customers of one group differ in their numbers of rows, so that the bound does not hold.")


def _lives(original: History, groups: Groups, holder: Ints) -> pl.DataFrame:
    """Name the life of each customer: the bundle that was handed out, so that pseudonyms belong to bundles."""
    life = np.empty(len(groups.labels), np.int64)
    life[holder] = np.arange(len(holder))
    is_open = groups.labels == OPEN
    life[is_open] = len(holder) + np.arange(int(is_open.sum()))
    by_customer = pl.DataFrame({"customer": groups.customers, "life": life})
    periods = pl.DataFrame({"period": original.periods}, schema={"period": pl.Int32})
    return by_customer.join(periods, how="cross")
