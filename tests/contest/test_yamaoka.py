"""False row maps are seen; true ones are not, however strong the noise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokumei.contest.yamaoka import FEWEST_ROWS, detect_yamaoka
from tokumei.core.errors import InputError
from tokumei.data.made_retail import make_retail

N_ROWS = 600


def _purchases(seed: int = 1, n_rows: int = N_ROWS) -> pl.DataFrame:
    return make_retail(20, n_rows=n_rows, seed=seed).drop("customer")


def _survey(rng: np.random.Generator) -> pl.DataFrame:
    """Make a survey as in 2015: few classes of people, many amounts that go with their income."""
    income = rng.lognormal(10, 0.5, N_ROWS)
    amounts = {f"amount{i}": income * rng.lognormal(-2, 0.6, N_ROWS) for i in range(6)}
    return pl.DataFrame(
        {"sex": rng.choice(["f", "m"], N_ROWS), "age": rng.integers(20, 80, N_ROWS), "income": income, **amounts}
    )


def _noisy(frame: pl.DataFrame, strength: float, rng: np.random.Generator) -> pl.DataFrame:
    """Multiply every number by noise, move every date, and swap a share of every text column."""
    columns = []
    for column in frame:
        if column.dtype == pl.String:
            cells = column.to_numpy().copy()
            chosen = np.flatnonzero(rng.random(len(cells)) < strength / 2)
            cells[chosen] = cells[rng.permutation(chosen)]
            columns.append(pl.Series(column.name, cells, pl.String))
        elif column.dtype == pl.Date:
            days = np.round(rng.normal(0, 20 * strength, len(column))).astype(np.int32)
            columns.append((column.cast(pl.Int32) + pl.Series(days)).cast(pl.Date))
        elif column.dtype.is_numeric():
            columns.append(column * np.exp(rng.normal(0, strength, len(column))))
        else:
            columns.append(column)
    return pl.DataFrame(columns)


def _partly_shuffled(rows: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    chosen = rng.permutation(len(rows))[: round(share * len(rows))]
    false = rows.copy()
    false[chosen] = rows[rng.permutation(chosen)]
    return false


@pytest.mark.parametrize("strength", [0.0, 0.1, 0.3, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("kind", ["purchases", "survey"])
def test_honest_release_with_noise_of_any_strength_is_not_flagged(strength: float, kind: str) -> None:
    rng = np.random.default_rng(5)
    original = _purchases() if kind == "purchases" else _survey(rng)
    order = rng.permutation(N_ROWS)
    released = _noisy(original, strength, rng)[order]
    verdict = detect_yamaoka(original, released, pl.Series(order + 1))
    assert not verdict.is_flagged, verdict
    assert verdict.evidence == ()


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("kind", ["purchases", "survey"])
def test_release_with_map_shuffled_in_whole_or_part_is_flagged(strength: float, share: float, kind: str) -> None:
    rng = np.random.default_rng(6)
    original = _purchases() if kind == "purchases" else _survey(rng)
    order = rng.permutation(N_ROWS)
    released = _noisy(original, strength, rng)[order]
    verdict = detect_yamaoka(original, released, pl.Series(_partly_shuffled(order, share, rng) + 1))
    assert verdict.is_flagged, verdict


@given(seed=st.integers(0, 10**6), strength=st.floats(0, 1.5))
@settings(max_examples=25)
def test_honest_map_over_seeds_is_never_flagged(seed: int, strength: float) -> None:
    rng = np.random.default_rng(seed)
    original = _purchases(seed % 50)
    order = rng.permutation(N_ROWS)
    assert not detect_yamaoka(original, _noisy(original, strength, rng)[order], pl.Series(order + 1)).is_flagged


@given(seed=st.integers(0, 10**6), strength=st.floats(0, 0.25), share=st.floats(0.3, 1))
@settings(max_examples=25)
def test_false_map_over_seeds_is_always_flagged(seed: int, strength: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    original = _purchases(seed % 50)
    order = rng.permutation(N_ROWS)
    false = _partly_shuffled(order, share, rng)
    assert detect_yamaoka(original, _noisy(original, strength, rng)[order], pl.Series(false + 1)).is_flagged


def test_map_shuffled_within_invoices_is_flagged_though_declared_rows_are_near() -> None:
    original = make_retail(20, n_rows=N_ROWS, seed=2)
    rng = np.random.default_rng(2)
    numbered = original.with_row_index("row").with_columns(draw=pl.Series(rng.random(N_ROWS)))
    false = numbered.select(pl.col("row").sort_by("draw").over("invoice"))["row"] + 1
    verdict = detect_yamaoka(original, original, false)
    assert verdict.is_flagged
    assert verdict.farther < 0.05


def test_map_shuffled_within_invoices_is_flagged_under_noise_and_a_true_one_is_not() -> None:
    original = make_retail(60, n_rows=3_000, seed=2)
    rng = np.random.default_rng(2)
    # No cell of a price is as it was, so that no row has an equal.
    prices = original["price"] * np.exp(rng.normal(0, 0.02, 3_000))
    released = original.with_columns(price=prices)
    numbered = original.with_row_index("row").with_columns(draw=pl.Series(rng.random(3_000)))
    false = numbered.select(pl.col("row").sort_by("draw").over("invoice"))["row"] + 1
    assert detect_yamaoka(original, released, false).is_flagged
    assert not detect_yamaoka(original, released, numbered["row"] + 1).is_flagged


def test_items_exchanged_within_invoices_are_no_lie_about_rows() -> None:
    original = make_retail(60, n_rows=3_000, seed=3)
    rng = np.random.default_rng(3)
    drawn = original.with_columns(draw=pl.Series(rng.random(3_000)))
    items = drawn.select(pl.col("item").sort_by("draw").over("invoice"))["item"]
    released = original.with_columns(item=items, price=original["price"] * np.exp(rng.normal(0, 0.3, 3_000)))
    assert not detect_yamaoka(original, released, pl.Series(range(1, 3_001))).is_flagged


def test_release_with_columns_shuffled_apart_is_not_flagged_as_no_row_fits_it() -> None:
    rng = np.random.default_rng(3)
    original = _survey(rng)
    apart = original.select(pl.Series(column.name, column.gather(rng.permutation(N_ROWS))) for column in original)
    verdict = detect_yamaoka(original, apart, pl.Series(range(1, N_ROWS + 1)))
    assert not verdict.is_flagged
    assert verdict.farther == pytest.approx(0.5, abs=0.1)


def test_evidence_names_the_released_the_declared_and_the_fitting_row() -> None:
    # Row i of the release is row i of the original, but is declared to be the one opposite.
    original = pl.DataFrame({"item": [f"I{i}" for i in range(40)], "price": [1.5 * i for i in range(40)]})
    verdict = detect_yamaoka(original, original, pl.Series(range(40, 0, -1)))
    assert verdict.is_flagged
    assert verdict.share == 1.0
    assert verdict.evidence[0].startswith("40 of 40 rows looked at (100.0%) contradict the declared row map")
    # The ends are farthest from where they are declared to be.
    assert verdict.evidence[2].startswith(
        "Row 1 of the release is declared to be row 40 of the original (nearness 0.0)"
    )
    assert "yet row 1 fits it (nearness 7.4;" in verdict.evidence[2]


def test_same_release_gives_the_same_verdict_and_another_map_another_sample() -> None:
    original = _purchases(n_rows=1_000)
    rows = pl.Series(np.random.default_rng(1).permutation(1_000) + 1)
    first, second = (detect_yamaoka(original, original, rows) for _ in range(2))
    assert first == second
    assert detect_yamaoka(original, original, rows.reverse()).evidence != first.evidence


def test_missing_cells_count_as_values_of_their_own() -> None:
    rng = np.random.default_rng(8)
    original = _survey(rng).with_columns(pl.when(pl.col("age") > 40).then(pl.col("age")))
    true = pl.Series(range(1, N_ROWS + 1))
    assert not detect_yamaoka(original, original, true).is_flagged
    assert detect_yamaoka(original, original, true.shuffle(seed=1)).is_flagged


def test_too_few_rows_are_not_judged() -> None:
    few = pl.DataFrame({"item": [str(i) for i in range(FEWEST_ROWS - 1)]})
    verdict = detect_yamaoka(few, few, pl.Series(range(few.height, 0, -1)))
    assert not verdict.is_flagged
    assert "too few rows" in verdict.evidence[0]


@pytest.mark.parametrize(
    ("released", "rows"),
    [
        (pl.DataFrame({"b": [1, 2]}), [1, 2]),
        (pl.DataFrame({"a": [1, 2]}), [1]),
        (pl.DataFrame({"a": [1, 2]}), [1, 3]),
        (pl.DataFrame({"a": [1, 2]}), [0, 1]),
        (pl.DataFrame({"a": [1, 2]}), [None, 1]),
    ],
)
def test_frames_and_rows_that_do_not_belong_together_are_refused(released: pl.DataFrame, rows: list[int]) -> None:
    with pytest.raises(InputError):
        detect_yamaoka(pl.DataFrame({"a": [1, 2]}), released, pl.Series(rows))
