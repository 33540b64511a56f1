"""The formulas behind the studies of dummy records, worked out by hand."""

from __future__ import annotations

import datetime
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from tokumei.data.history import History
from tokumei.engines.item_sets import ItemSets
from tokumei.methods.history.dummies import Dummies, missing_items
from tokumei_studies.results._dummies_paper import TABLE_2, dummies_with_overlaps, fewest_clusters, shared_items
from tokumei_studies.results.dummies_best_clusters import best_by_formula, best_in_full, fewest_printed, weight
from tokumei_studies.results.dummies_cluster_size import mean_overlap, try_setting, unite
from tokumei_studies.results.jaccard_attack import attack_all, n_named, nearest_customers

PAIRS = ["1a", "1b", "2a", "2c", "2d", "3e"]


def history_of(pairs: list[str]) -> History:
    """Make a history of customer and item, a row each."""
    n_rows = len(pairs)
    frame = {
        "customer": [pair[0] for pair in pairs],
        "invoice": ["1"] * n_rows,
        "date": [datetime.date(2011, 1, 1)] * n_rows,
        "time": [datetime.time(12)] * n_rows,
        "item": [pair[1] for pair in pairs],
        "price": [1.0] * n_rows,
        "quantity": [1] * n_rows,
    }
    return History(pl.DataFrame(frame))


def test_shared_items_follow_from_the_similarity() -> None:
    # Two sets of 3 with 2 in common: 2 of 4.
    assert shared_items(3, 2 / 4) == pytest.approx(2)


def test_dummies_with_overlaps_are_the_items_that_a_cluster_lacks() -> None:
    # Two clusters of two, 3 items each, 1 shared: unions of 5, and each of the four lacks 2.
    assert dummies_with_overlaps(4, 2, 3, 1) == pytest.approx(8)
    # Alone nobody lacks anything.
    assert dummies_with_overlaps(4, 4, 3, 1) == pytest.approx(0)


def test_dummies_with_overlaps_are_counted_on_sets_that_all_share_pairs() -> None:
    # Three sets of 4, each two with one item of their own in common: 3·4 − 3·1 = 9 in the union.
    sets = [{"12", "13", "a", "b"}, {"12", "23", "c", "d"}, {"13", "23", "e", "f"}]
    assert {len(one & other) for one, other in combinations(sets, 2)} == {1}
    lacking = sum(len(set.union(*sets) - one) for one in sets)
    assert dummies_with_overlaps(3, 1, 4, 1) == pytest.approx(lacking) == 15


def test_fewest_clusters_are_where_the_union_stops_growing() -> None:
    n, b, h = 400, 65, 3.9
    largest = n / fewest_clusters(n, b, h)
    union = {size: size * b - size * (size - 1) / 2 * h for size in (largest - 0.1, largest, largest + 0.1)}
    assert max(union, key=lambda size: union[size]) == largest


def test_best_clusters_grow_in_step_with_the_customers() -> None:
    assert best_in_full(800) == pytest.approx(2 * best_in_full(400), abs=2)
    assert best_by_formula(800) == pytest.approx(2 * best_by_formula(400), abs=2)
    assert weight(800) == pytest.approx(weight(400) / 2, rel=0.01)


def test_fewest_printed_are_those_marked_in_the_table() -> None:
    assert fewest_printed() == {50: 125_798, 75: 91_946, 100: 59_374, 125: 46_101}
    assert len(TABLE_2) == 16


def test_united_items_are_those_of_the_cluster_and_as_many_as_dummies_add() -> None:
    sets = ItemSets.of(history_of(PAIRS))
    labels = np.array([0, 0, 1])
    united = unite(sets, labels)
    # 1 and 2 have a, b, c and d; 3 has e.
    assert united.toarray().sum(axis=1).tolist() == [4, 4, 1]
    assert int(united.sum() - sets.bought.sum()) == missing_items(sets, labels).height == 3


def test_trials_count_what_a_release_has_more() -> None:
    history = history_of([*PAIRS, "4a", "4e"])
    trials = try_setting(ItemSets.of(history), 2, 2, [0, 1])
    for seed, n_dummies in enumerate(trials.n_dummies):
        assert Dummies(2, 2).change(history, seed=seed).history.n_rows - history.n_rows == n_dummies
    assert all(0 < similarity < 1 for similarity in trials.jaccard)
    assert trials.mean_dummies == sum(trials.n_dummies) / 2


def test_mean_overlap_is_over_all_pairs() -> None:
    # 1 and 2 share a, of a, b, c and d; 3 shares nothing.
    h, mu = mean_overlap(ItemSets.of(history_of(PAIRS)))
    assert h == pytest.approx(1 / 3)
    assert mu == pytest.approx((1 / 4) / 3)


def test_customer_is_named_by_most_months_and_by_the_first_of_equals() -> None:
    truth = pl.DataFrame({"customer": ["1", "2", "3"], "pseudonym": ["A", "B", "C"]})
    guesses = pl.DataFrame(
        {
            "customer": ["1", "1", "1", "2", "2", "3", "3"],
            "period": [1, 2, 3, 1, 2, 1, 2],
            "pseudonym": ["A", "B", "A", "B", "A", "D", "C"],
        }
    )
    # 1 is A by two to one; 2 is A and B once each, so A, which is wrong; 3 is C before D.
    assert n_named(guesses, truth) == 2


def test_nearest_customer_shares_the_largest_part_of_the_items() -> None:
    released = history_of(["xa", "xb", "ye"])
    found = nearest_customers(history_of(PAIRS), released)
    assert dict(found.select("pseudonym", "customer").rows()) == {"x": "1", "y": "3"}


def test_every_attack_by_items_finds_all_where_only_names_changed() -> None:
    found = attack_all(history_of([*PAIRS, "3a"]), ())
    assert found["Jaccard"] == found["tf-idf"] == 1
    assert all(0 <= share <= 1 for share in found.values())
