"""What every safety measure beyond classes must keep, whoever wrote it."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from tokumei.core.registry import Registry, part_options
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.measures.registry import HISTORY_SAFETY, RELEASES_SAFETY, ROWS_SAFETY
from tokumei.measures.several_releases import SeveralReleases

PEOPLE = pl.DataFrame({"id": range(6), "age": [20, 20, 30, 30, 41, 41], "illness": list("abcabc")})
PURCHASES = pl.DataFrame(
    {"customer": list("112233"), "item": list("abacbc"), "date": datetime.date(2011, 1, 1), "price": 1.0, "quantity": 1}
)
# What each part must be told; what is given here asks for as little as possible.
LEAST: dict[str, dict[str, Any]] = {
    "sequential-k": {"k": 1},
    "m-invariance": {"sensitive": "illness", "m": 1},
    "multi-r-k-anonymity": {"k": 1},
    "c-t-isolation": {"share": 1.0},
    "pk-anonymity": {"k": 1, "columns": ("age",), "retentions": (0.5,)},
    "pl-diversity": {"l": 1, "sensitive": "illness", "columns": ("age",), "retentions": (0.5,)},
    "km-anonymity": {"k": 1},
    "k-t-privacy": {"k": 1, "t": 1},
    "lkc-privacy": {"l": 2, "k": 1, "c": 1, "sensitive": ("a",)},
    "hkp-coherence": {"h": 1, "k": 1, "p": 2, "private": ("a",)},
}

Order = Callable[[pl.DataFrame], pl.DataFrame]


def releases(order: Order) -> tuple[SeveralReleases]:
    later = PEOPLE[1:].with_columns(age=pl.lit("any"))
    return (SeveralReleases.of([order(PEOPLE), order(later)], ["age"], sensitive=["illness"], person="id"),)


def tables(order: Order) -> tuple[Table, Table]:
    released = PEOPLE.with_columns(age=pl.Series([20, 30, 30, 30, 41, 20]))
    original, changed = (Table.with_quasi_identifiers(order(one), ["age"]) for one in (PEOPLE, released))
    return original, changed


def histories(order: Order) -> tuple[History]:
    return (History.of(order(PURCHASES)),)


PARTS = [
    (registry, name, inputs)
    for registry, inputs in ((RELEASES_SAFETY, releases), (ROWS_SAFETY, tables), (HISTORY_SAFETY, histories))
    for name in registry
]
every_part = pytest.mark.parametrize(("registry", "name", "inputs"), PARTS, ids=[name for _, name, _ in PARTS])


@every_part
def test_measure_does_not_depend_on_the_order_of_rows(registry: Registry[Any], name: str, inputs: Any) -> None:
    part = registry.make(name, **LEAST[name])
    score: Score = part.measure(*inputs(lambda frame: frame))
    assert score.name == name
    assert score == part.measure(*inputs(lambda frame: frame.reverse()))


@every_part
def test_measure_of_whoever_asks_for_least_holds(registry: Registry[Any], name: str, inputs: Any) -> None:
    # Classes of two rows and of five repeat no illness but in the second release, which m-invariance must see.
    assert registry.make(name, **LEAST[name]).holds(*inputs(lambda frame: frame)) == (name != "m-invariance")


@every_part
def test_nobody_breaks_no_promise(registry: Registry[Any], name: str, inputs: Any) -> None:
    assert registry.make(name, **LEAST[name]).holds(*inputs(lambda frame: frame.clear()))


@every_part
def test_part_says_which_attack_it_answers_and_has_an_example(registry: Registry[Any], name: str, inputs: Any) -> None:
    assert inputs
    text = inspect.getdoc(registry.get(name)) or ""
    assert "\n\nAnswers " in text
    assert "\n\nExample: " in text
    assert all(option.help for option in part_options(registry.get(name)))
