"""Which customers fit the generalized rows of a pseudonym, and whether guesses among them prove a release unsafe.

The proof is the hypothesis test of PWSCUP 2018, in exact arithmetic. A release is safe (H₀) if nobody can name any s of
its pseudonyms rightly with a chance above pˢ. Of n guesses, s or more are then right with a chance of at most u(p, n,
s) = Σ C(n, k) pᵏ over k = s … n, and an attack that has so many right that u < α disproves it.

| guesses n | 6 | 7 | 24 | 99 | 999 |
|-----------|---|---|----|----|-----|
| r(n)      | – | 7 | 18 | 64 | 612 |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import comb, factorial

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.methods.history.alignment import numbers_of

# The contest's: a third, and 0.01 shared among up to twenty attacks.
CHANCE = Fraction(1, 3)
LEVEL = Fraction(1, 100) / 20


@dataclass(frozen=True)
class HypothesisVerdict:
    """What an attack proved: `n_needed` right guesses were needed, which is more than there are where none suffice."""

    n_guesses: int
    n_right: int
    n_needed: int

    @property
    def is_unsafe(self) -> bool:
        """Whether the release is proven unsafe."""
        return self.n_right >= self.n_needed


def fraction_of(value: str | float | Fraction, option: str) -> Fraction:
    """Read a chance between 0 and 1, exactly as it is written: 1/3, 0.0005 or 0.01/20.

    >>> fraction_of("0.01/20", "alpha")
    Fraction(1, 2000)
    """
    try:
        # A float by its shortest digits: 0.1 is a tenth.
        above, _, below = str(value).partition("/")
        found = Fraction(above) / Fraction(below or 1)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1:
        raise InputError.of("a chance between 0 and 1, as 1/3 or 0.0005", option=option, value=value)
    return found


@cache
def n_needed(n: int, p: Fraction = CHANCE, level: Fraction = LEVEL) -> int:
    """Return r(n): the fewest right guesses of n that prove a release unsafe, and n + 1 where none suffice."""
    if n < 0 or not 0 < p < 1 or not 0 < level < 1:
        raise InputError.of("n of 0 or more, and p and the level between 0 and 1", value=f"{n}, {p}, {level}")
    # Everything times the denominator of pⁿ, so that whole numbers are added: fractions would be reduced each time.
    a, b = p.numerator, p.denominator
    limit = level * b**n
    total, term, s = 0, a**n, n
    while s >= 0 and total + term < limit:
        total += term
        # C(n, s−1) a^(s−1) b^(n−s+1) from C(n, s) a^s b^(n−s).
        term = term * s * b // ((n - s + 1) * a)
        s -= 1
    return s + 1


def judge_guesses(
    guesses: pl.DataFrame, truth: pl.DataFrame, p: Fraction = CHANCE, level: Fraction = LEVEL
) -> HypothesisVerdict:
    """Hold guesses of pseudonym and customer against the truth in the same form."""
    if guesses["pseudonym"].is_duplicated().any():
        raise InputError.of("one customer for each pseudonym", column="pseudonym")
    keys = ["pseudonym", "customer"]
    right = guesses.select(keys).join(truth.select(keys).unique(), on=keys, how="inner")
    return HypothesisVerdict(guesses.height, right.height, n_needed(guesses.height, p, level))


def chances_in_class(size: int) -> list[Fraction]:
    """Return the chance of 0, 1, … right when a class of indistinguishable customers is assigned blindly."""
    return [Fraction(comb(size, right) * _n_derangements(size - right), factorial(size)) for right in range(size + 1)]


def chance_of_proof(sizes: Iterable[int], p: Fraction = CHANCE, level: Fraction = LEVEL) -> Fraction:
    """Return the chance that assigning all members of classes of these sizes blindly proves a release unsafe."""
    total, n = [Fraction(1)], 0
    for size in sizes:
        total, n = convolve(total, chances_in_class(size)), n + size
    return sum(total[n_needed(n, p, level) :], Fraction(0))


def convolve(one: Sequence[Fraction], other: Sequence[Fraction]) -> list[Fraction]:
    """Add two independent counts given by their chances of 0, 1, …."""
    total = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            total[i + j] += a * b
    return total


def _n_derangements(n: int) -> int:
    """Count the permutations of n things that leave none in its place."""
    return sum((-1) ** k * factorial(n) // factorial(k) for k in range(n + 1))


# With more customers than this in question a guess is worth nothing, and is not checked to the end.
MOST_MATCHED = 60
RANGES = ("date", "price", "quantity")

Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Indices = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Known:
    """The original as the attacker searches it: rows in the order of their items, and again of their dates."""

    customers: list[str]
    owner: Indices
    values: Floats
    item: Indices
    item_numbers: dict[str, int]

    @classmethod
    def of(cls, original: History) -> Known:
        """Take the rows of a history, by item."""
        frame = original.kept.sort("item", maintain_order=True)
        items = frame["item"].unique(maintain_order=True)
        return cls(
            customers=original.customers,
            owner=pl.Series(frame["customer"].rank("dense") - 1).cast(pl.Int64).to_numpy(),
            values=numbers_of(frame),
            item=pl.Series(frame["item"].rank("dense") - 1).cast(pl.Int64).to_numpy(),
            item_numbers={item: number for number, item in enumerate(items.sort().to_list())},
        )

    @cached_property
    def n_rows(self) -> Indices:
        """Number of rows of each customer."""
        return np.bincount(self.owner, minlength=len(self.customers))

    @cached_property
    def item_starts(self) -> Indices:
        """Where the rows of each item start, and where the last ends."""
        return np.searchsorted(self.item, np.arange(len(self.item_numbers) + 1))

    @cached_property
    def by_date(self) -> Indices:
        """The rows in the order of their dates."""
        return np.argsort(self.values[0], kind="stable")


@dataclass(frozen=True)
class PseudonymRows:
    """The rows of one pseudonym: bounds of date, price and quantity, and item numbers (None where any item fits)."""

    low: Floats
    high: Floats
    items: list[list[int] | None]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for pseudonyms whose rows are alike, whatever their order."""
        lines = zip(*self.low.tolist(), *self.high.tolist(), (str(items) for items in self.items), strict=True)
        return tuple(sorted(lines))


