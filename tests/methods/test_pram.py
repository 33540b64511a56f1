from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.perturbing.pram import Pram, estimated_counts
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows

ILL = pl.DataFrame({"illness": ["flu", "cold"] * 5})
CITY = Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo"], ["*"] * 3])


def drawn(frame: pl.DataFrame, seed: int = 1, trees: Any = None, **options: Any) -> Perturbed:
    return Pram(**options).perturb(Original(frame, tuple(frame.columns), hierarchies=trees or {}), seed=seed)


def in_order(changed: Perturbed) -> pl.DataFrame:
    """The released rows in the order of the original."""
    assert changed.rows is not None
    return changed.frame[changed.rows.arg_sort()]


def test_ten_rows_half_kept_promise_k_2() -> None:
    changed = drawn(ILL, retain=0.5)
    assert changed.promises["pk-anonymity"].value == pytest.approx(2)
    assert changed.facts == {
        "retain": 0.5,
        "n_values": {"illness": 2},
        "values_that_occur": ["illness"],
        "drawn_by": "md5 of key and row",
    }


def test_pk_asked_for_is_reached_with_the_largest_probability_that_does() -> None:
    changed = drawn(ILL, pk=2)
    assert changed.facts["retain"] == pytest.approx(0.5)
    assert changed.promises["pk-anonymity"].value >= 2
    with pytest.raises(CannotAnonymize, match="the fewest that do are 10"):
        drawn(ILL, pk=11)


def test_all_kept_is_the_original_in_another_order_and_promises_nothing() -> None:
    frame = pl.DataFrame({"city": [f"city {index}" for index in range(100)]})
    changed = drawn(frame, retain=1)
    assert in_order(changed).equals(frame)
    assert changed.rows is not None
    assert (changed.rows == pl.Series(range(100))).sum() < 10
    assert changed.promises["pk-anonymity"].value == 1


def test_values_are_kept_and_drawn_as_often_as_stated() -> None:
    n_rows, retain = 30_000, 0.4
    frame = pl.DataFrame({"city": ["Kyoto"] * n_rows})
    released = in_order(drawn(frame, retain=retain, trees={"city": CITY}))
    counts = Counter(released["city"])
    for city, share in (("Kyoto", 0.6), ("Osaka", 0.2), ("Tokyo", 0.2)):
        # Five standard deviations of a binomial count.
        assert abs(counts[city] - share * n_rows) < 5 * (share * (1 - share) * n_rows) ** 0.5


def test_counts_are_estimated_without_bias() -> None:
    frame = pl.DataFrame({"city": ["Kyoto"] * 700 + ["Osaka"] * 300, "sex": ["f", "m"] * 500})
    estimates = []
    for seed in range(40):
        released = drawn(frame, seed, {"city": CITY}, retain=0.6).frame
        counts = Counter(released.rows())
        table = [[counts[city, sex] for sex in "fm"] for city in ("Kyoto", "Osaka", "Tokyo")]
        estimates.append(estimated_counts(table, [0.6, 0.6]))
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0) / 40**0.5
    wanted = np.array([[350, 350], [150, 150], [0, 0]])
    assert (np.abs(mean - wanted) < 4 * error).all()
    # The released counts themselves are far off: most of Tokyo's are drawn.
    assert released["city"].to_list().count("Tokyo") > 80


def test_columns_and_rows_are_drawn_independently() -> None:
    frame = pl.DataFrame({"one": ["a", "b"] * 5_000, "two": ["a", "b"] * 5_000})
    released = in_order(drawn(frame, retain=0.5))
    changed = np.stack([(released[name] != frame[name]).to_numpy() for name in ("one", "two")]).astype(float)
    # Each changes with 0.25; a correlation of 10,000 independent pairs is below 0.05 but for five deviations.
    assert abs(np.corrcoef(changed)[0, 1]) < 0.05
    assert abs(np.corrcoef(changed[0, :-1], changed[0, 1:])[0, 1]) < 0.05


