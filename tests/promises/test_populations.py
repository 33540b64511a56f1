"""Promises that compare with a population, recounted from the written release and the population's file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.promises import recount
from tests.promises.commands import Trees, run, write_trees
from tests.promises.recount import Rows

from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, TableSearch

TREES: Trees = {
    "age": [["1", "2", "3", "4"], ["1-2", "1-2", "3-4", "3-4"], ["*"] * 4],
    "town": [["A", "B", "C"], ["*"] * 3],
    "answer": [["yes"], ["*"]],
}
SEARCHES = [name for name in TABLE_ANONYMIZERS if isinstance(TABLE_ANONYMIZERS.make(name), TableSearch)]
# The one that is left out needs a table of the user's own.
LOCAL = [
    name
    for name in TABLE_ANONYMIZERS
    if isinstance(TABLE_ANONYMIZERS.make(name), LocalRecoder) and name != "marginal-recoding"
]
# The groups of these share values, so that nobody can say who of a population fits one: they refuse to promise it.
REFUSING = ("min-dis", "mu-argus", "partition", "utility-clustering")


def drawn(seed: int) -> tuple[Rows, Rows]:
    """A population, and some of it as the table."""
    draw = random.Random(seed)
    missing = draw.choice([0.0, 0.0, 0.2])

    def value(values: list[str]) -> str:
        return "" if draw.random() < missing else draw.choice(values)

    people = [{name: value(tree[0]) for name, tree in TREES.items()} for _ in range(draw.choice([1, 5, 12, 30, 60]))]
    return people, [one for one in people if draw.random() < 0.5] or people[:1]


def write(rows: Rows, path: Path) -> Path:
    path.write_text("\n".join([",".join(TREES), *(",".join(row.values()) for row in rows)]) + "\n", encoding="utf-8")
    return path


def fits(person: dict[str, str], labels: dict[str, str]) -> bool:
    """Whether a label of each column stands for the person's value; a missing value only fits itself and nothing."""
    for name, tree in TREES.items():
        own, cell = person[name], labels[name]
        if cell == "*":
            continue
        if own == "" or cell == "":
            if own != cell:
                return False
            continue
        low, dash, high = cell.partition("-")
        # A label of the hierarchy, or a range of numbers of a method's own.
        is_inside = int(low) <= int(own) <= int(high) if dash else False
        if not is_inside and all(level[tree[0].index(own)] != cell for level in tree):
            return False
    return True


@pytest.mark.parametrize("method", [*SEARCHES, *LOCAL])
@pytest.mark.parametrize("kind", ["k-map", "delta-presence"])
def test_promise_about_a_population_holds_on_the_file(times: int, tmp_path: Path, method: str, kind: str) -> None:
    options = write_trees(TREES, tmp_path / "trees")
    n_released = 0
    for seed in range(3, 5 + 4 * (times - 1)):
        people, table = drawn(seed)
        files = write(table, tmp_path / "table.csv"), write(people, tmp_path / "everybody.csv")
        k, most = 2 + seed % 3, (0.6, 0.8, 1.0)[seed % 3]
        asked: list[object] = (
            ["--k", 2, "--k-map", k] if kind == "k-map" else ["--k", 2, "--delta-presence", f"0:{most}"]
        )
        share = (0.0, 0.3)[seed % 2]
        done = run(
            *("anonymize", "table", files[0], "--qi", ",".join(TREES), *options, *asked, "--population", files[1]),
            *("--suppress", share, "--method", method, "--out", tmp_path / "out.csv", "--force"),
        )
        if done is None:
            continue
        n_released += 1
        rows = recount.read(tmp_path / "out.csv")
        assert len(rows) >= len(table) - share * len(table) - 1e-9
        for one in recount.classes(rows, list(TREES)):
            assert len(one) >= 2
            n_people = sum(fits(person, one[0]) for person in people)
            if kind == "delta-presence":
                assert len(one) <= most * n_people + 1e-9, (seed, one[0])
            else:
                assert n_people >= k, (seed, one[0])
    assert n_released or method in REFUSING