def cells_by_pseudonym(published: GeneralizedHistory, known: Known) -> dict[str, PseudonymRows]:
    """Take the kept rows of each pseudonym, in alphabetical order."""
    kept = published.filter(~published.is_deleted)
    bounds = {"low": -np.inf, "high": np.inf}
    low, high = (
        np.stack(
            [
                getattr(getattr(kept, column), bound).to_physical().cast(pl.Float64).fill_null(missing).to_numpy()
                for column in RANGES
            ]
        )
        for bound, missing in bounds.items()
    )
    numbers = known.item_numbers
    items = [
        None if members is None else sorted(numbers[item] for item in members if item in numbers)
        for members in kept.item.members.to_list()
    ]
    rows = pl.DataFrame({"pseudonym": kept.customer}).with_row_index("row").group_by("pseudonym").agg("row")
    return {
        pseudonym: PseudonymRows(low[:, mine], high[:, mine], [items[row] for row in mine])
        for pseudonym, mine in sorted(rows.rows())
    }


def find_fitting(known: Known, cells: dict[str, PseudonymRows]) -> Floats:
    """Weigh who fits, in logarithms: pseudonyms × customers, minus infinity for those who do not.

    A customer fits a pseudonym if each of the pseudonym's rows can stand for another row of the customer. One whose
    rows fit in more ways is likelier; the ways are bounded by the product of the rows that fit each row alone.
    """
    found: dict[tuple[object, ...], tuple[Indices, Floats]] = {}
    weights = np.full((len(cells), len(known.customers)), -np.inf)
    with step("who fits", total=len(cells)) as bar:
        for line, mine in enumerate(cells.values()):
            if mine.key not in found:
                found[mine.key] = _fitting(known, mine)
            customers, ways = found[mine.key]
            weights[line, customers] = ways
            bar.advance()
    return weights


def _fitting(known: Known, cells: PseudonymRows) -> tuple[Indices, Floats]:
    """Return the customers that fit the rows of one pseudonym, and the logarithm of the ways in which they do."""
    may_fit = known.n_rows >= len(cells)
    ways = np.zeros(len(may_fit))
    pairs = []
    # Rows that few purchases fit come first: they leave few customers for the others.
    searches = [(line, _rows_in_reach(known, cells, line)) for line in range(len(cells))]
    for line, reach in sorted(searches, key=lambda search: len(search[1])):
        reached = reach[may_fit[known.owner[reach]]]
        values = known.values[:, reached]
        is_inside = ((cells.low[:, line, None] <= values) & (values <= cells.high[:, line, None])).all(axis=0)
        rows = reached[is_inside]
        counts = np.bincount(known.owner[rows], minlength=len(may_fit))
        may_fit &= counts > 0
        ways += np.log(np.maximum(counts, 1))
        pairs.append((line, rows))
    customers: Indices = np.flatnonzero(may_fit)
    if len(customers) <= MOST_MATCHED:
        customers = _matched(known, cells, pairs, customers)
    return customers, ways[customers]


def _rows_in_reach(known: Known, cells: PseudonymRows, line: int) -> Indices:
    """Return the known rows to look at for one row: those of its items or, where any item fits, of its dates."""
    items, starts = cells.items[line], known.item_starts
    if items is not None:
        return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in items] or [np.arange(0)])
    dates = known.values[0][known.by_date]
    first, last = np.searchsorted(dates, cells.low[0, line]), np.searchsorted(dates, cells.high[0, line], "right")
    return known.by_date[first:last]


def _matched(known: Known, cells: PseudonymRows, pairs: list[tuple[int, Indices]], customers: Indices) -> Indices:
    """Keep the customers who have a row of their own for each row of the pseudonym."""
    from scipy import sparse
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not len(customers):
        return customers
    lines = np.repeat([line for line, _ in pairs], [len(rows) for _, rows in pairs])
    rows = np.concatenate([rows for _, rows in pairs])
    owner = known.owner[rows]
    fitting = []
    for customer in customers.tolist():
        mine = owner == customer
        used, column = np.unique(rows[mine], return_inverse=True)
        shape = (len(cells), len(used))
        graph = sparse.csr_matrix((np.ones(mine.sum(), dtype=np.int8), (lines[mine], column)), shape=shape)
        if (maximum_bipartite_matching(graph, perm_type="column") >= 0).all():
            fitting.append(customer)
    return np.array(fitting, dtype=np.int64)
