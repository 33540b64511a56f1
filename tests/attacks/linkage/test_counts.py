from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from tokumei.attacks.linkage.learning import CountEvidence, Expected, _gaps, normal_share
from tokumei.attacks.linkage.rows import Compared
from tokumei.data.history import History


def knowledge(*rows: tuple[str, str] | None) -> History:
    """Known rows of customer and day, and unknown ones in their places."""
    cells = [(None, None) if row is None else row for row in rows]
    frame = pl.DataFrame(cells, schema=["customer", "date"], orient="row").with_columns(pl.col("date").str.to_date())
    told = pl.col("customer").is_not_null()
    return History.of(
        frame.with_columns(
            item=pl.when(told).then(pl.lit("22")), price=pl.when(told).then(1.0), quantity=pl.when(told).then(1)
        )
    )


BASKETS = knowledge(("a", "2011-01-03"), None, None, ("a", "2011-01-03"), None, ("b", "2011-01-04"), None, None)


def test_gaps_tell_the_rows_inside_a_basket_and_at_most_those_at_its_ends() -> None:
    known = Compared.of(BASKETS, History(BASKETS.kept)).known
    found = _gaps(BASKETS, known)
    assert found is not None
    inside, before, after = found
    assert inside.tolist() == [0, 2, 0]
    # Before a's first row there is none; between a and b one row, after b two.
    assert before.tolist()[0] == 0
    assert before.tolist()[2] == 1
    assert after.tolist()[1:] == [1, 2]
    assert np.isnan([before[1], after[0]]).all()


def test_expected_rows_are_those_known_those_inside_and_half_of_those_at_the_ends() -> None:
    known = Compared.of(BASKETS, History(BASKETS.kept)).known
    expected = Expected.of(BASKETS, known, 3 / 8, (2, 1))
    # a: two known, two inside, half of one at the end. b: one known, half of one, and half of two.
    assert expected.mean[:, 0] == pytest.approx([4.5, 2.5])


def test_gaps_of_baskets_that_do_not_stand_together_tell_nothing() -> None:
    mixed = knowledge(("a", "2011-01-03"), None, ("b", "2011-01-04"), ("a", "2011-01-03"))
    known = Compared.of(mixed, History(mixed.kept)).known
    assert _gaps(mixed, known) is None
    # Then each known row stands for 1 / share rows.
    assert Expected.of(mixed, known, 0.75, (2, 1)).mean[:, 0] == pytest.approx([2 / 0.75, 1 / 0.75])


def test_counts_favor_the_pseudonym_with_as_many_rows_as_expected() -> None:
    expected = Expected(np.array([[10], [100], [0]]), np.array([[10.0], [100.0], [0.0]]), np.ones((3, 1)), 0.9)
    counts = CountEvidence(expected, 1.0, np.array([[10], [100]]))
    rates = counts.rates(expected.n_known > 0)
    odds = counts.log_ratios(0, np.array([10, 100, 0]), rates)
    assert odds[0].argmax() == 0
    assert odds[1].argmax() == 1
    # Of whom nothing is known although nine of ten rows are, there is nothing.
    assert odds[2].argmax() == 2


def test_normal_share_is_that_of_a_library_to_eleven_decimals() -> None:
    z = np.linspace(-40, 40, 100_001)
    assert np.abs(normal_share(z) - ndtr(z)).max() < 2e-12
    assert np.abs(normal_share(z) - ndtr(z))[np.abs(z) < 6].max() < 1e-14
