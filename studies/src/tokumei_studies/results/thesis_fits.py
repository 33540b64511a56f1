"""How well a power law follows k: tables 10, 11, 12 and 16 of the thesis, its figures 34 to 37 and its appendix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import ClassVar

import numpy as np

from tokumei_studies.results import _thesis as thesis
from tokumei_studies.results._thesis_fit_figures import correlations, fit_figures
from tokumei_studies.study import Findings, StudyLine

# Table 16: α, β, and the correlation of the law with the k.
TABLE_16 = {
    "S0000": (114_659, -1.414, 0.9974),
    "S0001": (50_316, -1.776, 0.9901),
    "S0002": (40_048, -1.852, 0.9911),
    "S0003": (19_664, -1.735, 0.9887),
    "S0004": (16_326, -1.695, 0.9853),
    "S0005": (13_618, -1.722, 0.9880),
    "S0006": (6_641, -1.642, 0.9805),
}
# Table 10: the largest class count of the fit with the best and the worst correlation.
TABLE_10 = {
    "census": ((4, 0.998), (90, 0.992)),
    "over 100,000 people": ((45, 0.996), (3, 0.978)),
    "50,001 to 100,000": ((10, 0.998), (846, 0.969)),
}
# Table 11 by group: number of services, then the means of R, R², adjusted R², standard error and error ratio. The last
# two groups are not in the appendix.
TABLE_11 = {
    "census": (1, 0.99705, 0.99410, 0.99384, 2238.56, 1.86),
    "over 100,000 people": (10, 0.99104, 0.98217, 0.98139, 4267.16, 14.06),
    "50,001 to 100,000": (16, 0.99143, 0.98299, 0.98225, 1903.85, 8.88),
    "10,001 to 50,000": (36, 0.99000, 0.98018, 0.97932, 651.01, 5.69),
    "5,001 to 10,000": (34, 0.99047, 0.98111, 0.98029, 145.41, 4.22),
}
# How far the R of a group's services spread, table 11.
SPREADS = {"over 100,000 people": 0.00344, "50,001 to 100,000": 0.00777}
# Table 12, attributes up to three: the means over all 97 services.
TABLE_12 = (0.99058, 0.98132, None, 1069.61, 6.52)
NUMBERS = ("R", "R²", "adjusted R²", "standard error", "error ratio")
DIGITS = (5, 5, 5, 2, 2)
# The appendix's own regressions: R and standard error by service.
APPENDIX_R = (
    0.989, 0.933, 0.947, 0.944, 0.945, 0.944, 0.956, 0.959, 0.954, 0.955, 0.940, 0.935, 0.966, 0.892,
    0.973, 0.890, 0.936, 0.936, 0.631, 0.912, 0.901, 0.949, 0.957, 0.949, 0.958, 0.950, 0.957,
)  # fmt: skip
APPENDIX_FITTED_UP_TO = 18
FIGURE_34_FITTED_UP_TO = 5
FIGURE_34 = (0.998, 1790.88)


@dataclass(frozen=True)
class ThesisFits:
    """Fits k = α·x^β + 1 to the k of the appendix, and looks how well it follows them.

    The law is drawn through ln k by least squares, the whole table (x = 1) among its points. Table 16 fits it on all
    25 class counts, table 11 on those up to 9, the appendix on those up to 18, table 10 on every length and to the
    mean k of a group of services: no mean over laws of single services gives its numbers. A regression of the
    predicted k on the printed one gives R and the standard error. The error ratio is the mean of max(k/k̂, k̂/k).

    Printed k are whole numbers, also where they are means of two or three. So each number is computed again on 60
    tables with fractions that print could have rounded away; the tolerance is half a unit of the last printed digit
    and the largest change among them.
    """

    title: ClassVar[str] = "How well a power law follows k"
    source: ClassVar[str] = f"{thesis.THESIS}, tables 10, 11, 12 and 16 and figures 34 to 37"
    needs: ClassVar[tuple[str, ...]] = (thesis.APPENDIX,)
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Fit and compare, table by table."""
        appendix = thesis.read_appendix(data)
        lines = (
            *_table_10(appendix),
            *_table_11(appendix),
            *_table_12(),
            *_table_16(appendix),
            *_own_regressions(appendix),
            *_figure_34(appendix),
        )
        return Findings(lines, fit_figures(appendix), _remarks(appendix))


