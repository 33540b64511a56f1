"""Every loss and every search equals looking at all nodes by plain definitions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.definitions import best_node, k_anonymity, l_diversity, losses
from tests.definitions.cases import Case, Row, random_case

from tokumei.core.errors import CannotAnonymize
from tokumei.engines.count import count_classes
from tokumei.measures.losses import LOSSES
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.measures.safety.diversity import LDiversity
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.tables import decide, problem_of

PROVING = ["optimal", "exhaustive", "ola", "incognito", "best-effort"]


@pytest.mark.parametrize("loss", list(best_node.LOSSES))
def test_loss_of_every_node_is_that_of_the_definition(times: int, loss: str) -> None:
    for seed in range(25 * times):
        case = random_case(seed)
        if not case.rows:
            continue
        counts = count_classes(case.frame, case.quasi_identifiers)
        goal = Goal([KAnonymity(2)], LOSSES.make(loss), suppression=1.0)
        problem = problem_of(counts, case.hierarchies, goal)
        for levels in best_node.nodes(case):
            gone = best_node.suppressed(case, levels, lambda one: k_anonymity.holds(one, 2))
            found = problem.judge(tuple(levels.values()))
            assert found.n_suppressed == len(gone)
            if len(gone) < len(case.rows):
                assert found.loss == pytest.approx(best_node.LOSSES[loss](case, levels, gone), abs=1e-9)
            else:
                assert not found.holds


def any_prices(case: Case, seed: int) -> dict[str, dict[str, float]]:
    """Prices in no order: labels that fetch less than what is under them, more, the same, or nothing."""
    draw = random.Random(seed)
    chosen = draw.choice([[0.0, 1.0, 2.0, 4.0], [1.0], [0.0, 0.5, 3.0]])
    labels = {name: sorted({label for level in tree for label in level}) for name, tree in case.trees.items()}
    # A value of which nothing is fetched at all has no price that labels could be compared with.
    return {
        name: {label: draw.choice(chosen) or (0.25 if label in case.trees[name][0] else 0.0) for label in own}
        for name, own in labels.items()
    }


def test_price_of_every_node_is_that_of_the_definition(times: int, tmp_path: Path) -> None:
    for seed in range(25 * times):
        case = random_case(seed)
        if not case.rows:
            continue
        prices = any_prices(case, seed)
        file = tmp_path / "prices.csv"
        lines = [f"{name},{label},{price}" for name, each in prices.items() for label, price in each.items()]
        file.write_text("attribute,label,price\n" + "\n".join(lines) + "\n")
        counts = count_classes(case.frame, case.quasi_identifiers)
        loss, allowed = LOSSES.make("price", file=str(file)), {}
        problem = problem_of(counts, case.hierarchies, Goal([KAnonymity(2)], loss, suppression=1.0))
        for levels in best_node.nodes(case):
            gone = best_node.suppressed(case, levels, lambda one: k_anonymity.holds(one, 2))
            if case.rows and len(gone) == len(case.rows):
                continue
            plain = losses.price(case, levels, gone, prices)
            assert problem.judge(tuple(levels.values())).loss == pytest.approx(plain, abs=1e-9), (seed, levels)
            if len(gone) <= 0.4 * len(case.rows) + 1e-9:
                allowed[tuple(levels.values())] = plain
        for method in PROVING if allowed else ():
            goal = Goal([KAnonymity(2)], loss, TABLE_ANONYMIZERS.make(method), 0.4)
            found = decide(counts, case.hierarchies, goal)
            assert found.is_proven or method in ("ola", "incognito")
            if found.is_proven:
                lost = allowed[tuple(found.levels.values())]
                assert lost == pytest.approx(min(allowed.values()), abs=1e-9), (seed, method)


@pytest.mark.parametrize("method", PROVING)
@pytest.mark.parametrize("loss", list(best_node.LOSSES))
def test_search_that_says_proven_found_the_least_loss(times: int, method: str, loss: str) -> None:
    for seed in range(8 * times):
        case = random_case(seed * 7 + len(method) + len(loss))
        for k, share in ((2, 0.0), (2, 0.3), (3, 0.5), (2, 1.0)):
            plain = best_node.least_loss(case, lambda one, k=k: k_anonymity.holds(one, k), share, loss)  # type: ignore[misc]
            check(case, method, loss, [KAnonymity(k)], share, plain)


@pytest.mark.parametrize("method", ["optimal", "best-effort", "exhaustive"])
@pytest.mark.parametrize("loss", ["ncp", "discernibility"])
def test_search_for_diverse_classes_finds_the_least_loss(times: int, loss: str, method: str) -> None:
    for seed in range(20 * times):
        case = random_case(seed)
        for share in (0.0, 0.4, 1.0):

            def holds(one: list[Row]) -> bool:
                found = l_diversity.known([row["illness"] for row in one], is_missing_a_value=True)
                return len(one) >= 2 and l_diversity.entropy(found) >= 1.5 - 1e-9

            asked: list[Requirement] = [
                KAnonymity(2),
                LDiversity("illness", 1.5, "entropy", is_missing_a_value=True),
            ]
            check(case, method, loss, asked, share, best_node.least_loss(case, holds, share, loss))


def check(case: Case, method: str, loss: str, asked: list[Requirement], share: float, plain: float | None) -> None:
    """Compare what a search finds with the least loss there is."""
    counts = count_classes(case.frame, case.quasi_identifiers, sensitive=["illness"])
    goal = Goal(asked, LOSSES.make(loss), TABLE_ANONYMIZERS.make(method), share)
    if plain is None:
        with pytest.raises(CannotAnonymize):
            decide(counts, case.hierarchies, goal)
        return
    found = decide(counts, case.hierarchies, goal)
    judged = problem_of(counts, case.hierarchies, goal).judge(tuple(found.levels.values()))
    assert judged.holds
    assert judged.loss >= plain - 1e-9
    if found.is_proven:
        assert judged.loss == pytest.approx(plain, abs=1e-9)
