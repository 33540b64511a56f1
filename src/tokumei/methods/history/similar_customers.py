"""Customers with similar ones: clusters by item sets, and pseudonyms that similar ones trade.

Item sets are clustered as Ito, Kikuchi et al. (2016) do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.release import Release
from tokumei.engines.item_sets import Floats, Ints, ItemSets, Matrix, directions, positions
from tokumei.methods.history.steps import customer_periods, recipe_of, release_under_pseudonyms

# Far more than needed: the 400 customers of 2016 come to rest after about ten.
MOST_ROUNDS = 100
# Cosines are compared after rounding, so that the order in which a machine adds does not decide.
DIGITS = 9
# Cosines that are held at once: of many customers with all centers they would not fit.
MOST_COSINES = 20_000_000


def cluster(weights: Matrix, n_clusters: int, rng: np.random.Generator) -> Ints:
    """Put each row into one of the clusters by k-means with cosines; no cluster is left empty.

    It starts from rows drawn at random: of the usual starts this comes nearest to the numbers the paper prints.
    """
    rows = directions(weights)
    centers = rows[rng.choice(rows.shape[0], n_clusters, replace=False)]
    labels = np.full(rows.shape[0], -1, np.int64)
    for _ in range(MOST_ROUNDS):
        nearest = _filled(*_nearest(rows, centers), n_clusters)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centers = _centers(rows, labels, n_clusters)
    return labels


def balance(weights: Matrix, labels: Ints, smallest: int) -> Ints:
    """Move customers out of the largest cluster until every cluster has the smallest size.

    Each time the customer of the largest cluster who is most like *any* cluster that is still too small moves there;
    the center of a cluster moves with everyone who joins.
    """
    rows = directions(weights)
    labels = labels.copy()
    sizes = np.bincount(labels)
    while sizes.min() < smallest:
        source, small = int(sizes.argmax()), np.flatnonzero(sizes < smallest)
        members = np.flatnonzero(labels == source)
        joined = np.flatnonzero(np.isin(labels, small))
        centers = _centers(rows[joined], np.searchsorted(small, labels[joined]), len(small))
        mover, to = np.unravel_index(int(_cosines(rows[members], centers).argmax()), (len(members), len(small)))
        labels[members[mover]] = small[to]
        sizes[small[to]] += 1
        sizes[source] -= 1
    return labels


def _cosines(rows: Matrix, centers: Matrix) -> Floats:
    return np.round((rows @ centers.T).toarray(), DIGITS)


def _nearest(rows: Matrix, centers: Matrix) -> tuple[Ints, Floats]:
    """Return the center nearest to each row, and their cosine, some rows at a time."""
    labels, fits = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    n_at_once = max(1, MOST_COSINES // centers.shape[0])
    for first in range(0, rows.shape[0], n_at_once):
        some = slice(first, first + n_at_once)
        cosines = _cosines(rows[some], centers)
        labels[some], fits[some] = cosines.argmax(axis=1), cosines.max(axis=1)
    return labels, fits


def _filled(labels: Ints, fits: Floats, n_clusters: int) -> Ints:
    """Fill each empty cluster with the row that fits its own cluster worst, among those not alone."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        # Whoever was moved is alone now, so that how it fits does not matter.
        labels[np.argmin(np.where(np.bincount(labels)[labels] > 1, fits, np.inf))] = empty
    return labels


def _centers(rows: Matrix, labels: Ints, n_clusters: int) -> Matrix:
    """Return the direction of the sum of each cluster's rows."""
    member = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
    return directions(sparse.csr_array(member @ rows))


# Customers are compared within blocks, so that the table of their cosines stays small.
BLOCK_CUSTOMERS = 2_000


@dataclass(frozen=True)
class ExchangePseudonyms:
    """Name customers by pseudonyms that pairs of similar customers exchange from month to month.

    | original         | released, 1 and 2 exchange in March |
    |------------------|-------------------------------------|
    | 1, February      | P1, February                        |
    | 1, March         | P2, March                           |
    | 2, March         | P1, March                           |

    A pseudonym goes on for the whole time, so an attacker who joins its months mixes up people; since they bought
    similar items, what is bought together stays much the same. Similar is who has a large cosine of item sets,
    rare items weighing more. Only customers who buy in a month exchange in it, and all other cells stay as they are.
    """

    every: int = field(default=1, metadata={"help": "Months between two exchanges."})
    share: float = field(default=0.5, metadata={"help": "Share of the month's customers who exchange, 0 to 1."})
    among: int = field(default=5, metadata={"help": "Partners are drawn from so many most similar customers."})

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Replace the customers of a history; rows keep their order."""
        self._check_options()
        cells = customer_periods(original).sort("period", "customer")
        sets = ItemSets.of(original)
        rows = directions(sets.weights())
        rng = generator(seed, "exchange-pseudonyms")
        # Everyone starts with a pseudonym of his own; swapping keeps it so in every month.
        holds = np.arange(len(sets.customers))
        number = pl.DataFrame({"customer": sets.customers, "number": holds})
        cells = cells.join(number, on="customer", how="left", maintain_order="left")
        lives = []
        for count, month in enumerate(cells.partition_by("period", maintain_order=True)):
            present = month["number"].to_numpy()
            if count and (month["period"][0] - original.periods[0]) % self.every == 0:
                for block in self._draw_blocks(present, rng):
                    one, two = block[self._pairs((rows[block] @ rows[block].T).toarray(), rng)].T
                    holds[one], holds[two] = holds[two], holds[one]
            lives.append(holds[present])
        life = pl.Series("life", np.concatenate(lives) if lives else [], pl.Int64)
        lives_by_cell = cells.with_columns(life=pl.Series(positions(life)))
        return release_under_pseudonyms(original, lives_by_cell, recipe=recipe_of(self, seed), seed=seed)

    def _check_options(self) -> None:
        if self.every < 1:
            raise InputError.of("at least one month", option="every", value=self.every)
        if not 0 <= self.share <= 1:
            raise InputError.of("a share from 0 to 1", option="share", value=self.share)
        if self.among < 1:
            raise InputError.of("at least one customer", option="among", value=self.among)

    def _draw_blocks(self, present: Ints, rng: np.random.Generator) -> list[Ints]:
        """Draw the customers who exchange this month, an even number, in blocks and in random order."""
        n_drawn = 2 * round(self.share * len(present) / 2)
        n_drawn = min(n_drawn, len(present) // 2 * 2)
        drawn = rng.permutation(present)[:n_drawn]
        return [drawn[start : start + BLOCK_CUSTOMERS] for start in range(0, n_drawn, BLOCK_CUSTOMERS)]

    def _pairs(self, cosines: Floats, rng: np.random.Generator) -> Ints:
        """Pair off everyone: each in turn with one of the most similar who are left."""
        is_free = np.ones(len(cosines), bool)
        pairs = []
        for one in range(len(cosines)):
            if not is_free[one]:
                continue
            is_free[one] = False
            left = np.flatnonzero(is_free)
            # Rounded, so that the order in which a machine adds does not decide; of equals the first drawn.
            nearest = left[np.argsort(-np.round(cosines[one, left], 9), kind="stable")[: self.among]]
            two = int(rng.choice(nearest))
            is_free[two] = False
            pairs.append((one, two))
        return np.array(pairs, np.int64).reshape(-1, 2)
