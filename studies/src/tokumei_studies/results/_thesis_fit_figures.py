"""The figures of how well a power law follows k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from tokumei_studies.figures import dots_figure
from tokumei_studies.results._thesis import ALL, CENSUS_ID, FITTED_UP_TO, GROUPS, LARGE, MEAN, Appendix
from tokumei_studies.study import StudyFigure

# The lengths of the fit that figure 35 compares.
LENGTHS = {"up to 5 classes": 5, "up to 10 classes": 10, "all classes": ALL}


def fit_figures(appendix: Appendix) -> tuple[StudyFigure, ...]:
    """Draw the laws, what they are fitted on, and how far they are off."""
    return (_law_figure(appendix), _service_figure(appendix), _length_figure(appendix), _error_figure(appendix))


def correlations(
    appendix: Appendix, services: Sequence[str], lengths: Sequence[int] | None = None
) -> Mapping[int, float]:
    """Return for each largest class count of the fit the correlation of the prediction with the mean k."""
    group = appendix.mean_of(services)
    return {
        length: float(np.corrcoef(group.predicted(MEAN, length), group.ks[MEAN])[0, 1])
        for length in lengths or appendix.classes.astype(int).tolist()[1:]
    }


def _law_figure(appendix: Appendix) -> StudyFigure:
    shown = {CENSUS_ID: "census", "S0001": "S0001, 350,527 people", "S0010": "S0010, 100,040 people"}
    x = appendix.classes
    points = [pl.DataFrame({"x": x, "y": appendix.ks[one], "series": name}) for one, name in shown.items()]
    fits = [
        pl.DataFrame({"x": x, "y": appendix.predicted(one, FITTED_UP_TO), "series": name})
        for one, name in shown.items()
    ]
    svg = dots_figure(
        pl.concat(points), lines=pl.concat(fits), x_title="classes", y_title="k", is_log_x=True, is_log_y=True
    )
    return StudyFigure("laws", svg, "The k of the appendix (dots) and the law fitted on class counts up to 9 (lines).")


def _service_figure(appendix: Appendix) -> StudyFigure:
    points = pl.DataFrame(
        [
            {"x": float(rank), "y": correlations(appendix, [service], [length])[length], "series": name}
            for name, length in LENGTHS.items()
            for rank, service in enumerate(appendix.services, start=1)
        ]
    )
    svg = dots_figure(points, lines=points, x_title="rank of the service", y_title="correlation")
    return StudyFigure("services", svg, "Figure 35: the correlation of three fits with the k of each service.")


def _length_figure(appendix: Appendix) -> StudyFigure:
    points = pl.DataFrame(
        [
            {"x": float(length), "y": value, "series": group}
            for group, services in GROUPS.items()
            for length, value in correlations(appendix, services).items()
        ]
    )
    svg = dots_figure(
        points, lines=points, x_title="largest class count of the fit", y_title="correlation", is_log_x=True
    )
    return StudyFigure(
        "lengths", svg, "Figure 36: how the correlation goes with the class counts that the law is fitted on."
    )


def _error_figure(appendix: Appendix) -> StudyFigure:
    """Draw the absolute error of the census and the mean of the ten largest services."""
    shown = {"census": (CENSUS_ID,), "mean of the ten largest services": LARGE}
    points = []
    for name, services in shown.items():
        errors = np.mean([np.abs(appendix.ks[one] - appendix.predicted(one, FITTED_UP_TO)) for one in services], axis=0)
        points.append(pl.DataFrame({"x": appendix.classes, "y": np.maximum(errors, 1), "series": name}))
    both = pl.concat(points)
    svg = dots_figure(both, lines=both, x_title="classes", y_title="error of k", is_log_x=True, is_log_y=True)
    return StudyFigure("errors", svg, "Figure 37: how far the law is off, in people; errors below 1 are drawn at 1.")
