from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY, Requirement
from tokumei.methods.local.merging import MinDis
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowRelease, release_rows

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
TOWN = Hierarchy.of_levels("town", [["Kyoto", "Osaka", "Tokyo", "Chiba"], ["west", "west", "east", "east"], ["*"] * 4])
PEOPLE = pl.DataFrame(
    {"sex": ["f", "f", "f", "m", "m", "m"], "town": ["Kyoto", "Osaka", "Tokyo", "Tokyo", "Tokyo", "Chiba"]}
)
K2: list[Requirement] = [SAFETY.make("k-anonymity", k=2)]


def made(method: MinDis, people: pl.DataFrame = PEOPLE, seed: int = 0, **options: Any) -> RowRelease:
    return release_rows(
        people, ["sex", "town"], {"sex": SEX, "town": TOWN}, Goal(K2, method=method, **options), seed=seed
    )


def test_rare_combination_joins_the_one_with_the_fewest_steps_up() -> None:
    # The example of the catalogue.
    assert made(MinDis()).release.frame.rows() == [("f", "*")] * 3 + [("m", "east")] * 3


def test_weight_of_a_column_decides_which_steps_are_dear() -> None:
    # Where sex counts little, Tokyo's woman joins its men, and Chiba's man these.
    found = made(MinDis(), weights={"sex": 0.1})
    assert found.release.frame.rows() == [("f", "west")] * 2 + [("*", "east")] * 4


def test_random_order_follows_the_seed() -> None:
    # If 10 or 20 comes first it joins a neighbor on its left; from 20 all others follow.
    people = pl.DataFrame({"age": [0, 10, 20, 30]})

    def ages(seed: int) -> tuple[str, ...]:
        goal = Goal(K2, method=MinDis("random", ranges="tight"), numeric=["age"])
        return tuple(release_rows(people, ["age"], {}, goal, seed=seed).release.frame["age"])

    drawn = [ages(seed) for seed in range(20)]
    assert set(drawn) == {("0-10", "0-10", "20-30", "20-30"), ("0-30",) * 4}
    assert drawn == [ages(seed) for seed in range(20)]


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="smallest or random"):
        MinDis("largest")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 2"):
        MinDis(block=1)
