"""The census by class count: table 7 and column S0000 of the thesis's appendix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.data.made_services import PREFECTURES
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Lattice
from tokumei_studies.figures import dots_figure
from tokumei_studies.results import _thesis as thesis
from tokumei_studies.study import Findings, StudyFigure, StudyLine

ESTIMATES = "japan_population/japan_popestimate_2011_pref46_age5.csv.gz"
ABSENT = "群馬県"
# What the thesis counts: kinds of classes, and the sum of their class counts.
N_KINDS, N_CLASSES = 31, 3_185
DOUBTFUL = 36
AGE_AND_PLACE = ["age", "prefecture"]


@dataclass(frozen=True)
class ThesisCensus:
    """Counts Japan's residents by sex, age and region, as the thesis did to give others a table to compare with.

    The thesis divides residents by a thousand and prints the smallest class for each class count as service S0000. It
    speaks of the census of 2012 and of 2010; the figures are those of the estimates for October 2011. These are here
    without the sexes and without Gunma, whose ages are taken from the census of 2010. What needs the sexes is computed
    from that census and may differ by what a year changes.

    Where several kinds of classes have the same class count, the printed k is the mean of theirs.
    """

    title: ClassVar[str] = "The census by class count"
    source: ClassVar[str] = f"{thesis.THESIS}, table 7 and appendix, column S0000"
    needs: ClassVar[tuple[str, ...]] = (thesis.APPENDIX, thesis.CENSUS, ESTIMATES)
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Count both years and compare."""
        appendix = thesis.read_appendix(data)
        printed = dict(zip(appendix.classes.astype(int).tolist(), appendix.ks[thesis.CENSUS_ID].tolist(), strict=True))
        change = _largest_change(data)
        census = thesis.read_census(data)
        of_2010 = thesis.k_by_class_count(thesis.thesis_lattice(), census)
        return Findings(
            (*_kinds(), *_of_estimates(data, printed, change), *_of_census(census, printed, change), _order(appendix)),
            (_figure(printed, of_2010),),
            (
                "A class count of 20 (sex, five ages and two halves of the country) is among the 31 kinds and not in "
                f"the appendix; it has {of_2010[20]:,.0f} in 2010. The row of {DOUBTFUL} is nearer to it than to its "
                "own, and may be a mistaken label of it. The laws of tables 10 to 16 were fitted with the row as it "
                "is printed, and so are those of the other studies.",
            ),
        )


def _kinds() -> list[StudyLine]:
    lattice = thesis.thesis_lattice()
    counts = [lattice.class_count(node) for node in lattice if node != lattice.top]
    why = "A count: it is the same or it is not."
    return [
        StudyLine.near("kinds of classes", N_KINDS, len(counts), within=0, why=why, digits=0),
        StudyLine.near("classes of all kinds together", N_CLASSES, sum(counts), within=0, why=why, digits=0),
    ]


def _of_estimates(data: Path, printed: thesis.KByClassCount, change: float) -> list[StudyLine]:
    """Compare the class counts that no kind with the sexes has."""
    lattice = Lattice.of(thesis.thesis_lattice().hierarchies[1:])
    plain, less, more = (thesis.k_by_class_count(lattice, _estimates(data, 1 + by)) for by in (0, -change, change))
    without_sex = {1, 3, 5, 27, 45, 47, 81, 141, 235, 423}
    lines = []
    for classes in sorted(without_sex & set(printed)):
        within = max(abs(plain[classes] - other[classes]) for other in (less, more))
        why = (
            f"Gunma is a year older, and may have changed by {change:.1%}, as the age that changed most did."
            if within
            else "Gunma is not in the smallest class, so nothing is left open."
        )
        what = f"k at x = {classes}, estimates of 2011"
        lines.append(StudyLine.near(what, printed[classes], plain[classes], within=within, why=why, digits=0))
    return lines


