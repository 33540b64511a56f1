"""What a file gives away before anything is done, worked out by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.measures.safety.population_uniques import PopulationUniques
from tokumei.tasks import audit_sample
from tokumei.tasks.audit_table import attack_as_it_stands, audit_table, history_risk, threat_models

# Classes of two, two and one.
PEOPLE = pl.DataFrame({"age": ["30", "30", "40", "40", "50"], "illness": ["flu", "flu", "flu", "cold", "flu"]})


def table() -> Table:
    return Table(PEOPLE, ["age"], ["illness"])


def test_attackers_of_the_threat_models_have_the_risks_of_their_definitions() -> None:
    prosecutor, journalist, marketer = threat_models(audit_table(table()))
    assert (prosecutor["highest"], prosecutor["above"]) == (1.0, 1.0)
    # Each of four has a chance of one half, the fifth of one: three classes among five rows.
    assert prosecutor["mean"] == pytest.approx(3 / 5)
    assert marketer == {"name": "marketer", "mean": pytest.approx(3 / 5)}
    assert journalist["is_bound"]
    assert journalist["highest"] == prosecutor["highest"]


def test_journalist_knows_more_with_the_size_of_the_population(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten of 100 people are alone, and 5 / 100 of them are in the file: half of the one row that is alone here.
    ten = PopulationUniques(100, 5, 1, {"pitman": 10.0}, "pitman")
    monkeypatch.setattr(audit_sample, "population_uniques", lambda sizes, population: ten)
    _, journalist, _ = threat_models(audit_table(table(), population_size=100))
    told = {name: journalist[name] for name in ("population", "alone", "share_alone", "estimator")}
    assert told == {"population": 100, "alone": 10.0, "share_alone": 0.5, "estimator": "pitman"}


def test_all_who_are_alone_in_a_file_of_everybody_are_alone() -> None:
    _, journalist, _ = threat_models(audit_table(table(), population_size=5))
    assert journalist["share_alone"] == 1.0


def test_attacks_on_the_table_as_it_stands_find_what_they_must() -> None:
    found = {one["attack"]: one["scores"] for one in attack_as_it_stands(table())}
    # The row of 50 alone fits one person.
    assert found["record-linkage"]["certain"]["value"] == pytest.approx(1 / 5)
    # Of 30 and 50 all rows that fit say the same.
    assert found["homogeneity"]["certain"]["value"] == pytest.approx(3 / 5)
    assert list(found) == ["record-linkage", "downcoding", "homogeneity"]
    # No label is a range in a file as it was.
    assert found["downcoding"]["singled-out"]["inputs"]["predicates"] == 0
    alone = attack_as_it_stands(Table(PEOPLE, ["age"]))
    assert [one["attack"] for one in alone] == ["record-linkage", "downcoding"]


def history(**more: Any) -> History:
    rows = {"customer": ["a", "a", "b", "b"], "date": ["2020-01-01", "2020-02-01", "2020-01-01", "2020-02-02"]}
    return History.of(pl.DataFrame(rows | more).with_columns(pl.col("date").str.to_date()))


def test_history_tells_who_is_found_by_knowledge_and_by_few_purchases() -> None:
    found = history_risk(history(item=["tea", "tea", "tea", "rice"], price=[1.0] * 4, quantity=[1] * 4))
    assert found["facts"] == {"rows": 4, "customers": 2, "months": 2, "items": 2}
    assert len(found["attackers"]) == 10
    by_day = next(one for one in found["unicity"] if one["knows"] == "day")
    # Whoever knows both days knows the customer.
    assert by_day["singled_out"][1] == 1.0


def test_history_without_items_has_what_days_alone_tell() -> None:
    found = history_risk(history())
    assert found["attackers"] == []
    assert {one["knows"] for one in found["unicity"]} == {"day", "month"}
