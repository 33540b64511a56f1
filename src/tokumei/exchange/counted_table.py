"""The provider's own table, counted as seldom as possible, and the numbers that are drawn in secret.

What follows from a count is rolled up from it. Columns that are carried along are what an attacker wants to learn of a
class, so that something must hold of them. Secret numbers are always the same for one key and one table, so that
nothing averages out.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TypeVar

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.text import Json
from tokumei.data.files.keys import PrivateKey
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import SIZE, ClassCounts, ColumnMap, Recoding
from tokumei.engines.count import count_classes
from tokumei.engines.engine import Engine
from tokumei.exchange.documents import Document
from tokumei.exchange.joint import joint_node
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node


@dataclass(frozen=True)
class Sensitive:
    """What must hold of the values of each carried column in every class.

    l: fewest different values (distinct ℓ-diversity); a missing value is none. t: most that the shares of a class may
    differ from those of the table, by total variation (t-closeness); None asks for nothing.
    """

    l: int = 2  # noqa: E741 - the name that the field uses.
    t: float | None = None

    def __post_init__(self) -> None:
        if self.l < 2:
            raise InputError.of("at least 2 different values", column="sensitive.l", value=self.l)
        if self.t is not None and not 0 <= self.t <= 1:
            raise InputError.of("a number from 0 to 1", column="sensitive.t", value=self.t)


def sensitive_of(fields: Document) -> Sensitive:
    """Read what is asked of carried columns from a document."""
    t = None if fields.found.get("t") is None else fields.number("t", least=0, most=1)
    fields.asked.add("t")
    read = Sensitive(fields.whole("l", least=2, most=10**6), t)
    fields.finish()
    return read


# So many classes fit in memory many times over. Beyond, no finer node is counted than is needed.
MOST_CLASSES = 5_000_000


class CountedTable:
    """Class counts of any node of a table, and of the columns that are carried along.

    The finest counts so far are kept. A node that does not follow from them is counted together with them, in one
    pass over the rows; all others take none. `n_passes` tells how many there were.
    """

    def __init__(
        self,
        lattice: Lattice,
        source: object,
        *,
        carried: Sequence[str] = (),
        sensitive: Sensitive | None = None,
        engine: str | Engine = "local",
        **reading: object,
    ) -> None:
        self.lattice = lattice
        self.carried = tuple(carried)
        self.sensitive = sensitive or Sensitive()
        self.n_passes = 0
        self.source = source
        self.reading: Json = {"engine": engine, "reading": Reading.of(reading)}
        self._finest: tuple[Node, ClassCounts] | None = None
        self._maps: dict[tuple[int, int], ColumnMap] = {}
        self._ks: dict[Node, int] = {}

    def classes(self, node: Node) -> ClassCounts:
        """Return the classes of a node by its labels, split by the columns that are carried along."""
        at, counts = self._counts_for(node)
        indices = [index for index, level in enumerate(node) if level != at[index]]
        return counts.roll_up({self.lattice.attributes[index]: self._map(index, node[index]) for index in indices})

    def k(self, node: Node) -> int:
        """Return the true k of a node; 0 where a class reveals too much of a column that is carried along."""
        if node not in self._ks:
            is_diverse = all(self._is_diverse(node, column) for column in self.carried)
            self._ks[node] = self.k_of_classes(node) if is_diverse else 0
        return self._ks[node]

    def k_of_classes(self, node: Node) -> int:
        """Return the size of the smallest class of a node, whatever is carried along."""
        return self.classes(node).over(self.lattice.attributes).k

    def smallest_of_all(self, node: Node) -> int:
        """Count the smallest class that a node's labels make: 0 if one is empty; a missing value told apart is none.

        So one row more, less or other changes it by 1 at most, though it be the first without a value.
        """
        classes = self.classes(node).over(self.lattice.attributes)
        is_known = np.ones(classes.n_classes, bool)
        for hierarchy, level, codes, domain in zip(
            self.lattice.hierarchies, node, classes.codes, classes.domains, strict=True
        ):
            if not hierarchy.says_nothing(level):
                is_known &= ~domain.is_null().to_numpy()[codes]
        if int(is_known.sum()) < self.lattice.class_count(node):
            return 0
        return int(classes.sizes[is_known].min())

    @cached_property
    def digest(self) -> str:
        """The hash of the finest counts: that of another table, were it only a row, is another."""
        counts = self.classes(self.lattice.bottom)
        hashed = sha256("\0".join(counts.columns).encode())
        for domain in counts.domains:
            hashed.update("\0".join("" if each is None else f"={each}" for each in domain).encode())
        hashed.update(np.ascontiguousarray(counts.codes).tobytes())
        hashed.update(counts.sizes.tobytes())
        return hashed.hexdigest()

    def _is_diverse(self, node: Node, column: str) -> bool:
        """Whether every class of a node has enough different values of a carried column, spread as in the table."""
        pairs = self.classes(node).over([*self.lattice.attributes, column]).to_frame()
        by = list(self.lattice.attributes)
        known = pairs.filter(pl.col(column).is_not_null())
        n_values = (
            pairs.select(by)
            .unique()
            .join(known.group_by(by).agg(pl.col(column).n_unique()), on=by, how="left", nulls_equal=True)[column]
        )
        if (n_values.fill_null(0) < self.sensitive.l).any():
            return False
        return self.sensitive.t is None or farthest(pairs, by, column) <= self.sensitive.t + 1e-12

    def _map(self, index: int, level: int) -> ColumnMap:
        """Return the map from the labels counted to those of a level."""
        at, counts = self._counts_for(self.lattice.top)
        if (index, level) not in self._maps:
            recoding = relabeling(self.lattice.hierarchies[index], at[index], level)
            self._maps[index, level] = ColumnMap.of(counts.domain(recoding.column), recoding)
        return self._maps[index, level]

    def _counts_for(self, node: Node) -> tuple[Node, ClassCounts]:
        """Return counts that a node follows from."""
        if self._finest is not None and self.lattice.is_coarser_or_equal(node, self._finest[0]):
            return self._finest
        is_small = self.lattice.class_count(self.lattice.bottom) <= MOST_CLASSES
        at = self.lattice.bottom if is_small else node
        at = at if self._finest is None else joint_node(self.lattice, [at, self._finest[0]])
        recodings = [each.recoding(level) for each, level in zip(self.lattice.hierarchies, at, strict=True)]
        columns = [*self.lattice.attributes, *self.carried]
        with step("counting"):
            # Values are looked up once for each class where that is cheaper than once for each row.
            counts = count_classes(self.source, columns, recodings=() if is_small else recodings, **self.reading)
            counts = counts.roll_up(counts.maps(recodings)) if is_small else counts
        self.n_passes += 1
        self._finest = at, counts
        self._maps.clear()
        return self._finest


def farthest(pairs: pl.DataFrame, by: Sequence[str], column: str) -> float:
    """Return how far a column's shares in a class are from those in all: the largest total variation."""
    size = pl.col(SIZE)
    # Under names of their own, whatever the columns are called.
    keys = {f"key {index}": pl.col(name) for index, name in enumerate(by)}
    shares = pairs.select(**keys, own=size / size.sum().over(by), whole=size.sum().over(column) / size.sum())
    # Values that a class lacks differ by their whole share; with those it has, the two halves add up to the same.
    above = shares.group_by(list(keys)).agg(d=(pl.col("own") - pl.col("whole")).clip(lower_bound=0).sum())
    return float(above["d"].max())  # type: ignore[arg-type]


