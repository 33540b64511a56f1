from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.engines.item_sets import ItemSets
from tokumei.methods.history.dummies import Dummies, best_clusters, expected_dummies, expected_reid, most_dummies
from tokumei.methods.history.similar_customers import balance, cluster
from tokumei.tasks.anonymize_history import anonymize_history


def history(*rows: tuple[str, str, str]) -> History:
    """Rows of customer, invoice and item; each invoice has a day, each item a price of its own."""
    customers, invoices, items = zip(*rows, strict=True)
    return History.of(
        pl.DataFrame(
            {
                "customer": customers,
                "invoice": invoices,
                "date": [datetime.date(2011, 1, 1 + int(invoice) // 100) for invoice in invoices],
                "item": items,
                "price": [float(item[1:]) for item in items],
                "quantity": [int(item[1:]) for item in items],
            }
        )
    )


# Figure 1 of the paper.
FIGURE = history(
    ("u1", "100", "g1"),
    ("u1", "300", "g2"),
    ("u2", "500", "g1"),
    ("u2", "500", "g3"),
    ("u2", "600", "g5"),
    ("u3", "700", "g4"),
    ("u3", "700", "g5"),
)


def test_dummies_give_everyone_of_a_cluster_the_same_items() -> None:
    changed = Dummies(clusters=1).change(FIGURE, seed=1)
    bought = changed.history.frame.group_by("customer").agg(pl.col("item").sort()).sort("customer")
    assert bought["item"].to_list() == [["g1", "g2", "g3", "g4", "g5"]] * 3
    # 15 rows in all, 7 of them real.
    assert changed.rows.null_count() == 8


def test_dummies_leave_real_rows_alone_and_stand_in_invoices_of_their_customer() -> None:
    changed = Dummies(clusters=1).change(FIGURE, seed=1)
    frame = changed.history.frame
    real = frame.filter(changed.rows.is_not_null())
    assert changed.rows.drop_nulls().to_list() == list(range(7))
    assert real.equals(FIGURE.frame)
    made_up = frame.filter(changed.rows.is_null())
    own = set(FIGURE.frame.select("customer", "invoice", "date").rows())
    assert set(made_up.select("customer", "invoice", "date").rows()) <= own
    assert (made_up["item"] == "g" + made_up["quantity"].cast(pl.String)).all()
    assert (made_up["price"] == made_up["quantity"]).all()


def test_dummies_can_come_before_and_after_the_real_rows_of_an_invoice() -> None:
    ends = [Dummies(clusters=1).change(FIGURE, seed=seed).rows for seed in range(20)]
    assert {rows[0] is None for rows in ends} == {True, False}
    assert {rows[-1] is None for rows in ends} == {True, False}


def test_dummies_with_a_cluster_each_add_nothing() -> None:
    changed = Dummies(clusters=3, smallest=1).change(FIGURE, seed=1)
    assert changed.history.frame.equals(FIGURE.frame)


def test_dummies_pass_over_deleted_rows() -> None:
    is_first = pl.int_range(FIGURE.n_rows) == 0
    holed = History(FIGURE.frame.with_columns(pl.when(~is_first).then(pl.all())))
    changed = Dummies(clusters=1).change(holed, seed=1)
    assert changed.history.frame.filter(changed.rows.is_not_null()).equals(holed.frame)


def test_dummies_of_an_empty_history_are_none() -> None:
    assert Dummies().change(History(FIGURE.frame.clear()), seed=1).history.frame.is_empty()


@pytest.mark.parametrize("options", [{"clusters": 0}, {"clusters": 4}, {"clusters": 2, "smallest": 2}])
def test_dummies_in_impossible_clusters_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match=list(options)[-1]):
        Dummies(**options).change(FIGURE, seed=1)


def test_weights_are_those_of_the_paper() -> None:
    weights = ItemSets.of(FIGURE).weights().toarray()
    # u1 bought two items; two of three customers bought g1, one of three g2.
    assert weights[0].tolist() == pytest.approx([(np.log(3 / 2) + 1) / 2, (np.log(3) + 1) / 2, 0, 0, 0])


def alike(sizes: list[int]) -> History:
    """Groups of customers who bought the item of their group, and group 0 as well."""
    rows = []
    for group, size in enumerate(sizes):
        for number in range(size):
            rows += [(f"u{group}{number}", "100", f"g{group}"), (f"u{group}{number}", "100", f"g{10 + group}")]
    return history(*rows)


def test_clusters_found_are_the_groups_that_bought_the_same() -> None:
    weights = ItemSets.of(alike([3, 3])).weights()
    for seed in range(5):
        labels = cluster(weights, 2, np.random.default_rng(seed))
        # Two starts in one group leave the other without a center of its own; no cluster is empty all the same.
        assert set(labels) == {0, 1}
    assert any(
        len(set(labels[:3])) == len(set(labels[3:])) == 1
        for labels in (cluster(weights, 2, np.random.default_rng(seed)) for seed in range(5))
    )


def test_balance_moves_the_most_similar_of_the_largest_cluster() -> None:
    five = history(
        ("a", "100", "g1"), ("b", "100", "g1"), ("c", "100", "g1"), ("c", "100", "g2"), ("d", "100", "g1"),
        ("e", "100", "g2"),
    )  # fmt: skip
    labels = balance(ItemSets.of(five).weights(), np.array([0, 0, 0, 0, 1]), 2)
    assert labels.tolist() == [0, 0, 1, 0, 1]


def test_balance_serves_whichever_small_cluster_somebody_fits_best_not_the_smallest_first() -> None:
    # c shares one item with e and two with f. Serving e's cluster first, as the first of the smallest, would take c.
    rows = [(name, "100", "g1") for name in "abcd"]
    rows += [("c", "100", "g2"), ("c", "100", "g4"), ("c", "100", "g5")]
    rows += [("e", "100", "g2"), ("e", "100", "g3"), ("f", "100", "g4"), ("f", "100", "g5")]
    weights = ItemSets.of(history(*rows)).weights()
    assert balance(weights, np.array([0, 0, 0, 0, 1, 2]), 2).tolist() == [1, 0, 2, 0, 1, 2]


def test_best_clusters_of_a_history_follow_from_its_own_items() -> None:
    # Six customers, two items each; three by three share both: b = 2, h = 12 · 2 / 30 = 0.8, at most 6·0.6 dummies
    # by s = 3: 3·2 − 3·0.8 − 2 = 1.6 a customer, 9.6 in all; c* = √(2.4 · 216 / 9.6) = 7.3, at most one for each.
    sets = ItemSets.of(alike([3, 3]))
    assert most_dummies(6, 2, 0.8) == pytest.approx(9.6)
    assert len(set(Dummies(clusters="best", smallest=1).assign(sets, seed=1))) == 6


def test_alpha_weighs_added_rows_and_the_clusters_are_told() -> None:
    # b = 2, h = 0.8 as above: c* = √(α · 2.4 · 216), so that α = 4 / 518.4 gives two clusters.
    release = anonymize_history(alike([3, 3]), method="dummies", clusters="best", alpha=4 / 518.4, seed=1)
    assert release.facts["clusters"] == 2
    steps = {"step": [{"method": "dummies", "clusters": 3}, {"method": "pseudonyms"}]}
    assert anonymize_history(alike([3, 3]), pipeline=steps, seed=1).to_dict()["clusters"] == 3
    sets = ItemSets.of(alike([3, 3]))
    for options, expected in (
        ({"clusters": 2, "alpha": 1.0}, "option clusters: found '2', expected clusters=best, which alpha is for"),
        ({"clusters": "best", "alpha": 0.0}, "option alpha: found '0.0', expected a weight above 0"),
    ):
        with pytest.raises(InputError, match=expected):
            Dummies(**options).assign(sets, seed=1)


def test_formulas_give_the_example_of_the_paper() -> None:
    # n = 4000, b = 65, µ = 0.03: c* = 1427, Reid 0.3567, Δm 490,650.
    h = 2 * 65 * 0.03
    assert expected_reid(4000, 1427) == pytest.approx(0.3567, abs=1e-4)
    assert expected_dummies(4000, 1427, 65, h) == pytest.approx(490_650, rel=1e-4)
    assert expected_dummies(4000, 1427, 65, h, as_printed=True) == pytest.approx(490_650 + 65 * 4000, rel=1e-4)
    alpha = 1427**2 / ((65 + h / 2) * 4000**3)
    assert best_clusters(4000, 65, h, alpha) == pytest.approx(1427)


def test_best_clusters_is_where_the_paper_s_sum_is_least() -> None:
    n, b, h, alpha = 400, 65, 4, 4e-6

    def total(c: int) -> float:
        return alpha * expected_dummies(n, c, b, h) + expected_reid(n, c)

    assert min(range(1, n + 1), key=total) == round(best_clusters(n, b, h, alpha))
