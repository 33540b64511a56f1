"""What the labels of a release give away, worked out by hand on few rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.disclosure.downcoding import Downcoding
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import LeafSets, Vocabulary

AGES = [31, 45, 50, 50, 58]
LABELS = ["31-45", "31-45", "50-58", "50-58", "50-58"]
CITY = Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo", "Chiba"], ["west", "west", "east", "east"], ["*"] * 4])


def claimed(result: Any, *columns: str) -> list[tuple[Any, ...]]:
    frame: pl.DataFrame = result.claims
    return frame.select(columns or ("row", "column", "value", "least")).rows()


def test_downcoding_of_tight_ranges_knows_both_ends_and_singles_three_of_four_out() -> None:
    original = tk.Table({"age": AGES}, qi=["age"])
    result = tk.attack(original, pl.DataFrame({"age": LABELS}), "downcoding", in_order=True, ranges="tight")
    scores = result.scores["downcoding"]
    assert claimed(result) == [(0, "age", "31", 1), (0, "age", "45", 1), (2, "age", "50", 1), (2, "age", "58", 1)]
    assert scores["singled-out"].value == 3 / 4
    assert scores["singled-out"].baseline == pytest.approx((2 / 15 + 1 / 9) / 2)
    assert scores["cells-certain"].value == 4 / 5
    assert scores["narrowed"].value == 1
    assert result.claims["is_true"].all()
    # 15² ways to fill two rows become 2, and 9³ ways to fill three become 9³ − 2 · 8³ + 7³.
    removed = result.narrowed["bits_removed"].to_list()
    assert removed[0] == pytest.approx(3.4069, abs=1e-4)
    assert 2 ** (9.509775004326936 - 3 * removed[2]) == pytest.approx(9**3 - 2 * 8**3 + 7**3)


def test_hierarchy_that_lists_only_what_occurs_makes_no_value_of_a_range_likelier() -> None:
    # As one that was made from the values: nobody outside knows that 32 to 44 do not occur.
    tree = Hierarchy.of_levels("age", [["31", "45", "50", "58"], ["31-45", "31-45", "50-58", "50-58"], ["*"] * 4])
    original, release = tk.Table({"age": AGES}, qi=["age"]), pl.DataFrame({"age": LABELS})
    for given in (None, {"age": tree}):
        result = tk.attack(original, release, "downcoding", in_order=True, ranges="tight", hierarchies=given)
        assert result.scores["downcoding"]["singled-out"].baseline == pytest.approx((2 / 15 + 1 / 9) / 2)
    # A public scale of fives has four values from 20 to 35.
    fives = [str(n) for n in range(20, 60, 5)]
    scale = Hierarchy.of_levels("age", [fives, ["20-35"] * 4 + ["40-55"] * 4, ["*"] * 8])
    people = tk.Table({"age": [20, 25, 25, 40, 55]}, qi=["age"])
    labels = pl.DataFrame({"age": ["20-35"] * 3 + ["40-55"] * 2})
    found = tk.attack(people, labels, "downcoding", in_order=True, hierarchies={"age": scale})
    assert found.scores["downcoding"]["singled-out"].baseline == pytest.approx((1 / 4 + 2 / 4) / 2)


def test_downcoding_of_a_release_alone_claims_the_same_and_estimates() -> None:
    result = tk.attack(pl.DataFrame({"age": LABELS}), qi=["age"], attack="downcoding", ranges="tight")
    scores = result.scores["downcoding"]
    assert claimed(result, "value", "is_true") == [("31", None), ("45", None), ("50", None), ("58", None)]
    # Of two rows both ends are alone; of three the third is elsewhere with a chance of 8/9.
    assert scores["singled-out-estimate"].value == pytest.approx((1 + 1 + 8 / 9 + 8 / 9) / 4)
    assert "singled-out" not in scores


def test_downcoding_of_grid_ranges_claims_nothing_and_ends_are_as_any_value() -> None:
    original = tk.Table({"age": [31, 38, 40, 44, 47]}, qi=["age"])
    grid = pl.DataFrame({"age": ["30-39", "30-39", "40-49", "40-49", "40-49"]})
    result = tk.attack(original, grid, "downcoding", in_order=True)
    assert result.claims.height == 0
    assert result.scores["downcoding"]["cells-certain"].value == 0
    assert result.scores["downcoding"]["singled-out"].value == 1 / 4
    assert result.scores["downcoding"]["singled-out"].baseline == pytest.approx((2 / 10 + 3 / 10) / 2)
    assumed = result.to_dict()["deduced"]["downcoding"]["assumed"]["ranges"]["age"]
    assert assumed == {"are": "grid", "since": "all ends lie on a grid of 10"}


@pytest.mark.parametrize(
    ("labels", "is_tight", "why"),
    [
        (["31-45", "40-52", "48"], True, "labels overlap without one holding the other"),
        (["31-37", "41-44", "48"], True, "ranges have irregular ends and leave gaps"),
        (["30-34", "35-39", "45-49"], False, "all ends lie on a grid of 5"),
        (["0-17", "18-24", "25-64"], False, "the labels may come from public bands"),
        (["[30, 40[", "[35, 47["], False, "ranges without an end of their own"),
        (["<18", ">=80", "31-37"], False, "ranges without an end of their own"),
        (["[2.5, 3.1]", "[2.8, 4.7]"], True, "labels overlap without one holding the other"),
        (["[2.5, 2.9]", "[3.0, 3.4]", "[3.5, 4.4]"], False, "all ends lie on a grid of 0.5"),
        (["{a;b}", "{b, c}", "a"], True, "labels overlap without one holding the other"),
        (["{a;b}", "{a;b;c}"], False, "the labels may come from public bands"),
    ],
)
def test_labels_look_tight_only_where_no_public_scale_gives_them(labels: list[str], is_tight: bool, why: str) -> None:
    public = PublicKnowledge(tk.Table({"column": labels}, qi=["column"]))
    assert LabelReading.of(public, "column").looks_tight() == (is_tight, why)


def test_labels_of_the_hierarchy_do_not_look_tight() -> None:
    tree = Hierarchy.of_levels("age", [["1", "2", "3", "4"], ["1-3", "1-3", "1-3", "4"], ["*"] * 4])
    public = PublicKnowledge(tk.Table({"age": ["1-3", "1-3", "4"]}, qi=["age"]), {"age": tree})
    assert LabelReading.of(public, "age").looks_tight() == (False, "all labels are of the hierarchy")


def test_closest_label_of_a_tree_has_rows_below_two_children() -> None:
    rows = {"city": ["west", "west", "*", "*", "Tokyo", "Tokyo"]}
    table = tk.Table(rows, qi=["city"], hierarchies={"city": CITY})
    told = tk.attack(table, attack="downcoding", method="partition", complete=True)
    assert claimed(told, "row", "kind", "value", "least", "most") == [
        (0, "closest label", "Kyoto", 1, 1),
        (0, "closest label", "Osaka", 1, 1),
        (2, "closest label", "east", 1, 1),
        (2, "closest label", "west", 1, 1),
    ]
    # A missing value may be why a label says nothing.
    unsure = tk.attack(table, attack="downcoding", method="partition").claims
    assert unsure.filter(pl.col("row") == 2)["claim"].to_list() == ["two or more occur of: west, east, (missing)"]
    # Of a method that nobody named nothing follows.
    assert tk.attack(table, attack="downcoding").claims.height == 0


def test_sets_of_a_group_have_all_their_members() -> None:
    table = tk.Table({"city": ["{Kyoto, Chiba}", "{Kyoto, Chiba}", "{Chiba;Tokyo}", "{Chiba;Tokyo}"]}, qi=["city"])
    found = tk.attack(table, attack="downcoding")
    assert claimed(found, "row", "value", "kind") == [
        (0, "Chiba", "set"), (0, "Kyoto", "set"), (2, "Chiba", "set"), (2, "Tokyo", "set"),
    ]  # fmt: skip


def test_mondrian_that_did_not_cut_six_rows_gives_away_a_pile() -> None:
    """Of 30, 30, 30, 30, 31, 35 no cut leaves three on both sides: 6 − 2 · 3 + 2 rows share a value at least."""
    table = tk.Table({"age": [30, 30, 30, 30, 31, 35]}, qi=["age"])
    release = tk.anonymize(table, k=3, method="mondrian", ranges="tight")
    claims = tk.attack(release, attack="downcoding").claims
    assert release.table["age"].unique().to_list() == ["30-35"]
    piles = claims.filter(pl.col("kind") == "not split")
    assert piles.select("least", "claim", "is_true").rows() == [(2, "2 rows or more have one value in common", True)]


def test_halves_of_a_cut_tell_how_often_the_value_beside_it_occurs() -> None:
    """20, 21 | 30, 30, 30, 31: the larger half has two rows more, so 30 stands there twice at least."""
    table = tk.Table({"age": [20, 21, 30, 30, 30, 31]}, qi=["age"])
    claims = tk.attack(tk.anonymize(table, k=2, method="mondrian", ranges="tight"), attack="downcoding").claims
    halves = claims.filter(pl.col("kind") == "halves of a cut")
    assert halves.select("label", "value", "least", "is_true").rows() == [("30-31", "30", 2, True)]


def test_levels_that_could_not_be_finer_give_away_that_a_class_would_fall_apart() -> None:
    rows = {"city": ["Kyoto", "Kyoto", "Osaka", "Tokyo", "Tokyo", "Chiba", "Chiba"]}
    table = tk.Table(rows, qi=["city"], hierarchies={"city": CITY})
    release = tk.anonymize(table, k=2, method="optimal")
    claims = tk.attack(release, attack="downcoding").claims
    assert set(release.table["city"]) == {"west", "east"}
    assert claims.select("row", "kind", "least", "most", "is_true").rows() == [(None, "not finer", 1, 1, True)]


def test_suppressed_row_beside_a_release_by_levels_lies_in_no_released_class() -> None:
    """As ARX writes it: the row stays, and says nothing."""
    original = tk.Table(
        {"city": ["Kyoto", "Osaka", "Tokyo"], "sex": list("ffm")}, qi=["city", "sex"], hierarchies={"city": CITY}
    )
    released = pl.DataFrame({"city": ["west", "west", "*"], "sex": ["f", "f", "*"]})
    trees = {"city": CITY, "sex": Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])}
    found = tk.attack(original, released, "downcoding", in_order=True, hierarchies=trees, method="optimal")
    assert found.claims.select("row", "kind", "is_true").rows() == [(2, "suppressed", True)]
    assert "25.0%" in found.claims["claim"][0]


@pytest.mark.parametrize(
    "labels", [["130**", "130**", "14850"], ["[20, 40[", "[40, 60[", "[20, 40["], ["{a, b}", "*", "a"]]
)
def test_release_that_others_made_is_read_without_hierarchies(labels: list[str]) -> None:
    found = tk.attack(tk.Table({"column": labels}, qi=["column"]), attack="downcoding")
    assert found.claims.height in (0, 2)
    assert found.scores["downcoding"]["narrowed"].inputs["bits_open"] > 0


def test_label_that_means_nothing_is_named_with_its_file() -> None:
    table = tk.Table({"age": ["31-45", "old"]}, qi=["age"], numeric=["age"], name="release.csv")
    with pytest.raises(tk.errors.InputError, match=r"release\.csv.*age.*'old'"):
        tk.attack(table, attack="downcoding")


def test_attack_that_needs_people_refuses_a_release_alone() -> None:
    table = tk.Table({"age": LABELS}, qi=["age"])
    with pytest.raises(tk.errors.InputError, match="the original, which record-linkage needs"):
        tk.attack(table, attack="record-linkage")
    assert tk.attack(table, attack="all").left_out["record-linkage"] == "the original"


def test_wrong_options_of_downcoding_are_refused() -> None:
    with pytest.raises(tk.errors.InputError, match="tight or grid"):
        Downcoding(ranges="loose")  # type: ignore[arg-type]
    with pytest.raises(tk.errors.TokumeiError, match="mondrian"):
        tk.attack(tk.Table({"age": LABELS}, qi=["age"]), attack="downcoding", method="mondrain")


def test_result_of_downcoding_is_plain_json_and_draws_the_baseline(tmp_path: Path) -> None:
    result = tk.attack(tk.anonymize(tk.Table({"age": AGES * 3}, qi=["age"]), k=2, method="mondrian", ranges="tight"))
    found = json.loads(json.dumps(result.to_dict()))
    assert set(found["attacks"]) == {"distance-linkage", "record-linkage", "downcoding", "refine", "singling-out"}
    assert found["deduced"]["downcoding"]["assumed"]["method"] == "mondrian"
    drawn = result.figure()
    assert drawn is not None
    assert "any value" in drawn.svg


def test_claims_that_contradict_each_other_know_no_more_cells_than_there_are() -> None:
    # One row cannot be both ends of its range: whoever says that ranges are tight is wrong, which is no failure here.
    release = tk.Table({"age": ["31-45", "50-58", "50-58"]}, qi=["age"])
    found = tk.attack(release, attack="downcoding", ranges="tight").scores["downcoding"]
    assert found["cells-certain"].value == 1


def test_values_of_a_label_are_looked_up_once_however_many_classes_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # 40 classes of which each is said to have two of 160 jobs: 6,400 look-ups before, and 200 million for 4,742 jobs.
    looked_up: list[int] = []
    leaf_sets = Vocabulary.leaf_sets

    def counted(self: Vocabulary, labels: Sequence[str | None], *, are_known: bool = True) -> LeafSets:
        looked_up.append(len(labels))
        return leaf_sets(self, labels, are_known=are_known)

    monkeypatch.setattr(Vocabulary, "leaf_sets", counted)
    rows = range(320)
    people = tk.Table({"age": [n // 8 for n in rows], "job": [f"job {n % 160}" for n in rows]}, ["age", "job"])
    jobs = Hierarchy.of_levels("job", [[f"job {n}" for n in range(160)], ["*"] * 160])
    release = tk.anonymize(people, k=8, method="mondrian", suppress=0, hierarchies={"job": jobs})
    looked_up.clear()
    claims = tk.attack(release, attack="downcoding").claims
    spread = claims.filter(pl.col("claim").str.starts_with("two or more occur of"))
    assert spread.height >= 20
    assert spread["is_true"].all()
    assert spread["claim"].str.ends_with("and 61 more").all()
    assert len(looked_up) < 4 * 160
