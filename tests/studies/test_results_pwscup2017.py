"""What the studies on PWSCUP 2017 say beside their numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tokumei_studies.results import pwscup2017_lifetimes
from tokumei_studies.results.pwscup2017_data import Pwscup2017Data
from tokumei_studies.results.pwscup2017_lifetimes import Pwscup2017Lifetimes
from tokumei_studies.results.pwscup2017_sample import Pwscup2017Sample
from tokumei_studies.results.pwscup2017_success import Pwscup2017Success
from tokumei_studies.study import Verdict


def test_data_differs_only_in_the_rows_of_2016(shared_data: Path) -> None:
    lines = Pwscup2017Data().run(shared_data).lines
    assert [line.what for line in lines if line.verdict is Verdict.DIFFERS] == ["records of 2016"]


def test_success_of_the_example_is_half_by_cells_and_a_third_by_rows() -> None:
    findings = Pwscup2017Success().run(Path())
    assert [line.computed for line in findings.lines] == [0.5]
    assert "0.3333" in findings.remarks[0]


def test_sample_release_has_the_known_scores_and_its_remark_the_right_counts(shared_data: Path) -> None:
    findings = Pwscup2017Sample().run(shared_data)
    assert {line.verdict for line in findings.lines} == {Verdict.HOLDS}
    match = re.search(
        r"of the (\d+) whom S6 finds with all rows known (\d+) have rows in one month", findings.remarks[0]
    )
    assert match is not None
    # 171 of 500 is the 0.342 that S6 finds with all rows known.
    assert (int(match[1]), int(match[2])) == (171, 112)


def test_lives_trade_use_for_safety(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The strong attack takes minutes: here the sample attacks stand for it.
    monkeypatch.setattr(pwscup2017_lifetimes, "STRONG", ())
    monkeypatch.setattr(pwscup2017_lifetimes, "SHARES", ("25",))
    findings = Pwscup2017Lifetimes().run(shared_data)
    differing = [line.what for line in findings.lines if line.verdict is Verdict.DIFFERS]
    assert differing == [
        "E1 ItemCF-supply, all lives: how often a longer one loses more use",
        "E2 ItemCF-retail, all lives: how often a longer one loses more use",
    ]
    assert not findings.unexplained
    assert [figure.name for figure in findings.figures] == ["by-life", "trade-off"]
    months = [int(row.split("|")[1]) for row in findings.remarks[0].splitlines()[2:]]
    assert months == list(range(1, 13))
