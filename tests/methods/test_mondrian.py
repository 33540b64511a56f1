from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY, Requirement
from tokumei.methods.local.encoding import encode_rows, flat_hierarchy
from tokumei.methods.local.mondrian import Mondrian
from tokumei.methods.local.splitting import LEFT_OUT_COUNTS, Splitting, split_groups
from tokumei.methods.local.task import LocalAttribute, LocalTask
from tokumei.methods.recipes import Goal, against_original
from tokumei.methods.rows import RowRelease, release_rows

CITIES = ["Kyoto", "Osaka", "Tokyo", "Chiba"]
CITY = Hierarchy.of_levels("city", [CITIES, ["west", "west", "east", "east"], ["*"] * 4])
PEOPLE = pl.DataFrame(
    {
        "age": [21, 23, 25, 29, 41, 45, 47, 61],
        "city": ["Kyoto", "Kyoto", "Osaka", "Osaka", "Tokyo", "Tokyo", "Chiba", "Tokyo"],
    }
)


def k_anonymity(k: int) -> list[Requirement]:
    return [SAFETY.make("k-anonymity", k=k)]


def made(
    people: pl.DataFrame,
    requirements: Sequence[Requirement],
    *,
    kind: Any = "strict",
    hierarchies: dict[str, Hierarchy] | None = None,
    **options: Any,
) -> RowRelease:
    numeric = [name for name in ("age",) if name in people.columns]
    goal = Goal(requirements, method=Mondrian(kind, "tight"), numeric=numeric, **options)
    columns = [name for name in people.columns if name not in goal.sensitive]
    trees = {"city": CITY} if hierarchies is None else hierarchies
    return release_rows(people, columns, {name: tree for name, tree in trees.items() if name in columns}, goal)


def rows(found: RowRelease) -> list[Any]:
    return found.release.frame.rows()


def test_groups_are_cut_along_what_they_tell_least_of() -> None:
    assert rows(made(PEOPLE, k_anonymity(2))) == [
        ("21-23", "Kyoto"),
        ("21-23", "Kyoto"),
        ("25-29", "Osaka"),
        ("25-29", "Osaka"),
        ("41-45", "Tokyo"),
        ("41-45", "Tokyo"),
        ("47-61", "east"),
        ("47-61", "east"),
    ]


def test_weight_of_a_column_decides_which_is_cut_first() -> None:
    # The two halves of the country come first; of four ages in each the lower two go together.
    found = made(PEOPLE, k_anonymity(4), weights={"city": 2.0})
    assert rows(found) == [("21-29", "west")] * 4 + [("41-61", "east")] * 4
    # A column of no weight is never cut; that of Kyoto and Osaka apart from the others costs nothing then.
    assert {row[1] for row in rows(made(PEOPLE[:4], k_anonymity(2), weights={"age": 0.0}))} == {"Kyoto", "Osaka"}


def test_cut_whose_parts_fail_is_not_made_and_the_next_is_tried() -> None:
    # Three of four are 30, so no cut by age leaves two on both sides; the cities do.
    people = pl.DataFrame({"age": [30, 30, 30, 40], "city": ["Kyoto", "Osaka", "Tokyo", "Tokyo"]})
    assert rows(made(people, k_anonymity(2))) == [("30", "west")] * 2 + [("30-40", "Tokyo")] * 2


def test_relaxed_lets_rows_of_the_median_go_to_either_side() -> None:
    people = pl.DataFrame({"age": [30, 30, 30, 40], "city": ["Kyoto", "Osaka", "Tokyo", "Kyoto"]})
    # By age 3 and 1, by region 3 and 1: nothing can be cut.
    assert rows(made(people, k_anonymity(2))) == [("30-40", "*")] * 4
    # (30, Kyoto) and (30, Osaka) are the first two classes, (30, Tokyo) and (40, Kyoto) the others.
    found = made(people, k_anonymity(2), kind="relaxed")
    assert rows(found) == [("30", "west"), ("30", "west"), ("30-40", "*"), ("30-40", "*")]


