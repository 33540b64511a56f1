"""What is promised of a release as a whole is judged on what is left after suppression."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.releases import release_of

from tokumei.core.errors import CannotAnonymize
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity, MeanClassSize
from tokumei.measures.safety.closeness import TCloseness
from tokumei.measures.safety.population import DeltaPresence
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.tables import write_anonymized

SEX = Hierarchy.of_levels("sex", [["f", "m", "x"], ["*", "*", "*"]])
PEOPLE = pl.DataFrame({"sex": ["f", "f", "m", "m", "x"]})


@pytest.mark.parametrize("method", ["optimal", "exhaustive", "best-effort", "mondrian", "top-down-specialization"])
def test_least_share_of_a_population_is_kept_where_suppression_would_break_it(method: str) -> None:
    everybody = pl.DataFrame({"sex": ["f"] * 5 + ["m"] * 5 + ["x"]})
    presence = DeltaPresence(count_classes(everybody, ["sex"]), 0.9, 0.1)
    goal = Goal([KAnonymity(2), presence], method=TABLE_ANONYMIZERS.make(method), suppression=0.3)
    assert release_of(PEOPLE, {"sex": SEX}, goal).frame["sex"].to_list() == ["*"] * 5


# A has flu, flu, cold, cold, B flu, cold, and C flu alone: of all rows 4/7 have flu, of A and B 1/2.
ILL = pl.DataFrame({"zip": list("AAAABBC"), "illness": ["flu", "flu", "cold", "cold", "flu", "cold", "flu"]})
ZIP = Hierarchy.of_levels("zip", [["A", "B", "C"], ["*"] * 3])


def closest(t: float, against: str) -> pl.DataFrame:
    closeness = TCloseness("illness", t, against=against)  # type: ignore[arg-type]
    goal = Goal([KAnonymity(2), closeness], LOSSES.make("ncp"), suppression=0.2)
    return release_of(ILL, {"zip": ZIP}, goal).frame


def test_closeness_holds_against_the_original_and_the_release() -> None:
    # Without C both classes are as the release is, and 4/7 − 1/2 = 1/14 from the original.
    assert closest(0.01, "release")["zip"].to_list() == list("AAAABB")
    assert closest(0.01, "both")["zip"].to_list() == ["*"] * 7
    assert closest(0.01, "original")["zip"].to_list() == ["*"] * 7
    assert closest(0.08, "both")["zip"].to_list() == list("AAAABB")


@pytest.mark.parametrize(("against", "found"), [("original", list("AABBB")), ("both", ["*"] * 6)])
def test_closeness_that_holds_against_the_original_alone_is_not_enough(against: str, found: list[str]) -> None:
    # 4 of 6 have flu, without C 3 of 5: A, all flu, is 1/3 from the original and 2/5 from the release.
    table = pl.DataFrame({"zip": list("AABBBC"), "illness": ["flu", "flu", "flu", "cold", "cold", "flu"]})
    closeness = TCloseness("illness", 0.35, against=against)  # type: ignore[arg-type]
    goal = Goal([KAnonymity(2), closeness], LOSSES.make("ncp"), suppression=0.2)
    assert release_of(table, {"zip": ZIP}, goal).frame["zip"].to_list() == found


@pytest.mark.parametrize("method", ["mondrian", "partition", "min-dis", "mu-argus", "utility-clustering"])
def test_methods_that_group_rows_leave_none_out_where_that_breaks_closeness(method: str) -> None:
    goal = Goal([KAnonymity(2), TCloseness("illness", 0.08)], method=TABLE_ANONYMIZERS.make(method), suppression=0.2)
    frame = release_of(ILL, {"zip": ZIP}, goal).frame
    for reference in (None, {"flu": 4 / 7, "cold": 3 / 7}):
        counts = count_classes(frame, ["zip"], sensitive=["illness"])
        assert TCloseness("illness", 0.08, reference=reference).holds_in(counts).all()


def test_mean_class_size_is_that_of_what_is_released() -> None:
    # A and B have 3 rows on the mean, C would make it 7/3.
    goal = Goal([KAnonymity(2), MeanClassSize(3)], LOSSES.make("ncp"), suppression=0.2)
    assert release_of(ILL, {"zip": ZIP}, goal).frame["zip"].to_list() == list("AAAABB")


def test_what_cannot_hold_says_so() -> None:
    goal = Goal([KAnonymity(8)], suppression=0.5)
    with pytest.raises(CannotAnonymize):
        release_of(ILL, {"zip": ZIP}, goal)


def test_types_of_a_parquet_file_survive_the_recount_of_a_csv_file(tmp_path: Path) -> None:
    numbers = ILL.with_columns(illness=pl.Series([10, 10, 9, 9, 10, 9, 10]))
    numbers.write_parquet(tmp_path / "ill.parquet")
    goal = Goal([KAnonymity(2), TCloseness("illness", 0.1, "ordered")], suppression=0.2)
    write_anonymized(tmp_path / "ill.parquet", {"zip": ZIP}, goal, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()
