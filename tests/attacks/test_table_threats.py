from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attacks.disclosure.threat_models import published, table, threat_model

import tokumei as tk
from tokumei.attacks.disclosure.known_people import RecordLinkage
from tokumei.attacks.disclosure.population import PopulationLinkage
from tokumei.attacks.registry import DISCLOSURE_ATTACKS
from tokumei.attacks.table_threats import HELD, TABLE_THREATS, TELLS, TableThreat, table_threat_of
from tokumei.attacks.threat_model import KnownMethod, ThreatModel, mistaken, widened
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.registry import part_options
from tokumei.core.seeds import generator
from tokumei.data.table import Unit
from tokumei.hierarchies.label_semantics import LeafSets

PEOPLE = {"sex": ["f", "m", "m", "f"], "age": [20, 30, 40, 50], "ill": ["flu", "cold", "flu", "flu"]}


def test_every_attack_is_told_what_it_tells_and_what_it_is_made_with() -> None:
    built_in = {name for names in DISCLOSURE_ATTACKS.parts.values() for name in names}
    assert TELLS.keys() == built_in
    assert HELD.keys() <= built_in


def test_no_option_of_an_attack_is_named_as_an_assumption_of_a_threat() -> None:
    own = {one.name for name in TELLS for one in part_options(DISCLOSURE_ATTACKS.get(name))}
    assert not own & {one.name for one in part_options(TableThreat)}


def test_preset_is_changed_by_name_and_misspelt_ones_are_refused() -> None:
    assert table_threat_of("data_broker", share="0.5", wants="who,value") == TableThreat(
        **{**vars(TABLE_THREATS["data-broker"]), "share": 0.5, "wants": ("who", "value")}
    )
    with pytest.raises(UnknownPart, match="Did you mean 'employer'"):
        table_threat_of("employr")
    with pytest.raises(InputError, match="codes_wrong"):
        table_threat_of("employer", codes_wrng=0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 1.1},
        {"people_share": -0.1},
        {"codes_wrong": 2.0},
        {"numbers_off": -1.0},
        {"aim": "all"},
        {"aim": "named"},
        {"named": (1,)},
        {"targets": 0},
        {"holds": ("map",)},
        {"wants": ("money",)},
        {"method_known": "all"},
    ],
)
def test_impossible_assumption_is_refused_by_its_name(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong)) if wrong != {"aim": "named"} else "named"):
        table_threat_of(TableThreat(), **wrong)


def test_mistaken_value_is_always_another_one() -> None:
    values = pl.Series(["f", "f", None, "m"])
    # Of two values the other one is left; a missing value stays missing.
    assert mistaken(values, 1.0, generator(1)).to_list() == ["m", "m", None, "f"]
    assert mistaken(values, 0.0, generator(1)).to_list() == values.to_list()
    # Where everybody has one value there is no other.
    assert mistaken(pl.Series([1, 1]), 1.0, generator(1)).to_list() == [1, 1]


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30), st.integers(0, 99))
def test_mistaken_values_are_those_of_others(values: list[str | None], seed: int) -> None:
    drawn = mistaken(pl.Series(values, dtype=pl.String), 1.0, generator(seed)).to_list()
    held = {one for one in values if one is not None}
    for before, after in zip(values, drawn, strict=True):
        assert after in held - {before} if before is not None and len(held) > 1 else after == before


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True),
    st.data(),
    st.floats(0, 10),
)
def test_widened_label_holds_what_lies_within_reach_of_a_number_it_stands_for(
    ages: list[int], data: st.DataObject, reach: float
) -> None:
    numbers = np.array(sorted(ages), float)
    chosen = data.draw(st.sets(st.integers(0, len(numbers))))
    runs = [(one, one + 1) for one in sorted(chosen)]
    found = widened(LeafSets.of(len(numbers) + 1, [runs]), numbers, reach)
    told = found.contain(np.zeros(len(numbers) + 1, np.int64), np.arange(len(numbers) + 1))
    inside = [numbers[one] for one in chosen if one < len(numbers)]
    plain = [any(abs(own - one) <= reach * (1 + 1e-9) for one in inside) for own in numbers]
    assert told.tolist() == [*plain, len(numbers) in chosen]


def test_known_numbers_are_off_by_no_more_than_said_and_belong_to_somebody() -> None:
    # The ages 20, 30, 40 and 50 have a standard deviation of 11.18.
    scene = threat_model(PEOPLE, PEOPLE, ["ill"], numbers_off=1.0)
    assert scene.reach("age") == pytest.approx(11.18, abs=0.01)
    assert scene.reach("sex") == 0
    drawn = [scene.as_known(scene.original.frame, str(seed), seed)["age"].to_list() for seed in range(30)]
    assert all(abs(a - b) <= 10 for each in drawn for a, b in zip(each, [20, 30, 40, 50], strict=True))
    assert {one[1] for one in drawn} == {20, 30, 40}
    assert scene.as_known(scene.original.frame, "0", 0)["ill"].to_list() == PEOPLE["ill"]


def test_exact_attacker_who_knows_ages_within_a_reach_is_not_misled_by_it() -> None:
    exact = threat_model({"age": [20, 30, 40, 50]}, {"age": [20, 30, 40, 50]})
    off = ThreatModel(exact.original, exact.published, numbers_off=0.5)
    # With a reach of 5.59 nobody is near enough to be taken for another.
    assert RecordLinkage().measure(off, seed=1)["certain"].value == 1
    wide = ThreatModel(exact.original, exact.published, numbers_off=1.0)
    # With 11.18 two or three records fit whoever is known, their own always among them.
    found = RecordLinkage().measure(wide, seed=1)
    assert found["success"].inputs["without_fitting_own"] == 0
    assert found["certain"].value == 0