def test_relaxed_keeps_categories_that_fail_together_under_their_label() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Kyoto", "Osaka", "Tokyo"]})
    flat = {"city": flat_hierarchy("city", pl.Series(CITIES))}
    assert rows(made(people, k_anonymity(2), hierarchies=flat)) == [("*",)] * 5
    found = made(people, k_anonymity(2), hierarchies=flat, kind="relaxed")
    assert rows(found) == [("Kyoto",)] * 3 + [("*",)] * 2
    # Osaka alone is too few, so the smallest that would do joins it: Tokyo.
    people = pl.DataFrame({"city": ["Kyoto"] * 3 + ["Osaka"] + ["Tokyo"] * 2})
    found = made(people, k_anonymity(2), hierarchies=flat, kind="relaxed")
    assert rows(found) == [("Kyoto",)] * 3 + [("*",)] * 3


def test_missing_values_are_cut_off_or_go_with_the_last_part() -> None:
    people = pl.DataFrame({"age": [20, 20, 30, 30, None, None]})
    assert rows(made(people, k_anonymity(2))) == [("20",)] * 2 + [("30",)] * 2 + [(None,)] * 2
    assert rows(made(people[:5], k_anonymity(2))) == [("20",)] * 2 + [("*",)] * 3
    people = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Osaka", "Osaka", None]})
    # West is all there is, so its cities are cut; the missing one goes with the second.
    assert rows(made(people, k_anonymity(2))) == [("Kyoto",)] * 2 + [("*",)] * 3


def test_every_requirement_is_asked_of_every_part() -> None:
    people = PEOPLE.with_columns(illness=pl.Series(["flu", "flu", "cold", "flu", "flu", "cold", "flu", "cold"]))
    asked = [*k_anonymity(2), SAFETY.make("l-diversity", sensitive="illness", l=2)]
    # Kyoto has flu alone and 21 to 23 too, so the four under 41 stay together.
    assert rows(made(people, asked)) == [
        ("21-29", "west", "flu"),
        ("21-29", "west", "flu"),
        ("21-29", "west", "cold"),
        ("21-29", "west", "flu"),
        ("41-45", "Tokyo", "flu"),
        ("41-45", "Tokyo", "cold"),
        ("47-61", "east", "flu"),
        ("47-61", "east", "cold"),
    ]


def test_population_goes_where_its_values_go() -> None:
    # One person of each city; with the strangers there are two in Kyoto, three in Osaka, one each in the east.
    people = pl.DataFrame({"city": CITIES})
    population = count_classes(pl.DataFrame({"city": [*CITIES, "Kyoto", "Osaka", "Osaka"]}), ["city"])
    asked = [SAFETY.make("k-map", population=population, k=2)]
    assert rows(made(people, asked)) == [("Kyoto",), ("Osaka",), ("east",), ("east",)]
    with pytest.raises(InputError, match="option kind: found 'relaxed', expected strict"):
        made(people, asked, kind="relaxed")


def test_part_of_the_population_alone_is_no_obstacle_unless_everybody_must_seem_released() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Tokyo"]})
    population = count_classes(pl.DataFrame({"city": ["Kyoto", "Kyoto", "Osaka", "Tokyo", "Tokyo"]}), ["city"])
    assert rows(made(people, [SAFETY.make("k-map", population=population, k=2)])) == [("Kyoto",), ("Tokyo",)]
    for least, told in ((0.0, "Kyoto"), (0.3, "west")):
        asked = [SAFETY.make("delta-presence", population=population, delta_max=0.5, delta_min=least)]
        assert rows(made(people, asked)) == [(told,), ("Tokyo",)]


def test_requirement_of_the_whole_release_is_kept_by_undoing_rounds() -> None:
    people = pl.DataFrame({"age": [20, 20, 20, 20, 20, 20, 30, 40]})
    # Cut in three, a group has 8/3 rows on the mean; cut in two, 4.
    found = made(people, [SAFETY.make("mean-class-size", size=3)])
    assert found.counts is not None
    assert found.counts.n_classes == 2
    assert found.counts.n_rows == 8


