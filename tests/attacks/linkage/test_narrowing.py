from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge, published
from tokumei.attacks.linkage import evidence as narrowing
from tokumei.attacks.linkage.attack import Linkage, weigh
from tokumei.attacks.linkage.evidence import LEAST_EQUAL, Evidence, Narrowed, narrow_keys, share_unchanged
from tokumei.attacks.linkage.fields import find_epochs
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline


def history(*rows: tuple[str, int, str]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "day", "item"], orient="row")
    dates = [datetime.date(2011, 1, day) for day in frame["day"]]
    return History.of(frame.drop("day").with_columns(date=pl.Series(dates), price=1.0, quantity=1))


def told(evidence: Evidence, *, equal: float) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Believe that dates are equal so often, and nothing on other fields."""
    agreement = {name: field.usual() for name, field in evidence.compared.fields.items()}
    n_levels = agreement["date"].shape[1]
    agreement["date"] = np.array([[equal] + [(1 - equal) / (n_levels - 1)] * (n_levels - 1)])
    return agreement


def test_rows_of_another_day_are_no_counterparts_where_days_stay() -> None:
    known = history(("a", 3, "22"), ("b", 4, "22"), ("b", 9, "22"))
    released = history(("P", 3, "22728"), ("Q", 4, "22728"), ("Q", 5, "22728"))
    evidence, _ = weigh(known, released)
    side = evidence.compared.known
    keys = narrow_keys(evidence.compared, side, told(evidence, equal=1.0))
    assert keys is not None
    pairs = [(one, other) for one, of in enumerate(keys[0]) for other, theirs in enumerate(keys[1]) if of == theirs]
    names = [(side.owner[one], evidence.compared.released.owner[other]) for one, other in pairs]
    # Nobody bought on the ninth, and nothing known is of the fifth.
    assert sorted(names) == [(0, 0), (1, 1)]
    assert narrow_keys(evidence.compared, side, told(evidence, equal=LEAST_EQUAL - 0.01)) is None


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_narrowed_rows_are_those_of_all_rows_where_other_days_say_nothing(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    shop = History.of(make_retail(12, n_rows=300, seed=seed))
    release = Pipeline((Perturb(days=0, quantities=0.5), Delete(random=0.2, once=False), Pseudonyms(3)))
    seen = published(History(release.anonymize(shop, seed=seed).frame), seed=seed)
    evidence, _ = weigh(shop.known(0.4, seed=seed), seen)
    # Rows of other days have a likelihood of nothing then.
    agreement = told(evidence, equal=1.0)
    known = evidence.compared.known
    monkeypatch.setattr(narrowing, "CHUNK_PAIRS", 50)
    # Baskets say more.
    monkeypatch.setattr(narrowing, "MANY_DELETED", 1.0)
    assert Narrowed.of(evidence.compared, known, agreement) is not None
    narrowed = evidence.by_rows(known, agreement)
    monkeypatch.setattr(Narrowed, "of", lambda *_: None)
    plain = evidence.by_rows(known, agreement)
    assert narrowed == pytest.approx(plain, rel=1e-4, abs=1e-4)


def test_counts_of_some_pairs_are_those_of_all() -> None:
    shop = History.of(make_retail(15, n_rows=400, seed=3))
    seen = History(Pseudonyms(3).anonymize(shop, seed=1).frame)
    evidence, counts = weigh(shop.known(0.3, seed=1), seen)
    rates = counts.rates(counts.expected.n_known > 0)
    for epoch in find_epochs(evidence.n_rows, 15):
        plain = counts.odds(epoch, rates)
        customers, names = np.nonzero(np.ones(plain.shape))
        assert counts.odds_of_pairs(epoch, rates, customers, names) == pytest.approx(plain.ravel())


@pytest.mark.slow
def test_attack_that_compares_few_rows_finds_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = History.of(make_retail(60, n_rows=2_000, seed=5))
    release = Pipeline((Delete(random=0.1, once=False), Pseudonyms(1))).anonymize(shop, seed=1)
    assert release.pseudonyms is not None
    known, seen = shop.known(0.25, seed=1), published(History(release.frame), seed=1)
    found = []
    for least in (LEAST_EQUAL, 1.1):
        monkeypatch.setattr(narrowing, "LEAST_EQUAL", least)
        verdict = judge(Linkage().guess(known, seen), release.pseudonyms, shop.customers, shop.periods)
        found.append(verdict.found.value)
    assert found[0] == pytest.approx(found[1], abs=0.01)


def test_rows_released_as_they_were_are_told_from_rows_met_by_accident() -> None:
    known = history(("a", 3, "22"), ("a", 4, "22"), ("b", 9, "22"), ("b", 11, "22"))
    released = history(("P", 3, "22728"), ("P", 4, "22728"), ("Q", 9, "22728"), ("Q", 12, "22728"))
    evidence, _ = weigh(known, released)
    # Three of four meet one row each: 1 − 3/4 = (1 − q) · exp(q − 3/4) for q = 3/4.
    assert share_unchanged(evidence.compared, evidence.compared.known) == pytest.approx(0.75, abs=1e-5)
    crowd = history(*(("P", 3, "22728") for _ in range(10)))
    evidence, _ = weigh(history(("a", 3, "22"), ("b", 4, "22")), crowd)
    # One of two meets ten rows: so many meet somebody's by accident.
    assert share_unchanged(evidence.compared, evidence.compared.known) == pytest.approx(0, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "deleted"), [(0, 0.0), (1, 0.2)])
def test_starting_from_rows_as_they_were_finds_what_starting_from_kinds_finds(
    monkeypatch: pytest.MonkeyPatch, seed: int, deleted: float
) -> None:
    shop = History.of(make_retail(40, n_rows=1_500, seed=seed))
    release = Pipeline((Delete(random=deleted, once=False), Pseudonyms(1))).anonymize(shop, seed=seed)
    seen, known = published(History(release.frame), seed=seed), shop.known(0.25, seed=seed)
    evidence, _ = weigh(known, seen)
    assert share_unchanged(evidence.compared, evidence.compared.known) >= narrowing.UNCHANGED
    found = Linkage().guess(known, seen)
    monkeypatch.setattr(narrowing, "UNCHANGED", 2.0)
    plain = Linkage().guess(known, seen)
    assert release.pseudonyms is not None
    values = [judge(one, release.pseudonyms, shop.customers, shop.periods).found.value for one in (found, plain)]
    assert values[0] == pytest.approx(values[1], abs=0.005)


def test_rows_that_all_moved_do_not_start_learning_from_fields_that_agree() -> None:
    shop = History.of(make_retail(40, n_rows=1_500, seed=1))
    release = Pipeline((Perturb(days=31, quantities=0.5, prices=0.25, hides_times=True), Pseudonyms(1)))
    seen = published(History(release.anonymize(shop, seed=1).frame), seed=1)
    evidence, _ = weigh(shop.known(0.25, seed=1), seen)
    assert share_unchanged(evidence.compared, evidence.compared.known) < narrowing.UNCHANGED / 2


def test_basket_is_a_witness_though_its_known_row_was_deleted() -> None:
    known = history(("a", 3, "22"))
    released = history(("P", 3, "84728"), ("P", 5, "84728"), ("Q", 4, "84728"))
    evidence, _ = weigh(known, released)
    evidence = replace(evidence, deleted=0.45)
    scores = evidence.by_rows(evidence.compared.known, told(evidence, equal=1.0))
    # One of P's two baskets is of the day, one of three anybody's; with 0.45 no other row of the basket was left.
    assert scores.tolist() == [[pytest.approx(np.log((0.45 + 0.55 * (1 / 2) / (1 / 3)) / 0.45)), 0.0]]


def test_deletion_of_rows_hides_few_as_long_as_others_of_their_baskets_are_left() -> None:
    shop = History.of(make_retail(100, n_rows=8_000, seed=5))
    release = Pipeline((Delete(random=0.45, once=False, price_deviations=0.0), Pseudonyms(1))).anonymize(shop, seed=1)
    assert release.pseudonyms is not None
    guesses = Linkage().guess(shop.known(0.15, seed=1), published(History(release.frame), seed=1))
    # .913 when a known row that was deleted said nothing.
    assert judge(guesses, release.pseudonyms, shop.customers, shop.periods).found.value >= 0.95
