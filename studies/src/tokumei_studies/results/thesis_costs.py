"""What a search costs that starts where a power law says: figures 41, 42 and 44 and table 17 of the thesis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.progress import step
from tokumei.data.made_services import make_census, make_services
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Node
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.tables import decide
from tokumei.predictors.predictor import LatticeCounts
from tokumei.reports.figures import grouped_bar_figure
from tokumei_studies.figures import dots_figure
from tokumei_studies.results import _thesis as thesis
from tokumei_studies.study import Findings, StudyFigure, StudyLine

COMPARED = (thesis.CENSUS_ID, *thesis.LARGE[:6])
# PAK's cost in percent of OLA's and of Incognito's, the means over the seven tables, by the k asked for.
PRINTED = {50: (3.5, 12.5), 2: (26.6, 19.1)}
# Table 17: correlations from, services, and PAK's cost in percent of OLA's at a k of 2.
TABLE_17 = ((0.98, 11, 8.31), (0.96, 19, 2.18), (0.94, 9, 1.85), (0.0, 11, 1.37))
# The appendix prints no k of 20 classes; the row of 36, which cannot be of 36, is taken for theirs.
UNPRINTED, ITS_ROW = 20, 36
# Where a node has the level of ages, and the level of three.
AGE, THREE_AGES = 1, 2
# The class counts that the law is drawn through, of which section 4.3.1 recommends "4 to 45".
SAMPLED_UP_TO = 10
LENGTHS = (4, 5, 6, 9, 10, 12, 15, 18, 27, 36, 45)
# What `pak` samples here by default: the class counts of the eleven nodes with 2 to 10 classes.
N_SAMPLED = 2 + 2 + 3 + 4 + 5 + 6 + 6 + 9 + 9 + 10 + 10
N_SERVICES = 50
NAMES = {"ola": "OLA", "incognito": "Incognito"}
ASKED = [(k, other) for k in PRINTED for other in NAMES]

Ks = Mapping[int, float]
Costs = Mapping[str, float]


@dataclass(frozen=True)
class ThesisCosts:
    """Counts the classes that three searches look at until they have found the finest that hold a k.

    The cost is the sum of the class counts looked at. In the thesis OLA walks class counts from the most to the first
    that holds; Incognito goes from the fewest, and leaves out what divides classes that failed; PAK starts at the class
    count nearest to where a power law reaches k, and walks down from there to the first that holds, or stops at once.
    These walks are done again on the k of the appendix. The classes that the law was fitted on are not counted: else
    PAK could not cost the same as OLA for the census at a k of 2, as the thesis says. The law is fitted on class counts
    up to 10, which comes nearest to all four means. Of ages the thesis says that five are cut from nine; it gives the
    three no bounds, so that Incognito takes them for ages of their own: that three failed leaves no nine out.

    Then Tokumei's `pak`, which is this method, searches a made census and made services, against the same walks of OLA
    and Incognito over their nodes. Tokumei's own `ola`, which halves the lattice as El Emam et al. describe it, and its
    `incognito`, by subsets, leave less to save: they are in the remarks.
    """

    title: ClassVar[str] = "What a search costs that starts where a law says"
    source: ClassVar[str] = f"{thesis.THESIS}, figures 41, 42 and 44 and table 17"
    needs: ClassVar[tuple[str, ...]] = (thesis.APPENDIX,)
    is_quick: ClassVar[bool] = False

    def run(self, data: Path) -> Findings:
        """Walk as the thesis does, then search as Tokumei does."""
        appendix = thesis.read_appendix(data)
        walks = {k: [walk_costs(appendix, service, k) for service in COMPARED] for k in PRINTED}
        tables = _made_tables()
        found = {k: [_search_costs(counts, k) for counts in tables[:7]] for k in PRINTED}
        rows = [_by_service(appendix, service) for service in appendix.services]
        made = [(_correlation(counts), _ratio(_search_costs(counts, 2), "ola")) for counts in tables[1:]]
        lines = (*_walk_lines(appendix, walks), *_table_17(rows), *_search_lines(found))
        figures = (_cost_figure(walks[50], 50, "41"), _cost_figure(walks[2], 2, "42"), _ratio_figure(rows, made))
        return Findings(lines, figures, (_other_readings(appendix), _remark(tables[:7], found)))


def walk_down(ks: Sequence[tuple[int, float]], k: float, start: float = math.inf, free_up_to: int = 0) -> int:
    """Add up class counts from the one nearest to a start down to the first that holds; without one, from the most.

    So does the thesis's PAK from where its law says, and its OLA without. What is free was counted for the law.
    """
    nearest = min((classes for classes, _ in ks), key=lambda one: (abs(one - min(start, thesis.ALL)), one))
    cost = 0
    for classes, found in sorted(ks, reverse=True):
        if classes <= nearest:
            cost += classes if classes > free_up_to else 0
            if found >= k:
                break
    return cost


def walk_up(k_of: Callable[[Node], float], k: float, *, divides_three: bool = False) -> int:
    """Add up the class counts of all nodes but those that divide a node that failed, as the thesis's Incognito does.

    Args:
        k_of: the k of a node.
        k: the k asked for.
        divides_three: whether nine ages count as dividing three.
    """
    lattice = thesis.thesis_lattice()
    asked = sorted((lattice.class_count(node), node) for node in lattice if node != lattice.top)
    failed: list[Node] = []
    cost = 0
    for classes, node in asked:
        if any(
            lattice.is_coarser_or_equal(one, node)
            and (divides_three or one[AGE] == node[AGE] or one[AGE] != THREE_AGES)
            for one in failed
        ):
            continue
        cost += classes
        if k_of(node) < k:
            failed.append(node)
    return cost


def _printed_ks(appendix: thesis.Appendix, service: str) -> dict[int, float]:
    """Return the k that the appendix prints for class counts, but for the whole table."""
    ks = dict(zip(appendix.classes.astype(int).tolist(), appendix.ks[service].tolist(), strict=True))
    return {classes: found for classes, found in ks.items() if classes > 1}


def _all_ks(appendix: thesis.Appendix, service: str) -> dict[int, float]:
    """Return the k for every class count that nodes have."""
    ks = _printed_ks(appendix, service)
    return ks | {UNPRINTED: ks[ITS_ROW]}


def _of_nodes(ks: Ks) -> Callable[[Node], float]:
    return lambda node: ks[thesis.thesis_lattice().class_count(node)]


def walk_costs(appendix: thesis.Appendix, service: str, k: int, sampled_up_to: int = SAMPLED_UP_TO) -> Costs:
    """Walk on the k that the appendix prints for class counts."""
    ks = _all_ks(appendix, service)
    start = appendix.law(service, sampled_up_to).inverse(k)
    up = walk_up(_of_nodes(ks), k)
    return {"ola": walk_down([*ks.items()], k), "incognito": up, "pak": walk_down([*ks.items()], k, start)}


def mean_ratios(appendix: thesis.Appendix, walk: Callable[[thesis.Appendix, str, int], Costs]) -> list[float]:
    """Return PAK's cost in percent of OLA's and of Incognito's at each k, the means over the seven tables."""
    return [fmean(_ratio(walk(appendix, service, k), other) for service in COMPARED) for k, other in ASKED]


