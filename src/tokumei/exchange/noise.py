"""Numbers that a provider draws in secret: always the same for one key and one table, so that nothing averages out."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

import numpy as np

from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.counted_table import CountedTable
from tokumei.hierarchies.lattice import Lattice, Node

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
