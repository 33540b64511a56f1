"""What a search costs that starts where a power law says: figures 41, 42 and 44 and table 17 of the thesis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.anonymize.goal import Goal
from tokumei.anonymize.registry import TableSearch
from tokumei.anonymize.table.incognito import Incognito
from tokumei.anonymize.table.ola import Ola
from tokumei.anonymize.table.pak import Pak
from tokumei.anonymize.tables import decide
from tokumei.core.progress import step
from tokumei.counting.class_counts import ClassCounts
from tokumei.data.made.services import make_census, make_services
from tokumei.measure.safety.k_anonymity import KAnonymity
from tokumei.report.study_figures import dots_figure, grouped_bar_figure
from tokumei.studies.results._thesis import (
    ALL,
    APPENDIX,
    CENSUS_ID,
    FITTED_UP_TO,
    LARGE,
    SEED,
    THESIS,
    Appendix,
    Floats,
    count_people,
    draw_law,
    k_by_class_count,
    markdown_table,
    read_appendix,
    thesis_lattice,
)
from tokumei.studies.study import Findings, StudyFigure, StudyLine

COMPARED = (CENSUS_ID, *LARGE[:6])
# PAK's cost in percent of OLA's and of Incognito's, the means over the seven tables, by the k asked for.
PRINTED = {50: (3.5, 12.5), 2: (26.6, 19.1)}
# Table 17: correlations from, services, and PAK's cost in percent of OLA's at a k of 2.
TABLE_17 = ((0.98, 11, 8.31), (0.96, 19, 2.18), (0.94, 9, 1.85), (0.0, 11, 1.37))
# The appendix prints no k of 20 classes; the row of 36, which cannot be of 36, is taken for theirs.
UNPRINTED, ITS_ROW = 20, 36
METHODS: Mapping[str, TableSearch] = {"ola": Ola(), "incognito": Incognito(), "pak": Pak()}
N_SERVICES = 50

Ks = Mapping[int, float]


@dataclass(frozen=True)
class ThesisCosts:
    """Counts the classes that three searches look at until they have found the finest that hold a k.

    The cost is the sum of the class counts looked at. In the thesis OLA walks class counts from the most to the first
    that holds; Incognito goes from the fewest, and leaves out what divides classes that failed; PAK starts at the class
    count nearest to where the law of table 16 reaches k, and walks down from there to the first that holds, or stops at
    once. These walks are done again on the k of the appendix. The classes that the law was fitted on are not counted:
    else PAK could not cost the same as OLA for the census at a k of 2, as the thesis says.

    Then Tokumei's own searches do the same work on a made census and made services: OLA that halves the lattice,
    Incognito by subsets, and PAK that counts what it fits on and proves that nothing finer holds.
    """

    title: ClassVar[str] = "What a search costs that starts where a law says"
    source: ClassVar[str] = f"{THESIS}, figures 41, 42 and 44 and table 17"
    needs: ClassVar[tuple[str, ...]] = (APPENDIX,)
    is_quick: ClassVar[bool] = False

    def run(self, data: Path) -> Findings:
        """Walk as the thesis does, then search as Tokumei does."""
        appendix = read_appendix(data)
        walks = {k: [_walk_costs(appendix, service, k) for service in COMPARED] for k in PRINTED}
        tables = _made_tables()
        found = {k: [_search_costs(counts, k) for counts in tables[:7]] for k in PRINTED}
        rows = [_by_service(appendix, service) for service in appendix.services]
        made = [
            (_correlation(counts), _ratio(_search_costs(counts, 2, ("ola", "pak")), "ola")) for counts in tables[1:]
        ]
        starts = [appendix.law(service).inverse(2) for service in COMPARED[1:]]
        lines = (*_walk_lines(walks, starts), *_table_17(rows), *_search_lines(found))
        figures = (_cost_figure(walks[50], 50, "41"), _cost_figure(walks[2], 2, "42"), _ratio_figure(rows, made))
        return Findings(lines, figures, _remarks(found))


def walk_down(ks: Ks, k: float) -> int:
    """Add up the class counts from the most to the first that holds, as the thesis's OLA does."""
    return _walk(sorted(ks, reverse=True), ks, k)


def walk_from(ks: Ks, k: float, start: float) -> int:
    """Add up class counts from the one nearest to a start down to the first that holds, as the thesis's PAK does."""
    nearest = min(ks, key=lambda classes: (abs(classes - start), classes))
    return _walk(sorted((classes for classes in ks if classes <= nearest), reverse=True), ks, k)