def test_parts_that_fail_are_left_out_where_the_others_gain_more() -> None:
    people = pl.DataFrame({"city": ["Kyoto"] * 4 + ["Osaka"] * 4 + ["Tokyo"] * 3 + ["Chiba"]})
    # All are cut into west and east. In the east Chiba is alone, and may not go: 1 is more than 4/12 of 2 rows.
    found = made(people, k_anonymity(2), suppression=2 / 12)
    assert rows(found) == [("Kyoto",)] * 4 + [("Osaka",)] * 4 + [("east",)] * 4
    # 4/12 of 3 rows are one. It counts 2, and in the east 4 rows cost 1/2 each: not less.
    assert made(people, k_anonymity(2), suppression=3 / 12).n_suppressed == 0
    # Three of four rows would lose nothing at all if those without a hierarchy had cost 1 each.
    flat = {"city": flat_hierarchy("city", pl.Series(CITIES))}
    found = made(people, k_anonymity(2), hierarchies=flat, suppression=1 / 12)
    assert rows(found) == [("Kyoto",)] * 4 + [("Osaka",)] * 4 + [("Tokyo",)] * 3
    assert found.n_suppressed == 1


def test_rows_that_fail_together_hold_without_the_part_that_fails() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Tokyo"], "illness": ["flu", "cold", "flu"]})
    asked = [SAFETY.make("alpha-k", sensitive="illness", alpha=0.5, k=2)]
    with pytest.raises(CannotAnonymize, match="3 of 3 rows would have to be left out, of which 0 may be"):
        made(people, asked)
    assert rows(made(people, asked, suppression=0.34)) == [("Kyoto", "flu"), ("Kyoto", "cold")]


@pytest.mark.parametrize("kind", ["strict", "relaxed"])
def test_tables_with_nothing_to_cut(kind: str) -> None:
    assert rows(made(PEOPLE[:1], k_anonymity(1), kind=kind)) == [("21", "Kyoto")]
    assert rows(made(PEOPLE[[0, 0, 0]], k_anonymity(2), kind=kind)) == [("21", "Kyoto")] * 3
    nobody = pl.DataFrame({"city": [None, None]}, schema={"city": pl.String})
    assert rows(made(nobody, k_anonymity(2), kind=kind)) == [(None,)] * 2
    with pytest.raises(CannotAnonymize, match="8 of 8 rows would have to be left out"):
        made(PEOPLE, k_anonymity(9), kind=kind)
    assert made(PEOPLE, k_anonymity(9), kind=kind, suppression=1.0).release.frame.height == 0
    assert made(PEOPLE[:0].select("city"), k_anonymity(2), kind=kind).release.frame.height == 0


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="expected strict or relaxed"):
        Mondrian("loose")  # type: ignore[arg-type]


def test_release_is_the_same_whatever_the_order_of_the_rows() -> None:
    order = [5, 2, 7, 0, 3, 6, 1, 4]
    for kind in ("strict", "relaxed"):
        found, moved = (made(people, k_anonymity(2), kind=kind) for people in (PEOPLE, PEOPLE[order]))
        assert moved.release.frame.equals(found.release.frame[order])


# Levels 1 and 2 cross: b and c are together at level 1, and apart at level 2.
CROSSING = Hierarchy.of_levels("shop", [list("abcdef"), list("xyyzzz"), list("uuvvvv"), ["*"] * 6])
TREE = Hierarchy.of_levels("town", [list("abcdef"), list("xxyzzz"), list("uuuvvv"), ["*"] * 6])
TABLES = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 5, 9, None]),
        st.sampled_from([*"abcdef", None]),
        st.sampled_from([*"abcdef"]),
        st.sampled_from(["red", "blue", "green"]),
        st.sampled_from(["flu", "cold", "none"]),
    ),
    min_size=1,
    max_size=14,
)
ASKED = st.sampled_from(
    [
        k_anonymity(1),
        k_anonymity(2),
        k_anonymity(3),
        [*k_anonymity(2), SAFETY.make("l-diversity", sensitive="illness", l=2)],
        [SAFETY.make("t-closeness", sensitive="illness", t=0.4)],
        [SAFETY.make("alpha-k", sensitive="illness", alpha=0.7, k=2)],
    ]
)


