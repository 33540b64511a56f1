"""Every measure of classes equals its plain definition."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest
from tests.definitions import (
    alpha_k,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    populations,
    t_closeness,
)
from tests.definitions.cases import SENSITIVE, Case, Row, Tree, Value, frame_of, random_case
from tests.definitions.generalizing import Levels, classes, generalized

from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.class_sizes import KAnonymity, MeanClassSize, Uniques
from tokumei.measures.safety.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from tokumei.measures.safety.diversity import AlphaK, LDiversity
from tokumei.measures.safety.population import DeltaPresence, KMap
from tokumei.measures.safety.risks import BreachRisk, JournalistRisk, MarketerRisk, ProsecutorRisk

ILLNESSES: Tree = [["flu", "cold", "ulcer"], ["breath", "breath", "stomach"], ["*"] * 3]


def drawn(seed: int) -> tuple[Case, list[Row], list[list[Row]], ClassCounts]:
    """A case at a random node, some rows left out: its rows, its classes, and the library's counts of it."""
    case, draw = random_case(seed), random.Random(seed)
    levels: Levels = {name: draw.randrange(len(tree)) for name, tree in case.trees.items()}
    rows = [row for row in generalized(case, levels) if draw.random() > 0.1]
    frame = frame_of(rows, [*case.trees, *SENSITIVE])
    counts = count_classes(frame, case.quasi_identifiers, sensitive=SENSITIVE)
    return case, rows, classes(rows, case.quasi_identifiers), counts


def measured(requirement: Requirement, counts: ClassCounts) -> float:
    return requirement.measure(counts).value


def test_counted_at_a_node_the_classes_are_those_of_the_generalized_rows(times: int) -> None:
    for seed in range(60 * times):
        case, draw = random_case(seed), random.Random(seed)
        levels = {name: draw.randrange(len(tree)) for name, tree in case.trees.items()}
        recodings = [tree.recoding(levels[name]) for name, tree in case.hierarchies.items()]
        found = count_classes(case.frame, case.quasi_identifiers, recodings=recodings)
        assert sorted(found.sizes) == sorted(map(len, classes(generalized(case, levels), case.quasi_identifiers)))


def test_measures_of_sizes(times: int) -> None:
    for seed in range(60 * times):
        case, rows, groups, counts = drawn(seed)
        columns = case.quasi_identifiers
        assert measured(KAnonymity(1), counts) == k_anonymity.k(groups)
        assert measured(Uniques(), counts) * max(1, len(rows)) == pytest.approx(k_anonymity.uniques(groups))
        assert measured(MeanClassSize(1), counts) == pytest.approx(k_anonymity.mean_class_size(groups))
        assert measured(ProsecutorRisk(1), counts) == pytest.approx(populations.prosecutor(rows, columns))
        assert measured(BreachRisk(), counts) == pytest.approx(populations.breach(rows, columns, chance=0.27))
        assert measured(MarketerRisk(1), counts) == pytest.approx(populations.marketer(rows, rows, columns))


def test_measures_against_a_population(times: int) -> None:
    for seed in range(60 * times):
        case, rows, _, counts = drawn(seed)
        columns = case.quasi_identifiers
        everybody = rows + drawn_more(case, rows, seed)
        people = count_classes(frame_of(everybody, columns), columns)
        assert measured(KMap(people, 1), counts) == populations.k_map(rows, everybody, columns)
        shares = populations.presence(rows, everybody, columns)
        score = DeltaPresence(people, 1).measure(counts)
        assert score.value == pytest.approx(float(max(shares, default=0)))
        assert score.inputs["least"] == pytest.approx(float(min(shares, default=0)) if rows else 0)
        assert measured(JournalistRisk(people, 1), counts) == pytest.approx(
            populations.journalist(rows, everybody, columns)
        )
        assert measured(MarketerRisk(1, people), counts) == pytest.approx(
            populations.marketer(rows, everybody, columns)
        )
        for least, most in ((0.0, 0.5), (0.3, 1.0)):
            holds = bool(DeltaPresence(people, most, least).holds_in(counts).all())
            assert holds == (not rows or all(least - 1e-9 <= one <= most + 1e-9 for one in shares))


