from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.utility.customers import Crosstab

MASTER = pl.DataFrame(
    {
        "customer": ["a", "b", "c"],
        "birth": [datetime.date(1951, 5, 1), datetime.date(1959, 1, 1), datetime.date(1960, 1, 1)],
        "country": ["France", "France", "France"],
    }
)


def history(*rows: tuple[str | None, float | None]) -> History:
    frame = pl.DataFrame(list(rows), schema={"customer": pl.String, "price": pl.Float64}, orient="row")
    is_kept = pl.col("customer").is_not_null()
    return History.of(
        frame.with_columns(
            date=pl.when(is_kept).then(datetime.date(2011, 1, 1)),
            item=pl.when(is_kept).then(pl.lit("x")),
            quantity=pl.when(is_kept).then(1),
        )
    )


# The fifties have the mean 2, the sixties 5.
ORIGINAL = history(("a", 1.0), ("a", 1.0), ("b", 4.0), ("c", 5.0))


def test_rows_of_the_release_belong_to_whom_they_did() -> None:
    # The fifties now have the mean 3, the sixties 6.
    released = history(("p", 2.0), (None, None), ("q", 4.0), ("r", 6.0))
    assert Crosstab(MASTER).measure(ORIGINAL, released).value == 1


def test_cell_that_the_release_leaves_empty_counts_as_0() -> None:
    released = history(("p", 1.0), ("p", 1.0), ("q", 4.0), (None, None))
    assert Crosstab(MASTER).measure(ORIGINAL, released).value == 2.5


def test_released_master_tells_who_the_pseudonyms_are() -> None:
    released_master = MASTER.with_columns(customer=pl.Series(["p", "q", "r"]))
    # In another order, and with r's row gone to p: the fifties have 11/4, the sixties none.
    released = history(("q", 4.0), ("p", 5.0), ("p", 1.0), ("p", 1.0))
    assert Crosstab(MASTER, released_master).measure(ORIGINAL, released).value == (0.75 + 5) / 2


def test_without_master_everyone_is_one_cell() -> None:
    released = history(("p", 1.0), ("p", 1.0), ("q", 4.0), (None, None))
    assert Crosstab().measure(ORIGINAL, released).value == 0.75
    assert Crosstab().measure(ORIGINAL, history((None, None))).value == 2.75


def test_other_attributes_make_other_cells() -> None:
    released = history(("p", 1.0), ("p", 1.0), ("q", 4.0), ("r", 1.0))
    assert Crosstab(MASTER, by=("country",)).measure(ORIGINAL, released).value == 1


def test_attribute_the_master_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="sex"):
        Crosstab(MASTER, by=("sex",)).measure(ORIGINAL, ORIGINAL)
