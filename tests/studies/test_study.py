from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from tokumei_studies.study import STUDIES, Findings, StudyFigure, StudyLine, Verdict


def test_line_within_its_tolerance_holds_and_beyond_it_differs() -> None:
    assert StudyLine.near("k", 2.0, 2.1, within=0.1).verdict is Verdict.HOLDS
    assert StudyLine.near("k", 2.0, 1.9, within=0.1).verdict is Verdict.HOLDS
    assert StudyLine.near("k", 2.0, 2.11, within=0.1).verdict is Verdict.DIFFERS
    assert StudyLine.near("k", 2.0, 1.89, within=0.1).verdict is Verdict.DIFFERS


def test_line_without_tolerance_forgives_rounding_alone() -> None:
    assert StudyLine.near("sum", 0.3, 0.1 + 0.2, within=0).verdict is Verdict.HOLDS
    assert StudyLine.near("sum", 0.3, 0.300001, within=0).verdict is Verdict.DIFFERS


def test_line_with_one_end_holds_on_its_side_only() -> None:
    assert StudyLine.at_most("risk", 0.5, -3.0).verdict is Verdict.HOLDS
    assert StudyLine.at_most("risk", 0.5, 0.51).verdict is Verdict.DIFFERS
    assert StudyLine.at_least("risk", 0.5, 30.0).verdict is Verdict.HOLDS
    assert StudyLine.at_least("risk", 0.5, 0.49).verdict is Verdict.DIFFERS


def test_line_that_could_not_be_computed_differs() -> None:
    assert StudyLine.near("k", 2.0, math.nan, within=100).verdict is Verdict.DIFFERS
    assert StudyLine.at_most("k", 2.0, math.nan).verdict is Verdict.DIFFERS


def test_line_of_another_method_holds_or_says_so_and_never_differs() -> None:
    assert StudyLine.near("cost", 3.5, 73.4, within=0.1, is_same_method=False).verdict is Verdict.DIFFERENT_METHOD
    assert StudyLine.at_least("cost", 3.5, 3.4, is_same_method=False).verdict is Verdict.DIFFERENT_METHOD
    assert StudyLine.at_most("cost", 3.5, 3.6, is_same_method=False).verdict is Verdict.DIFFERENT_METHOD
    assert StudyLine.near("cost", 3.5, 3.5, within=0, is_same_method=False).verdict is Verdict.HOLDS


def test_difference_is_what_was_computed_more() -> None:
    assert StudyLine.near("k", 2.0, 1.5, within=1).difference == -0.5


def test_findings_hold_if_all_lines_do() -> None:
    good, bad = StudyLine.near("a", 1, 1, within=0), StudyLine.near("b", 1, 2, within=0, why="It was rounded.")
    assert Findings([good, good]).verdict is Verdict.HOLDS
    assert Findings([good, bad]).verdict is Verdict.DIFFERS
    other = StudyLine.near("c", 1, 2, within=0, why="It was halved.", is_same_method=False)
    assert Findings([good, other]).verdict is Verdict.DIFFERENT_METHOD
    assert Findings([other, bad]).verdict is Verdict.DIFFERS
    assert Findings([StudyLine.near("c", 1, 2, within=0, is_same_method=False)]).unexplained


def test_unexplained_are_lines_that_differ_and_say_nothing() -> None:
    bad = StudyLine.near("b", 1, 2, within=0, why="It was rounded.")
    silent = StudyLine.near("c", 1, 2, within=0, why=" ")
    assert Findings([StudyLine.near("a", 1, 1, within=0), bad, silent]).unexplained == [silent]


def test_figure_drawn_later_in_a_process_is_the_same() -> None:
    svg = '<g clip-path="url(#clip{0})"/><g clip-path="url(#clip{1})"/><clipPath id="clip{0}"/><clipPath id="clip{1}"/>'
    early, late = (StudyFigure("curve", svg.format(*numbers), "A curve.") for numbers in ((1, 2), (12, 13)))
    assert early == late
    assert early.svg == svg.format(1, 2)


@pytest.mark.parametrize("name", list(STUDIES))
def test_registered_study_says_what_it_is(name: str) -> None:
    study = STUDIES.get(name)
    assert study.title.strip()
    assert study.source.strip()
    assert isinstance(study.is_quick, bool)
    assert not any(Path(file).is_absolute() or ".." in Path(file).parts for file in study.needs)
    # A study runs without being told anything, and cannot be changed while it does.
    made = STUDIES.make(name)
    assert dataclasses.is_dataclass(made)
    for field in dataclasses.fields(made):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, field.name, None)


def test_titles_tell_studies_apart() -> None:
    titles = [STUDIES.get(name).title for name in STUDIES]
    assert len(set(titles)) == len(titles)
