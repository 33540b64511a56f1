"""Adult attacked: what an untouched copy gives away, and what a k-anonymous release does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.releases import release_of

from tokumei.attacks.disclosure.downcoding import Downcoding
from tokumei.attacks.disclosure.intersection import Intersection
from tokumei.attacks.disclosure.known_people import Homogeneity, RecordLinkage
from tokumei.attacks.disclosure.population import Presence
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.data.files.formats import read_frame
from tokumei.data.table import Table
from tokumei.hierarchies.files import read_hierarchies
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableAnonymizer

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
SENSITIVE = "salary-class"
N_ROWS, N_UNIQUE, N_CLASSES = 30_162, 15_512, 19_502


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> ThreatModel:
    frame = read_frame(shared_data / "adult" / "adult.csv.gz")
    hierarchies = read_hierarchies(shared_data / "adult" / "hierarchies", [*COLUMNS, SENSITIVE])
    table = Table.with_quasi_identifiers(frame, COLUMNS, sensitive=[SENSITIVE])
    return ThreatModel(table, Published(table, pl.Series(range(frame.height))), hierarchies, numeric=["age"])


def release(adult: ThreatModel, columns: list[str], k: int, suppression: float, method: str = "optimal") -> Published:
    hierarchies = {name: adult.hierarchies[name] for name in columns}
    keep = [name for name in adult.original.frame.columns if name not in columns]
    numeric = [name for name in columns if name == "age"]
    goal = Goal([KAnonymity(k)], method=TABLE_ANONYMIZERS.make(method), suppression=suppression, numeric=numeric)
    made = release_of(adult.original.frame, hierarchies, goal, keep=keep, seed=1)
    assert made.rows is not None
    return Published(Table.with_quasi_identifiers(made.frame, COLUMNS, sensitive=[SENSITIVE]), made.rows)


def test_untouched_copy_by_all_columns_is_certain_of_exactly_the_unique(adult: ThreatModel) -> None:
    scores = RecordLinkage().measure(replace(adult, known=[*COLUMNS, SENSITIVE]), seed=1)
    assert scores["certain"].value == N_UNIQUE / N_ROWS
    assert scores["success"].inputs["expected"] == pytest.approx(N_CLASSES / N_ROWS)
    low, high = scores["success"].interval or (1, 0)
    assert low <= N_CLASSES / N_ROWS <= high


@pytest.mark.parametrize(
    ("k", "suppression", "method"),
    [(2, 0.0, "optimal"), (5, 0.1, "optimal"), (10, 0.02, "optimal"), (5, 0.0, "mondrian"), (5, 0.0, "min-dis")],
)
def test_k_anonymous_release_is_found_at_most_one_in_k(
    adult: ThreatModel, k: int, suppression: float, method: str
) -> None:
    attacked = replace(adult, published=release(adult, COLUMNS, k, suppression, method))
    scores = RecordLinkage().measure(attacked, seed=1)
    assert scores["certain"].value == 0
    assert float(scores["success"].inputs["expected"]) <= 1 / k
    assert (scores["success"].interval or (1, 1))[0] <= 1 / k
    assert scores["success"].inputs["fewest_fitting"] >= k
    assert scores["success"].inputs["without_fitting_own"] == 0
    # Who knows less finds no more.
    half = RecordLinkage().measure(replace(attacked, known_share=0.5), seed=1)
    assert half["success"].inputs["expected"] <= scores["success"].inputs["expected"]
    assert Homogeneity().measure(attacked, seed=1)["certain"].value < 1


def test_two_releases_together_find_more_than_each(adult: ThreatModel) -> None:
    first = release(adult, ["sex", "age", "race", "education"], 5, 0.02)
    last = release(adult, ["sex", "marital-status", "workclass", "occupation"], 5, 0.02)
    by_few = replace(adult, known=["sex", "age", "marital-status", "education", "occupation"])
    scores = Intersection().measure(replace(by_few, published=last, earlier=[first]), seed=1)
    assert scores["linked-success"].inputs["expected"] > scores["success"].inputs["expected_from_the_last_alone"]


def test_presence_of_a_half_is_found_out_by_all_columns(adult: ThreatModel) -> None:
    rows = pl.Series(range(0, N_ROWS, 2))
    half = Table.with_quasi_identifiers(adult.original.frame[rows], COLUMNS, sensitive=[SENSITIVE])
    everybody = adult.original.frame.select(COLUMNS)
    scores = Presence().measure(replace(adult, published=Published(half, rows), population=everybody), seed=1)
    assert scores["success"].baseline == 1 / 2
    assert scores["success"].value > 0.75


@pytest.mark.parametrize(
    ("k", "known", "end", "any_value"), [(2, 0.768, 0.887, 0.494), (5, 0.283, 0.473, 0.292), (10, 0.136, 0.320, 0.201)]
)
def test_tight_ranges_give_ages_away_and_single_people_out(
    adult: ThreatModel, k: int, known: float, end: float, any_value: float
) -> None:
    columns = [*COLUMNS, SENSITIVE]
    hierarchies = {name: adult.hierarchies[name] for name in columns}
    goal = Goal([KAnonymity(k)], method=tight_mondrian(), numeric=["age"])
    made = release_of(adult.original.frame, hierarchies, goal, seed=1)
    assert made.rows is not None
    original = Table.with_quasi_identifiers(adult.original.frame, columns)
    published = Published(Table.with_quasi_identifiers(made.frame, columns), made.rows)
    threat_model = replace(adult, original=original, published=published)
    scores = Downcoding(ranges="tight").measure(threat_model, seed=1)
    assert scores["cells-certain"].inputs["by_column"]["age"] == pytest.approx(known, abs=5e-4)
    assert scores["singled-out"].value == pytest.approx(end, abs=5e-4)
    assert scores["singled-out"].baseline == pytest.approx(any_value, abs=5e-4)
    if k == 5:
        # The same groups on a grid of five years: an end says no more than any other value.
        bounds = pl.col("age").str.extract_all("[0-9]+").list.eval(pl.element().cast(pl.Int64))
        low, high = bounds.list.first() // 5 * 5, bounds.list.last() // 5 * 5 + 4
        grid = made.frame.with_columns(pl.format("{}-{}", low, high).alias("age"))
        wide = Published(Table.with_quasi_identifiers(grid, columns), made.rows)
        found = Downcoding().measure(replace(threat_model, published=wide), seed=1)
        assert found["cells-certain"].value == 0
        assert found["singled-out"].value == pytest.approx(found["singled-out"].baseline, abs=0.02)


def tight_mondrian() -> TableAnonymizer:
    """Mondrian as it writes the smallest and the largest value of each group."""
    return TABLE_ANONYMIZERS.make("mondrian", ranges="tight")
