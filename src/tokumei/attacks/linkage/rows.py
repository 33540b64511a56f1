"""Known and released rows as numbers, and what habits say: whether a pseudonym buys as the customer does otherwise.

Rows are kept as whose they are, of which month and kind, and their values by code. The customer's other months are
those already matched. Their rows tell what the customer buys, in full as the release has it. Each kind of habit gives
one number for a pair; how much each is worth is learned from the months that the rows alone have matched (a conditional
logistic regression: whose month is this, of all customers?).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.linkage.fields import FIELDS, Codes, FieldLevels, Floats, Ints, Ratios
from tokumei.data.history import History, period_of

# What is counted as a habit, one value a row; what is not told is left out.
KINDS: dict[str, tuple[str, ...]] = {
    "item": ("item",),
    "item and quantity": ("item", "quantity"),
    "price": ("price",),
    "quantity": ("quantity",),
}
# How far a customer's own share is believed over everybody's.
OWN = 0.5
RIDGE = 0.5
N_STEPS = 20
# Learning ends when no weight changes by more.
ENOUGH = 1e-4
LONGEST_STEP = 2.0
# So many cells of a table take as long to multiply as one pair of equal values to find.
CELLS_A_PAIR = 50
# Pairs of equal values held at once.
CHUNK_PAIRS = 2_000_000


class Habits:
    """The pseudonyms of all periods (slots) by what they buy."""

    def __init__(self, values: Sequence[Ints], row_slots: Ints, slot_periods: Ints) -> None:
        """Count the values of each kind in each slot; `row_slots` says the slot of each released row."""
        self.slot_periods = slot_periods
        n_slots = len(slot_periods)
        self.tokens = [Tokens.of(codes, row_slots, n_slots) for codes in values]
        self.log_sizes = np.log(np.bincount(row_slots, minlength=n_slots))

    def all_features(self, matched: Ints, before: tuple[Ints, list[Ratios]] | None = None) -> list[Ratios]:
        """Return the features of each period: feature, customer, slot of the period.

        `matched` has the slot of each customer (down) in each period (across), −1 where there is none. Features of
        customers who are matched as `before` stay what they were there; those of others are written over.
        """
        if before is None:
            return self._features(matched)
        changed, found = np.flatnonzero((matched != before[0]).any(axis=1)), before[1]
        for features, again in zip(found, self._features(matched[changed]) if len(changed) else (), strict=False):
            features[:, changed] = again
        return found

    def _features(self, matched: Ints) -> list[Ratios]:
        """Return what each customer's other months say on each slot of each period."""
        profiles = [Profiles.of(tokens, matched) for tokens in self.tokens]
        features = []
        for period in range(matched.shape[1]):
            here = np.flatnonzero(self.slot_periods == period)
            elsewhere = matched.copy()
            elsewhere[:, period] = -1
            n_months = (elsewhere >= 0).sum(axis=1)
            has_past = n_months > 0
            usual_size = np.where(elsewhere >= 0, self.log_sizes[elsewhere], 0).sum(axis=1) / np.maximum(n_months, 1)
            size_gap = np.abs(usual_size[:, None] - self.log_sizes[here])
            # Who has a past could have bought the same again: the more values a slot has, the more its novelty says.
            novelty = np.outer(has_past, np.sqrt(self.tokens[-1].n_values[here]))
            repeats = [of_kind.repeats(matched[:, period], here) for of_kind in profiles]
            # In four bytes each: all pairs have several, and no more than six figures of them count.
            features.append(np.stack([*repeats, novelty, -size_gap * has_past[:, None]], dtype=np.float32))
        return features


