"""Counts of what at least some customers have in common, worked out by hand."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.data.history import History
from tokumei.methods.history.basket_chain import BasketChain, Fitting
from tokumei.methods.history.basket_model import bins_of
from tokumei.methods.history.drawn_customers import Baskets
from tokumei.methods.pipeline import pipeline_of

# Who, which day of 2011, what, at which price, how many.
ROWS = [
    ("u", (3, 7), "a", 1.0, 2),
    ("u", (3, 7), "b", 2.0, 2),
    ("v", (3, 7), "a", 1.0, 2),
    ("v", (3, 7), "b", 3.0, 9),
    ("v", (4, 5), "b", 3.0, 9),
    ("v", (4, 5), "x", 9.0, 1),
]


def history() -> History:
    columns = ["customer", "date", "item", "price", "quantity"]
    rows = [(who, datetime.date(2011, *day), *rest) for who, day, *rest in ROWS]
    return History(pl.DataFrame(rows, schema=columns, orient="row"))


def fitting() -> Fitting:
    return Fitting(Baskets.of(history()), 2)


def test_baskets_are_days_and_know_what_came_before() -> None:
    baskets = Baskets.of(history())
    told = baskets.each.select("customer", "number", "size", "weekday").rows()
    assert told == [(0, 0, 2, 0), (1, 0, 2, 0), (1, 1, 2, 1)]
    assert baskets.items.filter("is_back").select("customer", "item").rows() == [(1, "b")]
    assert baskets.n_baskets.rows() == [(0, 1), (1, 2)]


def test_items_of_fewer_customers_are_left_out() -> None:
    assert fitting().names.to_list() == ["a", "b"]
    with pytest.raises(CannotAnonymize, match="No item is bought by 3 customers"):
        Fitting(Baskets.of(history()), 3)


def test_counts_of_months_pairs_and_returns() -> None:
    model = fitting().model(["invoice", "time"], seed=1)
    # Only v bought in April and on a Tuesday.
    assert model.months.tolist() == [2, 0]
    assert model.weekdays.tolist() == [2, 0, 0, 0, 0, 0, 0]
    assert fitting().pairs().toarray().tolist() == [[0, 2], [2, 0]]
    assert fitting().n_pairs() == 4
    # Only v had a basket before.
    assert not model.returns.any()


def test_larger_numbers_of_baskets_become_one_until_enough_customers_have_them() -> None:
    rows = pl.DataFrame({"customer": [0, 1, 2, 3], "n": [1, 1, 6, 40]})
    made = fitting()._tops(rows, "n")
    assert made[bins_of([1])] == 2
    assert made[bins_of([23])] == 2
    assert made.sum() == 4


def test_price_of_one_customer_becomes_the_mean_of_the_item() -> None:
    values = fitting()._prices()
    cells = list(zip(values.low.tolist(), values.high.tolist(), values.weight.tolist(), strict=True))
    # a costs 1 for both; of b the mean of 2, 3 and 3 stands for all three.
    assert values.first.tolist() == [0, 1, 2]
    assert cells == [(1.0, 1.0, 2.0), (2.67, 2.67, 3.0)]


def test_pairs_counted_in_blocks_are_those_of_counting_basket_by_basket(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    rows = pl.DataFrame(
        {
            "customer": [f"c{one}" for one in random.integers(12, size=400)],
            "date": [datetime.date(2011, 1, int(one)) for one in random.integers(1, 9, size=400)],
            "item": [f"i{one}" for one in random.integers(9, size=400)],
        }
    )
    monkeypatch.setattr("tokumei.methods.history.basket_chain.PAIRS_AT_ONCE", 50)
    fitted = Fitting(Baskets.of(History.of(rows)), 3)
    both: dict[tuple[str, str], list[str]] = {}
    for (who, _), part in rows.group_by("customer", "date"):
        items = sorted(set(part["item"]) & set(fitted.names))
        for one in items:
            for other in items:
                if one != other:
                    both.setdefault((one, other), []).append(str(who))
    names = fitted.names.to_list()
    expected = [[len(w) if len(set(w := both.get((a, b), []))) >= 3 else 0 for b in names] for a in names]
    assert fitted.pairs().toarray().tolist() == expected


def test_as_many_are_kept_out_as_are_asked_for() -> None:
    made = tk.anonymize(history(), method="basket-chain", least=1, hold_out=0.5, anyway=True, seed=1)
    assert len(made.held_out) == 1
    assert made.facts["held_out"] == 1
    assert made.facts["fitted"] == 1


@pytest.mark.parametrize("options", [{"least": 0}, {"hold_out": 1.0}, {"bound": 0.0}, {"n_customers": -1}])
def test_options_beyond_their_ends_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        BasketChain(**options)  # type: ignore[arg-type]


def test_synthesizer_stands_alone_in_a_pipeline() -> None:
    steps = {"step": [{"method": "delete"}, {"method": "basket-chain"}]}
    with pytest.raises(InputError, match="basket-chain alone"):
        pipeline_of(steps)
