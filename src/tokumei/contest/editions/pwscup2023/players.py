"""The built-in anonymizers and attacks of PWSCUP 2023."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from tokumei.contest.editions.pwscup2023.files import N_SECRET, STAR, ZERO, Cells, as_lines
from tokumei.contest.editions.pwscup2023.stream import Digits
from tokumei.core.seeds import generator

Ints = npt.NDArray[np.int64]
# Rows that get one public part; larger groups hide more and keep less.
GROUP = 32
# Agreement in fewer public cells than this is chance.
LEAST_AGREEING = 5


def sample_anonymizer(cells: Cells, _n_public: int, seed: int) -> Cells:
    """Replace each cell in one of ten cases by a digit or a star, all eleven equally likely: the contest's sample."""
    rng = generator(seed, "cells")
    drawn = np.frombuffer(b"0123456789*", np.uint8)[rng.integers(0, 11, cells.shape)]
    return np.where(rng.integers(0, 10, cells.shape) == 0, drawn, cells).astype(np.uint8)


def equal_public(cells: Cells, n_public: int, _seed: int) -> Cells:
    """Give groups of like rows one public part, the most frequent digit of each column; secret cells stay.

    Rows are sorted by their public part, so that those of a group agree in the first columns. Whoever finds the group
    of a row does not learn which of its secret parts is the row's.
    """
    found, order = cells.copy(), np.argsort(as_lines(cells[:, :n_public]), kind="stable")
    for start in range(0, len(order), GROUP):
        rows = order[start : start + GROUP]
        for column in range(n_public):
            found[rows, column] = np.bincount(cells[rows, column]).argmax()
    return found


ANONYMIZERS = {"random-cells": sample_anonymizer, "equal-public": equal_public}


def sort_attack(public: Digits, published: Cells, seed: int) -> Digits:
    """Give the rows of P, sorted, the secret part of the same line of B: the contest's sample."""
    n_public = public.shape[1]
    order = np.argsort(as_lines(public + np.uint8(ZERO)), kind="stable")
    guess = np.empty((len(public), N_SECRET), np.uint8)
    guess[order] = _digits(published[:, n_public:], generator(seed, "stars"))
    return guess


def sort_votes(public: Digits, published: Cells, seed: int) -> Digits:
    """As the sort attack, but each row gets the most frequent secret digits of all lines with its line's public part.

    Where lines were made alike, that beats any one of them.
    """
    n_public = public.shape[1]
    _, groups = np.unique(as_lines(published[:, :n_public]), return_inverse=True)
    secret = published[:, n_public:].astype(np.int64) - ZERO
    counts = _counts(groups, secret, int(groups.max()) + 1)
    guess = np.empty((len(public), N_SECRET), np.uint8)
    guess[np.argsort(as_lines(public + np.uint8(ZERO)), kind="stable")] = _most_frequent(counts, seed)[groups]
    return guess


def nearest_rows(public: Digits, published: Cells, seed: int) -> Digits:
    """Give each row of P the most frequent secret digits of the lines of B that agree with it in most public cells.

    A line and a row that found each other, and no others, are settled: the line is no longer there for further rows.
    """
    n_public = public.shape[1]
    search = _Search(public, published)
    for n_agreeing in range(n_public, min(LEAST_AGREEING, n_public) - 1, -1):
        for columns in combinations(range(n_public), n_agreeing):
            search.meet(columns)
        search.settle()
        if not len(search.waiting):
            break
    return _most_frequent(search.votes, seed)


ATTACKS = {"sort": sort_attack, "sort-votes": sort_votes, "nearest-rows": nearest_rows}


class _Search:
    """Rows of P that wait for lines of B that agree with them, fewer columns each round."""

    def __init__(self, public: Digits, published: Cells) -> None:
        self.public, self.n = public.astype(np.int64), len(public)
        self.lines = published.astype(np.int64) - ZERO
        self.secret = self.lines[:, public.shape[1] :]
        self.votes = np.zeros((self.n, N_SECRET, 10), np.int32)
        self.waiting, self.is_free = np.arange(self.n), np.ones(len(published), bool)
        self._begin()

    def _begin(self) -> None:
        self.n_lines, self.sum_of_lines = np.zeros(self.n, np.int64), np.zeros(self.n, np.int64)
        self.n_rows = np.zeros(len(self.lines), np.int64)

    def meet(self, columns: tuple[int, ...]) -> None:
        """Add the secret digits of all lines that agree with a waiting row in some columns.

        No line agrees in more, else the row would not wait; so each is met in one choice of columns alone.
        """
        # A star is -6 here, no digit.
        known = np.flatnonzero(self.is_free & (self.lines[:, columns] >= 0).all(axis=1))
        theirs, ours = _numbers(self.lines[known][:, columns]), _numbers(self.public[self.waiting][:, columns])
        keys, groups, n_ours = np.unique(ours, return_inverse=True, return_counts=True)
        place = np.minimum(np.searchsorted(keys, theirs), len(keys) - 1)
        is_met = keys[place] == theirs
        lines, met = known[is_met], place[is_met]
        if not len(lines):
            return
        self.votes[self.waiting] += _counts(met, self.secret[lines], len(keys))[groups]
        self.n_lines[self.waiting] += np.bincount(met, minlength=len(keys))[groups]
        self.sum_of_lines[self.waiting] += np.bincount(met, lines, minlength=len(keys))[groups].astype(np.int64)
        self.n_rows[lines] += n_ours[met]

    def settle(self) -> None:
        """End a round: rows that met lines wait no more, and lines that one row alone met are taken."""
        alone = self.waiting[self.n_lines[self.waiting] == 1]
        taken = self.sum_of_lines[alone]
        self.is_free[taken[self.n_rows[taken] == 1]] = False
        self.waiting = self.waiting[self.n_lines[self.waiting] == 0]
        self._begin()


def _counts(groups: Ints, secret: Ints, n_groups: int) -> npt.NDArray[np.int32]:
    """Count each digit of each secret column by group; stars are not counted."""
    place = (groups[:, None] * N_SECRET + np.arange(N_SECRET)) * 10 + secret
    found = np.bincount(place[secret >= 0], minlength=n_groups * N_SECRET * 10).astype(np.int32)
    return found.reshape(n_groups, N_SECRET, 10)


def _most_frequent(counts: npt.NDArray[np.int32], seed: int) -> Digits:
    """Return the most frequent digit of each column; of equally frequent ones any."""
    chance = generator(seed, "ties").random(counts.shape, dtype=np.float32)
    found: Digits = (counts + 0.5 * chance).argmax(axis=2).astype(np.uint8)
    return found


def _numbers(digits: Ints) -> Ints:
    found: Ints = digits @ (10 ** np.arange(digits.shape[1], dtype=np.int64))
    return found


def _digits(cells: Cells, rng: np.random.Generator) -> Digits:
    """Read cells as digits; a star becomes any."""
    found: Digits = np.where(cells == STAR, rng.integers(0, 10, cells.shape), cells - ZERO).astype(np.uint8)
    return found
