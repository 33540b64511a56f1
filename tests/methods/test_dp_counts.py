from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.seeds import generator
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.perturbing.dp_counts import DpCounts, noisy_counts
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["31", "35", "42"], ["30s", "30s", "40s"], ["*"] * 3])
PEOPLE = pl.DataFrame({"sex": ["f", "f", "f", "m", "m"], "age": [31, 31, 35, 42, None]})
ORIGINAL = Original(PEOPLE, ("sex", "age"), hierarchies={"sex": SEX, "age": AGE})


def made(seed: int = 1, **options: Any) -> Perturbed:
    return DpCounts(**options).perturb(ORIGINAL, seed=seed)


def test_without_noise_to_speak_of_every_cell_there_could_be_is_published() -> None:
    frame = made(epsilon=1e6, levels=("age=1",)).frame
    assert frame.rows() == [
        ("f", "30s", 3),
        ("f", "40s", 0),
        ("f", "(missing)", 0),
        ("m", "30s", 0),
        ("m", "40s", 1),
        ("m", "(missing)", 1),
        ("(missing)", "30s", 0),
        ("(missing)", "40s", 0),
        ("(missing)", "(missing)", 0),
    ]


def test_geometric_noise_has_the_chances_of_the_definition() -> None:
    # ε = ln 3: chance 1/2 · 3^−|z|. 60,000 draws: four standard deviations are at most 0.0082.
    noise = noisy_counts(np.zeros(60_000, np.int64), math.log(3), 1, "geometric", generator(1))
    for z in (-2, -1, 0, 1, 2):
        assert np.mean(noise == z) == pytest.approx(0.5 * 3.0 ** -abs(z), abs=0.0082)


def test_laplace_noise_has_the_spread_of_the_definition() -> None:
    noise = noisy_counts(np.zeros(60_000, np.int64), 0.5, 2, "laplace", generator(1))
    # Scale 4: mean |z| is 4, variance 32.
    assert np.mean(np.abs(noise)) == pytest.approx(4, rel=0.02)
    assert np.var(noise) == pytest.approx(32, rel=0.05)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_no_outcome_is_much_likelier_with_a_person_than_without(epsilon: float) -> None:
    """Neighboring tables, forty thousand releases each: the ratio of any outcome's shares stays below e^ε."""
    random = generator(7)
    with_, without = (noisy_counts(np.full(40_000, n), epsilon, 1, "geometric", random) for n in (4, 3))
    for outcome in range(1, 8):
        one, other = np.mean(with_ == outcome), np.mean(without == outcome)
        # Ten per cent for the luck of draws; the smallest share here is one of a hundred.
        assert max(one / other, other / one) <= math.exp(epsilon) * 1.1


def test_budget_is_shared_by_the_tables_and_kept_in_the_recipe(tmp_path: Path) -> None:
    changed = made(epsilon=0.6, ways=1, budget=1.0)
    assert [one["epsilon"] for one in changed.facts["tables"]] == pytest.approx([0.3, 0.3])
    assert changed.frame.columns == ["sex", "age", "rows"]
    goal = Goal([], method=DpCounts(epsilon=0.6, budget=1.0))
    recipe = release_rows(PEOPLE, ["sex", "age"], {"sex": SEX, "age": AGE}, goal).release.recipe
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(recipe.as_dict()))
    again = made(epsilon=0.4, earlier=str(path))
    assert again.facts["spent"] == pytest.approx(1.0)
    with pytest.raises(NotAllowed, match=r"ε = 0.5 on top of 0.6 spent exceeds the budget of 1"):
        made(epsilon=0.5, earlier=str(path))
    with pytest.raises(NotAllowed):
        made(epsilon=0.5, earlier=str(path), budget=5.0)


def test_every_release_has_noise_of_its_own_and_keeps_no_seed() -> None:
    goal = Goal([], method=DpCounts(epsilon=0.1, is_clamped=False))
    trees = {"sex": SEX, "age": AGE}
    releases = [release_rows(PEOPLE, ["sex", "age"], trees, goal).release for _ in range(3)]
    assert [one.recipe.seed for one in releases] == [None] * 3
    assert not releases[0].frame.equals(releases[1].frame)
    assert not releases[1].frame.equals(releases[2].frame)


def test_seed_is_refused_since_two_releases_by_it_tell_the_truth() -> None:
    # With one seed and ε = .1 and .2, twice the second less the first would be the counts.
    goal = Goal([], method=DpCounts(epsilon=0.1))
    with pytest.raises(InputError, match="option seed: found '7', expected no seed"):
        release_rows(PEOPLE, ["sex", "age"], {"sex": SEX, "age": AGE}, goal, seed=7)


