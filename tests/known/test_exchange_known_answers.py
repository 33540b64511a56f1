"""How an exchange by margins would fare on the census and on made services, beside the thesis's figures 53 to 55."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.data.made_services import OLDEST, PREFECTURES, SEXES, make_services
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import FirstRelease, Offer, Words
from tokumei.exchange.offering import SPREAD
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.margins import Margins
from tokumei.predictors.predictor import LatticeCounts, Quadrants

AGES = JapanAge(bands=(9, 5, 3)).build("age", pl.Series(range(OLDEST + 1)))
LATTICE = Lattice.of(
    [
        Sex().build("sex", pl.Series(SEXES)),
        AGES.from_level(1),
        JapanPrefecture().build("prefecture", pl.Series(PREFECTURES)),
    ]
)
# A quick look; `make bench` has all twenty.
N_SERVICES = 4


@pytest.fixture(scope="module")
def services() -> list[ClassCounts]:
    return [
        count_classes(people, list(LATTICE.attributes), recodings=[AGES.recoding(1)])
        for _, people in make_services(N_SERVICES, seed=1)
    ]


@pytest.fixture(scope="module")
def census(shared_data: Path) -> ClassCounts:
    read = pl.read_csv(shared_data / "japan_population" / "japan_census_2010_pref47_age5_sex.csv.gz")
    known = read.filter(pl.col("age5") != "総数")
    nine = pl.Series("age", AGES.labels_at(1)).gather(known["age5"].str.extract(r"^(\d+)").cast(pl.Int64))
    by_sex = [known.select(sex=pl.lit(sex), age=nine, prefecture="pref", n=sex) for sex in SEXES]
    classes = pl.concat(by_sex).group_by("sex", "age", "prefecture").agg(pl.col("n").sum())
    thousands = classes.with_columns(n=(pl.col("n") / 1_000).round().cast(pl.Int64))
    return ClassCounts.of_groups(list(LATTICE.attributes), thousands)


def quadrants_of(counts: ClassCounts, k: int) -> tuple[Quadrants, Quadrants]:
    """Return the quadrants of margins' promises, and of all that an offer by them allows."""
    count = LatticeCounts.of(LATTICE, counts).classes
    ks = {node: count(node).k for node in LATTICE if LATTICE.class_count(node) > 1}
    first = FirstRelease(LATTICE.levels(LATTICE.top), "")
    knowledge = Margins(k_p=k, two_way=False, spread=SPREAD).fit(LATTICE, counts).knowledge
    offer = Offer("service", Words("", "", "", ""), LATTICE.hierarchies, knowledge, (Criterion("own", k),), first)
    return (
        Quadrants.of((offer.predict(node).low >= k, true >= k) for node, true in ks.items()),
        Quadrants.of((offer.zone(node, k).zone == "allowed", true >= k) for node, true in ks.items()),
    )


@pytest.mark.parametrize("k", [2, 10, 50])
def test_margins_leak_and_lose_little_on_made_services(services: list[ClassCounts], k: int) -> None:
    formula = rule = Quadrants(0, 0, 0, 0)
    for counts in services:
        by_formula, by_rule = quadrants_of(counts, k)
        formula, rule = formula + by_formula, rule + by_rule
    assert formula.n_nodes == 31 * N_SERVICES
    assert formula.shares["gamma"] <= 0.02
    assert formula.shares["beta"] <= 0.10
    # That releases must fit beside what is published costs chances, and leaks nothing.
    assert rule.shares["gamma"] <= formula.shares["gamma"]
    assert rule.shares["beta"] <= 0.20


@pytest.mark.parametrize(("k", "all_served"), [(2, True), (10, False), (50, False)])
def test_the_census_leaks_nothing_and_is_nearly_all_served_up_to_10(
    census: ClassCounts, k: int, all_served: bool
) -> None:
    formula, rule = quadrants_of(census, k)
    assert formula.gamma == rule.gamma == 0
    assert formula.shares["beta"] <= (0.20 if k == 50 else 0.10)
    assert (rule.alpha == 31) == all_served
