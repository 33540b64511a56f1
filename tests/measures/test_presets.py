from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError, UnknownPart
from tokumei.engines.count import count_classes
from tokumei.measures.safety.risks import PRESETS, BreachRisk, preset


@pytest.mark.parametrize(
    ("name", "risk", "k"),
    [("cheo-trusted-recipient", 0.33, 3), ("cheo-public-release", 0.05, 20), ("cheo-breach", 0.05, 6)],
)
def test_cheo_thresholds_are_those_of_the_thesis(name: str, risk: float, k: int) -> None:
    found = preset(name)
    assert (found.printed_risk, found.k) == (risk, k)
    assert found.max_risk == pytest.approx(risk, abs=0.005)
    counts = count_classes(pl.DataFrame({"age": [30] * k + [40] * (k - 1)}), ["age"])
    for requirement in found.requirements():
        assert requirement.holds_in(counts).tolist() == [True, False]


def test_unknown_preset_tells_the_nearest() -> None:
    with pytest.raises(UnknownPart, match="Did you mean 'cheo-public-release'"):
        preset("cheo-public")
    assert all(found.use and found.source for found in PRESETS.values())


def test_breach_of_the_thesis_asks_for_six_alike() -> None:
    # 0.27/6 = 0.045 is within 0.05, and 0.27/5 = 0.054 is not.
    counts = count_classes(pl.DataFrame({"age": [30] * 6 + [40] * 5}), ["age"])
    risk = preset("cheo-breach").requirements()[1]
    assert risk.measure(counts).value == pytest.approx(0.27 / 5)
    assert BreachRisk(0.3, 0.9).holds_in(counts).tolist() == [True, True]
    assert BreachRisk(0.17, 0.9).holds_in(counts).tolist() == [True, False]
    for options in ({"chance": 0}, {"chance": 1.1}, {"threshold": 0}):
        with pytest.raises(InputError, match=f"option {next(iter(options))}"):
            BreachRisk(**options)
