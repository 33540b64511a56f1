"""Tables of people that fit published counts, each drawn apart, as an attacker makes them up who has nothing else.

Where counts are exact, suppressed or rounded, a table is drawn near the likeliest one (of largest entropy), and moved
as little as makes it fit. Noisy counts fit any table: noise is drawn and taken away, as often as it may have been so.
"""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tokumei.attacks.disclosure.count_tables import CountedCells
from tokumei.attacks.disclosure.proven_counts import FittingTables
from tokumei.core.progress import step
from tokumei.hierarchies.label_semantics import Ints

Floats = npt.NDArray[np.float64]
SWEEPS, SWEEPS_OF_NOISE = 300, 60
# A count of nothing leaves its cells so many rows, lest another table miss them.
NEARLY_NONE = 1e-3
# Times that noise is taken away to learn how rows lie by single columns.
ROUNDS = 8
# How long one table is looked for near a drawn one, how much chance counts beside that one, and after how many vain
# searches the rest is found by fractions of rows.
SECONDS_OF_FIT, PERTURBED, MOST_IN_VAIN = 2.0, 0.3, 2
# Rows alike beyond which the least of the mean and the rows is near enough.
MOST_ALIKE = 10_000


def likeliest(lines: sparse.csr_array, targets: Floats, start: Floats, sweeps: int = SWEEPS) -> Floats:
    """Scale counts until lines add up to their targets, as near as they can (Darroch and Ratcliff 1972)."""
    counts = start.copy()
    per_cell = max(1.0, float(lines.sum(axis=0).max(initial=1)))
    wanted = np.maximum(targets, NEARLY_NONE)
    for _ in range(sweeps):
        there = np.maximum(lines @ counts, NEARLY_NONE / 10)
        counts *= np.exp(lines.T @ np.log(wanted / there) / per_cell)
    return counts


def exact_fits(
    cells: CountedCells, tables: FittingTables, n_fits: int, rng: np.random.Generator, seconds: float
) -> tuple[list[Ints], int]:
    """Draw tables that have the published counts, and how many of them have them exactly: those that come first.

    Where whole rows that fit are hard to find, the others fit by fractions of rows, which are rounded: good enough to
    guess by, and no proof of anything.
    """
    start = np.full(len(cells), cells.n_most / max(1, len(cells)))
    counts = likeliest(cells.lines, (cells.low + np.minimum(cells.high, cells.n_most)) / 2, start)
    exact: list[Ints] = []
    near: list[Ints] = []
    ends, in_vain = time.perf_counter() + seconds, 0
    with step("fitting tables", float(n_fits)) as bar:
        for _ in range(n_fits):
            left = ends - time.perf_counter()
            if left <= 0:
                break
            drawn = np.floor(counts + rng.random(len(counts))).astype(np.int64)
            if in_vain < MOST_IN_VAIN:
                likely = np.log(np.maximum(counts, 1e-4)) + rng.gumbel(size=len(counts))
                found = tables.find(2.0 * (drawn > 0) + PERTURBED * likely, min(left, SECONDS_OF_FIT), drawn)
                # At least one is wanted that fits to the row, since it tells what cannot be proven.
                if (
                    found is None
                    and not exact
                    and (whole := tables.nearest(drawn, left / 2, is_whole=True)) is not None
                ):
                    found = np.rint(whole).astype(np.int64)
                in_vain += found is None
                exact += [] if found is None else [found]
            if in_vain:
                rough = tables.nearest(drawn, min(left, 5 * SECONDS_OF_FIT), is_whole=False)
                near += [] if rough is None else [_whole(np.maximum(rough, 0), rng)]
            bar.advance()
    return [*exact, *near[: n_fits - len(exact)]], len(exact)


def noisy_fits(cells: CountedCells, decays: Floats, n_fits: int, rng: np.random.Generator) -> list[Ints]:
    """Draw tables that may stand behind noisy counts, of as many rows as all of them say together.

    decays: of each line, by what each row more of noise is less likely: e^−ε where one person changes it by one.
    """
    counts = np.rint(cells.low).astype(np.int64)
    expected = np.full(len(counts), max(1.0, float(counts.mean())))
    n_rows = 1.0
    for _ in range(ROUNDS):
        n_rows = _rows_behind(cells, counts, decays, expected)
        found = _fitted(cells, without_noise(counts, decays, expected, rng).astype(float))
        each = independent(cells, found) * n_rows / max(float(found.sum()), NEARLY_NONE)
        expected = np.maximum(cells.lines @ each, NEARLY_NONE)
    fits = []
    with step("fitting tables", float(n_fits)) as bar:
        for _ in range(n_fits):
            found = _fitted(cells, without_noise(counts, decays, expected, rng).astype(float))
            fits.append(_whole(found * n_rows / max(float(found.sum()), NEARLY_NONE), rng))
            bar.advance()
    return fits


