"""The contest's sample attacks I1 to I3 and T1 to T3, and one of ours.

The first draw from NumPy's old generator in the order in which the contest's programs did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tokumei.contest.editions.pwscup2019.files import (
    N_CELLS,
    SIDE,
    SLOTS_A_DAY,
    Floats,
    Ints,
    Released,
    Traces,
)
from tokumei.contest.editions.pwscup2019.players import Stream

Bools = npt.NDArray[np.bool_]
# The probability of a cell where a user was never seen.
UNSEEN = 1e-8
# Of a list so many cells are looked at.
MOST_LOOKED_AT = 10


def visit_shares(reference: Traces, slots: Bools | None = None) -> Floats:
    """Return how often each user was in each cell, as a share; a very small one where never."""
    cells = reference.cells if slots is None else reference.cells[:, slots]
    counts = np.zeros((reference.n_users, N_CELLS))
    np.add.at(counts, (np.arange(reference.n_users)[:, None], cells), 1)
    return np.where(counts > 0, counts / cells.shape[1], UNSEEN)


def likelihoods(released: Released, shares: Floats, is_used: Bools, stream: Stream) -> Floats:
    """Return the log-likelihood of each pseudonym's cells by each user's habits, slot by slot.

    Of a list at most ten cells are looked at, in an order of chance, and the mean of their shares counts.
    """
    n = len(shares)
    found, logs, counts = np.zeros((n, n)), np.log(shares), released.counts.reshape(n, -1)
    starts, by_cell = released.starts[:-1].reshape(n, -1), np.ascontiguousarray(logs.T)
    lists: dict[tuple[int, int], Ints] = {}
    for place, slot in np.argwhere(is_used & (counts > 1)).tolist():
        cells = released.of(place * released.n_slots + slot).copy()
        stream.shuffle(cells)
        lists[place, slot] = cells[:MOST_LOOKED_AT]
    for slot in range(released.n_slots):
        single = np.flatnonzero(is_used[:, slot] & (counts[:, slot] == 1))
        found[single] += by_cell[released.cells[starts[single, slot]]]
        for place in np.flatnonzero(is_used[:, slot] & (counts[:, slot] > 1)).tolist():
            cells = lists[place, slot]
            found[place] += np.log(sum(shares[:, cell] for cell in cells.tolist()) / len(cells))
    return found


def at_eight(n_slots: int) -> Bools:
    """Mark the slots of the first hour of each day."""
    found: Bools = np.arange(n_slots) % SLOTS_A_DAY < 2
    return found


def a_tenth_of(n_users: int, n_slots: int, stream: Stream) -> Bools:
    """Draw a tenth of all rows, as I2 and T2 look at."""
    found: Bools = (stream.random_sample(n_users * n_slots) < 0.1).reshape(n_users, n_slots)
    return found


def likeliest(scores: Floats) -> Ints:
    """Name the likeliest user for each pseudonym; one user may be named twice."""
    found: Ints = scores.argmax(axis=1)
    return found


def likeliest_once(scores: Floats) -> Ints:
    """Name users one pseudonym after the other, each the likeliest that is left."""
    left, named = scores.copy(), np.empty(len(scores), np.int64)
    for place in range(len(left)):
        named[place] = left[place].argmax()
        left[:, named[place]] = -np.finfo(float).max
    return named


def best_pairs(scores: Floats) -> Ints:
    """Name each user once so that the whole is the likeliest."""
    from scipy.optimize import linear_sum_assignment

    found: Ints = linear_sum_assignment(scores, maximize=True)[1]
    return found


def traces_of(released: Released, named: Ints, stream: Stream) -> Ints:
    """Give each named user the cells of its pseudonym; of several, or of none, any."""
    counts, cells = released.counts, np.empty(len(released.counts), np.int64)
    cells[counts == 1] = released.cells[released.starts[:-1][counts == 1]]
    for row in np.flatnonzero(counts != 1).tolist():
        known = released.of(row).copy() if counts[row] else np.arange(N_CELLS)
        stream.shuffle(known)
        cells[row] = known[0]
    return cells.reshape(len(named), -1)[np.argsort(named)]


def random_users(n_users: int, stream: Stream) -> Ints:
    """I1: any order of users."""
    found = np.arange(n_users)
    stream.shuffle(found)
    return found


def random_cells(n_users: int, n_slots: int, stream: Stream) -> Ints:
    """T1: any cell."""
    found: Ints = (stream.random_sample(n_users * n_slots) * N_CELLS).astype(np.int64).reshape(n_users, n_slots)
    return found


def by_habits(released: Released, reference: Traces) -> Floats:
    """Return the log-likelihood of each pseudonym's cells by what each user does at that time of day.

    Ours: a user is where they were near that time, where they ever were, near there, or where anybody is. Of a list
    the mean over all its cells counts.
    """
    n, by_time = reference.n_users, reference.cells.reshape(reference.n_users, -1, SLOTS_A_DAY)
    everywhere = _shares_of(reference.cells)
    squares = np.pad(everywhere.reshape(n, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    near = sum(squares[:, y : y + SIDE, x : x + SIDE] for y in range(3) for x in range(3)) / 9
    popular = np.bincount(reference.cells.ravel(), minlength=N_CELLS) + 1.0
    base: Floats = 0.15 * everywhere + 0.15 * np.reshape(near, (n, N_CELLS)) + 0.4 * popular / popular.sum()
    found, counts = np.zeros((n, n)), released.counts.reshape(n, -1)
    for time in range(SLOTS_A_DAY):
        around = by_time[:, :, max(0, time - 1) : time + 2].reshape(n, -1)
        habits = np.ascontiguousarray((base + 0.3 * _shares_of(around)).T)
        for slot in range(time, released.n_slots, SLOTS_A_DAY):
            known = np.flatnonzero(counts[:, slot])
            told = [released.of(place * released.n_slots + slot) for place in known.tolist()]
            size = np.array([len(one) for one in told])
            sums = np.add.reduceat(habits[np.concatenate(told)], np.cumsum(size) - size) if len(known) else 0.0
            found[known] += np.log(sums / size[:, None])
    return found


def _shares_of(cells: Ints) -> Floats:
    counts = np.zeros((len(cells), N_CELLS))
    np.add.at(counts, (np.arange(len(cells))[:, None], cells), 1)
    found: Floats = counts / cells.shape[1]
    return found


# Whom an attack names, and the cells that follow from that when they are asked for.
Guessed = tuple[Ints, Callable[[], Ints]]


class Attack(Protocol):
    """Names the user of each pseudonym, each once where traces are asked for."""

    def __call__(self, released: Released, reference: Traces, stream: Stream, *, is_once: bool) -> Guessed:
        """Guess by released traces and by earlier ones."""


def at_random(released: Released, reference: Traces, stream: Stream, *, is_once: bool) -> Guessed:  # noqa: ARG001
    """I1 and T1."""
    users = random_users(reference.n_users, stream)
    return users, lambda: random_cells(reference.n_users, released.n_slots, stream)


def by_a_tenth(released: Released, reference: Traces, stream: Stream, *, is_once: bool) -> Guessed:
    """I2 and T2: by a tenth of the rows."""
    used = a_tenth_of(reference.n_users, released.n_slots, stream)
    scores = likelihoods(released, visit_shares(reference), used, stream)
    users = likeliest_once(scores) if is_once else likeliest(scores)
    return users, lambda: traces_of(released, users, stream)


def by_first_hour(released: Released, reference: Traces, stream: Stream, *, is_once: bool) -> Guessed:
    """I3 and T3: by the first hour of each day."""
    slots = at_eight(released.n_slots)
    used = np.broadcast_to(slots, (reference.n_users, released.n_slots))
    scores = likelihoods(released, visit_shares(reference, slots), used, stream)
    users = likeliest_once(scores) if is_once else likeliest(scores)
    return users, lambda: traces_of(released, users, stream)


def by_all_habits(released: Released, reference: Traces, stream: Stream, *, is_once: bool) -> Guessed:  # noqa: ARG001
    """Ours: by what users do at each time of day, the pairs that are likeliest together."""
    users = best_pairs(by_habits(released, reference))
    return users, lambda: traces_of(released, users, stream)


ATTACKS: Mapping[str, Attack] = {
    "random": at_random,
    "tenth": by_a_tenth,
    "first-hour": by_first_hour,
    "habits": by_all_habits,
}
