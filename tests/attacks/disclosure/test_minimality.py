from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cases import with_many

import tokumei as tk
from tokumei.attacks.disclosure import possible_worlds
from tokumei.attacks.disclosure.minimality import Minimality, bounds_of, scene_of
from tokumei.attacks.disclosure.possible_worlds import beliefs
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.measures.safety.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from tokumei.measures.safety.diversity import AlphaK, LDiversity
from tokumei.tasks.table_threat_model import known_method

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
        numeric=list(release.number_columns),
        method=known_method(release, None, None),
    )


def believed(table: tk.Table, release: Any, attack: Minimality = Minimality()) -> dict[int, dict[str, Fraction]]:  # noqa: B008
    """Return for each person whose worlds were counted how likely each value is."""
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
    assert (scores["broken"].value, scores["broken"].baseline) == (2 / 5, 0)


def test_minimality_of_a_release_that_k_stopped_learns_nothing() -> None:
    table = table_of({"sex": ["m", "f", "f", "f"], "ill": ["HIV", "flu", "flu", "cold"]})
    scores = tk.attack(table, tk.anonymize(table, k=2, l_diversity=2), "minimality").scores["minimality"]
    assert scores["above-bound"].inputs["groupings_refused"] == 0
    assert scores["above-bound"].inputs["largest_gain"] == 0