def _crossing_costs(appendix: thesis.Appendix, service: str, k: int) -> Costs:
    """Walk likewise, but let nine ages divide three."""
    up = walk_up(_of_nodes(_all_ks(appendix, service)), k, divides_three=True)
    return {**walk_costs(appendix, service, k), "incognito": up}


def _node_costs(appendix: thesis.Appendix, service: str, k: int) -> Costs:
    """Walk over nodes, several of which may have a class count, and pay for none twice that the law was fitted on."""
    lattice = thesis.thesis_lattice()
    k_of = _of_nodes(_all_ks(appendix, service))
    nodes = [(lattice.class_count(node), k_of(node)) for node in lattice if node != lattice.top]
    start = appendix.law(service, SAMPLED_UP_TO).inverse(k)
    return {
        "ola": walk_down(nodes, k),
        "incognito": walk_up(k_of, k),
        "pak": walk_down(nodes, k, start, free_up_to=SAMPLED_UP_TO),
    }


def _search_costs(counts: ClassCounts, k: int) -> Costs:
    """Search a made table with Tokumei's PAK, and walk its nodes as the thesis's OLA and Incognito do."""
    lattice = thesis.thesis_lattice()
    count = LatticeCounts.of(lattice, counts).classes
    ks = {node: count(node).k for node in lattice if node != lattice.top}
    down = walk_down([(lattice.class_count(node), found) for node, found in ks.items()], k)
    return {"ola": down, "incognito": walk_up(ks.__getitem__, k), "pak": _looked_at(counts, "pak", k) - N_SAMPLED}