def _rows_behind(cells: CountedCells, counts: Ints, decays: Floats, expected: Floats) -> float:
    """Estimate how many rows noisy tables are of: what cutting counts off at 0 has added is taken away.

    A count n with noise of decay a that is cut off is n + aⁿ·a / (1 − a²) on average.
    """
    added = decays**expected * decays / (1 - decays**2) if counts.min() >= 0 else np.zeros(len(counts))
    sums = [float((counts[lines] - added[lines]).sum()) for lines in cells.lines_of_tables]
    return max(1.0, float(np.median(sums)))


def without_noise(counts: Ints, decays: Floats, expected: Floats, rng: np.random.Generator) -> Ints:
    """Draw the counts that may stand behind noisy ones: n has chance proportional to bⁿ·a^|y − n|, b = μ / (1 + μ).

    a is the decay of the noise and μ how many rows are expected of a line that nobody has counted. A count that was cut
    off at 0 is as likely by n rows as one of just 0.
    """
    y, b = np.maximum(counts, 0), expected / (1 + expected)
    ratio = decays / b
    # n = y − m for m = 1 … y has weight ratioᵐ, beside Σ (a·b)ʲ for all n of y or more.
    is_even = np.abs(ratio - 1) < 1e-9
    safe = np.where(is_even, 0.5, ratio)
    logs = np.minimum(y * np.log(safe), 500.0)
    below = np.where(is_even, y, safe * np.expm1(logs) / (safe - 1))
    above = 1 / (1 - decays * b)
    is_below = rng.random(len(y)) * (below + above) < below
    u = rng.random(len(y))
    # The inverse of the sums of ratioᵐ, of the smaller of ratio and 1 / ratio, from the end where most weight lies.
    small = np.where(safe > 1, 1 / safe, safe)
    steps = np.floor(np.log1p(u * np.expm1(y * np.log(small))) / np.log(small))
    steps = np.where(is_even, np.floor(u * y), np.clip(steps, 0, np.maximum(y - 1, 0)))
    less = np.where(safe > 1, y - steps, steps + 1)
    more = np.floor(np.log1p(-u) / np.log(np.maximum(decays * b, 1e-300)))
    return np.where(is_below, y - less, y + more).astype(np.int64)


def independent(cells: CountedCells, counts: Floats) -> Floats:
    """Return what each cell would have if the columns did not depend on each other."""
    total = max(float(counts.sum()), NEARLY_NONE)
    out = np.full(len(cells), total)
    for place in range(len(cells.columns)):
        own = cells.codes[:, place]
        out *= (np.bincount(own, counts) / total)[own]
    return out


def _fitted(cells: CountedCells, counts: Floats) -> Floats:
    start = np.full(len(cells), max(1.0, float(counts.max(initial=1))) / max(1, len(cells)))
    return likeliest(cells.lines, counts, start, SWEEPS_OF_NOISE)


def _whole(counts: Floats, rng: np.random.Generator) -> Ints:
    """Round counts so that each is the next whole number below or above, and they add up as before."""
    ends = np.floor(np.cumsum(counts) + rng.random())
    out: Ints = np.diff(np.concatenate([[0.0], ends])).astype(np.int64)
    return np.maximum(out, 0)


def chance_of_match(expected: Floats, rows: Ints) -> float:
    """Return how many of some rows are matched on average by rows drawn with these expectations: Σ E min(X, m).

    X is a Poisson number, and E min(X, m) the sum of the chances that it is 1 or more, 2 or more, … m or more.

    >>> round(chance_of_match(np.array([math.log(2)]), np.array([1])), 3)  # Drawn at least once half of the time.
    0.5
    """
    total = 0.0
    for mean, m in zip(expected.tolist(), rows.tolist(), strict=True):
        chance, at_least, own = math.exp(-mean), 1.0, 0.0
        for drawn in range(min(m, MOST_ALIKE)):
            at_least -= chance
            if at_least < 1e-12:
                break
            own += at_least
            chance *= mean / (drawn + 1)
        # Beyond, chances are too small to be told from none.
        total += min(own, mean, m)
    return total
