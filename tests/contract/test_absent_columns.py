"""Every part that takes a history on one that lacks columns: it works, or says which column it needs."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import TokumeiError
from tokumei.methods.registry import HISTORY_ANONYMIZERS

ABSENT = [["item"], ["price"], ["quantity"], ["item", "price", "quantity"]]


def history(absent: list[str]) -> tk.History:
    rows = [
        (
            f"c{who}",
            date(2020, 1, 1) + timedelta(days=11 * row + who),
            f"I{(row + who) % 4}",
            1.0 + row % 3,
            1 + who % 2,
        )
        for who in range(6)
        for row in range(8)
    ]
    frame = pl.DataFrame(rows, schema=["customer", "date", "item", "price", "quantity"], orient="row")
    return tk.History(frame.drop(absent))


@pytest.mark.parametrize("absent", ABSENT, ids="+".join)
@pytest.mark.parametrize("name", list(HISTORY_ANONYMIZERS))
def test_method_works_without_a_column_or_names_it(name: str, absent: list[str]) -> None:
    try:
        seed = None if hasattr(HISTORY_ANONYMIZERS.get(name), "spends_budget") else 1
        released = tk.anonymize(history(absent), method=name, seed=seed)
    except TokumeiError as error:
        assert "the column" in str(error) or "Cannot" in type(error).__name__, error
    else:
        assert released.frame.height


@pytest.mark.parametrize("absent", ABSENT, ids="+".join)
@pytest.mark.parametrize("name", list(HISTORY_ATTACKS))
def test_attack_works_without_a_column_or_names_it(name: str, absent: list[str]) -> None:
    original = history(absent)
    release = tk.anonymize(original, method="pseudonyms", lifetime=1, seed=1)
    try:
        found = tk.attack(original, release, attack=name)
    except TokumeiError as error:
        assert "the column" in str(error), error
    else:
        assert found.to_dict()
