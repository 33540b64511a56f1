from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.seeds import generator
from tokumei.data.made_services import make_census, make_services
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.compare import compare, n_numbers
from tokumei.predictors.margins import Margins, countable_levels, node_of
from tokumei.predictors.predictor import LatticeCounts, Prediction, Quadrants

SEX = Hierarchy.of_levels("sex", [["m", "f"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["10s", "20s", "30s", "40s"], ["-29", "-29", "30+", "30+"], ["*"] * 4])
CITY = Hierarchy.of_levels("city", [["x", "y", "z"], ["*"] * 3])
PAIR = Lattice.of([SEX, AGE])
TRIPLE = Lattice.of([SEX, AGE, CITY])


def table_of(lattice: Lattice, *groups: tuple[str | None, ...], rows: list[int]) -> ClassCounts:
    columns = {name: [group[index] for group in groups] for index, name in enumerate(lattice.attributes)}
    return ClassCounts.of_groups(lattice.attributes, pl.DataFrame(columns | {"n": rows}))


# Men are mostly in their 10s, women in their 20s.
AGES = ("10s", "20s", "30s", "40s")
BY_SEX = table_of(PAIR, *((sex, age) for sex in "mf" for age in AGES), rows=[80, 10, 30, 15, 12, 90, 28, 17])


def test_knowledge_is_the_counts_of_values_and_of_the_pair_that_depends() -> None:
    fitted = Margins(k_p=10).fit(PAIR, BY_SEX)
    assert fitted.knowledge == {
        "method": "margins",
        "k_p": 10,
        "caution": 0.1,
        "spread": 0.0,
        "attributes": {
            "sex": [[["m"], 135], [["f"], 147]],
            "age": [[["10s"], 92], [["20s"], 100], [["30s"], 58], [["40s"], 32]],
        },
        "tables": [
            {
                "attributes": ["sex", "age"],
                "parts": [[0, 1], [0, 1, 2, 3]],
                "rows": [[80, 10, 30, 15], [12, 90, 28, 17]],
            }
        ],
    }
    assert n_numbers(fitted.knowledge) == 3 + 6 + 6 + 8


def test_published_counts_give_k_exactly() -> None:
    fitted = Margins(k_p=10).fit(PAIR, BY_SEX)
    exact = {(1, 2): 282, (0, 2): 135, (1, 0): 32, (1, 1): 90, (0, 1): 45, (0, 0): 10}
    assert {node: fitted.predict(node) for node in exact} == {node: Prediction.exactly(k) for node, k in exact.items()}


def test_table_with_a_small_count_is_published_at_the_next_level() -> None:
    classes = [(sex, age) for sex in "mf" for age in ("10s", "20s", "30s", "40s")]
    counts = table_of(PAIR, *classes, rows=[5, 95, 20, 20, 20, 20, 50, 70])
    fitted = Margins(k_p=10).fit(PAIR, counts)
    assert fitted.knowledge["tables"] == [
        {"attributes": ["sex", "age"], "parts": [[0, 1], [0, 0, 1, 1]], "rows": [[100, 40], [40, 120]]}
    ]
    assert fitted.predict((0, 1)) == Prediction.exactly(40)
    # 100 · 25 / 140 = 17.9 men in their 10s are expected. But five were counted, so that the band was widened.
    assert fitted.predict((0, 0)).low < 10
    assert fitted.spread > 0


def test_independent_attributes_have_the_smallest_of_expected_classes() -> None:
    rows = [4, 196, 100, 100, 6, 294, 150, 150]
    counts = table_of(PAIR, *((sex, age) for sex in "mf" for age in AGES), rows=rows)
    fitted = Margins(k_p=2).fit(PAIR, counts)
    assert fitted.tables == ()
    # 4 and 6 rows are expected in the two small classes. P(k ≤ 3) = 1 − (1 − P₄(1…3))(1 − P₆(1…3)), P₄ and P₆ the
    # chances of Poisson numbers of these means, is the first above one half.
    up_to = [
        1
        - math.prod(1 - sum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(1, m + 1)) for mean in (4, 6))
        for m in (2, 3)
    ]
    assert up_to[0] < 0.5 < up_to[1]
    assert fitted.predict((0, 0)).k == 3


def test_merged_values_are_not_promised() -> None:
    rows = [2, 200, 100, 100, 3, 300, 150, 150]
    counts = table_of(PAIR, *((sex, age) for sex in "mf" for age in AGES), rows=rows)
    fitted = Margins(k_p=10).fit(PAIR, counts)
    assert fitted.knowledge["attributes"]["age"][0] == [["10s", "20s"], 505]
    # Whoever they are, they are 1 to 9: three, half-way in logarithms, is what chance moves.
    assert fitted.predict((1, 0)) == Prediction(3, 1, 9)
    assert fitted.predict((1, 1)) == Prediction.exactly(500)


def test_missing_value_is_a_class_at_every_level_but_the_top() -> None:
    counts = table_of(PAIR, ("m", "10s"), ("f", "10s"), (None, "10s"), rows=[50, 40, 30])
    fitted = Margins(k_p=10).fit(PAIR, counts)
    assert fitted.knowledge["attributes"]["sex"][-1] == [[None], 30]
    assert [fitted.predict((level, 2)).k for level in (0, 1)] == [30, 120]
    user = Margins.from_knowledge(PAIR, json.loads(json.dumps(fitted.knowledge)))
    assert user.predict((0, 2)) == Prediction.exactly(30)


