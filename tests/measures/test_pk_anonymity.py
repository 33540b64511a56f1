from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.swap_odds import least_swap_odds

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.safety.pk_anonymity import PkAnonymity, retention_odds

ORIGINAL = Table.with_quasi_identifiers(pl.DataFrame({"sex": list("fffmm"), "town": list("abcaa")}), ["sex", "town"])
RELEASED = Table.with_quasi_identifiers(pl.DataFrame({"sex": list("mffmf"), "town": list("abbca")}), ["sex", "town"])


def test_column_of_two_values_kept_by_a_third_has_k_2_for_five_people() -> None:
    score = PkAnonymity(2, ("sex",), (1 / 3,)).measure(ORIGINAL, RELEASED)
    assert score.value == pytest.approx(2)
    assert score.inputs["odds"] == {"sex": pytest.approx(1 / 4)}
    assert PkAnonymity(2, ("sex",), (1 / 3,)).holds(ORIGINAL, RELEASED)
    assert not PkAnonymity(2.1, ("sex",), (1 / 3,)).holds(ORIGINAL, RELEASED)


def test_columns_that_are_all_replaced_or_all_kept_say_nothing_or_everything() -> None:
    assert PkAnonymity(2, ("sex",), (0,)).measure(ORIGINAL, RELEASED).value == 5
    assert PkAnonymity(2, ("sex", "town"), (1 / 3, 1)).measure(ORIGINAL, RELEASED).value == 1
    assert PkAnonymity(2, (), ()).measure(ORIGINAL, RELEASED).value == 5


def test_several_columns_multiply_their_odds() -> None:
    # Town has three values: kept 1/3 + 2/9 against 2/9 each, so (2/5)² = 4/25.
    score = PkAnonymity(1, ("sex", "town"), (1 / 3, 1 / 3)).measure(ORIGINAL, RELEASED)
    assert score.value == pytest.approx(1 + 4 * (1 / 4) * (4 / 25))


def test_replacements_by_the_shares_of_the_original_are_worst_for_rare_values() -> None:
    # Towns b and c are drawn with 1/5 · 1/2 each: 0.1 against 0.6.
    score = PkAnonymity(1, ("town",), (0.5,), "shares").measure(ORIGINAL, RELEASED)
    assert score.inputs["odds"]["town"] == pytest.approx(1 / 36)


def test_values_that_were_not_drawn_count_where_their_number_is_given() -> None:
    # Four values: 1/3 + 1/6 against 1/6.
    score = PkAnonymity(1, ("sex",), (1 / 3,), n_values=(4,)).measure(ORIGINAL, RELEASED)
    assert score.inputs["odds"]["sex"] == pytest.approx(1 / 9)
    with pytest.raises(InputError, match="option n_values: found '1', expected at least the 2 values of sex"):
        PkAnonymity(1, ("sex",), (1 / 3,), n_values=(1,)).measure(ORIGINAL, RELEASED)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_odds_of_retention_are_those_of_its_matrix(weights: list[int], retention: float) -> None:
    shares = np.array(weights) / sum(weights)
    matrix = retention * np.eye(len(weights)) + (1 - retention) * shares
    assert retention_odds(retention, shares) == pytest.approx(least_swap_odds(matrix))


def test_tables_that_do_not_fit_are_input_errors() -> None:
    with pytest.raises(InputError, match="found '4', expected as many rows as the original, 5"):
        PkAnonymity(1, ("sex",), (0.5,)).measure(ORIGINAL, RELEASED.with_frame(RELEASED.frame[:4]))
    other = RELEASED.with_frame(RELEASED.frame.with_columns(town=pl.lit("z")))
    with pytest.raises(InputError, match="column town: found 'z', expected a value of the original"):
        PkAnonymity(1, ("town",), (0.5,), "shares").measure(ORIGINAL, other)
    with pytest.raises(InputError, match="column age: expected one of the columns sex, town"):
        PkAnonymity(1, ("age",), (0.5,)).measure(ORIGINAL, RELEASED)


def test_options_that_do_not_fit_are_input_errors() -> None:
    with pytest.raises(InputError, match=r"option k: found '0\.5', expected at least 1"):
        PkAnonymity(0.5, (), ())
    with pytest.raises(InputError, match="2 probabilities, one for each column"):
        PkAnonymity(1, ("sex", "town"), (0.5,))
    with pytest.raises(InputError, match="1 number, one for each column"):
        PkAnonymity(1, ("sex",), (0.5,), n_values=(1, 2))
    with pytest.raises(InputError, match=r"option retention: found '1\.5', expected a probability from 0 to 1"):
        PkAnonymity(1, ("sex",), (1.5,)).measure(ORIGINAL, RELEASED)
