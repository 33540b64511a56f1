"""Releases whose pseudonyms change hands, and the chain by which the months of a customer are joined."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge, published
from tokumei.attacks.linkage import attack
from tokumei.attacks.linkage.attack import Linkage
from tokumei.attacks.linkage.persistence import NONE, Chain
from tokumei.attacks.linkage.pieces import in_pieces
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.similar_customers import ExchangePseudonyms
from tokumei.methods.pipeline import pipeline_of

NOISE = {"method": "perturb", "days": 31, "quantities": 0.5, "prices": 0.25, "hides_times": True}
EXCHANGE: dict[str, object] = {"method": "exchange-pseudonyms"}


@pytest.fixture(scope="module")
def shop() -> History:
    return History.of(make_retail(60, n_rows=4_000, seed=5))


def found(shop: History, *steps: dict[str, object], known: float = 0.25) -> float:
    release = pipeline_of({"step": list(steps)}).anonymize(shop, seed=1)
    assert release.pseudonyms is not None
    guesses = Linkage().guess(shop.known(known, seed=1), published(History(release.frame), seed=1))
    return judge(guesses, release.pseudonyms, shop.customers, shop.periods).found.value


# As long as all months of a pseudonym were taken for one customer's, .797 of a customer's months were found, and .769
# of the noisy ones.
@pytest.mark.parametrize("steps", [(EXCHANGE,), (NOISE, EXCHANGE)])
def test_exchanged_pseudonyms_hide_hardly_anybody(shop: History, steps: tuple[dict[str, object], ...]) -> None:
    assert found(shop, *steps) >= 0.97


def test_lives_of_different_lengths_hide_hardly_anybody_under_noise(shop: History) -> None:
    # .766 when each month was matched for itself, and what a pseudonym has in other months was the same for each.
    noise = NOISE | {"quantities": 1.0, "prices": 1.0, "whole_baskets": False}
    lives = {"method": "pseudonyms", "lifetime": 12, "risk_limit": 0.9999}
    assert found(shop, noise, lives, known=0.15) >= 0.92


def pharmacy(n_customers: int = 100) -> History:
    """Make customers who come back every so many days for the same few of sixty goods."""
    rng, rows = np.random.default_rng(1), []
    prices = np.round(np.exp(rng.normal(2, 0.6, 60)), 2)
    for who in range(n_customers):
        own, every = rng.choice(60, rng.integers(2, 6), replace=False), rng.choice([7, 14, 28, 30])
        for day in range(int(rng.integers(0, every)), 365, int(every)):
            date = datetime.date(2021, 1, 1) + datetime.timedelta(days=day)
            for at in own[rng.random(len(own)) < 0.7]:
                item = f"{10 + at % 6}P{at:03}"
                rows.append((f"p{who}", date, item, float(prices[at]), int(rng.integers(1, 4))))
    columns = ["customer", "date", "item", "price", "quantity"]
    return History.of(pl.DataFrame(rows, schema=columns, orient="row").sort("date", "customer", maintain_order=True))


def test_exchange_is_seen_under_noise_where_kinds_of_items_say_little_and_numbers_of_rows_more() -> None:
    # .042 when kinds alone told whether names change hands.
    noise: dict[str, object] = NOISE | {"whole_baskets": False}
    deleted: dict[str, object] = {"method": "delete", "random": 0.4, "once": False, "price_deviations": 0.0}
    assert found(pharmacy(), noise, deleted, EXCHANGE) >= 0.35


@pytest.mark.parametrize("narrow", [True, False])
def test_exchanged_pseudonyms_are_followed_in_blocks_of_customers(
    shop: History, monkeypatch: pytest.MonkeyPatch, narrow: bool
) -> None:
    monkeypatch.setattr(attack, "LARGEST_CELLS", 0)
    steps = (EXCHANGE,) if narrow else (NOISE, EXCHANGE)
    assert found(shop, *steps) >= 0.85


def test_pseudonyms_that_are_kept_are_not_cut(shop: History) -> None:
    for method, n_epochs in ((ExchangePseudonyms(share=0.0), 1), (ExchangePseudonyms(), 12)):
        seen = published(History(method.anonymize(shop, seed=1).frame), seed=1)
        _, _, epochs = in_pieces(*attack.weigh(shop.known(0.25, seed=1), seen))
        assert len(epochs) == n_epochs


def plain_messages(odds: np.ndarray[tuple[int, ...], np.dtype[np.float64]], chain: Chain) -> list[dict[int, float]]:
    """Sum over all ways of having pseudonyms (0, 1, … or none) through the epochs of one customer."""
    there, n = chain.is_there, chain.is_there.shape[1] - 1
    none = [min(max(1 - row.sum() / chain.n_customers, NONE[0]), NONE[1]) for row in there]

    def new(at: int, name: int) -> float:
        if name == n:
            return float(none[at])
        weights = [
            there[at, one] * (1 - chain.stay[at - 1] if there[:at, one].any() else 1.0) if at else there[at, one]
            for one in range(n)
        ]
        return float((1 - none[at]) * weights[name] / sum(weights))

    totals = [np.zeros(n + 1) for _ in odds]
    for way in itertools.product(range(n + 1), repeat=len(odds)):
        chance = new(0, way[0])
        for at in range(1, len(way)):
            before, now = way[at - 1], way[at]
            stay = chain.stay[at - 1] if before < n and there[at:, before].any() else 0.0
            chance *= (1 - stay) * new(at, now) + stay * (now == before)
        says = [np.exp(odds[at, name]) if name < n and there[at, name] else 1.0 for at, name in enumerate(way)]
        for at, name in enumerate(way):
            totals[at][name] += chance * np.prod([one for other, one in enumerate(says) if other != at])
    messages = []
    for at, total in enumerate(totals):
        away = total[n] + total[:n][~there[at, :n]].sum()
        base = none[at] / (1 - none[at]) * there[at].sum()
        messages.append({name: float(np.log(total[name] / away * base)) for name in np.flatnonzero(there[at]).tolist()})
    return messages


@pytest.mark.parametrize("seed", range(5))
def test_messages_are_those_of_all_ways_of_having_pseudonyms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    there = np.zeros((4, 4), np.bool_)
    there[:, :3] = rng.random((4, 3)) < 0.7
    there[:, 0] = True
    odds = rng.normal(0, 2, (4, 4))
    columns = [np.flatnonzero(row) for row in there]
    chain = Chain(columns, 5, there, rng.uniform(0.1, 0.9, 3), np.zeros(3), np.zeros(3))
    messages, _ = chain.join([odds[at, column][None] for at, column in enumerate(columns)])
    for message, plain in zip(messages, plain_messages(odds, chain), strict=True):
        assert message[0] == pytest.approx(list(plain.values()))


def test_staying_is_learned_from_who_is_seen_to_stay() -> None:
    # Fifty customers who surely have their own pseudonym in both months, and fifty who surely exchange in pairs.
    n = 100
    own = np.arange(n)
    other = np.where(own < 50, own, own ^ 1)
    odds = [np.where(own[:, None] == names, 9.0, 0.0) for names in (own, other)]
    there = np.ones((2, n + 1), np.bool_)
    there[:, n] = False
    chain = Chain([own, own], n, there, np.array([0.9]), np.zeros(1), np.zeros(1))
    for _ in range(5):
        chain.join(odds)
        chain = chain.learned()
    assert chain.stay[0] == pytest.approx(0.5, abs=0.05)
