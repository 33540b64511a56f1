from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.compare import compare, error_ratio, n_numbers, predictors_for
from tokumei.predictors.margins import Margins
from tokumei.predictors.power_law import PowerLaw
from tokumei.predictors.predictor import Quadrants

SEX = Hierarchy.of_levels("sex", [["m", "f"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [["31", "35", "48"], ["30s", "30s", "40s"], ["*"] * 3])
LATTICE = Lattice.of([SEX, AGE])
PEOPLE = pl.DataFrame({"sex": list("mmmmffff"), "age": [31, 31, 35, 48, 31, 35, 35, 48]})
COUNTS = count_classes(PEOPLE, ["sex", "age"])


def test_comparison_holds_every_node_but_the_whole_table_by_class_count() -> None:
    compared = compare(LATTICE, COUNTS, {"law": PowerLaw(), "margins": Margins()})
    assert [(each.node, each.class_count, each.k) for each in compared.nodes] == [
        ((0, 2), 2, 4),
        ((1, 1), 2, 2),
        ((1, 0), 3, 2),
        ((0, 1), 4, 1),
        ((0, 0), 6, 1),
    ]
    frame = compared.to_frame()
    assert frame.columns == ["levels", "class_count", "k"] + [
        f"{name} {what}" for name in ("law", "margins") for what in ("k", "low", "high")
    ]
    assert frame["levels"][0] == "sex=0, age=2"
    assert frame["margins k"][:3].to_list() == [4, 2, 2]


def test_mean_error_ratio_and_quadrants_are_those_of_the_rows() -> None:
    compared = compare(LATTICE, COUNTS, {"law": PowerLaw(n_nodes=2)}, nodes=[(0, 2), (1, 0), (1, 2)])
    # Through (1, 8) and (2, 4): k̂ = 8/x + 1 is 5 where 4 is true, and 11/3 where 2 is.
    assert compared.mean_error_ratio("law") == pytest.approx((5 / 4 + 11 / 6) / 2)
    assert compared.quadrants("law", 3) == Quadrants(alpha=1, beta=0, gamma=1, delta=0)
    assert compared.summary()["law"] == {
        "mean_error_ratio": compared.mean_error_ratio("law"),
        "n_classes_counted": 3,
        "n_numbers_published": 7,
    }


def test_mean_error_ratio_of_the_whole_table_alone_is_refused() -> None:
    with pytest.raises(InputError, match="more than one class"):
        compare(LATTICE, COUNTS, {"law": PowerLaw()}, nodes=[(1, 2)]).mean_error_ratio("law")


def test_error_ratio_is_the_same_for_too_large_and_too_small() -> None:
    assert (error_ratio(10, 5), error_ratio(5, 10), error_ratio(3, 3)) == (2, 2, 1)


def test_numbers_of_knowledge_are_counted_at_any_depth() -> None:
    assert n_numbers({"method": "x", "a": [1, [2.5, "b"]], "c": {"d": (3,)}}) == 3


def test_predictors_are_made_for_the_k_they_serve() -> None:
    assert predictors_for(7) == {"margins": Margins(k_p=7), "power-law": PowerLaw()}
