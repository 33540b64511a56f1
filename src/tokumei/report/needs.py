"""What a method, a measure or an attack needs of a history, and whether the history has it.

A history of visits has no items, one of log-ins no prices: a part that would count what is absent says so instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Protocol

from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.history import History
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
    "generalize": ("item", "price", "quantity"),
    "s1": ("quantity",),
    "s2": ("item", "price"),
    "s3": ("item", "quantity"),
    "s4": GOODS,
    "s5": ("item", "price", "quantity"),
    "s6": ("item", "quantity"),
    "same-item": GOODS,
    "same-month-and-item": GOODS,
}
# The option without which a method does without a column.
DOES_WITHOUT = {
    "perturb": {"item": "items=0", "price": "prices=0", "quantity": "quantities=0"},
    "delete": {"item": "once=no", "price": "price_deviations=0"},
}


def lacks(history: History, part: object, name: str | None = None) -> list[str]:
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
    history.check_has(["date", *needs_of(part, name)], own, DOES_WITHOUT.get(own))


def needs_of(part: Any, name: str | None = None) -> tuple[str, ...]:
    """Return which columns a part needs, besides customer and date."""
    if name == "perturb" or part_name(part) == "perturb":
        used = {"item": part.items, "price": part.prices, "quantity": part.quantities}
        return tuple(column for column, amount in used.items() if amount)
    if name == "delete" or part_name(part) == "delete":
        used = {"item": part.once, "price": part.price_deviations}
        return tuple(column for column, amount in used.items() if amount)
    if name == "item-item" or part_name(part) == "item-item":
        return GOODS if part.kind == "top" else ("item", "quantity")
    if name == "item-cf" or part_name(part) == "item-cf":
        return GOODS if part.count == "purchases" else ("item", "quantity")
    if name == "statistic" or part_name(part) == "statistic":
        return () if part.column == "date" else (part.column,)
    declared: tuple[str, ...] | None = getattr(part, "needs", None)
    return NEEDS.get(name or part_name(part), ()) if declared is None else declared


def measure_or_say_why(
    part: HistoryUtility, name: str, original: History, released: History, *, has_master: bool = False
) -> Score | Text:
    """Return the score of a measure, or why it cannot be taken of the history."""
    reason = why_left_out(original, part, name, has_master=has_master)
    if reason is not None:
        return reason
    gone = lacks(released, part, name) if released.kept.height else []
    reason = why_not_compared(name, gone, original.n_rows, released.n_rows)
    return score_or_why(part.measure(original, released)) if reason is None else reason


def score_or_why(score: Score) -> Score | Text:
    """Return a score, or why it says nothing."""
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


def why_left_out(original: History, part: object, name: str, *, has_master: bool = False) -> Text | None:
    """Explain why a measure cannot be taken of a history; None where it can."""
    kept = original.kept
    absent = lacks(original, part, name)
    return why_unmeasured(name, kept.height, absent, lambda: kept["item"].n_unique(), has_master=has_master)


def why_unmeasured(
    name: str, n_rows: int, absent: Sequence[str], n_items: Callable[[], int], *, has_master: bool
) -> Text | None:
    """Explain why a measure cannot be taken, wherever the rows are; items are counted only if that decides."""
    if not n_rows:
        return Text("the history has no rows")
    if absent:
        return absent_in_words(absent)
    if name in NEEDS_MASTER and not has_master:
        return Text("it needs the customers' attributes (--master)")
    if name.startswith("item-") and n_items() == 1:
        return Text("the history has a single item, so no two that could be alike")
    return None


def absent_in_words(absent: Sequence[str]) -> Text:
    """Describe which columns a history lacks."""
    return Text("the history has no {column}", column=_listed(absent))


def _listed(absent: Sequence[str]) -> Text:
    first, *others = (Text(column) for column in absent)
    return reduce(lambda said, other: Text("{column} and no {other}", column=said, other=other), others, first)
