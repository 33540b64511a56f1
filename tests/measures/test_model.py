from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.measures.pairs import Columns, in_order, table

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.measures.table.model import Model

PEOPLE = {"town": list("AAAABBBB"), "income": [1, 2, 3, 4, 5, 6, 7, 8]}
JOBS = {"town": list("AABB") * 5, "job": ["smith", "smith", "judge", "judge"] * 5}


def worth(original: Columns, released: Columns, sensitive: str, rows: pl.Series | None = None, **options: Any) -> Score:
    measure = Model(**{"held_out": 0.5} | options)
    rows = in_order(released) if rows is None else rows
    return measure.measure(table(original, [sensitive]), table(released, [sensitive]), rows)


@pytest.mark.parametrize("metric", ["auc", "accuracy"])
def test_model_of_the_worked_example(metric: str) -> None:
    assert worth(PEOPLE, PEOPLE, "income", metric=metric).value == 0
    hidden = worth(PEOPLE, PEOPLE | {"town": ["*"] * 8}, "income", metric=metric)
    assert (hidden.inputs["original"], hidden.inputs["release"], hidden.value) == (1, 1 / 2, 1 / 2)
    assert hidden.baseline == 1 / 2
    assert hidden.inputs["tested"] == 4


@pytest.mark.parametrize("classifier", ["logistic", "tree"])
def test_model_learns_words_as_well_as_numbers(classifier: str) -> None:
    score = worth(JOBS, JOBS, "job", classifier=classifier)
    assert (score.value, score.inputs["original"], score.inputs["target"]) == (0, 1, "job")


def test_model_of_false_values_learns_what_is_false() -> None:
    turned = JOBS | {"job": ["judge", "judge", "smith", "smith"] * 5}
    assert worth(JOBS, turned, "job").value == 1


def test_model_leaves_out_labels_that_tell_no_class() -> None:
    hidden = JOBS | {"job": ["*", "smith", "*", "judge"] * 5}
    assert worth(JOBS, hidden, "job").value == 0
    assert worth(JOBS, JOBS | {"job": ["*"] * 20}, "job", metric="accuracy").inputs["release"] == 0


def test_model_of_many_words_learns_the_rarer_ones_as_one() -> None:
    # Sixty jobs, of which the last eleven have one bin; without it every row held out would have a job unheard of.
    many = {
        "town": ["A"] * 98 + ["B"] * 11,
        "job": [f"j{n // 2:02}" for n in range(98)] + [f"r{n:02}" for n in range(11)],
    }
    score = worth(many, many, "job", seed=2)
    assert score.value == 0
    assert score.inputs["original"] > 1 / 2


def test_model_learns_from_the_released_rows_of_the_same_people_alone() -> None:
    half = {name: column[:10] for name, column in JOBS.items()}
    assert worth(JOBS, half, "job").value == 0


def test_model_does_not_depend_on_the_order_of_equal_rows() -> None:
    rows = pl.Series(range(19, -1, -1))
    turned = {name: column[::-1] for name, column in JOBS.items()}
    hidden = JOBS | {"town": ["*", "A", "B", "*"] * 5}
    there = worth(JOBS, hidden, "job")
    assert there == worth(turned, {name: column[::-1] for name, column in hidden.items()}, "job")
    assert there == worth(JOBS, {name: column[::-1] for name, column in hidden.items()}, "job", rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "height"}, "a column to learn"),
        ({"held_out": 1.0}, "a share between 0 and 1"),
        ({"held_out": 0.01}, "rows to learn from and rows to test on"),
        ({"seed": -1}, "a whole number from 0"),
    ],
)
def test_model_refuses_what_it_cannot_learn(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        worth(PEOPLE, PEOPLE, "income", **options)


def test_model_refuses_rows_that_are_not_the_originals() -> None:
    with pytest.raises(InputError, match="a row of the original for each of 8 rows"):
        worth(PEOPLE, PEOPLE, "income", pl.Series([9] * 8))
