"""What every anonymizer, attack and measure of histories must keep, whoever wrote it."""

from __future__ import annotations

import polars as pl
import pytest

from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.registry import HISTORY_ANONYMIZERS

# With the usual budget noise hides thirty customers, as it should.
OPTIONS: dict[str, dict[str, float]] = {"dp-baskets": {"epsilon": 5_000.0}, "basket-chain": {"least": 2}}


@pytest.fixture(scope="module")
def original() -> History:
    return History.of(make_retail(30, seed=1))


@pytest.mark.parametrize("name", list(HISTORY_ANONYMIZERS))
def test_anonymizer_same_seed_same_release_and_input_untouched(original: History, name: str) -> None:
    before = original.frame.clone()
    method = HISTORY_ANONYMIZERS.make(name, **OPTIONS.get(name, {}))
    one, two, other = (method.anonymize(original, seed=seed) for seed in (1, 1, 2))
    assert one.frame.equals(two.frame)
    assert not one.frame.equals(other.frame)
    assert original.frame.equals(before)
    assert one.recipe.method == name
    assert one.recipe.seed == 1


@pytest.mark.parametrize("name", list(HISTORY_ANONYMIZERS))
def test_anonymizer_releases_no_customer_id(original: History, name: str) -> None:
    release = HISTORY_ANONYMIZERS.make(name, **OPTIONS.get(name, {})).anonymize(original, seed=1)
    assert not set(release.frame["customer"].drop_nulls()) & set(original.customers)


@pytest.mark.parametrize("name", list(HISTORY_ATTACKS))
def test_attack_guesses_a_pseudonym_for_a_customer_or_a_customer_for_a_pseudonym(original: History, name: str) -> None:
    knowledge = original.known(0.5, seed=1)
    published = History(HISTORY_ANONYMIZERS.make("pseudonyms").anonymize(original, seed=1).frame)
    before = knowledge.frame.clone(), published.frame.clone()
    guesses = HISTORY_ATTACKS.make(name).guess(knowledge, published)
    assert guesses.columns == ["customer", "period", "pseudonym"]
    ways = (["customer", "period"], ["pseudonym", "period"])
    assert not all(guesses.select(way).is_duplicated().any() for way in ways)
    assert set(guesses["customer"]) <= set(original.customers)
    assert set(guesses["pseudonym"]) <= set(published.customers)
    assert knowledge.frame.equals(before[0])
    assert published.frame.equals(before[1])


@pytest.mark.parametrize("name", list(HISTORY_UTILITIES))
def test_utility_of_an_untouched_history_is_best_and_row_order_does_not_matter(original: History, name: str) -> None:
    measure = HISTORY_UTILITIES.make(name)
    score = measure.measure(original, original)
    assert score.value == score.best
    order = pl.Series(range(original.n_rows)).shuffle(seed=1)
    shuffled = History(original.frame[order])
    released = HISTORY_ANONYMIZERS.make("pseudonyms").anonymize(original, seed=1)
    together = History(released.frame[order])
    assert measure.measure(shuffled, together) == measure.measure(original, History(released.frame))
