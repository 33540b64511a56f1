"""A predictor from one-way counts and a few two-way counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.text import JsonView, Text, choice_of
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.one_way import Leaf, Margin
from tokumei.predictors.predictor import CountedNodes, Counter, check_caution
from tokumei.predictors.two_way import TwoWay, forest, spread_beyond, way_between

# The spread is published, so it says no more than it must: it is one of these.
SPREADS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)


@dataclass(frozen=True)
class Margins:
    """How small the smallest class is likely to be, if attributes depend on each other only two by two.

    Counts the rows of each value and of each two values, never of three. The attributes are joined into a tree by the
    tables that explain most; the tree gives each class the rows to expect, and chance what the smallest of them has.
    Where the published counts hold a node's classes, its k is known and the band is a point.

    Knowledge: for each attribute the rows of its values, and for at most one pair fewer than there are attributes the
    rows by some level of both. Values of fewer than `k_p` rows are merged with others, and a table is chosen at levels
    where no count but 0 is below k_p. Since the tables are decomposable, to one who adds and subtracts them every
    class that can have rows at all can have k_p or more. That values were merged says that some of them are small or
    absent, not which. For sex, nine ages and 47 prefectures these are about 60 to 160 counts, of the 846 of the full
    cross.

    One more number, the spread, widens the band by what the counted pairs show beyond the tree, and so far that none
    of them is promised that fails. It is one of six, so that it says little of any count.

    Which tables were chosen, and the spread, depend on counts that are not published: an offer to strangers does
    without (`two_way` off, a `spread` that is given), or has tables at levels that somebody named beforehand.

    Weakness: three attributes that depend on each other in more than pairs; and where pairs depend in a circle,
    the spread is wide for all nodes alike.
    """

    k_p: int = field(default=2, metadata={"help": "The k it serves: no count below it is published."})
    caution: float = field(default=0.1, metadata={"help": "Chance that k lies below the band, and above it."})
    most_classes: int = field(
        default=100_000, metadata={"help": "Largest two-way table that is counted; beyond it coarser levels are."}
    )

    two_way: bool = field(default=True, metadata={"help": "Also publish two-way tables, those that explain most."})
    spread: float | None = field(
        default=None, metadata={"help": "How uncertain the expected sizes are, as the logarithm of a factor."}
    )

    def __post_init__(self) -> None:
        check_caution(self.caution)
        if self.spread is not None and self.spread not in SPREADS:
            raise InputError.of(choice_of(f"{each:g}" for each in SPREADS), option="spread")
        if self.k_p < 1:
            raise InputError.of("a k of 1 or more", option="k_p", value=self.k_p)
        if self.most_classes < 4:
            raise InputError.of("4 classes or more", option="most_classes", value=self.most_classes)

    def fit(self, lattice: Lattice, counter: Counter | ClassCounts) -> FittedMargins:
        """Count each attribute and each pair, and keep what may be published."""
        counted = CountedNodes(lattice, counter)
        indices = range(len(lattice.hierarchies))
        margins = tuple(self._count_margin(counted, index) for index in indices)
        if not self.two_way and self.spread is not None:
            return FittedMargins(lattice, self.k_p, self.caution, margins, (), self.spread, counted.n_classes_counted)
        finest: list[TwoWay] = []
        tables: dict[Node, TwoWay] = {}
        for pair in combinations(indices, 2):
            levels = countable_levels(lattice, pair, self.most_classes)
            finest.append(_count_pair(counted, margins, levels))
            tables |= _coarser_tables(lattice, margins, finest[-1], levels)
        chosen = forest(table for table in tables.values() if self.two_way and table.holds(self.k_p))
        spread = spread_beyond(margins, chosen, finest) if self.spread is None else self.spread
        nearest = min(SPREADS, key=lambda each: abs(each - spread))
        fitted = FittedMargins(lattice, self.k_p, self.caution, margins, chosen, nearest, counted.n_classes_counted)
        if self.spread is not None:
            return fitted
        return _widened(fitted, [node for node, table in tables.items() if not table.holds(self.k_p)])

    def _count_margin(self, counted: CountedNodes, index: int) -> Margin:
        hierarchy = counted.lattice.hierarchies[index]
        counts = counted.classes(node_of(counted.lattice, {index: 0})).over([hierarchy.attribute])
        if counts.n_rows < self.k_p:
            raise CannotAnonymize(
                Text("{n} rows are fewer than k_p = {k}: nothing may be published.", n=counts.n_rows, k=self.k_p)
            )
        return Margin.of_rows(hierarchy, dict(zip(_labels(counts, 0), counts.sizes.tolist(), strict=True)), self.k_p)

    def with_tables(
        self, fitted: FittedMargins, counter: Counter | ClassCounts, wanted: Sequence[Mapping[str, int]]
    ) -> FittedMargins:
        """Add two-way tables at levels that were named beforehand, each by the levels of its two attributes.

        Which tables there are then tells nothing of the counts; one with a count below k_p, 0 included, is refused.
        """
        counted = CountedNodes(fitted.lattice, counter)
        tables: list[TwoWay] = []
        for levels in wanted:
            fitted.lattice.node(levels)
            if len(levels) != 2:
                raise InputError.of("the levels of two attributes", option="tables", value=", ".join(levels))
            places = {fitted.lattice.attributes.index(name): level for name, level in levels.items()}
            table = _count_pair(counted, fitted.margins, dict(sorted(places.items())))
            if min(table.counts.shape) < 2 or int(table.counts.min()) < self.k_p:
                named = " and ".join(f"{name} at level {level}" for name, level in levels.items())
                raise CannotAnonymize(
                    Text("A table of {names} cannot be published with {k} rows in each class.", names=named, k=self.k_p)
                )
            if way_between(tables, table.first, table.second) is not None:
                raise InputError.of("tables that are decomposable: no circle", option="tables", value=str(levels))
            tables.append(table)
        return replace(fitted, tables=tuple(tables))

    @classmethod
    def from_knowledge(cls, lattice: Lattice, knowledge: JsonView) -> FittedMargins:
        """Make the predictor of one who has only the published counts."""
        try:
            named = knowledge["attributes"]
            return FittedMargins(
                lattice=lattice,
                k_p=int(knowledge["k_p"]),
                caution=float(knowledge["caution"]),
                margins=tuple(Margin.of_groups(each, named[each.attribute]) for each in lattice.hierarchies),
                tables=tuple(_read_table(lattice, table) for table in knowledge["tables"]),
                spread=float(knowledge["spread"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError.of("the knowledge of margins over this lattice", value=str(error)) from None


def _count_pair(counted: CountedNodes, margins: Sequence[Margin], levels: Mapping[int, int]) -> TwoWay:
    """Count two attributes at these levels, labels that share a group as one."""
    lattice = counted.lattice
    classes = counted.classes(node_of(lattice, levels)).over([lattice.attributes[index] for index in levels])
    parts, codes = [], []
    for column, (index, level) in enumerate(levels.items()):
        parts.append(margins[index].joined(level))
        part_of = margins[index].part_of_label(level, parts[-1])
        labels: dict[str | None, int] = {
            label: code for code, label in enumerate(lattice.hierarchies[index].levels[level].labels)
        }
        # The last leaf; where a level says nothing, its label is that of all.
        labels[None] = int(margins[index].codes[level, -1])
        codes.append(part_of[[labels[label] for label in _labels(classes, column)]][classes.codes[column]])
    counts = np.zeros([int(each.max()) + 1 for each in parts], np.int64)
    np.add.at(counts, tuple(codes), classes.sizes)
    first, second = levels
    return TwoWay(first, second, parts[0], parts[1], counts)


def _read_table(lattice: Lattice, table: JsonView) -> TwoWay:
    first, second = (lattice.attributes.index(name) for name in table["attributes"])
    first_parts, second_parts = (np.array(parts, np.int64) for parts in table["parts"])
    return TwoWay(first, second, first_parts, second_parts, np.array(table["rows"], np.int64))


def _coarser_tables(
    lattice: Lattice, margins: Sequence[Margin], finest: TwoWay, levels: Mapping[int, int]
) -> dict[Node, TwoWay]:
    """Return the tables of two attributes at all levels that follow from those counted, by node."""
    ways = []
    for index, level in levels.items():
        following = [level, *np.flatnonzero(lattice.hierarchies[index].finer[level]).tolist()]
        ways.append([(each, margins[index].joined(each)) for each in following])
    tables = {
        node_of(lattice, {finest.first: one, finest.second: other}): finest.coarsened(first_parts, second_parts)
        for (one, first_parts), (other, second_parts) in product(*ways)
    }
    return {node: table for node, table in tables.items() if min(table.counts.shape) > 1}


def _widened(fitted: FittedMargins, failing: Sequence[Node]) -> FittedMargins:
    """Return the spread that is needed lest a node be promised that was counted and fails, as far as there is one."""
    for spread in (each for each in SPREADS if each >= fitted.spread):
        fitted = replace(fitted, spread=spread)
        failing = [node for node in failing if fitted.predict(node).low >= fitted.k_p]
        if not failing:
            break
    return fitted


def node_of(lattice: Lattice, levels: Mapping[int, int]) -> Node:
    """Return the node of some attributes at these levels and the others at the top."""
    return tuple(levels.get(index, level) for index, level in enumerate(lattice.top))


def countable_levels(lattice: Lattice, pair: tuple[int, int], most_classes: int) -> dict[int, int]:
    """Return the finest levels of two attributes with few enough classes; the one with more labels yields first."""
    levels = dict.fromkeys(pair, 0)
    while lattice.class_count(node_of(lattice, levels)) > most_classes:
        labels = {index: len(lattice.hierarchies[index].levels[level]) for index, level in levels.items()}
        widest = max(pair, key=lambda index: labels[index])
        levels[widest] = lattice.hierarchies[widest].above[levels[widest]][0]
    return levels


def _labels(counts: ClassCounts, column: int) -> list[Leaf]:
    return [None if label is None else str(label) for label in counts.domains[column]]