def _table_10(appendix: thesis.Appendix) -> list[StudyLine]:
    lines = []
    for group, (best, worst) in TABLE_10.items():
        by_length = correlations(appendix, thesis.GROUPS[group])
        found = max(by_length, key=by_length.__getitem__), min(by_length, key=by_length.__getitem__)
        for what, (length, correlation), other in zip(("best", "worst"), (best, worst), found, strict=True):
            why = "Three digits are printed, of the law through the mean k of the group's services."
            name = f"table 10, {group}: correlation of the {what} fit, up to {length} classes"
            lines.append(StudyLine.near(name, correlation, by_length[length], within=0.0005, why=why))
            why = "A count: it is the same or it is not."
            name = f"table 10, {group}: classes of the {what} fit"
            lines.append(StudyLine.near(name, length, other, within=0, why=why, digits=0))
    return lines


def _table_11(appendix: thesis.Appendix) -> list[StudyLine]:
    why = "Half a unit of print, and what fractions that print took from the k could change."
    lines = []
    for group, services in thesis.GROUPS.items():
        measure = _averaged(services)
        computed, spread = measure(appendix), appendix.print_spread(measure)
        for index, (what, digits) in enumerate(zip(NUMBERS, DIGITS, strict=True)):
            within = 0.5 * 10.0**-digits + spread[index]
            reason = why
            if group == "census" and what == "error ratio":
                with_all = thesis.mean_error_ratio(
                    appendix.ks[thesis.CENSUS_ID], appendix.predicted(thesis.CENSUS_ID, thesis.FITTED_UP_TO)
                )
                reason = (
                    f"With the whole table, x = 1, among the compared it is {with_all:.2f}, as printed; but the ratios "
                    "of the services are printed without it."
                )
            published = TABLE_11[group][1 + index]
            lines.append(
                StudyLine.near(
                    f"table 11, {group}: {what}", published, computed[index], within=within, why=reason, digits=digits
                )
            )
        if group in SPREADS:
            within = 0.5e-5 + spread[-1]
            what = f"table 11, {group}: spread of R"
            lines.append(StudyLine.near(what, SPREADS[group], computed[-1], within=within, why=why, digits=5))
    return lines


def _table_12() -> list[StudyLine]:
    """Weigh the groups of table 11 by their services."""
    why = "The mean of table 11 over its 97 services, each of whose numbers is rounded in print."
    weights = [group[0] for group in TABLE_11.values()]
    lines = []
    for index, (what, published, digits) in enumerate(zip(NUMBERS, TABLE_12, DIGITS, strict=True)):
        if published is not None:
            computed = float(np.average([group[1 + index] for group in TABLE_11.values()], weights=weights))
            what = f"table 12, up to three attributes: {what}"
            lines.append(StudyLine.near(what, published, computed, within=10.0**-digits, why=why, digits=digits))
    return lines


def _table_16(appendix: thesis.Appendix) -> list[StudyLine]:
    why = "Half a unit of print, and what fractions that print took from the k could change."
    lines = []
    for service, published in TABLE_16.items():
        measure = _law_numbers(service)
        computed, spread = measure(appendix), appendix.print_spread(measure)
        for index, (what, digits) in enumerate((("α", 0), ("β", 3), ("correlation", 4))):
            within = 0.5 * 10.0**-digits + spread[index]
            lines.append(
                StudyLine.near(
                    f"table 16, {service}: {what}",
                    published[index],
                    computed[index],
                    within=within,
                    why=why,
                    digits=digits,
                )
            )
    return lines


def _own_regressions(appendix: thesis.Appendix) -> list[StudyLine]:
    """Compare the R that the appendix prints above each column, over class counts from 2."""

    def measure(table: thesis.Appendix, length: int = APPENDIX_FITTED_UP_TO) -> thesis.Floats:
        pairs = [(table.predicted(service, length)[1:], ks[1:]) for service, ks in table.ks.items()]
        return np.array([thesis.Regression.of(predicted, ks).r for predicted, ks in pairs])

    within = appendix.print_spread(measure) + 0.0005
    n_right = {
        length: int((np.abs(measure(appendix, length) - APPENDIX_R) <= within).sum())
        for length in appendix.classes.astype(int).tolist()[1:]
    }
    others = max(n for length, n in n_right.items() if length != APPENDIX_FITTED_UP_TO)
    why = (
        "Each within half a unit of print and what fractions of the k could change. The appendix does not say what its "
        f"laws were fitted on: class counts up to {APPENDIX_FITTED_UP_TO} give its numbers, any other length at most "
        f"{others} of them."
    )
    n_of_this = n_right[APPENDIX_FITTED_UP_TO]
    return [StudyLine.near("appendix: services of 27 whose R follows", 27, n_of_this, within=0, why=why, digits=0)]


