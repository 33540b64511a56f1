from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import UnknownPart
from tokumei.counting.count import count_classes
from tokumei.measure.presets import PRESETS, preset


@pytest.mark.parametrize(
    ("name", "risk", "k"), [("cheo-trusted-recipient", 0.33, 3), ("cheo-public-release", 0.05, 20)]
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
