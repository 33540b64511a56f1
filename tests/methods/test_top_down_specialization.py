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
from tokumei.methods.local.task import LocalTask
from tokumei.methods.local.top_down import TopDownSpecialization
from tokumei.methods.recipes import Goal, against_original
from tokumei.methods.rows import RowRelease, release_rows

CITIES = ["Kyoto", "Osaka", "Tokyo", "Chiba"]
CITY = Hierarchy.of_levels("city", [CITIES, ["west", "west", "east", "east"], ["*"] * 4])
PEOPLE = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Osaka", "Osaka", "Tokyo", "Tokyo", "Chiba"]})


def k_anonymity(k: int) -> list[Requirement]:
    return [SAFETY.make("k-anonymity", k=k)]


def made(people: pl.DataFrame, requirements: Sequence[Requirement], **options: Any) -> RowRelease:
    goal = Goal(requirements, method=TopDownSpecialization("tight"), **options)
    columns = [name for name in people.columns if name not in goal.sensitive]
    return release_rows(people, columns, {"city": CITY} if "city" in columns else {}, goal)


def rows(found: RowRelease) -> list[Any]:
    return found.release.frame.rows()


def test_labels_are_made_finer_one_at_a_time_as_long_as_they_hold() -> None:
    found = made(PEOPLE, k_anonymity(2))
    assert rows(found) == [("Kyoto",)] * 2 + [("Osaka",)] * 2 + [("east",)] * 3
    assert found.loss is not None
    assert found.loss.value == pytest.approx(3 * 0.5 / 7)


def test_step_is_taken_that_costs_least_anonymity_for_its_gain() -> None:
    people = pl.DataFrame({"sex": ["f"] * 5 + ["m"] * 3, "city": ["Kyoto", "Kyoto", "Osaka"] + ["Tokyo"] * 5})
    # Sexes: 1/2 for 8 − 3 rows, 1/12 a row. Regions: 1/4 for as many, 1/24. After that no region has three of a sex.
    assert rows(made(people, k_anonymity(3))) == [("f", "*")] * 5 + [("m", "*")] * 3
    # Of thrice the weight the regions fall by 3/8 and the sexes by 1/4. Then all of the east live in Tokyo.
    found = made(people, k_anonymity(3), weights={"city": 3.0})
    assert rows(found) == [("*", "west")] * 3 + [("*", "Tokyo")] * 5


def test_equal_values_get_equal_labels() -> None:
    people = pl.DataFrame({"sex": ["f"] * 4 + ["m"] * 4, "city": ["Kyoto", "Kyoto", "Tokyo", "Tokyo"] * 2})
    assert rows(made(people, k_anonymity(2))) == people.rows()
    # One man of Chiba: nobody in the east can tell the city, and in the west everybody can.
    moved = people.with_columns(city=pl.Series([*people["city"][:-1], "Chiba"]))
    found = [row[1] for row in rows(made(moved, k_anonymity(2)))]
    assert found == ["Kyoto", "Kyoto", "east", "east"] * 2


def test_numbers_without_a_hierarchy_are_cut_at_the_median() -> None:
    people = pl.DataFrame({"age": [20, 30, 40, 50, 60, 60]})
    # Each half cut again would leave one row alone.
    assert rows(made(people, k_anonymity(2), numeric=["age"])) == [("20-40",)] * 3 + [("50-60",)] * 3
    # Without 20 it is two rows and three at 50 as at 60; at 50 both sides have two ages.
    assert rows(made(people[1:], k_anonymity(2), numeric=["age"])) == [("30-40",)] * 2 + [("50-60",)] * 3


def test_numbers_with_a_hierarchy_get_its_labels() -> None:
    ages = Hierarchy.of_levels("age", [["20", "25", "31", "38"], ["20-29"] * 2 + ["30-39"] * 2, ["*"] * 4])
    people = pl.DataFrame({"age": [20, 25, 31, 31, 38, 38]})
    goal = Goal(k_anonymity(2), method=TopDownSpecialization("tight"), numeric=["age"])
    found = release_rows(people, ["age"], {"age": ages}, goal)
    assert rows(found) == [("20-29",)] * 2 + [("31",)] * 2 + [("38",)] * 2
    assert found.loss is not None
    # Two rows are known within 5 of 18 years.
    assert found.loss.value == pytest.approx(2 * (5 / 18) / 6)


