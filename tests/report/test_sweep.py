from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.anonymize.pipeline import pipeline_of
from tokumei.core.errors import InputError
from tokumei.report.sweep import default_grid, frontier, read_grid


def test_frontier_marks_what_no_other_beats() -> None:
    points = pl.DataFrame({"utility": [0.1, 0.5, 0.5, 0.9], "found": [0.9, 0.4, 0.6, 0.4]})
    assert frontier(points).to_list() == [True, True, False, False]


def test_frontier_keeps_equals() -> None:
    points = pl.DataFrame({"utility": [0.1, 0.1], "found": [0.2, 0.2]})
    assert frontier(points).to_list() == [True, True]


def test_default_grid_holds_pipelines_that_can_be_made() -> None:
    for settings in default_grid().values():
        assert pipeline_of(settings).methods


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[\[pipeline\]\]"),
        ("pipeline = 1", r"\[\[pipeline\]\]"),
        ("[[pipeline", "TOML"),
        ('[[pipeline]]\nname = "a"\n[[pipeline]]\nname = "a"\n', "a name for each"),
    ],
)
def test_grid_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "grid.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_grid(tmp_path / "grid.toml")
