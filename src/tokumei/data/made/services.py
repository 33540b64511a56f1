"""Made-up customers of many services: sex, age and prefecture, skewed as chapter 3 of the thesis describes.

The thesis had 1,635 services with 4.3 million people, made after real ones. Theirs were adults for the most part,
spread over the country much as its population is; some served one sex, one half of the country or one place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.data.made.population import (
    FEMALE,
    FIRST_WESTERN,
    MALE,
    OLDEST,
    PREFECTURES,
    SEXES,
    age_shares,
    prefecture_counts,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Rank and people of some services, straight lines between them in logarithms. The ends of the size classes are
# those of the thesis's table 6; rank 500 is set so that the small ones have 100 people on average (105 there).
SIZES = ((1, 350_527), (10, 100_040), (26, 51_254), (62, 10_001), (96, 5_001), (220, 1_001), (500, 170), (1_635, 1))
MOST_SERVICES = SIZES[-1][0]

# Log odds of a woman: at one standard deviation, three of four people are of one sex.
SEX_SPREAD = 1.1
ADULT = 20
# Where a service's ages center and how far they spread, in years: 20s to 50s, with 0.5 to 15 % from 60 on.
AGE_CENTERS = (33.0, 46.0)
AGE_WIDTHS = (9.5, 13.5)
SEX_AGE_GAP = 2.0
# Few minors, about one in seven hundred people and nearly all in their late teens. They and the very old are what
# brings k down to a few people in sex × ten-year bands, even among hundred thousands.
MINOR_SHARE = 0.0015
MINOR_SPREAD = 0.8
MINOR_FADING = 3.0

# Where services are offered. Those of the whole country correlate with the census at 0.95 and above by prefecture,
# those of the east at about 0.8; the thesis gives 0.91 for all together.
REACH_SHARES = {"nation": 0.72, "east": 0.15, "west": 0.06, "place": 0.07}
# Above 1, cities have more customers than residents.
URBAN_POWERS = (1.0, 1.3)
PREFECTURE_SPREAD = 0.15
# What is left of the usual number of customers outside the half that a service serves.
OUTSIDE_SHARES = (0.0005, 0.02)
HOME_SHARES = (0.5, 0.9)


def make_service(n_people: int, *, service: int, seed: int) -> pl.DataFrame:
    """Make the people of one service; its number decides, with the seed, how it is skewed."""
    if n_people < 1:
        raise InputError.of("at least 1 person", option="n_people", value=n_people)
    skew = generator(seed, "service", service, "skew")
    female_share = 1 / (1 + np.exp(SEX_SPREAD * skew.standard_normal()))
    ages = _skewed_ages(skew)
    prefectures = _skewed_prefectures(skew)
    people = generator(seed, "service", service, "people")
    sex = np.where(people.random(n_people) < female_share, FEMALE, MALE)
    return _people(sex, _draw_ages(ages, sex, people), people.choice(len(PREFECTURES), n_people, p=prefectures))


def make_services(n_services: int = 20, *, seed: int) -> Iterator[tuple[str, pl.DataFrame]]:
    """Make the largest services one after the other, from S0001 with 350,527 people downward."""
    if not 1 <= n_services <= MOST_SERVICES:
        raise InputError.of(
            Text("a number from {n} to {m}", n=1, m=MOST_SERVICES), option="n_services", value=n_services
        )
    return _each_service(n_services, seed)


def service_names(n_services: int) -> list[str]:
    """Return the names of the largest services."""
    return [f"S{service:04}" for service in range(1, n_services + 1)]


def make_census(*, scale: int = 1_000, seed: int) -> pl.DataFrame:
    """Make the thesis's S0000: one person for each `scale` residents, drawn by the shares of the 2010 census.

    Age and prefecture are independent for each sex, since the census tables kept here do not cross them.
    """
    counts = prefecture_counts()
    if not 1 <= scale <= counts.sum():
        raise InputError.of(Text("a number from {n} to {m}", n=1, m=int(counts.sum())), option="scale", value=scale)
    people = generator(seed, "census")
    cells = people.choice(counts.size, round(counts.sum() / scale), p=counts.ravel() / counts.sum())
    prefecture, sex = np.divmod(cells, len(SEXES))
    ages = (age_shares(MALE), age_shares(FEMALE))
    return _people(sex, _draw_ages(ages, sex, people), prefecture)


def _each_service(n_services: int, seed: int) -> Iterator[tuple[str, pl.DataFrame]]:
    ranks, sizes = np.log(np.array(SIZES)).T
    n_people = np.rint(np.exp(np.interp(np.log(np.arange(1, n_services + 1)), ranks, sizes)))
    with step("making services", n_services) as bar:
        for service, (name, size) in enumerate(zip(service_names(n_services), n_people, strict=True), start=1):
            yield name, make_service(int(size), service=service, seed=seed)
            bar.advance()


def _skewed_ages(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the shares of each year of age among a service's men and women."""
    center, width = rng.uniform(*AGE_CENTERS), rng.uniform(*AGE_WIDTHS)
    gap = SEX_AGE_GAP * rng.standard_normal()
    minor_share = MINOR_SHARE * np.exp(MINOR_SPREAD * rng.standard_normal())
    years = np.arange(OLDEST + 1)
    is_minor = years < ADULT
    minors = is_minor * np.exp((years - ADULT) / MINOR_FADING)

    def shares(middle: float) -> Floats:
        adults = ~is_minor * np.exp(-(((years - middle) / width) ** 2) / 2)
        both: Floats = minor_share * minors / minors.sum() + (1 - minor_share) * adults / adults.sum()
        return both

    return shares(center + gap / 2), shares(center - gap / 2)


