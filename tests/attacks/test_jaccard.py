from __future__ import annotations

import polars as pl

from tokumei.attacks.history.plain_attacks import Jaccard
from tokumei.data.history import History

JANUARY, FEBRUARY = 24132, 24133


def history(*rows: tuple[str, str, str]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "date", "item"], orient="row")
    return History.of(frame.with_columns(pl.col("date").str.to_date(), price=pl.lit(1.0), quantity=pl.lit(1)))


KNOWN = history(
    ("a", "2011-01-05", "11"), ("a", "2011-01-05", "22"), ("b", "2011-01-07", "22"), ("b", "2011-02-07", "33")
)


def test_jaccard_gives_a_pseudonym_of_two_months_to_one_customer() -> None:
    published = history(("P", "2011-01-01", "2290"), ("P", "2011-02-03", "3301"), ("Q", "2011-01-02", "1100"))
    guesses = Jaccard().guess(KNOWN, published)
    assert guesses.rows() == [("a", JANUARY, "Q"), ("b", JANUARY, "P"), ("b", FEBRUARY, "P")]


def test_jaccard_of_two_pseudonyms_for_one_customer_gives_both_or_the_more_similar() -> None:
    published = history(("P", "2011-01-01", "11"), ("Q", "2011-01-01", "11"), ("Q", "2011-01-01", "22"))
    assert Jaccard(each_once=True).guess(KNOWN, published).rows() == [("a", JANUARY, "Q")]
    # As the paper has it, both go to the one customer.
    assert Jaccard().guess(KNOWN, published).rows() == [("a", JANUARY, "Q"), ("a", JANUARY, "P")]


def test_jaccard_without_a_shared_item_guesses_nothing() -> None:
    guesses = Jaccard().guess(KNOWN, history(("P", "2011-01-01", "99")))
    assert guesses.columns == ["customer", "period", "pseudonym"]
    assert guesses.is_empty()