def _looked_at(counts: ClassCounts, method: str, k: int) -> int:
    """Return the classes that one of Tokumei's searches checked."""
    hierarchies = {hierarchy.attribute: hierarchy for hierarchy in thesis.thesis_lattice().hierarchies}
    goal = Goal([KAnonymity(k)], method=TABLE_ANONYMIZERS.make(method))
    return decide(counts, hierarchies, goal).n_classes_checked


def _made_tables() -> list[ClassCounts]:
    """Make the census and the services, in this order."""
    census = thesis.count_people(make_census(seed=thesis.SEED))
    with step("counting services", N_SERVICES) as bar:
        services = []
        for _, people in make_services(N_SERVICES, seed=thesis.SEED):
            services.append(thesis.count_people(people))
            bar.advance()
    return [census, *services]


def _ratio(costs: Costs, to: str) -> float:
    """Return PAK's cost in percent of another's."""
    return 100 * costs["pak"] / costs[to]


@dataclass(frozen=True)
class _Row:
    """A service of table 17: how well its law follows k, and PAK's cost in percent of OLA's at k = 2."""

    correlation: float
    ratio: float


def _by_service(appendix: thesis.Appendix, service: str) -> _Row:
    """Walk on the class counts that the appendix prints alone: no node is asked for here."""
    correlation = float(np.corrcoef(appendix.predicted(service), appendix.ks[service])[0, 1])
    ks = [*_printed_ks(appendix, service).items()]
    start = appendix.law(service, SAMPLED_UP_TO).inverse(2)
    return _Row(correlation, 100 * walk_down(ks, 2, start) / walk_down(ks, 2))


def _correlation(counts: ClassCounts) -> float:
    """Return the correlation of a made table's k with the law through them."""
    by_classes = thesis.k_by_class_count(thesis.thesis_lattice(), counts)
    classes, ks = np.array(list(by_classes), float), np.array(list(by_classes.values()))
    law = thesis.draw_law(classes, ks)
    predicted: thesis.Floats = law.alpha * classes**law.beta + 1
    return float(np.corrcoef(predicted, ks)[0, 1])


def _walk_lines(appendix: thesis.Appendix, walks: Mapping[int, Sequence[Costs]]) -> list[StudyLine]:
    lines = []
    for k, printed in PRINTED.items():
        for other, published in zip(NAMES, printed, strict=True):
            computed = fmean(_ratio(costs, other) for costs in walks[k])
            means = [
                fmean(_ratio(walk_costs(appendix, service, k, length), other) for service in COMPARED)
                for length in LENGTHS
            ]
            why = (
                "Half a unit of print. The text does not say what its laws were fitted on, only that class counts from "
                f"4 to 45 serve: laws up to each of these give {min(means):.1f} to {max(means):.1f}. Nor has the "
                "appendix the k of nodes, only their mean by class count, which is what was walked on."
            )
            what = f"k ≥ {k}, walks on printed k: PAK in % of {NAMES[other]}"
            lines.append(StudyLine.near(what, published, computed, within=0.05, why=why, digits=1))
    why = "The text says that both cost the same."
    census = _ratio(walks[2][0], "ola")
    lines.append(StudyLine.near("k ≥ 2, census: PAK in % of OLA", 100, census, within=0, why=why, digits=1))
    return lines


