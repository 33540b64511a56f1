"""What methods that change values at random promise, recounted from the files and the recipe."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.definitions import randomized
from tests.promises import recount
from tests.promises.commands import run, write_trees
from tests.promises.recount import Rows

TREES = {"sex": [["f", "m"], ["*"] * 2], "town": [["A", "B", "C"], ["*"] * 3]}
NUMBERS = ["age", "income"]


def people(seed: int, n_rows: int, missing: float = 0.0) -> Rows:
    draw = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        row = {name: draw.choice(tree[0]) for name, tree in TREES.items()}
        row |= {"age": str(draw.randrange(20, 90)), "income": str(draw.choice([100, 100, 120, 300, 900]))}
        rows.append({name: "" if name in NUMBERS and draw.random() < missing else value for name, value in row.items()})
    return rows


def released(
    tmp_path: Path, rows: Rows, method: str, qi: list[str], *options: object, keep: str | None = None
) -> tuple[Rows, dict[str, Any], dict[str, Any]] | None:
    """Return the rows that were written, the recipe, and what was printed."""
    source, out, recipe = tmp_path / "people.csv", tmp_path / "out.csv", tmp_path / "recipe.json"
    lines = [",".join(rows[0] if rows else [*TREES, *NUMBERS]), *(",".join(row.values()) for row in rows)]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked: list[object] = ["anonymize", "table", source, "--qi", ",".join(qi), "--method", method, *options]
    asked += ["--keep", keep, "--keep-anyway"] if keep else []
    trees = write_trees({name: tree for name, tree in TREES.items() if name in qi}, tmp_path / "trees")
    numeric = [name for name in NUMBERS if name in qi]
    asked += [*trees, *(["--numeric", ",".join(numeric)] if numeric else [])]
    done = run(*asked, "--out", out, "--recipe", recipe, "--force")
    if done is None:
        return None
    return recount.read(out), json.loads(recipe.read_text(encoding="utf-8")), done


def test_pram_links_nobody_with_more_than_one_over_k(times: int, tmp_path: Path) -> None:
    for seed in range(12 * times):
        rows = people(seed, 1 + seed % 5)
        retain = (0.0, 0.3, 0.9)[seed % 3]
        made = released(tmp_path, rows, "pram", ["sex", "town"], "--set", f"retain={retain}")
        assert made is not None
        after, recipe, done = made
        assert len(after) == len(rows)
        assert all(row[name] in tree[0] for row in after for name, tree in TREES.items())
        kept = recipe["options"]["retain"]
        before: list[tuple[str, ...]] = [(row["sex"], row["town"]) for row in rows]
        now: list[tuple[str, ...]] = [(row["sex"], row["town"]) for row in after]
        domains = [TREES["sex"][0], TREES["town"][0]]
        k = done["promises"]["pk-anonymity"]["value"]
        assert randomized.likeliest_link(before, now, [kept, kept], domains) <= 1 / k + 1e-9
        # No larger k could have been promised.
        assert randomized.worst_case(len(rows), [kept, kept], domains) == pytest.approx(1 / k)


def test_pram_changes_as_many_values_as_it_says(tmp_path: Path) -> None:
    rows = people(1, 3000)
    made = released(tmp_path, [{**row, "age": str(n)} for n, row in enumerate(rows)], "pram", ["town"], keep="age")
    assert made is not None
    after, recipe, _ = made
    # A value is kept with 0.8, and drawn again with a third of the rest; six standard deviations of a binomial.
    chance = recipe["options"]["retain"] + (1 - recipe["options"]["retain"]) / 3
    n_same = sum(row["town"] == rows[int(row["age"])]["town"] for row in after)
    assert abs(n_same - chance * 3000) < 6 * math.sqrt(3000 * chance * (1 - chance))


def laplace_chance(value: float, low: float, high: float, center: float, scale: float) -> float:
    """The chance that a number with Laplace noise, put into its bounds and rounded to whole numbers, is written so."""

    def below(x: float) -> float:
        z = (x - center) / scale
        return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)

    first = 0.0 if value <= low else below(value - 0.5)
    return (1.0 if value >= high else below(value + 0.5)) - first


def test_noise_within_bounds_links_nobody_with_more_than_one_over_k(times: int, tmp_path: Path) -> None:
    for seed in range(10 * times):
        rows = people(seed, 2 + seed % 3)
        made = released(tmp_path, rows, "noise", ["age"], "--set", "scale=30", "--set", "low=0", "--set", "high=100")
        if made is None or len({row["age"] for row in rows}) < 2:
            continue
        after, recipe, done = made
        scale = recipe["options"]["deviations"]["age"] / math.sqrt(2)
        ages, written = ([float(row["age"]) for row in side] for side in (rows, after))
        assert all(0 <= age <= 100 for age in written)
        n = len(rows)
        weights = {
            order: math.prod(laplace_chance(written[to], 0, 100, ages[one], scale) for one, to in enumerate(order))
            for order in permutations(range(n))
        }
        total = sum(weights.values())
        likeliest = max(
            sum(weight for order, weight in weights.items() if order[person] == record) / total
            for person in range(n)
            for record in range(n)
        )
        assert likeliest <= 1 / done["promises"]["pk-anonymity"]["value"] + 1e-9


def test_noise_without_bounds_promises_nothing(tmp_path: Path) -> None:
    made = released(tmp_path, people(1, 20), "noise", ["age"])
    assert made is not None
    assert made[2].get("promises", {}) == {}
    assert made[1]["options"]["no_promise_for_want_of_bounds"] == ["age"]


@pytest.mark.parametrize("method", ["swap", "block-swap"])
def test_swap_keeps_the_values_and_moves_them_no_farther_than_it_says(method: str, times: int, tmp_path: Path) -> None:
    for seed in range(6 * times):
        rows = [{**row, "town": str(n)} for n, row in enumerate(people(seed, 1 + 7 * seed % 40, missing=0.1))]
        made = released(tmp_path, rows, method, ["age"], "--set", "p=10", keep="town")
        assert made is not None
        after = {row["town"]: row["age"] for row in made[0]}
        assert Counter(after.values()) == Counter(row["age"] for row in rows)
        known = sorted(int(row["age"]) for row in rows if row["age"])
        window = max(1, int(0.1 * len(known)))
        for row in rows:
            # Missing values stay, and between two values that changed places there are few others.
            assert (after[row["town"]] == "") == (row["age"] == "")
            if row["age"]:
                low, high = sorted((int(row["age"]), int(after[row["town"]])))
                assert sum(low < age < high for age in known) < window


def test_sample_is_of_the_rows_and_as_large_as_asked(times: int, tmp_path: Path) -> None:
    for seed in range(5 * times):
        rows = people(seed, 1 + 9 * seed % 50)
        share = (0.1, 0.5, 1.0)[seed % 3]
        made = released(tmp_path, rows, "sample", ["age", "town"], "--set", f"share={share}")
        assert made is not None
        after = Counter(tuple(row.values()) for row in made[0])
        assert after <= Counter((row["town"], row["age"]) for row in rows) or after <= Counter(
            (row["age"], row["town"]) for row in rows
        )
        assert after.total() == min(len(rows), max(1, round(share * len(rows))))


def test_microaggregate_writes_means_of_k_rows(times: int, tmp_path: Path) -> None:
    n_released = 0
    for seed in range(6 * times):
        rows, k = people(seed, 3 + 5 * seed % 40), 2 + seed % 3
        made = released(tmp_path, rows, "microaggregate", NUMBERS, "--k", k)
        if made is None:
            assert len(rows) < k
            continue
        n_released += 1
        assert recount.k(made[0], NUMBERS) >= k
        for name in NUMBERS:
            before, after = (sum(float(row[name]) for row in side) for side in (rows, made[0]))
            assert after == pytest.approx(before)
    assert n_released


def test_coded_ends_are_of_k_rows_and_what_lies_between_stays(times: int, tmp_path: Path) -> None:
    for seed in range(6 * times):
        rows, k = people(seed, 12 + 5 * seed % 40), 2 + seed % 3
        rows = [{**row, "town": str(n)} for n, row in enumerate(rows)]
        made = released(tmp_path, rows, "top-bottom-code", ["age"], "--set", f"k={k}", "--set", "top=0.1", keep="town")
        assert made is not None
        after = {row["town"]: float(row["age"]) for row in made[0]}
        low, high = min(after.values()), max(after.values())
        coded = [row for row in rows if float(row["age"]) != after[row["town"]]]
        assert all(after[row["town"]] in (low, high) for row in coded)
        assert sum(age == low for age in after.values()) >= k
        assert sum(age == high for age in after.values()) >= k


def test_marginals_are_true_counts_of_k_people_or_none(times: int, tmp_path: Path) -> None:
    for seed in range(6 * times):
        rows, k = people(seed, 6 + 9 * seed % 40), 2 + seed % 4
        made = released(tmp_path, rows, "marginals", ["sex", "town"], "--set", f"k={k}")
        if made is None:
            assert len(rows) < k
            continue
        levels = made[1]["options"]["levels"]

        def label(row: dict[str, str], name: str, levels: dict[str, int] = levels) -> str:
            tree = TREES[name]
            return tree[levels[name]][tree[0].index(row[name])]

        for line in made[0]:
            pairs = [(line["column"], line["label"]), (line["other_column"], line["other_label"])]
            n = sum(all(label(row, name) == text for name, text in pairs if name) for row in rows)
            assert int(line["rows"]) == n
            assert n == 0 or n >= k


def test_rows_drawn_from_marginals_are_as_many_and_of_published_labels(tmp_path: Path) -> None:
    made = released(tmp_path, people(3, 40), "marginals", ["sex", "town"], "--set", "k=3", "--set", "publish=rows")
    assert made is not None
    assert len(made[0]) == 40
    assert all(row[name] in {*TREES[name][0], "*"} for row in made[0] for name in TREES)


def test_a_table_of_ranges_gives_labels_that_are_true_and_classes_of_k(times: int, tmp_path: Path) -> None:
    ranges = tmp_path / "ranges.csv"
    ranges.write_text("age,f,m\n20-49,,\n50-89,,\n")
    n_released = 0
    for seed in range(5 * times):
        rows, k = people(seed, 5 + 8 * seed % 50), 2 + seed % 3
        made = released(
            tmp_path, rows, "marginal-recoding", ["age", "sex"], "--set", f"table={ranges}", "--k", k, "--suppress", 0.3
        )
        if made is None:
            continue
        n_released += 1
        assert recount.k(made[0], ["age", "sex"]) >= k
        assert len(made[0]) >= 0.7 * len(rows) - 1e-9
        before = Counter(("20-49" if int(row["age"]) < 50 else "50-89", row["sex"]) for row in rows)
        assert Counter((row["age"], row["sex"]) for row in made[0]) <= before
    assert n_released