@dataclass(frozen=True)
class Tokens:
    """The values of one kind that each slot has, each once."""

    values: Ints  # Those of a slot stand together, in their order.
    firsts: Ints  # The first value of each slot, and their number.
    common: Floats  # How often each value occurs.

    @classmethod
    def of(cls, codes: Ints, slots: Ints, n_slots: int) -> Tokens:
        """Take the value and the slot of each row."""
        width = int(codes.max(initial=0)) + 1
        keys = np.sort(slots * width + codes)
        slot, values = np.divmod(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]], width)
        firsts = np.searchsorted(slot, np.arange(n_slots + 1))
        return cls(values, firsts, np.bincount(values, minlength=width).astype(np.float64) + 1)

    @property
    def n_values(self) -> Ints:
        """Number of values of each slot."""
        return np.diff(self.firsts)

    def of_slots(self, slots: Ints) -> tuple[Ints, Ints]:
        """Return the values of some slots, and which of the slots has each."""
        n = self.n_values[slots]
        which = np.repeat(np.arange(len(slots)), n)
        return self.values[np.arange(len(which)) + np.repeat(self.firsts[slots] - np.cumsum(n) + n, n)], which


@dataclass(frozen=True)
class Profiles:
    """What customers buy in all months that they are matched in: in how many of them they buy each value."""

    tokens: Tokens
    keys: Ints  # Number of the customer · values + value, in their order.
    customers: Ints
    values: Ints
    n_months: Floats

    @classmethod
    def of(cls, tokens: Tokens, matched: Ints) -> Profiles:
        """Count the values of the slots of each customer (down) in each period (across)."""
        customers, periods = np.nonzero(matched >= 0)
        values, which = tokens.of_slots(matched[customers, periods])
        keys = np.sort(customers[which] * len(tokens.common) + values)
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        n_months = np.diff(starts, append=len(keys)).astype(np.float64)
        return cls(tokens, keys[starts], *np.divmod(keys[starts], len(tokens.common)), n_months)

    def repeats(self, matched: Ints, here: Ints) -> Floats:
        """Return how much each customer's own values (down) recur in each slot of a period (across), rare ones more.

        A sum of log likelihood ratios: the customer's share of the value, mixed with everybody's, over everybody's.
        Values of one slot go together, so the sum is worth less than its length. What customers buy in the slots that
        they are matched with in the period itself counts for nothing.
        """
        common, n_months = self.tokens.common, self.n_months.copy()
        found = np.flatnonzero(matched >= 0)
        values, which = self.tokens.of_slots(matched[found])
        n_months[np.searchsorted(self.keys, found[which] * len(common) + values)] -= 1
        sizes = np.bincount(self.customers, n_months, len(matched))
        now, slots = self.tokens.of_slots(here)
        can_recur = np.bincount(now, minlength=len(common)) > 0
        at = np.flatnonzero((n_months > 0) & can_recur[self.values])
        customers, own = self.customers[at], self.values[at]
        worth = np.log1p(OWN / (1 - OWN) * n_months[at] / sizes[customers] * common.sum() / common[own])
        table = _product((customers, own, worth), (now, slots), (len(matched), len(common), len(here)))
        return table / np.sqrt(self.tokens.n_values[here])


