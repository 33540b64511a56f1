from __future__ import annotations

from pathlib import Path

import polars as pl

from tokumei.reports.figures import line_figure
from tokumei.reports.page import Page


def test_page_makes_every_text_inert() -> None:
    page = Page("<script>1</script>")
    page.heading("<b>")
    page.paragraph("a & b")
    page.table(["<i>"], [["<img src=x>"], [0.5], [1200]], "<u>")
    html = page.to_html()
    assert "<script>" not in html
    assert "<img" not in html
    assert "a &amp; b" in html
    assert '<td class="number">0.500</td>' in html
    assert '<td class="number">1,200</td>' in html


def test_page_with_a_figure_asks_for_nothing_outside(tmp_path: Path) -> None:
    points = pl.DataFrame({"x": [0.25, 1.0], "y": [0.1, 0.4], "s": ["one", "one"]})
    svg = line_figure(points, x="x", y="y", series="s", x_title="X axis", y_title="Y axis", series_title="S")
    page = Page("report")
    page.figure(svg, "what it shows")
    page.write(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    assert "X axis" in html
    assert "href=" not in html
    assert "@import" not in html
    assert html.count("http") == html.count('"http://www.w3.org/')


def test_page_aligns_a_missing_number_with_the_others() -> None:
    page = Page("A page")
    page.table(["method", "nodes"], [["optimal", 26], ["mondrian", "–"]], "What each found.")
    html = page.to_html()
    assert '<th class="text">method</th><th class="number">nodes</th>' in html
    assert '<td class="number">–</td>' in html
