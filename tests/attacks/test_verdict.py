"""A criterion is met only by an attack that was run, whose interval reaches no higher than chance and a margin."""

from __future__ import annotations

from typing import Any

import pytest

from tokumei.attacks.candidates import share_score
from tokumei.attacks.judge import wilson_interval
from tokumei.attacks.registry import MARGIN, NO_PEOPLE, NO_RANGES, NOT_RUN, judge_scores, singling_out_of


def score(value: float, interval: tuple[float, float] | None = None, **more: Any) -> dict[str, Any]:
    return {"value": value, **({} if interval is None else {"interval": interval}), **more}


@pytest.mark.parametrize(
    ("scores", "finding"),
    [
        ({}, "not measured"),
        # A share of cells or rows says nothing of people.
        ({"cells-certain": score(0.4, (0.3, 0.5)), "narrowed": score(1.0, (0.9, 1.0))}, "not measured"),
        ({"success": score(0.30, (0.29, 0.31), baseline=0.30)}, "met"),
        ({"success": score(0.30, (0.29, 0.319), baseline=0.30)}, "met"),
        ({"success": score(0.31, (0.29, 0.33), baseline=0.30)}, "yours to judge"),
        ({"success": score(0.40, (0.33, 0.47), baseline=0.30)}, "not met"),
        ({"success": score(0.40, (0.33, 0.47), baseline=0.30, control=0.46)}, "met"),
        ({"success": score(0.40, (0.33, 0.47), baseline=0.46, control=0.30)}, "met"),
        ({"success": score(0.30, baseline=0.30)}, "yours to judge"),
        ({"success": score(0.30, (0.29, 0.31))}, "yours to judge"),
        ({"success": score(0.0, (0.0, 1.0), baseline=0.0, inputs={"people": 0})}, "not measured"),
        ({"singled-out": score(0.0, (0.0, 1.0), baseline=0.0, inputs={"predicates": 0})}, "not measured"),
        ({"certain": score(0.0, (0.0, 0.01))}, "met"),
        # Of twenty people none is found: that may be chance.
        ({"certain": score(0.0, wilson_interval(0, 20))}, "yours to judge"),
        ({"certain": score(0.0001, (0.0, 0.0003))}, "not met"),
        # How often being certain would be a mistake excuses nobody's being found.
        ({"certain": score(0.1, (0.09, 0.11), control=0.9)}, "not met"),
        ({"certain": score(0.0, (0.0, 0.01)), "success": score(0.2, (0.19, 0.21), baseline=0.0)}, "not met"),
        ({"certain": score(0.0, (0.0, 0.01)), "success": score(0.0, (0.0, 0.01), baseline=0.0)}, "met"),
        ({"certain": score(0.0, (0.0, 0.01)), "success": score(0.0, baseline=0.0)}, "yours to judge"),
    ],
)
def test_finding_follows_from_the_interval_and_from_chance(scores: dict[str, Any], finding: str) -> None:
    assert judge_scores(scores) == finding


def test_more_people_found_never_mend_a_finding() -> None:
    order = {"met": 0, "yours to judge": 1, "not met": 2}
    for n in (5, 40, 400, 4_000):
        found = [order[judge_scores({"success": share_score("success", i, n, 0.1).as_dict()})] for i in range(n + 1)]
        assert found == sorted(found)
    assert found[int(4_000 * (0.1 + MARGIN))] > 0


def record(scores: dict[str, Any]) -> dict[str, Any]:
    return {"threat": "anybody", "known": [], "attack": "downcoding", "sensitive": None, "scores": scores}


def test_singling_out_has_its_figures_or_the_reason_why_there_are_none() -> None:
    (found,) = singling_out_of([record({"singled-out": score(0.45, (0.43, 0.47), baseline=0.28)})] * 2)
    assert (found.finding, found.found, found.low, found.high, found.blind) == ("not met", 0.45, 0.43, 0.47, 0.28)
    (alone,) = singling_out_of([record({"singled-out-estimate": score(0.2, (0.1, 0.3), baseline=0.2)})])
    assert (alone.finding, alone.why) == ("not measured", NO_PEOPLE)
    nothing = {"singled-out": share_score("singled-out", 0, 0, 0.0, inputs={"predicates": 0}).as_dict()}
    (empty,) = singling_out_of([record(nothing)])
    assert (empty.finding, empty.found, empty.why) == ("not measured", None, NO_RANGES)
    (absent,) = singling_out_of([])
    assert (absent.finding, absent.attack, absent.why) == ("not measured", None, NOT_RUN)
