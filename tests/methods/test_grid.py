"""Ranges on a public grid: what they cover, where they are cut, and that their ends give nobody away."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import read_range
from tokumei.methods.local.encoding import flat_hierarchy
from tokumei.methods.local.grid import Grid, public_grid, tight_grid

LOCAL = ["mondrian", "partition", "min-dis", "utility-clustering", "top-down-specialization"]


def grid_of(values: list[Any], k: int = 2, n_columns: int = 1, tree: Hierarchy | None = None) -> tuple[Grid, list[Any]]:
    leaves = sorted(set(values))
    hierarchy = tree or flat_hierarchy("x", pl.Series(leaves))
    rows = np.array([values.count(leaf) for leaf in leaves])
    return public_grid(hierarchy, rows, k=k, n_columns=n_columns), leaves


def label(grid: Grid, leaves: list[Any], low: Any, high: Any) -> str:
    ends = np.array([leaves.index(low)]), np.array([leaves.index(high)])
    first, last = grid.cover(*ends)
    return grid.label(int(first[0]), int(last[0]))


def test_ages_have_cells_of_several_years_that_are_not_cut_into_pairs() -> None:
    grid, leaves = grid_of([*range(20, 60)] * 60, k=5, n_columns=3)
    assert label(grid, leaves, 23, 36) == "20-39"
    # Of 20-21 both would occur, since a single one is written as it is.
    assert label(grid, leaves, 20, 21) == label(grid, leaves, 21, 24) == "20-24"


def test_cells_are_wider_where_groups_are_small_and_narrower_where_numbers_have_many_rows() -> None:
    ages = [*range(20, 90)]
    assert [label(*grid_of(ages * n, k, 6), 22, 31) for n, k in ((20, 2), (60, 5), (200, 5))] == [
        "20-39",
        "20-34",
        "20-31",
    ]


def test_wide_cells_are_halved_at_round_numbers() -> None:
    grid, leaves = grid_of([*range(2000)], k=5)
    assert label(grid, leaves, 3, 40) == "0-49"
    assert label(grid, leaves, 3, 20) == "0-49"
    assert label(grid, leaves, 3, 60) == "0-99"


def test_numbers_that_do_not_occur_change_no_range() -> None:
    some = [*range(0, 2000, 7)] * 3
    for numbers in (some, [one for one in some if not 420 < one < 560]):
        grid, leaves = grid_of(numbers, k=5)
        assert label(grid, leaves, 602, 637) == "600-649"


def test_amounts_rounded_to_thousands_have_cells_that_end_beside_them() -> None:
    grid, leaves = grid_of([1000 * n for n in range(1, 101)] * 20, k=5, n_columns=4)
    assert label(grid, leaves, 11_000, 24_000) == "10500-30499"


def test_cells_widen_in_the_tail_so_that_the_largest_number_is_not_told() -> None:
    amounts = [*range(1000, 2000), 3_141_593]
    grid, leaves = grid_of(amounts, n_columns=2)
    low, _, high = label(grid, leaves, 1999, 3_141_593).partition("-")
    assert int(low) <= 1999
    assert int(high) > 3_141_593
    assert int(high) % 100_000 == 99_999


def test_decimals_have_cells_without_their_upper_end_and_between_two_of_them() -> None:
    grid, leaves = grid_of([n / 10 for n in range(100)] * 10, k=5, n_columns=4)
    assert label(grid, leaves, 0.1, 0.7) == "[0.05, 1.05)"


def test_level_of_a_given_hierarchy_is_the_grid_if_its_cells_are_about_as_wide() -> None:
    ages = [*range(21, 61)]
    bands = [f"{(age - 1) // 5 * 5 + 1} to {(age - 1) // 5 * 5 + 5}" for age in ages]
    tree = Hierarchy.of_levels("x", [[str(age) for age in ages], bands]).with_top()
    grid, leaves = grid_of(ages, n_columns=3, tree=tree)
    # Cells begin with 21, 26 and so on; round steps would begin with 20 and 25.
    assert label(grid, leaves, 22, 34) == "21-35"


def test_tight_ranges_end_with_the_values_themselves() -> None:
    grid = tight_grid(["1", "3", "8.5"])
    first, last = grid.cover(np.array([0, 1]), np.array([1, 2]))
    assert [grid.label(int(a), int(b)) for a, b in zip(first, last, strict=True)] == ["1-3", "[3, 8.5]"]


def test_ranges_are_grid_or_tight() -> None:
    loose: Any = "loose"
    with pytest.raises(InputError, match="grid or tight"):
        tk.anonymize({"age": [1, 2]}, ["age"], k=2, method="mondrian", ranges=loose)


NUMBERS = st.one_of(
    st.integers(-50, 120),
    st.integers(-(10**12), 10**12),
    st.decimals(-1000, 1000, places=2).map(float),
    st.floats(-1e6, 1e6, allow_subnormal=False),
)


@given(st.lists(NUMBERS, min_size=2, max_size=40), st.integers(1, 5), st.integers(1, 9), st.data())
@settings(max_examples=cases(100))
def test_range_of_any_numbers_holds_them_and_parts_of_it_nest(
    values: list[float], k: int, n_columns: int, data: st.DataObject
) -> None:
    texts = {Fraction(str(value)): repr(value) for value in values}
    if len(texts) < 2:
        return
    exact = sorted(texts)
    tree = Hierarchy.of_levels("x", [[texts[one] for one in exact]]).with_top()
    grid = public_grid(tree, np.ones(len(exact), np.int64), k=k, n_columns=n_columns)
    one, other = data.draw(st.integers(0, len(exact) - 1)), data.draw(st.integers(0, len(exact) - 1))
    low, high = min(one, other), max(one, other)
    if low == high:
        return
    [first], [last] = grid.cover(np.array([low]), np.array([high]))
    assert first <= low
    assert last >= high
    told = read_range(grid.label(int(first), int(last)))
    assert told is not None
    inside = [told.low <= number < told.high or (number == told.high and not told.is_open) for number in exact]
    # The label holds exactly the leaves that the range covers, so that no two ranges that share none overlap.
    assert inside == [first <= at <= last for at in range(len(exact))]
    leaves = np.arange(low, high + 1, dtype=np.int64)
    part = grid.parts(leaves, np.full(len(leaves), low), np.full(len(leaves), high))
    assert (np.diff(part) >= 0).all()
    assert part[0] != part[-1]
    for number in np.unique(part):
        own = leaves[part == number]
        [start], [end] = grid.cover(own[:1], own[-1:])
        assert start >= first
        assert end <= last


TABLE: dict[str, list[Any]] = {
    "age": [20 + n * n % 61 for n in range(300)],
    "income": [round(800.37 + 37.5 * (n * 7919 % 997), 2) for n in range(300)],
    "born": [f"19{40 + n % 60}-0{1 + n % 9}-1{n % 10}" for n in range(300)],
    "city": [["Kyoto", "Osaka", "Tokyo", "Chiba"][n * 3 % 4] for n in range(300)],
}


@pytest.mark.parametrize("method", LOCAL)
def test_every_local_method_writes_true_ranges_whose_ends_are_on_the_grid(method: str) -> None:
    frame = pl.DataFrame(TABLE)
    release = tk.anonymize(frame, list(TABLE), k=4, method=method, suppress=0, keep_order=True, seed=1)
    tight = tk.anonymize(frame, list(TABLE), k=4, method=method, suppress=0, keep_order=True, seed=1, ranges="tight")
    assert release.facts["ranges"] == "grid"
    assert (release.table.group_by(list(TABLE)).len()["len"] >= 4).all()
    # Rounded labels cost a little; groups are others, and so may even cost less.
    assert release.loss is not None and tight.loss is not None
    assert release.loss <= 1.25 * tight.loss
    assert release.rows is not None and tight.rows is not None
    rows = release.rows.to_list()
    is_end: dict[str, list[bool]] = {"grid": [], "tight": []}
    for made, owners, kind in ((release, release.rows, "grid"), (tight, tight.rows, "tight")):
        for column in ("age", "income"):
            for label_, row in zip(made.table[column], owners, strict=True):
                told = read_range(label_)
                if told is None:
                    continue
                value = Fraction(str(TABLE[column][row]))
                assert told.low <= value < told.high or (value == told.high and not told.is_open)
                if column == "income":
                    is_end[kind].append(value in (told.low, told.high))
    assert sorted(rows) == list(range(300))
    assert not any(is_end["grid"])
    assert method == "top-down-specialization" or any(is_end["tight"])


def test_ends_of_ranges_fit_one_person_as_often_as_any_value_between() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": np.clip(rng.normal(45, 17, 6000), 0, 99).astype(int),
            "town": rng.choice([f"t{n}" for n in range(25)], 6000),
            "job": rng.choice([f"j{n}" for n in range(12)], 6000),
            "sex": rng.choice(["f", "m"], 6000),
        }
    )
    found = {}
    for ranges in ("grid", "tight"):
        release = tk.anonymize(frame, frame.columns, k=5, method="mondrian", keep_order=True, ranges=ranges)
        found[ranges] = fits_one(frame, release.table, rng)
    at_end, anywhere = found["grid"]
    assert at_end == pytest.approx(anywhere, abs=0.03)
    at_end, anywhere = found["tight"]
    assert at_end > anywhere + 0.1


def fits_one(frame: pl.DataFrame, released: pl.DataFrame, rng: np.random.Generator) -> tuple[float, float]:
    """How often exactly one person of a class has the age that its range ends with, and any age in it."""
    ages, labels = frame["age"].to_numpy(), released["age"].to_list()
    class_of = released.select(pl.struct(released.columns).rank("dense"))["age"].to_numpy()
    members: dict[int, list[int]] = {}
    for row, number in enumerate(class_of):
        members.setdefault(int(number), []).append(row)
    at_end, anywhere = [], []
    for row, text in enumerate(labels):
        told = read_range(text)
        if told is None:
            continue
        own = ages[members[int(class_of[row])]]
        low, high = int(told.low), int(told.high)
        at_end.append((own == rng.choice([low, high])).sum() == 1)
        anywhere.append((own == rng.integers(low, high + 1)).sum() == 1)
    return float(np.mean(at_end)), float(np.mean(anywhere))


def test_recipe_that_says_nothing_of_ranges_made_tight_ones() -> None:
    frame = pl.DataFrame(TABLE).select("age", "city")
    tight = tk.anonymize(frame, ["age", "city"], k=4, method="mondrian", ranges="tight", keep_order=True)
    options = dict(tight.recipe.options)
    options["options"] = {name: value for name, value in options["options"].items() if name != "ranges"}
    old = type(tight.recipe)(tight.recipe.method, options, tight.recipe.seed, tight.recipe.versions)
    assert tk.apply(old, frame, keep_order=True).frame.equals(tight.table)


def test_report_tells_in_both_languages_what_tight_ranges_give_away(tmp_path: Path) -> None:
    table = tk.Table(pl.DataFrame(TABLE).select("age", "city"), qi=["age", "city"])
    warnings = {
        "en": ("both ends of each are values of people in the group", 2),
        "ja": ("グループにいる人の値そのもの", 2),
    }
    for ranges in ("grid", "tight"):
        made = tk.anonymize(table, k=4, method="mondrian", seed=1, ranges=ranges)
        report = tk.report(made)
        for language, (text, n) in warnings.items():
            page = tmp_path / f"{ranges}-{language}.html"
            report.document(language).write(page, ".html")
            # On the first page and on that of the law.
            assert page.read_text().count(text) == (n if ranges == "tight" else 0)
        assert ("Ranges of numbers are tight" in str(made.sections())) == (ranges == "tight")
        assert made.to_dict()["ranges"] == ranges


JOB = """
[job]
name = "people"
seed = 1
[input]
file = "people.csv"
[roles]
age = "quasi-identifier"
city = "quasi-identifier"
[requirements]
k = 4
[[method]]
name = "mondrian"
"""


def test_job_file_that_says_nothing_of_ranges_still_runs_and_tells_which_it_made(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).select("age", "city").write_csv(tmp_path / "people.csv")
    for line, ranges in (("", "grid"), ('ranges = "tight"', "tight")):
        job = tmp_path / f"{ranges}.toml"
        job.write_text(JOB + line + "\n")
        tk.run(tk.Job.read(job), tmp_path / ranges)
        assert json.loads((tmp_path / ranges / "dossier.json").read_text())["results"]["ranges"] == ranges


@pytest.mark.parametrize(("n_rows", "k", "n_columns"), [(1, 2, 1), (1, 5, 2), (40, 5, 3), (300, 5, 9), (3, 10, 4)])
@pytest.mark.parametrize("numbers", [range(90), range(-40, 40), range(1000, 1300), range(9)])
def test_whoever_knows_the_grid_learns_no_value_of_any_member(
    numbers: range, n_rows: int, k: int, n_columns: int
) -> None:
    leaves = list(numbers)
    tree = flat_hierarchy("x", pl.Series(leaves))
    grid = public_grid(tree, np.full(len(leaves), n_rows), k=k, n_columns=n_columns)
    low, high = np.triu_indices(len(leaves), 1)
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for label_, pair in zip(
        zip(*grid.cover(low, high), strict=True), zip(low.tolist(), high.tolist(), strict=True), strict=True
    ):
        groups.setdefault((int(label_[0]), int(label_[1])), []).append(pair)
    for (first, last), pairs in groups.items():
        told = read_range(grid.label(first, last))
        assert told is not None
        if told.low < leaves[0] or told.high > leaves[-1]:
            # Whoever knows beforehand which numbers end the column knows more of its outermost cells than they tell.
            continue
        # No smallest and no largest member follows from a label, nor one that every group with it has.
        assert not set.intersection(*(set(pair) for pair in pairs))
        assert len({one for one, _ in pairs}) > 1
        assert len({one for _, one in pairs}) > 1
