from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.core.registry import part_options
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.audit import audit
from tokumei.measures.requirement import (
    MISSING_IS_A_VALUE,
    SAFETY,
    PopulationRequirement,
    Requirement,
    value_shares,
)
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.measures.safety.sensitive_values import SensitiveValues
from tokumei.tasks.request import Requirements

ILLNESS = Hierarchy.of_levels("s", [list("uvwx"), ["a", "a", "b", "b"], ["*"] * 4])
Rows = list[tuple[str, str | None]]
SOME_ROWS = st.lists(
    st.tuples(st.sampled_from("ABCDEF"), st.sampled_from(["u", "v", "w", "x", None])), min_size=1, max_size=40
)
LABELS = st.lists(st.sampled_from("PQR"), min_size=6, max_size=6)


def requirements(population: ClassCounts) -> list[Requirement]:
    """Every registered measure, with thresholds that small tables sometimes meet."""
    made: list[tuple[str, dict[str, Any]]] = [
        ("k-anonymity", {"k": 3}),
        ("uniques", {}),
        ("mean-class-size", {"size": 2.5}),
        ("l-diversity", {"sensitive": "s", "l": 2}),
        ("l-diversity", {"sensitive": "s", "l": 2, "is_missing_a_value": False}),
        ("l-diversity", {"sensitive": "s", "l": 1.8, "kind": "entropy"}),
        ("l-diversity", {"sensitive": "s", "l": 2, "kind": "recursive", "c": 1.5}),
        ("l-diversity", {"sensitive": "s", "l": 1, "kind": "recursive", "c": 0.5}),
        ("t-closeness", {"sensitive": "s", "t": 0.4}),
        ("t-closeness", {"sensitive": "s", "t": 0.4, "is_missing_a_value": False}),
        ("t-closeness", {"sensitive": "s", "t": 0.3, "distance": "ordered", "hierarchy": ILLNESS}),
        ("t-closeness", {"sensitive": "s", "t": 0.3, "distance": "hierarchical", "hierarchy": ILLNESS}),
        ("t-closeness", {"sensitive": "s", "t": 0.5, "reference": {"u": 1, "v": 2, "y": 1}}),
        ("alpha-k", {"sensitive": "s", "alpha": 0.6, "k": 2}),
        ("beta-likeness", {"sensitive": "s", "beta": 0.8, "kind": "basic"}),
        ("beta-likeness", {"sensitive": "s", "beta": 1.5, "kind": "enhanced"}),
        ("delta-disclosure", {"sensitive": "s", "delta": 1.5}),
        ("x-y-anonymity", {"y": "s", "k": 2}),
        ("prosecutor-risk", {"threshold": 0.4}),
        ("breach-risk", {"threshold": 0.1}),
        ("journalist-risk", {"population": population, "threshold": 0.2}),
        ("marketer-risk", {"threshold": 0.4}),
        ("marketer-risk", {"threshold": 0.3, "population": population}),
        ("k-map", {"population": population, "k": 4}),
        ("delta-presence", {"population": population, "delta_min": 0.3, "delta_max": 0.6}),
    ]
    assert {name for name, _ in made} == set(SAFETY)
    return [SAFETY.make(name, **options) for name, options in made]


def counts_of(rows: Rows) -> ClassCounts:
    frame = pl.DataFrame(rows, schema={"q": pl.String, "s": pl.String}, orient="row")
    return count_classes(frame, ["q"], sensitive=["s"])


@pytest.mark.slow
@given(SOME_ROWS, SOME_ROWS, LABELS)
def test_monotone_requirements_hold_after_merging_classes(rows: Rows, others: Rows, labels: list[str]) -> None:
    fine, population = counts_of(rows), counts_of(rows + others)
    recoding = Recoding("q", pl.Series(list("ABCDEF")), pl.Series(labels))
    coarse = fine.roll_up(fine.maps([recoding]))
    merged_of = [coarse.domain("q").to_list().index(labels["ABCDEF".index(q)]) for q in fine.domain("q")]
    for requirement in requirements(population):
        above = requirement.recoded([recoding]) if isinstance(requirement, PopulationRequirement) else requirement
        held, holds = requirement.holds_in(fine), above.holds_in(coarse)
        for merged in range(coarse.n_classes):
            parts = [bool(held[i]) for i in range(fine.n_classes) if merged_of[i] == merged]
            if requirement.is_monotone and all(parts):
                assert holds[merged], requirement
            if requirement.is_strongly_monotone and any(parts):
                assert holds[merged], requirement


def test_requirements_not_strongly_monotone_fail_when_a_good_class_meets_a_bad_one() -> None:
    # Alone, A is spread like all rows or better; merged with the many u of B it is not.
    rows: Rows = [*(("A", s) for s in "uuvvwwxx"), *[("B", "u")] * 6, *(("C", s) for s in "vwxvwxvwx")]
    population = counts_of(rows + [("A", "u")] * 9 + [("C", "u")] * 9)
    fine = counts_of(rows)
    recoding = Recoding("q", pl.Series(list("ABCDEF")), pl.Series(list("PPQQQQ")))
    coarse = fine.roll_up(fine.maps([recoding]))
    weak: list[tuple[str, dict[str, Any]]] = [
        ("l-diversity", {"sensitive": "s", "l": 3.9, "kind": "entropy"}),
        ("l-diversity", {"sensitive": "s", "l": 3, "kind": "recursive", "c": 1}),
        ("t-closeness", {"sensitive": "s", "t": 0.15}),
        ("alpha-k", {"sensitive": "s", "alpha": 0.3, "k": 2}),
        ("beta-likeness", {"sensitive": "s", "beta": 0.4}),
        ("delta-presence", {"population": population, "delta_max": 0.5}),
    ]
    for name, options in weak:
        requirement = SAFETY.make(name, **options)
        above = requirement.recoded([recoding]) if isinstance(requirement, PopulationRequirement) else requirement
        assert not requirement.is_strongly_monotone
        assert (requirement.holds_in(fine)[0], above.holds_in(coarse)[0]) == (True, False), name