def people_of(table: list[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {"age": pl.Int64, "town": pl.String, "shop": pl.String, "color": pl.String, "illness": pl.String}
    return pl.DataFrame(table, schema=schema, orient="row")


def task_of(people: pl.DataFrame, requirements: Sequence[Requirement], suppression: float) -> LocalTask:
    trees = {"age": flat_hierarchy("age", pl.Series([1, 2, 3, 5, 9])), "town": TREE, "shop": CROSSING}
    trees["color"] = flat_hierarchy("color", people["color"])
    task = encode_rows(
        people,
        trees,
        requirements,
        sensitive=["illness"],
        numeric=["age"],
        suppression=suppression,
        weights={"town": 1.5},
    ).task
    return replace(task, requirements=against_original(task.requirements, task.counts))


@pytest.mark.slow
@given(TABLES, ASKED, st.sampled_from([0.0, 0.2, 0.5]), st.booleans())
@settings(max_examples=cases(100))
def test_rounds_give_the_same_groups_as_one_group_after_the_other(
    table: list[tuple[Any, ...]], asked: list[Requirement], suppression: float, is_relaxed: bool
) -> None:
    task = task_of(people_of(table), asked, suppression)
    group_of, _ = split_groups(Splitting(task, is_relaxed=is_relaxed))
    found = {frozenset(np.flatnonzero(group_of == group).tolist()) for group in set(group_of.tolist()) - {-1}}
    assert found == {frozenset(group) for group in Plain(task, is_relaxed=is_relaxed).groups()}


@given(TABLES, ASKED, st.sampled_from([0.0, 0.3]), st.sampled_from(["strict", "relaxed"]))
@settings(max_examples=cases(40))
def test_release_holds_what_was_asked_or_is_refused(
    table: list[tuple[Any, ...]], asked: list[Requirement], suppression: float, kind: str
) -> None:
    people = people_of(table).select("town", "shop", "illness")
    goal = Goal(asked, method=Mondrian(kind), suppression=suppression)  # type: ignore[arg-type]
    try:
        found = release_rows(people, ["town", "shop"], {"town": TREE}, goal, keep=["illness"])
    except CannotAnonymize:
        return
    assert found.n_suppressed <= suppression * people.height + 1e-9
    assert found.release.frame.height == people.height - found.n_suppressed


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 3, 5, None]), st.sampled_from([*"abcdef", None])), min_size=1, max_size=12
    ),
    st.integers(1, 12),
    st.sampled_from(["k-map", "delta-presence"]),
    st.sampled_from([0.0, 0.25]),
    st.sampled_from([0.0, 0.2]),
)
@settings(max_examples=cases(60))
def test_requirement_of_a_population_holds_or_is_refused(
    table: list[tuple[Any, ...]], n_released: int, name: str, delta_min: float, suppression: float
) -> None:
    everybody = pl.DataFrame(table, schema={"age": pl.Int64, "town": pl.String}, orient="row")
    population = count_classes(everybody, ["age", "town"])
    limits = {"k": 2} if name == "k-map" else {"delta_max": 0.8, "delta_min": delta_min}
    goal = Goal(
        [SAFETY.make(name, population=population, **limits)],
        method=Mondrian(),
        numeric=["age"],
        suppression=suppression,
    )
    trees = {"age": flat_hierarchy("age", pl.Series([1, 2, 3, 5])), "town": TREE}
    try:
        found = release_rows(everybody[:n_released], ["age", "town"], trees, goal)
    except CannotAnonymize:
        return
    assert found.release.frame.height + found.n_suppressed == min(n_released, everybody.height)


