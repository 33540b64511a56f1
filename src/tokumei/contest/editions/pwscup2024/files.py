"""The columns of PWSCUP 2024, its ten subsets of them, made-up ratings, and what use a subset has left.

Files have a header. B has a name, four attributes and the ratings of 46 films, 0 where somebody has not seen one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.contest.tables import Ints, number_in
from tokumei.core.seeds import generator
from tokumei.data.files.strict import TEXT, ColumnType, one_of

ATTRIBUTES = ("Gender", "Age", "Occupation", "ZIP-code")
FILMS = (
    *("2", "56", "247", "260", "653", "673", "810", "885", "1009", "1073", "1097", "1126", "1525", "1654", "1702"),
    *("1750", "1881", "1920", "1967", "2017", "2021", "2043", "2086", "2087", "2093", "2100", "2105", "2138", "2143"),
    *("2174", "2193", "2253", "2399", "2628", "2797", "2872", "2968", "3393", "3438", "3439", "3440", "3466", "3479"),
    *("3489", "3877", "3889"),
)
AGES = (1, 18, 25, 35, 45, 50, 56)
N_OCCUPATIONS, N_RATINGS = 21, 6
# Films of each subset in their order; the attributes come before.
SUBSETS = tuple(
    tuple(films.split())
    for films in (
        "260 653 1525 2105 2193 2253 2628 2872 3438 3439 3440 3877 3889",
        "2 56 260 653 673 1009 1073 1525 1750 1881 1967 2043 2093 2105 2143 2193 2399 2628 2968 3479 3489 3877 3889",
        "673 1881 1920 2087 2138",
        "2 56 673 810 885 1009 1073 1097 1525 1654 1702 1750 1881 1920 1967 2017 2043 2087 2093 2138 2399 3438 3439 "
        "3440",
        "673 810 1073 1126 1702 2100 2174 2253 2797 3393 3466",
        "247 885 1097 1654 2086 2138 2872",
        "247 2100 2143 2872 3479",
        "260 1097 1750 2021 2093 2105 2628 2968",
        "247 1920 2017 2087",
        "260 1097 2628 2174 2797 1073 2100 2968 2105 2193",
    )
)
RELEASED = tuple(f"C_{number}" for number in range(len(SUBSETS)))
KINDS: Mapping[str, ColumnType] = {
    "Name": TEXT,
    "Gender": one_of("F", "M"),
    "Age": number_in(1, 56, whole=True),
    "Occupation": number_in(0, N_OCCUPATIONS - 1, whole=True),
    "ZIP-code": number_in(0, 999, whole=True),
    **dict.fromkeys(FILMS, number_in(0, N_RATINGS - 1, whole=True)),
}
OWN = ("Name", *ATTRIBUTES, *FILMS)


def columns_of(number: int) -> tuple[str, ...]:
    """Name the columns of a subset."""
    return (*ATTRIBUTES, *SUBSETS[number])


def subset(people: pl.DataFrame, number: int) -> pl.DataFrame:
    """Take the columns of a subset."""
    return people.select(columns_of(number))


def make_people(n: int, seed: int) -> pl.DataFrame:
    """Make up people who like films of a kind alike; whom they like depends on who they are, and where."""
    rng = generator(seed, "people")
    gender, age = rng.random(n) < 0.71, rng.choice(len(AGES), n, p=[0.04, 0.18, 0.35, 0.2, 0.09, 0.08, 0.06])
    occupation = rng.choice(N_OCCUPATIONS, n, p=rng.dirichlet(np.full(N_OCCUPATIONS, 2.0)))
    codes = np.sort(rng.choice(np.arange(6, 998), min(n, 495), replace=False))
    place = rng.choice(len(codes), n, p=rng.dirichlet(np.full(len(codes), 1.5)))
    n_tastes = 4
    taste = rng.normal(0, 0.6, (n, n_tastes))
    for groups, count in ((gender, 2), (age, len(AGES)), (occupation, N_OCCUPATIONS), (place, len(codes))):
        taste += rng.normal(0, 0.45, (count, n_tastes))[groups.astype(int)]
    liking = taste @ rng.normal(0, 1, (n_tastes, len(FILMS))) + rng.normal(0, 1, (n, len(FILMS)))
    is_seen = liking + rng.normal(0, 1.5, liking.shape) > -0.6
    ratings = np.where(is_seen, np.clip(np.round(3.4 + 0.7 * liking), 1, 5), 0).astype(np.int64)
    columns = {
        "Name": [f"person{number:05}" for number in rng.permutation(n)],
        "Gender": np.where(gender, "M", "F"),
        "Age": np.array(AGES)[age],
        "Occupation": occupation,
        "ZIP-code": codes[place],
    }
    return pl.DataFrame(columns | dict(zip(FILMS, ratings.T, strict=True)))


def cells_of(people: pl.DataFrame) -> dict[str, Ints]:
    """Return the columns as numbers."""
    return {
        name: (cells == "M" if name == "Gender" else cells).cast(pl.Int64).to_numpy()
        for name, cells in ((one.name, one) for one in people.get_columns())
        if name != "Name"
    }


def worst_pair(before: pl.DataFrame, after: pl.DataFrame) -> tuple[float, str]:
    """Return half the share of people whom the counts by some two columns misplace, and by which two it is most.

    Pairs of attributes are not looked at.
    """
    one, other = cells_of(before), cells_of(after)
    worst = (0.0, "")
    for left, right in combinations(one, 2):
        if left in ATTRIBUTES and right in ATTRIBUTES:
            continue
        size = 1 + max(int(side[right].max()) for side in (one, other))
        keys = [side[left] * size + side[right] for side in (one, other)]
        length = 1 + max(int(key.max()) for key in keys)
        counts: list[npt.NDArray[np.int64]] = [np.bincount(key, minlength=length) for key in keys]
        off = int(np.abs(counts[0] - counts[1]).sum()) / (2 * before.height)
        worst = max(worst, (off, ",".join(sorted((left, right)))), key=lambda found: found[0])
    return worst
