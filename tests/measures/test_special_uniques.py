"""SUDA2: minimal sample uniques and their scores, by hand, as sdcMicro states them, and by the plain definition."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.measures.safety import special_uniques as module
from tokumei.measures.safety.special_uniques import special_uniques, suda_share, suda_weight

# The worked example of the guide to statistical disclosure control that sdcMicro's tests repeat.
TEN = pl.DataFrame(
    {
        "residence": ["urban"] * 4 + ["rural"] + ["urban"] * 5,
        "sex": list("fffmfmfmff"),
        "education": ["few", "few", "primary-", "more", "more", "more", "primary", "college", "few", "few"],
        "work": ["yes", "yes", "no", "yes", "seeks", "yes", "no", "seeks", "no", "no"],
    }
)
COLUMNS = TEN.columns


def test_original_scores_of_ten_rows_are_those_worked_by_hand() -> None:
    found = special_uniques(TEN, COLUMNS)
    # One column of four weighs 3 * 2 * 1, two weigh 2 * 1. Row 3 has its education alone; row 5 residence, and three
    # pairs of sex, education and work; row 8 its education, and work with sex and with residence.
    assert found.scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert found.smallest.tolist() == [0, 0, 1, 0, 1, 0, 1, 1, 0, 0]
    assert (found.n_minimal, found.n_special, found.n_alone) == ({1: 4, 2: 5, 3: 0, 4: 0}, 4, 4)
    # Education is in sets that weigh 6 + (2 + 2) + 6 + 6 of 34, residence 6 + 2, sex (2 + 2) + 2, work (2 + 2) + 4.
    assert found.by_column == pytest.approx({"residence": 8 / 34, "sex": 6 / 34, "education": 22 / 34, "work": 8 / 34})
    assert found.by_value["residence"] == pytest.approx({"rural": 6 / 8, "urban": 2 / 8})


def test_other_scoring_and_its_dis_scores_are_those_of_the_guide() -> None:
    # Weights (2^3 - 1)/4, (2^2 - 1)/6, 1/4 and 0: row 5 has 7/4 + 3 * 1/2.
    assert [suda_share(size, 4) for size in (1, 2, 3, 4)] == [1.75, 0.5, 0.25, 0.0]
    found = special_uniques(TEN, COLUMNS, original_scores=False)
    assert found.scores.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    printed = [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert found.dis_scores.round(4).tolist() == printed
    # Three pairs of rows: P = 6, so U/DIS - U = 6 * .99/.01 = 594, and q = 1 + (8 - 4)/20.
    powers = {score: score**1.2 for score in (1.75, 2.75, 3.25)}
    total = 2 / powers[1.75] + 1 / powers[2.75] + 1 / powers[3.25]
    assert found.dis_scores[4] == pytest.approx(1 / (1 + 594 / (powers[3.25] * total)))


def test_contributions_of_three_rows_are_those_that_sdcmicro_states() -> None:
    rows = pl.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    assert special_uniques(rows, ["c", "a", "b"]).by_column == {"c": 0.375, "a": 0.5, "b": 0.375}


def test_scores_of_the_book_are_those_that_sdcmicro_states() -> None:
    book = pl.DataFrame(
        {
            "age": ["20"] * 7 + ["60"],
            "sex": ["m"] * 4 + ["f"] * 3 + ["m"],
            "income": ["+", "+"] + ["-"] * 6,
            "school": ["high"] * 4 + ["university", "high", "middle", "university"],
        }
    )
    assert special_uniques(book, book.columns).scores.tolist() == [0, 0, 0, 0, 4, 2, 6, 8]


def test_full_original_weights_are_factorials_and_a_limit_scales_them_alike() -> None:
    assert [suda_weight(size, 5, 5) for size in range(1, 6)] == [24, 6, 2, 1, 1]
    assert [suda_weight(size, 5, 3) for size in range(1, 4)] == [12, 3, 1]
    full, limited = special_uniques(TEN, COLUMNS), special_uniques(TEN, COLUMNS, largest=2)
    # Nothing needs three columns here.
    assert (limited.scores * 2).tolist() == full.scores.tolist()
    assert limited.dis_scores.tolist() == pytest.approx(full.dis_scores.tolist())


def test_missing_value_is_in_no_minimal_unique() -> None:
    rows = pl.DataFrame({"age": ["30", "30", None], "sex": ["f", "m", "f"]})
    found = special_uniques(rows, ["age", "sex"])
    # Row 2 by its sex; row 1 by both; row 3 by nothing that is known of it.
    assert found.scores.tolist() == [1, 1, 0]
    assert found.n_alone == 3


def test_rows_of_one_person_alone_are_unique() -> None:
    rows = pl.DataFrame({"age": [30, 30, 40, 40], "sex": ["f", "f", "f", "m"]})
    assert special_uniques(rows, ["age", "sex"]).smallest.tolist() == [0, 0, 2, 1]
    whose = pl.Series(["x", "x", "y", "z"])
    assert special_uniques(rows, ["age", "sex"], whose=whose).smallest.tolist() == [1, 1, 2, 1]


def plain_score(
    rows: list[tuple[str | None, ...]], row: int, whose: list[int], largest: int
) -> dict[tuple[int, ...], int]:
    """Sizes of the minimal sample uniques of a row, by the definition."""

    def is_alone(members: tuple[int, ...]) -> bool:
        same = [at for at, other in enumerate(rows) if all(rows[row][m] == other[m] for m in members)]
        return {whose[at] for at in same} == {whose[row]}

    out: dict[tuple[int, ...], int] = {}
    for size in range(1, largest + 1):
        for members in combinations(range(len(rows[row])), size):
            parts = [part for n in range(1, size) for part in combinations(members, n)]
            is_told = all(rows[row][m] is not None for m in members)
            if is_told and is_alone(members) and not any(is_alone(part) for part in parts):
                out[members] = size
    return out


@settings(max_examples=cases(60), deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 4), min_size=1, max_size=12),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_scores_agree_with_the_plain_definition(
    rows: list[tuple[str | None, ...]], largest: int, is_original: bool, is_of_people: bool
) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys("wxyz", pl.String), orient="row")
    whose = [at // 2 for at in range(len(rows))] if is_of_people else list(range(len(rows)))
    found = special_uniques(
        frame,
        list("wxyz"),
        largest=largest,
        original_scores=is_original,
        whose=pl.Series(whose) if is_of_people else None,
    )
    plain = [plain_score(rows, row, whose, largest) for row in range(len(rows))]

    def weight(size: int) -> float:
        return suda_weight(size, 4, largest) if is_original else suda_share(size, 4)

    wanted = [sum(weight(size) for size in sets.values()) for sets in plain]
    assert found.scores.tolist() == pytest.approx(wanted)
    assert found.smallest.tolist() == [min(sets.values(), default=0) for sets in plain]
    total = sum(wanted)
    for at, name in enumerate("wxyz"):
        of_column = sum(weight(len(members)) for sets in plain for members in sets if at in members)
        assert found.by_column[name] == pytest.approx(of_column / total if total else 0.0)


def test_too_many_sets_are_refused_before_any_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LOOKS", 100)
    with pytest.raises(InputError, match="15 sets over 10 rows"):
        special_uniques(TEN, COLUMNS)
    assert special_uniques(TEN, COLUMNS, largest=2).n_minimal == {1: 4, 2: 5}
    with pytest.raises(InputError, match="at least 1"):
        special_uniques(TEN, COLUMNS, largest=0)


def test_nothing_is_estimated_by_dis_without_a_class_of_two() -> None:
    alone = special_uniques(TEN[2:9].unique(maintain_order=True), COLUMNS)
    assert alone.n_in_pairs == 0
    # By its definition every match would be right.
    assert set(alone.dis_scores[alone.scores > 0].tolist()) == {1.0}
    told = alone.as_dict()
    assert told["dis_highest"] is None and told["riskiest"][0]["dis_score"] is None


def test_no_rows_have_no_scores() -> None:
    assert special_uniques(TEN.clear(), COLUMNS).as_dict()["riskiest"] == []
