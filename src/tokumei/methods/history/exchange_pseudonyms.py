"""Customers who trade their pseudonyms with similar ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.release import Release
from tokumei.engines.item_sets import Floats, Ints, ItemSets, directions, positions
from tokumei.methods.pseudonymizing import customer_periods, release_under_pseudonyms
from tokumei.methods.steps import recipe_of

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