def test_missing_value_stands_with_the_others_only_where_nothing_is_told() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Tokyo", "Tokyo", None]})
    assert rows(made(people, k_anonymity(2))) == [("*",)] * 5
    assert rows(made(people[[0, 1, 2, 3, 4, 4]], k_anonymity(2))) == [*people.rows(), (None,)]
    ages = pl.DataFrame({"age": [20, 20, 30, 30, None]})
    assert rows(made(ages, k_anonymity(2), numeric=["age"])) == [("*",)] * 5
    assert rows(made(ages[[0, 1, 2, 3, 4, 4]], k_anonymity(2), numeric=["age"]))[1:] == [
        ("20",),
        ("30",),
        ("30",),
        (None,),
        (None,),
    ]
    found = made(people, k_anonymity(2), suppression=0.2)
    assert rows(found) == people.rows()[:4]
    assert found.n_suppressed == 1


def test_every_requirement_is_asked_of_every_class() -> None:
    people = PEOPLE.with_columns(illness=pl.Series(["flu", "cold", "flu", "flu", "flu", "cold", "flu"]))
    asked = [*k_anonymity(2), SAFETY.make("l-diversity", sensitive="illness", l=2)]
    assert [row[0] for row in rows(made(people, asked))] == ["west"] * 4 + ["east"] * 3


def test_requirement_of_the_whole_release_is_kept() -> None:
    # Four cities in two regions: at 7/3 rows on the mean one region can tell its cities; the first in order does.
    found = made(PEOPLE, [SAFETY.make("mean-class-size", size=2.2)])
    assert rows(found) == [("Kyoto",)] * 2 + [("Osaka",)] * 2 + [("east",)] * 3


def test_population_goes_where_its_values_go() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Tokyo", "Chiba"]})
    population = count_classes(pl.DataFrame({"city": [*CITIES, "Kyoto"]}), ["city"])
    found = made(people, [SAFETY.make("k-map", population=population, k=2)])
    assert rows(found) == [("Kyoto",), ("east",), ("east",)]
    # Nobody of Osaka is released, so that everybody of the west must seem to be.
    asked = [SAFETY.make("delta-presence", population=population, delta_max=1.0, delta_min=0.3)]
    assert rows(made(people, asked)) == [("west",), ("Tokyo",), ("Chiba",)]


def test_rows_that_fail_together_hold_without_the_class_that_fails() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Tokyo"], "illness": ["flu", "cold", "flu"]})
    asked = [SAFETY.make("alpha-k", sensitive="illness", alpha=0.5, k=2)]
    with pytest.raises(CannotAnonymize, match="3 of 3 rows would have to be left out, of which 0 may be"):
        made(people, asked)
    assert rows(made(people, asked, suppression=0.34)) == [("Kyoto", "flu"), ("Kyoto", "cold")]


def test_tables_with_nothing_to_make_finer() -> None:
    assert rows(made(PEOPLE[:1], k_anonymity(1))) == [("Kyoto",)]
    assert rows(made(PEOPLE[[0, 0]], k_anonymity(2))) == [("Kyoto",)] * 2
    nobody = pl.DataFrame({"city": [None, None]}, schema={"city": pl.String})
    assert rows(made(nobody, k_anonymity(2))) == [(None,)] * 2
    assert made(PEOPLE[:0], k_anonymity(2)).release.frame.height == 0
    with pytest.raises(CannotAnonymize, match="7 of 7 rows would have to be left out"):
        made(PEOPLE, k_anonymity(8))
    assert made(PEOPLE, k_anonymity(8), suppression=1.0).release.frame.height == 0


def test_column_of_one_value_and_of_none_tells_only_whether_there_is_one() -> None:
    people = pl.DataFrame({"city": ["Kyoto", "Kyoto", None, None]})
    one = {"city": Hierarchy.of_levels("city", [["Kyoto"]])}
    for k, told in ((2, people.rows()), (3, [("*",)] * 4)):
        assert (
            rows(release_rows(people, ["city"], one, Goal(k_anonymity(k), method=TopDownSpecialization("tight"))))
            == told
        )


def test_levels_that_cross_are_refused() -> None:
    crossing = Hierarchy.of_levels("city", [CITIES, ["a", "b", "b", "c"], ["u", "u", "v", "v"]])
    with pytest.raises(InputError, match="the label of 'b' above"):
        release_rows(PEOPLE, ["city"], {"city": crossing}, Goal(k_anonymity(2), method=TopDownSpecialization("tight")))


