"""What an attacker gains by the counts of `dp-baskets`: μ from runs with and without one customer, beside the promise.

Everything known of the customers are noisy counts; what is drawn follows from them. The attacker sees the counts, knows
all purchases of everybody but one customer, and asks whether that customer is in (as `shadow_runs` does of tables).
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.engines.item_sets import Ints
from tokumei.methods.history.dp_baskets import PART_OF_NAMES, Added, DpBaskets
from tokumei.methods.history.drawn_customers import Baskets
from tokumei.methods.history.noisy_baskets import Noise
from tokumei.methods.synthetic.private_noise import Coins, rho_of
from tokumei.methods.synthetic.shadow_runs import ShadowRuns, mu_between

# Customers who are there in any case, with one purchase each: nothing of theirs is drawn, whoever else is in.
N_OTHERS = 50
FIRST_YEAR = 2011


@dataclass(frozen=True, eq=False)
class WatchedNoise(Noise):
    """Noise whose sums are written down; where others are followed, these are given, and weighed by the counts.

    log_chance: the logarithm of the chance of what was answered, but for what does not depend on the counts.
    """

    answers: list[Ints] = field(default_factory=list)
    follows: Sequence[Ints] | None = None
    log_chance: list[float] = field(default_factory=list)

    def add(self, name: str, counts: Ints) -> Ints:
        """Add noise, or repeat the sums; their chance is that of the noise."""
        noisy = super().add(name, counts) if self.follows is None else self.follows[len(self.answers)]
        if len(noisy) != len(counts):
            raise ArithmeticError("a method counts by what its earlier answers do not tell")
        self.answers.append(noisy)
        distance = (noisy - counts).astype(np.float64)
        self.log_chance.append(-float((distance**2).sum()) / (2 * self.sigma(name) ** 2))
        return noisy


def worst_customers(method: DpBaskets, *, with_customer: bool) -> History:
    """Return purchases that one customer moves as far as they can be moved: as many cells of each count as allowed.

    The customer has a basket on the first day of as many months as count, two at least; each holds all items, of which
    there are as many as count.
    """
    n_items = max(method.most_items, method.most_together)
    days = _days(method)
    rows = [(f"o{at}", days[0], "i0") for at in range(N_OTHERS)]
    if with_customer:
        rows += [("worst", day, f"i{at}") for day in days for at in range(n_items)]
    frame = pl.DataFrame(rows, schema={"customer": pl.String, "date": pl.Date, "item": pl.String}, orient="row")
    return History(frame.with_columns(time=pl.time(12), price=pl.lit(1.0), quantity=pl.lit(1, pl.Int64)))


def basket_shadow_runs(method: DpBaskets, n_runs: int, *, seed: int) -> ShadowRuns:
    """Count so many times without and with one customer, and compare what the likelihood ratio finds.

    Items and months are declared, so that all that is spent is the ρ of the noise, which promises μ = √(2ρ); what names
    tell has its own δ. Which purchases of the customer count is drawn once and known to the attacker.

    Example: of ρ = .15 the promise is √.3 = .548. The customer moves the count of items by √20 (L2 norm), its noise is
    √20/√(2·.05), and so the count alone has μ = √.1; the ten counts together have √(Σ 2·ρ_i) = √.3.
    """
    rho = rho_of(method.epsilon, method.delta * (1 - _part_of_names(method)))
    days = _days(method)
    told = replace(method, months=f"{days[0]:%Y-%m}..{days[-1]:%Y-%m}", budget=None)
    names = [f"i{at}" for at in range(max(method.most_items, method.most_together))]
    sides = [
        Added.of(Baskets.of(worst_customers(method, with_customer=is_in)), told, generator(seed, "shadow", "chosen"))
        for is_in in (False, True)
    ]
    shares = told.noise((), rho, seed)
    found: list[list[float]] = [[], []]
    with step("shadow runs", 2 * n_runs) as bar:
        for world in (0, 1):
            for run in range(n_runs):
                mine = WatchedNoise(shares.cells, shares.rhos, Coins(seed, "shadow", str(world), str(run)))
                told.counted(sides[world], mine, names, 0.0)
                other = replace(mine, answers=[], follows=mine.answers, log_chance=[])
                told.counted(sides[1 - world], other, names, 0.0)
                logs = (math.fsum(mine.log_chance), math.fsum(other.log_chance))
                found[world].append(logs[1 - world] - logs[world])
                bar.advance()
    low, empirical, high = mu_between(np.array(found[0]), np.array(found[1]), seed=seed)
    return ShadowRuns(math.sqrt(2 * rho), empirical, low, high, n_runs)


def _part_of_names(method: DpBaskets) -> float:
    return PART_OF_NAMES if method.item_list is None or method.months is None else 0.0


def _days(method: DpBaskets) -> list[datetime.date]:
    """Return the first day of as many months as count, two at least."""
    return [datetime.date(FIRST_YEAR + at // 12, at % 12 + 1, 1) for at in range(max(2, method.most_months))]
