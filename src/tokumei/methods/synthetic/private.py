"""What methods under differential privacy have in common: the unit, the domain, the budget, the promise."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.hierarchies.label_semantics import Bools
from tokumei.methods.perturbing.perturbation import Ints, Original
from tokumei.methods.synthetic.account import Spending, spend
from tokumei.methods.synthetic.domains import Domain, domains_of
from tokumei.methods.synthetic.graphical_model import GraphicalModel, Measurement, counted
from tokumei.methods.synthetic.paid_domains import (
    SHARE_OF_DELTA,
    SHARE_OF_RHO,
    Payment,
    paid_columns,
    paid_domains,
)
from tokumei.methods.synthetic.private_noise import Coins, chosen_privately, discrete_gaussian, rho_of
from tokumei.methods.synthetic.synthesizer import USUAL_SHARE, Drawn, Synthesizer, only_rows

# With less the noise is larger than what whole numbers of 64 bits draw.
LEAST_EPSILON = 1e-4
# More rows than this are drawn for no table; noise could ask for them.
MOST_ROWS = 50_000_000
# Steps of the last fit.
LAST_STEPS = 500
# Fewer shadow runs tell nothing.
FEWEST_RUNS = 20


@dataclass(frozen=True, eq=False)
class PrivateRows:
    """Rows as cells of declared domains, of which one person has so many at most, and the coins noise is made of."""

    codes: tuple[Ints, ...]
    sizes: tuple[int, ...]
    most_rows: int
    coins: Coins

    def count(self, clique: Sequence[int]) -> Ints:
        """Count the rows of each cell exactly; private, and never released by itself."""
        return counted(self.codes, self.sizes, tuple(clique))

    def measure(self, clique: Sequence[int], sigma: float) -> Measurement:
        """Count the rows of each cell with discrete Gaussian noise.

        One person who comes or goes moves the counts by at most m rows, all in one cell at worst: the L2 sensitivity is
        m, and this spends m²/(2σ²).
        """
        counts = self.count(clique)
        noise = discrete_gaussian(sigma, counts.size, self.coins).reshape(counts.shape)
        return Measurement(tuple(clique), (counts + noise).astype(np.float64), sigma)

    def choose(self, scores: Sequence[float], sensitivity: float, epsilon: float) -> int:
        """Choose the place of a high score by the exponential mechanism; this spends ε²/8."""
        return chosen_privately(scores, sensitivity, epsilon, self.coins)


@dataclass(frozen=True, eq=False)
class Measured:
    """All that a method knows of the rows: noisy counts, and the ρ that they and the choices between them spent."""

    sizes: tuple[int, ...]
    told: Sequence[Measurement]
    spent: float
    start: GraphicalModel | None = None
    # What becomes of the fitted model, such as spreading merged cells.
    finish: Callable[[GraphicalModel], GraphicalModel] = lambda model: model


@dataclass(frozen=True, kw_only=True)
class PrivateSynthesizer(Synthesizer):
    """A method that draws rows from noisy counts, so that no release is much likelier with a person than without."""

    epsilon: float = field(
        default=1.0, metadata={"help": "ε: a release may become e^ε times as likely. Smaller ε gives more privacy."}
    )
    delta: float = field(default=1e-9, metadata={"help": "δ: the chance that it becomes likelier than that."})
    most_rows: int | None = field(
        default=None,
        metadata={
            "help": "Rows of one person that count, drawn at random where there are more; 1 if nobody has several."
        },
    )
    domain: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "What may occur in a column, from elsewhere: sex=f|m,age=17..90,age=17..90/10; city=? or age=?/10 "
            "spends a tenth of the budget on counting it."
        },
    )
    levels: tuple[str, ...] = field(
        default=(), metadata={"help": "Level of each column's hierarchy, such as age=1,sex=0; 0 where not named."}
    )
    is_complete: bool = field(default=False, metadata={"help": "No cell is missing, which is known beforehand."})
    shadow_runs: int = field(
        default=0,
        metadata={
            "help": "Runs with one person more, and as many without, that measure what the counts tell of them; 0 runs "
            "none."
        },
    )
    budget: str | None = field(
        default=None, metadata={"help": "File of what all releases may spend and have spent.", "is_file": True}
    )

    # Whoever runs it draws the noise anew every time, or says that nothing is promised.
    spends_budget: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not LEAST_EPSILON <= self.epsilon < math.inf:
            raise InputError.of(f"a number from {LEAST_EPSILON:g} on", option="epsilon", value=self.epsilon)
        if not 0 < self.delta < 1:
            raise InputError.of("a number above 0 and below 1", option="delta", value=self.delta)
        if self.most_rows is not None and self.most_rows < 1:
            raise InputError.of("at least 1", option="most_rows", value=self.most_rows)
        if self.shadow_runs and self.shadow_runs < FEWEST_RUNS:
            expected = Text("0, or a whole number of {n} or more", n=FEWEST_RUNS)
            raise InputError.of(expected, option="shadow_runs", value=self.shadow_runs)

    def outside(self, n: int, random: np.random.Generator) -> Bools:
        """Throw a coin for each person: one more changes who else is fitted in nothing, or the proof would not hold."""
        return random.random(n) < (USUAL_SHARE if self.hold_out is None else self.hold_out)

    @abstractmethod
    def first_sigma(self, n_columns: int, rho: float, most_rows: int) -> float:
        """Return the deviation of the noise of each column's counts, which is the largest there is."""

    @abstractmethod
    def measured(self, rows: PrivateRows, rho: float) -> Measured:
        """Count with noise, and return all that is known of the rows afterwards: the rest is post-processing."""

    def fitted(self, rows: PrivateRows, rho: float) -> tuple[GraphicalModel, Sequence[Sequence[int]], float]:
        """Return a model fitted to noisy counts, the columns of each that was counted, and the ρ that was spent."""
        found = self.measured(rows, rho)
        with step("fitting"):
            model = GraphicalModel.fit(found.sizes, found.told, n_steps=LAST_STEPS, start=found.start)
        return found.finish(model), [one.clique for one in found.told], found.spent

    def draw(self, original: Original, n_rows: int, *, seed: int) -> Drawn:
        """Spend, count with noise, and draw rows from the model of the counts; all after it is post-processing."""
        names = original.frame.columns
        most_rows = self._most_rows(original)
        wanted = paid_columns(self.domain, names)
        delta = SHARE_OF_DELTA * self.delta if wanted else 0.0
        rho = rho_of(self.epsilon, self.delta - delta)
        payment = Payment(SHARE_OF_RHO * rho, delta, len(wanted), most_rows) if wanted else None
        # What was declared is checked before anything is spent.
        self._domains(original, {name: Domain(name) for name in wanted})
        left = rho if payment is None else rho - payment.rho
        # Noise that is too large is refused before anything is spent.
        discrete_gaussian(self.first_sigma(len(names), left, most_rows), 0, Coins(seed))
        random, name = generator(seed, part_name(self)), part_name(self)
        account = (
            None if self.budget is None else spend(self.budget, Spending(rho, method=name, delta=delta), original.frame)
        )
        told = truncated(original, most_rows, random)
        paid = {}
        if payment is not None:
            coins = Coins(seed, name, "domains")
            paid = paid_domains(told, wanted, payment, coins, is_complete=self.is_complete)
        domains = self._domains(original, paid)
        codes = tuple(domain.encode(told) for domain in domains)
        rows = PrivateRows(codes, tuple(domain.size for domain in domains), most_rows, Coins(seed, name, "noise"))
        model, cliques, spent = self.fitted(rows, left)
        if spent > left * (1 + 1e-9):
            raise ArithmeticError(f"{name} spent {spent} of {left}")
        n = n_rows or min(round(model.total), MOST_ROWS)
        drawn = model.draw(n, random)
        dtypes = original.frame.schema
        frame = pl.DataFrame(
            [one.write(cells, dtypes[one.name], random) for one, cells in zip(domains, drawn, strict=True)]
        )
        unit = unit_words(original, self.most_rows)
        inputs = {"delta": self.delta, "rho": rho, "protects": unit, "neighbors": "add-or-remove"}
        promise = Score("epsilon", self.epsilon, best=0, worst=math.inf, inputs=inputs)
        facts = {
            **inputs,
            "epsilon": self.epsilon,
            "counted": [[names[one] for one in clique] for clique in cliques],
            "domain": {one.name: one.size for one in domains},
            **({} if payment is None else {"domains_counted": sorted(wanted), "domains_rho": payment.rho}),
            **({} if account is None else account.facts()),
        }
        return Drawn(frame, {"epsilon": promise}, facts)

    def _domains(self, original: Original, paid: Mapping[str, Domain]) -> list[Domain]:
        names = original.frame.columns
        return domains_of(original, names, self.domain, self.levels, is_complete=self.is_complete, paid=paid)

    def _most_rows(self, original: Original) -> int:
        """Return how many rows of one person count; it is asked for where a column tells whose a row is."""
        if original.whose is None:
            return self.most_rows or 1
        if self.most_rows is None:
            expected = "how many rows of one person count: the noise grows with it"
            raise InputError.of(expected, option="most_rows")
        missing = original.whose.is_null().arg_true().to_list()
        if missing:
            raise original.refused("a value in the column that tells whose a row is", original.whose, missing)
        return self.most_rows


def unit_words(original: Original, most_rows: int | None) -> str:
    """Return who is protected, in words."""
    if original.whose is not None:
        return f"people of column {original.whose.name}, of whose rows {most_rows} count"
    return (
        "rows, each of another person"
        if most_rows in (None, 1)
        else f"people with at most {most_rows} rows, as declared"
    )


def truncated(original: Original, most_rows: int, random: np.random.Generator) -> Original:
    """Keep so many rows of each person, drawn at random: what others have decides nothing about a person's rows."""
    if original.whose is None:
        return original
    people = original.whose.rank("dense").to_numpy().astype(np.int64)
    mixed = random.permutation(len(people))
    order = mixed[np.argsort(people[mixed], kind="stable")]
    sizes = np.bincount(people)
    place = np.arange(len(people)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_kept = np.zeros(len(people), np.bool_)
    is_kept[order[place < most_rows]] = True
    return only_rows(original, is_kept)
