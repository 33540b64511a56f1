from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.engines.count import count_classes
from tokumei.measures.requirement import SAFETY
from tokumei.methods.perturbing.microaggregate import Microaggregate, group_centers, lost_variance
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowRelease, release_rows

PEOPLE = pl.DataFrame(
    {
        # As a text file has them.
        "age": ["20", "40", "22", "42", "44"],
        "income": ["100", "300", "120", "320", "340"],
        "city": ["Kyoto", "Osaka", "Kyoto", "Osaka", "Osaka"],
    }
)
TABLES = st.lists(
    st.tuples(st.none() | st.integers(0, 9), st.none() | st.integers(0, 3), st.sampled_from("ab")), max_size=40
)


def made(frame: pl.DataFrame = PEOPLE, qis: str = "age income", asked: int | None = None, **options: Any) -> RowRelease:
    requirements = [] if asked is None else [SAFETY.make("k-anonymity", k=asked)]
    numeric = [name for name in ("age", "income") if name in qis]
    goal = Goal(requirements, method=Microaggregate(**options), numeric=numeric)
    return release_rows(frame, qis.split(), {}, goal, seed=1)


def test_microaggregate_writes_the_mean_of_each_group() -> None:
    found = made(asked=2)
    assert found.release.frame.rows() == [(21, 110), (42, 320), (21, 110), (42, 320), (42, 320)]
    assert found.release.frame.columns == ["age", "income"]
    assert found.release.frame.schema["age"] == pl.Int64
    assert found.release.rows is not None
    assert found.release.rows.to_list() == [0, 1, 2, 3, 4]
    assert found.promises["k-anonymity"].value == 2
    # Within groups the ages are 2·1² + 2·2² = 10 off, and 539.2 from their mean 33.6; the incomes 1,000 of 53,920.
    lost = found.release.recipe.options["lost_variance"]
    assert lost == pytest.approx((10 / 539.2 + 1_000 / 53_920) / 2)
    assert found.release.recipe.options["n_groups"] == 2


def test_microaggregate_writes_the_median_if_asked_to() -> None:
    ages = pl.DataFrame({"age": [1, 2, 9, 20, 31]})
    # All five are one group for k = 3.
    assert made(ages, "age", write="median").release.frame["age"].to_list() == [9] * 5
    assert made(ages[:4], "age", write="median").release.frame["age"].to_list() == [5.5] * 4


def test_microaggregate_takes_the_k_asked_for_or_three() -> None:
    ages = pl.DataFrame({"age": list(range(12))})
    assert made(ages, "age").release.recipe.options["k"] == 3
    assert made(ages, "age", asked=4).release.recipe.options["k"] == 4
    assert made(ages, "age", k=6).release.recipe.options["k"] == 6


def test_groups_are_made_within_the_classes_of_other_columns() -> None:
    found = made(qis="age city", asked=2, within=("city",))
    assert found.release.frame.rows() == [(21, "Kyoto"), (42, "Osaka"), (21, "Kyoto"), (42, "Osaka"), (42, "Osaka")]
    with pytest.raises(
        CannotAnonymize, match="Among fewer than 3 that agree on city, which numbers are missing: 2 rows"
    ):
        made(qis="age city", asked=3, within=("city",))


def test_other_quasi_identifiers_that_break_the_k_asked_for_are_named_as_the_cause() -> None:
    people = PEOPLE.with_columns(city=pl.Series(["Kyoto", "Osaka", "Nara", "Osaka", "Osaka"]))
    with pytest.raises(
        CannotAnonymize, match="In classes of fewer than 2 rows would stay 2 rows: generalize the other"
    ):
        made(people, "age city", asked=2)


def test_rows_that_miss_the_same_numbers_are_grouped_by_the_others() -> None:
    people = pl.DataFrame({"age": [1, 2, 3, 4, None, None, None], "income": [1, 1, 9, 9, 5, 7, None]})
    assert made(people[:6], asked=2).release.frame.rows() == [
        (1.5, 1),
        (1.5, 1),
        (3.5, 9),
        (3.5, 9),
        (None, 6),
        (None, 6),
    ]
    with pytest.raises(CannotAnonymize, match="Among fewer than 2 that agree on which numbers are missing: 1 row"):
        made(people, asked=2)


