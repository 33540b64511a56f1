from __future__ import annotations

import random
from datetime import date

import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.utility.itemsets import AssociationRules


def _history(baskets: list[str]) -> History:
    """Make a history in which each basket is one customer's: a letter is an item."""
    rows = [(str(number), item) for number, basket in enumerate(baskets) for item in basket]
    return History(
        {
            "customer": [customer for customer, _ in rows],
            "date": [date(2011, 1, 1)] * len(rows),
            "item": [item for _, item in rows],
        }
    )


def test_rules_of_the_same_history_do_not_change() -> None:
    history = _history(["MD", "MDB", "MB", "D"])
    assert AssociationRules().measure(history, history).value == 0


def test_rules_worked_by_hand() -> None:
    # Four invoices. D → B: in 1 of 4, of the 2 with D, while B is in 1 of 4: support 1/4, confidence 1/2, lift 2.
    before, after = _history(["DB", "D", "M", "M"]), _history(["DB", "D", "DM", "M"])
    # After: in 1 of 4, of the 3 with D: confidence 1/3, lift 4/3. B → D: confidence 1 and lift 2, then 1 and 4/3.
    score = AssociationRules(least_support=0.25, least_confidence=0.5).measure(before, after)
    assert score.inputs["best"] == [
        "B → D (support 0.25 → 0.25, confidence 1 → 1, lift 2 → 1.333)",
        "D → B (support 0.25 → 0.25, confidence 0.5 → 0.3333, lift 2 → 1.333)",
    ]
    # D → B changes by 0, 1 − (1/3)/(1/2) = 1/3 and 1 − (4/3)/2 = 1/3; B → D by 0, 0 and 1/3.
    assert score.value == pytest.approx((2 / 9 + 1 / 9) / 2)


def test_rule_that_no_invoice_has_any_more_is_lost() -> None:
    assert AssociationRules().measure(_history(["AB", "C"]), _history(["A", "B", "C"])).value == 1
    assert AssociationRules().measure(_history(["A", "B"]), _history(["A"])).value == 0


def test_options_out_of_range_are_refused() -> None:
    for options in ({"least_support": 0.0}, {"least_confidence": 2.0}, {"n_rules": 0}):
        with pytest.raises(InputError):
            AssociationRules(**options).measure(_history(["A"]), _history(["A"]))


def test_few_large_invoices_have_no_end_of_rules_and_are_asked_for_those_of_more_invoices() -> None:
    # Twelve invoices of 120 of 300 items: each holds 280,840 sets of three, and a rule in any of them would do.
    letters, drawn = [chr(0x4E00 + number) for number in range(300)], random.Random(1)
    baskets = ["".join(drawn.sample(letters, 120)) for _ in range(12)]
    score = AssociationRules().measure(_history(baskets), _history(baskets))
    assert score.value == 0
    assert score.inputs["least_invoices"] > 1
    assert score.inputs["rules"] == 100
