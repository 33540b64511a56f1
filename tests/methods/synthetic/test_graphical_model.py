"""The model of marginals, held against the plain table of all cells."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokumei.methods.perturbing.perturbation import Floats
from tokumei.methods.synthetic.graphical_model import (
    Clique,
    GraphicalModel,
    JunctionTree,
    Measurement,
    counted,
    drawn_evenly,
    estimated_total,
)

SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=5)


@st.composite
def cliques(draw: st.DrawFn) -> tuple[list[int], list[Clique]]:
    sizes = draw(SIZES)
    columns = st.sets(st.integers(0, len(sizes) - 1), min_size=1, max_size=3)
    return sizes, [tuple(sorted(one)) for one in draw(st.lists(columns, min_size=1, max_size=5))]


@given(cliques())
def test_tree_holds_every_clique_and_each_column_in_one_connected_part(asked: tuple[list[int], list[Clique]]) -> None:
    sizes, wanted = asked
    tree = JunctionTree.of(sizes, wanted)
    assert all(tree.home_of(one) >= 0 for one in wanted)
    assert sorted(place for place, _, _ in tree.edges) == list(range(len(tree.cliques)))
    for column in range(len(sizes)):
        having = {place for place, one in enumerate(tree.cliques) if column in one}
        joined = {place for place, parent, both in tree.edges if parent >= 0 and column in both}
        assert having
        # All cliques with the column but one hang on another one with it.
        assert joined <= having
        assert len(having) - len(joined) == 1


def whole_table(model: GraphicalModel) -> Floats:
    """Return the counts of all cells, as the product of the potentials."""
    sizes = model.tree.sizes
    log = np.zeros(sizes)
    for clique, potential in zip(model.tree.cliques, model.potentials, strict=True):
        log = log + potential.reshape([sizes[one] if one in clique else 1 for one in range(len(sizes))])
    cells = np.exp(log)
    return np.asarray(cells * model.total / cells.sum())


@settings(max_examples=40, deadline=None)
@given(cliques(), st.integers(0, 1000))
def test_marginals_are_those_of_the_plain_table(asked: tuple[list[int], list[Clique]], seed: int) -> None:
    sizes, wanted = asked
    random = np.random.default_rng(seed)
    told = [Measurement(one, random.integers(0, 30, [sizes[at] for at in one]).astype(float), 2.0) for one in wanted]
    model = GraphicalModel.fit(sizes, told, n_steps=5)
    plain = whole_table(model)
    for n in range(1, len(sizes) + 1):
        for clique in combinations(range(len(sizes)), n):
            axes = tuple(one for one in range(len(sizes)) if one not in clique)
            assert model.marginal(clique) == pytest.approx(plain.sum(axis=axes), abs=1e-6)


def test_fit_of_marginals_without_noise_is_exact_and_the_rest_is_as_even_as_it_can_be() -> None:
    sex_illness = np.array([[30.0, 10.0], [5.0, 55.0]])
    illness_city = np.array([[20.0, 15.0], [40.0, 25.0]])
    told = [Measurement((0, 1), sex_illness, 1.0), Measurement((1, 2), illness_city, 1.0)]
    model = GraphicalModel.fit([2, 2, 2], told, n_steps=2_000)
    assert model.total == pytest.approx(100)
    assert model.marginal((0, 1)) == pytest.approx(sex_illness, abs=0.05)
    assert model.marginal((1, 2)) == pytest.approx(illness_city, abs=0.05)
    # Sex and city have nothing to do with each other but by the illness: 30·20/35 + 10·40/65.
    assert model.marginal((0, 2))[0, 0] == pytest.approx(30 * 20 / 35 + 10 * 40 / 65, abs=0.05)


def test_counts_with_less_noise_count_more_and_none_is_below_zero() -> None:
    told = [Measurement((0,), np.array([10.0, -4.0]), 1.0), Measurement((0,), np.array([40.0, 20.0]), 3.0)]
    # 6 with a variance of 2, and 60 with one of 18: (6·9 + 60·1)/10.
    assert estimated_total(told) == pytest.approx(11.4)
    model = GraphicalModel.fit([2], told, n_steps=500)
    assert model.marginal((0,)).min() >= 0
    assert model.marginal((0,))[0] > model.marginal((0,))[1]


def test_model_goes_on_from_an_earlier_one() -> None:
    first = [Measurement((0,), np.array([30.0, 10.0]), 1.0), Measurement((1,), np.array([5.0, 35.0]), 1.0)]
    earlier = GraphicalModel.fit([2, 2], first, n_steps=500)
    both = [*first, Measurement((0, 1), np.array([[5.0, 25.0], [0.0, 10.0]]), 1.0)]
    later = GraphicalModel.fit([2, 2], both, n_steps=0, start=earlier)
    assert later.marginal((0,)) == pytest.approx(earlier.marginal((0,)))


@given(st.integers(1, 40), st.integers(0, 99))
def test_rows_are_drawn_within_one_of_their_share(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    group = random.integers(0, 3, n)
    counts = random.random((3, 4))
    drawn = drawn_evenly(group, counts, random)
    for one in range(3):
        n_here = int((group == one).sum())
        shares = counts[one] / counts[one].sum()
        assert np.abs(np.bincount(drawn[group == one], minlength=4) - n_here * shares).max(initial=0) <= 1


def test_rows_of_a_model_have_its_pairs() -> None:
    table = np.array([[30.0, 10.0], [5.0, 55.0]])
    model = GraphicalModel.fit([2, 2], [Measurement((0, 1), table, 1.0)], n_steps=1_000)
    rows = model.draw(10_000, np.random.default_rng(0))
    assert counted(rows, [2, 2], (0, 1)) == pytest.approx(table * 100, abs=20)
    assert math.isclose(len(rows[0]), 10_000)
