"""Made-up traces, and the contest's sample anonymizers A1 to A5.

They draw from NumPy's old generator in the order in which the contest's programs did, so that equal seeds give equal
files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tokumei.contest.editions.pwscup2019.files import (
    HEIGHT,
    KM_EAST,
    KM_NORTH,
    N_CELLS,
    SIDE,
    SLOTS_A_DAY,
    SOUTH,
    WEST,
    WIDTH,
    Ints,
    Released,
    Traces,
    latitudes,
    longitudes,
)

Stream = np.random.RandomState


def make_traces(n_users: int, n_slots: int, seed: int) -> tuple[Traces, Traces]:
    """Make up users who stay, go to one of a few places of theirs, or stray near where they are: two equal halves."""
    rng = np.random.default_rng(seed)
    n_places = 6
    home = rng.integers(0, N_CELLS, n_users)
    # Most people's places are near the middle of town; shares of a user's time fall quickly.
    middle = np.clip(rng.normal(SIDE / 2, 5, (n_users, n_places, 2)), 0, SIDE - 1).astype(np.int64)
    places = middle[..., 0] * SIDE + middle[..., 1]
    places[:, 0] = home
    shares = rng.dirichlet([1.5, 1.2, 0.6, 0.4, 0.3, 0.2], n_users).cumsum(axis=1)
    users, cells, now = np.arange(n_users), [], home
    for slot in range(2 * n_slots):
        chosen = places[users, (rng.random((n_users, 1)) > shares[:, :-1]).sum(axis=1)]
        y, x = np.divmod(now, SIDE)
        near = np.clip(y + rng.integers(-1, 2, n_users), 0, SIDE - 1) * SIDE + np.clip(
            x + rng.integers(-1, 2, n_users), 0, SIDE - 1
        )
        luck = rng.random(n_users)
        # A day begins at home for most.
        stay = 0.7 if slot % SLOTS_A_DAY else 0.0
        now = np.where(luck < stay, now, np.where(luck < 0.93, chosen, near))
        cells.append(now)
    both = np.stack(cells, axis=1)
    return Traces(both[:, :n_slots], 1), Traces(both[:, n_slots:], n_slots + 1)


def keep(traces: Traces, _stream: Stream) -> Released:
    """A1: tell each cell as it is."""
    return Released.single(traces)


def merge_and_delete(
    traces: Traces, stream: Stream, *, bits: tuple[int, int] = (1, 1), deleted: float = 0.0
) -> Released:
    """A2: delete some cells, and tell for each other one all cells of its block, whose sides are powers of 2."""
    true = traces.cells.ravel()
    is_deleted = stream.random_sample(len(true)) < deleted
    rows, columns = np.divmod(np.arange(N_CELLS), SIDE)
    block = (rows >> bits[1]) * SIDE + (columns >> bits[0])
    members = np.argsort(block, kind="stable")
    size = (1 << bits[0]) * (1 << bits[1])
    by_block = {int(block[chunk[0]]): chunk for chunk in members.reshape(-1, size)}
    lists = np.stack([by_block[int(one)] for one in block])
    counts = np.where(is_deleted, 0, size)
    return Released(lists[true[~is_deleted]].ravel(), np.concatenate([[0], np.cumsum(counts)]), traces.n_slots)


def randomize(traces: Traces, stream: Stream, *, eps: float = 8.0) -> Released:
    """A3, randomized response among all cells: keep each, or tell any other, at odds of e^ε to 1."""
    whole = N_CELLS - 1 + np.exp(eps)
    keeps, moves = np.exp(eps) / whole, 1 / whole
    true = traces.cells.ravel()
    drawn = stream.random_sample(len(true))
    other = ((drawn - keeps) / moves).astype(np.int64)
    cells = np.where(drawn < keeps, true, np.where(other < true, other, other + 1))
    return Released.single(Traces(np.minimum(cells, N_CELLS - 1).reshape(traces.cells.shape)))


def planar_laplace(traces: Traces, stream: Stream, *, eps: float = 4.0) -> Released:
    """A4: move each place in any direction, by planar Laplace noise of ε a kilometer."""
    from scipy.special import lambertw

    true = traces.cells.ravel()
    drawn = stream.random_sample(2 * len(true)).reshape(-1, 2)
    angle = 2 * np.pi * drawn[:, 0]
    radius = -(lambertw((drawn[:, 1] - 1) / np.e, -1).real + 1) / eps
    y = latitudes()[true // SIDE] + radius * np.sin(angle) / KM_NORTH
    x = longitudes()[true % SIDE] + radius * np.cos(angle) / KM_EAST
    # Truncated toward 0 before it is clipped, as the contest's program does.
    row, column = ((y - SOUTH) / HEIGHT).astype(np.int64), ((x - WEST) / WIDTH).astype(np.int64)
    cells = np.clip(row, 0, SIDE - 1) * SIDE + np.clip(column, 0, SIDE - 1)
    return Released.single(Traces(cells.reshape(traces.cells.shape)))


def exchange(traces: Traces, stream: Stream, *, share: float = 0.2) -> Released:
    """A5: the first users exchange whole traces among each other."""
    order = np.arange(int(traces.n_users * share))
    stream.shuffle(order)
    cells = traces.cells.copy()
    cells[order] = traces.cells[: len(order)]
    return Released.single(Traces(cells))


ANONYMIZERS: Mapping[str, Callable[[Traces, Stream], Released]] = {
    "none": keep,
    "merge-cells": merge_and_delete,
    "randomized-response": randomize,
    "planar-laplace": planar_laplace,
    "exchange-traces": exchange,
}


def shuffled_users(n_users: int, stream: Stream) -> Ints:
    """Draw which user stands behind each pseudonym."""
    drawn = np.arange(n_users)
    stream.shuffle(drawn)
    return np.argsort(drawn)
