"""The built-in players of PWSCUP 2016: its attackers and its anonymizers.

Attackers know M and T and say of each row of M′ which customer it is. Anonymizers each give M′ and T′ under pseudonyms,
and which customer each row of M′ is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.history.plain_attacks import count_items, nearest_by_jaccard
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.history_columns import SCHEMA
from tokumei.methods.history.dummies import Dummies


def profiles_of(master: pl.DataFrame, history: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each customer of M, in its order: attributes, and sums over the purchases.

    The names of customers are left out, since they are others in a release. Who has no purchase has no habits.
    """
    spent = pl.col("price") * pl.col("quantity")
    habits = history.group_by("customer").agg(
        n_rows=pl.len(),
        n_invoices=pl.col("invoice").n_unique(),
        n_items=pl.col("item").n_unique(),
        spent=spent.sum(),
        mean_price=pl.col("price").mean(),
        mean_quantity=pl.col("quantity").mean(),
        first=pl.col("date").min(),
        last=pl.col("date").max(),
        # The items of all cells in one order, the most frequent first and equals by name.
        favorite=pl.col("item").sort().mode().min(),
    )
    joined = master.join(habits, on="customer", how="left", maintain_order="left").drop("customer")
    numbers = [name for name, kind in joined.schema.items() if kind.is_numeric()]
    return joined.with_columns(pl.col(numbers).fill_null(0))


Votes = npt.NDArray[np.float64]

EXACT = ("date", "item", "price", "quantity")
# What rows may share, and still tell who bought them.
TELLING: Sequence[Sequence[str]] = (
    ("date", "item"),
    ("item", "price", "quantity"),
    ("date", "time"),
    ("item",),
)
# A value that more rows have tells nothing, and joining on it would make all pairs there are.
MOST_ROWS = 50


@dataclass(frozen=True)
class AttackerView:
    """What an attacker has: the original's customers and rows, and the released ones."""

    master: pl.DataFrame
    history: pl.DataFrame
    released_master: pl.DataFrame
    released_history: pl.DataFrame


Attack = Callable[[AttackerView], pl.Series]
"""For each row of M′, the row of M that the attack names, counted from 0; missing where it names none."""


def same_fields(seen: AttackerView) -> pl.Series:
    """Name the customer who shares the most rows that agree on date, item, price and quantity."""
    votes = _votes(seen, [EXACT], limit=None)
    return _best(votes)


def jaccard(seen: AttackerView) -> pl.Series:
    """Name the customer with the most similar item set (Algorithm 1 of the Jaccard paper): one may be named twice."""
    counts = count_items(seen.history, seen.released_history)
    best, _ = nearest_by_jaccard(counts.released, counts.known)
    whose = {
        name: None if place < 0 else counts.known_customers[place]
        for name, place in zip(counts.released_customers, best.tolist(), strict=True)
    }
    rows = {customer: row for row, customer in enumerate(seen.master["customer"])}
    named = [whose.get(name) for name in seen.released_master["customer"]]
    return pl.Series("row", [None if one is None else rows[one] for one in named], dtype=pl.Int64)


def master(seen: AttackerView) -> pl.Series:
    """Name a customer of the same sex, birth date and country; of several the one with as many rows, each once."""
    ours, theirs = (
        people.join(rows.group_by("customer").agg(n=pl.len()), on="customer", how="left", maintain_order="left")
        for people, rows in (
            (seen.master, seen.history),
            (seen.released_master, seen.released_history),
        )
    )
    n_unlike = np.zeros((theirs.height, ours.height))
    for column in ("sex", "birth", "country"):
        n_unlike += theirs[column].to_numpy()[:, None] != ours[column].to_numpy()[None, :]
    sizes = [np.log1p(side["n"].fill_null(0).to_numpy()) for side in (theirs, ours)]
    gaps = np.abs(sizes[0][:, None] - sizes[1][None, :])
    # The attributes count first: a gap of rows never outweighs one of them.
    return _each_once(-(n_unlike + gaps / (1 + gaps.max())))


def linkage(seen: AttackerView) -> pl.Series:
    """Match pseudonyms to customers by the votes of all rows, weighted by rarity, each customer once.

    Rows that share date and item, item, price and quantity, date and time, or the item alone vote; the customers are
    given out so that the votes are the most in all.
    """
    return _each_once(_votes(seen, TELLING, limit=MOST_ROWS))


def _votes(seen: AttackerView, rounds: Sequence[Sequence[str]], *, limit: int | None) -> Votes:
    """Return for each row of M′ (down) and M (across) the sum of 1 / how many rows of T have what both share."""
    names = pl.DataFrame({"pseudonym": seen.released_master["customer"]}).with_row_index("line")
    customers = pl.DataFrame({"customer": seen.master["customer"]}).with_row_index("column")
    matrix = np.zeros((names.height, customers.height))
    for fields in rounds:
        on = list(fields)
        ours = seen.history.group_by(*on, "customer").len().with_columns(n=pl.col("len").sum().over(on))
        if limit is not None:
            ours = ours.filter(pl.col("n") <= limit)
        theirs = seen.released_history.select(*on, pseudonym="customer").unique()
        pairs = theirs.join(ours, on=on, how="inner")
        votes = pairs.group_by("pseudonym", "customer").agg(votes=(1 / pl.col("n")).sum())
        placed = votes.join(names, on="pseudonym").join(customers, on="customer")
        np.add.at(matrix, (placed["line"].to_numpy(), placed["column"].to_numpy()), placed["votes"].to_numpy())
    # Rounded, as the order in which votes are added up may change the last digits.
    return np.round(matrix, 6)