def test_missing_value_is_a_value_like_others() -> None:
    frame = pl.DataFrame({"city": ["Kyoto", None] * 1_000})
    changed = drawn(frame, retain=0.0, trees={"city": CITY})
    assert changed.facts["n_values"] == {"city": 4}
    assert set(changed.frame["city"]) == {"Kyoto", "Osaka", "Tokyo", None}
    # Nothing is told, so everybody can be anybody.
    assert changed.promises["pk-anonymity"].value == pytest.approx(2_000)
    assert set(drawn(frame, retain=0.0).frame["city"]) == {"Kyoto", None}


def test_promise_is_over_the_rows_that_agree_on_what_is_not_changed() -> None:
    frame = pl.DataFrame({"illness": ["flu", "cold"] * 5, "age": [30] * 6 + [40] * 4})
    score = drawn(frame, retain=0.5, columns=("illness",)).promises["pk-anonymity"]
    assert score.inputs["n_alike"] == 4
    assert score.value == pytest.approx(1 + 3 / 9)


def test_numbers_and_dates_keep_their_type() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3], "day": pl.Series(["2020-01-01", "2020-01-02", None]).str.to_date()})
    ages = Hierarchy.of_levels("age", [["1", "2", "3", "many"], ["*"] * 4])
    changed = drawn(frame, retain=0.1, trees={"age": ages})
    assert changed.frame.schema == frame.schema
    assert changed.facts["n_values"] == {"age": 3, "day": 3}
    categories = frame.select(pl.col("age").cast(pl.String).cast(pl.Categorical))
    assert set(drawn(categories, retain=0.5).frame["age"]) <= {"1", "2", "3"}


@pytest.mark.parametrize("values", [[], ["flu"], [None, None]])
def test_column_of_at_most_one_value_stays(values: list[str | None]) -> None:
    frame = pl.DataFrame({"illness": pl.Series(values, dtype=pl.String)})
    changed = drawn(frame, retain=0.1)
    assert changed.frame.equals(frame)
    assert changed.promises["pk-anonymity"].value == len(values)
    assert drawn(frame, pk=1).frame.equals(frame)


def test_same_seed_gives_the_same_and_another_another() -> None:
    assert drawn(ILL).frame.equals(drawn(ILL).frame)
    assert drawn(ILL).facts["retain"] == 0.8
    assert not in_order(drawn(ILL, retain=0)).equals(in_order(drawn(ILL, 2, retain=0)))


def test_release_carries_the_promise_and_numeric_columns_are_left_alone() -> None:
    frame = pl.DataFrame({"illness": ["flu", "cold"] * 5, "age": ["30"] * 10})
    goal = Goal([], method=Pram(retain=0.5), numeric=["age"])
    found = release_rows(frame, ["illness", "age"], {}, goal, seed=1)
    assert found.promises["pk-anonymity"].value == pytest.approx(2)
    assert found.release.frame["age"].to_list() == ["30"] * 10
    assert found.release.recipe.options["retain"] == 0.5


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"retain": 1.1}, "option retain: found '1.1', expected a probability from 0 to 1"),
        ({"retain": -0.1}, "option retain"),
        ({"retain": float("nan")}, "option retain: found 'nan'"),
        ({"pk": 0.5}, "option pk: found '0.5', expected a number from 1 up"),
        ({"pk": float("nan")}, "option pk"),
        ({"pk": float("inf")}, "option pk"),
        ({"pk": 2, "retain": 0.5}, "option pk: found '2', expected either retain or pk"),
        ({"columns": ("age",)}, "option columns"),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        drawn(ILL, **options)


def test_value_that_the_hierarchy_lacks_is_named() -> None:
    with pytest.raises(InputError, match="column city: found 'Nara'"):
        drawn(pl.DataFrame({"city": ["Nara"]}), trees={"city": CITY})
