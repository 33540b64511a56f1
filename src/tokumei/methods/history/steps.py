"""Steps, which change the rows of a history and keep its customers, and the pseudonyms that these get at last.

A step leaves the customers' names to whoever comes last; pseudonyms in their place are the last thing that happens to
every history. They live for some months, or for the whole time. The plainest step puts categories in the place of
articles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.registry import part_name
from tokumei.core.seeds import generator, key_of
from tokumei.core.text import JsonView
from tokumei.data.history import History, free_prefix
from tokumei.data.release import Recipe, Release
from tokumei.engines.changing import LocalChanges, Rows
from tokumei.engines.draws import digests_here, once_each
from tokumei.engines.history_rows import HistoryRows, rows_of
from tokumei.engines.staging import months_of
from tokumei.hierarchies.files import read_hierarchy, roll_up

MAP_COLUMNS = ["customer", "period", "pseudonym"]


def customer_periods(history: History) -> pl.DataFrame:
    """List the months in which each customer bought something: columns customer and period, in order."""
    columns = ["customer", "period"]
    return history.frame.with_columns(period=history.period).select(columns).drop_nulls().unique().sort(columns)


def release_under_pseudonyms(history: History, lives: pl.DataFrame, *, recipe: Recipe, seed: int) -> Release:
    """Put one pseudonym for each life in place of the customers; rows keep their order.

    | customer | period | life |
    |----------|--------|------|
    | 12352    | 24133  | 0    |
    | 12352    | 24134  | 1    |

    `lives` names for each customer and month the life whose pseudonym stands there: numbers from 0 without a gap.
    Invoices get new names, too: whoever has a receipt, or the shop's books, would find its row by the number.
    """
    names = name_lives(lives, seed)
    # One number for all invoices tells nothing, and stays.
    key = invoice_key(seed) if history.kept["invoice"].n_unique() > 1 else None
    return Release(
        frame=under_names(history.frame, names, key),
        recipe=recipe,
        rows=all_rows(history),
        pseudonyms=names.join(customer_periods(history), on=["customer", "period"], how="semi").sort(MAP_COLUMNS),
    )


def name_lives(lives: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Draw a pseudonym for each life, and return it for each customer and month.

    Lives are numbered in random order, all names of one length so that the length reveals nothing.
    """
    if lives.select("period", "life").is_duplicated().any():
        raise PromiseBroken("Two customers would share a pseudonym in one month.")
    n = lives["life"].n_unique()
    numbers = pl.Series(generator(seed, "pseudonyms").permutation(n) + 1).cast(pl.String).str.zfill(len(str(n)))
    # No pseudonym may be anybody's id.
    names = free_prefix("P", lives["customer"]) + numbers
    return lives.with_columns(pseudonym=names.gather(lives["life"])).select(MAP_COLUMNS)


def invoice_key(seed: int) -> str:
    """Return the key by which invoices are named."""
    return key_of(seed, "invoices")


# So many that no two of a billion invoices are expected to meet.
INVOICE_DIGITS = 20


def under_names(rows: pl.DataFrame, names: pl.DataFrame, key: str | None) -> pl.DataFrame:
    """Put pseudonyms in place of customers, and name each invoice anew under each, so that none joins two of them.

    Without a key invoices stay. All rows are named at once or piece after piece: an invoice's name is the digest of its
    number and the pseudonym under the key. Names are looked up once for the rows of a basket that stand together.
    """

    def look_up(baskets: pl.DataFrame) -> pl.DataFrame:
        found = baskets.join(names, on=["customer", "period"], how="left", maintain_order="left")["pseudonym"]
        if key is None:
            return pl.DataFrame({"customer": found})
        digits = digests_here(key, found, baskets["invoice"]).str.head(INVOICE_DIGITS)
        return pl.DataFrame({"customer": found, "invoice": "B" + digits})

    columns = ["customer", *([] if key is None else ["invoice"])]
    cells = rows.select(columns).with_columns(months_of(rows["date"])["period"].cast(pl.Int32))
    # A deleted row is named with the one before it, so that it does not part a basket, and stays deleted.
    found = once_each(cells.select(pl.all().forward_fill()), look_up)
    there = [pl.when(rows[name].is_not_null()).then(found[name]).alias(name) for name in columns]
    return rows.with_columns(there)


@dataclass(frozen=True)
class Changed:
    """A history after a step, with the row of the history before that each row came from (missing if made up)."""

    history: History
    rows: pl.Series
    # What the step decided on its way, to be told with the release.
    found: JsonView = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.rows) != self.history.n_rows:
            raise ValueError("rows must name one row before for each row after")


