"""What an audit says of rows as a sample: with a population size, with weights, and by special uniques."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.measures.safety.individual_risk import individual_risk
from tokumei.tasks.audit_sample import NO_SAMPLE

# The classes by age and sex: three of 30 and f, two of 60 and f, and three of one row.
SURVEY = pl.DataFrame(
    {
        "home": ["1", "1", "2", "2", "3", "3", "4", "4"],
        "age": [30, 40, 30, 50, 60, 60, 20, 30],
        "sex": ["f", "m", "f", "m", "f", "f", "m", "f"],
        "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0],
    }
)
QI = ["age", "sex"]


def test_audit_without_a_population_says_nothing_of_one() -> None:
    audited = tk.audit(SURVEY, QI)
    assert audited.sample == NO_SAMPLE
    assert not {"population_uniques", "individual_risk", "special_uniques"} & set(audited.to_dict())


def test_population_size_states_each_estimator_and_the_chosen_one() -> None:
    found = tk.audit(SURVEY, QI, population_size=20).to_dict()["population_uniques"]
    assert (found["population"], found["fraction"], found["alone_in_sample"]) == (20, 0.4, 3)
    assert set(found["estimates"]) == {"pitman", "zayatz", "snb"}
    # H(1) = 8/20; H(2) = 2 · 8/20 · 12/19; H(3) = 3 · 8/20 · 12 · 11/(19 · 18): 3 H(1)/(3 H(1) + H(2) + H(3)).
    one, two, three = 8 / 20, 2 * 8 / 20 * 12 / 19, 3 * 8 / 20 * 12 * 11 / (19 * 18)
    share = 3 * one / (3 * one + two + three)
    assert found["estimates"]["zayatz"]["alone"] == pytest.approx(3 * share * 20 / 8)
    assert found["chosen"] == min(
        ("zayatz", "snb"), key=lambda name: (found["estimates"][name] or {"alone": 20.0})["alone"]
    )


def test_estimator_without_an_answer_is_not_estimated_and_not_zero() -> None:
    # All rows are alone: no class of two to fit SNB's model by.
    audited = tk.audit(SURVEY[:2], QI, population_size=100)
    assert audited.to_dict()["population_uniques"]["estimates"]["snb"] is None
    assert "not estimated" in str(audited.sections())


def test_weights_give_the_risk_of_rows_and_the_population() -> None:
    found = tk.audit(SURVEY, QI, weights="weight").to_dict()
    risk = found["individual_risk"]
    three, two = individual_risk([3, 2], [108, 100]).tolist()
    alone = individual_risk(1, [45.5, 17, 123.5]).tolist()
    assert risk["expected"] == pytest.approx(3 * three + 2 * two + sum(alone))
    assert risk["share"] == pytest.approx(risk["expected"] / 8)
    assert risk["riskiest"][0] == {"row": 4, "risk": pytest.approx(alone[1])}
    # The weights say how many people there are.
    assert found["population_uniques"]["population"] == 394


def test_households_are_at_the_risk_of_their_members() -> None:
    audited = tk.audit(SURVEY, QI, weights="weight", household="home", suda=2)
    found = audited.to_dict()
    rows = tk.audit(SURVEY, QI, weights="weight").sample.individual
    assert rows is not None
    first = 1 - (1 - rows.risks[0]) * (1 - rows.risks[1])
    risky = {one["household"]: one["risk"] for one in found["individual_risk"]["households"]["riskiest"]}
    assert risky["1"] == pytest.approx(first)
    # Both rows of home 3 are of one household alone.
    assert found["special_uniques"]["minimal_uniques"]["1"] == 5
    # Weights are of people, so that they do not tell how many households there are.
    assert "population_uniques" not in found
    assert "Risk of households" in str(audited.sections())


def test_special_uniques_take_the_sampled_share_where_one_is_known() -> None:
    share = [
        tk.audit(SURVEY, QI, suda=2, **more).to_dict()["special_uniques"]["dis_fraction"]
        for more in ({}, {"population_size": 80}, {"weights": "weight"})
    ]
    assert share == [0.01, 0.1, pytest.approx(8 / 394)]


def test_command_line_measures_all_three_and_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "survey.csv"
    SURVEY.write_csv(file)
    given = ["audit", file, "--qi", "age,sex"]
    code, found = tokumei_here(capsys, *given, "--weights", "weight", "--population-size", "394", "--suda")
    assert code == 0
    assert found["individual_risk"]["population"] == 394.0
    assert found["special_uniques"]["largest_set"] == 2
    assert found["population_uniques"]["chosen"] in found["population_uniques"]["estimates"]
    assert tokumei_here(capsys, *given, "--suda", "1")[1]["special_uniques"]["largest_set"] == 1
    code, said = tokumei_here(capsys, "audit", file, "--qi", "age", "--weights", "sex")
    assert (code, said["error"]) == (2, "InputError")
    assert "above 0 in row 1" in said["message"]
    assert "no quasi-identifier" in tokumei_here(capsys, *given, "--weights", "sex")[1]["message"]
    assert tokumei_here(capsys, *given, "--weights", "wieght")[0] == 2


def test_engine_that_reads_no_rows_here_is_refused(tmp_path: Path) -> None:
    from tokumei.tasks.audit_sample import Sampling
    from tokumei.tasks.audit_table import NOTHING, audit_source

    pytest.importorskip("ibis")
    SURVEY.write_csv(file := tmp_path / "survey.csv")
    with pytest.raises(InputError, match="local"):
        audit_source(str(file), QI, [], NOTHING, name="survey", sampling=Sampling(suda=2), engine="duckdb")
    found = audit_source(str(file), QI, [], NOTHING, name="survey", sampling=Sampling(20), engine="duckdb")
    assert found.to_dict()["population_uniques"]["alone_in_sample"] == 3