def _figure_34(appendix: thesis.Appendix) -> list[StudyLine]:
    regression = thesis.Regression.of(
        appendix.ks[thesis.CENSUS_ID], appendix.predicted(thesis.CENSUS_ID, FIGURE_34_FITTED_UP_TO)
    )
    other = thesis.Regression.of(
        appendix.predicted(thesis.CENSUS_ID, FIGURE_34_FITTED_UP_TO), appendix.ks[thesis.CENSUS_ID]
    )
    why = (
        "R follows and the standard error does not, neither that of what is predicted around the line nor, the other "
        f"way round, that of the k, {other.standard_error:,.2f}."
    )
    return [
        StudyLine.near(
            "figure 34, census: R", FIGURE_34[0], regression.r, within=0.0005, why="Three digits are printed."
        ),
        StudyLine.near(
            "figure 34, census: standard error",
            FIGURE_34[1],
            regression.standard_error,
            within=0.005,
            why=why,
            digits=2,
        ),
    ]


def _averaged(services: Sequence[str]) -> Callable[[thesis.Appendix], thesis.Floats]:
    """Return the function for table 11's means over some services, and last the spread of their R."""

    def measure(table: thesis.Appendix) -> thesis.Floats:
        found = []
        for service in services:
            predicted, ks = table.predicted(service, thesis.FITTED_UP_TO), table.ks[service]
            # Predicted on printed: the standard error is in what was predicted.
            line = thesis.Regression.of(ks, predicted)
            # The ratios leave out the whole table, whose k is no prediction.
            ratio = thesis.mean_error_ratio(ks[1:], predicted[1:])
            found.append((line.r, line.r_squared, line.adjusted, line.standard_error, ratio))
        spread = stdev(row[0] for row in found) if len(found) > 1 else 0.0
        return np.append(np.mean(found, axis=0), spread)

    return measure


def _law_numbers(service: str) -> Callable[[thesis.Appendix], thesis.Floats]:
    def measure(table: thesis.Appendix) -> thesis.Floats:
        law = table.law(service)
        return np.array([law.alpha, law.beta, np.corrcoef(table.predicted(service), table.ks[service])[0, 1]])

    return measure


def _remarks(appendix: thesis.Appendix) -> tuple[str, ...]:
    one_attribute = np.isin(appendix.classes, (1, 2, 3, 5, 9))
    ratios = []
    for service in (thesis.CENSUS_ID, *thesis.LARGE, *thesis.MIDDLE):
        known = thesis.Appendix(appendix.classes[one_attribute], {service: appendix.ks[service][one_attribute]})
        law = known.law(service)
        predicted = law.alpha * appendix.classes**law.beta + 1
        ratios.append(thesis.mean_error_ratio(appendix.ks[service][1:], predicted[1:]))
    all_three = [
        thesis.mean_error_ratio(appendix.ks[one][1:], appendix.predicted(one, thesis.FITTED_UP_TO)[1:])
        for one in appendix.ks
    ]
    return (
        "Table 10 for 50,000 people and fewer, the last two columns of table 11, and the columns of table 12 for one "
        "and two attributes speak of services that the appendix does not list; figure 38 of services that it does not "
        "name, at a k that it does not give. They cannot be computed. Of the 27 services listed, laws fitted on class "
        f"counts of one attribute alone (2, 3, 5 and 9) have a mean error ratio of {fmean(ratios):.2f}, and those on "
        f"all class counts up to 9 of {fmean(all_three):.2f}; table 12 has 6.83 and 6.52 over its 97 services.",
        "Table 11 prints the standard error of the predicted k around the line, the appendix that of the k around it: "
        "the one regresses what is predicted on the k, the other the k on what is predicted. R is the same both ways.",
    )
