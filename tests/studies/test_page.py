from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from tokumei.core.errors import InputError
from tokumei_studies.page import (
    page_of,
    paper_of,
    prepare_folder,
    shown,
    tolerance_of,
    write_index,
    write_page,
)
from tokumei_studies.running import run_study
from tokumei_studies.study import STUDIES, Findings, StudyFigure, StudyLine

NAME = "knowledge-toy"


@dataclass(frozen=True)
class Doubling:
    """Doubles a number.

    The paper doubles by
    adding.
    """

    title: ClassVar[str] = "Doubling"
    source: ClassVar[str] = "Euclid, Elements (300 BC), table 2"
    needs: ClassVar[tuple[str, ...]] = ("numbers.csv",)
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Double."""
        return Findings(())


FINDINGS = Findings(
    (
        StudyLine.near("twice |1|", 2, 2, within=0, why="It is exact.", digits=0),
        StudyLine.near("twice 2", 4, 4.2, within=0.5, why="It is rounded.", digits=1),
        StudyLine.near("twice 3", 6, 6.1, within=0.5, why="It is rounded.", digits=1),
        StudyLine.near("twice 4", 9, 8, within=0, why="The paper has a misprint.", digits=0),
        StudyLine.near("twice 5", 10, 15, within=0, why="Tripled.", digits=0, is_same_method=False),
    ),
    (StudyFigure("curve", "<svg/>", "A curve."),),
    ("A remark.",),
)
PAGE = r"""# Doubling

*Euclid, Elements (300 BC), table 2*

Doubles a number.

The paper doubles by adding.

**differs**: 3 of 5 numbers hold, 1 is by a different method.

| what | published | computed | difference | tolerance | verdict |
|---|--:|--:|--:|--:|---|
| twice \|1\| | 2 | 2 | 0 | exact | holds |
| twice 2 | 4.0 | 4.2 | 0.2 | ± 0.5 | holds |
| twice 3 | 6.0 | 6.1 | 0.1 | ± 0.5 | holds |
| twice 4 | 9 | 8 | -1 | exact | **differs** |
| twice 5 | 10 | 15 | 5 | exact | **different method** |

## What differs, and why

- *twice 4*: The paper has a misprint.

## What a different method gives, and which

- *twice 5*: Tripled.

## Figures

![A curve.](pictures/doubling-curve.svg)

*A curve.*

## Remarks

A remark.

## How near is near enough

- *twice |1|*: It is exact.
- *twice 2* and *twice 3*: It is rounded.

Computed again by `tokumei study run doubling --data DIR`.

It reads `numbers.csv` in that folder.
"""


def test_page_shows_numbers_figures_and_reasons() -> None:
    assert page_of(Doubling, FINDINGS, "doubling") == PAGE


def test_numbers_are_written_with_their_digits_and_no_sign_without_need() -> None:
    assert shown(1234.5678, 2) == "1,234.57"
    assert shown(-0.00001, 4) == "0.0000"
    assert shown(float("nan"), 4) == "–"


def test_tolerance_is_told_in_words_or_plain_digits() -> None:
    assert tolerance_of(StudyLine.near("k", 0.5, 0.5, within=0.00005)) == "± 0.00005"
    assert tolerance_of(StudyLine.near("k", 50_000, 50_000, within=1500)) == "± 1,500"
    assert tolerance_of(StudyLine.near("k", 1, 1, within=0)) == "exact"
    assert tolerance_of(StudyLine.at_most("k", 1, 1)) == "at most"
    assert tolerance_of(StudyLine.at_least("k", 1, 1)) == "at least"
    assert tolerance_of(StudyLine("k", 1, 1, 0.9, 1.3)) == "0.9 to 1.3"


@pytest.mark.parametrize(
    ("source", "paper"),
    [
        ("Euclid, Elements (300 BC), table 2", "Euclid, Elements (300 BC)"),
        ("Euclid, Elements (300 BC), §3.5", "Euclid, Elements (300 BC)"),
        ("Euclid, Elements (300 BC), figures 2 and 3, on a made survey", "Euclid, Elements (300 BC)"),
        ("Euclid, Elements (300 BC), the table of numbers", "Euclid, Elements (300 BC)"),
        ("Euclid, Elements (300 BC)", "Euclid, Elements (300 BC)"),
    ],
)
def test_paper_of_a_source_is_what_stands_before_the_index(source: str, paper: str) -> None:
    assert paper_of(source) == paper


def test_pages_written_twice_are_the_same_bytes(tmp_path: Path) -> None:
    findings = run_study("knowledge-toy", None).findings
    assert findings is not None
    with_figure = Findings(findings.lines, FINDINGS.figures, findings.remarks)
    for folder in (tmp_path / "one", tmp_path / "two"):
        prepare_folder(folder)
        write_page(folder, NAME, with_figure)
        write_index(folder)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert [str(file) for file in files] == ["README.md", f"{NAME}.md", f"pictures/{NAME}-curve.svg"]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_index_has_every_study_under_its_paper_with_what_its_page_says(tmp_path: Path) -> None:
    findings = run_study(NAME, None).findings
    assert findings is not None
    prepare_folder(tmp_path)
    write_page(tmp_path, NAME, findings)
    write_index(tmp_path)
    index = (tmp_path / "README.md").read_text()
    title = STUDIES.get(NAME).title
    assert f"| [`{NAME}`]({NAME}.md) | {title} | differs | 16 of 19 |" in index
    for name in STUDIES:
        assert f"`{name}`" in index
        assert f"## {paper_of(STUDIES.get(name).source)}\n" in index
    headings = [line[3:] for line in index.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings))
    thesis, slides = (
        next(number for number, one in enumerate(headings) if word in one) for word in ("thesis", "PWS 2017")
    )
    assert thesis < slides
    # Nothing was run but one study: of the others there is no page to read.
    n_studies = len(list(STUDIES))
    assert f"{n_studies} studies: 1 differs, {n_studies - 1} not computed." in index
    assert "19 numbers: 16 hold, 3 differ, 0 are by a different method." in index


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a folder that pages can be written to"):
        prepare_folder(tmp_path / "file")
