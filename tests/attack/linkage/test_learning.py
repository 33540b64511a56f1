from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.attack.linkage.comparison import PeriodRows
from tokumei.attack.linkage.evidence import Agreement
from tokumei.attack.linkage.learning import learn_agreement
from tokumei.data.history import History, period_of
from tokumei.data.made.retail import make_retail


def learned(released: pl.DataFrame, original: History) -> Agreement:
    numbered = pl.col("customer").rank("dense").cast(pl.Int64) - 1
    known = original.known(0.5, seed=1).kept.with_columns(of=numbered)
    january = period_of(pl.col("date")) == 24132
    return learn_agreement([PeriodRows.of(known.filter(january), released.filter(january), 2)])


@pytest.fixture(scope="module")
def original() -> History:
    return History.of(make_retail(80, seed=2))


def test_agreement_of_an_unchanged_release_is_full(original: History) -> None:
    agreement = learned(original.frame, original)
    assert agreement.deleted < 0.02
    assert min(agreement.levels[field][0] for field in ("item", "price", "quantity")) > 0.97
    assert min(agreement.levels[field][0] for field in ("date", "time")) > 0.85


def test_agreement_learns_which_field_was_changed_and_how_far(original: History) -> None:
    rng = np.random.default_rng(1)
    factor = pl.Series(rng.choice([0.8, 1.25], original.n_rows))
    keeps = pl.Series(rng.random(original.n_rows) < 0.8)
    agreement = learned(original.frame.with_columns(price=pl.col("price") * factor).filter(keeps), original)
    # 0.8 is between the bounds 0.7 and 0.9.
    assert agreement.levels["price"][2] > 0.7
    assert agreement.levels["quantity"][0] > 0.85