class HistoryStep(ABC):
    """A method that changes rows: one step of a pipeline.

    A step keeps the customers, so that any number of steps can follow each other; a pipeline ends with a method
    that names them. Alone, a step releases each customer under one pseudonym for the whole time.
    """

    @abstractmethod
    def change(self, history: History, *, seed: int) -> Changed:
        """Change the rows; customers keep their ids and rows stay in their month."""

    def check_promise(self, released: History) -> None:  # noqa: B027 - Most steps promise nothing to recount.
        """Recount on a finished release what the step promises; PromiseBroken if it does not hold."""

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Change the rows and give every customer one pseudonym for the whole time."""
        changed = self.change(original, seed=seed)
        recipe = replace(recipe_of(self, seed), found=changed.found)
        release = name_for_the_whole_time(changed.history, recipe=recipe, seed=seed)
        self.check_promise(History(release.frame))
        return replace(release, rows=changed.rows)


class StepAnywhere(HistoryStep):
    """A step that changes rows wherever they are: written once, it makes the same rows in memory and on engines."""

    @abstractmethod
    def change_rows(self, rows: Rows, *, seed: int) -> Rows:
        """Change rows in memory or on an engine."""

    def chance_keys(self, seed: int) -> list[str]:  # noqa: ARG002 - Most steps draw as rows are changed.
        """Return the keys of what must be drawn for all rows before the step looks at them."""
        return []

    def change(self, history: History, *, seed: int) -> Changed:
        """Change rows in memory."""
        rows = self.change_rows(LocalChanges.of(history), seed=seed)
        return Changed(rows.history, rows.sources, rows.found)


def name_for_the_whole_time(history: History, *, recipe: Recipe, seed: int) -> Release:
    """Release each customer under one pseudonym."""
    return release_under_pseudonyms(history, whole_lives(customer_periods(history)), recipe=recipe, seed=seed)


def recipe_for_the_whole_time(seed: int) -> Recipe:
    """Write the recipe of one pseudonym for each customer."""
    return Recipe("pseudonyms for the whole time", {}, seed)


def whole_lives(months: pl.DataFrame) -> pl.DataFrame:
    """Return one life for each customer, given the months in which each bought something."""
    return months.with_columns(life=pl.col("customer").rank("dense").cast(pl.Int64) - 1)


def without_rows(history: History, is_deleted: npt.NDArray[np.bool_]) -> Changed:
    """Delete rows: they stay in their place, missing in every column."""
    frame = history.frame.with_columns(pl.when(~pl.Series(is_deleted)).then(pl.all()))
    return Changed(History(frame, history.name), all_rows(history))


def all_rows(history: History) -> pl.Series:
    """Count up the rows of a history, for a step that neither adds nor moves any."""
    return pl.Series("row", np.arange(history.n_rows, dtype=np.int64))


def recipe_of(method: Any, seed: int) -> Recipe:
    """Write the recipe of a registered method."""
    return Recipe(part_name(method), asdict(method), seed)


@dataclass(frozen=True)
class RollUp(HistoryStep):
    """Put the category of each item in its place, by an item hierarchy.

    | original, released at level 0 | level 1   | level 2 |
    |-------------------------------|-----------|---------|
    | green tea                     | tea       | drinks  |
    | orange juice                  | juice     | drinks  |

    The hierarchy is a file as for tables: a line an item, the item first and what it is called at each level after it.
    Without one, the category of an item is its first characters, two as in the contests. Dates, prices and quantities
    stay as they are.
    """

    hierarchy: str | None = field(
        default=None,
        metadata={
            "help": "File of the item hierarchy; none: items are cut to their first characters.",
            "is_file": True,
        },
    )
    level: int = field(default=1, metadata={"help": "Level of the hierarchy, 0 for the items themselves."})
    characters: int = field(default=2, metadata={"help": "First characters that are kept without a hierarchy."})

    def change(self, history: History, *, seed: int) -> Changed:  # noqa: ARG002 - Nothing is drawn.
        """Roll the items up."""
        if self.characters < 1:
            raise InputError.of("one character or more", option="characters", value=self.characters)
        if self.level < 0:
            raise InputError.of("0 or more", option="level", value=self.level)
        if self.hierarchy is not None:
            return Changed(roll_up(history, read_hierarchy(self.hierarchy, "item"), self.level), all_rows(history))
        kinds = history.frame.with_columns(pl.col("item").str.slice(0, self.characters))
        return Changed(History(kinds, history.name) if self.level else history, all_rows(history))


@dataclass(frozen=True)
class Pseudonyms:
    """Name customers by pseudonyms that change whenever they have lived their time.

    | original            | released, lifetime 1 |
    |---------------------|----------------------|
    | 12352, 2011/2/16    | P0731, 2011/2/16     |
    | 12352, 2011/3/1     | P0288, 2011/3/1      |

    Invoices are named anew under each pseudonym, since a receipt's number tells whose row it is; all other cells stay
    as they are. Pseudonyms are numbered in random order, so that they tell neither the customer nor which of them
    belong together. With a risk limit, a life that is too easily found is halved, and its halves again, down to one
    month. The risk of a life is the chance that an attacker who knows each row with the chance `known` knows at least
    one and places it: with u customers who bought the same quantity on the same day, a known row is placed with the
    chance 1/u.
    """

    lifetime: int = field(default=1, metadata={"help": "Months a pseudonym lives, counted from the first month."})
    risk_limit: float | None = field(
        default=None, metadata={"help": "Shorten pseudonyms above this risk, 0 to 1; none: all live equally long."}
    )
    known: float = field(default=0.25, metadata={"help": "Share of the rows an attacker knows, for the risk limit."})

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Replace the customers of a history; rows keep their order."""
        self.check_options()
        lives = self.lives(customer_periods(original), rows_of(original))
        return release_under_pseudonyms(original, lives, recipe=recipe_of(self, seed), seed=seed)

    def lives(self, months: pl.DataFrame, rows: HistoryRows) -> pl.DataFrame:
        """Divide the months of each customer into lives; the rows are looked at only where there is a risk limit."""
        first = pl.col("period").min()
        start = (pl.col("period") - first) // self.lifetime * self.lifetime
        cells = months.with_columns(start=start, length=pl.lit(self.lifetime, pl.Int32))
        if self.risk_limit is not None:
            cells = _halve_risky_lives(cells, _log_safety(rows, self.known), first, self.risk_limit)
        return cells.with_columns(life=pl.struct("customer", "start").rank("dense").cast(pl.Int64) - 1)

    def check_options(self) -> None:
        """Refuse options beyond their ends."""
        if self.lifetime < 1:
            raise InputError.of("at least one month", option="lifetime", value=self.lifetime)
        if self.risk_limit is not None and not 0 <= self.risk_limit <= 1:
            raise InputError.of("a chance from 0 to 1", option="risk_limit", value=self.risk_limit)
        if not 0 <= self.known <= 1:
            raise InputError.of("a share from 0 to 1", option="known", value=self.known)


