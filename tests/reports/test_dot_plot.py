"""Dots on a line for each thing as SVG."""

from __future__ import annotations

import polars as pl

from tokumei.reports.figures import dot_plot


def test_dot_figure_draws_a_dot_for_each_release_and_attack_in_the_order_given() -> None:
    points = pl.DataFrame(
        {
            "release": ["pseudonyms", "pseudonyms", "dummies", "dummies"],
            "attack": ["Jaccard", "linkage"] * 2,
            "found": [1.0, 1.0, 0.25, 1.0],
        }
    )
    svg = dot_plot(points, x="found", y="release", series="attack", x_title="customers found")
    assert svg.count('aria-roledescription="point"') == 4
    assert svg.index(">pseudonyms<") < svg.index(">dummies<")
    assert svg.index(">Jaccard<") < svg.index(">linkage<")
    assert ">100%<" in svg
