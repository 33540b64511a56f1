"""Whether a release's declared row map disagrees with the data: the trick named after Yamaoka (2015, 2016).

A team that shuffles nothing but the declared row numbers keeps all of its utility, and every attacker fails. The data
give it away: the declared row of the original is no nearer to the released row than any other, while some other row is
nearer than chance allows.

How near a row of the original is to a released one is told in nats. A cell adds −ln p, where p is the share of the
original's rows that are at least as near in that column: equal text adds the more, the rarer it is; numbers, dates and
times add the more, the fewer values lie between. So columns of any kind and scale weigh by what they tell.

A released row *contradicts* its declared row where

1. some row of the original is nearer than the nearest that rows made up of the release's own cells, each column
   drawn for itself, find in 95 of 100 cases: so it is from there; and
2. at least 1 row in 20 of the original is nearer than the declared one; or, which shows a shuffle among rows that are
   alike, the row that fits is equal in every cell and the declared one is not, or it is as near in every column and
   nearer in all by ln n nats, as much as it takes to tell one of n rows from all others.

Noise of whatever strength does not do this. It leaves the declared row among the nearest, or it leaves no row near:
then the first condition holds in 1 row of 20 by chance. A release is flagged where 3 rows of 20 contradict. Under noise
a false map shows in fewer rows, but it still shows: twice the share of rows with half the original nearer than the
declared row estimates the share that is declared at random. So a release is flagged as well where that is 3 of 20 or
more, and of these rows 1 in 5, four times what chance gives, is nearer to another row than made-up ones are.

A lie about a tenth of the rows goes unseen, and wins no more than that. Where noise is such that no row can be
recognized, a false map cannot be told from a true one, and wins nothing.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator

Floats = npt.NDArray[np.float32]
Cells = npt.NDArray[np.float32] | npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# The share of contradicting rows from which a release is flagged, three times what chance gives.
THRESHOLD = 0.15
CHANCE = 0.05
# The share of rows declared at random that must fit another row, four times what chance gives.
LEAST_FIT = 0.2
# A declared row with a larger share of the original nearer than itself does not explain the released row.
FARTHEST = 0.05
# Enough to tell a share of 0.15 from one of 0.05 or 0.3 with an error in a million; all rows where there are fewer.
N_SAMPLED = 400
N_MADE_UP = 200
# With fewer rows, chance alone makes rows near.
FEWEST_ROWS = 20
# Rows looked at together: a block of them against the whole original stays in a few megabytes.
BLOCK = 50
N_SHOWN = 3
SEED = 2016


@dataclass(frozen=True)
class YamaokaVerdict:
    """What the row map of a release looks like against the data.

    `share` is the share of the sampled rows that contradict their declared rows, and `random_share` estimates the share
    declared at random, both from 0 to 1; `farther` is the median share of the original's rows that are nearer than the
    declared one (0 where the map is true, about 0.5 where it is random). `evidence` says it in sentences, with the
    worst rows by number, counted from 1.
    """

    is_flagged: bool
    share: float
    random_share: float
    farther: float
    evidence: tuple[str, ...]
    threshold: float = THRESHOLD


@dataclass(frozen=True)
class _Found:
    """What one released row finds in the original: the nearest row, and how the declared one compares."""

    nearest: Indices
    nearness: Floats
    declared_nearness: Floats
    farther: Floats
    is_outdone: Bools


def detect_yamaoka(original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series) -> YamaokaVerdict:
    """Judge whether a release whose row i is declared to come from row `rows[i]`, counted from 1, really does.

    Both frames have the same columns; leave out those that are renamed altogether, such as customers that became
    pseudonyms. A missing cell is a value of its own.
    """
    declared = _declared(original, released, rows)
    if min(original.height, released.height) < FEWEST_ROWS or not original.width:
        return YamaokaVerdict(
            False, 0.0, 0.0, 0.0, ("There are too few rows to tell a false row map from a true one.",)
        )
    columns = [_Column.of(original[name], released[name]) for name in original.columns]
    rng = generator(SEED, "yamaoka", _fingerprint(columns, declared))
    sampled = np.sort(rng.permutation(released.height)[:N_SAMPLED])
    found = _search(columns, sampled, declared[sampled])
    # Each column draws for itself, so that the made-up rows have the release's cells and belong nowhere.
    made_up = [column.shuffled(rng.integers(released.height, size=N_MADE_UP)) for column in columns]
    by_chance = _search(made_up, np.arange(N_MADE_UP), np.zeros(N_MADE_UP, np.int64)).nearness
    limit = float(np.quantile(by_chance, 1 - CHANCE))
    fits_another = found.nearness > limit
    is_contradicted = fits_another & ((found.farther > FARTHEST) | found.is_outdone)
    share = float(is_contradicted.mean())
    is_at_random = found.farther > 0.5
    random_share = min(1.0, 2 * float(is_at_random.mean()))
    is_lie = random_share >= THRESHOLD and fits_another[is_at_random].mean() >= LEAST_FIT
    is_flagged = share >= THRESHOLD or bool(is_lie)
    evidence = _evidence(sampled, declared, found, is_contradicted, limit) if is_flagged else ()
    return YamaokaVerdict(is_flagged, share, random_share, float(np.median(found.farther)), evidence)


def _declared(original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series) -> Indices:
    """Return the declared rows counted from 0, after checking that the three belong together."""
    if original.columns != released.columns:
        raise InputError.of(
            f"the columns of the original: {', '.join(original.columns)}", value=", ".join(released.columns)
        )
    if len(rows) != released.height:
        raise InputError.of(f"a row number for each of {released.height:,} rows", value=f"{len(rows):,}")
    declared: Indices = rows.cast(pl.Int64).fill_null(0).to_numpy() - 1
    if len(declared) and not (declared.min() >= 0 and declared.max() < original.height):
        raise InputError.of(f"row numbers from 1 to {original.height:,}", column=rows.name)
    return declared


@dataclass(frozen=True)
class _Column:
    """One column of both sides, ready to be compared.

    Numbers are places in the order of the original's values, from 0 to 1; text is a code, −1 where the original has no
    such value. `weights` are what an equal cell adds, by released row.
    """

    is_number: bool
    original: Cells
    released: Cells
    weights: Floats
    n_rows: int

    @classmethod
    def of(cls, original: pl.Series, released: pl.Series) -> _Column:
        """Prepare a column; numbers, dates and times have an order, all else is equal or not."""
        is_number = all(kind.is_numeric() or kind.is_temporal() for kind in (original.dtype, released.dtype))
        if is_number and not (original.has_nulls() or released.has_nulls()):
            return cls._of_numbers(_numbers(original), _numbers(released))
        return cls._of_text(original.cast(pl.String), released.cast(pl.String))

    @classmethod
    def _of_numbers(cls, original: npt.NDArray[np.float64], released: npt.NDArray[np.float64]) -> _Column:
        ordered, n = np.sort(original), len(original)

        def places(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
            return np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")

        (left, right), (left2, right2) = places(original), places(released)
        weights = -np.log(np.maximum(right2 - left2, 1) / n)
        return cls(
            True,
            ((left + right) / (2 * n)).astype(np.float32),
            ((left2 + right2) / (2 * n)).astype(np.float32),
            weights.astype(np.float32),
            n,
        )

    @classmethod
    def _of_text(cls, original: pl.Series, released: pl.Series) -> _Column:
        values = original.unique().sort()
        # A missing cell is a value of its own, behind all others.
        codes = [_codes(side, values) for side in (original, released)]
        counts = np.bincount(codes[0], minlength=len(values) + 1)
        n = len(original)
        weights = np.where(codes[1] >= 0, -np.log(np.maximum(counts[codes[1]], 1) / n), 0)
        return cls(False, codes[0], codes[1], weights.astype(np.float32), n)

    def shuffled(self, rows: Indices) -> _Column:
        """Return the column with the released cells of the given rows."""
        return _Column(self.is_number, self.original, self.released[rows], self.weights[rows], self.n_rows)

    def nearness(self, rows: Indices) -> Floats:
        """Return how near each row of the original is to some released rows: released × original, in nats."""
        return self._compare(self.released[rows][:, None], self.weights[rows][:, None], self.original)

    def nearness_to(self, rows: Indices, originals: Indices) -> Floats:
        """Return how near one row of the original is to some released rows."""
        return self._compare(self.released[rows], self.weights[rows], self.original[originals])

    def _compare(self, cells: Cells, weights: Floats, originals: Cells) -> Floats:
        if not self.is_number:
            return np.where(cells == originals, weights, np.float32(0))
        gaps: Floats = np.abs(cells - originals).astype(np.float32, copy=False)
        # Both sides of the cell count, and the row itself does; equal cells share what their value is worth.
        gaps *= 2
        gaps += np.float32(1 / self.n_rows)
        np.minimum(gaps, 1, out=gaps)
        np.log(gaps, out=gaps)
        np.negative(gaps, out=gaps)
        return np.minimum(gaps, weights, out=gaps)

    def is_equal(self, rows: Indices, originals: Indices) -> Bools:
        """Mark the released rows whose cell is that of the given row of the original."""
        equal: Bools = self.released[rows] == self.original[originals]
        return equal


def _numbers(values: pl.Series) -> npt.NDArray[np.float64]:
    # NaN has no place in an order; it is taken for the least, on both sides.
    numbers: npt.NDArray[np.float64] = values.to_physical().cast(pl.Float64).to_numpy()
    return np.nan_to_num(numbers, nan=-math.inf)


def _codes(cells: pl.Series, values: pl.Series) -> npt.NDArray[np.int32]:
    known = values.drop_nulls()
    codes = cells.cast(pl.Enum(known), strict=False).to_physical().cast(pl.Int32)
    is_unknown = codes.is_null() & cells.is_not_null()
    return pl.select(pl.when(is_unknown).then(-1).otherwise(codes.fill_null(len(known)))).to_series().to_numpy()


def _fingerprint(columns: list[_Column], declared: Indices) -> str:
    """Return a seed that nobody can foresee, and that is the same for the organizer and the team.

    Were the sample fixed, a team would tell the truth about those rows. So it depends on every cell and row number.
    """
    digest = hashlib.blake2b(declared.astype("<i8").tobytes())
    for column in columns:
        digest.update(column.released.astype(column.released.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _search(columns: list[_Column], rows: Indices, declared: Indices) -> _Found:
    """Compare the released rows with all rows of the original, block by block."""
    parts = []
    for start in range(0, len(rows), BLOCK):
        some, named = rows[start : start + BLOCK], declared[start : start + BLOCK]
        total = columns[0].nearness(some)
        for column in columns[1:]:
            total += column.nearness(some)
        lines = np.arange(len(some))
        # Equal sums of rounded parts must count as equal.
        at_declared = total[lines, named]
        farther = (total > at_declared[:, None] + 1e-3).sum(axis=1) / total.shape[1]
        nearest = total.argmax(axis=1)
        is_twin = _are_equal(columns, some, nearest) & ~_are_equal(columns, some, named)
        is_outdone = is_twin | _is_outdone(columns, some, named, nearest)
        parts.append(_Found(nearest, total[lines, nearest], at_declared, farther.astype(np.float32), is_outdone))
    return _Found(*(np.concatenate([getattr(part, name) for part in parts]) for name in _Found.__dataclass_fields__))


def _is_outdone(columns: list[_Column], rows: Indices, declared: Indices, nearest: Indices) -> Bools:
    """Mark the rows whose nearest row is as near as the declared one in every column, and much nearer in all."""
    gains = [column.nearness_to(rows, nearest) - column.nearness_to(rows, declared) for column in columns]
    is_outdone: Bools = (np.min(gains, axis=0) > -1e-3) & (np.sum(gains, axis=0) >= math.log(columns[0].n_rows))
    return is_outdone


def _are_equal(columns: list[_Column], rows: Indices, originals: Indices) -> Bools:
    equal: Bools = np.logical_and.reduce([column.is_equal(rows, originals) for column in columns])
    return equal


def _evidence(
    sampled: Indices, declared: Indices, found: _Found, is_contradicted: Bools, limit: float
) -> tuple[str, ...]:
    """Describe what was found, with the rows that another row fits best by far."""
    n_bad = int(is_contradicted.sum())
    sentences = [
        f"{n_bad:,} of {len(sampled):,} rows looked at ({is_contradicted.mean():.1%}) contradict the declared row map; "
        f"chance gives {CHANCE:.0%} where nothing can be recognized, and nearly none where the map is true.",
        f"About {min(1, 2 * (found.farther > 0.5).mean()):.0%} of the rows are declared at random; for the median row, "
        f"{np.median(found.farther):.1%} of the original's rows are nearer than the declared one.",
    ]
    gain = np.where(is_contradicted, found.nearness - found.declared_nearness, -np.inf)
    for place in np.argsort(-gain, kind="stable")[: min(N_SHOWN, n_bad)].tolist():
        row, named, other = int(sampled[place]), int(declared[sampled[place]]), int(found.nearest[place])
        near, far = found.nearness[place], found.declared_nearness[place]
        sentences.append(
            f"Row {row + 1:,} of the release is declared to be row {named + 1:,} of the original (nearness {far:.1f}), "
            f"yet row {other + 1:,} fits it (nearness {near:.1f}; by chance at most {limit:.1f}), and "
            f"{found.farther[place]:.1%} of all rows fit better than the declared one."
        )
    return tuple(sentences)
