"""What the studies of Oguri's thesis share: its attributes, the k that its appendix prints, and the laws through them.

The appendix prints one k for each class count. Where several kinds of classes have the same class count, such as two
sexes and two halves of the country, it is the mean of theirs, rounded to a whole number: the census computed again
shows it, and the regressions of table 11 follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.made_services import OLDEST, PREFECTURES, SEXES
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.power_law import FittedPowerLaw, PowerLaw
from tokumei.predictors.predictor import LatticeCounts

Floats = npt.NDArray[np.float64]
KByClassCount = dict[int, float]

THESIS = "Oguri, doctoral thesis (SOKENDAI, 2016)"
APPENDIX = "thesis/k_by_class_count.csv"
CENSUS = "japan_population/japan_census_2010_pref47_age5_sex.csv.gz"
ATTRIBUTES = ("sex", "age", "prefecture")
SEED = 1

# The groups of table 6 whose services the appendix lists; the census is a service of its own.
CENSUS_ID = "S0000"
MEAN = "mean"
LARGE = tuple(f"S{number:04}" for number in range(1, 11))
MIDDLE = tuple(f"S{number:04}" for number in range(11, 27))
GROUPS = {"census": (CENSUS_ID,), "over 100,000 people": LARGE, "50,001 to 100,000": MIDDLE}
# What comes of a request that is served or refused by a prediction, and the colors it is drawn in.
QUADRANTS = {
    "alpha": "α served, holds",
    "beta": "β refused, holds",
    "gamma": "γ served, fails",
    "delta": "δ refused, fails",
}
QUADRANT_COLORS = ("#0072b2", "#56b4e9", "#d55e00", "#9aa5b1")
# Table 11 fits on class counts up to this one.
FITTED_UP_TO = 9
ALL = 846
# How many tables with the fractions that print took away are tried, to see how much they matter.
N_UNROUNDED = 60


@dataclass(frozen=True, eq=False)
class Appendix:
    """The k of the census and of 26 services by class count, as printed."""

    classes: Floats
    ks: dict[str, Floats]

    @property
    def services(self) -> list[str]:
        """All but the census, largest first."""
        return [name for name in self.ks if name != CENSUS_ID]

    def mean_of(self, services: Sequence[str]) -> Appendix:
        """Return a table with the mean k of some services in place of their own, as table 10 takes it."""
        return Appendix(self.classes, {MEAN: np.mean([self.ks[service] for service in services], axis=0)})

    def law(self, service: str, largest: float = ALL) -> FittedPowerLaw:
        """Draw the power law through the k of class counts up to one, the whole table among them."""
        return draw_law(self.classes, self.ks[service], largest)

    def predicted(self, service: str, largest: float = ALL) -> Floats:
        """Predict the k of every class count by the law through the smaller ones."""
        law = self.law(service, largest)
        predicted: Floats = law.alpha * self.classes**law.beta + 1
        return predicted

    @cached_property
    def unrounded(self) -> list[Appendix]:
        """Tables that print could have rounded to this one: with fractions where a k is the mean of several."""
        steps = {1: (0.0,), 2: (0.0, -1 / 2), 3: (-1 / 3, 0.0, 1 / 3)}
        choices = [steps[n_kinds(int(classes))] for classes in self.classes]
        shape = (N_UNROUNDED, len(self.ks))
        rng = generator(SEED, "unrounded")
        fractions = np.stack([rng.choice(choice, shape) for choice in choices], axis=-1)
        return [
            Appendix(
                self.classes,
                {name: np.maximum(ks + some[index], 1) for index, (name, ks) in enumerate(self.ks.items())},
            )
            for some in fractions
        ]

    def print_spread(self, measure: Callable[[Appendix], Floats]) -> Floats:
        """Return how far each number moves at most if the k were not rounded."""
        plain = measure(self)
        spread: Floats = np.max([np.abs(measure(table) - plain) for table in self.unrounded], axis=0)
        return spread


def read_appendix(data: Path) -> Appendix:
    """Read the appendix of the thesis."""
    table = pl.read_csv(data / APPENDIX)
    classes, *services = table.get_columns()
    return Appendix(
        classes.cast(pl.Float64).to_numpy(), {one.name: one.cast(pl.Float64).to_numpy() for one in services}
    )


def draw_law(classes: Floats, ks: Floats, largest: float = ALL) -> FittedPowerLaw:
    """Draw the power law through the k of class counts up to one."""
    is_known = classes <= largest
    return PowerLaw().fit_points(thesis_lattice(), classes[is_known].astype(int).tolist(), ks[is_known].tolist())


@cache
def n_kinds(class_count: int) -> int:
    """Count the nodes of table 7 that have a class count."""
    lattice = thesis_lattice()
    return sum(lattice.class_count(node) == class_count for node in lattice)


@cache
def ages() -> Hierarchy:
    """Return the thesis's ages: years, then nine, five and three bands; the three do not follow from the five."""
    return JapanAge(bands=(9, 5, 3)).build("age", pl.Series(range(OLDEST + 1)))