def _skewed_prefectures(rng: np.random.Generator) -> Floats:
    """Draw the shares of the prefectures among a service's people."""
    residents = prefecture_counts().sum(axis=1) / prefecture_counts().sum()
    chance = np.exp(PREFECTURE_SPREAD * rng.standard_normal(len(PREFECTURES)))
    weights = chance * residents ** rng.uniform(*URBAN_POWERS)
    is_west = np.arange(len(PREFECTURES)) >= FIRST_WESTERN
    outside = np.exp(rng.uniform(*np.log(OUTSIDE_SHARES)))
    # Squared, since those who serve one place choose a large one.
    home = rng.choice(len(PREFECTURES), p=residents**2 / (residents**2).sum())
    home_share = rng.uniform(*HOME_SHARES)
    # All of the above is drawn whatever the reach, so that a change of one share leaves the other skews alone.
    reach = rng.choice(list(REACH_SHARES), p=list(REACH_SHARES.values()))
    if reach == "east":
        weights = np.where(is_west, outside * weights, weights)
    elif reach == "west":
        weights = np.where(is_west, weights, outside * weights)
    shares: Floats = weights / weights.sum()
    if reach == "place":
        shares *= 1 - home_share
        shares[home] += home_share
    return shares


def _draw_ages(shares: tuple[Floats, Floats], sex: Ints, rng: np.random.Generator) -> Ints:
    """Draw an age for each person from the shares of that person's sex."""
    height = rng.random(len(sex))
    male, female = (np.searchsorted(np.cumsum(each), height, side="right") for each in shares)
    # Shares may add up to a hair less than 1.
    return np.minimum(np.where(sex == MALE, male, female), OLDEST)


def _people(sex: Ints, age: Ints, prefecture: Ints) -> pl.DataFrame:
    """Put people given by code into a frame with the names of sexes and prefectures."""
    return pl.DataFrame(
        {
            "sex": pl.Series(SEXES).gather(sex),
            "age": age,
            "prefecture": pl.Series(PREFECTURES).gather(prefecture),
        },
        schema={"sex": pl.String, "age": pl.Int64, "prefecture": pl.String},
    )