def test_release_is_the_same_whatever_the_order_of_the_rows() -> None:
    order = [5, 2, 0, 3, 6, 1, 4]
    found, moved = (made(people, k_anonymity(2)) for people in (PEOPLE, PEOPLE[order]))
    assert moved.release.frame.equals(found.release.frame[order])


# Below `v` there is nothing new at level 2.
TREE = Hierarchy.of_levels("town", [list("abcdef"), list("xxyzzz"), list("uuuvvv"), ["*"] * 6])
TABLES = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 5, 9, None]),
        st.sampled_from([*"abcdef", None]),
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
        [SAFETY.make("mean-class-size", size=2.5)],
    ]
)


@given(TABLES, ASKED, st.sampled_from([0.0, 0.3]))
@settings(max_examples=cases(100))
def test_specializing_equals_counting_every_step(
    table: list[tuple[Any, ...]], asked: list[Requirement], suppression: float
) -> None:
    schema = {"age": pl.Int64, "town": pl.String, "color": pl.String, "illness": pl.String}
    people = pl.DataFrame(table, schema=schema, orient="row")
    trees = {"age": flat_hierarchy("age", pl.Series([1, 2, 3, 5, 9])), "town": TREE}
    trees["color"] = flat_hierarchy("color", people["color"])
    task = encode_rows(
        people, trees, asked, sensitive=["illness"], numeric=["age"], suppression=suppression, weights={"age": 1.3}
    ).task
    task = replace(task, requirements=against_original(task.requirements, task.counts))
    wanted = Plain(task).labels()
    try:
        found = TopDownSpecialization("tight").recode_locally(task, seed=0)
    except CannotAnonymize:
        assert wanted is None
        return
    labels = [
        None if gone else tuple(cells.labels[cells.codes[one]] for cells in found.cells)
        for one, gone in enumerate(found.is_suppressed)
    ]
    assert labels == wanted


Node = tuple[int, ...]


