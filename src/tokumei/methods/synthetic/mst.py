"""Rows drawn from a tree of two-way marginals with noise: the MST mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tokumei.core.progress import step
from tokumei.methods.perturbing.perturbation import Floats, Ints
from tokumei.methods.synthetic.graphical_model import Clique, GraphicalModel, Measurement
from tokumei.methods.synthetic.private import Measured, PrivateRows, PrivateSynthesizer
from tokumei.methods.synthetic.private_noise import gaussian_rho, selection_rho

N_STEPS = 400
# Cells that noise alone may explain are merged.
MERGED_BELOW = 3.0


@dataclass(frozen=True, eq=False)
class Merged:
    """The cells of a column after those that noise may explain became one: the new cell of each, and its members."""

    cell_of: Ints
    n_cells: int

    @classmethod
    def of(cls, measured: Measurement) -> Merged:
        """Merge the cells whose noisy count is below three deviations of the noise."""
        is_kept = measured.counts >= MERGED_BELOW * np.asarray(measured.sigma)
        if (~is_kept).sum() < 2:
            return cls(np.arange(len(is_kept)), len(is_kept))
        n_kept = int(is_kept.sum())
        return cls(np.where(is_kept, np.cumsum(is_kept) - 1, n_kept), n_kept + 1)

    def told(self, measured: Measurement) -> Measurement:
        """Return the measurement of the new cells: the sum of merged ones, with the noise of all."""
        counts = np.bincount(self.cell_of, measured.counts, self.n_cells).astype(np.float64)
        members = np.bincount(self.cell_of, minlength=self.n_cells)
        return Measurement(measured.clique, counts, np.asarray(measured.sigma * np.sqrt(members), np.float64))

    def spread(self, cells: Ints, random: np.random.Generator) -> Ints:
        """Return cells of the column itself: a merged one becomes any of its members, all equally likely."""
        order = np.argsort(self.cell_of, kind="stable")
        members = np.bincount(self.cell_of, minlength=self.n_cells)
        first = np.cumsum(members) - members
        return np.asarray(order[first[cells] + np.floor(random.random(len(cells)) * members[cells]).astype(np.int64)])


@dataclass(eq=False)
class MergedModel(GraphicalModel):
    """A model of merged cells that draws cells of the columns themselves."""

    merged: Sequence[Merged] = ()

    @classmethod
    def of(cls, model: GraphicalModel, merged: Sequence[Merged]) -> MergedModel:
        """Return a model of merged cells."""
        return cls(model.tree, model.total, model.potentials, model.beliefs, merged)

    def draw(self, n: int, random: np.random.Generator) -> list[Ints]:
        """Draw rows, and the cells that merged ones stand for."""
        return [one.spread(cells, random) for one, cells in zip(self.merged, super().draw(n, random), strict=True)]


@dataclass(frozen=True, kw_only=True)
class Mst(PrivateSynthesizer):
    """Draw rows under (ε, δ)-differential privacy from counts of columns and of pairs that form a tree.

    MST (McKenna, Miklau and Sheldon 2021). The ρ of concentrated privacy that (ε, δ) allows is spent in thirds, on d
    columns, m being the rows that one person may have. **Counts of each column**: one person moves the counts of a
    column by m at most (L2 norm), so that discrete Gaussian noise of deviation σ = m·√(3d/2ρ) spends ρ/3d for each.
    Cells below 3σ are merged, since noise alone may explain them. **The tree**: d − 1 pairs are chosen one after the
    other by the exponential mechanism among those that close no circle; the score is the L1 distance of the exact
    counts of a pair from those that the columns alone let expect, which one person moves by m at most, so that a choice
    at ε = √(8ρ/3(d − 1)) spends ε²/8. **Counts of the pairs** as those of columns, with σ = m·√(3(d − 1)/2ρ). All else
    sees noisy counts alone: the likeliest distribution over the tree, and rows drawn from it.

    The values that may occur are declared, by hierarchies or `domain`, and never read off the table; what is not among
    them is missing. The number of rows is that of the noisy counts. Who is protected is each row, or each person where
    a column tells whose a row is; `most_rows` says how many rows of one count. Noise is drawn anew for each release and
    its seed is not kept. What three columns say together that pairs of the tree do not is lost: `aim` is slower and
    finds more.

    Example: of two columns and ρ = 1/3, sex is counted with σ = √(3·2/(2/3)) = 3, and so is smoking; the one pair there
    is needs no choice and is counted with σ = √(3/(2/3)) = 2.1.

    | sex | counted | noise | published |
    |-----|---------|-------|-----------|
    | f   | 30      | −2    | 28        |
    | m   | 20      | 4     | 24        |
    """

    def first_sigma(self, n_columns: int, rho: float, most_rows: int) -> float:
        """Return m·√(3d/2ρ): d counts of m²/2σ² each spend a third of ρ."""
        return most_rows * math.sqrt(3 * n_columns / (2 * rho))

    def measured(self, rows: PrivateRows, rho: float) -> Measured:
        """Count columns, choose a tree, and count its pairs."""
        n_columns, third = len(rows.sizes), rho / 3
        sigma = self.first_sigma(n_columns, rho, rows.most_rows)
        first = [rows.measure((one,), sigma) for one in range(n_columns)]
        spent = n_columns * gaussian_rho(sigma, rows.most_rows)
        merged = [Merged.of(one) for one in first]
        told = [one.told(measured) for one, measured in zip(merged, first, strict=True)]
        codes = tuple(np.asarray(one.cell_of[cells]) for one, cells in zip(merged, rows.codes, strict=True))
        fewer = replace(rows, codes=codes, sizes=tuple(one.n_cells for one in merged))
        if n_columns > 1:
            model = GraphicalModel.fit(fewer.sizes, told, n_steps=N_STEPS)
            epsilon = math.sqrt(8 * third / (n_columns - 1))
            with step("choosing pairs"):
                tree = chosen_tree(fewer, model, epsilon)
            sigma = rows.most_rows * math.sqrt((n_columns - 1) / (2 * third))
            told += [fewer.measure(pair, sigma) for pair in tree]
            spent += (n_columns - 1) * (selection_rho(epsilon) + gaussian_rho(sigma, rows.most_rows))
        return Measured(fewer.sizes, told, spent, finish=lambda model: MergedModel.of(model, merged))


def chosen_tree(rows: PrivateRows, model: GraphicalModel, epsilon: float) -> list[Clique]:
    """Choose pairs of columns that form a tree, each at ε, by how far the pair is from what a model expects."""
    pairs = list(combinations(range(len(rows.sizes)), 2))
    scores = [distance(rows.count(pair), model.marginal(pair)) for pair in pairs]
    part_of = list(range(len(rows.sizes)))
    chosen: list[Clique] = []
    while len(chosen) < len(rows.sizes) - 1:
        open_ones = [at for at, (one, other) in enumerate(pairs) if part_of[one] != part_of[other]]
        place = rows.choose([scores[at] for at in open_ones], rows.most_rows, epsilon)
        one, other = pairs[open_ones[place]]
        chosen.append((one, other))
        part_of = [part_of[one] if part == part_of[other] else part for part in part_of]
    return chosen


def distance(counts: Ints, expected: Floats) -> float:
    """Return the sum of absolute differences of counts: one row more or less moves it by 1 at most."""
    return float(np.abs(counts - expected).sum())
