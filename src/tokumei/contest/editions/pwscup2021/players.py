"""The built-in anonymizers and attacks of PWSCUP 2021."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from tokumei.contest.editions import nhanes
from tokumei.contest.record_matching import Floats, in_order, likely, nearest, one_hot
from tokumei.contest.tables import Ints
from tokumei.core.seeds import generator
from tokumei.measures.table.logistic import fit_logistic

N_GUESSES, OUT = 3, -1
# What each number of use may come to.
LIMITS = {"uniqrt": 0.5, "rate": 0.05, "OR": 0.1, "cor": 0.1, "iloss": 4.0}
# Exchanges that are tried, of which the one that moves least is released.
N_TRIED = 6


def without(people: pl.DataFrame, out: Ints) -> pl.DataFrame:
    """Return the people who are not left out, in their order."""
    return people[np.setdiff1d(np.arange(people.height), out)]


def unique_rows(people: pl.DataFrame) -> pl.Series:
    """Mark the rows like which there is no other, by the columns that explain diabetes and in tens of numbers."""
    rounded = (pl.Series(name, np.round(people[name].to_numpy(), -1)) for name in nhanes.BINS)
    return people.with_columns(rounded).select(nhanes.EXPLAINING).is_unique()


def use_of(people: pl.DataFrame, kept: pl.DataFrame, changed: pl.DataFrame) -> dict[str, float]:
    """Return the five numbers that have a limit."""
    moved = nhanes.shifts(people, changed)
    cells = nhanes.cell_shifts(kept, changed)
    found = {name: moved[name].worst for name in ("rate", "OR", "cor")}
    return {
        "uniqrt": int(unique_rows(kept).sum()) / people.height,
        **found,
        "iloss": max(float(off.max()) for off in cells.values()),
    }


def beyond(found: Mapping[str, float]) -> float:
    """Return the largest of the numbers as a share of its limit."""
    return max(found[name] / limit for name, limit in LIMITS.items())


def delete_and_noise(people: pl.DataFrame, seed: int) -> tuple[Ints, pl.DataFrame]:
    """Leave out the old, the heavy, the light and rare ones; change one value in ten and add noise: the sample."""
    age, bmi = people["age"].to_numpy(), people["bmi"].to_numpy()
    is_rare = people.select(pl.len().over("race", "edu", "mar") < 7).to_series().to_numpy()
    is_out = (age > 75) | (bmi > 50) | (age < 22) | (bmi < 20) | is_rare
    # More than half stay, whoever is asked.
    out = np.flatnonzero(is_out)[: (people.height - 1) // 2]
    return out, nhanes.noised(without(people, out), 0.9, {"age": 1.0, "bmi": 0.5}, seed)


def exchange_groups(people: pl.DataFrame, seed: int) -> tuple[Ints, pl.DataFrame]:
    """Leave out unique people so that the regression stays, and exchange cells among those of a group."""
    moves = _moves(people)
    left = generator(seed, "left out").permutation(np.flatnonzero(unique_rows(people).to_numpy()))
    n_out = min(max(0, len(left) - int(LIMITS["uniqrt"] * people.height)), (people.height - 1) // 2)
    out, moved = [], np.zeros(moves.shape[1])
    # One after the other, each the one that brings all numbers nearest to where they were.
    for _ in range(n_out):
        place = np.abs(moved + moves[left]).max(axis=1).argmin()
        out.append(left[place])
        moved += moves[left[place]]
        left = np.delete(left, place)
    rows = np.sort(np.array(out, np.int64))
    kept, rng = without(people, rows), generator(seed, "tried")
    tried = [
        nhanes.exchanged_in_groups(kept, {"age": 4, "bmi": 4}, 1, int(rng.integers(2**62))) for _ in range(N_TRIED)
    ]
    return rows, min(tried, key=lambda changed: beyond(use_of(people, kept, changed)))


def _moves(people: pl.DataFrame) -> Floats:
    """Return how leaving out each row moves odds ratios, and shares of values, as parts of their limits."""
    columns = np.column_stack(list(nhanes.explaining_columns(people).values()))
    has_diabetes = people["dia"].to_numpy()
    odds = fit_logistic(columns, has_diabetes).influences(columns, has_diabetes)
    values = one_hot(people.select(list(nhanes.CATEGORIES)))[0]
    shares = np.hstack([values * has_diabetes[:, None], values * (1 - has_diabetes[:, None])])
    return np.hstack([odds / LIMITS["OR"], (shares.mean(axis=0) - shares) / people.height / LIMITS["rate"]])


def nearest_rows(_people: pl.DataFrame, asked: pl.DataFrame, changed: pl.DataFrame) -> Ints:
    """Return the three nearest rows of each person, and -1 for the half whose nearest is further: the sample."""
    theirs, ours = (frame.drop("gh", "mets") for frame in (changed, asked))
    distance, rows = nearest(theirs, ours, N_GUESSES)
    return np.where(distance[:, :1] > np.median(distance[:, 0]), OUT, rows)


def likely_rows(_people: pl.DataFrame, asked: pl.DataFrame, changed: pl.DataFrame) -> Ints:
    """Return the three likeliest rows of each person, in any order, and -1 for the half that none is likely for."""
    told = likely(changed, asked)
    rows = np.argsort(-told, axis=1, kind="stable")[:, :N_GUESSES]
    best = told.max(axis=1, keepdims=True)
    return np.where(best < np.median(best), OUT, rows)


def in_their_order(people: pl.DataFrame, asked: pl.DataFrame, changed: pl.DataFrame) -> Ints:
    """Go through B and D in their order: of all ways to match them the likeliest. Beside a row stand its neighbors."""
    person_of = in_order(likely(people, changed))
    row_of = np.full(people.height, OUT)
    row_of[person_of] = np.arange(changed.height)
    places = _places(people, asked)
    rows = row_of[places][:, None] + np.array([0, 1, -1])
    return np.where(row_of[places][:, None] == OUT, OUT, rows.clip(0, changed.height - 1))


def _places(people: pl.DataFrame, some: pl.DataFrame) -> list[int]:
    """Find the rows of B that the people are: of like ones each another."""
    places: dict[tuple[object, ...], list[int]] = {}
    for place, one in reversed(list(enumerate(people.iter_rows()))):
        places.setdefault(one, []).append(place)
    return [places[one].pop() for one in some.iter_rows()]


ANONYMIZERS = {"delete-and-noise": delete_and_noise, "exchange-groups": exchange_groups}
ATTACKS = {"nearest-rows": nearest_rows, "likely-rows": likely_rows, "in-order": in_their_order}
