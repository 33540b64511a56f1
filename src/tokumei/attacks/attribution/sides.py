"""Known and published rows as numbers, equal where their values are, and pseudonyms with equal numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.data.history import History, period_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

VALUES = ("item", "price", "quantity")
# Customers who are weighed for a row, the likeliest by its pseudonym.
N_CANDIDATES = 64


@dataclass(frozen=True)
class Sides:
    """Known and published rows with numbers for all values, equal values having equal numbers on both sides."""

    customers: list[str]
    who: Ints
    known: dict[str, Ints]
    pseudonym: Ints
    seen: dict[str, Ints]
    n_pseudonyms: int
    # Pseudonyms with as many rows in every month have the same number here.
    alike: Ints

    @classmethod
    def of(cls, knowledge: History, published: History) -> Sides:
        """Assign numbers; items are compared by as many characters as are known."""
        ours, theirs = knowledge.kept, published.kept
        shared = [name for name in VALUES if name not in knowledge.absent and name not in published.absent]
        if "item" in shared and ours.height:
            n_characters = ours.select(pl.col("item").str.len_chars().max()).item()
            theirs = theirs.with_columns(pl.col("item").str.slice(0, n_characters))
        columns = {
            "day": ["date"],
            "moment": ["date", "time"],
            "month": ["month"],
            "item": ["month"] if "item" not in shared else ["item"],
            "values": ["month", *shared],
            "kind": ["month", *(name for name in shared if name == "item")],
        }
        both = pl.concat([side.select("date", "time", *VALUES) for side in (ours, theirs)])
        both = both.with_columns(month=period_of(pl.col("date")), time=pl.col("time").fill_null(pl.time(0, 0)))
        codes = {
            name: both.select(pl.struct(of).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
            for name, of in columns.items()
        }
        n = ours.height
        customers, names = knowledge.customers, published.customers
        pseudonym = numbers_of(theirs["customer"], names)
        return cls(
            customers,
            numbers_of(ours["customer"], customers),
            {name: code[:n] for name, code in codes.items()},
            pseudonym,
            {name: code[n:] for name, code in codes.items()},
            len(names),
            _alike(pseudonym, codes["month"][n:], len(names), len(customers)),
        )


def numbers_of(names: pl.Series, known: Sequence[str]) -> Ints:
    """Return the place of each name among those that are known."""
    return names.cast(pl.Enum(known)).to_physical().cast(pl.Int64).to_numpy()


def _alike(pseudonym: Ints, month: Ints, n_names: int, n_customers: int) -> Ints:
    """Assign the same number to pseudonyms with the same numbers of rows in all months, unless very many have them."""
    n_months = int(month.max(initial=0)) + 1
    counts = np.bincount(pseudonym * n_months + month, minlength=n_names * n_months).reshape(n_names, n_months)
    _, number, n_alike = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    number = number.reshape(-1).astype(np.int64)
    # Named by the first of them, so that numbers are those of pseudonyms.
    firsts = np.full(n_names, n_names, np.int64)
    np.minimum.at(firsts, number, np.arange(n_names))
    # Where customers have several pseudonyms, as many rows in a single month are soon a coincidence.
    is_whole = n_names <= 2 * n_customers
    tells = (n_alike[number] <= N_CANDIDATES) & (is_whole | ((counts > 0).sum(axis=1) > 1))
    return np.where(tells, firsts[number], np.arange(n_names))


def largest_within(sizes: Ints, limit: int) -> int:
    """Return the largest size up to which all sizes together stay within a limit."""
    ordered = np.sort(sizes)
    n_within = int(np.searchsorted(np.cumsum(ordered), limit, "right"))
    return int(ordered[n_within - 1]) if n_within == len(ordered) else int(ordered[n_within]) - 1
