"""What a step of a pipeline promises holds on the final release, recounted from its rows, or nothing is released."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest

from tokumei.core.errors import CannotAnonymize, PromiseBroken
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.data.release import DELETED
from tokumei.methods.history.delete import KmAnonymity
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.steps import HistoryStep
from tokumei.methods.pipeline import Pipeline
from tokumei.methods.registry import HISTORY_ANONYMIZERS, HistoryAnonymizer

STEPS: list[HistoryAnonymizer] = [Dummies(clusters=3, smallest=2), KmAnonymity(k=2, m=2)]
# What draws all rows stands alone.
LATER = [name for name in HISTORY_ANONYMIZERS if not hasattr(HISTORY_ANONYMIZERS.get(name), "draws_all_rows")]


def item_sets(frame: pl.DataFrame) -> list[frozenset[str]]:
    """The items of each pseudonym; the cells of a generalized release count as items."""
    sets: dict[str, set[str]] = {}
    for customer, item in frame.select("customer", "item").rows():
        if customer is not None and customer != DELETED:
            sets.setdefault(customer, set()).add(item)
    return [frozenset(one) for one in sets.values()]


def holds(step: HistoryAnonymizer, frame: pl.DataFrame) -> bool:
    sets = item_sets(frame)
    if isinstance(step, Dummies):
        return all(sets.count(one) >= step.smallest for one in sets)
    assert isinstance(step, KmAnonymity)
    known = {combo for one in sets for size in range(1, step.m + 1) for combo in combinations(sorted(one), size)}
    return all(sum(set(combo) <= one for one in sets) >= step.k for combo in known)


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("step", STEPS, ids=["dummies", "km-anonymity"])
def test_promise_of_a_step_holds_after_any_other_or_nothing_is_released(step: HistoryStep, later: str) -> None:
    method = Generalize(k=2) if later == "generalize" else HISTORY_ANONYMIZERS.make(later)
    for seed in range(4):
        history = History.of(make_retail(9, n_rows=40, seed=seed))
        try:
            release = Pipeline((step, method)).anonymize(history, seed=seed)
        except (PromiseBroken, CannotAnonymize):
            continue
        assert holds(step, release.frame)


def test_dummies_before_monthly_pseudonyms_are_not_released_where_item_sets_stand_alone() -> None:
    # Both bought x and y, so that no dummy is needed; in months apart they are {x, y}, {x} and {y}.
    rows = {
        "customer": ["1", "1", "2", "2"],
        "date": ["2011-01-05", "2011-01-05", "2011-01-06", "2011-02-06"],
        "item": ["x", "y", "x", "y"],
        "price": [1.0] * 4,
        "quantity": [1] * 4,
    }
    history = History.of(pl.DataFrame(rows).with_columns(pl.col("date").str.to_date()))
    assert holds(STEPS[0], Pipeline((Dummies(clusters=1),)).anonymize(history, seed=1).frame)
    with pytest.raises(PromiseBroken, match="An item set is shared by 1 pseudonyms, fewer than 2"):
        Pipeline((Dummies(clusters=1), HISTORY_ANONYMIZERS.make("pseudonyms", lifetime=1))).anonymize(history, seed=1)