def _best(votes: Votes) -> pl.Series:
    """Name for each line the customer with the most votes, the first of equals; nobody without any."""
    rows = pl.Series("row", votes.argmax(axis=1).astype(np.int64))
    return rows.set(pl.Series(votes.max(axis=1) <= 0), None)


def _each_once(votes: Votes) -> pl.Series:
    """Assign the customers to pseudonyms, each once, so that the votes are the most in all."""
    # Here, since it takes longer to import than all the rest.
    from scipy.optimize import linear_sum_assignment

    lines, columns = linear_sum_assignment(votes, maximize=True)
    rows = np.zeros(votes.shape[0], np.int64)
    rows[lines] = columns
    return pl.Series("row", rows)


ATTACKS: Mapping[str, Attack] = {
    "same-fields": same_fields,
    "master": master,
    "jaccard": jaccard,
    "linkage": linkage,
}


DAYS = 7
SPREAD = 0.2
EXCHANGED = 0.3
GROUP = 4
MOVED = 0.2
LARGEST_QUANTITY = 999_999
LARGEST_PRICE = 99_999.99


@dataclass(frozen=True)
class Draft:
    """A release before its purchases are shuffled: `rows` are the rows of M that M′'s are declared to be, from 0."""

    master: pl.DataFrame
    history: pl.DataFrame
    rows: npt.NDArray[np.int64]


Anonymizer = Callable[[pl.DataFrame, pl.DataFrame, int], Draft]


def pseudonyms(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Change nothing but the names of the customers, which are numbered in a random order."""
    order = generator(seed, "pseudonyms").permutation(master.height)
    names = pl.DataFrame({"customer": master["customer"], "name": [f"p{number + 1}" for number in order]})

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        with_names = frame.join(names, on="customer", how="left", maintain_order="left")
        return with_names.with_columns(customer="name").drop("name")

    # The lines of M′ must not tell whose they were.
    rows = np.argsort(order)
    return Draft(renamed(master)[rows], renamed(history), rows)


def perturb(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Move each invoice by up to a week, and multiply prices and quantities by noise of about a fifth.

    Birth dates keep their decade only.
    """
    draft = pseudonyms(master, history, seed)
    rng = generator(seed, "perturb")
    invoice = history["invoice"].rank("dense").cast(pl.Int64).to_numpy() - 1
    days = pl.Series(rng.integers(-DAYS, DAYS, invoice.max() + 1, endpoint=True)[invoice]).cast(pl.Int32)
    prices, quantities = (np.exp(rng.normal(0, SPREAD, history.height)) for _ in range(2))
    moved = (pl.col("date").cast(pl.Int32) + days).cast(pl.Date)
    noisy = draft.history.with_columns(
        date=moved.clip(pl.col("date").min(), pl.col("date").max()),
        price=(history["price"] * pl.Series(prices)).round(2).clip(0.01, LARGEST_PRICE),
        quantity=(history["quantity"] * pl.Series(quantities)).round().clip(1, LARGEST_QUANTITY).cast(pl.Int64),
    )
    decades = pl.date(pl.col("birth").dt.year() // 10 * 10, 1, 1)
    return replace(draft, history=noisy, master=draft.master.with_columns(birth=decades))


def exchange_items(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Swap item and price together among three rows of ten."""
    draft = pseudonyms(master, history, seed)
    rng = generator(seed, "exchange-items")
    chosen = rng.permutation(history.height)[: round(EXCHANGED * history.height)]
    source = np.arange(history.height)
    source[chosen] = rng.permutation(chosen)
    bought = {name: draft.history[name].gather(source) for name in ("item", "price")}
    return replace(draft, history=draft.history.with_columns(**bought))


def exchange_invoices(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Perturb, and let customers in groups of four with about as many rows exchange invoices.

    One invoice in five goes to whoever is drawn in the group: of more, the declared customer would be no longer the
    nearest, and P would look false.
    """
    draft = perturb(master, history, seed)
    rng = generator(seed, "exchange-invoices")
    sizes = draft.history.group_by("customer").agg(n=pl.len()).sort("n", "customer")
    names = sizes["customer"].to_list()
    # The last group takes in those who are too few for one of their own.
    groups = np.minimum(np.arange(len(names)) // GROUP, max(0, len(names) // GROUP - 1))
    owner = draft.history["customer"].cast(pl.Enum(names)).to_physical().to_numpy()
    invoice = draft.history.select(pl.struct("customer", "invoice").rank("dense")).to_series().to_numpy() - 1
    draw, goes = rng.random(int(invoice.max()) + 1)[invoice], (rng.random(int(invoice.max()) + 1) < MOVED)[invoice]
    starts, ends = (np.searchsorted(groups, groups[owner], side) for side in ("left", "right"))
    buyer = np.where(goes, starts + (draw * (ends - starts)).astype(np.int64), owner)
    return replace(draft, history=draft.history.with_columns(customer=pl.Series(names).gather(buyer)))


def dummies(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Add dummy rows so that groups of about four customers have the same items (Jaccard paper, method 2)."""
    n_customers = history["customer"].n_unique()
    method = Dummies(smallest=max(1, min(GROUP, n_customers)), clusters=max(1, n_customers // GROUP))
    changed = method.change(History(history.select(list(SCHEMA))), seed=seed).history.frame
    return pseudonyms(master, changed.select(history.columns), seed)


def yamaoka(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Change nothing but the names, and lie about P: what the contest must see through."""
    draft = pseudonyms(master, history, seed)
    return replace(draft, rows=generator(seed, "yamaoka").permutation(master.height))


ANONYMIZERS: Mapping[str, Anonymizer] = {
    "pseudonyms": pseudonyms,
    "perturb": perturb,
    "exchange-items": exchange_items,
    "exchange-invoices": exchange_invoices,
    "dummies": dummies,
    "yamaoka": yamaoka,
}
