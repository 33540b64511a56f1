"""The lines of the docs' tables on a shop that anybody can make: what hides nobody, what hides, and what is certain."""

from __future__ import annotations

import polars as pl
import pytest

from tokumei.attacks.judge import judge, published
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.data.release import Release
from tokumei.methods.history.permute_groups import PermuteGroups
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import pipeline_of

NOISE = {"method": "perturb", "days": 31, "quantities": 1.0, "prices": 1.0, "hides_times": True, "whole_baskets": False}
DELETE = {"method": "delete", "telling": 0.25, "once": False, "price_deviations": 0.0}


@pytest.fixture(scope="module")
def shop() -> History:
    return History.of(make_retail(45, n_rows=2_000, seed=5))


def found(shop: History, release: Release, attack: str, share: float) -> float:
    assert release.pseudonyms is not None
    known = shop.known(share, seed=1, item_characters=None if share == 1 else 2)
    guesses = HISTORY_ATTACKS.make(attack).guess(known, published(History(release.frame), seed=1))
    return judge(guesses, release.pseudonyms, shop.customers, shop.periods).row.value


@pytest.mark.parametrize(("lifetime", "least"), [(12, 0.8), (1, 0.8)])
def test_pseudonyms_alone_hide_few(shop: History, lifetime: int, least: float) -> None:
    assert found(shop, Pseudonyms(lifetime).anonymize(shop, seed=1), "linkage", 0.25) >= least


@pytest.mark.parametrize(("lifetime", "least"), [(12, 0.8), (6, 0.57), (3, 0.36), (1, 0.25)])
def test_blurring_hides_few_however_long_pseudonyms_live(shop: History, lifetime: int, least: float) -> None:
    naming = {"method": "pseudonyms", "lifetime": lifetime}
    release = pipeline_of({"step": [NOISE, DELETE, naming]}).anonymize(shop, seed=1)
    assert found(shop, release, "linkage", 0.25) >= least


@pytest.mark.parametrize("lifetime", [12, 1])
def test_moving_whole_baskets_hides_no_more_than_moving_rows(shop: History, lifetime: int) -> None:
    # Whoever takes the rows of a basket for so many witnesses of its day believes in days that agree by accident.
    naming = {"method": "pseudonyms", "lifetime": lifetime}
    rows, baskets = (
        pipeline_of({"step": [NOISE | {"whole_baskets": whole}, DELETE, naming]}).anonymize(shop, seed=1)
        for whole in (False, True)
    )
    assert found(shop, baskets, "linkage", 0.25) >= found(shop, rows, "linkage", 0.25) - 0.1


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_permuted_groups_keep_every_attack_about_their_bound(shop: History, share: float) -> None:
    release = PermuteGroups(bound=0.4).anonymize(shop, seed=1)
    bound, deviation = (release.recipe.found[name] for name in ("bound", "bound_deviation"))
    for attack in ("linkage", "row-counts", "tfidf", "s6"):
        assert found(shop, release, attack, share) <= bound + 3 * deviation


@pytest.mark.parametrize("attack", ["linkage", "tfidf", "jaccard", "s6", "row-counts"])
def test_attack_on_an_untouched_copy_is_certain_or_nearly(shop: History, attack: str) -> None:
    # Those that look for single rows are misled where two customers bought the same on a day.
    least = {"linkage": 1.0, "tfidf": 1.0, "jaccard": 1.0, "s6": 0.8, "row-counts": 0.9}[attack]
    assert found(shop, Pseudonyms(12).anonymize(shop, seed=1), attack, 1.0) >= least


@pytest.mark.parametrize("attack", ["linkage", "tfidf", "jaccard", "row-counts"])
def test_attack_on_other_customers_of_the_shop_is_at_the_blind_rate(shop: History, attack: str) -> None:
    other = History.of(make_retail(45, n_rows=2_000, seed=6))
    release = Pseudonyms(12).anonymize(other, seed=1)
    known = shop.known(0.25, seed=1)
    guesses = HISTORY_ATTACKS.make(attack).guess(known, published(History(release.frame), seed=1))
    # A pairing of the customers of both that has nothing to do with what they bought.
    pairs = pl.DataFrame({"customer": shop.customers, "other": other.customers})
    assert release.pseudonyms is not None
    truth = pairs.join(release.pseudonyms, left_on="other", right_on="customer").select(
        "customer", "period", "pseudonym"
    )
    verdict = judge(guesses, truth, shop.customers, shop.periods)
    assert verdict.pseudonym.value <= 0.1