def _log_safety(rows: HistoryRows, known: float) -> pl.DataFrame:
    """Return for each customer and month the logarithm of the chance that no row of it is known and placed.

    Logarithms add up, so that the safety of a life is the sum over its months.
    """
    import narwhals as nw

    compared = [column for column in ("date", "quantity") if column not in rows.absent]
    # Distinct customers in two steps, which engines do out of memory; a date has one month.
    counts = {"n_rows": nw.len().cast(nw.Int64), "period": nw.col("period").min()}
    buyers = rows.rows.group_by("customer", *compared).agg(**counts)
    alike = buyers.group_by(*compared).agg(alike=nw.len().cast(nw.Int64))
    told = buyers.join(alike, on=compared, how="inner")
    counted = rows.collect(told.group_by("customer", "period", "alike").agg(n_rows=nw.col("n_rows").sum()))
    # Added up here and in one order, since engines would add up fractions in orders of their own.
    log_safety = (pl.col("n_rows").cast(pl.Int64) * (1 - known / pl.col("alike")).log()).sum()
    ordered = counted.cast({"period": pl.Int32}).sort("alike")
    return ordered.group_by("customer", "period").agg(log_safety=log_safety)


def _halve_risky_lives(cells: pl.DataFrame, log_safety: pl.DataFrame, first: pl.Expr, limit: float) -> pl.DataFrame:
    """Halve the lives of more than one month that are found with a chance above the limit, until none is left."""
    cells = cells.join(log_safety, on=["customer", "period"], how="left", maintain_order="left")
    half = (pl.col("length") + 1) // 2
    is_late = pl.col("period") - first >= pl.col("start") + half
    while True:
        # The sum is rounded, since the order of adding must not decide at the limit.
        risk = 1 - pl.col("log_safety").sum().over("customer", "start").round(12).exp()
        is_halved = cells.select((risk > limit) & (pl.col("length") > 1)).to_series()
        if not is_halved.any():
            return cells
        cells = cells.with_columns(
            start=pl.when(is_halved & is_late).then(pl.col("start") + half).otherwise("start"),
            length=pl.when(is_halved & is_late)
            .then(pl.col("length") - half)
            .otherwise(pl.when(is_halved).then(half).otherwise("length")),
        )
