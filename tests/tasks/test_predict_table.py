"""The law, its nodes and the rule of predictions, from Python and as JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.core.progress import Cost
from tokumei.predictors import two_way
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.one_way import Floats

AGES = ["31", "31", "31", "35", "35", "52", "52", "52", "57", "57", "57", "57"]
SEXES = list("ffmfmffmmmmf")
HIERARCHIES = {
    "age": tk.Hierarchy.of_levels("age", [["31", "35", "52", "57"], ["30s", "30s", "50s", "50s"], ["*"] * 4]),
    "sex": tk.Hierarchy.of_levels("sex", [["f", "m"], ["*"] * 2]),
}


def predicted(**options: Any) -> dict[str, Any]:
    table = tk.Table({"age": AGES, "sex": SEXES}, qi=["age", "sex"])
    found: dict[str, Any] = tk.predict(table, k=3, hierarchies=HIERARCHIES, **options).to_dict()
    return found


def test_a_prediction_shows_its_law_and_counts_quadrants_by_other_names() -> None:
    # Nodes of 1, 2, 2, 4, 4 and 8 classes have k of 12, 6, 5, 2, 2 and 1.
    x, k = [1, 2, 2, 4, 4, 8], [12, 5, 6, 2, 2, 1]
    beta, offset = np.polyfit(np.log(x), np.log(k), 1)
    law = predicted()["methods"]["power-law"]
    assert (law["alpha"], law["beta"]) == pytest.approx((math.exp(offset), beta))
    assert law["x_for_k"] == pytest.approx((2 / math.exp(offset)) ** (1 / beta))
    assert law["r"] == pytest.approx(-np.corrcoef(np.log(x), np.log(k))[0, 1])
    names = ("served_holds", "refused_holds", "served_fails", "refused_fails")
    assert sum(law[name] for name in names) == 5
    margins = predicted()["methods"]["margins"]
    assert "alpha" not in margins
    assert sum(margins[name] for name in names) == 5


def test_the_law_is_printed() -> None:
    table = tk.Table({"age": AGES, "sex": SEXES}, qi=["age", "sex"])
    shown = str(tk.predict(table, k=3, hierarchies=HIERARCHIES).sections())
    assert "power-law: k = " in shown
    assert "R = " in shown


def test_the_rule_of_the_thesis_serves_by_the_predicted_k() -> None:
    for rule, by in (("low", "low"), ("k", "k")):
        found = predicted(rule=rule, method="power-law")
        assert found["rule"] == rule
        for node in found["nodes"]:
            prediction = node["predicted"]["power-law"]
            assert prediction["serves"] == (prediction[by] >= 3)
    with pytest.raises(InputError, match="one of low, k"):
        predicted(rule="x")


def test_nodes_and_caution_of_a_law_can_be_set() -> None:
    two = predicted(largest=2, method="power-law")["methods"]["power-law"]
    assert two["n_classes_counted"] == 1 + 2 + 2
    assert predicted(n_nodes=2, method="power-law")["methods"]["power-law"]["n_classes_counted"] == 1 + 2
    wide, narrow = (predicted(caution=caution)["nodes"][0]["predicted"]["power-law"] for caution in (0.01, 0.4))
    assert wide["low"] < narrow["low"]
    for wrong in ({"largest": 1}, {"n_nodes": 1}, {"caution": 0.9}, {"caution": "x"}, {"largest": "x"}):
        with pytest.raises(InputError):
            predicted(**wrong)
    with pytest.raises(InputError, match="an option of margins"):
        predicted(largest=4, method="margins")


def test_a_predictor_that_would_take_too_long_is_skipped_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    # Six nodes are expected to take 6 · 0.6 ms and 0.025 ms for each step; to count and tell them takes 6 · 0.1 ms.
    monkeypatch.setattr("tokumei.tasks.predict_table.UNASKED", Cost(6.5e-3, 1e9))
    assert predicted()["skipped"] == {}
    monkeypatch.setattr("tokumei.tasks.predict_table.UNASKED", Cost(3e-3, 1e9))
    found = predicted()
    assert list(found["methods"]) == ["power-law"]
    assert list(found["skipped"]) == ["margins"]
    table = tk.Table({"age": AGES, "sex": SEXES}, qi=["age", "sex"])
    shown = str(tk.predict(table, k=3, hierarchies=HIERARCHIES).sections())
    assert "--method margins (method='margins') runs it anyway" in shown
    # What is named runs, and so does a single node.
    assert list(predicted(method="margins")["methods"]) == ["margins"]
    assert list(predicted(levels={"age": 1})["methods"]) == ["margins", "power-law"]
    monkeypatch.setattr("tokumei.tasks.predict_table.UNASKED", Cost(1e-4, 1e9))
    with pytest.raises(InputError, match="a lattice of at most 1 nodes, or a predictor by name"):
        predicted()


def test_many_values_of_few_rows_each_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each of 1,000 incomes took a step for every few nodes; merged into groups of ten rows, they are of a few kinds.
    steps: list[int] = []
    together = two_way._together

    def counted(logs: Floats, weights: Floats) -> tuple[Floats, Floats]:
        steps.append(1)
        return together(logs, weights)

    monkeypatch.setattr(two_way, "_together", counted)
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, 4_000)
    people = {"sex": sex, "town": sex + rng.integers(0, 2, 4_000), "income": rng.permutation(4_000) // 4 * 3 + sex}
    found = tk.predict(tk.Table(people, qi=list(people)), k=5, method="margins")
    fitted = found.compared.fitted["margins"]
    assert isinstance(fitted, FittedMargins)
    nodes = [each.node for each in found.compared.nodes]
    assert len(steps) < 30 * len(nodes)
    # A little over a half or under twice.
    expected = fitted.cost(nodes).seconds
    assert expected == pytest.approx(len(nodes) * 6e-4 + len(steps) * 2.5e-5, rel=0.5)
