"""The strong attacker, by all fields and months, one to one; and one who counts the rows of each month alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.attacks.linkage.blocking import BLOCK_CELLS, LARGEST_CELLS, N_KEPT
from tokumei.attacks.linkage.evidence import Evidence
from tokumei.attacks.linkage.fields import MOST_NAMES, Ints, find_epochs
from tokumei.attacks.linkage.joining import join_epochs, join_in_blocks, match_counts
from tokumei.attacks.linkage.learning import CountEvidence, Expected
from tokumei.attacks.linkage.offsets import Offsets
from tokumei.attacks.linkage.pieces import in_pieces
from tokumei.attacks.linkage.rows import KIND_CHARACTERS, Compared
from tokumei.core.errors import InputError
from tokumei.core.progress import Cost
from tokumei.data.history import History, period_of

SCHEMA = {"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String}
# Believed of knowledge that does not say how many rows there are besides.
USUAL_DELETED = 0.05
# As measured on the 2017 set and on made shops of up to 2,000 customers.
PAIR_SECONDS = 1.2e-7
CELL_SECONDS = 2e-6
MATCH_SECONDS = 2e-10
ROW_SECONDS = 1.5e-5
ROW_BYTES = 300.0
# To learn from a block: eight passes over its pairs of customers and pseudonyms, in so many arrays at once.
LEARNED_CELL_SECONDS = 6e-7
LEARNED_CELL_BYTES = 8 * 7
# Where so many known rows are released as they were, days and times hardly changed.
AS_IT_WAS = 0.5
ROWS_LOOKED_AT = 20_000
# Nobody is sure to know everything.
MOST_KNOWN = 0.98


@dataclass(frozen=True)
class Linkage:
    """Match customers to pseudonyms by everything that still agrees, for as long as a pseudonym lives.

    Knowledge: some rows of the original, items whole or cut to their first characters, nothing on how the release was
    made. Aim: the customer's pseudonym in each month, and the months in which the customer has none. Success: all
    months right (row), or the single month (month).

    A *piece*, the rows of a pseudonym for as long as nearly all customers keep theirs, is weighed against a customer,
    in log odds: what the rows say (`linkage.evidence`, each field by how often it still agrees, learned from the
    release), how many rows there are (`linkage.learning`), and what the customer buys under other pseudonyms
    (`linkage.rows`). How long pseudonyms are kept is learned, too (`linkage.pieces`): where customers exchange them, or
    get new ones at times of their own, a piece is a month, and months of one customer are joined by how likely a
    pseudonym is kept (`linkage.persistence`). Then each epoch is matched one to one (`linkage.blocking`). Of thousands
    of customers, scores are made in blocks and the likeliest pseudonyms of each kept, without habits.

    Where all dates of a customer moved by as many days, what is known is moved first, and guesses are named by the
    months of the original (`linkage.offsets`).
    """

    rounds: int = field(default=2, metadata={"help": "How often epochs are joined by habits; 0 uses the rows alone."})

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month in which absence is less likely."""
        if self.rounds < 0:
            raise InputError.of("0 or more", option="rounds", value=self.rounds)
        if not knowledge.customers or not published.customers:
            return pl.DataFrame(schema=SCHEMA)
        offsets = _offsets(knowledge, published)
        if offsets is not None:
            guesses = self._guess(offsets.move(knowledge), published)
            return offsets.move_back(guesses, published).sort("customer", "period")
        return self._guess(knowledge, published)

    def _guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month of the release."""
        n_cells = len(knowledge.customers) * len(published.customers)
        evidence, counts, epochs = in_pieces(*weigh(knowledge, published, has_habits=n_cells <= LARGEST_CELLS))
        compared = evidence.compared
        if len(compared.customers) * len(compared.pseudonyms) > LARGEST_CELLS:
            return guesses_of(compared, join_in_blocks(evidence, counts, epochs))
        return guesses_of(compared, join_epochs(evidence, counts, epochs, n_rounds=self.rounds))

    def estimate(self, knowledge: History, published: History) -> Cost:
        """Estimate an attack's cost: pairs of rows of one month and kind, and pairs of customers and pseudonyms."""
        kind = pl.col("item").str.slice(0, KIND_CHARACTERS).alias("kind")
        # Lazily, since each column of millions of rows is as large as all that is counted here.
        ours, theirs = (
            side.kept.lazy().with_columns(kind, period=period_of(pl.col("date"))) for side in (knowledge, published)
        )
        is_narrow = _is_as_it_was(ours, theirs, len(knowledge.kept))
        keys = ["date", "time", "kind"] if is_narrow else ["period", "kind"]
        counted = (side.group_by(keys).agg(n=pl.len()).collect(engine="streaming") for side in (ours, theirs))
        both = next(counted).join(next(counted), on=keys, nulls_equal=True)
        n_pairs = float((both["n"].cast(pl.Float64) * both["n_right"].cast(pl.Float64)).sum())
        n_customers, n_names = len(knowledge.customers), len(published.customers)
        n_cells = float(n_customers) * n_names
        # Scores by rows and by numbers of rows, their sums and chances; habits hold six numbers of each cell, of half
        # the size.
        n_bytes = n_cells * 8 * (9 + (3 if self.rounds and n_names > MOST_NAMES * n_customers else 0))
        if n_cells > LARGEST_CELLS:
            # Agreement is learned from one block whatever is compared afterwards.
            learning = 2 + BLOCK_CELLS * LEARNED_CELL_SECONDS
            n_rows = float(len(knowledge.kept) + len(published.kept))
            if is_narrow:
                held = max(n_rows * ROW_BYTES, BLOCK_CELLS * LEARNED_CELL_BYTES)
                return Cost(learning + n_pairs * PAIR_SECONDS + n_rows * ROW_SECONDS, held)
            # In blocks: what is held of one, and what is kept of all.
            n_bytes = BLOCK_CELLS * 8 * 8 + n_customers * N_KEPT * 8.0 * 12
            return Cost(learning + n_pairs * PAIR_SECONDS + n_cells * CELL_SECONDS / 4, n_bytes)
        seconds = 2 + n_pairs * PAIR_SECONDS + n_cells * CELL_SECONDS + n_cells * n_customers * MATCH_SECONDS
        return Cost(seconds, n_bytes)


