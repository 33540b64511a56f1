"""Shops unlike the contests': weighed goods, visits, several releases a year."""

from __future__ import annotations

import polars as pl
import pytest

import tokumei as tk
from tokumei.attack.judge import judge
from tokumei.attack.registry import HISTORY_ATTACKS
from tokumei.attack.truth import published
from tokumei.data.history import History
from tokumei.data.made.retail import make_retail


@pytest.fixture(scope="module")
def greengrocer() -> History:
    """Give a shop that sells by weight."""
    rows = make_retail(30, n_rows=900, seed=3)
    weighed = pl.col("quantity") * 0.125 + 0.003 * pl.col("price").round(0)
    return History.of(rows.with_columns(quantity=weighed.round(3)))


@pytest.mark.parametrize("attack", list(HISTORY_ATTACKS))
def test_every_attack_takes_quantities_with_decimals(greengrocer: History, attack: str) -> None:
    release = tk.anonymize(greengrocer, method="pseudonyms", lifetime=12, seed=1)
    known = greengrocer.known(1.0, seed=1, item_characters=None)
    done = tk.attack(known, release, attack)
    assert 0 <= done.success["row"]["value"] <= 1
    if attack in ("linkage", "tfidf", "jaccard"):
        assert done.success["row"]["value"] >= 0.9


@pytest.mark.parametrize("method", ["perturb", "delete", "permute-groups", "pseudonyms", "roll-up"])
def test_methods_leave_quantities_with_decimals_what_they_are(greengrocer: History, method: str) -> None:
    options = {"bound": 0.6} if method == "permute-groups" else {}
    release = tk.anonymize(greengrocer, method=method, seed=1, **options)
    assert release.frame.schema["quantity"] == pl.Float64
    left = release.frame["quantity"].drop_nulls()
    assert (left != left.round(0)).any()


def test_several_releases_of_a_year_are_attacked_as_one(greengrocer: History) -> None:
    first, second = greengrocer.periods[:6], greengrocer.periods[6:]
    seen, truth = [], []
    for number, months in enumerate((first, second), 1):
        half = History(greengrocer.frame.filter(greengrocer.period.is_in(months)))
        release = tk.anonymize(half, method="pseudonyms", lifetime=12, seed=number)
        # Pseudonyms of one release say nothing in the other, so they must differ.
        rows = published(release.history, seed=1).frame
        seen.append(rows.with_columns(customer=f"{number}/" + pl.col("customer")))
        truth.append(release.truth.with_columns(pseudonym=f"{number}/" + pl.col("pseudonym")))
    guesses = HISTORY_ATTACKS.make("linkage").guess(greengrocer.known(0.5, seed=1), History(pl.concat(seen)))
    found = judge(guesses, pl.concat(truth), greengrocer.customers, greengrocer.periods)
    assert found.row.value >= 0.9