def _product(worth: tuple[Ints, Ints, Floats], has: tuple[Ints, Ints], shape: tuple[int, int, int]) -> Floats:
    """Add up what values are worth to customers (down) over the values that slots have (across).

    Few values are multiplied as whole tables, many pair by pair; scipy.sparse takes longer to import than this.
    """
    customers, own, weights = worth
    now, slots = has
    n_customers, n_values, n_slots = shape
    n_now = np.bincount(now, minlength=n_values)
    n_pairs = n_now[own]
    if n_customers * n_values * n_slots <= CELLS_A_PAIR * n_pairs.sum():
        of_customers, of_slots = np.zeros((n_customers, n_values)), np.zeros((n_values, n_slots))
        of_customers[customers, own] = weights
        of_slots[now, slots] = 1
        return of_customers @ of_slots
    by_value = slots[np.argsort(now, kind="stable")]
    firsts = np.cumsum(n_now) - n_now
    table = np.zeros(n_customers * n_slots)
    # Cut between customers' values, so that few pairs are held at once.
    for some in np.split(np.arange(len(own)), np.flatnonzero(np.diff(np.cumsum(n_pairs) // CHUNK_PAIRS)) + 1):
        n = n_pairs[some]
        one = np.repeat(some, n)
        other = np.arange(len(one)) + np.repeat(firsts[own[some]] - np.cumsum(n) + n, n)
        table += np.bincount(customers[one] * n_slots + by_value[other], weights[one], len(table))
    return table.reshape(n_customers, n_slots)


def learn_weights(values: Floats, answers: Ints, log_prior: Floats, start: Floats | None = None) -> Floats:
    """Learn what each feature is worth from months that are matched for sure.

    `values` holds for each feature and such month that of every customer; `answers` whose month it is; `log_prior` how
    active each customer is. Weights to `start` from make no difference but to how long it takes.
    """
    n_features, n_months, _ = values.shape
    flat = values.reshape(n_features, -1)
    of_answers = values[:, np.arange(n_months), answers].sum(axis=1)
    weights: Floats = np.zeros(n_features) if start is None else start
    weighted = np.empty_like(values)
    # Newton's steps: the loss is convex, and the ridge keeps its curvature from vanishing.
    for _ in range(N_STEPS):
        scores = (weights @ flat).reshape(n_months, -1) + log_prior
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        np.multiply(values, chances, out=weighted)
        expected = weighted.sum(axis=2)
        slope = expected.sum(axis=1) - of_answers + 2 * RIDGE * weights
        curvature = weighted.reshape(n_features, -1) @ flat.T - expected @ expected.T
        change = np.linalg.solve(curvature + 2 * RIDGE * np.eye(n_features), slope)
        # Far from the end a step may be too long by far.
        change /= max(1.0, np.abs(change).max() / LONGEST_STEP)
        weights = weights - change
        if np.abs(change).max() < ENOUGH:
            return weights
    # Far from the truth all curvature may be gone.
    return weights if start is None else learn_weights(values, answers, log_prior)


def habit_codes(released: pl.DataFrame) -> list[Ints]:
    """Assign numbers to the values of each kind of habit that the release shows."""
    told = [kinds for kinds in KINDS.values() if all(released[kind].null_count() < released.height for kind in kinds)]
    return [
        (released.select(pl.struct(kinds).rank("dense")).to_series().to_numpy() - 1).astype(np.int64) for kinds in told
    ]


# Items that begin alike are of one kind; the contests' attackers know no more.
KIND_CHARACTERS = 2
# No kind has a larger share of the released rows, if items are known in full enough.
LARGEST_KIND = 0.5
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
    sides = [side.cast(pl.String).fill_null("") for side in (known, released)]
    n_characters = _kind_characters(*sides)
    sides = [side.str.slice(0, n_characters) for side in sides]
    shared = sides[0].is_in(sides[1].unique().implode()).mean()
    if not isinstance(shared, float) or shared < LEAST_SHARED_KINDS:
        return np.zeros(len(known), np.int64), np.zeros(len(released), np.int64)
    names = pl.concat([side.unique() for side in sides]).unique().sort()
    first, second = (side.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64) for side in sides)
    return first, second


def _kind_characters(known: pl.Series, released: pl.Series) -> int:
    """Return by how many characters items begin alike that are of one kind.

    Where most begin alike by two, as pages of one site or codes of one shop do, by the fewest that tell items apart.
    """
    at_most = known.str.len_chars().max()
    counted = released.value_counts(name="n_rows")
    for n_characters in range(KIND_CHARACTERS, at_most + 1 if isinstance(at_most, int) else 0):
        kinds = counted.group_by(pl.col(released.name).str.slice(0, n_characters)).agg(pl.col("n_rows").sum())
        if int(kinds["n_rows"].max() or 0) <= LARGEST_KIND * len(released):  # type: ignore[arg-type]
            return n_characters
    return KIND_CHARACTERS


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
