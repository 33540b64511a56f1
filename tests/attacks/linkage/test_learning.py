"""What linkage learns from a release, and that nobody fools it: made shops, blurred for a year and for a month."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge, published
from tokumei.attacks.linkage import joining, learning
from tokumei.attacks.linkage.attack import Linkage, weigh
from tokumei.attacks.linkage.evidence import Agreement, Evidence
from tokumei.attacks.linkage.fields import find_epochs
from tokumei.attacks.linkage.joining import join_epochs
from tokumei.attacks.linkage.learning import learn_agreement
from tokumei.attacks.linkage.rows import Side
from tokumei.data.history import History, period_of
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline

BLURRED = (
    Perturb(days=31, quantities=1.0, prices=1.0, hides_times=True, whole_baskets=False),
    Delete(telling=0.25, once=False, price_deviations=0.0),
)


@pytest.fixture(scope="module")
def shop() -> History:
    return History(History.of(make_retail(120, seed=3)).frame.sort("date", "time"))


def released(shop: History, lifetime: int) -> tuple[History, pl.DataFrame]:
    release = Pipeline((*BLURRED, Pseudonyms(lifetime))).anonymize(shop, seed=1)
    assert release.pseudonyms is not None
    return published(History(release.frame), seed=1), release.pseudonyms


def told_agreement(evidence: Evidence, truth: pl.DataFrame) -> Agreement:
    """Learn from whoever is who, told by the truth of a release whose pseudonyms live all year."""
    compared = evidence.compared
    names = dict(truth.select("customer", "pseudonym").unique().iter_rows())
    own = [compared.pseudonyms.index(names[c]) if c in names else -1 for c in compared.customers]
    sure = np.zeros((len(own), 1))
    start = {name: field.usual() for name, field in compared.fields.items()}
    return learn_agreement(
        evidence, compared.known, np.array(own)[:, None], sure, np.full(len(own), -1e9), start, least=0.0
    )


@pytest.mark.slow
def test_blurring_for_a_year_hides_nobody(shop: History) -> None:
    seen, truth = released(shop, 12)
    guesses = Linkage().guess(shop.known(0.25, seed=1), seen)
    assert judge(guesses, truth, shop.customers, shop.periods).row.value > 0.6


@pytest.mark.slow
def test_self_taught_is_about_as_strong_as_told(shop: History) -> None:
    seen, truth = released(shop, 12)
    evidence, counts = weigh(shop.known(0.25, seed=2), seen)
    epochs = find_epochs(evidence.n_rows, len(evidence.compared.customers))
    told = told_agreement(evidence, truth)

    def found(agreement: Agreement | None) -> float:
        names = join_epochs(evidence, counts, epochs, n_rounds=0, agreement=agreement)
        own = dict(truth.select("customer", "pseudonym").unique().iter_rows())
        best = names.max(axis=1)
        right = [
            best[i] >= 0 and evidence.compared.pseudonyms[best[i]] == own.get(c)
            for i, c in enumerate(evidence.compared.customers)
        ]
        return float(np.mean(right))

    taught = found(None)
    # Two standard errors of a share of 120 customers.
    assert abs(taught - found(told)) < 0.09
    assert taught > 0.6


def test_untouched_copy_is_certain(shop: History) -> None:
    release = Pseudonyms(12).anonymize(shop, seed=1)
    assert release.pseudonyms is not None
    guesses = Linkage().guess(shop.known(1, seed=1), published(History(release.frame), seed=1))
    assert judge(guesses, release.pseudonyms, shop.customers, shop.periods).row.value == 1


@pytest.mark.slow
def test_other_customers_of_the_same_shop_are_found_at_the_blind_rate(shop: History) -> None:
    # Half of the customers are known, the other half is released; the truth says who would be whom by order.
    ours, theirs = shop.customers[::2], shop.customers[1::2]
    known = History(shop.frame.filter(pl.col("customer").is_in(ours)))
    others = History(shop.frame.filter(pl.col("customer").is_in(theirs)))
    seen = History(Pseudonyms(12).anonymize(others, seed=1).frame)
    guesses = Linkage().guess(known.known(0.5, seed=1), seen)
    names = dict(zip(ours, sorted(seen.customers), strict=True))
    truth = (
        seen.kept.select(pseudonym="customer", period=period_of(pl.col("date")))
        .unique()
        .join(pl.DataFrame({"customer": list(names), "pseudonym": list(names.values())}), on="pseudonym")
        .select("customer", "period", "pseudonym")
    )
    assert judge(guesses, truth, ours, shop.periods).row.value <= 0.1


def test_epochs_are_cut_where_all_pseudonyms_change() -> None:
    epochs = find_epochs(np.array([[1, 2, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 5], [0, 0, 2, 2]]), 3)
    assert [epoch.months.tolist() for epoch in epochs] == [[0, 1], [2, 3]]
    assert [epoch.names.tolist() for epoch in epochs] == [[0, 1], [2, 3, 4]]
    # Four pseudonyms for three customers: somebody changed in between, so each month is matched for itself.
    assert [len(epoch.months) for epoch in find_epochs(np.array([[1, 1], [1, 0], [0, 1], [1, 1]]), 3)] == [1, 1]


def test_evidence_of_rows_is_what_plain_loops_give(shop: History) -> None:
    seen, _ = released(shop, 12)
    evidence, _ = weigh(shop.known(0.02, seed=1), seen)
    compared = evidence.compared
    start = {name: field.usual() for name, field in compared.fields.items()}
    agreement = {name: np.roll(shares, 1, axis=1) * 0.5 + shares * 0.5 for name, shares in start.items()}
    tables = {name: field.weigh(agreement[name]) for name, field in compared.fields.items()}
    known, released_rows = compared.known, compared.released
    plain = np.zeros((len(compared.customers), len(compared.pseudonyms)))
    n_first = min(12, len(known))
    baskets = [(known.owner[k], known.codes["date"][k], known.codes["time"][k]) for k in range(n_first)]
    assert len(set(baskets)) < n_first
    for k in range(n_first):
        here = np.flatnonzero((released_rows.month == known.month[k]) & (released_rows.kind == known.kind[k]))
        summed = np.zeros(len(compared.pseudonyms))
        for r in here:
            ratio = 1.0
            for name, field in compared.fields.items():
                level = field.levels_of(known.codes[name][k : k + 1], released_rows.codes[name][r : r + 1])[0]
                # Days and times are those of the basket, and count once for all rows of it that are known.
                times = 1 / baskets.count(baskets[k]) if name in ("date", "time") else 1.0
                ratio *= float(tables[name][released_rows.cases[name][r], level]) ** times
            summed[released_rows.owner[r]] += ratio
        month = known.month[k]
        mean = summed / np.maximum(evidence.n_rows[:, month], 1) / evidence.kind_shares[month, known.kind[k]]
        plain[known.owner[k]] += np.log1p((1 - evidence.deleted) / evidence.deleted * mean)
    first = known.select(np.arange(n_first))
    assert evidence.by_rows(first, agreement) == pytest.approx(plain, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("noise", [(), (Perturb(days=31, quantities=0.5, prices=0.25, hides_times=True),)])
def test_pseudonyms_out_of_the_question_teach_nothing(
    shop: History, monkeypatch: pytest.MonkeyPatch, noise: tuple[Perturb, ...]
) -> None:
    some = History(shop.frame.filter(pl.col("customer").is_in(shop.customers[:40])))
    seen = published(History(Pipeline((*noise, Pseudonyms(1))).anonymize(some, seed=1).frame), seed=1)
    evidence, counts = weigh(some.known(0.25, seed=1), seen)
    epochs = find_epochs(evidence.n_rows, len(evidence.compared.customers))
    rates = counts.rates(counts.expected.n_known > 0)
    by_count = [counts.odds(epoch, rates) for epoch in epochs]
    few = joining._learn(evidence, epochs, by_count)
    monkeypatch.setattr(joining, "FAR", np.inf)
    plain = joining._learn(evidence, epochs, by_count)
    for name, shares in few.items():
        assert shares == pytest.approx(plain[name], abs=1e-4)


def test_shop_of_one_kind_of_item_where_most_buy_once_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    # As among tens of thousands of customers: learning ends before what numbers of rows say could grow.
    monkeypatch.setattr(joining, "FIRST_LINKS", 0)
    monkeypatch.setattr(joining, "N_CANDIDATES", (20, 8))
    monkeypatch.setattr(learning, "ROUNDS", 1)
    rng, n_customers, n = np.random.default_rng(1), 400, 800
    who = np.concatenate([np.arange(n_customers), rng.integers(0, n_customers, n - n_customers)])
    bought = pl.DataFrame(
        {
            "customer": [f"H{one}" for one in who],
            "date": np.datetime64("2021-01-01") + rng.integers(0, 365, n),
            "item": ["disc"] * n,
            "price": np.round(np.exp(rng.normal(2.5, 0.4, n)), 2),
            "quantity": rng.integers(1, 6, n),
        }
    )
    shop = History.of(bought.sort("date"))
    release = Pseudonyms(13).anonymize(shop, seed=1)
    assert release.pseudonyms is not None
    guesses = Linkage().guess(shop.known(0.25, seed=1), published(History(release.frame), seed=1))
    assert judge(guesses, release.pseudonyms, shop.customers, shop.periods).found.value > 0.98


def test_candidates_are_kept_of_those_alone_of_whom_rows_are_known_in_a_month(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = History.of(make_retail(40, n_rows=300, seed=2))
    release = History(Pseudonyms(1).anonymize(shop, seed=1).frame)
    seen = []

    def spied(evidence: Evidence, known: Side, candidates: np.ndarray, *rest: Any, **more: Any) -> Agreement:
        seen.append((len(candidates), len(np.unique(known.owner))))
        return learn_agreement(evidence, known, candidates, *rest, **more)

    monkeypatch.setattr(joining, "learn_agreement", spied)
    Linkage().guess(shop.known(0.5, seed=1), published(release, seed=1))
    assert seen
    # There are forty customers in each of several months.
    assert all(n == n_known < 200 for n, n_known in seen)
