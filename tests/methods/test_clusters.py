"""What min-dis, utility-clustering and mu-argus have in common: the requirement holds, whatever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.data.made_survey import QUASI_IDENTIFIERS, make_survey
from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.measures.losses import LOSSES
from tokumei.measures.requirement import SAFETY, Requirement
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.rows import RowRelease, release_rows
from tokumei.methods.search.optimal import Optimal
from tokumei.methods.search.problem import Problem

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "min-dis": ("min-dis", {}),
    "min-dis at random": ("min-dis", {"order": "random"}),
    "min-dis in blocks": ("min-dis", {"block": 3}),
    "bottom-up": ("utility-clustering", {}),
    "bottom-up in blocks": ("utility-clustering", {"block": 4}),
    "top-down": ("utility-clustering", {"kind": "top-down"}),
    "mu-argus": ("mu-argus", {}),
    "mu-argus by single values": ("mu-argus", {"n_way": 1}),
}
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
# The last two levels before the top cross.
TOWN = Hierarchy.of_levels("town", [list("pqrstu"), list("aabbcd"), list("xxxyyy"), ["*"] * 6])
AGES = [str(age) for age in range(20, 28)]
AGE = Hierarchy.of_levels("age", [AGES, ["20-21", "20-21", "22-23", "22-23", *["24-27"] * 4], ["any"] * 8])
COLUMNS = ["sex", "town", "age"]
ROW = st.tuples(
    st.sampled_from("fm") | st.none(),
    st.sampled_from("pqrstu") | st.none(),
    st.sampled_from(range(20, 28)) | st.none(),
    st.sampled_from("ij"),
)
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
ADULT.append("salary-class")


def made(
    rows: list[Any], requirements: list[Requirement], method: str = "bottom-up", seed: int = 0, **options: Any
) -> RowRelease:
    schema: Any = {"sex": pl.String, "town": pl.String, "age": pl.Int64, "illness": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    name, given_options = METHODS[method]
    goal = Goal(requirements, method=TABLE_ANONYMIZERS.make(name, **given_options), **options)
    trees = {"sex": SEX, "town": TOWN, "age": AGE}
    return release_rows(frame, COLUMNS, trees, goal, keep=["illness"], seed=seed)


def k_anonymity(k: int) -> list[Requirement]:
    return [SAFETY.make("k-anonymity", k=k)]


def requirements(name: str) -> list[Requirement]:
    asked: dict[str, list[Requirement]] = {
        "k": k_anonymity(3),
        "distinct": [SAFETY.make("l-diversity", sensitive="illness", l=2)],
        "entropy": [*k_anonymity(2), SAFETY.make("l-diversity", sensitive="illness", l=1.5, kind="entropy")],
        "closeness": [SAFETY.make("t-closeness", sensitive="illness", t=0.2)],
        "mean size": [SAFETY.make("mean-class-size", size=3)],
    }
    return asked[name]


@pytest.mark.slow
@settings(max_examples=cases(120))
@given(
    st.lists(ROW, min_size=1, max_size=30),
    st.sampled_from(list(METHODS)),
    st.sampled_from(["k", "distinct", "entropy", "closeness", "mean size"]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([(), ("age",)]),
    st.integers(0, 3),
)
def test_every_class_holds_or_nothing_is_released(
    rows: list[Any], method: str, asked: str, suppression: float, numeric: tuple[str, ...], seed: int
) -> None:
    try:
        found = made(rows, requirements(asked), method, seed, suppression=suppression, numeric=numeric)
    except CannotAnonymize:
        if suppression == 0:
            # All rows in one class would not do either.
            alone = pl.DataFrame({"all": ["*"] * len(rows), "illness": [row[3] for row in rows]})
            counts = count_classes(alone, ["all"], sensitive=["illness"])
            assert not all(one.holds_in(counts).all() for one in requirements(asked))
        return
    # That every class holds was counted when the release was made.
    assert found.release.frame.height == len(rows) - found.n_suppressed
    assert found.n_suppressed <= suppression * len(rows)
    assert found.loss is not None
    assert 0 <= found.loss.value <= 1
    again = made(rows, requirements(asked), method, seed, suppression=suppression, numeric=numeric)
    assert again.release.frame.equals(found.release.frame)


@pytest.mark.slow
@settings(max_examples=cases(60))
@given(st.lists(ROW, min_size=3, max_size=30), st.sampled_from(list(METHODS)))
def test_every_label_covers_the_value_it_stands_for(rows: list[Any], method: str) -> None:
    found = made(rows, k_anonymity(3), method)
    for before, after in zip(rows, found.release.frame.rows(), strict=True):
        for value, label, tree in zip(before, after, (SEX, TOWN, AGE), strict=False):
            if value is None or label is None:
                assert value == label or label in ("*", "any")
            else:
                leaf = tree.leaves.index(str(value))
                assert label in {"*", *(tree.labels_at(level)[leaf] for level in range(tree.height + 1))}


@pytest.mark.parametrize("method", list(METHODS))
def test_rows_that_hold_as_they_are_are_left_alone(method: str) -> None:
    alike = [("f", "p", 20, "i")] * 3
    found = made(alike, k_anonymity(3), method)
    assert found.release.frame.rows() == [("f", "p", "20", "i")] * 3
    assert found.loss is not None
    assert found.loss.value == 0
    missing = [(None, None, None, "i")] * 2
    found = made([*alike, *missing], k_anonymity(2), method)
    assert found.release.frame.rows() == [("f", "p", "20", "i")] * 3 + [(None, None, None, "i")] * 2


@pytest.mark.parametrize("method", list(METHODS))
def test_too_few_rows_cannot_be_released_unless_all_may_be_left_out(method: str) -> None:
    rows = [("f", "p", 20, "i"), ("m", "q", 21, "j")]
    with pytest.raises(CannotAnonymize, match="2 of 2 rows would have to be left out, of which 0 may be"):
        made(rows, k_anonymity(3), method)
    assert made(rows, k_anonymity(3), method, suppression=1.0).release.frame.height == 0
    with pytest.raises(CannotAnonymize, match="1 of 1 rows"):
        made(rows[:1], k_anonymity(2), method)
    assert made(rows[:1], k_anonymity(1), method).release.frame.rows() == [("f", "p", "20", "i")]
    assert made([], k_anonymity(2), method).release.frame.height == 0


@pytest.mark.parametrize("method", list(METHODS))
def test_missing_value_with_others_is_told_by_nothing(method: str) -> None:
    rows = [("f", "p", 20, "i"), (None, "p", 20, "i")]
    assert made(rows, k_anonymity(2), method).release.frame.rows() == [("*", "p", "20", "i")] * 2


@pytest.mark.parametrize("method", list(METHODS))
def test_order_of_rows_does_not_matter_and_the_table_stays_as_it_is(method: str) -> None:
    rows = [("fm"[n % 2], "pqrstu"[n * 7 % 6], 20 + n * n % 8, "ij"[n % 3 == 0]) for n in range(24)]
    there = made(rows, k_anonymity(3), method).release.frame
    back = made(rows[::-1], k_anonymity(3), method).release.frame
    assert back.reverse().equals(there)


@pytest.mark.parametrize("method", list(METHODS))
def test_requirement_of_a_population_is_refused(method: str) -> None:
    rows = [("f", "p", 20, "i")] * 2
    population = count_classes(pl.DataFrame({"sex": ["f"], "town": ["p"], "age": [20]}), COLUMNS)
    with pytest.raises(InputError, match="no requirement of a population"):
        made(rows, [SAFETY.make("k-map", population=population, k=1)], method)


@pytest.fixture(scope="module")
def adult_by_levels(shared_data: Path) -> float:
    """The least certainty penalty of Adult at k = 5 with one level for each column."""
    lattice = Lattice.of(read_hierarchies(shared_data / "adult" / "hierarchies", ADULT))
    counts = count_classes(shared_data / "adult" / "adult.csv.gz", ADULT)
    return Optimal().search(Problem(lattice, counts, k_anonymity(5), LOSSES.make("ncp"), 0.0)).judged.loss


@pytest.mark.slow
@pytest.mark.parametrize("method", ["min-dis", "bottom-up", "top-down", "mu-argus"])
def test_adult_loses_less_than_by_the_best_levels(shared_data: Path, adult_by_levels: float, method: str) -> None:
    frame = pl.read_csv(shared_data / "adult" / "adult.csv.gz", separator=";", infer_schema=False)
    trees = read_hierarchies(shared_data / "adult" / "hierarchies", ADULT)
    name, options = METHODS[method]
    goal = Goal(k_anonymity(5), method=TABLE_ANONYMIZERS.make(name, **options))
    found = release_rows(frame, ADULT, trees, goal)
    assert found.counts is not None
    assert found.counts.k >= 5
    assert found.loss is not None
    assert found.loss.value < adult_by_levels / 4


@pytest.mark.slow
@pytest.mark.parametrize("method", ["min-dis", "bottom-up", "top-down", "mu-argus"])
def test_large_survey_keeps_its_requirement(method: str) -> None:
    frame = make_survey(40_000, seed=1)
    columns = QUASI_IDENTIFIERS[:9]
    name, options = METHODS[method]
    numeric = ["household_size", "age_band"]
    goal = Goal(k_anonymity(5), method=TABLE_ANONYMIZERS.make(name, **options), numeric=numeric)
    found = release_rows(frame, columns, {}, goal)
    assert found.counts is not None
    assert found.counts.k >= 5
    assert found.release.frame.height == 40_000