def test_three_attributes_are_never_counted_together() -> None:
    counts = made_table(1)
    count = LatticeCounts.of(TRIPLE, counts).classes
    asked: list[Node] = []

    def recorded(node: Node) -> ClassCounts:
        asked.append(node)
        return count(node)

    fitted = Margins().fit(TRIPLE, recorded)
    assert asked == [(0, 2, 1), (1, 0, 1), (1, 2, 0), (0, 0, 1), (0, 2, 0), (1, 0, 0)]
    assert fitted.n_classes_counted == 2 + 4 + 3 + 8 + 6 + 12
    assert fitted.knowledge == Margins().fit(TRIPLE, counts).knowledge


def test_large_pair_is_counted_at_coarser_levels() -> None:
    assert countable_levels(TRIPLE, (1, 2), 12) == {1: 0, 2: 0}
    assert countable_levels(TRIPLE, (1, 2), 11) == {1: 1, 2: 0}
    assert countable_levels(TRIPLE, (1, 2), 4) == {1: 1, 2: 1}
    fitted = Margins(most_classes=6).fit(TRIPLE, made_table(2))
    assert fitted.n_classes_counted == 2 + 4 + 3 + 4 + 6 + 6


def test_node_of_some_attributes_has_the_others_at_the_top() -> None:
    assert node_of(TRIPLE, {1: 0}) == (1, 0, 1)


def test_counter_of_k_alone_is_not_enough() -> None:
    with pytest.raises(TypeError, match="classes of a node"):
        Margins().fit(PAIR, lambda node: 5)


def test_table_of_fewer_rows_than_k_p_may_publish_nothing() -> None:
    with pytest.raises(CannotAnonymize, match="4 rows are fewer than k_p = 5"):
        Margins(k_p=5).fit(PAIR, table_of(PAIR, ("m", "10s"), rows=[4]))


@pytest.mark.parametrize("options", [{"k_p": 0}, {"caution": 0.7}, {"most_classes": 3}])
def test_option_out_of_range_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Margins(**options)  # type: ignore[arg-type]


def test_knowledge_of_another_lattice_is_refused() -> None:
    knowledge = Margins().fit(PAIR, BY_SEX).knowledge
    with pytest.raises(InputError, match="city"):
        Margins.from_knowledge(TRIPLE, knowledge)


def made_table(seed: int, n_rows: int = 500) -> ClassCounts:
    """Rows whose age depends on the sex, and whose city depends on nothing."""
    draw = generator(seed, "rows")
    sex = draw.integers(0, 2, n_rows)
    age = np.minimum(draw.geometric(0.4 + 0.2 * sex) - 1, 3)
    city = draw.choice(3, n_rows, p=[0.7, 0.25, 0.05])
    names = [
        np.array(hierarchy.leaves)[codes] for hierarchy, codes in zip(TRIPLE.hierarchies, (sex, age, city), strict=True)
    ]
    return count_classes(pl.DataFrame(dict(zip(TRIPLE.attributes, names, strict=True))), TRIPLE.attributes)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 5, 20]), st.integers(20, 400))
def test_user_with_the_knowledge_alone_predicts_the_same_digits(seed: int, k_p: int, n_rows: int) -> None:
    fitted = Margins(k_p=k_p).fit(TRIPLE, made_table(seed, n_rows))
    published = json.loads(json.dumps(fitted.knowledge))
    user = Margins.from_knowledge(TRIPLE, published)
    assert user.knowledge == fitted.knowledge
    assert user.n_classes_counted == 0
    for node in TRIPLE:
        prediction = fitted.predict(node)
        assert user.predict(node) == prediction
        assert 1 <= prediction.low <= prediction.k <= prediction.high <= n_rows


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([2, 10]))
def test_what_is_said_to_be_known_is_true(seed: int, k_p: int) -> None:
    counts = made_table(seed, 200)
    fitted = Margins(k_p=k_p).fit(TRIPLE, counts)
    count = LatticeCounts.of(TRIPLE, counts).classes
    for node in TRIPLE:
        present = [level < top for level, top in zip(node, TRIPLE.top, strict=True)]
        prediction = fitted.predict(node)
        if sum(present) < 2 and prediction.low == prediction.high:
            assert prediction.k == count(node).k


@pytest.mark.slow
def test_predictor_meets_its_targets_on_made_services_and_a_made_census(
    thesis_lattice: Lattice, count_people: Callable[[pl.DataFrame], ClassCounts]
) -> None:
    services = [count_people(people) for _, people in make_services(8, seed=7)]
    for tables in (services, [count_people(make_census(seed=7))]):
        for k_p in (2, 10, 50):
            compared = [compare(thesis_lattice, counts, {"margins": Margins(k_p=k_p)}) for counts in tables]
            assert all(len(each.nodes) == 31 for each in compared)
            assert np.mean([each.mean_error_ratio("margins") for each in compared]) <= 1.5
            answers = sum((each.quadrants("margins", k_p) for each in compared), Quadrants(0, 0, 0, 0))
            assert answers.shares["gamma"] <= 0.02
            assert answers.shares["beta"] <= 0.10
            assert all(n_numbers(each.fitted["margins"].knowledge) <= 300 for each in compared)