@dataclass
class Plain:
    """Cuts one group after the other, as it is written down."""

    task: LocalTask
    is_relaxed: bool

    def groups(self) -> list[list[int]]:
        everybody = list(range(self.task.n_classes))
        return self.cut(everybody, float(self.task.n_may_suppress), is_root=True)

    def cut(self, group: list[int], may_go: float, *, is_root: bool = False) -> list[list[int]]:
        fails = is_root and not self.holds(group)
        ways = [
            (cost, kind, attribute, weight)
            for attribute, weight in zip(self.task.attributes, self.task.column_weights, strict=True)
            for kind, cost in self.ways(attribute, float(weight), group)
        ]
        # The sort keeps the order of attributes, and of missing values first, among equals.
        for cost, kind, attribute, _ in sorted(ways, key=lambda way: -way[0]):
            if cost <= 0:
                break
            parts = self.parts(attribute, kind, group)
            gone = [part for part in parts if not self.holds(part)]
            kept = [part for part in parts if self.holds(part)]
            n_gone, n_rows = sum(map(self.rows, gone)), self.rows(group)
            if len(parts) < 2 or not kept or n_gone > may_go + 1e-9:
                continue
            after = sum(self.rows(part) * self.loss(part) for part in kept) + LEFT_OUT_COUNTS * n_gone
            if n_gone and not fails and after >= n_rows * self.loss(group) - 1e-9:
                continue
            share = (may_go - n_gone) / max(1, n_rows - n_gone)
            return [one for part in kept for one in self.cut(part, share * self.rows(part))]
        return [] if fails else [group]

    def holds(self, group: list[int]) -> bool:
        group_of = np.full(self.task.n_classes, -1)
        group_of[group] = 0
        return bool(self.task.holds(group_of, 1)[0])

    def rows(self, group: list[int]) -> int:
        return int(self.task.sizes[group].sum())

    def loss(self, group: list[int]) -> float:
        pairs = zip(self.task.attributes, self.task.column_weights, strict=True)
        return sum(max(cost for _, cost in self.ways(one, float(weight), group)) for one, weight in pairs)

    def ways(self, attribute: LocalAttribute, weight: float, group: list[int]) -> list[tuple[str, float]]:
        """Return what the label costs, for cutting missing values off and for cutting the others."""
        leaves = {int(attribute.leaf_of[one]) for one in group}
        values = sorted(leaves - {attribute.missing})
        width = self.width(attribute, values) if values else 0.0
        is_mixed = bool(values) and len(values) < len(leaves)
        return [("missing", weight * is_mixed), ("values", weight * (1.0 if is_mixed and width > 0 else width))]

    def width(self, attribute: LocalAttribute, values: list[int]) -> float:
        if attribute.is_numeric:
            numbers = attribute.numbers
            return float((numbers[values[-1]] - numbers[values[0]]) / (numbers[-1] - numbers[0]))
        level = self.level(attribute, values)
        coarse = attribute.hierarchy.levels[level:]
        everything = range(attribute.n_leaves)
        below = [leaf for leaf in everything if all(one.codes[leaf] == one.codes[values[0]] for one in coarse)]
        return len(below) / attribute.n_leaves if len(below) > 1 else 0.0

    def level(self, attribute: LocalAttribute, values: list[int]) -> int:
        """Return the finest level from which on all leaves are together."""
        levels = attribute.hierarchy.levels
        level = len(levels)
        while level and len({levels[level - 1].codes[value] for value in values}) == 1:
            level -= 1
        return level

    def parts(self, attribute: LocalAttribute, kind: str, group: list[int]) -> list[list[int]]:
        missing = [one for one in group if attribute.leaf_of[one] == attribute.missing]
        values = [one for one in group if attribute.leaf_of[one] != attribute.missing]
        if kind == "missing":
            return [values, missing]
        if attribute.is_numeric:
            return self.halves(attribute, group)
        level = attribute.hierarchy.levels[
            self.level(attribute, sorted({int(attribute.leaf_of[v]) for v in values})) - 1
        ]
        parts: dict[int, list[int]] = {}
        for one in values:
            parts.setdefault(int(level.codes[attribute.leaf_of[one]]), []).append(one)
        children = [parts[code] for code in sorted(parts)]
        children[-1] = children[-1] + missing
        return self.with_failing_together(children) if self.is_relaxed else children

    def halves(self, attribute: LocalAttribute, group: list[int]) -> list[list[int]]:
        order = sorted(group, key=lambda one: (attribute.leaf_of[one], one))
        best: tuple[tuple[int, int], list[list[int]]] | None = None
        for index in range(1, len(order)):
            is_same = attribute.leaf_of[order[index]] == attribute.leaf_of[order[index - 1]]
            if is_same and (not self.is_relaxed or attribute.leaf_of[order[index]] == attribute.missing):
                continue
            two = [order[:index], order[index:]]
            balance = min(map(self.rows, two)), min(map(len, two))
            if best is None or balance > best[0]:
                best = balance, two
        assert best is not None
        return best[1]

    def with_failing_together(self, parts: list[list[int]]) -> list[list[int]]:
        kept = [part for part in parts if self.holds(part)]
        left = [one for part in parts if not self.holds(part) for one in part]
        if left and not self.holds(left) and len(kept) > 1:
            smallest = min(kept, key=self.rows)
            kept.remove(smallest)
            left += smallest
        return [*kept, left] if left else kept
