"""Who attacks a released history: what they know, how exactly, of which time, and whether they know the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.registry import part_options, read_option
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.core.wording import choice_of
from tokumei.data.history import History
from tokumei.data.knowledge import known_rows

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

    def as_dict(self) -> dict[str, Any]:
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
    if isinstance(threat, str):
        # Both spellings of the word are in use.
        name = threat.replace("neighbour", "neighbor").replace("_", "-")
        if name not in THREATS:
            raise UnknownPart("threat", threat, THREATS)
        threat = THREATS[name]
    known = {option.name: option for option in part_options(HistoryThreat)}
    for name in changes:
        if name not in known:
            raise InputError.of(choice_of(known), option=name)
    # As typed on a command line, where all is text.
    read = {
        name: read_option(known[name], value) if isinstance(value, str) else value for name, value in changes.items()
    }
    return replace(threat, **read)
