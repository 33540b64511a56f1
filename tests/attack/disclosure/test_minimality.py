from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.attack.disclosure.minimality import Minimality, scene_of
from tokumei.attack.possible_worlds import beliefs
from tokumei.attack.threat_model import Published, ThreatModel
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.job.attack_table import _known_method

SEX = tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
WORKED = {"sex": ["m", "m", "f", "f", "f", "f"], "ill": ["HIV", "HIV", "HIV", "flu", "flu", "cold"]}
TREES = {
    "sex": SEX,
    "town": tk.Hierarchy.of_levels("town", [list("abcd"), ["ab", "ab", "cd", "cd"], ["*"] * 4]),
    "age": tk.Hierarchy.of_levels("age", [["1", "2", "3", "4"], ["1-2", "1-2", "3-4", "3-4"], ["*"] * 4]),
}


def table_of(columns: Mapping[str, Any], **more: Any) -> tk.Table:
    trees = {name: TREES[name] for name in columns if name in TREES}
    return tk.Table(pl.DataFrame(dict(columns)), qi=list(trees), sensitive=["ill"], hierarchies=trees, **more)


def model_of(table: tk.Table, release: Any) -> ThreatModel:
    return ThreatModel(
        table,
        Published(tk.Table(release.table, table.quasi_identifiers, ["ill"]), release.rows),
        release.hierarchies,
        numeric=list(release.numeric),
        method=_known_method(release, None, None),
    )


def believed(table: tk.Table, release: Any, attack: Minimality = Minimality()) -> dict[int, dict[str, Fraction]]:  # noqa: B008
    """Give for each person whose worlds were counted how likely each value is."""
    scene = scene_of(attack, model_of(table, release))
    assert scene is not None
    found = beliefs(scene.worlds, scene.refused, n_draws=1000, seed=1)
    assert not found.n_contradicted
    values = scene.values.to_list()
    out = {}
    for person, kind in enumerate(scene.kind_of_person.tolist()):
        size = int(scene.worlds.counts[scene.worlds.class_of[kind]].sum())
        own = found.exact.get(kind) or tuple(
            Fraction(int(n), size) for n in scene.worlds.counts[scene.worlds.class_of[kind]]
        )
        assert not found.is_drawn[kind]
        out[person] = {value: one for value, one in zip(values, own, strict=True) if one}
    return out


def test_minimality_of_the_worked_example_is_counted_by_hand() -> None:
    table = table_of(WORKED)
    release = tk.anonymize(table, k=2, l_diversity=2, keep_order=True)
    assert set(release.table["sex"]) == {"*"}
    found = believed(table, release)
    assert found[0] == found[1] == {"HIV": Fraction(3, 4), "flu": Fraction(1, 4)}
    # Of three with HIV the men have 3/2 on average, and four women have the others.
    assert found[2] == {"HIV": Fraction(3, 8), "flu": Fraction(3, 8), "cold": Fraction(1, 4)}
    scores = tk.attack(table, release, "minimality").scores["minimality"]
    assert list(scores) == ["above-bound", "broken", "certain"]
    assert (scores["above-bound"].value, scores["above-bound"].baseline) == (2 / 6, 0)
    assert scores["broken"].value == scores["certain"].value == 0
    assert scores["above-bound"].inputs["likeliest"] == 3 / 4


def test_minimality_is_certain_where_one_value_alone_can_have_stopped_the_method() -> None:
    # Only HIV stands in two rows, so that the men can have nothing else in common.
    table = table_of({"sex": ["m", "m", "f", "f", "f"], "ill": ["HIV", "HIV", "flu", "cold", "ulcer"]})
    scores = tk.attack(table, tk.anonymize(table, k=2, l_diversity=2), "minimality").scores["minimality"]
    assert (scores["certain"].value, scores["certain"].baseline) == (2 / 5, 0)
    assert (scores["broken"].value, scores["broken"].baseline) == (1, 0) or scores["broken"].value == 2 / 5


def test_minimality_of_a_release_that_k_stopped_learns_nothing() -> None:
    table = table_of({"sex": ["m", "f", "f", "f"], "ill": ["HIV", "flu", "flu", "cold"]})
    scores = tk.attack(table, tk.anonymize(table, k=2, l_diversity=2), "minimality").scores["minimality"]
    assert scores["above-bound"].inputs["groupings_refused"] == 0
    assert scores["above-bound"].inputs["largest_gain"] == 0