def test_attack_looks_for_those_alone_at_whom_the_threat_aims() -> None:
    original = table(PEOPLE, ["ill"])
    assert TableThreat().aimed_at(original, ["sex"], 1) is None
    named = TableThreat(aim="named", named=(2, 0)).aimed_at(original, ["sex"], 1)
    assert named is not None
    assert named.tolist() == [0, 2]
    with pytest.raises(InputError, match="from 0 to 3"):
        TableThreat(aim="named", named=(4,)).aimed_at(original, ["sex"], 1)
    alone = table({"sex": ["f", "m", "m", "m"]})
    riskiest = TableThreat(aim="riskiest", targets=1).aimed_at(alone, ["sex"], 1)
    assert riskiest is not None
    assert riskiest.tolist() == [0]
    scene = ThreatModel(original, published(PEOPLE, ["ill"]), aimed_at=np.array([1]))
    assert scene.targets.tolist() == [1]
    assert scene.released.tolist() == [0, 1, 2, 3]


def test_share_of_people_is_one_of_people_in_however_many_rows() -> None:
    visits = tk.Table({"who": [*"aabbccdd"], "day": range(8)}, qi=["day"]).of_unit(Unit.of("who", None))
    rows = TableThreat(people_share=0.5).aimed_at(visits, ["day"], 3)
    assert rows is not None
    assert all((row ^ 1) in rows for row in rows.tolist())


def test_threat_knows_of_the_method_no_more_than_it_is_told() -> None:
    made = KnownMethod("mondrian", {"ranges": "tight"}, 5, ranged=["age"])
    assert TableThreat().method_of(made) is made
    assert TableThreat(method_known="name").method_of(made) == KnownMethod("mondrian", k=5)
    assert TableThreat(method_known="nothing").method_of(made) == KnownMethod(k=5)


def test_journalist_draws_among_the_people_who_fit_a_record() -> None:
    # Of three women and one man, one woman and the man are released by sex.
    everybody = pl.DataFrame({"sex": ["f", "f", "f", "m"]})
    scene = threat_model({"sex": ["f", "m"]}, {"sex": ["f", "m"]}, population=everybody)
    found = PopulationLinkage().measure(scene, seed=1)
    assert found["success"].inputs["expected"] == pytest.approx(2 / 3)
    assert found["success"].inputs["highest"] == 1
    assert found["success"].inputs["riskiest"] == [2, 1]
    assert found["certain"].value == 0.5
    assert found["success"].baseline == 0.25


def test_mean_and_highest_chance_are_the_risks_of_marketer_and_journalist() -> None:
    # Four records in classes of one and three, of a population with two and six such people: Σ f/F / n = (1/2 + 3/6)/4.
    everybody = pl.DataFrame({"sex": ["f"] * 2 + ["m"] * 6})
    scene = threat_model({"sex": ["f", "m", "m", "m"]}, {"sex": ["f", "m", "m", "m"]}, population=everybody)
    success = PopulationLinkage().measure(scene, seed=1)["success"]
    assert success.inputs["expected"] == pytest.approx((1 / 2 + 3 * 1 / 6) / 4)
    assert (success.inputs["highest"], success.inputs["at_highest"]) == (0.5, 1)


def test_highest_chance_of_a_prosecutor_is_one_in_the_smallest_class() -> None:
    people = {"sex": ["f", "f", "m", "m", "m"]}
    found = tk.attack(table(people), published(people).table, "record-linkage", in_order=True, threat="prosecutor")
    assert found.outcomes["record-linkage"].highest == 0.5
    assert found.outcomes["record-linkage"].riskiest == [0, 1, 2, 3, 4]
    assert found.riskiest.columns == ["attack", "place", "row"]


@pytest.mark.parametrize("name", TABLE_THREATS)
def test_preset_makes_every_attack_that_it_can_and_says_why_it_leaves_others_out(name: str) -> None:
    original = tk.Table({**PEOPLE, "age": ["20", "30", "40", "50"]}, qi=["sex", "age"], sensitive=["ill"])
    threat = TABLE_THREATS[name]
    population = original.frame if "population" in threat.holds else None
    found = tk.attack(original, original.frame, in_order=True, threat=name, people_share=1.0, population=population)
    assert found.threat is not None
    assert {one.attack for one in found.tried} | found.left_out.keys() == set(DISCLOSURE_ATTACKS)
    assert not {one.attack for one in found.tried} & {one for one in DISCLOSURE_ATTACKS if threat.why_not(one)}
    assert found.to_dict()["threat"]["who"] == threat.who
    assert threat.who in found._repr_html_()


def test_named_attack_that_somebody_cannot_make_is_refused() -> None:
    original = table(PEOPLE, ["ill"])
    with pytest.raises(InputError, match="who knows who is in the release, which record-linkage needs"):
        tk.attack(original, original.frame, "record-linkage", in_order=True, threat="journalist")
    with pytest.raises(InputError, match="a population, in which a journalist"):
        tk.attack(original, original.frame, in_order=True, threat="journalist")


def test_mistaken_knowledge_is_said_to_mislead_attacks_by_equal_labels() -> None:
    original = table(PEOPLE, ["ill"])
    found = tk.attack(original, original.frame, ["record-linkage", "distance-linkage"], in_order=True, codes_wrong=0.5)
    assert found.facts["take_every_known_value_for_right"] == ["record-linkage"]
    assert found.threat is not None
    assert "take_every_known_value_for_right" not in tk.attack(original, original.frame, in_order=True).facts
