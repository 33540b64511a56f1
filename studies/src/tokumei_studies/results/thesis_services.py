"""The k of services by class count and size: chapter 3 of the thesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.data.made_services import MOST_SERVICES, prefecture_counts
from tokumei.reports.figures import grouped_bar_figure
from tokumei_studies.figures import dots_figure
from tokumei_studies.results import _thesis as thesis
from tokumei_studies.results._made_services import RANKS, MadeServices, indices_of
from tokumei_studies.study import Findings, StudyFigure, StudyLine

# Table 6: people and services of the groups that the appendix lists.
TABLE_6 = {"over 100,000 people": (10, 1_669_482, 166_948), "50,001 to 100,000": (16, 1_147_872, 71_742)}
PEOPLE_FROM_TO = {"over 100,000 people": (100_001, np.inf), "50,001 to 100,000": (50_001, 100_000)}
# Table 8: by how much k falls from one class count to the next, and that in percent of the mean number of people.
TABLE_8 = {"over 100,000 people": (-2938.9, -1.76), "50,001 to 100,000": (-892.7, -1.24)}
# The class counts that table 8's line goes through: the nine from 2 to 18.
FIRST, LAST = 2, 18
# The groups of figures 23 and 24 whose services are not published.
UNPUBLISHED = ("10,001–50,000", "5,001–10,000")
# Sex with nine, five and three ages.
AGES = {18: (0, 0, 3), 10: (0, 1, 3), 6: (0, 2, 3)}
PREFECTURE_NODE = (1, 3, 0)
# Mean k and share of services with a k of 1 at 18 classes among the largest ten.
K_18, UNIQUE_18 = 6.6, 0.40
CORRELATION_47 = 0.914
N_SEEDS = 10
N_SCATTERED = 100


@dataclass(frozen=True)
class ThesisServices:
    """Looks how k falls with the class count and with the size of a service.

    The appendix prints the k of 26 services of more than 50,000 people, so that tables 6 and 8 and figures 23, 24 and
    26 can be computed for these. The other 1,609 services are not published. For them, and for what the appendix does
    not tell apart, 1,635 services are made up here, of the sizes of table 6 and skewed as the chapter describes; what
    is computed from them says whether they are like the thesis's, not whether the thesis is right.
    """

    title: ClassVar[str] = "How k falls with classes and size"
    source: ClassVar[str] = f"{thesis.THESIS}, chapter 3, tables 6 and 8 and figures 23 to 31"
    needs: ClassVar[tuple[str, ...]] = (thesis.APPENDIX,)
    is_quick: ClassVar[bool] = False

    def run(self, data: Path) -> Findings:
        """Compute the printed services, then the made ones."""
        appendix = thesis.read_appendix(data)
        made = MadeServices.of(MOST_SERVICES, thesis.SEED)
        by_ages = {classes: made.ks(node) for classes, node in AGES.items()}
        lines = (*_table_6(appendix), *_table_8(appendix), *_made_lines(made, by_ages))
        figures = (_falling_figure(appendix, made), *_size_figures(by_ages), _index_figure(made))
        return Findings(lines, figures, _remarks(appendix))


def _table_6(appendix: thesis.Appendix) -> list[StudyLine]:
    lines = []
    for group, (n_services, n_people, mean) in TABLE_6.items():
        least, most = PEOPLE_FROM_TO[group]
        everyone = [float(appendix.ks[service][0]) for service in appendix.services]
        people = [one for one in everyone if least <= one <= most]
        why = "A count: it is the same or it is not."
        lines += [
            StudyLine.near(f"table 6, {group}: services", n_services, len(people), within=0, why=why, digits=0),
            StudyLine.near(f"table 6, {group}: people", n_people, sum(people), within=0, why=why, digits=0),
            StudyLine.near(
                f"table 6, {group}: people a service", mean, fmean(people), within=0.5, why="Printed whole.", digits=0
            ),
        ]
    return lines


def _table_8(appendix: thesis.Appendix) -> list[StudyLine]:
    lines = []
    why = "Half a unit of the last printed digit; the k are means over services and hardly rounded."
    for group, (fall, share) in TABLE_8.items():
        computed = fall_of_k(appendix, thesis.GROUPS[group], by_row=True)
        people = fmean(float(appendix.ks[service][0]) for service in thesis.GROUPS[group])
        lines += [
            StudyLine.near(f"table 8, {group}: fall of k", fall, computed, within=0.05, why=why, digits=1),
            StudyLine.near(
                f"table 8, {group}: in % of people", share, 100 * computed / people, within=0.005, why=why, digits=2
            ),
        ]
    return lines


def fall_of_k(appendix: thesis.Appendix, services: Sequence[str], *, by_row: bool) -> float:
    """Return the slope of the mean k from 2 to 18 classes, over row numbers or class counts."""
    is_in = (appendix.classes >= FIRST) & (appendix.classes <= LAST)
    mean = np.mean([appendix.ks[service][is_in] for service in services], axis=0)
    over = np.arange(len(mean)) if by_row else appendix.classes[is_in]
    return float(np.polyfit(over, mean, 1)[0])


def census_correlation(residents: thesis.Floats) -> float:
    """Return the correlation of people by prefecture with the census of 2010."""
    return float(np.corrcoef(residents, prefecture_counts().sum(axis=1))[0, 1])


def _made_lines(made: MadeServices, by_ages: Mapping[int, thesis.Floats]) -> list[StudyLine]:
    others = [MadeServices.of(10, seed).ks(AGES[18]) for seed in range(thesis.SEED + 1, thesis.SEED + N_SEEDS)]
    draws = [by_ages[18][:10], *others]
    mean_k = [float(ks.mean()) for ks in draws]
    unique = [float((ks == 1).mean()) for ks in draws]
    large, small = indices_of("> 100,000"), indices_of("≤ 1,000")
    total = made.residents.sum(axis=0)
    together = census_correlation(total)
    why = f"Twice the spread of ten made services over {N_SEEDS} seeds, and their mean."
    why_k = (
        f"{why} Other data: made services have fewer of the rarest people, the very old and children, than the "
        "thesis's; both are single digits among hundred thousands, which is what the thesis concludes."
    )
    return [
        StudyLine.near(
            "18 classes: mean k of ten services over 100,000, made",
            K_18,
            fmean(mean_k),
            within=2 * stdev(mean_k),
            why=why_k,
            digits=1,
            is_same_method=False,
        ),
        StudyLine.near(
            "18 classes: share of them with a k of 1, made",
            UNIQUE_18,
            fmean(unique),
            within=2 * stdev(unique),
            why=why,
            digits=2,
            is_same_method=False,
        ),
        StudyLine.at_least(
            "18 classes: share of services up to 1,000 with a k of 1, made",
            0.9,
            float((by_ages[18][small] == 1).mean()),
            why="Other data, made: the text says more than 90 %. Which sizes the 1,415 services have is not printed, "
            "and the k of so few people hangs on that: of two people both may be in one class.",
            digits=2,
            is_same_method=False,
        ),
        StudyLine.at_least(
            "k at 10 classes, times that at 6, services over 100,000, made",
            10,
            float(by_ages[10][large].mean() / by_ages[6][large].mean()),
            why="The text says ten times or more.",
            digits=1,
            is_same_method=False,
        ),
        StudyLine.near(
            "10 classes: share of services over 1,000 with a k of 2 or more, made",
            1,
            float((by_ages[10][: small.start] >= 2).mean()),
            within=0,
            why="Other data: some made services of a few thousand people are nearly all of one sex, and one age of "
            "the other has a single person. The thesis's had none such.",
            digits=3,
            is_same_method=False,
        ),
        StudyLine.near(
            "prefectures: correlation of all people with the census, made",
            CORRELATION_47,
            together,
            within=max(abs(together - census_correlation(total - one)) for one in made.residents[large]),
            why="Other data: made services lean to cities and some to one place as the chapter says, without numbers "
            "for how much. The tolerance is the most that leaving out one of the ten largest changes.",
            digits=3,
            is_same_method=False,
        ),
    ]


def _falling_figure(appendix: thesis.Appendix, made: MadeServices) -> StudyFigure:
    x = appendix.classes
    parts = [
        pl.DataFrame(
            {"x": x, "y": np.mean([appendix.ks[one] for one in services], axis=0), "series": f"{name}, printed"}
        )
        for name, services in thesis.GROUPS.items()
    ]
    lattice = thesis.thesis_lattice()
    by_node = [(float(lattice.class_count(node)), made.ks(node)) for node in lattice]
    for name in UNPUBLISHED:
        means = pl.DataFrame([{"x": classes, "y": float(ks[indices_of(name)].mean())} for classes, ks in by_node])
        by_classes = means.group_by("x").agg(pl.col("y").mean()).sort("x")
        parts.append(by_classes.with_columns(series=pl.lit(f"{name}, made")))
    points = pl.concat(parts)
    svg = dots_figure(points, lines=points, x_title="classes", y_title="mean k", is_log_x=True, is_log_y=True)
    return StudyFigure("k", svg, "Figures 23 and 24: the mean k of services by class count.")


def _size_figures(by_ages: Mapping[int, thesis.Floats]) -> list[StudyFigure]:
    rows = [
        {
            "group": name,
            "series": f"{classes} classes",
            "k": float(ks[indices_of(name)].mean()),
            "unique": float((ks[indices_of(name)] == 1).mean()),
        }
        for name in RANKS
        for classes, ks in by_ages.items()
    ]
    points = pl.DataFrame(rows)
    mean = grouped_bar_figure(
        points.rename({"k": "value"}), x_title="people of the service", y_title="mean k", is_log=True
    )
    unique = grouped_bar_figure(
        points.rename({"unique": "value"}), x_title="people of the service", y_title="share with a k of 1"
    )
    return [
        StudyFigure("sizes", mean, "Figures 27 to 29: the mean k of made services at 18, 10 and 6 classes."),
        StudyFigure("unique", unique, "Figures 27 to 29: the share of made services with a k of 1."),
    ]


def _index_figure(made: MadeServices) -> StudyFigure:
    ks = made.ks(PREFECTURE_NODE)
    points = pl.DataFrame(
        [
            {
                "x": census_correlation(made.residents[index]),
                "y": float(ks[index]),
                "series": "over 50,000 people"
                if index < len(thesis.LARGE + thesis.MIDDLE)
                else f"up to rank {N_SCATTERED}",
            }
            for index in range(N_SCATTERED)
        ]
    )
    svg = dots_figure(
        points, x_title="correlation with the census by prefecture", y_title="k by prefecture", is_log_y=True
    )
    return StudyFigure(
        "places", svg, f"Figures 30 and 31: the k of 47 prefectures in the {N_SCATTERED} largest made services."
    )


def _remarks(appendix: thesis.Appendix) -> tuple[str, ...]:
    a_class = fall_of_k(appendix, thesis.LARGE, by_row=False)
    return (
        "The printed curves have a peak at 36 classes, and the made ones at 20, of sex, five ages and two halves of "
        "the country, a class count that the appendix lacks. Its row of 36 looks like one of 20 under a wrong label; "
        "the study `thesis-census` shows that it cannot be of 36.",
        "Table 8 is said to be what k loses for each class more. Its numbers are what k loses from one row of the "
        f"appendix to the next, from {FIRST} to {LAST} classes: the slope over the rows' numbers, not over class "
        f"counts. For each class more the ten largest services lose {-a_class:,.1f}.",
        "Not drawn: figures 22 and 25, since the text does not say of what the standard deviation is taken; figure 26 "
        "and table 8 for 10,001 to 50,000 people, since those services are not published. The k of 18 classes that "
        "chapter 3 speaks of is that of sex and nine ages; the appendix's row is the mean over three kinds of 18 "
        "classes, so that the 6.6 cannot be computed from it.",
    )
