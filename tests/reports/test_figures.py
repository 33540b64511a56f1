"""Figures that any result may draw."""

from __future__ import annotations

import polars as pl
import pytest

from tokumei.reports.evaluation import STRONG_ATTACKS
from tokumei.reports.figures import COLORS, bar_figure


@pytest.mark.parametrize(("value", "label"), [(0.05, "0.05"), (40.0, "40"), (5000.0, "5k")])
def test_bars_are_labeled_in_numbers_that_people_read(value: float, label: str) -> None:
    svg = bar_figure(pl.DataFrame({"column": ["age"], "loss": [value]}), x="loss", y="column", x_title="loss")
    assert f">{label}<" in svg
    assert "m<" not in svg


def test_hundreds_on_an_axis_are_written_out() -> None:
    drawn = bar_figure(pl.DataFrame({"rows": [60, 485], "size": ["2-3", "4-7"]}), x="rows", y="size", x_title="rows")
    assert ">500<" in drawn
    assert "e+" not in drawn


def test_every_attack_of_a_report_has_a_color_of_its_own() -> None:
    assert len(set(COLORS)) == len(COLORS) >= len(STRONG_ATTACKS)


@pytest.mark.parametrize(("sign", "shown"), [("\0", "␀"), ("\x1b", "␛"), ("\x0b", "␋"), ("\uffff", "\ufffd")])
def test_sign_that_xml_does_not_have_is_drawn_by_another(sign: str, shown: str) -> None:
    # The renderer would end this process, and all tests with it.
    points = pl.DataFrame({f"loss{sign}": [1.0], "column": [f"a{sign}<b"]})
    drawn = bar_figure(points, x=f"loss{sign}", y="column", x_title=f"how {sign} much")
    assert f"a{shown}&lt;b" in drawn
    assert f"how {shown} much" in drawn
    assert sign not in drawn
