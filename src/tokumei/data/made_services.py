"""Made-up customers of many services: sex, age and prefecture, skewed as chapter 3 of the thesis describes.

The thesis had 1,635 services with 4.3 million people, made after real ones. Theirs were adults for the most part,
spread over the country much as its population is; some served one sex, one half of the country or one place.

They are drawn from Japan's residents on 1 October 2010, by prefecture and sex and by age and sex. Source: Statistics
Bureau of Japan, Population Census 2010, basic complete tabulation, through e-Stat (https://www.e-stat.go.jp). Residents
whose age is unknown are in the first table and not in the second.
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

MALE, FEMALE = 0, 1
SEXES = ("male", "female")
OLDEST = 99
GROUP_YEARS = 5
# Of the people of an age past 85, so many live to be a year older, near enough to spread the last group by.
YEARLY_SURVIVAL = 0.84

# Men and women of each prefecture, in the official order, which runs from the north-east to the south-west.
BY_PREFECTURE: dict[str, tuple[int, int]] = {
    "北海道": (2_603_345, 2_903_074),
    "青森県": (646_141, 727_198),
    "岩手県": (634_971, 695_176),
    "宮城県": (1_139_566, 1_208_599),
    "秋田県": (509_926, 576_071),
    "山形県": (560_643, 608_281),
    "福島県": (984_682, 1_044_382),
    "茨城県": (1_479_779, 1_489_991),
    "栃木県": (996_855, 1_010_828),
    "群馬県": (988_019, 1_020_049),
    "埼玉県": (3_608_711, 3_585_845),
    "千葉県": (3_098_139, 3_118_150),
    "東京都": (6_512_110, 6_647_278),
    "神奈川県": (4_544_545, 4_503_786),
    "新潟県": (1_148_236, 1_226_214),
    "富山県": (526_605, 566_642),
    "石川県": (564_972, 604_816),
    "福井県": (389_712, 416_602),
    "山梨県": (422_526, 440_549),
    "長野県": (1_046_178, 1_106_271),
    "岐阜県": (1_006_247, 1_074_526),
    "静岡県": (1_853_952, 1_911_055),
    "愛知県": (3_704_220, 3_706_499),
    "三重県": (903_398, 951_326),
    "滋賀県": (696_769, 714_008),
    "京都府": (1_265_387, 1_370_705),
    "大阪府": (4_285_566, 4_579_679),
    "兵庫県": (2_673_328, 2_914_805),
    "奈良県": (663_321, 737_407),
    "和歌山県": (471_397, 530_801),
    "鳥取県": (280_701, 307_966),
    "島根県": (342_991, 374_406),
    "岡山県": (933_168, 1_012_108),
    "広島県": (1_380_671, 1_480_079),
    "山口県": (684_176, 767_162),
    "徳島県": (372_710, 412_781),
    "香川県": (479_951, 515_891),
    "愛媛県": (673_326, 758_167),
    "高知県": (359_134, 405_322),
    "福岡県": (2_393_965, 2_678_003),
    "佐賀県": (400_136, 449_652),
    "長崎県": (665_899, 760_880),
    "熊本県": (853_514, 963_912),
    "大分県": (564_890, 631_639),
    "宮崎県": (533_035, 602_198),
    "鹿児島県": (796_896, 909_346),
    "沖縄県": (683_328, 709_490),
}
PREFECTURES = tuple(BY_PREFECTURE)
# The thesis's two halves: with the border here, its k of the census for two classes comes out.
FIRST_WESTERN = PREFECTURES.index("滋賀県")

# Men and women by five years of age from 0–4 on; the last group is 85 and over.
BY_AGE: tuple[tuple[int, int], ...] = (
    (2_710_581, 2_586_167),
    (2_859_805, 2_725_856),
    (3_031_943, 2_889_092),
    (3_109_229, 2_954_128),
    (3_266_240, 3_160_193),
    (3_691_723, 3_601_978),
    (4_221_011, 4_120_486),
    (4_950_122, 4_836_227),
    (4_400_375, 4_341_490),
    (4_027_969, 4_005_147),
    (3_809_576, 3_834_923),
    (4_287_489, 4_376_245),
    (4_920_468, 5_116_781),
    (3_921_774, 4_288_399),
    (3_225_503, 3_737_799),
    (2_582_940, 3_358_073),
    (1_692_584, 2_643_680),
    (1_047_611, 2_747_322),
)


def prefecture_counts() -> npt.NDArray[np.int64]:
    """Return the residents as a table of prefectures × sexes."""
    return np.array(list(BY_PREFECTURE.values()))


def age_shares(sex: int) -> npt.NDArray[np.float64]:
    """Return the share of each single year of age from 0 to 99 among one sex."""
    groups = np.array(BY_AGE, dtype=np.float64)[:, sex]
    young = np.repeat(groups[:-1] / GROUP_YEARS, GROUP_YEARS)
    # Even within a group, but the last is open: its years thin out.
    fading = YEARLY_SURVIVAL ** np.arange(OLDEST + 1 - len(young))
    counts = np.concatenate([young, groups[-1] * fading / fading.sum()])
    shares: npt.NDArray[np.float64] = counts / counts.sum()
    return shares


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
        {"sex": pl.Series(SEXES).gather(sex), "age": age, "prefecture": pl.Series(PREFECTURES).gather(prefecture)},
        schema={"sex": pl.String, "age": pl.Int64, "prefecture": pl.String},
    )