@dataclass
class Plain:
    """Tries every step each time, and counts all classes of labels anew. A label is the set of its leaves."""

    task: LocalTask

    def labels(self) -> list[tuple[Any, ...] | None] | None:
        """Return the labels of each class, None where it is left out; None if nothing holds."""
        cuts: list[list[Node]] = [[self.top(index)] for index in range(3)]
        now = self.judged(cuts)
        while True:
            best = None
            steps = [
                (self.gain(index, node), index, node)
                for index, cut in enumerate(cuts)
                for node in cut
                if self.below(index, node)
            ]
            for gain, index, node in sorted(steps, key=lambda step: -step[0]):
                finer = [list(cut) for cut in cuts]
                finer[index].remove(node)
                finer[index] += self.below(index, node)
                after = self.judged(finer)
                if gain <= 0 or not after[0]:
                    continue
                score = (now[1] - after[1]) / (1 + max(0, now[2] - after[2]))
                if score > 1e-12 and (best is None or score > best[0] + 1e-12):
                    best = score, finer, after
            if best is None:
                break
            _, cuts, now = best
        if not now[0]:
            return None
        all_nodes = self.nodes(cuts)
        # Ranges end with ages that are released, not with those of rows that are left out.
        ages = {int(self.task.attributes[0].leaf_of[one]) for one, nodes in enumerate(all_nodes) if nodes in now[3]}
        return [
            tuple(self.text(index, node, ages) for index, node in enumerate(nodes)) if nodes in now[3] else None
            for nodes in all_nodes
        ]

    def nodes(self, cuts: list[list[Node]]) -> list[tuple[Node, ...]]:
        leaves = [one.leaf_of for one in self.task.attributes]
        return [
            tuple(next(node for node in cut if leaf[one] in node) for cut, leaf in zip(cuts, leaves, strict=True))
            for one in range(self.task.n_classes)
        ]

    def judged(self, cuts: list[list[Node]]) -> tuple[bool, float, int, set[Any]]:
        """Whether a cut may be released; give its loss, its smallest class, and the classes that hold."""
        nodes = self.nodes(cuts)
        groups = sorted(set(nodes))
        group_of = np.array([groups.index(one) for one in nodes])
        holds = self.task.holds(group_of, len(groups))
        n_rows = [int(self.task.sizes[group_of == number].sum()) for number in range(len(groups))]
        kept = {group for group, hold in zip(groups, holds, strict=True) if hold}
        loss = 0.0
        for nodes_of, size in zip(nodes, self.task.sizes, strict=True):
            costs = [self.cost(index, node) for index, node in enumerate(nodes_of)]
            loss += size * (float(np.dot(self.task.column_weights, costs)) if nodes_of in kept else 1.0)
        n_out = sum(n for n, hold in zip(n_rows, holds, strict=True) if not hold)
        is_allowed = n_out <= self.task.n_may_suppress
        if is_allowed and n_out:
            number = {group: index for index, group in enumerate(sorted(kept))}
            without = np.array([number.get(one, -1) for one in nodes])
            is_allowed = bool(self.task.holds(without, len(number)).all())
        smallest = min((n for n, hold in zip(n_rows, holds, strict=True) if hold), default=self.task.n_rows)
        return is_allowed, loss / self.task.n_rows, smallest, kept

    def top(self, index: int) -> Node:
        attribute = self.task.attributes[index]
        occurring = {int(leaf) for leaf in attribute.leaf_of}
        if occurring == {attribute.missing}:
            return (attribute.missing,)
        values = sorted(occurring - {attribute.missing}) if index == 0 else range(attribute.n_leaves)
        return (*values, *([attribute.missing] if attribute.missing in occurring else []))

    def below(self, index: int, node: Node) -> list[Node]:
        attribute = self.task.attributes[index]
        values = tuple(leaf for leaf in node if leaf != attribute.missing)
        missing = [(attribute.missing,)] if len(values) < len(node) else []
        if not values or (len(values) == 1 and not missing):
            return []
        if index == 0:
            return [values, *missing] if missing else self.halves(values)
        for level in reversed(attribute.hierarchy.levels):
            parts: dict[int, Node] = {}
            for leaf in values:
                parts[int(level.codes[leaf])] = (*parts.get(int(level.codes[leaf]), ()), leaf)
            if len(parts) > 1:
                return [*(parts[code] for code in sorted(parts)), *missing]
        return [values, *missing]

    def halves(self, values: Node) -> list[Node]:
        leaf_of, sizes = self.task.attributes[0].leaf_of, self.task.sizes
        cuts = [(values[:index], values[index:]) for index in range(1, len(values))]
        balance = [
            (min(int(sizes[np.isin(leaf_of, side)].sum()) for side in two), min(len(side) for side in two))
            for two in cuts
        ]
        return list(cuts[balance.index(max(balance))])

    def cost(self, index: int, node: Node) -> float:
        attribute = self.task.attributes[index]
        values = [leaf for leaf in node if leaf != attribute.missing]
        if 0 < len(values) < len(node):
            return 1.0
        if len(values) < 2:
            return 0.0
        if index == 0:
            return float(attribute.numbers[values[-1]] - attribute.numbers[values[0]]) / 8
        return len(values) / attribute.n_leaves

    def gain(self, index: int, node: Node) -> float:
        attribute, weight = self.task.attributes[index], self.task.column_weights[index]
        return sum(
            int(self.task.sizes[np.isin(attribute.leaf_of, part)].sum())
            * (self.cost(index, node) - self.cost(index, part))
            * float(weight)
            for part in self.below(index, node)
        )

    def text(self, index: int, node: Node, ages: set[int]) -> str | None:
        attribute = self.task.attributes[index]
        if node == (attribute.missing,):
            return None
        values = [leaf for leaf in node if leaf != attribute.missing]
        leaves = attribute.hierarchy.leaves
        if len(values) == 1 and len(node) == 1:
            return leaves[values[0]]
        if len(values) < len(node) or index == 2:
            return "*"
        if index == 0:
            told = [leaf for leaf in values if leaf in ages]
            return leaves[told[0]] if len(told) == 1 else f"{leaves[told[0]]}-{leaves[told[-1]]}"
        level = next(one for one in TREE.levels if len({int(one.codes[leaf]) for leaf in values}) == 1)
        return str(level.labels[level.codes[values[0]]])


def test_range_does_not_end_with_the_value_of_a_row_that_is_left_out() -> None:
    # The only man is left out, and that somebody is 90 with him; else the women of 30 or more would be told as 30-90.
    people = pl.DataFrame({"age": [20, 22, 30, 34, 90], "sex": ["f", "f", "f", "f", "m"]})
    found = made(people, k_anonymity(2), suppression=0.2, numeric=["age"])
    assert rows(found) == [("20-22", "f"), ("20-22", "f"), ("30-34", "f"), ("30-34", "f")]
