from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from tokumei.attacks.judge import judge, published
from tokumei.attacks.linkage import attack, blocking, evidence, joining
from tokumei.attacks.linkage.attack import Linkage
from tokumei.attacks.linkage.blocking import match, match_sparse
from tokumei.attacks.linkage.fields import find_epochs
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms


def test_sparse_matching_agrees_with_the_one_of_all_pairs() -> None:
    rng = np.random.default_rng(1)
    for n, m in ((6, 6), (9, 5), (5, 9)):
        scores = rng.normal(0, 4, (n, m))
        found, sure = match(scores)
        few, few_sure = match_sparse(csr_array(scores))
        assert few.tolist() == found.tolist()
        assert few_sure == pytest.approx(sure)


def test_customer_without_a_possible_pseudonym_is_absent() -> None:
    scores = csr_array((np.array([5.0, 3.0]), (np.array([0, 1]), np.array([0, 0]))), shape=(3, 2))
    found, sure = match_sparse(scores)
    # Both of the first want one pseudonym; the stronger claim gets it, and the third has none to want.
    assert found.tolist() == [0, -1, -1]
    assert sure[2] == 1
    assert match_sparse(csr_array((2, 3)))[0].tolist() == [-1, -1]


@pytest.mark.slow
@pytest.mark.parametrize("lifetime", [12, 3])
def test_customers_in_blocks_are_found_as_those_all_at_once(monkeypatch: pytest.MonkeyPatch, lifetime: int) -> None:
    shop = History.of(make_retail(60, n_rows=1_800, seed=5))
    moved = Perturb(days=5, quantities=0.3, prices=0.1).change(shop, seed=1).history
    release = Pseudonyms(lifetime).anonymize(moved, seed=1)
    known, seen = shop.known(0.25, seed=1), published(History(release.frame), seed=1)
    whole = Linkage(rounds=0).guess(known, seen)
    monkeypatch.setattr(attack, "LARGEST_CELLS", 0)
    monkeypatch.setattr(blocking, "BLOCK_CELLS", 2_500)
    parts = Linkage().guess(known, seen)
    assert release.pseudonyms is not None
    shares = [judge(one, release.pseudonyms, shop.customers, shop.periods).row.value for one in (whole, parts)]
    # How far fields agree is learned from fewer customers, so that single guesses may differ.
    assert shares[1] >= shares[0] - 0.07
    assert shares[0] > 0.8


def test_true_pseudonyms_are_among_those_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = History.of(make_retail(60, n_rows=1_800, seed=5))
    release = Pseudonyms(12).anonymize(Perturb(days=31, prices=0.5).change(shop, seed=1).history, seed=1)
    monkeypatch.setattr(blocking, "N_KEPT", 6)
    evidence, counts = attack.weigh(shop.known(0.25, seed=1), History(release.frame))
    epochs = find_epochs(evidence.n_rows, 60)
    [scores] = blocking.score_in_blocks(evidence, counts, epochs, joining.learn_fields)
    assert release.pseudonyms is not None
    truth = release.pseudonyms.unique(["customer", "pseudonym"]).select("customer", "pseudonym")
    names = {name: at for at, name in enumerate(evidence.compared.pseudonyms)}
    kept = [
        names[pseudonym] in epochs[0].names[scores.indices[scores.indptr[at] : scores.indptr[at + 1]]]
        for at, pseudonym in enumerate(truth.sort("customer")["pseudonym"])
    ]
    assert np.mean(kept) >= 0.95
    assert np.diff(scores.indptr).max() <= 6


def test_estimate_of_many_customers_is_that_of_blocks() -> None:
    many = pl.DataFrame({"customer": [f"c{n}" for n in range(23_570)]}).with_columns(
        date=pl.lit("1997-01-01"), item=pl.lit("CD"), price=12.0, quantity=1
    )
    shop = History.of(many)
    assert Linkage().estimate(shop, shop).n_bytes < 4e9


def test_estimate_of_a_shop_with_one_kind_of_item_holds_what_is_learned_from_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (blocking, attack):
        monkeypatch.setattr(module, "BLOCK_CELLS", 400_000)
    monkeypatch.setattr(attack, "LARGEST_CELLS", 0)
    monkeypatch.setattr(joining, "FIRST_LINKS", 20_000)
    monkeypatch.setattr(evidence, "BLOCK_PAIRS", 100_000)
    rng, n_customers, n = np.random.default_rng(1), 1_500, 4_000
    who = np.concatenate([np.arange(n_customers), rng.integers(0, n_customers, n - n_customers)])
    bought = {"customer": [f"H{one}" for one in who], "date": np.datetime64("2021-01-01") + rng.integers(0, 365, n)}
    numbers = {"price": np.round(np.exp(rng.normal(2.5, 0.4, n)), 2), "quantity": rng.integers(1, 6, n)}
    shop = History.of(pl.DataFrame({**bought, "item": ["disc"] * n, **numbers}).sort("date"))
    known, seen = shop.known(0.25, seed=1), published(History(Pseudonyms(13).anonymize(shop, seed=1).frame), seed=1)
    expected = Linkage().estimate(known, seen).n_bytes
    tracemalloc.start()
    Linkage().guess(known, seen)
    _, held = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.5 <= held / expected <= 2
