"""The ten attackers of the slides of PWS 2017 on the set of PWSCUP 2016."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.attacks.history.attackers import AS_STATED, measure_risks, predict_risks
from tokumei.contest.editions.pwscup2016.files import read_history

# Printed .9750 for attacker 8, which the definition does not give.
MEASURED = [0.0025, 0.0965, 0.0807, 0.7974, 0.9788, 0.1851, 0.8945, 0.9400, 0.9972, 0.9994]
# Printed 2415 and 1319 for the last two, which were multiplied from rounded numbers.
PREDICTED = [0.0025, 0.0730, 0.0030, 8.324, 4.544, 0.0076, 21.17, 0.868, 2413.9, 1317.6]
DIGITS = [4, 4, 4, 3, 3, 4, 2, 3, 1, 1]


def test_risks_are_those_of_the_slides(shared_data: Path) -> None:
    history = read_history(shared_data / "pwscup2016" / "T.csv.gz")
    risks = measure_risks(history)
    assert [round(score.value, 4) for score in risks] == MEASURED
    # Attacker 4 is stated to know how many rows there are, too, which gives more than is printed.
    assert [round(score.inputs[AS_STATED], 4) for score in risks] == [*MEASURED[:4], 0.9812, *MEASURED[5:]]
    predicted = predict_risks(history)
    assert [round(value, digits) for value, digits in zip(predicted, DIGITS, strict=True)] == pytest.approx(PREDICTED)
