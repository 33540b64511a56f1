"""Every quick study, as far as the data for it is there: its numbers hold or it says why not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tokumei_studies.page import page_of
from tokumei_studies.running import missing_files
from tokumei_studies.study import STUDIES, Findings, StudyLine, Verdict

PAGES = Path(__file__).resolve().parents[2] / "docs" / "studies"
QUICK = [name for name in STUDIES if STUDIES.get(name).is_quick]


@pytest.mark.parametrize("name", QUICK)
def test_quick_study_holds_or_says_why_not_and_finds_the_same_again(name: str, request: pytest.FixtureRequest) -> None:
    data = Path() if not STUDIES.get(name).needs else request.getfixturevalue("shared_data")
    assert missing_files(name, data) == ()
    first, again = STUDIES.make(name).run(data), STUDIES.make(name).run(data)
    check_lines(first)
    assert again == first
    page = PAGES / f"{name}.md"
    if page.exists():
        fresh = page_of(STUDIES.get(name), first, name)
        assert page.read_text(encoding="utf-8") == fresh, f"run tokumei study run {name} --data DIR"


def check_lines(findings: Findings) -> None:
    assert findings.lines
    assert len({line.what for line in findings.lines}) == len(findings.lines)
    for line in findings.lines:
        assert line.what.strip()
        assert math.isfinite(line.published)
        # How near is near enough is a decision, and decisions have reasons; so have differences.
        assert line.why.strip(), line.what
        for wrong in wrong_lines(line):
            assert wrong.verdict is not Verdict.HOLDS, f"{line.what} holds whatever is computed"


def wrong_lines(line: StudyLine) -> list[StudyLine]:
    """Return the line with a number that is far off on each side that it has an end."""
    # Of a range that was published, from its middle; of a number with a tolerance that is the number itself.
    middle = (line.least + line.most) / 2
    start = middle if math.isfinite(middle) else line.published
    off = abs(start) * 0.5 + 1
    above = [replace(line, computed=start + off)] if math.isfinite(line.most) else []
    below = [replace(line, computed=start - off)] if math.isfinite(line.least) else []
    # A line without any end would say nothing.
    assert above + below, line.what
    return above + below


def test_wrong_lines_are_on_the_sides_that_have_an_end() -> None:
    assert [wrong.computed for wrong in wrong_lines(StudyLine.near("k", 2, 2, within=0.1))] == [4, 0]
    assert [wrong.computed for wrong in wrong_lines(StudyLine("k", 2, 3, 2, 6))] == [7, 1]
    assert [wrong.computed for wrong in wrong_lines(StudyLine.at_most("k", 2, 2))] == [4]
    assert [wrong.computed for wrong in wrong_lines(StudyLine.at_least("k", 2, 2))] == [0]


def test_line_that_holds_whatever_is_computed_is_found_out() -> None:
    loose = Findings([StudyLine.near("k", 2, 2, within=50, why="It is hard to tell.")])
    with pytest.raises(AssertionError, match="k holds whatever is computed"):
        check_lines(loose)
