from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.audit import audit
from tokumei.measures.requirement import SAFETY

PATIENTS = pl.DataFrame(
    {
        "zip": ["A"] * 4 + ["B"] * 3 + ["C"] * 2,
        "illness": ["flu", "flu", "cold", "ulcer", "flu", "cold", None, "flu", "flu"],
        "pay": [1, 2, 3, 4, 2, 2, 3, 1, 4],
    }
)
POPULATION = pl.DataFrame({"zip": ["A"] * 9 + ["B"] * 4 + ["C"] * 2 + ["D"]})
ILLNESS = Hierarchy.of_levels("illness", [["flu", "cold", "ulcer"], ["air", "air", "gut"], ["*"] * 3])


def counted() -> tuple[ClassCounts, ClassCounts]:
    return count_classes(PATIENTS, ["zip"], sensitive=["illness", "pay"]), count_classes(POPULATION, ["zip"])


def test_audit_gives_the_score_of_every_measure() -> None:
    counts, population = counted()
    found = audit(counts, population=population, hierarchies={"illness": ILLNESS}, n_suppressed=1)
    risk = {"threshold": 0.2, "n_suppressed": 1}
    made: list[tuple[str, dict[str, Any]]] = [
        ("k-anonymity", {"k": 2}),
        ("mean-class-size", {"size": 1}),
        ("uniques", {"n_suppressed": 1}),
        ("prosecutor-risk", risk),
        ("journalist-risk", risk | {"population": population}),
        ("breach-risk", {}),
        ("marketer-risk", risk | {"population": population}),
        ("k-map", {"population": population, "k": 2}),
        ("delta-presence", {"population": population, "delta_max": 1}),
    ]
    for name, options in made:
        assert found.scores[name].value == SAFETY.make(name, **options).measure(counts).value
    of_sensitive: list[tuple[str, dict[str, Any]]] = [
        ("l-diversity", {"l": 2}),
        ("l-diversity", {"l": 2, "kind": "entropy"}),
        ("l-diversity", {"l": 2, "kind": "recursive", "c": 3}),
        ("t-closeness", {"t": 1}),
        ("alpha-k", {"alpha": 1, "k": 2}),
        ("beta-likeness", {"beta": 1, "kind": "basic"}),
        ("beta-likeness", {"beta": 1, "kind": "enhanced"}),
        ("delta-disclosure", {"delta": 1}),
    ]
    for column in ("illness", "pay"):
        for name, options in of_sensitive:
            score = SAFETY.make(name, sensitive=column, **options).measure(counts)
            assert found.by_sensitive[column][score.name] == score
    assert {name for name, _ in made + of_sensitive} | {"x-y-anonymity"} == set(SAFETY)
    assert found.by_sensitive["pay"]["x-y-anonymity"] == SAFETY.make("x-y-anonymity", y="pay", k=1).measure(counts)


def test_audit_orders_only_numbers_and_climbs_only_given_hierarchies() -> None:
    counts, _ = counted()
    found = audit(counts, hierarchies={"illness": ILLNESS})
    assert "t-closeness-ordered" in found.by_sensitive["pay"]
    assert "t-closeness-ordered" not in found.by_sensitive["illness"]
    assert "t-closeness-hierarchical" in found.by_sensitive["illness"]
    assert "t-closeness-hierarchical" not in found.by_sensitive["pay"]


def test_audit_names_the_worst_column_of_each_measure() -> None:
    counts, _ = counted()
    found = audit(counts)
    # In C both have the flu; the fewest different pays are two.
    assert (found.worst["l-diversity-distinct"].value, found.worst["l-diversity-distinct"].inputs["sensitive"]) == (
        1,
        "illness",
    )
    assert found.by_sensitive["pay"]["l-diversity-distinct"].value == 2
    for name, score in found.worst.items():
        assert not any(score.is_better_than(scores[name]) for scores in found.by_sensitive.values() if name in scores)


def test_audit_without_population_leaves_out_what_needs_one() -> None:
    counts, population = counted()
    assert set(audit(counts, population=population).scores) - set(audit(counts).scores) == {
        "k-map",
        "delta-presence",
        "journalist-risk",
        "journalist-risk-least",
        "journalist-risk-mean",
        "journalist-risk-share-above",
    }


def test_audit_gives_least_mean_and_share_of_risk() -> None:
    counts, _ = counted()
    found = audit(counts, threshold=0.3, n_suppressed=1)
    assert found.scores["prosecutor-risk"].value == 1 / 2
    assert found.scores["prosecutor-risk-least"].value == 1 / 4
    assert found.scores["prosecutor-risk-mean"].value == pytest.approx(3 / 10)
    assert found.scores["prosecutor-risk-share-above"].value == 5 / 10


def test_audit_can_leave_missing_values_out_and_compare_with_a_reference() -> None:
    counts, _ = counted()
    assert audit(counts).by_sensitive["illness"]["l-diversity-distinct"].value == 1
    referred = audit(counts, references={"illness": {"flu": 1}}, is_missing_a_value=True).by_sensitive["illness"]
    assert referred["t-closeness-equal"].value == pytest.approx(2 / 3)


def test_audit_of_no_rows_is_all_zero() -> None:
    empty = count_classes(PATIENTS.clear(), ["zip"], sensitive=["illness", "pay"])
    found = audit(empty, population=count_classes(POPULATION, ["zip"]), hierarchies={"illness": ILLNESS})
    assert {score.value for score in found.scores.values()} == {0}


def test_audit_refuses_a_hierarchy_of_a_column_that_was_not_counted() -> None:
    counts, _ = counted()
    with pytest.raises(InputError, match="found 'ilness', expected a column counted as sensitive: illness, pay"):
        audit(counts, hierarchies={"ilness": ILLNESS})


def test_audit_as_dict_is_plain() -> None:
    counts, _ = counted()
    shape = audit(counts).as_dict()
    assert json.loads(json.dumps(shape))["classes"]["k-anonymity"]["value"] == 2
    assert set(shape) == {"classes", "by_sensitive", "worst"}