def _table_17(rows: Sequence[_Row]) -> list[StudyLine]:
    lines = []
    above = 1.01
    for least, n_services, published in TABLE_17:
        some = [row for row in rows if least <= row.correlation < above]
        is_complete = len(some) == n_services
        why = (
            f"The mean of as many services of the appendix; the printed table does not name its {n_services}."
            if is_complete
            else f"Other data: of the {n_services} services of this row the appendix lists {len(some)}."
        )
        name = f"table 17, correlation from {least}" if least else f"table 17, correlation below {above}"
        computed = fmean(row.ratio for row in some)
        what = f"{name}: PAK in % of OLA"
        lines.append(
            StudyLine.near(what, published, computed, within=0.005, why=why, digits=2, is_same_method=is_complete)
        )
        above = least
    correlation = float(np.corrcoef([row.correlation for row in rows], [row.ratio for row in rows])[0, 1])
    why = "The text says that PAK costs less, next to OLA, where the law follows k less well."
    what = "figure 44: how that cost goes with the correlation"
    lines.append(StudyLine.at_least(what, 0, correlation, why=why, digits=2))
    return lines


def _search_lines(found: Mapping[int, Sequence[Costs]]) -> list[StudyLine]:
    why = (
        "Other data: a made census and made services, whose k are known by node. `pak` without what it sampled, as in "
        "the thesis, against the walks of OLA and Incognito; a sampled node that is met again costs nothing."
    )
    lines = []
    for k, printed in PRINTED.items():
        for other, published in zip(NAMES, printed, strict=True):
            computed = fmean(_ratio(costs, other) for costs in found[k])
            what = f"k ≥ {k}, `pak` on made tables: in % of {NAMES[other]}"
            lines.append(
                StudyLine.near(what, published, computed, within=0.05, why=why, digits=1, is_same_method=False)
            )
    return lines


def _cost_figure(walks: Sequence[Costs], k: int, number: str) -> StudyFigure:
    names = {**NAMES, "pak": "PAK"}
    points = pl.DataFrame(
        [
            {"group": "census" if service == thesis.CENSUS_ID else service, "series": names[name], "value": float(cost)}
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
    named = {"walks on printed k": printed, "`pak` on made services": made}
    points = pl.DataFrame(
        [{"x": x, "y": y, "series": name} for name, pairs in named.items() for x, y in pairs], orient="row"
    )
    svg = dots_figure(points, x_title="correlation of the law with k", y_title="PAK, % of OLA")
    return StudyFigure(
        "ratios", svg, "Figure 44: the cost of PAK next to OLA's at a k of 2, by how well the law follows k."
    )


def _other_readings(appendix: thesis.Appendix) -> str:
    """Describe what the walks cost where the text is read otherwise."""
    readings = {
        "as above": walk_costs,
        "nine ages divide three": _crossing_costs,
        "over nodes, those of the law for nothing": _node_costs,
    }
    numbers = {"printed": [published for k in PRINTED for published in PRINTED[k]]}
    numbers |= {name: mean_ratios(appendix, walk) for name, walk in readings.items()}
    rows = [[name, *(f"{one:.1f}" for one in some)] for name, some in numbers.items()]
    return (
        "What the text leaves open, on the k of the appendix. Ages below 20, below 60 and above would be unions of the "
        "nine, and their k in the census looks so; then three that fail leave nine out, and Incognito has less to do. "
        "The appendix has one k for all nodes of a class count, and the walks above pay for it once. It "
        f"has none for {UNPRINTED} classes: there its {ITS_ROW} is taken, but in table 17, which compares no nodes."
        "\n\n" + thesis.markdown_table(["PAK in % of", *(f"{NAMES[other]}, k ≥ {k}" for k, other in ASKED)], rows)
    )


def _remark(tables: Sequence[ClassCounts], found: Mapping[int, Sequence[Costs]]) -> str:
    own = ("ola", "incognito", "prediction-guided", "pak")
    rows = [
        [
            f"k ≥ {k}, {'census' if not index else f'S{index:04}'}",
            *(f"{int(costs[name]):,}" for name in NAMES),
            *(f"{_looked_at(counts, method, k):,}" for method in own),
        ]
        for k, by_table in found.items()
        for index, (counts, costs) in enumerate(zip(tables, by_table, strict=True))
    ]
    heads = ["made table", "OLA, walked", "Incognito, walked", *(f"`{method}`" for method in own)]
    return (
        "The classes looked at in made tables: by the thesis's walks, and by Tokumei's searches with all that they "
        f"count, {N_SAMPLED} classes of `pak`'s sample included. `prediction-guided` starts likewise and goes on until "
        f"the least loss is proven.\n\n{thesis.markdown_table(heads, rows)}"
    )
