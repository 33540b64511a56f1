"""How far a released value is from a known one, field by field, and how long the pseudonyms of a release live.

Each field has a few levels of agreement. A level is weighed after Fellegi and Sunter: how often the counterpart of a
released row is at that level, over how often any known row is. The second depends on the released value, so that
sharing a rare value counts for more than sharing a common one. The first is learned (`linkage/learning.py`), for
numbers by bands of the released value: rounding leaves a quantity of 1 as it is more often than one of 100.

It matters which side is given. What is explained are the known rows, so the chances of all known values beside one
released value add up to one. The other way round anything can be learned: that every purchase became a dear one, say,
and then everybody is one of the few customers who buy dear things.

Between two epochs all pseudonyms change; epochs are read off the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.data.history import period_of

Floats = npt.NDArray[np.float64]
Ratios = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
# Of values: as small as they can be, since of millions of rows nothing takes more.
Codes = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Levels = npt.NDArray[np.int8]

Kinds = tuple[Ints, Ints]

UNTOLD = -1
# Bounds of the levels between equal and far: days, minutes, and the released number as a share of the known one.
DAYS = (0, 1, 3, 7, 14)
MINUTES = (0, 10, 60, 180)
SHARES = (0.25, 0.5, 0.75, 0.9, 0.99, 1.01, 1.11, 1.35, 2.0, 4.0)
BANDS = {"price": (1.0, 3.0, 8.0), "quantity": (1.5, 3.5, 11.5)}
# Numbers have levels below and above, and equal ones in the middle.
EQUAL = len(SHARES) // 2
# A value seen once may be rare by accident; no single field proves more than this.
STRONGEST = 1e5
# So many made-up rows at the levels of any rows keep a share from being zero.
PRIOR = 2.0
# So many rows of any kind help to say how common a value is in its own kind.
KIND_PRIOR = 5.0
# No field has more levels.
MOST_LEVELS = 32
# Pairs of distinct values beyond which numbers are compared by three digits.
LARGEST_TABLE = 20_000_000
# Pairs of distinct values that are compared in one go.
CHUNK_PAIRS = 200_000


@dataclass(frozen=True)
class FieldLevels:
    """The values of a field on both sides by code, the level of each pair of values, and how usual each is.

    A `case` is a released value in a kind of item; both decide how often any known row of the kind is at a level.
    """

    codes: tuple[Codes, Codes]
    levels: Levels | None  # Known values (down) by released (across), UNTOLD where nothing is said; None: equal or not.
    bands: Ints  # The band of each case.
    chance: Floats  # Cases (down) by level: how often any known row of the kind is there.
    cases: Codes  # The case of each released row.

    @classmethod
    def of(cls, codes: tuple[Ints, Ints], levels: Levels, bands: Ints, kinds: Kinds) -> FieldLevels:
        """Count how often any known row of the kind is at each level of a released value."""
        n_values, n_kinds = levels.shape[1], int(max(kind.max(initial=0) for kind in kinds)) + 1
        pairs, cases = np.unique(kinds[1] * n_values + codes[1], return_inverse=True)
        of_case, kind_of = pairs % n_values, pairs // n_values
        n_rows = np.bincount(kinds[0] * len(levels) + codes[0], minlength=n_kinds * len(levels)).astype(np.float64)
        by_kind = n_rows.reshape(n_kinds, len(levels))
        runs = _Runs.of(levels)
        overall = runs.count(np.arange(n_values), by_kind.sum(axis=0, keepdims=True), np.zeros(n_values, np.int64))
        usual = np.bincount(codes[1], minlength=n_values) @ overall
        overall += usual / max(1.0, usual.sum())
        overall /= overall.sum(axis=1, keepdims=True)
        chance = KIND_PRIOR * overall[of_case] + runs.count(of_case, by_kind, kind_of)
        chance /= chance.sum(axis=1, keepdims=True)
        return cls((_small(codes[0]), _small(codes[1])), levels, bands[of_case], chance, _small(cases))

    def of_rows(self, known: Codes, released: Codes, cases: Codes) -> FieldLevels:
        """Return the field with other rows: their codes on both sides, and the cases of those released."""
        return replace(self, codes=(known, released), cases=cases)

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return int(self.chance.shape[1])

    def usual(self) -> Floats:
        """Return by band how often any pair of rows is at each level."""
        n_rows = np.bincount(self.cases, minlength=len(self.chance))
        shares = np.zeros((int(self.bands.max(initial=0)) + 1, self.n_levels))
        np.add.at(shares, self.bands, self.chance * n_rows[:, None])
        shares += 1e-9
        usual: Floats = shares / shares.sum(axis=1, keepdims=True)
        return usual

    def weigh(self, agreement: Floats) -> Ratios:
        """Return the likelihood ratio of each case (down) and level (across; the last is for what is untold)."""
        ratios = np.minimum(agreement[self.bands] / np.maximum(self.chance, 1e-9), STRONGEST)
        return np.concatenate([ratios, np.ones((len(ratios), 1))], axis=1).astype(np.float32)

    def levels_of(self, known: Codes, released: Codes) -> Levels:
        """Return the levels of some pairs of codes."""
        if self.levels is None:
            unequal: Levels = (known != released).astype(np.int8)
            return unequal
        levels: Levels = self.levels[known, released]
        return levels


def _small(codes: Ints) -> Codes:
    """Store codes in half the bytes, unless there are too many of them."""
    return codes.astype(np.int32) if codes.max(initial=0) < 2**31 // MOST_LEVELS else codes


@dataclass(frozen=True)
class _Runs:
    """Known values in a row that are at one level beside a released value: a few runs for each, not all the values."""

    levels: Ints  # The level of each run; the runs of one released value stand together.
    starts: Ints
    ends: Ints
    firsts: Ints  # The first run of each released value, and the number of runs.
    n_levels: int

    @classmethod
    def of(cls, levels: Levels) -> _Runs:
        """Find the runs; known values down, released across."""
        across = np.ascontiguousarray(levels.T)
        is_start = np.ones(across.shape, np.bool_)
        np.not_equal(across[:, 1:], across[:, :-1], out=is_start[:, 1:])
        at = np.flatnonzero(is_start)
        of_value, starts = np.divmod(at, across.shape[1])
        ends = starts + np.diff(at, append=is_start.size)
        firsts = np.searchsorted(of_value, np.arange(len(across) + 1))
        return cls(across.ravel()[at].astype(np.int64), starts, ends, firsts, int(levels.max()) + 1)

    def count(self, values: Ints, n_rows: Floats, kinds: Ints) -> Floats:
        """Count the known rows of its kind at each level (across) of released values (down); the untold are left out.

        `n_rows` says by kind (down) how many rows have each known value (across).
        """
        until = np.concatenate([np.zeros((len(n_rows), 1)), n_rows.cumsum(axis=1)], axis=1)
        n_runs = np.diff(self.firsts)[values]
        case = np.repeat(np.arange(len(values)), n_runs)
        run = np.arange(len(case)) + np.repeat(self.firsts[values] - np.cumsum(n_runs) + n_runs, n_runs)
        width = self.n_levels + 1
        cells = case * width + self.levels[run] % width
        counted = until[kinds[case], self.ends[run]] - until[kinds[case], self.starts[run]]
        counts: Floats = np.bincount(cells, counted, len(values) * width).astype(np.float64).reshape(-1, width)
        return counts[:, :-1]


def _runs_of_values(n_values: int, n_others: int) -> Iterator[slice]:
    """Split values into runs so short that tables of their pairs with all others stay small."""
    size = max(1, CHUNK_PAIRS // max(1, n_others))
    return (slice(first, first + size) for first in range(0, n_values, size))


def _compared(known: pl.Series, released: pl.Series) -> tuple[Floats, Floats, tuple[Ints, Ints]] | None:
    """Return the distinct values of both sides and the codes of the rows; None where a side has none."""
    sides = [side.cast(pl.Float64).to_numpy() for side in (known, released)]
    if any(np.isnan(side).all() for side in sides):
        return None
    (ours, one), (theirs, other) = (np.unique(side, return_inverse=True) for side in sides)
    if len(ours) * len(theirs) > LARGEST_TABLE:
        (ours, one), (theirs, other) = (np.unique(_few_digits(side), return_inverse=True) for side in sides)
    return ours, theirs, (one.astype(np.int64), other.astype(np.int64))


def _few_digits(values: Floats) -> Floats:
    """Round to three significant digits."""
    size = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(np.nan_to_num(values)), 1e-9))) - 2)
    rounded: Floats = np.round(values / size) * size
    return rounded


def _untold(found: Ints, ours: Floats, theirs: Floats) -> Levels:
    levels = found.astype(np.int8)
    levels[np.isnan(ours)] = UNTOLD
    levels[:, np.isnan(theirs)] = UNTOLD
    return levels


def date_levels(known: pl.Series, released: pl.Series, kinds: Kinds) -> FieldLevels | None:
    """Compare dates within a month by the days between."""
    found = _compared(known.to_physical(), released.to_physical())
    if found is None:
        return None
    ours, theirs, codes = found
    levels = np.searchsorted(DAYS, np.abs(ours[:, None] - theirs)).astype(np.int8)
    months = [
        pl.Series(side).cast(pl.Int32).cast(pl.Date).to_frame("date").select(period_of(pl.col("date"))).to_series()
        for side in (ours, theirs)
    ]
    levels[months[0].to_numpy()[:, None] != months[1].to_numpy()] = UNTOLD
    if (levels == UNTOLD).all():
        return None
    return FieldLevels.of(codes, levels, np.zeros(len(theirs), np.int64), kinds)


def time_levels(known: pl.Series, released: pl.Series, kinds: Kinds) -> FieldLevels | None:
    """Compare times of day by the minutes between."""
    minutes = [side.dt.hour().cast(pl.Float64) * 60 + side.dt.minute() for side in (known, released)]
    found = _compared(minutes[0], minutes[1])
    if found is None:
        return None
    ours, theirs, codes = found
    levels = _untold(np.searchsorted(MINUTES, np.abs(ours[:, None] - theirs)), ours, theirs)
    return FieldLevels.of(codes, levels, np.zeros(len(theirs), np.int64), kinds)


def number_levels(name: str) -> Callable[[pl.Series, pl.Series, Kinds], FieldLevels | None]:
    """Compare numbers by the released one as a share of the known."""

    def compare(known: pl.Series, released: pl.Series, kinds: Kinds) -> FieldLevels | None:
        found = _compared(known, released)
        if found is None:
            return None
        ours, theirs, codes = found
        levels: Levels = np.empty((len(ours), len(theirs)), np.int8)
        for some in _runs_of_values(len(ours), len(theirs)):
            levels[some] = _untold(_share_levels(ours[some], theirs), ours[some], theirs)
        return FieldLevels.of(codes, levels, np.searchsorted(BANDS[name], np.abs(np.nan_to_num(theirs))), kinds)

    return compare


def _share_levels(ours: Floats, theirs: Floats) -> Ints:
    """Return the levels of numbers (known down, released across)."""
    is_equal = ours[:, None] == theirs
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(is_equal, 1.0, theirs / ours[:, None])
    levels: Ints = np.searchsorted(SHARES, np.nan_to_num(share, nan=1.0, posinf=1e9))
    # Equal numbers are a level of their own, in the middle.
    levels[levels > EQUAL] += 1
    levels[(levels == EQUAL) & (share > 1)] += 1
    levels[(levels == EQUAL) & (share < 1)] -= 1
    levels[is_equal] = EQUAL
    return levels


def item_levels(known: pl.Series, released: pl.Series, kinds: Kinds) -> FieldLevels | None:
    """Compare whole items, where more than their kind is known: equal or not."""
    n_characters = known.str.len_chars().max()
    if not isinstance(n_characters, int) or n_characters <= 2 or released.null_count() == len(released):
        return None
    if known.null_count() or released.null_count():
        return None
    theirs = released.str.slice(0, n_characters)
    names = pl.concat([known.unique(), theirs.unique()]).unique().sort()
    one, other = (side.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64) for side in (known, theirs))
    n_known = np.bincount(one, minlength=len(names)) + 0.5
    of_kind = np.zeros(len(names))
    of_kind[other] = np.bincount(kinds[0], minlength=int(kinds[1].max()) + 1)[kinds[1]]
    equal = np.minimum(n_known / (of_kind + 1), 0.999)
    bands = np.zeros(len(names), np.int64)
    codes = _small(one), _small(other)
    return FieldLevels(codes, None, bands, np.stack([equal, 1 - equal], axis=1), codes[1])


Compare = Callable[[pl.Series, pl.Series, Kinds], FieldLevels | None]
FIELDS: dict[str, Compare] = {
    "date": date_levels,
    "time": time_levels,
    "item": item_levels,
    "price": number_levels("price"),
    "quantity": number_levels("quantity"),
}


# More pseudonyms than customers in an epoch: some changed theirs within it.
MOST_NAMES = 1.02


@dataclass(frozen=True)
class Epoch:
    """Months in a row, and the numbers of the pseudonyms that live in them."""

    months: Ints
    names: Ints


def find_epochs(n_rows: Ints, n_customers: int) -> list[Epoch]:
    """Cut the months where no pseudonym (down) has rows on both sides; months across.

    Where lives of different lengths leave nothing to cut, each month is taken for itself.
    """
    is_alive = n_rows > 0
    until = np.maximum.accumulate(is_alive, axis=1)
    after = np.maximum.accumulate(is_alive[:, ::-1], axis=1)[:, ::-1]
    is_crossed = (until[:, :-1] & after[:, 1:]).any(axis=0)
    cuts = np.split(np.arange(n_rows.shape[1]), np.flatnonzero(~is_crossed) + 1)
    epochs = []
    for months in cuts:
        names = np.flatnonzero(is_alive[:, months].any(axis=1))
        if len(names) <= max(1, MOST_NAMES * n_customers):
            epochs.append(Epoch(months, names))
        else:
            epochs += [Epoch(np.array([month]), np.flatnonzero(is_alive[:, month])) for month in months]
    return [epoch for epoch in epochs if len(epoch.names)]