def worlds_of(table: tk.Table, release: Any) -> Iterator[list[str]]:
    """Give all ways to hand out the values of each released class."""
    frame = release.table.with_columns(row=release.rows).sort("row")
    classes = frame.with_row_index("at").group_by(table.quasi_identifiers, maintain_order=True).agg("at", "ill")
    each = [
        (at, sorted(set(itertools.permutations(ill)))) for at, ill in zip(classes["at"], classes["ill"], strict=True)
    ]
    for dealt in itertools.product(*(ways for _, ways in each)):
        world = [""] * frame.height
        for (at, _), way in zip(each, dealt, strict=True):
            for row, value in zip(at, way, strict=True):
                world[row] = value
        yield world


def enumerated(table: tk.Table, release: Any, **asked: Any) -> dict[int, dict[str, Fraction]]:
    """Run the method on every world, and count those that give the same release."""
    qi, told = table.quasi_identifiers, release.table.with_columns(row=release.rows).sort("row").select(
        table.quasi_identifiers
    )
    counts: list[dict[str, int]] = [{} for _ in range(table.n_rows)]
    n_worlds = 0
    for world in worlds_of(table, release):
        other = tk.Table(
            table.frame.with_columns(ill=pl.Series(world)), qi, ["ill"], hierarchies=table.hierarchies,
            numeric=table.numeric,
        )
        try:
            again = tk.anonymize(other, keep_order=True, **asked)
        except CannotAnonymize:
            continue
        if again.table.with_columns(row=again.rows).sort("row").select(qi).equals(told):
            n_worlds += 1
            for person, value in enumerate(world):
                counts[person][value] = counts[person].get(value, 0) + 1
    return {person: {value: Fraction(n, n_worlds) for value, n in own.items()} for person, own in enumerate(counts)}


def random_table(seed: int, columns: Sequence[str], n: int) -> tk.Table:
    rng = random.Random(seed)
    made: dict[str, list[str]] = {name: rng.choices(list(TREES[name].leaves), k=n) for name in columns}
    made["ill"] = rng.choices(["HIV", "flu", "cold"], [3, 2, 1], k=n)
    return table_of(made)


ASKED = (
    {"l_diversity": 2},
    {"l_diversity": "1.7:entropy"},
    {"l_diversity": "2:recursive:2"},
    {"t_closeness": 0.35},
    {"alpha_k": 0.67},
    {"beta_likeness": 1},
    {"k": 2, "l_diversity": 2},
    {"k": 2, "alpha_k": 0.7},
)
SEARCHES = ("optimal", "exhaustive", "ola", "incognito", "prediction-guided", "datafly", "pak")


@pytest.mark.parametrize("seed", range(24))
def test_minimality_of_a_search_is_what_all_originals_with_the_same_release_say(seed: int) -> None:
    asked: dict[str, Any] = dict(ASKED[seed % len(ASKED)])
    asked["method"] = SEARCHES[seed % len(SEARCHES)]
    if asked["method"] in ("pak", "prediction-guided"):
        asked["k"] = 2
    table = random_table(seed, ("sex", "town") if seed % 2 else ("town", "age"), 7)
    try:
        release = tk.anonymize(table, keep_order=True, **asked)
    except CannotAnonymize:
        pytest.skip("nothing holds for this table")
    assert believed(table, release) == enumerated(table, release, **asked)


@pytest.mark.parametrize("seed", range(24))
def test_minimality_of_mondrian_is_what_all_originals_with_the_same_release_say(seed: int) -> None:
    asked: dict[str, Any] = {**ASKED[seed % len(ASKED)], "method": "mondrian", "ranges": ("tight", "grid")[seed % 2]}
    rng = random.Random(seed)
    n = 8
    made: dict[str, Any] = {"age": [rng.randint(20, 60) for _ in range(n)], "sex": rng.choices("fm", k=n)}
    made["ill"] = rng.choices(["HIV", "flu", "cold"], [3, 2, 1], k=n)
    table = tk.Table(pl.DataFrame(made), ["age", "sex"], ["ill"], hierarchies={"sex": SEX}, numeric=["age"])
    try:
        release = tk.anonymize(table, keep_order=True, **asked)
    except CannotAnonymize:
        pytest.skip("nothing holds for this table")
    assert believed(table, release) == enumerated(table, release, **asked)