def _is_as_it_was(known: pl.LazyFrame, released: pl.LazyFrame, n_known: int) -> bool:
    """Whether most known rows are released with their day, time, price and quantity unchanged."""
    fields = ["date", "time", "kind", "price", "quantity"]
    # A share is known well enough by some thousands of rows, and few are met by millions sooner than the other way.
    some = known.select(fields).gather_every(max(1, n_known // ROWS_LOOKED_AT)).collect()
    same = released.select(fields).join(some.unique().lazy(), on=fields, how="semi", nulls_equal=True)
    met = same.unique().collect(engine="streaming")
    return some.join(met, on=fields, how="semi", nulls_equal=True).height >= AS_IT_WAS * some.height


def _offsets(knowledge: History, published: History) -> Offsets | None:
    """Return by how many days customers' dates moved; None where they did not, each by its own number."""
    kind = pl.col("item").str.slice(0, KIND_CHARACTERS).alias("kind")
    ours, theirs = (side.kept.lazy().with_columns(kind) for side in (knowledge, published))
    if _is_as_it_was(ours, theirs, len(knowledge.kept)):
        return None
    found = Offsets.of(knowledge, published)
    return None if found.days.is_empty() else found


def guesses_of(compared: Compared, found: Ints) -> pl.DataFrame:
    """Name what was found: customers (down) by months (across), the number of a pseudonym or −1."""
    customers, months = np.nonzero(found >= 0)
    guesses = {
        "customer": np.array(compared.customers, dtype=object)[customers],
        "period": np.array(compared.months, np.int32)[months],
        "pseudonym": np.array(compared.pseudonyms, dtype=object)[found[customers, months]],
    }
    return pl.DataFrame(guesses, schema=SCHEMA).sort("customer", "period")


def weigh(
    knowledge: History, published: History, *, has_habits: bool = True, share: float | None = None
) -> tuple[Evidence, CountEvidence]:
    """Prepare what rows and their numbers say, and what rows buy where habits are asked for.

    share: of the rows of each customer that is known; if not given, known rows are counted beside all.
    """
    compared = Compared.of(knowledge, published, has_habits=has_habits)
    n_known, n_released = len(compared.known), len(compared.released)
    # What is not released of all the rows the attacker counts was deleted; unknown rows are counted where marked.
    is_counted = share is None and (knowledge.n_rows > n_known or n_known >= n_released)
    n_rows = knowledge.n_rows if is_counted else n_released / (1 - USUAL_DELETED)
    deleted = max(0.0, 1 - n_released / n_rows)
    evidence = Evidence.of(compared, deleted)
    shape = (len(compared.customers), len(compared.months))
    expected = Expected.of(knowledge, compared.known, min(share or n_known / n_rows, MOST_KNOWN), shape)
    return evidence, CountEvidence(expected, 1 - deleted, evidence.n_rows)


@dataclass(frozen=True)
class RowCounts:
    """Match customers to pseudonyms by their numbers of rows alone, month by month, one to one.

    Knowledge: some rows of the original; unknown rows that stand in their places tell more. Aim: the customer's
    pseudonym in each month, and the months in which the customer has none. Success: all months right. This is who
    suspects that purchases were exchanged among customers: their contents then mislead, and only what was not
    exchanged is left to go by. Where numbers of rows were made equal, as by `permute-groups`, it finds nobody.
    """

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month in which absence is less likely."""
        if not knowledge.customers or not published.customers:
            return pl.DataFrame(schema=SCHEMA)
        evidence, counts = weigh(knowledge, published, has_habits=False)
        epochs = find_epochs(evidence.n_rows, len(evidence.compared.customers))
        return guesses_of(evidence.compared, match_counts(counts, epochs))

    def estimate(self, knowledge: History, published: History) -> Cost:
        """Estimate the cost of an attack: scores of all customers and pseudonyms, and matching them."""
        n_customers, n_names = len(knowledge.customers), len(published.customers)
        n_cells = float(n_customers) * n_names
        return Cost(0.5 + n_cells * (CELL_SECONDS + n_customers * MATCH_SECONDS), n_cells * 8 * 4)
