"""What counts of classes can be, worked out by hand on few rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.attacks.disclosure.arx_local_recoding import random_case
from tests.attacks.disclosure.solver_clock import clock_of_programs

import tokumei as tk
from tokumei.attacks.disclosure.count_programs import CountProgram, rows_of
from tokumei.attacks.disclosure.refine import Refine
from tokumei.core.result import Facts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.reports.japanese import in_japanese

CITIES = ["Kyoto", "Osaka", "Nara", "Tokyo", "Chiba"]
CITY = Hierarchy.of_levels("city", [CITIES, ["west"] * 3 + ["east"] * 2, ["*"] * 5])
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
TREES = {"city": CITY, "sex": SEX}


def release(*rows: tuple[str, str]) -> tk.Table:
    return tk.Table(
        {"city": [one for one, _ in rows], "sex": [one for _, one in rows]}, qi=["city", "sex"], hierarchies=TREES
    )


def claimed(result: Any, *columns: str) -> list[tuple[Any, ...]]:
    frame: pl.DataFrame = result.claims
    return frame.select(columns or ("row", "column", "value", "least", "most")).rows()


def test_rows_left_over_by_a_released_cell_are_of_the_others_and_of_each_fewer_than_k() -> None:
    """k = 3: no more (Kyoto, f), so that four rows of the west are two of Osaka and two of Nara."""
    found = tk.attack(release(*[("Kyoto", "f")] * 3, *[("west", "f")] * 4), attack="refine", rounds="any")
    assert claimed(found) == [(3, "city", "Kyoto", 0, 0), (3, "city", "Nara", 2, 2), (3, "city", "Osaka", 2, 2)]
    assert found.scores["refine"]["cells-certain"].value == 1
    assert found.scores["refine"]["narrowed"].value == 4 / 7
    # 3⁴ ways to fill four rows become the 6 in which two rows have either city.
    assert found.narrowed["bits_removed"].to_list()[3:] == pytest.approx([np.log2(81 / 6) / 4] * 4)


def test_suppressed_rows_of_a_release_by_levels_are_fewer_than_k_in_each_cell_left() -> None:
    """k = 2 by city: of four suppressed rows none is of Kyoto, Osaka or Nara, and at most one of Tokyo or Chiba."""
    table = tk.Table(
        {"city": ["Kyoto"] * 2 + ["Osaka"] * 2 + ["Nara"] * 2 + ["*"] * 2}, qi=["city"], hierarchies={"city": CITY}
    )
    found = tk.attack(table, attack="refine", method="optimal", complete=True)
    assert claimed(found, "value", "least", "most") == [("Chiba", 1, 1), ("Tokyo", 1, 1), ("west", 0, 0)]
    # Somebody of no known city may be among them, if values can be missing.
    unsure = tk.attack(table, attack="refine", method="optimal").claims
    assert unsure.select("least", "most", "claim").rows() == [
        (0, 1, "(missing) in 1 row or fewer"),
        (1, 2, "east in 1 to 2 rows"),
        (0, 0, "west in no row"),
        (0, 1, "in 1 row or fewer, each of: Tokyo, Chiba"),
    ]


def test_two_rounds_together_tell_more_than_each() -> None:
    """k = 3. One round released Kyoto and Osaka, another the women of the east; four rows are left over.

    Two of them at most are of Nara, as nobody else in the west is left, and two at most are men of the east.
    """
    rows = [*[("Kyoto", "*")] * 3, *[("Osaka", "*")] * 3, *[("east", "f")] * 3, *[("*", "*")] * 4]
    claims = tk.attack(release(*rows), attack="refine", rounds="any", complete=True).claims
    city = claims.filter(pl.col("column") == "city", pl.col("row") == 9)
    known = set(city.filter(pl.col("least") == pl.col("most"))["claim"])
    assert {"Nara in 2 rows", "east in 2 rows", "in no row: Kyoto, Osaka"} <= known
    sex = claims.filter(pl.col("column") == "sex", pl.col("row") == 9)
    assert sex.select("value", "least", "most").rows() == [("f", 0, 2), ("m", 2, 4)]


def test_finest_levels_tell_of_the_first_round_too() -> None:
    """k = 3: four rows of the east, of neither city three, are two of each."""
    table = tk.Table({"city": ["east"] * 4}, qi=["city"], hierarchies={"city": CITY})
    assert tk.attack(table, attack="refine", rounds="any", k=3).claims.height == 0
    found = tk.attack(table, attack="refine", rounds="finest", k=3)
    assert claimed(found, "value", "least", "most") == [("Chiba", 2, 2), ("Tokyo", 2, 2)]


def test_group_written_by_the_closest_label_has_a_row_outside_of_each_closer_one() -> None:
    table = tk.Table({"city": ["east"] * 3 + ["west"] * 3}, qi=["city"], hierarchies={"city": CITY})
    found = tk.attack(table, attack="refine", method="partition")
    assert claimed(found, "row", "value", "least", "most", "claim") == [
        (0, "Chiba", 1, 2, "Chiba in 1 to 2 rows"),
        (0, "Tokyo", 1, 2, "Tokyo in 1 to 2 rows"),
        (3, None, 0, 2, "in 2 rows or fewer, each of: Kyoto, Osaka, Nara"),
    ]


def test_ranges_within_a_range_do_not_hold_its_group() -> None:
    table = tk.Table({"age": ["20-29", "20-29", "20-24", "20-24", "31-45", "31-45"]}, qi=["age"])
    found = tk.attack(table, attack="refine", method="mondrian").claims
    assert found.select("row", "value", "least", "most").rows() == [(0, "20-24", 0, 1)]
    tight = tk.attack(table, attack="refine", method="mondrian", ranges="tight").claims
    assert tight.filter(pl.col("row") == 4).select("value", "least", "most").rows() == [("31", 1, 1), ("45", 1, 1)]


def test_range_that_is_called_as_a_node_of_other_values_says_nothing() -> None:
    """The hierarchy calls 21 to 40 `20-39`, as Adult's does: of which of the two a label speaks, nobody knows."""
    ages = [str(age) for age in range(20, 44)]
    node = [age if age in ("20", "41", "42", "43") else "20-39" for age in ages]
    trees = {"age": Hierarchy.of_levels("age", [ages, node, ["*"] * len(ages)])}
    people = tk.Table({"age": [21, 39, 30, 40]}, qi=["age"], hierarchies=trees)
    released = tk.Table({"age": ["20-39"] * 2 + ["20-43"] * 2}, qi=["age"])
    found = tk.attack(people, released, "refine", method="mondrian", numeric=["age"], rows=[0, 1, 2, 3])
    assert found.claims.filter(pl.col("value") == "20-39").height == 0
    assert found.claims["is_true"].all()