@cache
def thesis_lattice() -> Lattice:
    """Return the lattice of table 7: sex 2, age 9, 5 and 3, region 47, 9 and 2."""
    indices = JapanPrefecture().build("prefecture", pl.Series(PREFECTURES))
    return Lattice.of([Sex().build("sex", pl.Series(SEXES)), ages().from_level(1), indices])


def count_people(people: pl.DataFrame) -> ClassCounts:
    """Count people by sex, nine ages and prefecture."""
    return count_classes(people, list(ATTRIBUTES), recodings=[ages().recoding(1)])


def read_census(data: Path) -> ClassCounts:
    """Count the census of 2010, each class of sex, nine ages and prefecture divided by a thousand and rounded."""
    read = pl.read_csv(data / CENSUS)
    known = read.filter(pl.col("age5") != "総数")
    nine = pl.Series("age", ages().labels_at(1)).gather(known["age5"].str.extract(r"^(\d+)").cast(pl.Int64))
    by_sex = [known.select(sex=pl.lit(sex), age=nine, prefecture="pref", n=sex) for sex in SEXES]
    classes = pl.concat(by_sex).group_by(ATTRIBUTES).agg(pl.col("n").sum())
    thousands = classes.with_columns(n=(pl.col("n") / 1_000).round().cast(pl.Int64))
    return ClassCounts.of_groups(list(ATTRIBUTES), thousands)


def k_by_class_count(lattice: Lattice, counts: ClassCounts) -> KByClassCount:
    """Return for each class count the mean k of the nodes that have it."""
    count = LatticeCounts.of(lattice, counts).classes
    ks: dict[int, list[int]] = {}
    for node in lattice:
        ks.setdefault(lattice.class_count(node), []).append(count(node).k)
    return {classes: fmean(some) for classes, some in sorted(ks.items())}


@dataclass(frozen=True)
class Regression:
    """A straight line from one column of numbers to another: what a spreadsheet's regression prints."""

    r: float
    n: int
    standard_error: float

    @classmethod
    def of(cls, known: Floats, wanted: Floats) -> Regression:
        """Draw the line that tells `wanted` from `known` by least squares."""
        slope, offset = np.polyfit(known, wanted, 1)
        left = wanted - offset - slope * known
        return cls(float(np.corrcoef(known, wanted)[0, 1]), len(known), float(np.sqrt(left @ left / (len(known) - 2))))

    @property
    def r_squared(self) -> float:
        """The share of the variance that is explained."""
        return self.r**2

    @property
    def adjusted(self) -> float:
        """The share explained, less what one free number explains by chance."""
        return 1 - (1 - self.r_squared) * (self.n - 1) / (self.n - 2)


def mean_error_ratio(ks: Floats, predicted: Floats) -> float:
    """Return the mean of max(k/k̂, k̂/k), formula (8)."""
    return float(np.maximum(ks / predicted, predicted / ks).mean())


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of a page; all columns but the first are numbers."""
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
