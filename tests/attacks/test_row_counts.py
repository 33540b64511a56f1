from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.history.plain_attacks import Tfidf
from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.linkage.attack import RowCounts
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.permute_groups import PermuteGroups


@pytest.fixture(scope="module")
def original() -> History:
    return History.of(make_retail(60, seed=5))


def exchanged(original: History, size: int) -> History:
    """Permute the purchases of each month within groups of customers, whose numbers of rows stay as they are."""
    rng = generator(1, "exchanged")
    group = dict(zip(rng.permutation(original.customers), np.arange(len(original.customers)) // size, strict=True))
    key = np.array([group[who] for who in original.frame["customer"]]) * 100_000 + original.period.to_numpy()
    source = np.empty(len(key), np.int64)
    source[np.argsort(key, kind="stable")] = np.lexsort((rng.random(len(key)), key))
    moved = original.frame.drop("customer")[source].with_columns(customer="P" + original.frame["customer"])
    return History(moved.select(original.frame.columns))


def row_success(attack: RowCounts | Tfidf, original: History, released: History, share: float) -> float:
    seen = published(released, seed=1)
    guesses = attack.guess(original.known(share, seed=1), seen)
    return judge(guesses, truth_of(original, released), original.customers, original.periods).row.value


@pytest.mark.parametrize(("share", "least"), [(0.25, 0.85), (1.0, 1.0)])
def test_counting_rows_finds_who_exchanged_purchases_within_groups(
    original: History, share: float, least: float
) -> None:
    released = exchanged(original, 5)
    assert (
        row_success(RowCounts(), original, released, share) >= least > row_success(Tfidf(), original, released, share)
    )


def test_counting_rows_finds_nobody_beyond_the_bound_where_they_were_made_equal(original: History) -> None:
    release = PermuteGroups(bound=0.3).anonymize(original, seed=1)
    promise = release.recipe.found
    found = row_success(RowCounts(), original, History(release.frame), 1.0)
    assert found <= promise["bound"] + 3 * promise["bound_deviation"]


def test_counting_rows_of_nothing_guesses_nothing(original: History) -> None:
    empty = History(original.frame.clear())
    assert RowCounts().guess(empty, original).is_empty()
    assert RowCounts().guess(original, empty).schema == RowCounts().guess(empty, original).schema


def test_counting_rows_by_hand() -> None:
    rows = [("a", "2011-01-01")] * 3 + [("b", "2011-01-01")] * 8 + [("b", "2011-02-01")] * 2
    known = History.of(pl.DataFrame(rows, schema=["customer", "date"], orient="row"))
    seen = History(known.frame.with_columns(customer=pl.col("customer").replace({"a": "Q", "b": "P"})))
    guesses = RowCounts().guess(known, seen)
    assert guesses.rows() == [("a", 24132, "Q"), ("b", 24132, "P"), ("b", 24133, "P")]
