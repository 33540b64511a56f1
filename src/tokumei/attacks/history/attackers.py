"""Who attacks a released history by what they know, and how likely ten of them find the customer of a purchase.

A basket is one customer's rows of one day. An attacker may know when it was bought (the day), how many rows it has, and
what was in it: one item, or the set of all. The customers who fit that knowledge x are U_x, of whom one is picked:

    risk = Σ_x Pr(x) / |U_x|

An attacker who knows a bought item meets x with the share of rows that fit it, any other with the share of baskets.
Attackers 4 and 9 know the set of all items and how many rows there are. Stated so, who fits has a basket with that set
and that many rows; the .9788 printed of attacker 4 follows from the set alone. Both are measured, and told apart. The
theory of the slides (PWS 2017) takes every row to be another customer's and all kinds of knowledge to be independent: Π
ω / m, with ω the number of distinct values of each kind and m the number of rows. It is no probability and may exceed
1.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.registry import preset_of
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text, choice_of
from tokumei.data.history import History, known_rows
from tokumei.engines.history_rows import check_aligned, rows_of

Draw = Literal["contest", "uniform", "basket", "memorable"]
DRAWS = ("contest", "uniform", "basket", "memorable")


@dataclass(frozen=True)
class HistoryThreat:
    """An attacker of a history, apart from how the attack is done.

    who: said in reports.
    share: of all rows, how many are known; with `rows` instead, so many of each customer.
    draw: which rows. As in the contests at random, nobody without one; uniform, whoever's they are; whole baskets (a
        customer's rows of a day); or the most memorable, those that cost most and that fewest others bought. Of
        baskets and memorable rows too, nobody is without one.
    days, price_share: dates are known to within so many days of the month, prices to within this share.
    item_characters: items are known by so many first characters, whole if None.
    period: knowledge of the same time as the release, or of the time before: then the earlier half of the months is
        known, only the later half is attacked, and no purchase is in both.
    knows_places: whether unknown rows are seen in their places, as in the contests: gaps tell how many there are.
    is_told: whether the attacker knows how the release was made, and so chooses the attack that does best on it.
    """

    who: str = "somebody"
    share: float = 0.25
    rows: int | None = None
    draw: Draw = "contest"
    days: int = 0
    price_share: float = 0.0
    item_characters: int | None = 2
    period: Literal["same", "other"] = "same"
    knows_places: bool = False
    is_told: bool = False

    def __post_init__(self) -> None:
        for name in ("share", "price_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if self.draw not in DRAWS:
            raise InputError.of(choice_of(DRAWS), option="draw", value=self.draw)
        if self.period not in ("same", "other"):
            raise InputError.of("same or other", option="period", value=self.period)
        for name, least in (("rows", 1), ("days", 0), ("item_characters", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError.of(Text("{n} or more", n=least), option=name, value=value)

    def as_dict(self) -> Json:
        """Return the result assumptions for JSON."""
        return asdict(self)

    def attacked_months(self, history: History) -> list[int]:
        """Return the months whose release is attacked."""
        months = history.periods
        if self.period == "same":
            return months
        if len(months) < 2:
            raise InputError.of("a history of two months or more, to know the earlier ones", file=history.name)
        return months[len(months) // 2 :]

    def know(self, history: History, *, seed: int) -> History:
        """Draw what is known of a history; unknown rows are missing in every column, in their places."""
        is_earlier = ~history.period.is_in(self.attacked_months(history)) if self.period == "other" else None
        frame = history.frame if is_earlier is None else history.frame.with_columns(pl.when(is_earlier).then(pl.all()))
        is_known = self._known(frame, seed)
        seen = self._blur(frame, seed).with_columns(pl.when(is_known).then(pl.all()))
        return History(seen, f"{history.name}, as {self.who} knows it")

    def _known(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Mark the rows that are known."""
        if self.rows is None and self.draw in ("contest", "uniform"):
            return known_rows(frame["customer"], self.share, seed=seed, draw=self.draw)
        rng = generator(seed, "threat", self.draw)
        unit = ["customer", "date"] if self.draw == "basket" else ["customer", "row"]
        rows = frame.with_row_index("row").filter(pl.col("customer").is_not_null())
        drawn = pl.Series("drawn", rng.random(rows.height))
        if self.draw == "memorable":
            # Dear and rare: the price of the row over how many customers bought the item; a debit is as dear.
            cost = (pl.col("price").fill_null(1) * pl.col("quantity").fill_null(1)).cast(pl.Float64).abs()
            drawn = rows.select(drawn=-cost / pl.col("customer").n_unique().over("item"))["drawn"]
        units = rows.with_columns(drawn).group_by(unit, maintain_order=True).agg(pl.col("drawn").first(), n=pl.len())
        units = units.sort("drawn", *unit)
        if self.rows is not None:
            before = pl.col("n").cum_sum().over("customer") - pl.col("n")
            units = units.filter(before < self.rows)
        elif self.share:
            # One of each customer first, as in the contests: whoever is looked for is known a little.
            is_later = ~pl.col("customer").is_first_distinct()
            units = units.with_columns(is_later=is_later).sort("is_later", maintain_order=True)
            is_within = pl.col("n").cum_sum() - pl.col("n") < round(self.share * rows.height)
            units = units.filter(~pl.col("is_later") | is_within)
        else:
            units = units.clear()
        chosen = rows.join(units, on=unit, how="semi")
        if self.rows is not None:
            chosen = chosen.filter(pl.int_range(pl.len()).over("customer") < self.rows)
        is_known = np.zeros(frame.height, np.bool_)
        is_known[chosen["row"].to_numpy()] = True
        return pl.Series(is_known)

    def _blur(self, frame: pl.DataFrame, seed: int) -> pl.DataFrame:
        """Make dates, prices and items as inexact as they are known."""
        rng = generator(seed, "threat", "inexact")
        if self.item_characters is not None:
            frame = frame.with_columns(pl.col("item").str.slice(0, self.item_characters))
        if self.days:
            moved = pl.Series(rng.integers(-self.days, self.days, frame.height, endpoint=True))
            date = pl.col("date") + pl.duration(days=pl.lit(moved))
            first, last = pl.col("date").dt.month_start(), pl.col("date").dt.month_end()
            frame = frame.with_columns(date=pl.max_horizontal(first, pl.min_horizontal(last, date)))
            # Who is not sure of the day is not sure of the time.
            frame = frame.with_columns(time=pl.lit(None, pl.Time))
        if self.price_share:
            factor = pl.Series(rng.uniform(1 - self.price_share, 1 + self.price_share, frame.height))
            frame = frame.with_columns(price=(pl.col("price") * factor).round(2))
        return frame


