from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.engines.class_counts import Histogram
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.diversity import AlphaK, LDiversity
from tokumei.methods.local.mondrian import with_most_frequent
from tokumei.methods.local.task import counts_of_groups

VALUES = pl.Series(["HIV", "cold", "flu", "ulcer"])
ASKED: tuple[Requirement, ...] = (
    LDiversity("ill", 2),
    LDiversity("ill", 3),
    LDiversity("ill", 1.8, "entropy"),
    LDiversity("ill", 2, "recursive", 2),
    LDiversity("ill", 3, "recursive", 4),
    AlphaK("ill", 0.5, 2),
    AlphaK("ill", 0.67, 2),
)


def histogram(rows: list[str]) -> Histogram:
    codes = [VALUES.to_list().index(one) for one in rows]
    value, n = np.unique(codes, return_counts=True)
    return Histogram(VALUES, np.zeros(len(value), np.int64), value.astype(np.int32), n.astype(np.int64))


def holds(requirement: Requirement, one: Histogram, size: int) -> bool:
    return bool(requirement.holds_in(counts_of_groups(np.array([size]), {"ill": one}))[0])


@pytest.mark.parametrize("seed", range(40))
def test_the_most_frequent_values_hold_only_where_all_deals_do(seed: int) -> None:
    rng = random.Random(seed)
    group = rng.choices(VALUES.to_list(), [4, 3, 2, 1], k=rng.randint(3, 8))
    size = rng.randint(2, len(group))
    worst = with_most_frequent(histogram(group), np.array([0]), np.array([size]), np.inf)
    assert worst.counts.sum() == size
    for requirement in ASKED:
        every = all(holds(requirement, histogram(list(own)), size) for own in itertools.combinations(group, size))
        assert holds(requirement, worst, size) == every


def test_parts_of_several_groups_are_filled_from_their_own() -> None:
    # Group 0 has HIV twice and flu once, group 1 cold three times.
    groups = Histogram(VALUES, np.array([0, 0, 1]), np.array([0, 2, 1], np.int32), np.array([2, 1, 3]))
    worst = with_most_frequent(groups, np.array([0, 0, 1]), np.array([1, 3, 2]), np.inf)
    assert worst.class_of.tolist() == [0, 1, 1, 2]
    assert worst.value_of.tolist() == [0, 0, 2, 1]
    assert worst.counts.tolist() == [1, 2, 1, 2]


def test_the_most_frequent_values_are_dealt_out_as_far_as_the_margin_says() -> None:
    # Of 40 rows with HIV 20, flu 10 and cold 10 a part of 10 gets 5 with HIV, standard deviation
    # √(10 · ½ · ½ · 30/39) = 1.39, and 2.5 each of the others, standard deviation 1.20.
    group = histogram(["HIV"] * 20 + ["flu"] * 10 + ["cold"] * 10)
    for margin, expected in ((0, [5, 3, 2]), (1, [7, 3]), (2, [8, 2]), (np.inf, [10])):
        worst = with_most_frequent(group, np.array([0]), np.array([10]), margin)
        assert sorted(worst.counts.tolist(), reverse=True) == expected
    # All of a group is the group.
    assert with_most_frequent(group, np.array([0]), np.array([40]), 5.0).counts.tolist() == [20, 10, 10]


def table_of(ill: list[Any]) -> tk.Table:
    sexes = tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
    sex = ["m"] * (len(ill) // 2) + ["f"] * (len(ill) - len(ill) // 2)
    return tk.Table({"sex": sex, "ill": ill}, ["sex"], ["ill"], hierarchies={"sex": sexes})


@pytest.mark.parametrize(("ill", "expected"), [("HHcffu", {"f", "m"}), ("HHcHfu", {"*"}), ("HHHcfu", {"*"})])
def test_safe_cuts_are_made_only_if_no_deal_of_the_values_breaks_the_promise(ill: str, expected: set[str]) -> None:
    # Three rows each: two values with two rows leave no part with one, three with HIV could all be men or women. Cut
    # as it is, HHc and Hfu would hold.
    release = tk.anonymize(table_of(list(ill)), k=2, l_diversity=2, method="mondrian", cuts="safe", margin=np.inf)
    assert set(release.table["sex"]) == expected


def test_a_safe_cut_that_fails_is_not_undone() -> None:
    # By chance two of three men are expected to have HIV, and one another value; here all three have HIV.
    options: dict[str, Any] = {"k": 2, "l_diversity": 2, "method": "mondrian", "cuts": "safe", "margin": 0}
    assert set(tk.anonymize(table_of(list("HHcHHc")), **options).table["sex"]) == {"f", "m"}
    with pytest.raises(CannotAnonymize, match="larger margin"):
        tk.anonymize(table_of(list("HHHHcc")), **options)


def test_safe_cuts_of_nothing_but_k_are_the_others() -> None:
    people = {"age": [21, 23, 25, 29, 41, 45, 47, 61]}
    table = tk.Table(people, ["age"], numeric=["age"])
    plain = tk.anonymize(table, k=2, method="mondrian", keep_order=True)
    safe = tk.anonymize(table, k=2, method="mondrian", keep_order=True, cuts="safe")
    assert safe.table.equals(plain.table) and safe.recipe.options["options"]["cuts"] == "safe"


def test_a_recipe_with_an_endless_margin_is_json_and_makes_the_release_again() -> None:
    table = table_of(list("HcHcHc"))
    release = tk.anonymize(table, k=2, l_diversity=2, method="mondrian", cuts="safe", margin=np.inf, keep_order=True)
    written = json.dumps(release.recipe.as_dict(), allow_nan=False)
    again = tk.apply(replace(release.recipe, **json.loads(written)), table, keep_order=True)
    assert again.frame.equals(release.table.select(again.frame.columns))
    assert again.release.recipe.options["options"]["margin"] == "inf"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"t_closeness": 0.9}, "ℓ-diversity or"),
        ({"l_diversity": 2, "kind": "relaxed"}, "strict"),
        ({"l_diversity": 2, "suppress": 0.2}, "leave nobody out"),
        ({"l_diversity": 2, "cuts": "sure"}, "checked or safe"),
        ({"l_diversity": 2, "margin": -1}, "0 or more"),
    ],
)
def test_safe_cuts_refuse_what_has_no_known_worst_case(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        tk.anonymize(table_of(list("HHHcfu")), k=2, method="mondrian", **{"cuts": "safe", **asked})


def test_safe_cuts_refuse_missing_values_that_do_not_count() -> None:
    with pytest.raises(InputError, match="no missing sensitive values"):
        tk.anonymize(table_of(["H", None, "c", "H", "f", "u"]), k=2, l_diversity=2, method="mondrian", cuts="safe")