@pytest.mark.parametrize(
    ("labels", "options", "why"),
    [
        (["west", "20-29"], {"rounds": "any"}, "'20-29' is of no one level of city"),
        (["west"] * 2, {}, "nobody said how it was made"),
        (["*"] * 3, {"rounds": "any"}, "all rows say nothing"),
        (["west"] * 2 + ["east"] * 3, {"rounds": "any", "k": 3}, "rows of the smallest class: 2, fewer than k"),
        (["west"] * 9, {"rounds": "finest", "k": 2}, "the release contradicts what is assumed of it"),
        (["west"], {"rounds": "any"}, "classes of one row hold back nobody"),
    ],
)
def test_what_does_not_allow_conclusions_is_said_and_nothing_is_claimed(
    labels: list[str], options: dict[str, Any], why: str
) -> None:
    table = tk.Table({"city": labels}, qi=["city"], hierarchies=None if "20-29" in labels else {"city": CITY})
    found = tk.attack(table, attack="refine", **options)
    assert found.claims.height == 0
    assert found.to_dict()["deduced"]["refine"]["nothing_claimed_since"] == why
    facts = [section.values for section in found.sections() if isinstance(section, Facts)]
    assert facts[0]["nothing claimed, since"] == why
    assert in_japanese(facts[0]["nothing claimed, since"])


def test_values_that_nobody_lists_are_reckoned_with() -> None:
    """Without a hierarchy of `sex` the two left over may be of a third one."""
    table = tk.Table({"sex": ["f", "f", "m", "m", "*"]}, qi=["sex"])
    found = tk.attack(table, attack="refine", rounds="any", k=2).claims
    assert found.select("value", "least", "most").rows() == [(None, 0, 0)]
    assert found["claim"].to_list() == ["in no row: f, m"]


def test_integer_program_proves_what_a_linear_one_cannot() -> None:
    """Of three cells of which any two hold one row, and three others: 3 as a linear program, 2 in whole numbers."""
    equal = rows_of([np.arange(7)], 7)
    pairs = [np.array(one) for one in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5))]
    program = CountProgram(equal, np.array([4]), rows_of(pairs, 7), np.ones(6, np.int64), np.full(7, 4))
    found = program.bounds(np.arange(6), (0, 4))
    assert found is not None
    assert (found.least, found.most, found.how, found.is_exact) == (0, 2, "integer program", True)
    assert not program.is_contradicted


def test_program_that_nothing_fits_is_told() -> None:
    program = CountProgram(
        rows_of([np.arange(2)], 2), np.array([5]), rows_of([np.arange(2)], 2), np.array([4]), np.array([5, 5])
    )
    assert program.is_contradicted
    assert program.bounds(np.array([0]), (0, 5)) is None


def test_time_that_is_up_leaves_the_bounds_by_counting_and_is_said() -> None:
    table = release(*[("Kyoto", "f")] * 3, *[("west", "f")] * 4)
    found = tk.attack(table, attack="refine", rounds="any", seconds=0)
    assert found.claims.height == 3
    programs = json.loads(json.dumps(found.to_dict()))["deduced"]["refine"]["programs"]
    assert programs == {"classes": 0, "out_of_time": 1, "too_large": 0, "inexact": 0}
    facts = [section.values for section in found.sections() if isinstance(section, Facts)]
    assert facts[0]["classes left out for lack of time"] == 1


@pytest.mark.parametrize("seconds", [0.5, 3.0, 20.0])
def test_no_solver_starts_after_time_is_up_or_gets_more_than_is_left(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """By a clock that goes on by half a second with each program, whatever the machine does meanwhile."""
    given = clock_of_programs(monkeypatch, 0.5)
    # Two classes that counting alone does not settle, in 15 programs.
    found = random_case(27, is_finest=True).attacked(rounds="finest", seconds=seconds)
    assert len(given) == min(2 * seconds, 15)
    assert all(started < seconds and limit <= seconds - started for started, limit in given)
    assert found.claims["is_true"].all()
    programs = found.to_dict()["deduced"]["refine"]["programs"]
    assert programs["classes"] + programs["out_of_time"] == 2
    assert (programs["out_of_time"] == 0) == (seconds == 20)


def test_wrong_options_of_refine_are_refused() -> None:
    with pytest.raises(tk.errors.InputError, match="any or finest"):
        Refine(rounds="all")  # type: ignore[arg-type]
    with pytest.raises(tk.errors.InputError, match="tight or grid"):
        Refine(ranges="loose")  # type: ignore[arg-type]
    with pytest.raises(tk.errors.InputError, match="0 seconds or more"):
        Refine(seconds=-1)
