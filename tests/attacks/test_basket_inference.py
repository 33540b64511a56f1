from __future__ import annotations

import polars as pl
import pytest

from tokumei.attacks.history.singling_out import judge_baskets, learn_baskets
from tokumei.data.history import History


def history(*rows: tuple[object, ...]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "date", "item", "price", "quantity"], orient="row")
    frame = frame.with_columns(pl.when(pl.col("customer").is_not_null()).then(pl.all()))
    return History.of(frame)


ROWS = (
    ("a", "2011-05-02", "tea", 1.0, 1),
    ("a", "2011-05-02", "jam", 2.0, 1),
    ("a", "2011-05-02", "oil", 3.0, 2),
    ("b", "2011-05-02", "tea", 1.0, 1),
    ("b", "2011-05-02", "jam", 2.0, 4),
)
# Jam for 2.00 and the first tea are known of a, the tea of b.
KNOWN = history(ROWS[0], ROWS[1], (None, *ROWS[2][1:]), ROWS[3], (None, *ROWS[4][1:]))


def test_the_rest_of_a_basket_is_learned_from_the_rows_beside_it() -> None:
    published = history(*(("P" if who == "a" else "Q", *cells) for who, *cells in ROWS))
    claims = learn_baskets(KNOWN, published)
    # The jam of quantity 1 is P's alone, so that P is a's, and of the two teas that under Q is b's.
    assert claims.select("customer", "item").rows() == [("a", "oil"), ("b", "jam")]
    score = judge_baskets(claims, history(*ROWS), KNOWN)
    assert score.value == 1
    assert score.inputs == {"claims": 2, "right": 2, "precision": 1.0}
    # Each would have been right with chance 1/2, drawn from the two unknown rows of the day.
    assert score.baseline == pytest.approx(1 / 2)


def test_what_stands_beside_a_known_row_but_was_bought_by_another_is_a_wrong_claim() -> None:
    owners = ["Q", "P", "Q", "P", "P"]
    published = history(*((name, *cells) for name, (_, *cells) in zip(owners, ROWS, strict=True)))
    score = judge_baskets(learn_baskets(KNOWN, published), history(*ROWS), KNOWN)
    assert (score.value, score.inputs["claims"]) == (0.0, 2)


def test_nothing_is_claimed_of_nothing() -> None:
    empty = History(KNOWN.frame.clear())
    assert learn_baskets(empty, KNOWN).is_empty()
    assert learn_baskets(KNOWN, empty).is_empty()
    assert judge_baskets(learn_baskets(KNOWN, empty), history(*ROWS), KNOWN).value == 0