def walk_up(ks: Ks, k: float) -> int:
    """Add up the class counts of all nodes but those that divide a node that failed, as the thesis's Incognito does."""
    lattice = thesis_lattice()
    asked = sorted((lattice.class_count(node), node) for node in lattice if node != lattice.top)
    failed: list[tuple[int, ...]] = []
    cost = 0
    for classes, node in asked:
        if any(lattice.is_coarser_or_equal(one, node) for one in failed):
            continue
        cost += classes
        if ks[ITS_ROW if classes == UNPRINTED else classes] < k:
            failed.append(node)
    return cost


def _walk(order: Sequence[int], ks: Ks, k: float) -> int:
    cost = 0
    for classes in order:
        cost += classes
        if ks[classes] >= k:
            break
    return cost


def _walk_costs(appendix: Appendix, service: str, k: int, fitted_up_to: int = ALL) -> dict[str, int]:
    rows = zip(appendix.classes.astype(int).tolist(), appendix.ks[service].tolist(), strict=True)
    ks = {classes: found for classes, found in rows if classes > 1}
    start = appendix.law(service, fitted_up_to).inverse(k)
    return {"ola": walk_down(ks, k), "incognito": walk_up(ks, k), "pak": walk_from(ks, k, start)}


def _search_costs(counts: ClassCounts, k: int, names: Iterable[str] = tuple(METHODS)) -> dict[str, int]:
    """Let Tokumei's own searches find the same, and give the classes that each checked."""
    hierarchies = {hierarchy.attribute: hierarchy for hierarchy in thesis_lattice().hierarchies}
    goals = {name: Goal([KAnonymity(k)], method=METHODS[name]) for name in names}
    return {name: decide(counts, hierarchies, goal).n_classes_checked for name, goal in goals.items()}


def _made_tables() -> list[ClassCounts]:
    """Make the census and the services, in this order."""
    census = count_people(make_census(seed=SEED))
    with step("counting services", N_SERVICES) as bar:
        services = []
        for _, people in make_services(N_SERVICES, seed=SEED):
            services.append(count_people(people))
            bar.advance()
    return [census, *services]


def _ratio(costs: Mapping[str, int], to: str) -> float:
    """Give PAK's cost in percent of another's."""
    return 100 * costs["pak"] / costs[to]


@dataclass(frozen=True)
class _Row:
    """A service of table 17: how well its law follows k, and PAK's cost in percent of OLA's at k = 2, by two laws."""

    correlation: float
    ratio: float
    ratio_of_short_law: float


def _by_service(appendix: Appendix, service: str) -> _Row:
    correlation = float(np.corrcoef(appendix.predicted(service), appendix.ks[service])[0, 1])
    ratios = [_ratio(_walk_costs(appendix, service, 2, largest), "ola") for largest in (ALL, FITTED_UP_TO)]
    return _Row(correlation, *ratios)


def _correlation(counts: ClassCounts) -> float:
    """Give the correlation of a made table's k with the law through them."""
    by_classes = k_by_class_count(thesis_lattice(), counts)
    classes, ks = np.array(list(by_classes), float), np.array(list(by_classes.values()))
    law = draw_law(classes, ks)
    predicted: Floats = law.alpha * classes**law.beta + 1
    return float(np.corrcoef(predicted, ks)[0, 1])


def _walk_lines(walks: Mapping[int, Sequence[Mapping[str, int]]], starts: Sequence[float]) -> list[StudyLine]:
    by_mean = "Half a unit of print. The appendix's k are means over the nodes of a class count, as are the walks."
    by_node = (
        "Incognito leaves out nodes, and the appendix has no k of nodes, only their mean by class count, which is what "
        "was walked on."
    )
    at_two = (
        "At a k of 2 all hangs on the few rows where k is 1 or 2. The laws of table 16 start the services between "
        f"{min(starts):.0f} and {max(starts):.0f} classes, where most rows fail. How the thesis takes means between 1 "
        "and 2, and which law it starts by, is not printed."
    )
    lines = []
    for k, (to_ola, to_incognito) in PRINTED.items():
        for other, published in (("ola", to_ola), ("incognito", to_incognito)):
            why = at_two if k == 2 else by_mean if other == "ola" else by_node
            computed = fmean(_ratio(costs, other) for costs in walks[k])
            name = {"ola": "OLA", "incognito": "Incognito"}[other]
            what = f"k ≥ {k}, walks on printed k: PAK in % of {name}"
            lines.append(StudyLine.near(what, published, computed, within=0.05, why=why, digits=1))
    census = _ratio(walks[2][0], "ola")
    why = "The text says that both cost the same."
    lines.append(StudyLine.near("k ≥ 2, census: PAK in % of OLA", 100, census, within=0, why=why, digits=1))
    return lines


