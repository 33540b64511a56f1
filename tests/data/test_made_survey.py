from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data import made_survey
from tokumei.data.made_survey import AMOUNTS, LABELS, QUASI_IDENTIFIERS, make_survey

PARTS = AMOUNTS[1:]


@pytest.fixture(scope="module", params=[0, 1, 2])
def households(request: pytest.FixtureRequest) -> pl.DataFrame:
    return make_survey(seed=request.param)


def log_correlation(households: pl.DataFrame, one: str, other: str) -> float:
    return float(np.corrcoef(np.log(households[one].to_numpy()), np.log(households[other].to_numpy()))[0, 1])


def medians(households: pl.DataFrame, amount: str, by: str) -> dict[int, float]:
    return dict(households.group_by(by).agg(pl.col(amount).median()).iter_rows())


def unique_share(households: pl.DataFrame, *columns: str) -> float:
    """Return the share of households that are alone with their combination of codes."""
    return float((households.group_by(columns).len()["len"] == 1).sum() / households.height)


def test_survey_shape_is_that_of_the_contest(households: pl.DataFrame) -> None:
    assert households.shape == (8_333, 25)
    assert households.columns == [*QUASI_IDENTIFIERS, "income", "spending", *PARTS]
    assert len(QUASI_IDENTIFIERS) == 13
    assert set(households.dtypes) == {pl.Int64}


@pytest.mark.parametrize("column", QUASI_IDENTIFIERS)
def test_survey_codes_are_those_labeled(households: pl.DataFrame, column: str) -> None:
    assert set(households[column]) == set(range(1, len(LABELS[column]) + 1))


def test_survey_tables_of_shares_add_up() -> None:
    tables = [value for name, value in vars(made_survey).items() if "_BY_" in name and isinstance(value[0], tuple)]
    assert len(tables) == 8
    for table in tables:
        assert np.sum(table, axis=1) == pytest.approx(1)


def test_survey_traits_do_not_contradict_each_other(households: pl.DataFrame) -> None:
    alone = households["household_type"] == 1
    assert (alone == (households["household_size"] == 1)).all()
    not_working = households["employment"] == 4
    assert (not_working == (households["industry"] == 1)).all()
    assert (not_working == (households["company_size"] == 1)).all()
    # Earners are coded from 1 for none.
    assert (households["earners"] - 1 <= households["household_size"]).all()
    assert (households.filter(~not_working)["earners"] > 1).all()


def test_survey_amounts_are_positive_and_skewed(households: pl.DataFrame) -> None:
    for column in ("income", "spending", *PARTS):
        values = households[column].to_numpy()
        assert values.min() >= 1
        assert values.mean() > np.median(values)


def test_survey_total_is_the_sum_of_its_parts(households: pl.DataFrame) -> None:
    assert households.select(pl.sum_horizontal(PARTS)).to_series().equals(households["spending"], check_names=False)


def test_survey_most_households_spend_less_than_they_earn(households: pl.DataFrame) -> None:
    assert 0.6 < (households["spending"] < households["income"]).sum() / households.height < 0.98
    food_share = (households["food"] / households["spending"]).to_numpy()
    assert 0.15 < np.median(food_share) < 0.35


def test_survey_amounts_correlate(households: pl.DataFrame) -> None:
    assert log_correlation(households, "income", "spending") > 0.5
    assert log_correlation(households, "income", "recreation") > 0.5
    assert log_correlation(households, "food", "utilities") > 0.4
    assert abs(log_correlation(households, "housing", "utilities")) < log_correlation(households, "food", "utilities")


def test_survey_amounts_depend_on_traits(households: pl.DataFrame) -> None:
    by_age = medians(households, "income", "age_band")
    assert by_age[1] < by_age[3]
    assert by_age[6] < by_age[4]
    by_employment = medians(households, "income", "employment")
    assert by_employment[1] == max(by_employment.values())
    by_size = medians(households, "food", "household_size")
    assert by_size[1] < by_size[2] < by_size[4]
    assert medians(households, "housing", "dwelling")[3] > 2 * medians(households, "housing", "dwelling")[1]
    assert (
        medians(households, "education", "household_type")[3]
        > 5 * medians(households, "education", "household_type")[2]
    )


def test_survey_few_traits_hide_a_household_and_all_of_them_do_not(households: pl.DataFrame) -> None:
    assert unique_share(households, "sex", "age_band", "region") < 0.01
    assert unique_share(households, *QUASI_IDENTIFIERS[:5]) < 0.05
    assert 0.5 < unique_share(households, *QUASI_IDENTIFIERS) < 0.99


def test_survey_same_seed_gives_the_same_households() -> None:
    assert make_survey(50, seed=4).equals(make_survey(50, seed=4))
    assert not make_survey(50, seed=4).equals(make_survey(50, seed=5))


def test_survey_one_row_can_be_made() -> None:
    assert make_survey(1, seed=4).shape == (1, 25)


def test_survey_without_rows_is_refused() -> None:
    with pytest.raises(InputError, match="n_rows"):
        make_survey(0, seed=4)