def test_reproducible_release_says_that_nothing_is_promised(tmp_path: Path) -> None:
    goal = Goal([], method=DpCounts(epsilon=0.1))
    trees = {"sex": SEX, "age": AGE}
    one, again = (release_rows(PEOPLE, ["sex", "age"], trees, goal, seed=7, is_reproducible=True) for _ in range(2))
    assert one.release.frame.equals(again.release.frame)
    assert one.promises == {}
    assert one.release.recipe.options["promise"].startswith("void")
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(one.release.recipe.as_dict()))
    with pytest.raises(NotAllowed, match="promises nothing"):
        made(earlier=str(path))


def recipe_file(path: Path, **options: Any) -> Path:
    goal = Goal([], method=DpCounts(**options))
    recipe = release_rows(PEOPLE, ["sex", "age"], {"sex": SEX, "age": AGE}, goal).release.recipe
    path.write_text(json.dumps(recipe.as_dict()))
    return path


def test_releases_side_by_side_are_all_counted_once(tmp_path: Path) -> None:
    first = recipe_file(tmp_path / "first.json", epsilon=0.4, budget=1.0)
    left = recipe_file(tmp_path / "left.json", epsilon=0.2, earlier=str(first))
    right = recipe_file(tmp_path / "right.json", epsilon=0.3, earlier=str(first))
    both = made(epsilon=0.1, earlier=(str(left), str(right)))
    assert both.facts["spent"] == pytest.approx(1.0)
    assert len(both.facts["chain"]) == 4
    with pytest.raises(NotAllowed, match=r"ε = 0.2 on top of 0.9 spent exceeds the budget of 1"):
        made(epsilon=0.2, earlier=(str(left), str(right)))


@pytest.mark.parametrize("change", [{"epsilon": 0.1}, {"budget": 9.0}, {"before": ["x"]}])
def test_chain_that_was_changed_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = recipe_file(tmp_path / "first.json", epsilon=0.4, budget=1.0)
    recipe = json.loads(path.read_text())
    recipe["options"]["chain"][0] |= change
    path.write_text(json.dumps(recipe))
    with pytest.raises(InputError, match="the recipe of dp-counts, as it was written"):
        made(epsilon=0.1, earlier=str(path))


def test_column_without_a_hierarchy_is_refused_since_its_values_would_tell() -> None:
    with pytest.raises(InputError, match="column age: expected a hierarchy"):
        DpCounts().perturb(Original(PEOPLE, ("age",)), seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"budget": -1.0}, "budget"),
        ({"ways": 3}, "1 to 2 columns"),
        ({"levels": ("age=9",)}, "a level from 0 to 2"),
        ({"levels": ("city=1",)}, "column=level"),
        ({"earlier": "nowhere.json"}, "nowhere.json"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(**options)


def test_counts_below_zero_are_written_as_zero_unless_asked_for() -> None:
    assert made(epsilon=0.05).frame["rows"].min() == 0
    assert made(epsilon=0.05, is_clamped=False).frame["rows"].min() < 0  # type: ignore[operator]


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_noise_beyond_the_whole_numbers_of_floats_is_refused(noise: Any) -> None:
    made(epsilon=3e-9, noise=noise)
    with pytest.raises(InputError, match="option epsilon: found '1e-09', expected at least 1e-09 for each of 2 tables"):
        made(epsilon=1e-9, ways=1, noise=noise)


@pytest.mark.parametrize("spent", ["NaN", "-1", "Infinity"])
def test_earlier_recipe_that_spent_no_number_is_refused(tmp_path: Path, spent: str) -> None:
    earlier = tmp_path / "recipe.json"
    earlier.write_text(f'{{"options": {{"spent": {spent}, "budget": 1}}}}')
    with pytest.raises(InputError, match="the recipe of dp-counts"):
        made(earlier=str(earlier), epsilon=5.0)


def test_tables_that_together_have_too_many_cells_are_refused_before_they_are_made() -> None:
    # 40 columns have 137,846,528,820 tables of 20, and 780 of two with 101 · 101 cells each.
    wide = Hierarchy.of_levels("0", [[str(leaf) for leaf in range(100)], ["*"] * 100])
    names = [str(index) for index in range(40)]
    frame = pl.DataFrame({name: ["1", "2"] for name in names})
    original = Original(frame, tuple(names), hierarchies={name: wide.named(name) for name in names})
    for ways in (2, 20):
        with pytest.raises(InputError, match="at most 5,000,000 cells in all tables"):
            DpCounts(ways=ways).perturb(original, seed=1)