def _table_17(rows: Sequence[_Row]) -> list[StudyLine]:
    lines = []
    above = 1.01
    for least, _, published in TABLE_17:
        some = [row for row in rows if least <= row.correlation < above]
        why = (
            f"Of the 50 services of table 17 the appendix has 26, {len(some)} of them here. They cost more than "
            f"printed, as in figure 42. By laws fitted up to {FITTED_UP_TO} classes, as those of table 11, they cost "
            f"{fmean(row.ratio_of_short_law for row in some):.2f} %, less than printed; the text does not say which "
            "law it starts by."
        )
        name = f"table 17, correlation from {least}" if least else f"table 17, correlation below {above}"
        computed = fmean(row.ratio for row in some)
        lines.append(StudyLine.near(f"{name}: PAK in % of OLA", published, computed, within=0.005, why=why, digits=2))
        above = least
    correlation = float(np.corrcoef([row.correlation for row in rows], [row.ratio for row in rows])[0, 1])
    why = "The text says that PAK costs less, next to OLA, where the law follows k less well."
    lines.append(
        StudyLine.at_least("figure 44: how that cost goes with the correlation", 0, correlation, why=why, digits=2)
    )
    return lines


def _search_lines(found: Mapping[int, Sequence[Mapping[str, int]]]) -> list[StudyLine]:
    why = (
        "Tokumei's OLA halves the lattice from the middle, as El Emam et al. describe it, and does not walk from the "
        "finest node; its Incognito uses subsets. Both leave little to save. Its PAK counts the classes that the law "
        "is fitted on, and goes on until nothing finer can hold."
    )
    lines = []
    for k, (to_ola, to_incognito) in PRINTED.items():
        for other, published in (("ola", to_ola), ("incognito", to_incognito)):
            computed = fmean(_ratio(costs, other) for costs in found[k])
            name = {"ola": "OLA", "incognito": "Incognito"}[other]
            what = f"k ≥ {k}, Tokumei's searches on made tables: PAK in % of {name}"
            lines.append(StudyLine.near(what, published, computed, within=0.05, why=why, digits=1))
    return lines


def _cost_figure(walks: Sequence[Mapping[str, int]], k: int, number: str) -> StudyFigure:
    names = {"ola": "OLA", "incognito": "Incognito", "pak": "PAK"}
    points = pl.DataFrame(
        [
            {"group": "census" if service == CENSUS_ID else service, "series": names[name], "value": float(cost)}
            for service, costs in zip(COMPARED, walks, strict=True)
            for name, cost in costs.items()
        ]
    )
    svg = grouped_bar_figure(points, x_title="", y_title="classes looked at", is_log=True)
    return StudyFigure(
        f"k{k}", svg, f"Figure {number}: classes looked at until a k of {k} is found, on the k of the appendix."
    )


def _ratio_figure(rows: Sequence[_Row], made: Sequence[tuple[float, float]]) -> StudyFigure:
    printed = [(row.correlation, row.ratio) for row in rows]
    named = {"walks on printed k": printed, "Tokumei's searches on made services": made}
    points = pl.DataFrame(
        [{"x": x, "y": y, "series": name} for name, pairs in named.items() for x, y in pairs], orient="row"
    )
    svg = dots_figure(points, x_title="correlation of the law with k", y_title="PAK, % of OLA")
    return StudyFigure(
        "ratios", svg, "Figure 44: the cost of PAK next to OLA's at a k of 2, by how well the law follows k."
    )


def _remarks(found: Mapping[int, Sequence[Mapping[str, int]]]) -> tuple[str, ...]:
    rows = [
        [f"k ≥ {k}, {'census' if not index else f'S{index:04}'}", *(f"{costs[name]:,}" for name in METHODS)]
        for k, tables in found.items()
        for index, costs in enumerate(tables)
    ]
    table = markdown_table(["made table", "OLA", "Incognito", "PAK"], rows)
    return (f"The classes that Tokumei's searches looked at.\n\n{table}",)
