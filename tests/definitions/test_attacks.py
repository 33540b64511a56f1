"""Attacks on tables equal what a patient attacker finds by comparing everybody with every record."""

from __future__ import annotations

import random

import polars as pl
import pytest
from tests.definitions import fitting
from tests.definitions.cases import SENSITIVE, Case, Row, frame_of, random_case
from tests.definitions.generalizing import generalized, label, says_nothing

from tokumei.attacks.disclosure.intersection import Intersection
from tokumei.attacks.disclosure.known_people import BackgroundKnowledge, Homogeneity, RecordLinkage
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.data.table import Table


def meanings(case: Case) -> fitting.Meanings:
    """What each label stands for, at whichever level it is."""
    found: fitting.Meanings = {}
    for name, tree in case.trees.items():
        of_label = found.setdefault(name, {None: {None}})
        for level in range(len(tree)):
            for leaf in tree[0]:
                of_label.setdefault(label(tree, level, leaf), set()).add(leaf)
            if says_nothing(tree, level):
                of_label[tree[level][0]].add(None)
    return found


def table(case: Case, rows: list[Row]) -> Table:
    columns = case.quasi_identifiers
    return Table.with_quasi_identifiers(frame_of(rows, [*columns, *SENSITIVE]), columns, sensitive=SENSITIVE)


def drawn(seed: int) -> tuple[Case, list[Row], list[Row]]:
    case, draw = random_case(seed), random.Random(seed)
    one, other = (
        generalized(case, {name: draw.randrange(len(tree)) for name, tree in case.trees.items()}) for _ in range(2)
    )
    return case, one, other


def threat_model(case: Case, last: list[Row], earlier: list[Row]) -> ThreatModel:
    rows = pl.Series(range(len(last)), dtype=pl.Int64)
    return ThreatModel(
        table(case, case.rows),
        Published(table(case, last), rows),
        earlier=(Published(table(case, earlier), rows),),
        hierarchies=case.hierarchies,
    )


def test_attacks_find_what_plain_comparison_finds(times: int) -> None:
    for seed in range(30 * times):
        case, last, earlier = drawn(seed)
        if not case.rows:
            continue
        model, means = threat_model(case, last, earlier), meanings(case)
        columns, people = case.quasi_identifiers, case.rows
        linked = RecordLinkage().measure(model, seed=1)
        assert linked["certain"].value == pytest.approx(fitting.record_linkage_certain(people, last, columns, means))
        for sensitive in SENSITIVE:
            told = Homogeneity(sensitive).measure(model, seed=1)
            assert told["certain"].value == pytest.approx(
                fitting.homogeneity_certain(people, last, columns, means, sensitive)
            )
            assert told["success"].inputs["expected"] == pytest.approx(
                fitting.homogeneity_expected(people, last, columns, means, sensitive)
            )
            for n in (0, 1, 2):
                known = BackgroundKnowledge(sensitive, n).measure(model, seed=seed)["certain"]
                assert known.inputs["at_worst"] == pytest.approx(
                    fitting.background_at_worst(people, last, columns, means, sensitive, n)
                )
                assert known.value <= known.inputs["at_worst"] + 1e-9
        both = Intersection().measure(model, seed=1)["success"]
        left = [fitting.intersection_candidates(one, last, earlier, columns, means, SENSITIVE) for one in people]
        assert both.inputs["k"] == min(left)
        assert both.inputs["expected"] == pytest.approx(sum(1 / n for n in left) / len(left))
