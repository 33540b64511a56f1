from __future__ import annotations

from math import comb, exp, factorial

import numpy as np
import pytest
from benchmarks.shapes import cafe, pharmacy
from tests.attacks.test_attribution import history

from tokumei.attacks.attribution.groups import _Met, find_groups
from tokumei.attacks.attribution.sides import Sides
from tokumei.data.history import History
from tokumei.methods.history.permute_groups import PermuteGroups
from tokumei.methods.pipeline import pipeline_of

# P and Q have two rows in May each, R three: the tea of a is in the pool of P and Q, the nails of c under R.
PUBLISHED = history(
    ("P", "2011-05-02", "tea", 1.0, 1),
    ("P", "2011-05-03", "jam", 2.0, 1),
    ("Q", "2011-05-02", "tea", 1.0, 1),
    ("Q", "2011-05-04", "oil", 3.0, 2),
    ("R", "2011-05-05", "nails", 4.0, 9),
    ("R", "2011-05-05", "soap", 1.0, 1),
    ("R", "2011-05-06", "rice", 2.0, 4),
)
KNOWN = history(
    ("a", "2011-05-02", "tea", 1.0, 1), ("b", "2011-05-04", "oil", 3.0, 2), ("c", "2011-05-05", "nails", 4.0, 9)
)


def poisson(number: int, mean: float) -> float:
    return exp(-mean) * mean**number / factorial(number) if number >= 0 else 0.0


def test_likelihood_ratios_of_values_and_days_worked_out_by_hand() -> None:
    sides = Sides.of(KNOWN, PUBLISHED)
    of_row = np.array([0, 0, 0, 0, 1, 1, 1])
    met = _Met.of(sides, "values", of_row, 2)
    # Tea and oil are in the pool of the first class, nails in that of the second.
    assert list(zip(met.who.tolist(), met.of_class.tolist(), met.n_there.tolist(), strict=True)) == [
        (0, 0, 2),
        (1, 0, 1),
        (2, 1, 1),
    ]
    ratio, share = met.by_values(np.full(3, 0.6))
    # Two of seven rows are tea (half a row added to either): of four, two, of which none or one is the known one.
    usual = 2.5 / 7.5
    kept, not_kept = 0.6 * poisson(1, 3 * usual), 0.4 * poisson(2, 4 * usual)
    assert ratio[0] == pytest.approx((kept + not_kept) / poisson(2, 4 * usual))
    assert share[0] == pytest.approx(kept / (kept + not_kept))
    days = _Met.of(sides, "day", of_row, 2)
    ratio, share = days.by_days(np.full(3, 0.6), 1.0)
    # On 2 May are two rows of seven, and somebody would be there by chance with 1 − e^(−4 · usual).
    somebody = 1 - exp(-4 * usual)
    assert ratio[0] == pytest.approx((0.6 + 0.4 * somebody) / somebody)
    assert share[0] == pytest.approx(0.6 / (0.6 + 0.4 * somebody))


@pytest.mark.parametrize("seed", range(3))
def test_ratios_of_many_equal_purchases_are_those_of_plain_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    who, n_known, there = rng.integers(0, 5, n), rng.integers(1, 7, n), rng.integers(1, 12, n)
    pool, usual, kept = rng.integers(12, 60, n).astype(float), rng.uniform(0.01, 0.5, n), rng.uniform(0.1, 0.9, n)
    met = _Met(who, n_known, np.zeros(n, np.int64), there, pool, usual, np.zeros(5))
    ratio, _ = met.by_values(kept)
    for at in range(n):
        k, share = int(n_known[at]), float(kept[at])
        total = sum(
            comb(k, b) * share**b * (1 - share) ** (k - b) * poisson(int(there[at]) - b, (pool[at] - b) * usual[at])
            for b in range(k + 1)
        )
        assert ratio[at] == pytest.approx(total / poisson(int(there[at]), pool[at] * usual[at]), rel=1e-6)


def test_who_shares_a_class_is_told_by_purchases_and_days_and_there_is_room_for_no_more() -> None:
    groups = find_groups(Sides.of(KNOWN, PUBLISHED))
    assert groups is not None
    # Classes stand in the order of their first pseudonym.
    assert (groups.of_name.tolist(), groups.size.tolist()) == ([0, 0, 1], [2, 1])
    assert groups.chance.argmax(axis=1).tolist() == [0, 0, 1]
    assert (groups.chance.sum(axis=0) <= groups.size + 1e-6).all()
    assert (groups.chance.sum(axis=1) <= 1 + 1e-9).all()


@pytest.mark.parametrize(("shop", "least"), [(cafe(), 0.9), (pharmacy(), 0.9)], ids=["café", "pharmacy"])
def test_groups_are_told_where_no_pseudonym_is(shop: History, least: float) -> None:
    method = PermuteGroups(bound=0.3)
    release = pipeline_of({"step": [{"method": "permute-groups", "bound": 0.3}]}).anonymize(shop, seed=1)
    labels, known = method.group(shop).labels, shop.known(0.25, seed=1, item_characters=None)
    assert release.rows is not None
    sides = Sides.of(known, History(release.frame))
    found = find_groups(sides)
    assert found is not None
    # The group of each class, by the buyers of its rows; customers' labels are in the order of their names.
    rows = release.frame.with_columns(buyer=shop.frame["customer"].gather(release.rows)).drop_nulls("customer")
    buyer = dict(rows.select("customer", "buyer").iter_rows())
    label = dict(zip(shop.customers, labels.tolist(), strict=True))
    of_class = {
        int(number): label[buyer[name]]
        for name, number in zip(History(rows.drop("buyer")).customers, found.of_name, strict=True)
    }
    right = [
        label[who] == of_class[int(best)]
        for who, best in zip(sides.customers, found.chance.argmax(axis=1), strict=True)
    ]
    # `linkage` names a pseudonym of the right group for .41 of the café's customers, and for .34 of the pharmacy's.
    assert np.mean(right) >= least