@pytest.mark.slow
@settings(max_examples=30)
@given(SOME_ROWS)
def test_measures_do_not_depend_on_the_order_of_rows(rows: Rows) -> None:
    counts, again = counts_of(rows), counts_of(rows[::-1])
    for requirement in requirements(counts):
        assert requirement.measure(counts) == requirement.measure(again)
        assert requirement.holds_in(counts).tolist() == requirement.holds_in(again).tolist()
        assert len(requirement.holds_in(counts)) == counts.n_classes
        assert all(column in counts.histograms for column in requirement.sensitive_columns)


def test_measures_of_no_rows_are_zero_and_no_class_fails() -> None:
    counts = counts_of([("A", "u")])
    empty = count_classes(pl.DataFrame(schema={"q": pl.String, "s": pl.String}), ["q"], sensitive=["s"])
    for requirement in requirements(counts):
        assert requirement.measure(empty).value == 0
        assert requirement.holds_in(empty).tolist() == []
    for requirement in requirements(empty):
        assert requirement.measure(empty).value == 0


def test_every_option_of_every_measure_has_a_help_text() -> None:
    for name in SAFETY:
        assert all(option.help for option in part_options(SAFETY.get(name))), name


def test_measure_made_from_text_reads_its_options() -> None:
    assert SAFETY.make_from_text("k-anonymity", {"k": "5"}) == KAnonymity(5)
    made = SAFETY.make_from_text("l-diversity", {"sensitive": "s", "l": "3", "kind": "recursive", "c": "2"})
    assert made == SAFETY.make("l-diversity", sensitive="s", l=3, kind="recursive", c=2)


def test_column_that_was_not_counted_is_named() -> None:
    counts = counts_of([("A", "u")])
    with pytest.raises(InputError, match="found 'illness', expected a column counted as sensitive: s"):
        SAFETY.make("l-diversity", sensitive="illness", l=2).holds_in(counts)
    with pytest.raises(InputError, match="none was"):
        SAFETY.make("alpha-k", sensitive="s", alpha=0.5, k=2).measure(count_classes({"q": ["A"]}, ["q"]))


@pytest.mark.parametrize(
    ("name", "options", "column"),
    [
        ("k-anonymity", {"k": 0}, "k"),
        ("uniques", {"n_suppressed": -1}, "n_suppressed"),
        ("l-diversity", {"sensitive": "s", "l": 0.5}, "l"),
        ("l-diversity", {"sensitive": "s", "l": 2, "kind": "recursive"}, "c"),
        ("l-diversity", {"sensitive": "s", "l": 2, "kind": "odd"}, "kind"),
        ("t-closeness", {"sensitive": "s", "t": 1.2}, "t"),
        ("t-closeness", {"sensitive": "s", "t": 0.2, "distance": "odd"}, "distance"),
        ("t-closeness", {"sensitive": "s", "t": 0.2, "distance": "hierarchical"}, "hierarchy"),
        ("alpha-k", {"sensitive": "s", "alpha": 0, "k": 2}, "alpha"),
        ("alpha-k", {"sensitive": "s", "alpha": 0.5, "k": 0}, "k"),
        ("beta-likeness", {"sensitive": "s", "beta": 0}, "beta"),
        ("beta-likeness", {"sensitive": "s", "beta": 1, "kind": "odd"}, "kind"),
        ("x-y-anonymity", {"y": "s", "k": 0}, "k"),
        ("prosecutor-risk", {"threshold": 0}, "threshold"),
        ("marketer-risk", {"threshold": 0.1, "n_suppressed": -2}, "n_suppressed"),
        ("delta-presence", {"population": None, "delta_max": 1.5}, "delta_max"),
        ("delta-presence", {"population": None, "delta_max": 0.5, "delta_min": 0.6}, "delta_min"),
        ("k-map", {"population": None, "k": 0}, "k"),
    ],
)
def test_option_out_of_range_is_refused_by_name(name: str, options: dict[str, Any], column: str) -> None:
    with pytest.raises(InputError) as caught:
        SAFETY.make(name, **options)
    assert [fault.option or fault.column for fault in caught.value.faults] == [column]


def test_value_shares_are_those_of_all_rows_with_missing_as_a_value() -> None:
    counts = counts_of([("A", "u"), ("A", None), ("B", "u"), ("C", "v")])
    assert value_shares(counts, "s") == {"u": 0.5, "v": 0.25, None: 0.25}


def test_missing_sensitive_value_is_no_value_by_one_default_everywhere() -> None:
    parts = [SAFETY.get(name) for name in SAFETY]
    found = [one.default for part in parts for one in fields(part) if one.name == "is_missing_a_value"]  # type: ignore[arg-type]
    assert len(found) == 6
    functions = [
        inspect.signature(each).parameters["is_missing_a_value"].default for each in (audit, SensitiveValues.of)
    ]
    assert {*found, *functions, Requirements().missing_is_a_value} == {MISSING_IS_A_VALUE} == {False}