# Who is likely to try, from least to most knowledge.
THREATS: Mapping[str, HistoryThreat] = {
    "neighbor": HistoryThreat("a neighbor who saw one purchase", rows=1, draw="memorable", days=1, price_share=0.2),
    "spouse": HistoryThreat("a spouse who sees what is brought home", share=0.5, draw="basket", item_characters=None),
    "data-broker": HistoryThreat(
        "a data broker with the purchases of the time before", share=1.0, item_characters=None, period="other"
    ),
    "rivals": HistoryThreat("a contest's rivals", knows_places=True, is_told=True),
    "insider": HistoryThreat("an insider with the original", share=1.0, item_characters=None, is_told=True),
}


def threat_of(threat: str | HistoryThreat, **changes: Any) -> HistoryThreat:
    """Return a preset by name or the threat itself, with some of its assumptions changed."""
    # Both spellings of the word are in use.
    named = threat.replace("neighbour", "neighbor") if isinstance(threat, str) else threat
    return preset_of(HistoryThreat, THREATS, named, changes, sort="threat")


Met = Literal["usual", "rows", "baskets"]


@dataclass(frozen=True)
class Attacker:
    """One of the ten; `knows` are the kinds of knowledge: day, how many, one item, all items."""

    number: int
    knows: tuple[str, ...]

    @property
    def meets_rows(self) -> bool:
        """Whether knowledge comes with a row rather than with a basket."""
        return "one item" in self.knows

    @property
    def fits_by(self) -> list[str]:
        """What a customer must agree in to fit, as the printed risks were computed."""
        # The set of items says how many kinds there are: only so does attacker 4 come to the .9788 of the slides.
        return [kind for kind in self.knows if kind != "how many" or "all items" not in self.knows]

    def __str__(self) -> str:
        return f"attacker {self.number} ({', '.join(self.knows) or 'knows nothing'})"


ATTACKERS = (
    Attacker(0, ()),
    Attacker(1, ("one item",)),
    Attacker(2, ("how many",)),
    Attacker(3, ("how many", "one item")),
    Attacker(4, ("how many", "all items")),
    Attacker(5, ("day",)),
    Attacker(6, ("day", "one item")),
    Attacker(7, ("day", "how many")),
    Attacker(8, ("day", "how many", "one item")),
    Attacker(9, ("day", "how many", "all items")),
)
AS_STATED = "as stated"
KINDS = ("day", "how many", "one item", "all items")


def measure_risks(original: History, released: History | None = None, *, met: Met = "usual") -> list[Score]:
    """Measure the risk of each attacker, 0 to 1: the chance to name the customer of a purchase known in part.

    With a release, row by row as the original, what is known is true of the original and the attacker picks one of
    the released pseudonyms that fit it; that is right where the pseudonym is the customer's in any row. The baseline
    is the chance of picking blindly. `met` says what share meets a piece of knowledge: the toy example of the slides
    counts rows for attackers who know no item, too. The inputs have the risk by all that the attacker is stated to
    know, AS_STATED; it is another one only where the printed risk was computed from less.
    """
    sides = _Sides.of(original, released)
    blind = _risk(sides, ATTACKERS[0], ATTACKERS[0].fits_by, met)
    scores = []
    for attacker in ATTACKERS:
        risk = _risk(sides, attacker, attacker.fits_by, met)
        known = list(attacker.knows)
        stated = risk if known == attacker.fits_by else _risk(sides, attacker, known, met)
        scores.append(Score(str(attacker), risk, best=0, worst=1, baseline=blind, inputs={AS_STATED: stated}))
    return scores


