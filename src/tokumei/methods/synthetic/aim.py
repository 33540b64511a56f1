"""Rows drawn from marginals with noise that are chosen one after the other: the AIM mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.methods.perturbing.perturbation import Ints
from tokumei.methods.synthetic.graphical_model import Clique, GraphicalModel, JunctionTree, Measurement
from tokumei.methods.synthetic.mst import distance
from tokumei.methods.synthetic.private import LAST_STEPS, Measured, PrivateRows, PrivateSynthesizer
from tokumei.methods.synthetic.private_noise import gaussian_rho, selection_rho

# Shares of a round's budget: for the counts, and for the choice.
FOR_COUNTS, FOR_CHOICE = 0.9, 0.1
ROUNDS_PER_COLUMN = 16
STEPS_PER_ROUND = 50
# A table of three columns with more cells is noise for the most part, and fills the memory.
MOST_CELLS = 1_000_000
# The mean of what Gaussian noise adds to the absolute difference of a cell, in deviations.
MEAN_NOISE = math.sqrt(2 / math.pi)


@dataclass(frozen=True, kw_only=True)
class Aim(PrivateSynthesizer):
    """Draw rows under (ε, δ)-differential privacy from counts that are chosen where the model is worst.

    AIM (McKenna, Mullins, Sheldon and Miklau 2022), for all counts by `ways` columns. On ρ of concentrated privacy and
    T = 16·d rounds for d columns, m being the rows that one person may have: **counts** have discrete Gaussian noise of
    deviation σ = m·√(T/(2·0.9·ρ)); one person moves the counts of some columns by m at most (L2 norm), so that each
    spends m²/2σ². First each column is counted. **Each round** chooses some columns by the exponential mechanism at ε =
    √(8·0.1·ρ/T), which spends ε²/8, and counts them. The score of columns r is w·(L1 distance of the exact counts from
    the model's − √(2/π)·σ·cells), w the number of columns in r; one person moves the distance by m at most, so that the
    sensitivity is m times the largest w. Where a round's counts change the model by less than noise would, σ is halved
    and ε doubled; what is left at last goes into one more round. Only columns whose model stays below `most_cells`, in
    the share of the budget spent so far, are chosen from. The unit, the domain and the noise are those of `mst`.

    Example: of three columns and ρ = 1 there are T = 48 rounds at first, with σ = √(48/1.8) = 5.2 and ε = √(0.8/48) =
    0.13. A pair of 6 cells that the model misses by 100 rows scores 2·(100 − 0.8·5.2·6) = 150.
    """

    ways: int = field(default=3, metadata={"help": "Columns of each count that is to be right: 2, 3, …"})
    most_cells: int = field(default=300_000, metadata={"help": "Cells of the model: more cost time and tell more."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ways < 1:
            raise InputError.of("1 or more columns", option="ways", value=self.ways)
        if self.most_cells < 1:
            raise InputError.of("1 or more cells", option="most_cells", value=self.most_cells)

    def first_sigma(self, n_columns: int, rho: float, most_rows: int) -> float:
        """Return m·√(T/(2·0.9·ρ)) for T rounds."""
        return most_rows * math.sqrt(ROUNDS_PER_COLUMN * n_columns / (2 * FOR_COUNTS * rho))

    def measured(self, rows: PrivateRows, rho: float) -> Measured:
        """Count columns, then what the model misses most, until the budget is spent."""
        m, n_columns = rows.most_rows, len(rows.sizes)
        n_rounds = ROUNDS_PER_COLUMN * n_columns
        sigma = self.first_sigma(n_columns, rho, m)
        epsilon = math.sqrt(8 * FOR_CHOICE * rho / n_rounds)
        told: list[Measurement] = [rows.measure((one,), sigma) for one in range(n_columns)]
        spent = n_columns * gaussian_rho(sigma, m)
        model = GraphicalModel.fit(rows.sizes, told, n_steps=LAST_STEPS)
        candidates = self._candidates(rows.sizes)
        exact: dict[Clique, Ints] = {}
        is_last = n_columns < 2
        with step("choosing counts") as bar:
            while not is_last:
                each = gaussian_rho(sigma, m) + selection_rho(epsilon)
                if rho - spent < 2 * each:
                    is_last, left = True, rho - spent
                    sigma = m / math.sqrt(2 * FOR_COUNTS * left)
                    epsilon = math.sqrt(8 * FOR_CHOICE * left)
                    each = left
                spent += each
                fitting = self._fitting(candidates, model.tree, spent / rho)
                exact |= {one: rows.count(one) for one in fitting if one not in exact}
                weights = [len(one) for one in fitting]
                scores = [
                    weight * (distance(exact[one], model.marginal(one)) - MEAN_NOISE * sigma * exact[one].size)
                    for one, weight in zip(fitting, weights, strict=True)
                ]
                chosen = fitting[rows.choose(scores, m * max(weights), epsilon)]
                before = model.marginal(chosen)
                told.append(rows.measure(chosen, sigma))
                if is_last:
                    break
                model = GraphicalModel.fit(rows.sizes, told, n_steps=STEPS_PER_ROUND, start=model)
                if float(np.abs(model.marginal(chosen) - before).sum()) <= MEAN_NOISE * sigma * before.size:
                    sigma, epsilon = sigma / 2, epsilon * 2
                bar.advance()
        return Measured(rows.sizes, told, min(spent, rho), start=model)

    def _candidates(self, sizes: Sequence[int]) -> list[Clique]:
        """Return all columns, pairs and so on up to the number of ways, without those of too many cells."""
        columns = range(len(sizes))
        found = [one for n in range(1, min(self.ways, len(sizes)) + 1) for one in combinations(columns, n)]
        return [one for one in found if len(one) == 1 or math.prod(sizes[place] for place in one) <= MOST_CELLS]

    def _fitting(self, candidates: Sequence[Clique], tree: JunctionTree, share: float) -> list[Clique]:
        """Return the candidates whose model has not too many cells; those that the model holds always do."""
        found = []
        for one in candidates:
            larger = tree if tree.home_of(one) >= 0 else JunctionTree.of(tree.sizes, [*tree.cliques, one])
            if larger is tree or larger.n_cells <= self.most_cells * share:
                found.append(one)
        return found
