"""What noisy counts promise, recounted: the noise's distribution, what was spent, and the chain of the recipes."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.promises import recount
from tests.promises.commands import run, write_trees

ITEMS = [f"v{number}" for number in range(600)]


def published(tmp_path: Path, name: str, *options: object) -> tuple[list[dict[str, str]], dict[str, Any]] | None:
    """Publish counts of a column of 600 values, one row each; give the lines and the recipe."""
    source, out, recipe = tmp_path / "rows.csv", tmp_path / f"{name}.csv", tmp_path / f"{name}.json"
    source.write_text("item\n" + "\n".join(ITEMS) + "\n")
    trees = write_trees({"item": [ITEMS, ["*"] * len(ITEMS)]}, tmp_path / "trees")
    asked = ["anonymize", "table", source, "--qi", "item", *trees, "--method", "dp-counts", *options]
    if run(*asked, "--out", out, "--recipe", recipe, "--force") is None:
        return None
    return recount.read(out), json.loads(recipe.read_text())


@pytest.mark.parametrize("neighbors", ["add-or-remove", "replace"])
def test_geometric_noise_has_the_distribution_that_the_promise_needs(tmp_path: Path, neighbors: str) -> None:
    epsilon = 1.0
    noise: Counter[int] = Counter()
    for number in range(5):
        made = published(
            tmp_path,
            f"n{number}",
            "--set",
            f"epsilon={epsilon}",
            "--set",
            "is_clamped=false",
            "--set",
            f"neighbors={neighbors}",
        )
        assert made is not None
        noise.update(int(line["rows"]) - (line["item"] != "(missing)") for line in made[0])
    # Chance (1 − a)/(1 + a)·a^|z| with a = e^(−ε/sensitivity): then e^ε bounds the ratio of any outcome's chances.
    a = math.exp(-epsilon / (1 if neighbors == "add-or-remove" else 2))
    n = noise.total()
    statistic, cells = 0.0, range(-6, 7)
    for z in cells:
        expected = n * (1 - a) / (1 + a) * a ** abs(z)
        statistic += (noise[z] - expected) ** 2 / expected
    rest = n - sum(noise[z] for z in cells)
    expected = n * 2 * a**7 / (1 + a)
    statistic += (rest - expected) ** 2 / expected
    # Chi-squared of 13 degrees of freedom is above 50 once in 300,000 times.
    assert statistic < 50


def test_two_releases_never_have_the_same_noise(tmp_path: Path) -> None:
    one, other = (published(tmp_path, name) for name in ("one", "other"))
    assert one is not None
    assert other is not None
    assert [line["rows"] for line in one[0]] != [line["rows"] for line in other[0]]
    assert one[1]["seed"] is None


def sealed(entry: dict[str, Any]) -> str:
    text = json.dumps([entry["epsilon"], entry["budget"], entry["nonce"], entry["before"]])
    return hashlib.sha256(text.encode()).hexdigest()


def test_what_was_spent_adds_up_over_the_chain_and_never_exceeds_the_budget(tmp_path: Path) -> None:
    earlier: list[str] = []
    spent, recipe = 0.0, None
    for number, epsilon in enumerate((0.5, 0.25, 0.25)):
        options = ["--set", f"epsilon={epsilon}", "--set", "budget=1", *earlier]
        made = published(tmp_path, f"r{number}", *options)
        assert made is not None
        recipe = made[1]["options"]
        spent += epsilon
        assert recipe["spent"] == pytest.approx(spent)
        assert math.fsum(one["epsilon"] for one in recipe["chain"]) == pytest.approx(spent)
        assert all(sealed(one) == one["digest"] for one in recipe["chain"])
        assert math.fsum(table["epsilon"] for table in recipe["tables"]) == pytest.approx(epsilon)
        earlier = ["--set", f"earlier={tmp_path / f'r{number}.json'}"]
    # Nothing is left, under whatever new budget, and a chain that was changed is refused.
    assert published(tmp_path, "more", "--set", "epsilon=0.1", "--set", "budget=9", *earlier) is None
    changed = json.loads((tmp_path / "r2.json").read_text())
    changed["options"]["chain"][0]["epsilon"] = 0.01
    changed["options"]["spent"] = 0.51
    (tmp_path / "r2.json").write_text(json.dumps(changed))
    assert published(tmp_path, "more", "--set", "epsilon=0.1", *earlier) is None
    assert not (tmp_path / "more.csv").exists()


def test_several_tables_share_the_budget_of_one_release(tmp_path: Path) -> None:
    source, out, recipe = tmp_path / "rows.csv", tmp_path / "out.csv", tmp_path / "recipe.json"
    source.write_text("a,b,c\n" + "x,y,z\n" * 9)
    trees = write_trees(
        {name: [[text, "other"], ["*", "*"]] for name, text in zip("abc", "xyz", strict=True)}, tmp_path
    )
    asked = ["anonymize", "table", source, "--qi", "a,b,c", *trees, "--method", "dp-counts", "--set", "ways=2"]
    assert run(*asked, "--set", "epsilon=0.9", "--out", out, "--recipe", recipe) is not None
    tables = json.loads(recipe.read_text())["options"]["tables"]
    assert [table["columns"] for table in tables] == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert [table["epsilon"] for table in tables] == pytest.approx([0.3] * 3)
    # Every cell there could be is published: two labels and the missing value of each of two columns.
    assert len(recount.read(out)) == 27