def test_column_of_which_all_is_missing_stays_so() -> None:
    people = pl.DataFrame({"age": pl.Series([None] * 3, dtype=pl.String), "income": [1, 2, 3]})
    assert made(people).release.frame.rows() == [(None, 2)] * 3


def test_equal_rows_stay_exactly_as_they_are() -> None:
    # The sum of three tenths divided by three is not a tenth to a computer.
    tenths = pl.DataFrame({"age": [0.1] * 7})
    assert made(tenths, "age").release.frame.equals(tenths)


def test_empty_table_gives_an_empty_release_and_too_few_rows_an_error() -> None:
    assert made(PEOPLE[:0]).release.frame.height == 0
    with pytest.raises(CannotAnonymize):
        made(PEOPLE[:1])
    with pytest.raises(CannotAnonymize):
        made(asked=6)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"k": 0}, "option k: found '0', expected at least 1"),
        ({"block": 0}, "option block"),
        ({"write": "mode"}, "option write: found 'mode', expected mean or median"),
        ({"within": ("age",)}, "option within: found 'age', expected a released column that is not averaged"),
        ({"within": ("shoe",)}, "option within"),
        ({"columns": ("shoe",)}, "option columns"),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        made(**options)


@settings(max_examples=cases(60))
@given(TABLES, st.integers(1, 4), st.sampled_from(["mean", "median"]), st.sampled_from([3, 50_000]))
def test_at_least_k_rows_agree_and_means_stay(
    rows: list[tuple[int | None, int | None, str]], k: int, write: str, block: int
) -> None:
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "income": pl.Int64, "city": pl.String}, orient="row")
    try:
        found = made(frame, "age income city", k, within=("city",), write=write, block=block)
    except CannotAnonymize:
        is_missing = [frame["city"], frame["age"].is_null(), frame["income"].is_null()]
        assert pl.DataFrame(is_missing).group_by(pl.all()).len()["len"].min() < k  # type: ignore[operator]
        return
    released = found.release.frame
    assert not rows or count_classes(released, ["age", "income", "city"]).k >= k
    assert released["city"].equals(frame["city"])
    for name in ("age", "income"):
        assert released[name].is_null().equals(frame[name].is_null())
        if write == "mean" and frame[name].null_count() < len(rows):
            assert released[name].mean() == pytest.approx(frame[name].mean())


@settings(max_examples=cases(40))
@given(TABLES, st.randoms(), st.sampled_from([3, 50_000]))
def test_order_of_rows_does_not_matter(
    rows: list[tuple[int | None, int | None, str]], rng: random.Random, block: int
) -> None:
    # Tenths, whose sums are rounded.
    schema = {"age": pl.Float64, "income": pl.Float64}
    numbers = [tuple(None if one is None else one / 10 for one in row[:2]) for row in rows]
    moved = list(numbers)
    rng.shuffle(moved)
    try:
        found = [made(pl.DataFrame(some, schema=schema, orient="row"), block=block) for some in (numbers, moved)]
    except CannotAnonymize:
        return
    one, other = (sorted(map(str, each.release.frame.rows())) for each in found)
    assert one == other


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), min_size=1))
def test_group_centers_equal_numpys(pairs: list[tuple[int, int]]) -> None:
    group_of, values = np.array(pairs).T
    for write, plain in (("mean", np.mean), ("median", np.median)):
        wanted = [plain(values[group_of == group]) for group in group_of]
        np.testing.assert_allclose(group_centers(values.astype(float), group_of, write), wanted)  # type: ignore[arg-type]


def test_lost_variance_is_nothing_of_nothing_and_all_of_one_group() -> None:
    column = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    assert lost_variance(column, column) == 0
    assert lost_variance(column, np.full((3, 2), [2.0, 5.0])) == 1


def test_ages_of_adult_are_averaged_in_thousands_of_groups(shared_data: Any) -> None:
    adult = pl.read_csv(shared_data / "adult" / "adult.csv.gz", separator=";", infer_schema=False)
    found = made(adult, "age", asked=5)
    assert found.counts is not None
    assert found.counts.k >= 5
    ages = adult["age"].cast(pl.Int64)
    assert found.release.frame["age"].mean() == pytest.approx(ages.mean(), rel=1e-12)
    # Ages that five share stay almost all as they are.
    assert (found.release.frame["age"] - ages).abs().mean() < 0.01  # type: ignore[operator]
