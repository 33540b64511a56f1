"""Columns of numbers in a text file: recognized without a word, and worth much to every method and the loss."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import tokumei as tk

KNOWN = ["age", "income"]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> tk.Table:
    draw = random.Random(1)
    rows = [
        f"{draw.randrange(18, 90)},{draw.randrange(1_000, 9_000)},{draw.choice(['flu', 'cold'])}" for _ in range(400)
    ]
    path: Path = tmp_path_factory.mktemp("numbers") / "people.csv"
    path.write_text("age,income,illness\n" + "\n".join(rows) + "\n")
    return tk.Table(path, qi=KNOWN, sensitive=["illness"])


def test_mondrian_on_text_is_as_good_as_with_declared_numbers(people: tk.Table) -> None:
    given: list[dict[str, Any]] = [{}, {"numeric": KNOWN}, {"numeric": []}, {"ranges": "tight"}]

    def loss(**options: Any) -> float:
        made = tk.anonymize(people, k=5, method="mondrian", seed=1, **options)
        assert made.loss is not None
        return made.loss

    found, declared, flat, tight = (loss(**options) for options in given)
    assert found == pytest.approx(declared)
    # Without numbers groups are made along the intervals of a hierarchy; eighty groups of five need far less.
    assert found < flat / 1.2
    assert tight < 0.1
    # Groups of five among 400 people are a few cells wide, so that a grid costs more here than in larger tables.
    assert found < 1.35 * tight


def test_default_loss_is_ncp_and_keeps_ages_that_prec_erases(people: tk.Table) -> None:
    by_default, by_name = tk.anonymize(people, k=5, seed=1), tk.anonymize(people, k=5, seed=1, loss="ncp")
    assert by_default.facts["loss"] == by_name.facts["loss"]
    assert by_default.table.equals(by_name.table)
    assert by_default.table["age"].n_unique() > 1
