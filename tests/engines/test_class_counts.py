from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.count import count_classes
from tokumei.engines.local import LocalEngine

PEOPLE = pl.DataFrame(
    {
        "sex": ["f", "m", "f", "f", "m", None],
        "age": [31, 35, 31, 38, 35, 31],
        "illness": ["flu", "flu", "cold", "flu", "flu", "cold"],
    }
)
BY_DECADE = Recoding("age", pl.Series(["31", "35", "38"]), pl.Series(["30-34", "35-39", "35-39"]))
NOTHING = Recoding("sex", pl.Series(["f", "m"]), pl.Series(["*", "*"]), "*")


def test_counts_of_six_people_are_those_counted_by_hand() -> None:
    counts = count_classes(PEOPLE, ["sex", "age"])
    assert (counts.n_rows, counts.n_classes, counts.k, counts.n_unique) == (6, 4, 1, 2)
    assert counts.to_frame().rows() == [("f", 31, 2), ("f", 38, 1), ("m", 35, 2), (None, 31, 1)]


def test_counts_without_columns_are_one_class() -> None:
    counts = count_classes(PEOPLE, [])
    assert (counts.n_classes, counts.k) == (1, 6)


def test_counts_of_no_rows_have_no_class() -> None:
    counts = count_classes(PEOPLE.clear(), ["sex"])
    assert (counts.n_rows, counts.n_classes, counts.k, counts.n_unique) == (0, 0, 0, 0)


def test_roll_up_to_bands_adds_the_sizes() -> None:
    counts = count_classes(PEOPLE, ["sex", "age"])
    rolled = counts.roll_up(counts.maps([BY_DECADE]))
    assert rolled.to_frame().rows() == [("f", "30-34", 2), ("f", "35-39", 1), ("m", "35-39", 2), (None, "30-34", 1)]


def test_missing_value_joins_the_others_only_where_all_get_one_label() -> None:
    counts = count_classes(PEOPLE, ["sex"])
    assert counts.roll_up(counts.maps([NOTHING])).to_frame().rows() == [("*", 6)]


def test_value_without_a_label_is_named() -> None:
    counts = count_classes(PEOPLE, ["age"])
    with pytest.raises(InputError) as caught:
        counts.maps([Recoding("age", pl.Series(["31"]), pl.Series(["30-34"]))])
    assert [(fault.column, fault.value) for fault in caught.value.faults] == [("age", "35"), ("age", "38")]


def test_histogram_counts_sensitive_values_in_each_class_and_rolls_up() -> None:
    counts = count_classes(PEOPLE, ["sex"], sensitive=["illness"])
    histogram = counts.histograms["illness"]
    pairs = [
        (counts.domain("sex")[int(counts.codes[0, c])], histogram.values[int(v)], int(n))
        for c, v, n in zip(histogram.class_of, histogram.value_of, histogram.counts, strict=True)
    ]
    assert pairs == [("f", "cold", 1), ("f", "flu", 2), ("m", "flu", 2), (None, "cold", 1)]
    rolled = counts.roll_up(counts.maps([NOTHING])).histograms["illness"]
    assert rolled.counts.tolist() == [2, 4]
    assert rolled.values.to_list() == ["cold", "flu"]


def test_over_fewer_columns_counts_like_a_new_count() -> None:
    counts = count_classes(PEOPLE, ["sex", "age"])
    assert counts.over(["age"]).to_frame().rows() == count_classes(PEOPLE, ["age"]).to_frame().rows()


def test_repeated_and_unknown_columns_are_refused() -> None:
    with pytest.raises(InputError, match="each column once"):
        count_classes(PEOPLE, ["sex", "sex"])
    with pytest.raises(InputError, match="a column of the file: sex, age, illness"):
        count_classes(PEOPLE, ["sexe"])


ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5), st.sampled_from("xyz")), max_size=40)


@given(ROWS, st.lists(st.sampled_from("PQ"), min_size=4, max_size=4))
def test_rolling_up_equals_counting_recoded_rows(rows: list[tuple[str, int, str]], labels: list[str]) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64, "s": pl.String}, orient="row")
    recoding = Recoding("a", pl.Series(list("abcd")), pl.Series(labels))
    fine = count_classes(frame, ["a", "b"], sensitive=["s"])
    rolled = fine.roll_up(fine.maps([recoding]))
    again = count_classes(frame, ["a", "b"], recodings=[recoding], sensitive=["s"])
    assert rolled.to_frame().equals(again.to_frame())
    assert _pairs(rolled) == _pairs(again)


def _pairs(counts: ClassCounts) -> list[tuple[int, str, int]]:
    histogram = counts.histograms["s"]
    values = [str(histogram.values[int(v)]) for v in histogram.value_of]
    return sorted(zip(histogram.class_of.tolist(), values, histogram.counts.tolist(), strict=True))


TEXTS = st.sampled_from(["", "a", "b", "ab", "é", "あ", "10", "9", "*"]) | st.none()


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=40))
def test_rows_of_texts_counted_at_once_are_those_counted_in_groups(rows: list[tuple[str | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abs", pl.String), orient="row")
    at_once = count_classes(frame, ["a", "b"], sensitive=["s"])
    relation = LocalEngine().open(frame)
    in_groups = ClassCounts.of_groups(["a", "b"], relation.group_sizes(["a", "b"], {}))
    in_groups = in_groups.with_histogram("s", ClassCounts.of_groups(["a", "b", "s"], relation.group_sizes("abs", {})))
    assert [one.to_list() for one in at_once.domains] == [one.to_list() for one in in_groups.domains]
    assert (at_once.codes.tolist(), at_once.sizes.tolist()) == (in_groups.codes.tolist(), in_groups.sizes.tolist())
    assert _pairs(at_once) == _pairs(in_groups)


def test_more_rows_than_fit_at_once_are_counted_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = PEOPLE.select("sex", "illness")
    at_once = count_classes(frame, ["sex", "illness"]).to_frame()
    monkeypatch.setattr("tokumei.engines.local.MOST_ROWS_AT_ONCE", 5)
    assert LocalEngine().open(frame).few_texts(["sex"]) is None
    assert count_classes(frame, ["sex", "illness"]).to_frame().equals(at_once)