def predict_risks(history: History) -> list[float]:
    """Return the theory's risk of each attacker, Π ω / m; of the one who knows nothing, one in all customers."""
    rows = _with_knowledge(history.kept)
    n_values = {kind: rows[kind].n_unique() for kind in KINDS}
    predicted = [1 / max(1, rows["customer"].n_unique())]
    for attacker in ATTACKERS[1:]:
        product = 1
        for kind in attacker.knows:
            product *= n_values[kind]
        predicted.append(product / max(1, rows.height))
    return predicted


def knowledge_points(history: History, attacker: Attacker) -> pl.DataFrame:
    """Count |R_x| rows against |U_x| customers: n_rows, n_customers, and how many pieces of knowledge x lie there.

    The theory takes the two to be equal; the farther the points lie below that line, the more it is mistaken.
    """
    rows = _with_knowledge(history.kept)
    fitting = rows.group_by(attacker.fits_by or pl.lit(0).alias("any"))
    points = fitting.agg(n_rows=pl.len(), n_customers=pl.col("customer").n_unique())
    return points.group_by("n_rows", "n_customers").agg(n_known=pl.len()).sort("n_rows", "n_customers")


def danger_by_kind(risks: list[Score]) -> pl.DataFrame:
    """Return how dangerous each kind of knowledge is: its risk alone, and what it adds to others on average.

    `all items` is never known alone: it comes with how many, to which it is compared. The most dangerous comes first.
    """
    if len(risks) != len(ATTACKERS):
        raise InputError.of(f"the risks of {len(ATTACKERS)} attackers", value=len(risks))
    risk_of = {frozenset(attacker.knows): score.value for attacker, score in zip(ATTACKERS, risks, strict=True)}
    found = []
    for kind in KINDS:
        pairs = itertools.product(risk_of, risk_of)
        added = [risk_of[more] - risk_of[less] for less, more in pairs if kind not in less and more == less | {kind}]
        found.append((kind, risk_of.get(frozenset({kind})), sum(added) / len(added)))
    return pl.DataFrame(found, schema=["kind", "alone", "added"], orient="row").sort("added", descending=True)


@dataclass(frozen=True)
class _Sides:
    """What is true (rows and baskets of the original), what fits (rows of the release), and who is who."""

    true_rows: pl.DataFrame
    released_rows: pl.DataFrame
    owners: pl.DataFrame

    @classmethod
    def of(cls, original: History, released: History | None) -> _Sides:
        true_rows = _with_knowledge(original.kept)
        if released is None:
            names = true_rows["customer"].unique()
            return cls(true_rows, true_rows, pl.DataFrame({"customer": names, "pseudonym": names}))
        check_aligned(rows_of(original), rows_of(released))
        pairs = pl.DataFrame({"customer": original.frame["customer"], "pseudonym": released.frame["customer"]})
        owners = pairs.drop_nulls().unique().cast(pl.Categorical)
        return cls(true_rows, _with_knowledge(released.kept), owners)


def _with_knowledge(rows: pl.DataFrame) -> pl.DataFrame:
    """Add to each row what may be known of its basket."""
    basket = ["customer", "date"]
    # As categories names group and join as fast as numbers, and one name is one number on both sides.
    rows = rows.select(pl.col("customer", "item").cast(pl.Categorical), "date")
    items = pl.col("item").to_physical().unique().sort().cast(pl.String).str.join(" ")
    baskets = rows.group_by(basket).agg(pl.len().alias("how many"), items.cast(pl.Categorical).alias("all items"))
    return rows.join(baskets, on=basket).rename({"item": "one item"}).with_columns(day="date")


def _risk(sides: _Sides, attacker: Attacker, fits_by: list[str], met: Met) -> float:
    """Sum up Pr(x, customer) times the share of the fitting pseudonyms that are the customer's."""
    meets_rows = attacker.meets_rows if met == "usual" else met == "rows"
    keys = fits_by or ["any"]
    true_rows = sides.true_rows.with_columns(any=pl.lit(0))
    known = true_rows if meets_rows else true_rows.unique(["customer", "date"])
    met_pairs = known.group_by(*keys, "customer").agg(n_met=pl.len())
    fits = sides.released_rows.with_columns(any=pl.lit(0)).select(*keys, pseudonym="customer").unique()
    fits = fits.with_columns(n_fit=pl.len().over(keys))
    found = met_pairs.join(sides.owners, on="customer").join(fits, on=[*keys, "pseudonym"])
    # Counts are added before they are divided, so that the order of rows cannot change a digit.
    by_size = found.group_by("n_fit").agg(pl.col("n_met").sum()).sort("n_fit")
    expected: float = sum(n_met / n_fit for n_fit, n_met in by_size.iter_rows())
    return expected / max(1, known.height)
