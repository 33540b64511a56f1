"""How much speaks for customers being among those of a released history, by single purchases and by all of one.

A single purchase says little where many made one like it. All that somebody bought stands under one pseudonym for as
long as that lives: what is common to each purchase alone is rarely common to all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tokumei.attacks.judge import Bools, Floats
from tokumei.attacks.linkage.attack import weigh
from tokumei.attacks.linkage.blocking import LARGEST_CELLS, some_customers
from tokumei.attacks.linkage.evidence import Evidence
from tokumei.attacks.linkage.fields import Ints
from tokumei.attacks.linkage.joining import learn_fields
from tokumei.attacks.linkage.pieces import in_pieces
from tokumei.data.history import History, period_of

# What a known purchase and a released row must have in common, by attacker.
ROW_KEYS: dict[str, tuple[str, ...]] = {
    "exact-row": ("date", "time", "item", "price", "quantity"),
    "item-and-day": ("item", "date"),
    "item-month-and-price": ("item", "period", "price"),
    "item-and-month": ("item", "period"),
}
BEYOND = "-beyond-control"
BY_ROW = (*ROW_KEYS, "rare-items", f"rare-items{BEYOND}", "likely-rows", f"likely-rows{BEYOND}", "all-rows")
BY_CUSTOMER = (
    *(f"{name}{more}" for name in ("best-pseudonym", "gap-to-second", "all-pseudonyms") for more in ("", BEYOND)),
    "rows-of-one",
    "rows-and-all",
)
# People known to be outside of whom as many purchases are known, beside whom somebody is held.
N_BESIDE = 25
# Where all of these are alike any difference counts, and none is infinite.
LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class Asked:
    """Customers of whom somebody asks whether they are in a release, and what is known of them.

    known: purchases of all of them. share: of the purchases of each that is known. deleted: of the purchases that the
    release was made of, the share that is not in it, which is no secret. is_outside: who is known not to be in the
    release, in the order of `known.customers`.
    """

    known: History
    share: float
    deleted: float
    is_outside: Bools

    @property
    def n_known(self) -> Ints:
        """How many purchases are known of each."""
        n_known: Ints = np.maximum(np.bincount(_owners(self.known), minlength=len(self.known.customers)), 1)
        return n_known

    def beyond_control(self, spoken: Floats) -> Floats:
        """Hold what speaks for each against people outside of whom as much is known."""
        return beyond_control(spoken, self.n_known, self.is_outside)


def speak_for(asked: Asked, published: History) -> dict[str, Floats]:
    """Return how much speaks for each customer being in the release, by each attacker of `BY_ROW` and `BY_CUSTOMER`.

    Single purchases: the share of them that some released row is equal to in `ROW_KEYS`; by `rare-items` the mean of
    log(rows / rows alike); by `likely-rows` the mean of the log odds that `linkage` gives to all released rows of the
    month together, whoever's they are, and by `all-rows` their sum, where each purchase without a counterpart speaks
    against.

    Whole customers: the log odds of `linkage`, added up over the times in which pseudonyms live, of the best pseudonym
    (`best-pseudonym`), how far these lie above those of the next (`gap-to-second`), and the mean of the odds of all
    pseudonyms, where each purchase without a counterpart speaks against (`all-pseudonyms`). By `rows-of-one` the share
    of the purchases that stand exactly as they were under one pseudonym; by `rows-and-all` this and `all-pseudonyms`,
    each as far as it lies beyond control: where nobody outside has such a row by accident, one is worth more than all
    likelihood.

    Who made many purchases finds more of them by accident: `-beyond-control` says how far each stands above people
    outside of whom as many are known.
    """
    spoken = {**speak_by_rows(asked.known, published), **_speak_by_linkage(asked, published)}
    sums = {**spoken, "likely-rows": spoken["likely-rows"] * asked.n_known}
    for name in (*BY_ROW, *BY_CUSTOMER):
        if name.endswith(BEYOND):
            spoken[name] = asked.beyond_control(sums[name.removesuffix(BEYOND)])
    of_one = asked.beyond_control(spoken["rows-of-one"])
    spoken["rows-and-all"] = of_one + spoken[f"all-pseudonyms{BEYOND}"]
    return {name: spoken[name] for name in (*BY_ROW, *BY_CUSTOMER)}


def speak_by_rows(known: History, published: History) -> dict[str, Floats]:
    """Return for each customer, in the order of `known.customers`, how far known purchases are found as rows.

    Example: of somebody's two known purchases one is released as it was; of the other only the item in the same month:
    `exact-row` is 1/2 and `item-and-month` 1. If two of ten released rows have each item in that month, `rare-items` is
    log 5.
    """
    absent = {*known.absent, *published.absent}
    ours, theirs = (side.kept.with_columns(period=period_of(pl.col("date"))) for side in (known, published))
    owner, n_rows = _owners(known), max(1, theirs.height)
    n_known = np.maximum(np.bincount(owner, minlength=len(known.customers)), 1)
    found: dict[str, Floats] = {}
    for name, columns in ROW_KEYS.items():
        # A purchase is compared by what both sides tell of it.
        keys = [column for column in columns if column not in absent]
        counts = theirs.group_by(keys).agg(n_alike=pl.len())
        met = ours.select(keys).join(counts, on=keys, how="left", nulls_equal=True, maintain_order="left")
        n_alike = met["n_alike"].fill_null(0).to_numpy()
        found[name] = np.bincount(owner, n_alike > 0, len(n_known)) / n_known
        if name == "item-and-month":
            rarity = np.log(n_rows / np.where(n_alike > 0, n_alike, n_rows))
            found["rare-items"] = np.bincount(owner, rarity, len(n_known)) / n_known
    return found


def rows_of_one(known: History, published: History, epoch_of: Mapping[int, int]) -> Floats:
    """Return the share of each customer's known purchases that stand exactly as they were under one pseudonym.

    epoch_of: the number of the time in which pseudonyms live, by month; in each it may be another pseudonym.

    Example: of somebody's three purchases one stands under p, another under q, and the third nowhere: 1/3, or 2/3 if p
    lives before q.
    """
    absent = {*known.absent, *published.absent}
    keys = [column for column in ROW_KEYS["exact-row"] if column not in absent]
    purchase = pl.Series("purchase", np.arange(known.kept.height))
    ours = known.kept.select(*keys, purchase, owner=pl.Series(_owners(known)), period=period_of(pl.col("date")))
    theirs = published.kept.select(*keys, pseudonym="customer").unique()
    met = ours.join(theirs, on=keys, nulls_equal=True).with_columns(epoch=pl.col("period").replace_strict(epoch_of))
    counts = (
        met.group_by("owner", "epoch", "pseudonym").agg(n=pl.len()).group_by("owner", "epoch").agg(pl.col("n").max())
    )
    n_owners = len(known.customers)
    n_met = np.bincount(counts["owner"].to_numpy(), counts["n"].to_numpy(), n_owners)
    shares: Floats = n_met / np.maximum(np.bincount(ours["owner"].to_numpy(), minlength=n_owners), 1)
    return shares


def _speak_by_linkage(asked: Asked, published: History) -> dict[str, Floats]:
    """Return what the evidence of `linkage` says, of single purchases and of whole customers."""
    evidence, counts, epochs = in_pieces(*weigh(asked.known, published, has_habits=False, share=asked.share))
    evidence = replace(evidence, deleted=max(evidence.deleted, asked.deleted))
    counts = replace(counts, kept=1 - evidence.deleted)
    n_pieces, rates = len(evidence.n_rows), counts.rates(counts.expected.n_known > 0)
    at_once = max(1, LARGEST_CELLS // max(1, n_pieces))
    # How far fields agree is learned from those who may be in the release, where most is known of them.
    may_be = np.flatnonzero(~asked.is_outside)
    taught = np.sort(may_be[np.argsort(-asked.n_known[may_be], kind="stable")[:at_once]])
    some, of_some = some_customers(evidence, counts, taught)
    agreement = learn_fields(some, epochs, [of_some.odds(epoch, rates[taught]) for epoch in epochs])
    best, gap, of_all, by_rows = np.zeros((4, len(rates)))
    against = np.log(evidence.deleted)
    for block in _blocks(len(rates), at_once):
        part, of_part = some_customers(evidence, counts, block)
        scores = part.by_rows(part.compared.known, agreement)
        by_rows[block] = _as_one(part).by_rows(part.compared.known, agreement)[:, 0]
        for epoch in epochs:
            n_known = of_part.expected.n_known[:, epoch.months].sum(axis=1)
            odds = scores[:, epoch.names] + of_part.odds(epoch, rates[block])
            # Nothing that is known of these months speaks for or against anybody else.
            odds, rows = odds[n_known > 0], block[n_known > 0]
            first, second, mean = best_of(odds)
            best[rows] += first
            gap[rows] += first - second
            of_all[rows] += mean + n_known[n_known > 0] * against
    months = evidence.compared.months
    epoch_of = dict.fromkeys(months, 0)
    epoch_of |= {months[at]: number for number, epoch in enumerate(epochs) for at in epoch.months}
    return {
        "rows-of-one": rows_of_one(asked.known, published, epoch_of),
        "likely-rows": by_rows / asked.n_known,
        "all-rows": by_rows + asked.n_known * against,
        "best-pseudonym": best,
        "gap-to-second": gap,
        "all-pseudonyms": of_all,
    }


def best_of(odds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the largest log odds of each customer (down), the second largest, and the log of the mean of the odds.

    Example: of log odds log 2 and log 4 these are log 4, log 2 and log 3. Of one pseudonym alone the second is absence,
    whose odds are 1.
    """
    ordered = np.sort(odds, axis=1)
    largest = ordered[:, -1]
    second = ordered[:, -2] if odds.shape[1] > 1 else np.zeros(len(odds))
    mean: Floats = np.log(np.exp(odds - largest[:, None]).mean(axis=1)) + largest
    return largest, second, mean


