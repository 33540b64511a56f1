"""What customers buy again and again tells of deleted purchases whose they were."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.linkage.attack import weigh
from tokumei.attacks.linkage.fields import Epoch
from tokumei.attacks.linkage.taste import Taste, items_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.data.history import History
from tokumei.methods.pipeline import pipeline_of

FIRST = datetime.date(2021, 1, 1)


def history(*rows: tuple[str, int, str]) -> History:
    cells = [(who, FIRST + datetime.timedelta(days=day), item, 1.0, 1) for who, day, item in rows]
    return History.of(pl.DataFrame(cells, schema=["customer", "date", "item", "price", "quantity"], orient="row"))


def test_the_ratio_of_an_item_is_its_share_of_the_pseudonym_over_that_of_all() -> None:
    # Of four rows of P three are milk, of four of Q one is.
    rows = [("P", 0, "milk"), ("P", 1, "milk"), ("P", 2, "milk"), ("P", 3, "rice")]
    rows += [("Q", 0, "milk"), ("Q", 1, "tofu"), ("Q", 2, "tofu"), ("Q", 3, "tofu")]
    evidence, _ = weigh(history(("c", 0, "milk"), ("c", 5, "tofu")), history(*rows))
    taste = Taste.of(evidence.compared)
    assert taste is not None
    assert 0 < taste.own < 1
    milk, tofu = items_of(evidence.compared.known)[np.argsort(evidence.compared.known.place)].tolist()
    found = taste.look_up(np.array([milk, milk, tofu, tofu]), np.array([0, 1, 0, 1]))
    ratios = [(3 / 4) / (4 / 8), (1 / 4) / (4 / 8), 0, (3 / 4) / (3 / 8)]
    assert found == pytest.approx([1 - taste.own + taste.own * one for one in ratios])
    scores = taste.weigh(evidence.compared.known, 1, [Epoch(np.array([0]), np.array([0, 1]))])
    assert scores[0] == pytest.approx(np.log([found[0] * found[2], found[1] * found[3]]))
    beside = taste.of_rows(np.array([tofu, milk, tofu]), np.array([1, 0]))
    assert beside == pytest.approx(np.array([[found[3], found[2]], [found[1], found[0]], [found[3], found[2]]]))


def test_what_nobody_buys_twice_has_no_taste_and_rows_of_one_day_are_one_visit() -> None:
    films = [(f"P{who}", day, f"{who}{day}film") for who in range(9) for day in range(5)]
    assert Taste.of(weigh(history(*films), history(*films))[0].compared) is None
    twice = [(who, day, item) for who, day, item in films for _ in range(2)]
    assert Taste.of(weigh(history(*twice), history(*twice))[0].compared) is None


def pharmacy(n_customers: int) -> History:
    """Customers who take two to five of 60 medicines, and buy most of these every month."""
    rng, rows = np.random.default_rng(1), []
    usual = 1 / (np.arange(60) + 5.0)
    for who in range(n_customers):
        own = rng.choice(60, rng.integers(2, 6), replace=False, p=usual / usual.sum())
        for month in range(12):
            day = 30 * month + int(rng.integers(0, 28))
            rows += [(f"c{who}", day, f"{item:04}") for item in own[rng.random(len(own)) < 0.8].tolist()]
    return history(*rows)


def cafe(n_customers: int) -> History:
    """Guests of a café for two or three of twelve drinks each, on days of the week of their own."""
    rng, rows = np.random.default_rng(1), []
    for who in range(n_customers):
        likes, on_day = rng.dirichlet(np.full(12, 0.15)), rng.beta(0.4, 1.2, 7)
        days = np.flatnonzero(rng.random(365) < on_day[np.arange(365) % 7]).tolist()
        drinks = rng.choice(12, len(days), p=likes).tolist()
        rows += [(f"c{who}", day, f"{item:02}") for day, item in zip(days, drinks, strict=True)]
    return history(*rows)


NOISE = {"method": "perturb", "days": 31, "quantities": 1.0, "prices": 1.0, "hides_times": True, "whole_baskets": False}
GONE = {"method": "delete", "random": 0.45, "once": False, "price_deviations": 0.0}


# .063 of the pharmacy's customers as long as all items of one beginning were of one kind, and months of which nothing
# is known spoke for absence: pseudonyms were thought to change hands.
@pytest.mark.parametrize(("shop", "least"), [(pharmacy(100), 0.8), (cafe(100), 0.8)], ids=["pharmacy", "café"])
def test_half_deleted_rows_hide_nobody_whose_habits_are_known(shop: History, least: float) -> None:
    release = pipeline_of({"step": [NOISE, GONE, {"method": "pseudonyms", "lifetime": 12}]}).anonymize(shop, seed=1)
    seen, truth = published(History(release.frame), seed=1), truth_of(shop, History(release.frame))
    known = shop.known(0.25, seed=1, item_characters=None)
    found = {
        name: judge(HISTORY_ATTACKS.make(name).guess(known, seen), truth, shop.customers, shop.periods).found.value
        for name in ("linkage", "tfidf", "jaccard")
    }
    assert found["linkage"] >= max(least, *(value - 0.05 for value in found.values()))
