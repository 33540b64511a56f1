"""What can be measured and attacked of a history, and in what time.

A history of visits has no items, one of log-ins no prices: a part that would count what is absent says so instead.
Attacks are tried the strongest first, as many as fit in the time given; of a large history only some customers are
taken, so that attacking it takes minutes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np

from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.core.progress import GIGABYTE, Cost, memory_of_machine
from tokumei.core.registry import part_name, part_options
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text, counted
from tokumei.data.history import History
from tokumei.engines.history_rows import HistoryRows, rows_of
from tokumei.measures.registry import HistoryUtility

GOODS = ("item",)
# A measure of what customers are needs a master that says it; without one it would compare one mean with itself.
NEEDS_MASTER = ("crosstab", "buyers")
# Measures that compare each row with the one that it was made of.
ROW_BY_ROW = ("date", "price")
# By the name of the part; one that is not listed needs who and when alone, as one of another package may declare
# its own in a class attribute `needs`.
NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("dummies", "km-anonymity", "exchange-pseudonyms", "roll-up"), GOODS),
    **dict.fromkeys(("frequent-itemsets", "association-rules", "buyers"), GOODS),
    **dict.fromkeys(("jaccard", "tfidf", "top-items", "item-cf-top"), GOODS),
    **dict.fromkeys(("item-cf-supply", "item-cf-retail"), ("item", "quantity")),
    **dict.fromkeys(("price", "crosstab"), ("price",)),
    "rfm-table": ("price", "quantity"),
    "generalize": GOODS,
    "s1": ("quantity",),
    "s2": ("item", "price"),
    "s3": ("item", "quantity"),
    "s4": GOODS,
    "s5": ("item", "price", "quantity"),
    "s6": ("item", "quantity"),
    "same-item": GOODS,
    "same-month-and-item": GOODS,
}
# The option by which a method changes a column. Left as it is, it does nothing where there is no such column.
CHANGED_BY = {
    "perturb": {"item": "items", "price": "prices", "quantity": "quantities"},
    "delete": {"item": "once", "price": "price_deviations"},
}


def lacks(history: History | HistoryRows, part: object, name: str | None = None) -> list[str]:
    """Name the columns that a part needs and the history does not have."""
    needed = needs_of(part, name)
    return [column for column in needed if column in history.absent]


class HasColumns(Protocol):
    """A history, wherever its rows are."""

    def check_has(self, columns: Sequence[str], who: str, without: Mapping[str, str] | None = None) -> None:
        """Refuse work that needs a column which the history does not have."""


def check_needs(history: HasColumns, part: object, name: str | None = None) -> None:
    """Refuse a part that needs what the history does not have."""
    own = name or part_name(part)
    without = {column: f"{option}=0" for column, option in CHANGED_BY.get(own, {}).items()}
    history.check_has(["date", *needs_of(part, name)], own, without)


def needs_of(part: Any, name: str | None = None) -> tuple[str, ...]:
    """Return which columns a part needs, besides customer and date."""
    if (changed_by := CHANGED_BY.get(name or part_name(part))) is not None:
        usual = {one.name: one.default for one in part_options(type(part))}
        return tuple(column for column, one in changed_by.items() if getattr(part, one) not in (0, usual[one]))
    if name == "item-item" or part_name(part) == "item-item":
        return GOODS if part.kind == "top" else ("item", "quantity")
    if name == "item-cf" or part_name(part) == "item-cf":
        return GOODS if part.count == "purchases" else ("item", "quantity")
    if name == "statistic" or part_name(part) == "statistic":
        return () if part.column == "date" else (part.column,)
    declared: tuple[str, ...] | None = getattr(part, "needs", None)
    return NEEDS.get(name or part_name(part), ()) if declared is None else declared


def measure_or_say_why(
    part: HistoryUtility, name: str, original: Any, released: Any, *, has_master: bool = False
) -> Score | Text:
    """Return the score of a measure, or why it cannot be taken of the history, in memory or on an engine."""
    before, after = rows_of(original), rows_of(released)
    reason = why_left_out(before, part, name, has_master=has_master)
    if reason is None:
        reason = why_not_compared(name, lacks(after, part, name), before.n_rows, after.n_rows)
    if reason is not None:
        return reason
    score = part.measure(original, released)
    if score.inputs.get("rules") == 0:
        return Text("no items are bought together often enough for a rule")
    return score


def why_not_compared(name: str, gone: Sequence[str], n_before: int, n_after: int) -> Text | None:
    """Explain which columns of its original a release lacks, or that it has other rows; None if neither."""
    if gone:
        return Text("the release has no {column}", column=_listed(gone))
    # How many rows are gone can be told of what was published, too, but not where rows were made up.
    if (name in ROW_BY_ROW and n_before != n_after) or (name == "rows" and n_before < n_after):
        form = "the release has {n:,} rows and the original {m:,}, so that no row stands beside its own"
        return Text(form, n=n_after, m=n_before)
    return None


def why_left_out(original: History | HistoryRows, part: object, name: str, *, has_master: bool = False) -> Text | None:
    """Explain why a measure cannot be taken of a history; None where it can."""
    original = rows_of(original)
    if not original.n_kept:
        return Text("the history has no rows")
    if absent := lacks(original, part, name):
        return absent_in_words(absent)
    if name in NEEDS_MASTER and not has_master:
        return Text("it needs the customers' attributes (--master)")
    if name.startswith("item-") and len(original.items) == 1:
        return Text("the history has a single item, so no two that could be alike")
    return None


def absent_in_words(absent: Sequence[str]) -> Text:
    """Describe which columns a history lacks."""
    return Text("the history has no {column}", column=_listed(absent))


def _listed(absent: Sequence[str]) -> Text:
    first, *others = (Text(column) for column in absent)
    return reduce(lambda said, other: Text("{column} and no {other}", column=said, other=other), others, first)


# The rest of the memory is for the rows themselves, and for others.
MOST_MEMORY = 0.7
# By what they found on the releases of the docs; attacks of other packages come after them.
STRONGEST_FIRST = ("linkage", "row-counts", "tfidf", "jaccard", "s6", "s5", "s4", "s2", "s3", "s1")
# A join and a count of all rows, as measured for the attacks that look for equal rows.
ROW_SECONDS = 2e-6


def by_strength(names: Sequence[str]) -> list[str]:
    """Put attacks in order, the strongest first."""
    return sorted(names, key=lambda name: STRONGEST_FIRST.index(name) if name in STRONGEST_FIRST else len(names) + 99)


def fitting_attacks(history: History, names: Sequence[str] | None = None) -> tuple[list[str], dict[str, Text]]:
    """Return the attacks that a history allows, the strongest first, and why others are left out."""
    possible, left_out = [], {}
    for name in by_strength(list(HISTORY_ATTACKS) if names is None else names):
        absent = lacks(history, HISTORY_ATTACKS.make(name), name)
        if absent:
            left_out[name] = absent_in_words(absent)
        else:
            possible.append(name)
    return possible, left_out


def within_time(
    names: Sequence[str], history: History, knowledge: Mapping[str, History], minutes: float, *, n_releases: int = 1
) -> tuple[list[str], dict[str, Text]]:
    """Return the attacks that fit in the time, the strongest first, and how long each other would take.

    What an attack takes is estimated on the original: a release has about as many rows and at least as many names.
    """
    if not minutes > 0:
        raise InputError.of("more than 0 minutes", option="minutes", value=minutes)
    left, fitting, left_out = minutes * 60, [], {}
    for name in by_strength(names):
        seconds = n_releases * sum(seconds_of(name, part, history) for part in knowledge.values())
        if seconds <= left:
            fitting.append(name)
            left -= seconds
        else:
            left_out[name] = Text(
                "it would take about {n:,.0f} seconds of the {m:,.0f} that are left (--minutes)", n=seconds, m=left
            )
    return [name for name in names if name in fitting], left_out


def seconds_of(name: str, known: History, seen: History) -> float:
    """Estimate what an attack takes, by itself where it can tell, else by its rows."""
    estimate = getattr(HISTORY_ATTACKS.make(name), "estimate", None)
    return ROW_SECONDS * (known.n_rows + seen.n_rows) if estimate is None else float(estimate(known, seen).seconds)


def announce(part: object, name: str, known: History, seen: History) -> None:
    """Announce the expected cost of an attack; refuse one that the machine cannot hold."""
    estimate = getattr(part, "estimate", None)
    if estimate is None:
        return
    cost: Cost = estimate(known, seen)
    cost.say(f"attacking by {name}")
    if cost.n_bytes > MOST_MEMORY * machine_bytes():
        raise InputError.of(
            f"fewer customers: {name} would take {cost}, and this machine has {machine_bytes() / GIGABYTE:.0f} GB; "
            "'tokumei report --sample' attacks some of them",
            file=known.name,
            value=Text(
                "{customers} and {pseudonyms}",
                customers=counted(len(known.customers), "customer"),
                pseudonyms=counted(len(seen.customers), "pseudonym"),
            ),
        )


def machine_bytes() -> float:
    """Return the memory of this machine; infinite if unknown."""
    memory = memory_of_machine()
    return math.inf if memory is None else float(memory)


# Attacks compare customers with pseudonyms, row by row: their cost grows with the square of the customers and with the
# rows. A report attacks one release with four kinds of knowledge, a sweep thirty releases with one.
MOST_CUSTOMERS = 2_000
REPORT_ROWS, SWEEP_ROWS = 200_000, 50_000
# Among fewer people the share found would say little about the whole.
LEAST_CUSTOMERS = 50


@dataclass(frozen=True)
class Sampled:
    """The rows of some customers, in the original and in the release, and what to say of it; None if all are there."""

    original: History
    released: History
    said: str | None


def sample_customers(
    original: History, released: History | None, n_customers: int | None, *, most_rows: int, seed: int
) -> Sampled:
    """Draw so many customers or, if no number is given, as many as can be attacked in minutes.

    A release that does not keep the rows of its original is taken whole, since nobody can say whose its rows are.
    """
    after = original if released is None else released
    customers = original.customers
    order = generator(seed, "sample of customers").permutation(len(customers))
    if n_customers is None:
        by_customer = original.kept.group_by("customer").len().sort("customer")
        n_rows = np.cumsum(by_customer["len"].to_numpy()[order])
        fitting = int(np.searchsorted(n_rows, most_rows, side="right"))
        n_customers = min(max(fitting, LEAST_CUSTOMERS), MOST_CUSTOMERS)
    if len(customers) <= n_customers or after.n_rows != original.n_rows:
        return Sampled(original, after, None)
    is_drawn = original.frame["customer"].is_in([customers[index] for index in order[:n_customers]])
    some = [History(one.frame.filter(is_drawn), one.name) for one in (original, after)]
    said = (
        f"Attacks were tried on {n_customers:,} of {len(customers):,} customers with {int(is_drawn.sum()):,} of "
        f"{original.n_rows:,} rows, drawn at random (--sample): among fewer people each is easier to find, so that the "
        "share found is rather too high than too low."
    )
    return Sampled(some[0], some[1], said)