def relabeling(hierarchy: Hierarchy, fine: int, coarse: int) -> Recoding:
    """Return the map from the labels of one level to those of a level that follows from it."""
    label_of = dict(zip(hierarchy.labels_at(fine), hierarchy.labels_at(coarse), strict=True))
    values, labels = pl.Series(list(label_of), dtype=pl.String), pl.Series(list(label_of.values()), dtype=pl.String)
    return Recoding(hierarchy.attribute, values, labels, hierarchy.label_of_missing(coarse))


Step = TypeVar("Step", int, float)

# Few small nodes, as the thesis has them: each one more takes a share of the noise that the others could do without.
LARGEST, FEWEST, MOST_NODES = 9, 6, 12


def secret_of(key: PrivateKey, table: CountedTable) -> bytes:
    """Return the secret of a table: its desks by one key refuse the same nodes by lot, and draw the same noise."""
    return hmac.new(key.secret, b"lots of " + table.digest.encode(), sha256).digest()


def drawn(secret: bytes, what: str) -> np.random.Generator:
    """Return random numbers for one purpose."""
    return np.random.default_rng(int.from_bytes(hmac.new(secret, what.encode(), sha256).digest(), "big"))


def extra_steps(secret: bytes, what: str) -> int:
    """Draw how many steps more are taken than needed: none half of the time, one a quarter, and so on."""
    return int(drawn(secret, what).geometric(0.5)) - 1


def stepped(steps: Sequence[Step], needed: Step, extra: int) -> Step:
    """Return the step so many after the first that is large enough; the last where there are no more."""
    first = next((index for index, each in enumerate(steps) if each >= needed), len(steps) - 1)
    return steps[min(first + extra, len(steps) - 1)]


def small_nodes(lattice: Lattice, *, largest: int | None = None, n_nodes: int | None = None) -> list[Node]:
    """Choose the nodes that a formula is fitted on, by the lattice alone: those of few classes, the top first.

    largest: the most classes of a node; unless it is given, 6 to 12 nodes are taken. n_nodes: how many are taken.
    """
    nodes = sorted(lattice, key=lambda node: (lattice.class_count(node), node))
    if n_nodes is not None:
        return nodes[:n_nodes]
    n_small = sum(lattice.class_count(node) <= (largest or LARGEST) for node in nodes)
    return nodes[: n_small if largest else min(max(n_small, FEWEST), MOST_NODES)]


def noisy_ks(
    table: CountedTable, nodes: Sequence[Node], public: Node, *, epsilon: float, secret: bytes
) -> list[tuple[int, int]]:
    """Return the class count and a noisy k of each node; what follows from a public node has no noise.

    The k here is that of all classes that the labels make, 0 if one is empty: a row more or less changes it by 1 at
    most. With two-sided geometric noise of scale (number of nodes) / ε the numbers are ε-differentially private
    (Ghosh, Roughgarden and Sundararajan 2009): whoever is in the table or not, they could have come out the same.
    Those below 1 are left out.
    """
    lattice = table.lattice
    hidden = [node for node in nodes if not lattice.is_coarser_or_equal(node, public)]
    chance = 1 - np.exp(-epsilon / max(len(hidden), 1))
    rng = drawn(secret, f"law {epsilon!r} {nodes!r}")
    found = []
    for node in nodes:
        if node in hidden:
            k = table.smallest_of_all(node) + int(rng.geometric(chance)) - int(rng.geometric(chance))
        else:
            k = table.k_of_classes(node)
        if k >= 1:
            found.append((lattice.class_count(node), k))
    return found
