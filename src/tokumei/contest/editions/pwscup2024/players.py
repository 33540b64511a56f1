"""The built-in anonymizers and attacks of PWSCUP 2024."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.contest.editions.pwscup2024.files import ATTRIBUTES, FILMS, N_RATINGS, SUBSETS, cells_of
from tokumei.contest.record_matching import Floats, one_each
from tokumei.contest.tables import Ints
from tokumei.core.seeds import generator

N_SWAPS = 1000
# From which released file the sample attack takes each column; the files are joined row by row.
TAKEN = (
    ("Gender", "Age", "3877", "3889"),
    ("Occupation", "ZIP-code", "653", "3489"),
    ("673", "1881", "2138"),
    ("2", "56", "1009", "1525", "1967", "2043", "2399", "3438", "3439", "3440"),
    ("810", "1126", "1702", "2253", "3393", "3466"),
    ("885", "1654", "2086"),
    ("2143", "2872", "3479"),
    ("1750", "2021", "2093"),
    ("247", "1920", "2017", "2087"),
    ("260", "1073", "1097", "2100", "2105", "2174", "2193", "2628", "2797", "2968"),
)
# What stands for a hidden rating.
HIDDEN = -1
# Shares of cells that may have been drawn anew.
CHANGED = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97)
Guess = tuple[Ints, Ints]


def shuffle_groups(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Shuffle each column from the fifth on among people of one gender and age, and swap 1,000 cells: the sample.

    From equal seeds of Python's and NumPy's older generators it is the same as the contest's.
    """
    stream, other = np.random.RandomState(seed % 2**32), random.Random(seed % 2**32)  # noqa: S311
    frame = people.select(name for name in people.columns if name != "Name")
    columns = {name: frame[name].to_numpy().copy() for name in frame.columns}
    groups = frame.with_row_index("row").group_by("Gender", "Age").agg("row").sort("Gender", "Age")
    for rows in groups["row"].to_list():
        for name in frame.columns[4:]:
            columns[name][rows] = stream.permutation(columns[name][rows])
    for _ in range(N_SWAPS):
        cells = columns[other.choice(frame.columns)]
        one, two = stream.choice(np.arange(frame.height), 2, replace=False)
        cells[[one, two]] = cells[[two, one]]
    return pl.DataFrame(columns, schema=frame.schema)


