"""Customers of nobody under differential privacy, drawn from noisy counts of what each customer adds to a little."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.data.files.disk import check_is_file
from tokumei.data.history import History, period_name
from tokumei.engines.item_sets import Floats, Ints
from tokumei.methods.history.basket_model import HOURS, WEEKDAYS, BasketModel, bins_of
from tokumei.methods.history.drawn_customers import PREFIX, Baskets, CustomerSynthesizer
from tokumei.methods.history.noisy_baskets import CENTS, N_BINS, Counted, Noise
from tokumei.methods.synthetic.account import Spending, spend
from tokumei.methods.synthetic.private import FEWEST_RUNS
from tokumei.methods.synthetic.private_noise import Coins, rho_of

# Kept out, whatever the customers: their number must decide nothing.
USUAL_SHARE = 0.1
# What each count gets of the budget.
PARTS = {
    "baskets": 1.0,
    "sizes": 1.0,
    "months": 2.0,
    "weekdays": 0.5,
    "hours": 0.5,
    "returns": 0.5,
    "items": 6.0,
    "pairs": 4.0,
    "prices": 2.0,
    "quantities": 0.5,
}
COLUMN_OF = {"hours": "time", "prices": "price", "quantities": "quantity"}
# Pairs are counted of so many items, those that most customers have by the noisy count.
TOP_ITEMS = 200
# Half of δ is for names that must be found by being common, half for the noise.
PART_OF_NAMES = 0.5
LEAST_EPSILON = 1e-4
MONTHS = "the months from the first to the last, as 2010-12..2011-11"


@dataclass(frozen=True, kw_only=True)
class DpBaskets(CustomerSynthesizer):
    """Draw customers of nobody under (ε, δ)-differential privacy of customers, from noisy counts.

    Baskets are drawn as `basket-chain` draws them, but for the season of each item. Two histories are neighbors if all
    purchases of one customer are added or removed. Each customer adds 1 to so many cells of each count, drawn at
    random where they would add to more, whatever others do, so that the counts move by √cells at most (L2 norm):

    | count                                                     | cells of a customer              |
    |-----------------------------------------------------------|----------------------------------|
    | customers by number of baskets, in bins                   | 1                                |
    | customers by month of a basket                            | `most_months`, m                 |
    | customers by item                                         | `most_items`, n                  |
    | of these, by item and price, in bins                      | n                                |
    | a basket of each by number of items, weekday, hour        | 1 in each                        |
    | items and pairs in it, of the 200 items most often counted | g·(g + 1)/2 of `most_together`, g |
    | an item of a later basket, bought before or not           | 1                                |
    | a purchase of each by quantity, in bins                   | 1                                |

    A count whose cells are added to by c cells of a customer has the sensitivity Δ = √c, and discrete Gaussian noise of
    deviation σ = Δ/√(2ρ_i) spends ρ_i of ρ-zCDP; the ρ_i add up to ρ. Counts under 3σ count as none. All else sees
    noisy counts alone.

    **Which items and months there are** is declared (`item_list`, `months`), or found by the count: of those that
    occur, those are named whose noisy count reaches τ = 2 + σ·z, where a normal number exceeds z with chance δ′/c. An
    item that one customer alone bought is counted once, and discrete noise of t or more is no likelier than normal
    noise above t − 1: that any of the customer's c names is told has a chance of at most δ′. Each count gets its part
    of δ/2 as its δ′; the ρ that ε allows at the rest of δ is spent on noise (δ′-approximate zCDP, Bun and Steinke
    2016, section 8).
    Bins of numbers and prices are the same for all data: 1, 2, 3, 4–5, 6–7, 8–10, …, of prices in hundredths.

    Noise is drawn anew for each release and its seed is not kept. Each customer is kept out by a coin of their own.
    In memory are the rows, as many noisy counts as items × 46, and the cells of `basket-chain`.

    Example: of ρ = .15 the items get .05, and with most_items = 20 their noise has σ = √20/√(2·.05) = 14.1.
    """

    epsilon: float = field(
        default=1.0, metadata={"help": "ε: a release may become e^ε times as likely. Smaller ε gives more privacy."}
    )
    delta: float = field(default=1e-9, metadata={"help": "δ: the chance that it becomes likelier than that."})
    most_items: int = field(default=20, metadata={"help": "Items of one customer that count, drawn at random."})
    most_months: int = field(default=4, metadata={"help": "Months of one customer that count, drawn at random."})
    most_together: int = field(default=6, metadata={"help": "Items of one basket whose pairs count, drawn at random."})
    item_list: str | None = field(
        default=None, metadata={"help": "File of all items there are, a line each; found by a count.", "is_file": True}
    )
    months: str | None = field(
        default=None, metadata={"help": "First and last month, as 2010-12..2011-11; found by a count if not said."}
    )
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
    reproducible: bool = field(
        default=False, metadata={"help": "Take a seed and promise nothing: who knows it subtracts the noise."}
    )

    # Whoever runs it draws the noise anew every time, or says that nothing is promised.
    spends_budget: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not LEAST_EPSILON <= self.epsilon < math.inf:
            raise InputError.of(f"a number from {LEAST_EPSILON:g} on", option="epsilon", value=self.epsilon)
        if not 0 < self.delta < 1:
            raise InputError.of("a number above 0 and below 1", option="delta", value=self.delta)
        for name in ("most_items", "most_months", "most_together"):
            if getattr(self, name) < 1:
                raise InputError.of("at least 1", option=name, value=getattr(self, name))
        if self.shadow_runs and self.shadow_runs < FEWEST_RUNS:
            expected = Text("0, or a whole number of {n} or more", n=FEWEST_RUNS)
            raise InputError.of(expected, option="shadow_runs", value=self.shadow_runs)
        _declared_months(self.months)

    def share_outside(self, n_customers: int) -> float:  # noqa: ARG002 - It would tell of one customer more or less.
        """Return the share that is asked for, else a tenth."""
        return USUAL_SHARE if self.hold_out is None else self.hold_out

    def fit(self, history: History, share: float, *, seed: int) -> tuple[BasketModel, int | None, Mapping[str, Any]]:
        """Spend, count with noise, and make a model of the counts; all after it is post-processing."""
        declared = None if self.item_list is None else _read_items(self.item_list)
        n_named = (declared is None) + (self.months is None)
        delta = self.delta * PART_OF_NAMES if n_named else 0.0
        rho = rho_of(self.epsilon, self.delta - delta)
        name, noise = part_name(self), self.noise(history.absent, rho, seed)
        noise.check()
        one = Spending(rho, method=name, delta=delta)
        account = None if self.budget is None else spend(self.budget, one, history.frame)
        with step("counting baskets"):
            added = Added.of(Baskets.of(history), self, generator(seed, name, "chosen"))
        model, n_fitted = self.counted(added, noise, declared, delta / max(1, n_named)).model(noise, seed)
        found = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": rho,
            "protects": "customers",
            "neighbors": "add-or-remove",
            "noise": {one: round(noise.sigma(one), 3) for one in noise.rhos},
            "items": len(model.names),
            "pairs": model.brings.nnz // 2,
            **({} if account is None else account.facts()),
        }
        return model, max(1, round(n_fitted / share)), found

    def noise(self, absent: Collection[str], rho: float, seed: int) -> Noise:
        """Divide ρ among the counts, but for those of columns that the history lacks."""
        parts = {name: part for name, part in PARTS.items() if COLUMN_OF.get(name) not in absent}
        rhos = {name: rho * part / math.fsum(parts.values()) for name, part in parts.items()}
        return Noise(self.cells(), rhos, Coins(seed, part_name(self), "noise"))

    def prefix(self, original: History) -> str:  # noqa: ARG002 - It would tell how customers are called.
        """Return what every pseudonym begins with, whatever the customers are called."""
        return PREFIX

    def cells(self) -> dict[str, int]:
        """Return how many cells of each count a customer adds to at most."""
        more = {"months": self.most_months, "items": self.most_items, "prices": self.most_items}
        pairs = self.most_together * (self.most_together + 1) // 2
        return {**dict.fromkeys(PARTS, 1), **more, "pairs": pairs}

    def counted(self, added: Added, noise: Noise, declared: Sequence[str] | None, delta: float) -> Counted:
        """Count everything with noise; nothing that comes after sees a purchase."""
        names, items = noise.named("items", added.items["item"], declared, delta)
        months = _declared_months(self.months)
        told = None if months is None else [str(one) for one in range(months[0], months[1] + 1)]
        periods, by_month = noise.named("months", added.months["month"].cast(pl.String), told, delta)
        codes = pl.DataFrame({"item": names, "code": np.arange(len(names))})
        baskets = noise.count("baskets", bins_of(added.n_baskets), N_BINS)
        # Pairs are counted of the items that are most by the noisy count.
        top = np.sort(np.argsort(-items, kind="stable")[:TOP_ITEMS])
        return Counted(
            names,
            items,
            periods,
            by_month,
            baskets,
            top,
            self._pairs(added, noise, codes, top),
            sizes=noise.count("sizes", bins_of(added.each["size"]), N_BINS),
            weekdays=noise.count("weekdays", added.each["weekday"], WEEKDAYS),
            hours=None if "hours" not in noise.rhos else noise.count("hours", added.each["hour"].drop_nulls(), HOURS),
            returns=_returns(added, noise),
            prices=None if "prices" not in noise.rhos else _prices(added, noise, codes),
            quantities=None if "quantities" not in noise.rhos else _quantities(added, noise),
        )

    def _pairs(self, added: Added, noise: Noise, codes: pl.DataFrame, top: Ints) -> Ints:
        """Count items and pairs in one basket of each customer, of some items: the upper triangle, row by row."""
        place = pl.DataFrame({"code": top, "place": np.arange(len(top))})
        some = added.together.join(codes, on="item").join(place, on="code")
        some = some.filter(pl.col("luck").rank("ordinal").over("customer") <= self.most_together)
        both = some.join(some, on="customer").filter(pl.col("place") <= pl.col("place_right"))
        n = len(top)
        cell = both["place"].to_numpy() * n + both["place_right"].to_numpy()
        return noise.add("pairs", np.bincount(cell, minlength=n * n).reshape(n, n)[np.triu_indices(n)])


@dataclass(frozen=True, eq=False)
class Added:
    """What customers add to the counts, each to so many cells at most.

    n_baskets: of each customer. months, items: distinct ones of each, the items with a price each. each: one basket of
    each. together: its items, with a number each that is drawn. later: an item of a later basket of each, with how
    many baskets were before and whether it was bought before. quantity: of one purchase of each.
    """

    n_baskets: Ints
    months: pl.DataFrame
    items: pl.DataFrame
    each: pl.DataFrame
    together: pl.DataFrame
    later: pl.DataFrame
    quantity: pl.Series

    @classmethod
    def of(cls, baskets: Baskets, asked: DpBaskets, random: np.random.Generator) -> Added:
        """Draw what counts of each customer."""
        months = _some(baskets.each.select("customer", "month").unique(maintain_order=True), asked.most_months, random)
        rows = baskets.rows.with_columns(luck=pl.Series(random.random(baskets.rows.height))).sort("luck")
        one_of_each = rows.unique(["customer", "item"], keep="first", maintain_order=True)
        each = _some(baskets.each, 1, random)
        together = baskets.items.join(each.select("basket"), on="basket", how="semi", maintain_order="left")
        later = baskets.items.join(baskets.each.select("basket", "number"), on="basket", maintain_order="left")
        quantity = _some(rows.filter(pl.col("quantity").is_not_null()), 1, random)["quantity"]
        return cls(
            baskets.n_baskets["n"].to_numpy(),
            months,
            _some(one_of_each, asked.most_items, random),
            each,
            together.with_columns(luck=pl.Series(random.random(together.height))),
            _some(later.filter(pl.col("number") > 0), 1, random),
            quantity,
        )


def _some(rows: pl.DataFrame, most: int, random: np.random.Generator) -> pl.DataFrame:
    """Draw so many rows of each customer at most."""
    drawn = rows.with_columns(chance=pl.Series(random.random(rows.height)))
    return drawn.filter(pl.col("chance").rank("ordinal").over("customer") <= most).drop("chance")


def _returns(added: Added, noise: Noise) -> Floats:
    """Count whether an item was bought before, by the bin of how many baskets were before."""
    bins = bins_of(np.maximum(1, added.later["number"].to_numpy()))
    return noise.count("returns", 2 * bins + added.later["is_back"].to_numpy(), 2 * N_BINS)


def _prices(added: Added, noise: Noise, codes: pl.DataFrame) -> Floats:
    """Count items by price, in bins of hundredths."""
    rows = added.items.join(codes, on="item", maintain_order="left").drop_nulls("price")
    hundredths = np.maximum(1, np.round(rows["price"].to_numpy() * 10**CENTS))
    cells = rows["code"].to_numpy().astype(np.int64) * N_BINS + bins_of(hundredths)
    return noise.count("prices", cells, codes.height * N_BINS)


def _quantities(added: Added, noise: Noise) -> Floats:
    """Count purchases by quantity, whatever the item."""
    pieces = np.maximum(1, added.quantity.cast(pl.Float64).to_numpy())
    return noise.count("quantities", bins_of(pieces), N_BINS)


def _declared_months(text: str | None) -> tuple[int, int] | None:
    """Read the first and the last month, as counts of months."""
    if text is None:
        return None
    try:
        first, last = (int(one[:4]) * 12 + int(one[5:]) - 1 for one in text.split(".."))
        if last < first or text != f"{period_name(first)}..{period_name(last)}":
            raise ValueError
    except ValueError:
        raise InputError.of(MONTHS, option="months", value=text) from None
    return first, last


def _read_items(path: str) -> list[str]:
    """Read the items there are, a line each."""
    file = check_is_file(Path(path))
    try:
        found = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise InputError.of("the items there are, a line each, in UTF-8", file=file) from None
    found = [one for one in dict.fromkeys(found) if one]
    if not found:
        raise InputError.of("the items there are, a line each", file=file)
    return found
