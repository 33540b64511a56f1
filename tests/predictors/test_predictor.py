from __future__ import annotations

import pytest

from tokumei.core.errors import InputError, UnknownPart
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.predictor import PREDICTORS, Prediction, check_caution, from_knowledge

SEX = Lattice.of([Hierarchy.of_levels("sex", [["m", "f"], ["*", "*"]])])


def test_prediction_of_a_known_k_is_a_point() -> None:
    assert Prediction.exactly(7) == Prediction(7, 7, 7)


@pytest.mark.parametrize("numbers", [(3, 4, 5), (3, 2, 2.5), (0.5, 0.5, 1)])
def test_prediction_outside_its_band_or_below_one_is_refused(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="not 1 ≤"):
        Prediction(*numbers)


def test_predictors_are_found_by_their_files() -> None:
    assert PREDICTORS.names() == ["margins", "power-law"]


def test_knowledge_says_which_predictor_it_is_of() -> None:
    numbers = {"alpha": 10.0, "beta": -1.0, "spread": 0.0, "middle": 0.5, "extent": 1.0, "n_sampled": 2, "caution": 0.1}
    law = from_knowledge(SEX, {"method": "power-law"} | numbers)
    assert law.predict((0,)).k == pytest.approx(6)
    assert law.knowledge == {"method": "power-law"} | numbers


def test_knowledge_of_no_predictor_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownPart, match="'power-law'"):
        from_knowledge(SEX, {"method": "power-low"})


@pytest.mark.parametrize("method", ["power-law", "margins"])
def test_knowledge_that_lacks_something_is_an_input_error(method: str) -> None:
    with pytest.raises(InputError):
        from_knowledge(SEX, {"method": method})


@pytest.mark.parametrize("caution", [0.0, -0.1, 0.6])
def test_caution_that_is_no_chance_of_one_side_is_refused(caution: float) -> None:
    with pytest.raises(InputError, match="caution"):
        check_caution(caution)