def beyond_control(spoken: Floats, n_known: Ints, is_outside: Bools) -> Floats:
    """Hold what speaks for each against people outside of whom as many purchases are known, in standard deviations.

    Nobody is held against themselves.

    Example: if 1, 2 and 3 speak for three people outside of whom as much is known, then somebody for whom 4 speaks
    stands (4 − 2) / √(2/3) = 2.45 above them.
    """
    outside = np.flatnonzero(is_outside)
    if len(outside) < 2:
        return np.zeros(len(spoken))
    beyond = np.zeros(len(spoken))
    for block in _blocks(len(spoken), max(1, LARGEST_CELLS // len(outside))):
        distance = np.abs(np.log(n_known[block])[:, None] - np.log(n_known[outside]))
        distance[block[:, None] == outside] = np.inf
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :N_BESIDE]
        is_other = np.isfinite(np.take_along_axis(distance, nearest, axis=1))
        beside = spoken[outside][nearest]
        mean = beside.mean(axis=1, where=is_other)
        spread = beside.std(axis=1, where=is_other)
        beyond[block] = (spoken[block] - mean) / np.maximum(spread, LEAST_SPREAD)
    return beyond


def _blocks(n: int, size: int) -> Iterator[Ints]:
    for first in range(0, n, size):
        yield np.arange(first, min(n, first + size))


def _as_one(evidence: Evidence) -> Evidence:
    """Take all released rows for one pseudonym's, so that each purchase speaks for itself."""
    released = evidence.compared.released
    compared = replace(
        evidence.compared, released=replace(released, owner=np.zeros_like(released.owner)), pseudonyms=["anybody"]
    )
    return replace(evidence, compared=compared, n_rows=evidence.n_rows.sum(axis=0, keepdims=True))


def _owners(known: History) -> Ints:
    """Return the number of the customer of each known purchase."""
    owners: Ints = known.kept["customer"].cast(pl.Enum(known.customers)).to_physical().to_numpy().astype(np.int64)
    return owners
