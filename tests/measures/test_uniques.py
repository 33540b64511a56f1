from __future__ import annotations

import polars as pl

from tokumei.engines.count import count_classes
from tokumei.measures.safety.class_sizes import Uniques

PEOPLE = pl.DataFrame({"age": [30, 30, 30, 40, None]})


def test_uniques_are_the_classes_of_one_row() -> None:
    counts = count_classes(PEOPLE, ["age"])
    score = Uniques().measure(counts)
    assert score.value == 2 / 5
    assert score.inputs == {"n_unique": 2, "n_records": 5}
    assert Uniques().holds_in(counts).tolist() == [True, False, False]


def test_uniques_are_a_share_of_all_records_if_some_were_suppressed() -> None:
    assert Uniques(n_suppressed=3).measure(count_classes(PEOPLE, ["age"])).value == 2 / 8