def shuffle_places(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Shuffle each column but the place among people of one place, and then all rows.

    Counts by place, which are the most delicate, stay as they are; films are no longer one person's.
    """
    rng = generator(seed, "places")
    frame = people.select(name for name in people.columns if name != "Name")
    columns = {name: frame[name].to_numpy().copy() for name in frame.columns}
    for rows in frame.with_row_index("row").group_by("ZIP-code", maintain_order=True).agg("row")["row"].to_list():
        for name in SHUFFLED:
            if name in columns:
                columns[name][rows] = rng.permutation(columns[name][rows])
    return pl.DataFrame(columns, schema=frame.schema)[rng.permutation(frame.height)]


SHUFFLED = ("Gender", "Age", "Occupation", *FILMS)
ANONYMIZERS: Mapping[str, Callable[[pl.DataFrame, int], pl.DataFrame]] = {
    "shuffle-groups": shuffle_groups,
    "shuffle-places": shuffle_places,
}


def joined_rows(people: pl.DataFrame, ratings: Ints, released: Sequence[pl.DataFrame]) -> Guess:
    """Join the rows of all files as they stand, and take the pair with the nearest of them: the sample."""
    cells = [cells_of(frame) for frame in released]
    table = {name: cells[number][name] for number, names in enumerate(TAKEN) for name in names}
    known = cells_of(people)
    of_people = _distances([known[name] for name in ATTRIBUTES], [table[name] for name in ATTRIBUTES])
    of_ratings = _distances(list(ratings.T), [table[name] for name in FILMS])
    index, told = [], []
    for row, hidden in zip(of_ratings, (ratings == HIDDEN).argmax(axis=1), strict=True):
        apart = of_people + row
        index.append(int(apart.min(axis=1).argmin()))
        told.append(int(table[FILMS[hidden]][apart[index[-1]].argmin()]))
    return np.array(index), np.array(told)


def _distances(ours: Sequence[Ints], theirs: Sequence[Ints]) -> npt.NDArray[np.int16]:
    """Count the cells in which our rows and theirs differ."""
    found = np.zeros((len(ours[0]), len(theirs[0])), np.int16)
    for one, other in zip(ours, theirs, strict=True):
        found += one[:, None] != other
    return found


def likely_pairs(people: pl.DataFrame, ratings: Ints, released: Sequence[pl.DataFrame]) -> Guess:
    """Take the likeliest way to pair all people and ratings, and then the likeliest rating, by each file for itself.

    A cell of a row was left alone or drawn anew; how often is what makes the ratings likeliest.
    """
    known, place = cells_of(people), {name: number for number, name in enumerate(FILMS)}
    told = np.zeros((len(ratings), people.height))
    rows: list[tuple[Floats, dict[str, Ints]]] = []
    for number, frame in enumerate(released):
        cells = cells_of(frame)
        ours = [ratings[:, place[name]] for name in SUBSETS[number]]
        of_ratings, share = _best_likelihood(ours, [cells[name] for name in SUBSETS[number]])
        of_people = _likelihood([known[name] for name in ATTRIBUTES], [cells[name] for name in ATTRIBUTES], share)
        chances = np.exp(of_ratings - of_ratings.max(axis=1, keepdims=True))
        told += np.log((chances / chances.sum(axis=1, keepdims=True)) @ np.exp(of_people).T + 1e-300)
        rows.append((of_people, cells | {"": chances}))
    index = one_each(told.astype(np.float32))
    guessed = [
        _likeliest(FILMS[hidden], row, int(person), rows)
        for row, (hidden, person) in enumerate(zip((ratings == HIDDEN).argmax(axis=1), index, strict=True))
    ]
    return index, np.array(guessed)


def _likeliest(film: str, row: int, person: int, rows: Sequence[tuple[Floats, dict[str, Ints]]]) -> int:
    """Return the likeliest rating of a film, by all files that have it."""
    told = np.zeros(N_RATINGS)
    for of_people, cells in rows:
        if film in cells:
            weights = cells[""][row] * np.exp(of_people[person])
            counts = np.bincount(cells[film], weights, N_RATINGS) / weights.sum()
            told += np.log(counts + 0.01)
    return int(told.argmax())


def _best_likelihood(ours: Sequence[Ints], theirs: Sequence[Ints]) -> tuple[Floats, float]:
    """Return the likelihood of each pair for the share of changed cells that makes ours likeliest among theirs."""
    tried = [(_likelihood(ours, theirs, share), share) for share in CHANGED]
    return max(tried, key=lambda one: float(np.log(np.exp(one[0]).mean(axis=1)).sum()))


def _likelihood(ours: Sequence[Ints], theirs: Sequence[Ints], changed: float) -> Floats:
    """How much likelier rows are each other's than anybody's, where a share of the cells was drawn anew."""
    found = np.zeros((len(ours[0]), len(theirs[0])))
    for one, other in zip(ours, theirs, strict=True):
        shares = np.bincount(other, minlength=int(max(one.max(), other.max())) + 1) / len(other)
        alike = np.log(changed + (1 - changed) / np.maximum(shares[one], 1 / len(other)))[:, None]
        # A hidden cell says nothing.
        found += np.where((one == HIDDEN)[:, None], 0.0, np.where(one[:, None] == other, alike, np.log(changed)))
    return found


ATTACKS: Mapping[str, Callable[[pl.DataFrame, Ints, Sequence[pl.DataFrame]], Guess]] = {
    "joined-rows": joined_rows,
    "likely-pairs": likely_pairs,
}