def drawn_more(case: Case, rows: list[Row], seed: int) -> list[Row]:
    """More people like those there are, and some like nobody."""
    draw = random.Random(seed + 1)
    more = [draw.choice(rows) for _ in range(draw.randrange(6))] if rows else []
    return more + ([dict.fromkeys(rows[0], "elsewhere")] if rows and draw.random() < 0.3 else [])


@pytest.mark.parametrize("is_missing_a_value", [True, False])
def test_measures_of_sensitive_values(times: int, is_missing_a_value: bool) -> None:
    tree = Hierarchy.of_levels("illness", ILLNESSES)
    for seed in range(50 * times):
        _, rows, groups, counts = drawn(seed)
        for column in SENSITIVE:

            def values(of: list[Row], column: str = column) -> list[Value]:
                found = [row[column] for row in of]
                return l_diversity.known(found, is_missing_a_value=is_missing_a_value)

            everybody, own = values(rows), [values(one) for one in groups]
            options: dict[str, Any] = {"is_missing_a_value": is_missing_a_value}

            def least(found: list[float]) -> float:
                return min(found, default=0)

            for kind, plain in (
                ("distinct", l_diversity.distinct),
                ("entropy", l_diversity.entropy),
                ("recursive", lambda one: l_diversity.recursive(one, 2)),
            ):
                part = LDiversity(column, 1, kind, 2.0, **options)  # type: ignore[arg-type]
                assert measured(part, counts) == pytest.approx(least([plain(one) for one in own]))
            assert measured(AlphaK(column, 1, 1, **options), counts) == pytest.approx(
                max([alpha_k.largest_share(one) for one in own], default=0)
            )
            for name, gain in (("basic", beta_likeness.basic), ("enhanced", beta_likeness.enhanced)):
                part_ = BetaLikeness(column, 1, name, **options)  # type: ignore[arg-type]
                assert measured(part_, counts) == pytest.approx(
                    max([gain(one, everybody) if one else 0 for one in own], default=0)
                )
            assert measured(DeltaDisclosure(column, 1, **options), counts) == pytest.approx(
                max([delta_disclosure.largest_difference(one, everybody) for one in own], default=0)
            )
            assert measured(TCloseness(column, 1, **options), counts) == pytest.approx(
                max([t_closeness.distance(one, everybody, t_closeness.equal) for one in own], default=0), abs=1e-7
            )
        incomes = [[row["income"] for row in one] for one in groups]
        incomes = [l_diversity.known(one, is_missing_a_value=is_missing_a_value) for one in incomes]
        everybody = [value for one in incomes for value in one]
        far = t_closeness.ordered(everybody)
        assert measured(TCloseness("income", 1, "ordered", **options), counts) == pytest.approx(
            max([t_closeness.distance(one, everybody, far) for one in incomes], default=0), abs=1e-7
        )
        ills = [[row["illness"] for row in one] for one in groups]
        ills = [l_diversity.known(one, is_missing_a_value=is_missing_a_value) for one in ills]
        everybody = [value for one in ills for value in one]
        far = t_closeness.hierarchical(ILLNESSES)
        by_tree = TCloseness("illness", 1, "hierarchical", tree, **options)
        assert measured(by_tree, counts) == pytest.approx(
            max([t_closeness.distance(one, everybody, far) for one in ills], default=0), abs=1e-7
        )


def test_numbers_are_in_order_whatever_their_type() -> None:
    for dtype in (pl.String, pl.Int64, pl.Float64):
        frame = pl.DataFrame({"q": list("aabb"), "n": pl.Series(["2", "10", "9", "9"]).cast(dtype)})
        counts = count_classes(frame, ["q"], sensitive=["n"])
        # 2, 9, 10 are two steps: a has ½ in 2 and ½ in 10, everybody ¼, ½ and ¼.
        assert TCloseness("n", 1, "ordered").measure(counts).value == pytest.approx(1 / 4)
