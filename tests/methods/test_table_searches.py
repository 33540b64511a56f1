"""Every search against looking at every node, on small random tables with every kind of requirement and loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases, costly_cases

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.measures.losses import LOSSES
from tokumei.measures.requirement import SAFETY, Requirement, value_shares
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableSearch, searches
from tokumei.methods.search.climbing import BestEffort
from tokumei.methods.search.optimal import Exhaustive, Optimal
from tokumei.methods.search.problem import Problem

LOSS_NAMES = [name for name in LOSSES if name != "price"]
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [list("123456"), list("AABBCC"), list("XXXXYY"), ["*"] * 6])
# The last two levels before the top cross.
TOWN = Hierarchy.of_levels("town", [list("pqrstu"), list("aabbcd"), list("xxxyyy"), ["*"] * 6])
ROW = st.tuples(
    st.sampled_from("fm") | st.none(), st.sampled_from("123456"), st.sampled_from("pqrstu"), st.sampled_from("ij")
)
COLUMNS = ["sex", "age", "town"]


def problem(
    rows: list[Any], requirements: list[Requirement], loss: str = "prec", suppression: float = 0.0, **options: Any
) -> Problem:
    frame = pl.DataFrame(rows, schema=dict.fromkeys([*COLUMNS, "illness"], pl.String), orient="row")
    counts = count_classes(frame, COLUMNS, sensitive=["illness"])
    lattice = Lattice.of([SEX, AGE, TOWN])
    return Problem(lattice, counts, requirements, LOSSES.make(loss), suppression, **options)


def requirement(name: str, rows: list[Any]) -> list[Requirement]:
    k = SAFETY.make("k-anonymity", k=3)
    shares = value_shares(problem(rows, [k]).counts, "illness")
    made: dict[str, list[Requirement]] = {
        "k": [k],
        "distinct": [SAFETY.make("l-diversity", sensitive="illness", l=2)],
        "entropy": [k, SAFETY.make("l-diversity", sensitive="illness", l=1.5, kind="entropy")],
        "closeness": [SAFETY.make("t-closeness", sensitive="illness", t=0.3, reference=shares)],
    }
    return made[name]


@pytest.mark.slow
@settings(max_examples=cases(150))
@given(
    st.lists(ROW, min_size=1, max_size=40),
    st.sampled_from(LOSS_NAMES),
    st.sampled_from(["k", "distinct", "entropy", "closeness"]),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([(), ("town",), ("age", "sex")]),
)
def test_optimal_equals_exhaustive(
    rows: list[Any], loss: str, asked: str, suppression: float, preference: tuple[str, ...]
) -> None:
    requirements = requirement(asked, rows)
    found: list[Any] = []
    for method in (Exhaustive(), Optimal()):
        try:
            judged = method.search(problem(rows, requirements, loss, suppression, preference=preference)).judged
        except CannotAnonymize:
            found.append(None)
        else:
            found.append((judged.node, judged.n_suppressed, pytest.approx(judged.loss)))
    assert found[0] == found[1]


def search_by(name: str) -> TableSearch:
    made = TABLE_ANONYMIZERS.make(name)
    assert isinstance(made, TableSearch)
    return made


@pytest.mark.slow
@settings(max_examples=costly_cases(60))
@given(st.lists(ROW, min_size=3, max_size=40), st.sampled_from(["prec", "ncp", "entropy"]))
def test_every_method_that_claims_a_proof_has_the_least_loss(rows: list[Any], loss: str) -> None:
    requirements = requirement("k", rows)
    least = Exhaustive().search(problem(rows, requirements, loss)).judged.loss
    for name in searches():
        found = search_by(name).search(problem(rows, requirements, loss))
        assert found.judged.holds, name
        assert found.judged.loss >= least - 1e-12, name
        if found.is_proven:
            assert found.judged.loss == pytest.approx(least), name


@pytest.mark.slow
@settings(max_examples=costly_cases(40))
@given(st.lists(ROW, min_size=3, max_size=40), st.sampled_from(LOSS_NAMES), st.sampled_from([0.1, 0.5]))
def test_every_method_with_suppression_finds_a_node_that_holds(rows: list[Any], loss: str, suppression: float) -> None:
    least = Exhaustive().search(problem(rows, requirement("k", rows), loss, suppression)).judged.loss
    for name in searches():
        found = search_by(name).search(problem(rows, requirement("k", rows), loss, suppression))
        assert found.judged.holds, name
        if found.is_proven:
            assert found.judged.loss == pytest.approx(least), name


@pytest.mark.parametrize("name", searches())
def test_method_says_when_nothing_holds(name: str) -> None:
    rows = [("f", "1", "p", "i"), ("m", "2", "q", "j")]
    with pytest.raises(CannotAnonymize, match="2 of 2 records"):
        search_by(name).search(problem(rows, [SAFETY.make("k-anonymity", k=3)]))


@pytest.mark.parametrize("name", ["ola", "incognito", "pak", "prediction-guided"])
def test_method_that_needs_monotony_refuses_what_is_not(name: str) -> None:
    rows = [("f", "1", "p", "i")] * 5
    asked = [SAFETY.make("l-diversity", sensitive="illness", l=1.5, kind="entropy")]
    with pytest.raises(InputError, match="use 'optimal'"):
        search_by(name).search(problem(rows, asked, suppression=0.5))


def test_weights_decide_which_attribute_is_given_up() -> None:
    rows = [("f", "1", "p", "i"), ("f", "1", "q", "i"), ("m", "1", "p", "i"), ("m", "1", "q", "i")]
    asked = [SAFETY.make("k-anonymity", k=2)]
    keeps_sex = Optimal().search(problem(rows, asked, weights={"sex": 5.0})).judged.node
    keeps_town = Optimal().search(problem(rows, asked, weights={"sex": 0.1, "town": 5.0})).judged.node
    assert keeps_sex[0] == 0
    assert keeps_town == (1, 0, 0)


# Ages go to bands, then to `*`. (f, 42) is alone as long as ages are told at all.
FIVE = pl.DataFrame({"sex": ["f", "f", "m", "m", "f"], "age": ["31", "35", "31", "31", "42"]})
BANDS = Hierarchy.of_levels("age", [["31", "35", "42"], ["30s", "30s", "40s"], ["*"] * 3])


def five_people() -> Problem:
    asked = [SAFETY.make("k-anonymity", k=2)]
    return Problem(Lattice.of([SEX, BANDS]), count_classes(FIVE, ["sex", "age"]), asked, LOSSES.make("prec"), 0.0)


@pytest.mark.parametrize("name", searches())
def test_method_on_five_people_gives_up_their_ages(name: str) -> None:
    found = search_by(name).search(five_people())
    if name == "datafly":
        # Ages had most labels, then both had two, and sex was given up for nothing.
        assert (found.judged.node, found.judged.loss, found.is_proven) == ((1, 2), 1, False)
    else:
        # PAK looks for the most classes, and proves nothing of the loss.
        assert (found.judged.node, found.judged.loss, found.is_proven) == ((0, 2), 0.5, name != "pak")


def test_nodes_of_five_people_leave_alone_whom_the_table_says() -> None:
    five = five_people()
    alone = [five.judge(node).n_suppressed for node in five.lattice]
    assert alone == [3, 1, 0, 2, 1, 0]


def test_best_effort_out_of_time_still_holds_and_claims_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = [tuple(rng.choice(list(s)) for s in ("fm", "123456", "pqrstu", "ij")) for _ in range(100)]
    found = BestEffort(seconds=1e-9).search(problem(rows, [SAFETY.make("k-anonymity", k=2)]))
    assert found.judged.holds
    assert not found.is_proven


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suppression": 1.5}, "a share of rows"),
        ({"weights": {"sexe": 1.0}}, "a quasi-identifier"),
        ({"weights": {"sex": -1.0}}, "a weight of 0 or more"),
        ({"preference": ["x"]}, "a quasi-identifier"),
    ],
)
def test_problem_with_bad_options_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        problem([("f", "1", "p", "i")], [SAFETY.make("k-anonymity", k=1)], **options)


def test_problem_without_a_requirement_is_refused() -> None:
    with pytest.raises(InputError, match="at least one requirement"):
        problem([("f", "1", "p", "i")], [])