def _of_census(census: ClassCounts, printed: thesis.KByClassCount, change: float) -> list[StudyLine]:
    """Compare the class counts that need the sexes with a census a year older."""
    of_2010 = thesis.k_by_class_count(thesis.thesis_lattice(), census)
    sex_and_age = census.over(["sex", "age"]).k
    lines = []
    for classes in (2, 4, 6, 9, 10, 12, 18, DOUBTFUL, 54, 90, 94, 162, 282, 470, 846):
        why = f"A year lies between: the age that changed most did so by {change:.1%}. Half a thousand is rounding."
        if classes == DOUBTFUL:
            why = (
                f"These classes divide those of sex and nine ages, whose smallest has {sex_and_age:,}, so that they "
                "cannot have more. The row contradicts the one of 18 classes in the thesis itself."
            )
        what = f"k at x = {classes}, census of 2010"
        within = change * printed[classes] + 0.5
        lines.append(StudyLine.near(what, printed[classes], of_2010[classes], within=within, why=why, digits=0))
    return lines


def _order(appendix: thesis.Appendix) -> StudyLine:
    """Count the columns whose k of 36 classes is larger than the k of coarser classes allows."""
    rows = {classes: index for index, classes in enumerate(appendix.classes.astype(int).tolist())}
    # The node of 36 classes divides two of the three nodes of 18, so that twice its k is at most the sum of theirs.
    # Half a row more is allowed for rounding.
    n_broken = sum(2 * ks[rows[DOUBTFUL]] > 3 * (ks[rows[18]] + 0.5) for ks in appendix.ks.values())
    return StudyLine.near(
        "columns of 27 whose k at x = 36 is more than the k at x = 18 allows",
        0,
        n_broken,
        within=0,
        why="Dividing classes never makes the smallest larger. In these columns the row of 36 classes breaks that.",
        digits=0,
    )


def _estimates(data: Path, factor: float) -> ClassCounts:
    """Count the estimates of 2011 by nine ages and prefecture, with Gunma of 2010 times a factor."""
    read = pl.read_csv(data / ESTIMATES)
    known = read.select(
        age=_nine(read["age_group"].str.extract(r"age_(\d+)")),
        prefecture=pl.Series(PREFECTURES).gather(read["pref_code"] - 1),
        n=read["population_thousand"],
    )
    absent = _by_age(data, pl.col("pref") == ABSENT).select(
        "age", pl.lit(ABSENT).alias("prefecture"), pl.col("n") * factor
    )
    classes = pl.concat([known, absent]).group_by(AGE_AND_PLACE).agg(pl.col("n").sum().round().cast(pl.Int64))
    return ClassCounts.of_groups(AGE_AND_PLACE, classes)


def _largest_change(data: Path) -> float:
    """Return the largest change of an age band from 2010 to 2011, all prefectures but Gunma together."""
    read = pl.read_csv(data / ESTIMATES)
    later = read.select(age=_nine(read["age_group"].str.extract(r"age_(\d+)")), later="population_thousand")
    both = later.group_by("age").agg(pl.col("later").sum()).join(_by_age(data, pl.col("pref") != ABSENT), on="age")
    changes = both.select((pl.col("later") / pl.col("n") - 1).abs().max()).item()
    return float(changes)


def _by_age(data: Path, where: pl.Expr) -> pl.DataFrame:
    """Add up the census of 2010 by nine ages over some prefectures, in thousands."""
    read = pl.read_csv(data / thesis.CENSUS).filter(where & (pl.col("age5") != "総数"))
    cells = read.select(age=_nine(read["age5"].str.extract(r"^(\d+)")), n="total")
    return cells.group_by("age").agg(pl.col("n").sum() / 1_000)


def _nine(first_years: pl.Series) -> pl.Series:
    return pl.Series("age", thesis.ages().labels_at(1)).gather(first_years.cast(pl.Int64))


def _figure(printed: thesis.KByClassCount, of_2010: thesis.KByClassCount) -> StudyFigure:
    both = {"printed": printed, "computed from the census of 2010": of_2010}
    points = pl.concat(
        [
            pl.DataFrame({"x": list(map(float, ks)), "y": list(map(float, ks.values())), "series": [name] * len(ks)})
            for name, ks in both.items()
        ]
    )
    svg = dots_figure(points, x_title="classes", y_title="k, thousands of people", is_log_x=True, is_log_y=True)
    return StudyFigure("census", svg, "The smallest class of Japan's residents by class count, in thousands.")
