"""Some rows drawn at random, the others left out."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import DRAWN_BY, order_of_rows
from tokumei.methods.perturbation import Original, Perturbed


@dataclass(frozen=True)
class Sample:
    """Release a simple random sample of the rows, in an order drawn at random.

    Each row has the same chance to be released, and none is released twice. The number of rows is the share of all,
    rounded to the nearest; at least one if there are any. Whoever looks for a person does not know whether they are
    released: with a share of 0.1 nine of ten are not, and being unique in the release need not mean being unique among
    all. Cells are not changed, so that those who are released with rare values stay exposed. Whoever knows the seed
    knows which rows were drawn: keep it secret.

    Example: with share=0.5, four rows may become the third and the first

    | row | age |   | row | released |
    |-----|-----|---|-----|----------|
    | 0   | 31  |   | 2   | 42       |
    | 1   | 35  |   | 0   | 31       |
    | 2   | 42  |   |     |          |
    | 3   | 44  |   |     |          |
    """

    share: float = field(default=0.1, metadata={"help": "The share of the rows that is released."})

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Draw the rows without replacement."""
        n_rows = original.n_rows
        n_drawn = self.n_drawn(n_rows)
        rows = order_of_rows(seed, "sample", n_rows)[:n_drawn]
        return Perturbed(original.frame[rows], pl.Series("row", rows), facts={"n_rows": n_drawn, "drawn_by": DRAWN_BY})

    def n_drawn(self, n_rows: int) -> int:
        """Return how many of so many rows are drawn."""
        if not 0 < self.share <= 1:
            raise InputError.of("a share above 0 and at most 1", option="share", value=self.share)
        return min(n_rows, max(1, round(self.share * n_rows)))
