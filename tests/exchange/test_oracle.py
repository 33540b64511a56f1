"""What one who sees every answer and can solve anything learns: no class smaller than k.

The attacker knows the offer and all releases that anybody was given. All tables of people that agree with them are
the whole numbers that solve a set of equations, one for each count; bounds of a class are found exactly by integer
programming. A class is shown to be small if in all those tables it has at least one row and fewer than k.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.exchange.people import CELLS, LATTICE, node, offer_of, people, planted

from tokumei.core.seeds import generator
from tokumei.exchange.answer import Answered, Desk, answer
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Lots, Offer
from tokumei.exchange.offering import release_text
from tokumei.hierarchies.lattice import Node

N_REQUESTS = 1_000

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.bool_]
Told = tuple[Cells, int]
"""Which cells a count is of, and the count."""


def labels_of(at: Node) -> list[tuple[str, ...]]:
    """Return the labels of each cell at a node."""
    levels = zip(LATTICE.hierarchies, at, strict=True)
    maps = [dict(zip(h.leaves, h.labels_at(level), strict=True)) for h, level in levels]
    return [tuple(names[leaf] for names, leaf in zip(maps, cell, strict=True)) for cell in CELLS]


def all_classes() -> Iterator[tuple[Node, tuple[str, ...], npt.NDArray[np.bool_]]]:
    """Return each class of each node by its labels and its cells."""
    for at in LATTICE:
        labels = labels_of(at)
        for label in sorted(set(labels)):
            yield at, label, np.array([each == label for each in labels])


ALL_CLASSES = list(all_classes())


def told_by_release(text: str, at: Node) -> list[Told]:
    """Return the counts of a release, and 0 for the classes that it lacks."""
    frame = pl.read_csv(io.StringIO(text), infer_schema=False)
    sizes = {row[:-1]: int(row[-1]) for row in frame.rows()}
    labels = labels_of(at)
    return [(np.array([each == label for each in labels]), sizes.get(label, 0)) for label in set(labels)]


def told_by_offer(offer: Offer) -> list[Told]:
    """Return the counts that margins publish; a leaf of no group has no row."""
    told: list[Told] = []
    group_of = {}
    for index, (name, groups) in enumerate(offer.knowledge.get("attributes", {}).items()):
        at = [next((g for g, (leaves, _) in enumerate(groups) if cell[index] in leaves), -1) for cell in CELLS]
        group_of[name] = np.array(at)
        told += [(group_of[name] == g, n_rows) for g, (_, n_rows) in enumerate(groups)]
        told.append((group_of[name] == -1, 0))
    for table in offer.knowledge.get("tables", []):
        rows, columns = (
            np.array(parts)[group_of[name]] for name, parts in zip(table["attributes"], table["parts"], strict=True)
        )
        for (row, column), n_rows in np.ndenumerate(np.array(table["rows"])):
            inside = (rows == row) & (columns == column)
            # A cell without a group has no row, so that it may be left out.
            told.append((inside & np.all([at >= 0 for at in group_of.values()], axis=0), int(n_rows)))
    return told


def bound(
    told: Sequence[Told], inside: Cells, sign: int, *, no_small: Sequence[Cells] = (), k: int = 1, n_rows: int = 0
) -> int:
    """Return the least (sign 1) or largest (sign −1) size that a class can have.

    The classes in `no_small` are known to have no row or at least k: each has a switch beside the cells.
    """
    n, m = len(CELLS), len(no_small)
    counts = np.array([count for _, count in told], float)
    known = np.array([cells for cells, _ in told], float)
    classes = np.array(no_small, float).reshape(m, n)
    constraints = [
        LinearConstraint(np.hstack([known, np.zeros((len(told), m))]), counts, counts),
        LinearConstraint(np.hstack([classes, -k * np.eye(m)]), 0, np.inf),
        LinearConstraint(np.hstack([classes, -n_rows * np.eye(m)]), -np.inf, 0),
    ]
    aim = np.concatenate([sign * inside.astype(float), np.zeros(m)])
    most = np.concatenate([np.full(n, np.inf), np.ones(m)])
    used = constraints if m else constraints[:1]
    found = milp(aim, constraints=used, bounds=Bounds(0, most), integrality=np.ones(n + m, np.int64))
    assert found.success, found.message
    return round(sign * found.fun)


def shown_small(
    told: Sequence[Told], k: int, truth: Floats, *, hold: Collection[Node] = ()
) -> list[tuple[Node, tuple[str, ...]]]:
    """Return the classes of all nodes that are shown to have fewer than k rows, but some.

    The attacker also knows of some nodes that they hold k.
    """
    distinct = list({(cells.tobytes(), count): (cells, count) for cells, count in told}.values())
    no_small = list({inside.tobytes(): inside for at, _, inside in ALL_CLASSES if at in hold}.values())
    more: dict[str, Any] = {"no_small": no_small, "k": k, "n_rows": int(truth.sum())}
    is_shown: dict[bytes, bool] = {}
    out = []
    for at, label, inside in ALL_CLASSES:
        name = inside.tobytes()
        # Only a class that is small in truth can be shown to be.
        if name not in is_shown and 0 < truth[inside].sum() < k:
            is_shown[name] = bound(distinct, inside, -1, **more) < k and bound(distinct, inside, 1, **more) > 0
        if is_shown.get(name):
            out.append((at, label))
    return out


def cell_counts(frame: pl.DataFrame) -> Floats:
    counts = np.zeros(len(CELLS))
    for row in frame.rows():
        counts[CELLS.index(row)] += 1
    return counts


class Attackers:
    """Colluding users who ask adaptively: for what is predicted to be nearest the edge, or next to what they hold."""

    def __init__(self, offer: Offer, table: CountedTable, seed: int) -> None:
        self.offer, self.table = offer, table
        self.rng, self.secret = generator(seed, "attackers"), str(seed).encode()
        self.desk = Desk()
        self.answers: list[tuple[Node, int, Answered]] = []
        self.nodes = sorted(LATTICE, key=lambda at: abs(np.log(offer.predict(at).low / offer.k_p)))

    def ask(self, n_requests: int) -> None:
        for number in range(n_requests):
            k = int(self.rng.choice([one.k for one in self.offer.criteria]))
            at = self.next_node(number)
            found = answer(
                *(self.offer, at, k), desk=self.desk, table=self.table, secret=self.secret, user=f"user {number % 7}"
            )
            self.desk = found.desk
            self.answers.append((at, k, found))

    def next_node(self, number: int) -> Node:
        if number < len(self.nodes):
            return self.nodes[number]
        held = [at for at, _, found in self.answers if found.outcome == "served"]
        if held and number % 2:
            near = LATTICE.finer_neighbors(held[int(self.rng.integers(len(held)))])
            return near[int(self.rng.integers(len(near)))] if near else LATTICE.bottom
        return self.nodes[int(self.rng.integers(len(self.nodes)))]

    def told(self, k: int) -> list[Told]:
        """Return all counts that those know who may have releases of this k."""
        first = release_text(self.table.classes(self.offer.first_node), LATTICE)
        told = [*told_by_offer(self.offer), *told_by_release(first, self.offer.first_node)]
        served = {at: found.release for at, by, found in self.answers if found.release is not None and by >= k}
        for at, release in served.items():
            told += told_by_release(release, at)
        return told


KINDS = ["vetted", "unvetted", "two criteria", "planted"]


@pytest.mark.thorough
@settings(max_examples=4)
@given(st.integers(60, 200), st.integers(2, 5), st.integers(0, 10**6), st.sampled_from(KINDS))
def test_a_thousand_adaptive_requests_show_no_class_below_k(n_rows: int, k: int, seed: int, kind: str) -> None:
    frame = planted(seed) if kind == "planted" else people(n_rows, seed)
    criteria = [Criterion("own", k)] + ([Criterion("public", 2 * k)] if kind == "two criteria" else [])
    is_vetted = kind in ("vetted", "two criteria")
    offer, table = offer_of(frame, criteria=criteria, is_vetted=is_vetted, has_discretion=not is_vetted)
    attackers = Attackers(offer, table, seed)
    attackers.ask(N_REQUESTS)
    for one in criteria:
        # That an offer is vetted tells that all that it allows holds, given out or not.
        hold = [at for at in LATTICE if is_vetted and offer.zone(at, one.k).zone == "allowed"]
        assert shown_small(attackers.told(one.k), one.k, cell_counts(frame), hold=hold) == []
    # A vetted offer has nothing to break: all that it promises holds.
    if is_vetted:
        assert all(found.quadrant != "gamma" for _, _, found in attackers.answers)


def law_offer(frame: pl.DataFrame, k: int, **terms: Any) -> tuple[Offer, CountedTable]:
    """Make an offer by a power law, which errs more often than margins do."""
    counted = CountedTable(LATTICE, frame)
    few = [at for at in LATTICE if 1 < LATTICE.class_count(at) <= 4 and counted.k(at) >= k]
    first = max(few, key=LATTICE.class_count)
    levels = LATTICE.levels(first)
    return offer_of(frame, k, predictor="power-law", first_levels=levels, is_vetted=False, has_discretion=True, **terms)


@pytest.mark.thorough
@settings(max_examples=3)
@given(st.integers(60, 200), st.integers(2, 5), st.integers(0, 10**6))
def test_a_power_law_and_its_first_release_show_no_class_below_k(n_rows: int, k: int, seed: int) -> None:
    frame = people(n_rows, seed)
    offer, table = law_offer(frame, k)
    attackers = Attackers(offer, table, seed)
    attackers.ask(N_REQUESTS)
    assert shown_small(attackers.told(k), k, cell_counts(frame)) == []


def test_the_attacker_finds_small_classes_where_releases_cross() -> None:
    # Pairs a, b, c and triples x, y of six ages; 3 and 4 are split by the triples: 3 = x − a.
    frame = pl.DataFrame(
        [(age, "f", "p") for age, n in zip("123456", (4, 4, 1, 7, 4, 4), strict=True) for _ in range(n)],
        schema=["age", "sex", "town"],
        orient="row",
    )
    table = CountedTable(LATTICE, frame)
    told = []
    for level in (1, 2):
        at = node({"age": level})
        assert table.k(at) >= 2
        told += told_by_release(release_text(table.classes(at), LATTICE), at)
    assert (node({"age": 0}), ("3", "*", "*")) in shown_small(told, 2, cell_counts(frame))


@pytest.mark.thorough
def test_a_refusal_of_what_is_allowed_proves_nothing() -> None:
    # Those who take every such refusal for a sign of small classes are often wrong.
    n_wrong = n_right = 0
    for seed in range(12):
        offer, table = law_offer(people(150, seed), 3, lots=Lots(0.5, 0.5))
        attackers = Attackers(offer, table, seed)
        attackers.ask(100)
        reasons = [found.reason for _, _, found in attackers.answers]
        holds = [found.quadrant == "beta" for _, _, found in attackers.answers]
        n_wrong += sum(reason == "lot" and held for reason, held in zip(reasons, holds, strict=True))
        n_right += sum(reason == "count" for reason in reasons)
    assert n_wrong > 0
    assert n_right > 0


@pytest.mark.parametrize("outcome", ["lot", "count"])
def test_finer_nodes_than_one_refused_are_refused_whatever_the_reason(outcome: str) -> None:
    for seed in range(40):
        offer, table = law_offer(people(150, seed), 3, lots=Lots(0.2, 0.3))
        attackers = Attackers(offer, table, seed)
        attackers.ask(60)
        refused: list[Node] = []
        for at, _, found in attackers.answers:
            if any(LATTICE.is_coarser_or_equal(each, offer.joint(at)) for each in refused):
                assert found.outcome == "refused"
            if found.reason == outcome:
                refused += [each.node for each in found.joints]
        if refused:
            return
    pytest.fail(f"no {outcome} in forty tables")


def served(answers: Iterable[tuple[Node, int, Answered]]) -> set[Node]:
    return {at for at, _, found in answers if found.outcome == "served"}


def test_attackers_are_served_something() -> None:
    # A test in which everything is refused would prove nothing.
    n_served = []
    for seed in range(8):
        offer, table = offer_of(people(150, seed), 3)
        attackers = Attackers(offer, table, seed)
        attackers.ask(100)
        n_served.append(len(served(attackers.answers) - {LATTICE.top}))
    assert sum(n_served) >= 16
    assert sum(n > 0 for n in n_served) >= 6
