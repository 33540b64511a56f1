"""Known and released rows as numbers: whose they are, of which month and kind, and their values by code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.linkage.fields import FIELDS, Codes, FieldLevels
from tokumei.attacks.linkage.habits import habit_codes
from tokumei.data.history import History, period_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Items that begin alike are of one kind; the contests' attackers know no more.
KIND_CHARACTERS = 2
# Where so few known rows have a kind that is released at all, items were renamed, and kinds say nothing.
LEAST_SHARED_KINDS = 0.5
# What all rows of a basket have in common.
OF_BASKETS = ("date", "time")


@dataclass(frozen=True)
class Side:
    """The rows of one side, sorted by month, kind and owner (a customer, or a pseudonym in its epoch)."""

    owner: Ints
    month: Ints
    kind: Ints
    codes: Mapping[str, Codes]
    cases: Mapping[str, Codes]  # Of released rows: the value in its kind.
    place: Ints  # Where each row stood in its file.

    def __len__(self) -> int:
        return len(self.owner)

    def select(self, rows: npt.NDArray[np.generic]) -> Side:
        """Take some of the rows, in the same order."""
        codes, cases = ({field: values[rows] for field, values in of.items()} for of in (self.codes, self.cases))
        return Side(self.owner[rows], self.month[rows], self.kind[rows], codes, cases, self.place[rows])


@dataclass(frozen=True)
class Compared:
    """Both sides, with what can be compared of them."""

    known: Side
    released: Side
    fields: Mapping[str, FieldLevels]
    customers: list[str]
    pseudonyms: list[str]
    months: list[int]
    n_kinds: int
    tokens: list[Ints]  # What released rows buy, as habits, in the order of the released side.

    @classmethod
    def of(cls, knowledge: History, published: History, *, has_habits: bool = True) -> Compared:
        """Assign numbers to customers, pseudonyms, months and values; what either side lacks is left out.

        has_habits: whether what rows buy is asked for; of millions of rows it takes more than all else.
        """
        ours = knowledge.frame.with_row_index("place").filter(pl.col("customer").is_not_null())
        # Sorted, so that the order of released rows, which may tell the truth by accident, does not matter.
        told = [role for role in published.frame.columns if role not in published.absent]
        theirs = published.kept.sort(told).with_row_index("place") if told else published.kept.with_row_index("place")
        customers, pseudonyms = knowledge.customers, published.customers
        period = period_of(pl.col("date")).alias("period")
        months = (
            pl.concat([side.select(period.unique()) for side in (ours, theirs)])["period"].unique().sort().to_list()
        )
        kinds = _kinds(ours["item"], theirs["item"])
        fields = {
            name: found for name, make in FIELDS.items() if (found := make(ours[name], theirs[name], kinds)) is not None
        }
        tokens = habit_codes(theirs) if has_habits else []
        # Of millions of rows nothing is held twice: what was numbered goes, and numbers that are sorted.
        ours, theirs = (side.select("place", "customer", "date") for side in (ours, theirs))
        codes = [{name: field.codes[at] for name, field in fields.items()} for at in (0, 1)]
        cases = {name: field.cases for name, field in fields.items()}
        none = np.zeros(0, np.int32)
        fields = {name: field.of_rows(none, none, none) for name, field in fields.items()}
        known = _side(ours, customers, months, kinds[0], codes[0], {})
        released = _side(theirs, pseudonyms, months, kinds[1], codes[1], cases)
        # In whatever order: what is asked of fields is how often values occur.
        fields = {
            name: field.of_rows(known.codes[name], released.codes[name], released.cases[name])
            for name, field in fields.items()
        }
        n_kinds = int(max(kind.max(initial=0) for kind in kinds)) + 1
        # The released side is sorted anew: its places lead back to the frame.
        tokens = [values[released.place] for values in tokens]
        return cls(known, released, fields, customers, pseudonyms, months, n_kinds, tokens)


def basket_sizes(known: Side) -> Ints:
    """Return for each row how many are known of its customer, day and time."""
    basket = known.owner
    for values in (known.month, *(known.codes[name] for name in OF_BASKETS if name in known.codes)):
        basket = basket * (int(values.max(initial=0)) + 1) + values
    _, back, n_rows = np.unique(basket, return_inverse=True, return_counts=True)
    sizes: Ints = n_rows[back]
    return sizes


def _kinds(known: pl.Series, released: pl.Series) -> tuple[Ints, Ints]:
    """Assign numbers to the kinds of items; all are one where items are unknown, or were renamed."""
    sides = [side.cast(pl.String).fill_null("").str.slice(0, KIND_CHARACTERS) for side in (known, released)]
    shared = sides[0].is_in(sides[1].unique().implode()).mean()
    if not isinstance(shared, float) or shared < LEAST_SHARED_KINDS:
        return np.zeros(len(known), np.int64), np.zeros(len(released), np.int64)
    names = pl.concat([side.unique() for side in sides]).unique().sort()
    first, second = (side.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64) for side in sides)
    return first, second


def _side(
    frame: pl.DataFrame,
    names: list[str],
    months: list[int],
    kind: Ints,
    codes: dict[str, Codes],
    cases: dict[str, Codes],
) -> Side:
    """Return the rows of a side in their order, with their fields taken out."""
    owner = frame["customer"].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    month = np.searchsorted(months, frame.select(period_of(pl.col("date"))).to_series().to_numpy())
    place = frame["place"].to_numpy().astype(np.int64)
    order = np.lexsort((place, owner, kind, month))
    sorted_codes, sorted_cases = ({name: of.pop(name)[order] for name in list(of)} for of in (codes, cases))
    return Side(owner[order], month[order], kind[order], sorted_codes, sorted_cases, place[order])