def worlds_of(table: tk.Table, release: Any) -> Iterator[list[str]]:
    """Return all ways to hand out the values of each released class."""
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
    qi, told = (
        table.quasi_identifiers,
        release.table.with_columns(row=release.rows).sort("row").select(table.quasi_identifiers),
    )
    counts: list[dict[str, int]] = [{} for _ in range(table.n_rows)]
    n_worlds = 0
    for world in worlds_of(table, release):
        other = tk.Table(
            table.frame.with_columns(ill=pl.Series(world)),
            qi,
            ["ill"],
            hierarchies=table.hierarchies,
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
METHODS = ("optimal", "exhaustive", "ola", "incognito", "prediction-guided", "datafly", "pak", *("mondrian",) * 3)
# What each of these says by minimality differs from what the classes say, and enumerating takes a second or two.
TELLING = (7, 9, 16, 21, 32, 33, 48, 50, 51, 80, 84, 98, 99, 104, 117, 165, 173, 223, 306, 388)


def random_case(seed: int) -> tuple[tk.Table, dict[str, Any]]:
    rng = random.Random(seed)
    asked: dict[str, Any] = {**ASKED[seed % len(ASKED)], "method": METHODS[seed % len(METHODS)]}
    if asked["method"] in ("pak", "prediction-guided"):
        asked["k"] = 2
    n = rng.randint(6, 8)
    made: dict[str, list[Any]] = {"sex": rng.choices("fm", k=n), "town": rng.choices("abcd", [3, 1, 1, 2], k=n)}
    if rng.random() < 0.5:
        made["age"] = rng.choices("1234", k=n)
    numeric = []
    if asked["method"] == "mondrian":
        asked["ranges"] = rng.choice(["tight", "grid"])
        made["age"], numeric = [rng.choice([20, 25, 31, 38]) for _ in range(n)], ["age"]
    made["ill"] = rng.choices(["HIV", "flu", "cold"], [3, 2, 1], k=n)
    qi = [name for name in made if name != "ill"]
    trees = {name: TREES[name] for name in qi if name not in numeric}
    return tk.Table(pl.DataFrame(made), qi, ["ill"], hierarchies=trees, numeric=numeric), asked


@pytest.mark.parametrize("seed", [*TELLING, *with_many(*range(400))])
def test_minimality_is_what_all_originals_with_the_same_release_say(seed: int) -> None:
    table, asked = random_case(seed)
    try:
        release = tk.anonymize(table, keep_order=True, **asked)
    except CannotAnonymize:
        pytest.skip("nothing holds for this table")
    if sum(1 for _ in worlds_of(table, release)) > 300:
        pytest.skip("too many originals to try them all")
    found = believed(table, release)
    assert found == enumerated(table, release, **asked)
    if seed in TELLING:
        scores = tk.attack(table, release, "minimality").scores["minimality"]
        assert scores["above-bound"].inputs["largest_gain"] > 0


SAFELY = ({"l_diversity": 2}, {"l_diversity": "1.7:entropy"}, {"l_diversity": "2:recursive:2"}, {"alpha_k": 0.67})
# Of these safe cuts make several groups, and checked cuts would give something away.
CUT_SAFELY = (78, 90)


@pytest.mark.parametrize("seed", [*CUT_SAFELY, *with_many(*range(400))])
def test_minimality_of_safe_cuts_rules_out_no_original(seed: int) -> None:
    table, asked = random_case(7 + 10 * seed)
    asked |= {
        "method": "mondrian",
        "cuts": "safe",
        "margin": (0, 1, math.inf)[seed % 3],
        "k": 2,
        **SAFELY[seed % len(SAFELY)],
    }
    asked = {name: value for name, value in asked.items() if name not in ("t_closeness", "beta_likeness")}
    try:
        release = tk.anonymize(table, keep_order=True, **asked)
    except CannotAnonymize:
        pytest.skip("nothing holds for this table")
    if sum(1 for _ in worlds_of(table, release)) > 300:
        pytest.skip("too many originals to try them all")
    found = believed(table, release)
    # Every way to deal out the values of the released groups leads to these groups again.
    assert found == enumerated(table, release, **asked)
    scores = tk.attack(table, release, "minimality").scores["minimality"]
    assert scores["above-bound"].inputs["largest_gain"] == 0


def test_minimality_of_drawn_worlds_agrees_with_counted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of({name: column * 2 for name, column in WORKED.items()} | {"town": ["a"] * 6 + ["b"] * 6})
    release = tk.anonymize(table, k=2, l_diversity=3)
    counted = tk.attack(table, release, Minimality(draws=50_000)).scores["minimality"]["above-bound"]
    monkeypatch.setattr(possible_worlds, "MOST_TABLES", 0)
    drawn = tk.attack(table, release, Minimality(draws=50_000)).scores["minimality"]["above-bound"]
    assert counted.inputs["share_counted"] == 1 and drawn.inputs["share_drawn"] == 1
    assert counted.inputs["largest_gain"] > 0.05
    assert drawn.inputs["likeliest"] == pytest.approx(counted.inputs["likeliest"], abs=0.02)


def test_minimality_of_worlds_that_none_agrees_with_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody who draws ever meets a world in which one of a hundred parts fails.
    people = {"sex": [*"fm"] * 100, "ill": ["HIV", "flu", "cold", "ulcer"] * 50}
    table = table_of(people)
    # Truly, men and women differ in everything.
    release = tk.anonymize(table, t_closeness=0.3, suppress=0, keep_order=True)
    assert set(release.table["sex"]) == {"*"}
    monkeypatch.setattr(possible_worlds, "MOST_TABLES", 0)
    scores = tk.attack(table, release, "minimality").scores["minimality"]["above-bound"]
    assert scores.inputs["groupings_left_out"] == 1 and scores.inputs["groupings_used"] == 0
    assert scores.value == scores.baseline


def test_minimality_of_a_file_is_told_method_and_promise() -> None:
    table = table_of(WORKED)
    release = tk.anonymize(table, k=2, l_diversity=2, keep_order=True)
    options: dict[str, Any] = {"in_order": True, "method": "optimal", "k": 2}
    found = tk.attack(table, release.table, Minimality(l=2), **options).scores["minimality"]
    assert found["above-bound"].value == 2 / 6
    with pytest.raises(InputError, match="a requirement of the sensitive column"):
        tk.attack(table, release.table, "minimality", **options)
    with pytest.raises(InputError, match="a method that can be retraced"):
        tk.attack(table, release.table, Minimality(l=2), in_order=True)


def test_minimality_of_a_release_that_the_method_never_makes_is_refused() -> None:
    table = table_of({"town": ["a", "b", "c", "d"] * 2, "ill": ["HIV"] * 4 + ["flu"] * 4})
    crossed = table.frame.with_columns(town=pl.Series(["{a;c}", "{b;d}"] * 4))
    with pytest.raises(InputError, match="the groups that this method makes"):
        tk.attack(table, crossed, Minimality(l=2), in_order=True, method="mondrian", k=2)
    with pytest.raises(InputError, match="labels of one level"):
        tk.attack(table, crossed, Minimality(l=2), in_order=True, method="optimal", k=2)


def test_minimality_is_left_out_of_all_attacks_with_the_reason() -> None:
    table = table_of(WORKED)
    found = tk.attack(table, tk.anonymize(table, k=2, keep=["ill"], keep_anyway=True))
    assert "a requirement of the sensitive column" in found.left_out["minimality"]
    left = tk.attack(table, tk.anonymize(table, k=2, l_diversity=2, suppress=0.2))
    assert "leaves nobody out" in left.left_out["minimality"]
    relaxed = tk.attack(table, tk.anonymize(table, k=2, l_diversity=2, method="mondrian", kind="relaxed"))
    assert "can be retraced" in relaxed.left_out["minimality"]


def test_minimality_control_stands_where_people_like_them_do() -> None:
    table = table_of(WORKED)
    release = tk.anonymize(table, k=2, l_diversity=2)
    others = pl.DataFrame({"sex": ["m", "m", "f"], "ill": ["HIV", "cold", "HIV"]})
    found = tk.attack(table, release, "minimality", control=others).scores["minimality"]["above-bound"]
    # Of the two men it is believed that they have HIV by 3/4, which one of them has.
    assert found.control == 1 / 3


def test_bounds_of_promises() -> None:
    values, totals = pl.Series(["cold", "flu", None]), np.array([3, 1, 4])
    for requirement, expected in (
        (LDiversity("ill", 4), [1 / 4, 1 / 4, 1]),
        (LDiversity("ill", 2, "recursive", 3), [3 / 4, 3 / 4, 1]),
        (LDiversity("ill", 2, "entropy"), [1 / 2, 1 / 2, 1]),
        (AlphaK("ill", 0.6, 2), [0.6, 0.6, 1]),
        (TCloseness("ill", 0.1), [0.85, 0.35, 1]),
        (BetaLikeness("ill", 1, "basic"), [1.5, 0.5, 1]),
        (BetaLikeness("ill", 2), [0.75 * (1 - math.log(0.75)), 0.25 * (1 - math.log(0.25)), 1]),
        (DeltaDisclosure("ill", 1), [1.5, 0.5, 1]),
    ):
        found = bounds_of([requirement], values, totals).tolist()
        assert found == pytest.approx([min(1, one) for one in expected], abs=1e-6), requirement
