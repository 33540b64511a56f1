from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.made_services import (
    BY_AGE,
    FEMALE,
    FIRST_WESTERN,
    MALE,
    PREFECTURES,
    age_shares,
    make_census,
    make_service,
    make_services,
    prefecture_counts,
)

SCHEMA = {"sex": pl.String, "age": pl.Int64, "prefecture": pl.String}


@pytest.fixture(scope="module", params=[0, 1])
def services(request: pytest.FixtureRequest) -> dict[str, pl.DataFrame]:
    return dict(make_services(seed=request.param))


def k_of(people: pl.DataFrame, *classes: pl.Expr) -> int:
    """Return the size of the smallest class that is not empty."""
    return int(people.group_by(*classes).len()["len"].to_numpy().min())


def counts_by_prefecture(people: pl.DataFrame) -> list[int]:
    counts = dict(people["prefecture"].value_counts().iter_rows())
    return [counts.get(name, 0) for name in PREFECTURES]


def correlation_with_census(people: pl.DataFrame) -> float:
    return float(np.corrcoef(prefecture_counts().sum(axis=1), counts_by_prefecture(people))[0, 1])


SEX = pl.col("sex")
NINE_BANDS = (pl.col("age") // 10).clip(0, 8).alias("band")
FIVE_BANDS = (pl.col("age") // 10).clip(2, 6).alias("band")


def test_population_totals_are_those_of_the_census() -> None:
    assert prefecture_counts().shape == (47, 2)
    assert prefecture_counts().sum(axis=0).tolist() == [62_327_737, 65_729_615]
    assert np.sum(BY_AGE, axis=0).tolist() == [61_756_943, 65_323_986]


def test_population_west_is_from_shiga_on_with_37_percent() -> None:
    counts = prefecture_counts().sum(axis=1)
    assert counts[FIRST_WESTERN:].sum() / counts.sum() == pytest.approx(0.367, abs=0.001)


@pytest.mark.parametrize("sex", [MALE, FEMALE])
def test_population_age_shares_keep_the_groups(sex: int) -> None:
    shares = age_shares(sex)
    counts = np.array(BY_AGE)[:, sex]
    assert shares.shape == (100,)
    assert shares[:5].sum() == pytest.approx(counts[0] / counts.sum())
    assert shares[85:].sum() == pytest.approx(counts[-1] / counts.sum())


def test_service_columns_as_named_and_typed() -> None:
    people = make_service(2_000, service=1, seed=3)
    assert dict(people.schema) == SCHEMA
    assert people.height == 2_000
    assert set(people["sex"]) == {"male", "female"}
    assert people["age"].is_between(0, 99).all()
    assert set(people["prefecture"]) <= set(PREFECTURES)


def test_service_same_seed_and_number_gives_the_same_people() -> None:
    people = make_service(500, service=1, seed=3)
    assert people.equals(make_service(500, service=1, seed=3))
    assert not people.equals(make_service(500, service=1, seed=4))
    assert not people.equals(make_service(500, service=2, seed=3))


def test_service_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="n_people"):
        make_service(0, service=1, seed=3)


def test_services_names_and_sizes_descend(services: dict[str, pl.DataFrame]) -> None:
    sizes = [people.height for people in services.values()]
    assert list(services) == [f"S{number:04}" for number in range(1, 21)]
    assert sizes[0] == 350_527
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 50_000


def test_services_sizes_follow_the_classes_of_the_thesis() -> None:
    sizes = np.array([people.height for _, people in make_services(220, seed=0)])
    at_most = [350_527, 100_040, 50_000, 10_000, 5_000, 1_001]
    assert [int((sizes > limit).sum()) for limit in at_most] == [0, 9, 26, 62, 96, 219]
    # Table 6 has 1,669,482 people in the ten largest services and 4,196,859 in these.
    assert sizes[:10].sum() == pytest.approx(1_669_482, rel=0.05)
    assert sizes.sum() == pytest.approx(4_196_859, rel=0.05)


def test_services_members_are_adults_for_the_most_part(services: dict[str, pl.DataFrame]) -> None:
    for people in services.values():
        assert (people["age"] < 20).sum() / people.height < 0.03
        assert people["age"].is_between(20, 59).sum() / people.height > 0.75


def test_services_differ_in_sex_and_age(services: dict[str, pl.DataFrame]) -> None:
    women = [(people["sex"] == "female").sum() / people.height for people in services.values()]
    ages = [float(people["age"].to_numpy().mean()) for people in services.values()]
    assert min(women) < 0.35
    assert max(women) > 0.65
    assert max(ages) - min(ages) > 5


def test_services_most_correlate_with_the_census_and_some_do_not(services: dict[str, pl.DataFrame]) -> None:
    correlations = [correlation_with_census(people) for people in services.values()]
    assert sum(correlation > 0.9 for correlation in correlations) > len(correlations) / 2
    assert min(correlations) < 0.9


def test_services_sex_and_ten_year_bands_leave_small_k(services: dict[str, pl.DataFrame]) -> None:
    # The thesis finds 6.6 on average for services of over 100,000 people, and k = 1 for 40 % of them.
    ks = [k_of(people, SEX, NINE_BANDS) for people in services.values()]
    assert np.mean(ks) < 12
    assert 1 in ks


def test_services_cutting_the_ends_of_age_lifts_k(services: dict[str, pl.DataFrame]) -> None:
    for people in services.values():
        assert k_of(people, SEX, FIVE_BANDS) >= 10


def test_services_are_made_one_at_a_time_from_the_seed() -> None:
    name, people = next(make_services(3, seed=9))
    assert name == "S0001"
    assert people.equals(make_service(people.height, service=1, seed=9))


@pytest.mark.parametrize("n_services", [0, 1_636])
def test_services_impossible_number_is_refused_at_once(n_services: int) -> None:
    with pytest.raises(InputError, match="n_services"):
        make_services(n_services, seed=3)


def test_census_at_a_thousandth_has_the_shares_of_the_census() -> None:
    people = make_census(seed=3)
    assert dict(people.schema) == SCHEMA
    assert people.height == 128_057
    assert correlation_with_census(people) > 0.999
    assert (people["sex"] == "male").sum() / people.height == pytest.approx(0.487, abs=0.01)
    assert (people["age"] >= 65).sum() / people.height == pytest.approx(0.230, abs=0.01)
    assert k_of(people, SEX, NINE_BANDS) > 1_000


def test_census_same_seed_gives_the_same_people() -> None:
    assert make_census(scale=100_000, seed=3).equals(make_census(scale=100_000, seed=3))
    assert not make_census(scale=100_000, seed=3).equals(make_census(scale=100_000, seed=4))


def test_census_scale_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="scale"):
        make_census(scale=0, seed=3)
