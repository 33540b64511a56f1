"""Made-up household microdata for the 2015 contest: thirteen quasi-identifiers and twelve amounts of money.

The contest used a synthetic file made after Japan's survey of household income and expenditure; this one has its
size and kinds of columns, none of its values. A household's traits depend on each other, the amounts depend on the
traits, and what the traits leave open is a Gaussian copula with two common causes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Traits = dict[str, Ints]

N_ROWS = 8_333

# The meaning of each code: the first label is code 1, the next code 2, and so on.
LABELS: dict[str, tuple[str, ...]] = {
    "household_type": ("alone", "couple", "couple with children", "one parent", "three generations"),
    "household_size": ("1", "2", "3", "4", "5", "6 or more"),
    "sex": ("male", "female"),
    "age_band": ("under 30", "30s", "40s", "50s", "60s", "70 and over"),
    "employment": ("regular", "part-time", "self-employed", "not working"),
    "industry": ("none", "farming", "building", "making", "trade", "care", "services", "public"),
    "company_size": ("none", "under 30", "30 to 499", "500 and over", "public"),
    "dwelling": ("owned", "rented from the public", "rented from others", "company housing"),
    "region": ("Hokkaido", "Tohoku", "Kanto", "Chubu", "Kinki", "Chugoku", "Shikoku", "Kyushu"),
    "city_size": ("large city", "middle city", "small city", "village"),
    "schooling": ("junior high", "high school", "college", "university"),
    "earners": ("0", "1", "2", "3 or more"),
    "month": ("September", "October", "November"),
}
QUASI_IDENTIFIERS = tuple(LABELS)
REGION_SHARES = (0.045, 0.07, 0.33, 0.18, 0.165, 0.06, 0.035, 0.115)
SEX_SHARES = (0.78, 0.22)  # Of the person who answers for the household.
AGE_SHARES = (0.05, 0.13, 0.18, 0.20, 0.24, 0.20)

# One row for each code of the trait that decides, one column for each code of the trait decided.
TYPE_BY_AGE = (
    (0.62, 0.14, 0.19, 0.04, 0.01),
    (0.22, 0.15, 0.54, 0.06, 0.03),
    (0.15, 0.10, 0.58, 0.09, 0.08),
    (0.14, 0.20, 0.47, 0.08, 0.11),
    (0.18, 0.40, 0.26, 0.06, 0.10),
    (0.30, 0.42, 0.13, 0.06, 0.09),
)
SIZE_BY_TYPE = (
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.45, 0.42, 0.11, 0.02),
    (0.0, 0.66, 0.26, 0.06, 0.02, 0.0),
    (0.0, 0.0, 0.06, 0.24, 0.36, 0.34),
)
EMPLOYMENT_BY_AGE = (
    (0.72, 0.20, 0.03, 0.05),
    (0.79, 0.10, 0.08, 0.03),
    (0.77, 0.09, 0.11, 0.03),
    (0.72, 0.10, 0.13, 0.05),
    (0.26, 0.20, 0.17, 0.37),
    (0.03, 0.06, 0.11, 0.80),
)
INDUSTRY_BY_EMPLOYMENT = (
    (0.0, 0.01, 0.09, 0.26, 0.17, 0.12, 0.22, 0.13),
    (0.0, 0.02, 0.05, 0.14, 0.29, 0.18, 0.29, 0.03),
    (0.0, 0.18, 0.16, 0.09, 0.25, 0.06, 0.26, 0.0),
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
COMPANY_BY_INDUSTRY = (
    (1.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.93, 0.06, 0.01, 0.0),
    (0.0, 0.62, 0.27, 0.11, 0.0),
    (0.0, 0.22, 0.38, 0.40, 0.0),
    (0.0, 0.42, 0.33, 0.25, 0.0),
    (0.0, 0.30, 0.48, 0.22, 0.0),
    (0.0, 0.38, 0.36, 0.26, 0.0),
    (0.0, 0.0, 0.0, 0.0, 1.0),
)
DWELLING_BY_AGE = (
    (0.12, 0.05, 0.71, 0.12),
    (0.42, 0.05, 0.45, 0.08),
    (0.66, 0.05, 0.24, 0.05),
    (0.77, 0.05, 0.15, 0.03),
    (0.84, 0.05, 0.105, 0.005),
    (0.86, 0.06, 0.08, 0.0),
)
CITY_BY_REGION = (
    (0.37, 0.25, 0.19, 0.19),
    (0.13, 0.37, 0.28, 0.22),
    (0.43, 0.37, 0.15, 0.05),
    (0.25, 0.39, 0.25, 0.11),
    (0.38, 0.40, 0.16, 0.06),
    (0.27, 0.42, 0.22, 0.09),
    (0.05, 0.50, 0.27, 0.18),
    (0.25, 0.33, 0.25, 0.17),
)
SCHOOLING_BY_AGE = (
    (0.03, 0.34, 0.22, 0.41),
    (0.03, 0.37, 0.21, 0.39),
    (0.03, 0.42, 0.19, 0.36),
    (0.07, 0.46, 0.13, 0.34),
    (0.19, 0.50, 0.07, 0.24),
    (0.42, 0.40, 0.04, 0.14),
)
# How many of the other members earn: chance for each of up to three of them.
OTHER_EARNS = 0.42

# Yearly amounts in thousands of yen for a household of three with average traits.
MEDIANS = {
    "income": 5_200,
    "food": 800,
    "housing": 130,
    "utilities": 240,
    "furniture": 90,
    "clothing": 110,
    "medical": 110,
    "transport": 380,
    "education": 60,
    "recreation": 260,
    "other_spending": 560,
}
AMOUNTS = tuple(MEDIANS)
# What part of an amount's logarithm the traits leave open, and how much of that comes from the two common causes:
# the standard of living (all amounts) and being at home much (food and fuel against travel, clothes and leisure).
SPREADS = (0.45, 0.28, 0.75, 0.28, 0.75, 0.65, 0.80, 0.70, 0.85, 0.60, 0.65)
LIVING = (0.75, 0.60, 0.10, 0.35, 0.45, 0.60, 0.25, 0.50, 0.35, 0.65, 0.65)
AT_HOME = (0.0, 0.25, 0.15, 0.45, 0.15, -0.20, 0.30, -0.30, -0.10, -0.25, -0.10)
# Exponents of household size and of expected income in each amount: food goes with heads, leisure with income.
SIZE_POWERS = (0.0, 0.50, -0.10, 0.42, 0.20, 0.30, 0.20, 0.20, 1.40, 0.10, 0.15)
INCOME_POWERS = (1.0, 0.30, 0.05, 0.15, 0.40, 0.60, 0.25, 0.55, 0.60, 0.75, 0.70)
# What each code multiplies expected income by.
INCOME_BY = {
    "age_band": (0.66, 0.90, 1.12, 1.28, 1.00, 0.84),
    "employment": (1.25, 0.72, 1.02, 0.62),
    "company_size": (1.00, 0.86, 1.00, 1.22, 1.18),
    "schooling": (0.84, 0.95, 1.00, 1.20),
    "earners": (0.85, 0.90, 1.15, 1.40),
    "sex": (1.04, 0.80),
    "region": (0.93, 0.91, 1.09, 1.02, 1.00, 0.97, 0.92, 0.90),
    "city_size": (1.06, 1.00, 0.96, 0.92),
}
RENT_BY_DWELLING = (0.55, 2.6, 5.2, 1.6)
# Children at school are what education money is spent on.
EDUCATION_BY_TYPE = (0.08, 0.08, 2.4, 1.6, 1.3)
MEDICAL_BY_AGE = (0.60, 0.75, 0.85, 1.0, 1.25, 1.4)
USUAL_SIZE = 3.0


def make_survey(n_rows: int = N_ROWS, *, seed: int) -> pl.DataFrame:
    """Make one row a household: traits as codes (see `LABELS`), yearly amounts in thousands of yen."""
    if n_rows < 1:
        raise InputError.of("at least 1 row", option="n_rows", value=n_rows)
    traits = _draw_traits(n_rows, generator(seed, "survey", "traits"))
    amounts = _draw_amounts(traits, generator(seed, "survey", "amounts"))
    income, *parts = amounts.items()
    columns = {name: traits[name] for name in QUASI_IDENTIFIERS}
    # The total is the sum of its parts, as in the survey.
    total = np.sum([part for _, part in parts], axis=0)
    return pl.DataFrame({**columns, **dict([income]), "spending": total, **dict(parts)})


def _draw_traits(n_rows: int, rng: np.random.Generator) -> Traits:
    """Draw the codes of all quasi-identifiers, each from the shares of those it depends on."""
    everyone = np.ones(n_rows, np.int64)
    traits: Traits = {
        "region": _draw((REGION_SHARES,), everyone, rng),
        "age_band": _draw((AGE_SHARES,), everyone, rng),
        "sex": _draw((SEX_SHARES,), everyone, rng),
        "month": rng.integers(1, len(LABELS["month"]) + 1, n_rows),
    }
    for name, decided_by, table in (
        ("household_type", "age_band", TYPE_BY_AGE),
        ("household_size", "household_type", SIZE_BY_TYPE),
        ("employment", "age_band", EMPLOYMENT_BY_AGE),
        ("industry", "employment", INDUSTRY_BY_EMPLOYMENT),
        ("company_size", "industry", COMPANY_BY_INDUSTRY),
        ("dwelling", "age_band", DWELLING_BY_AGE),
        ("city_size", "region", CITY_BY_REGION),
        ("schooling", "age_band", SCHOOLING_BY_AGE),
    ):
        traits[name] = _draw(table, traits[decided_by], rng)
    is_working = traits["employment"] != len(LABELS["employment"])
    others = rng.binomial(np.minimum(traits["household_size"] - 1, 3), OTHER_EARNS)
    traits["earners"] = 1 + np.minimum(is_working + others, len(LABELS["earners"]) - 1)
    return traits


def _draw_amounts(traits: Traits, rng: np.random.Generator) -> dict[str, Ints]:
    """Draw income and the kinds of spending, whole and positive."""
    n_rows = len(traits["sex"])
    living, at_home = rng.standard_normal((2, n_rows))
    size = traits["household_size"] / USUAL_SIZE
    income = np.prod([_by_code(factors, traits[name]) for name, factors in INCOME_BY.items()], axis=0)
    extra = {
        "housing": _by_code(RENT_BY_DWELLING, traits["dwelling"]),
        "education": _by_code(EDUCATION_BY_TYPE, traits["household_type"]),
        "medical": _by_code(MEDICAL_BY_AGE, traits["age_band"]),
    }
    amounts: dict[str, Ints] = {}
    for index, name in enumerate(AMOUNTS):
        own = rng.standard_normal(n_rows) * np.sqrt(1 - LIVING[index] ** 2 - AT_HOME[index] ** 2)
        left_open = np.exp(SPREADS[index] * (LIVING[index] * living + AT_HOME[index] * at_home + own))
        expected = MEDIANS[name] * size ** SIZE_POWERS[index] * income ** INCOME_POWERS[index] * extra.get(name, 1.0)
        amounts[name] = np.maximum(np.rint(expected * left_open), 1).astype(np.int64)
    return amounts


def _by_code(values: tuple[float, ...], codes: Ints) -> Floats:
    """Look up the value of each code."""
    return np.array(values)[codes - 1]


def _draw(table: tuple[tuple[float, ...], ...], rows: Ints, rng: np.random.Generator) -> Ints:
    """Draw a code for each household from the row of shares that its deciding code names."""
    steps = np.cumsum(table, axis=1)
    # The last step is left out: whatever passes all the others is the last code, however the sum was rounded.
    codes: Ints = 1 + (rng.random(len(rows))[:, None] >= steps[rows - 1, :-1]).sum(axis=1)
    return codes
