"""Offers drawn at random, asked adaptively and then attacked with all that is out, by integer programming.

Hierarchies nest or cross, values are missing, rare people are planted, columns are carried along, and the offer is
revised on the way. As a command it does this a thousand times: `python -m tests.exchange.random_offers 1000`.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize
from tokumei.core.seeds import generator
from tokumei.exchange.answer import Desk, answer
from tokumei.exchange.attack import Found, attack
from tokumei.exchange.cells import CellSpace, cell_counts
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.criteria import Criterion
from tokumei.exchange.learning import counted_nodes, tightened
from tokumei.exchange.offer import Lots, Offer, Words
from tokumei.exchange.offering import OfferTerms, make_offer, read_release
from tokumei.exchange.told import PublishedCounts
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.lattice import Lattice, Node

WORDS = Words("", "", "", "")
N_REQUESTS = 40


@dataclass(frozen=True)
class Played:
    """What became of one offer: what was served, how many classes are small in truth, and what the attack found."""

    n_served: int
    n_small: int
    found: Found | None


def drawn_hierarchy(rng: np.random.Generator, name: str) -> Hierarchy:
    """Draw levels over a few values; a further one may cross those before it."""
    n_leaves = int(rng.integers(2, 7))
    leaves = [f"{name}{number}" for number in range(n_leaves)]
    columns = [leaves]
    for width in range(2, n_leaves):
        if rng.random() < 0.6:
            shift = int(rng.integers(width))
            columns.append([f"{name}{width}/{(number + shift) // width}" for number in range(n_leaves)])
    columns.sort(key=lambda column: -len(set(column)))
    return Hierarchy.of_levels(name, [*columns, ["*"] * n_leaves])


def drawn_table(rng: np.random.Generator, lattice: Lattice, k: int) -> pl.DataFrame:
    """Draw people, some of them without a value, with a few rare ones and a column that is carried along."""
    n_rows = int(rng.integers(20, 400))
    columns = {}
    for hierarchy in lattice.hierarchies:
        # From nearly all rows in one value to even shares.
        shares = rng.dirichlet(np.full(len(hierarchy.leaves), rng.choice([0.1, 0.4, 1.0, 4.0])))
        drawn = rng.choice(len(hierarchy.leaves), n_rows, p=shares)
        columns[hierarchy.attribute] = [hierarchy.leaves[each] for each in drawn]
    frame = pl.DataFrame(columns)
    if rng.random() < 0.6:
        rare = {each.attribute: each.leaves[int(rng.integers(len(each.leaves)))] for each in lattice.hierarchies}
        frame = pl.concat([frame, pl.DataFrame([rare] * int(rng.integers(1, k)))])
    if rng.random() < 0.4:
        column = lattice.attributes[int(rng.integers(len(lattice.attributes)))]
        is_missing = pl.Series(rng.random(frame.height) < rng.choice([0.01, 0.1]))
        frame = frame.with_columns(pl.when(is_missing).then(None).otherwise(pl.col(column)).alias(column))
    return frame.with_columns(ill=pl.Series(rng.choice(["a", "b", "c"], frame.height)))


def play(seed: int, predictor: str | None = None) -> Played:
    """Draw an offer, ask for what is nearest the edge or next to what was served, revise it, and attack."""
    rng = generator(seed, "random offers")
    lattice = Lattice.of([drawn_hierarchy(rng, name) for name in "xyz"[: int(rng.integers(2, 4))]])
    k = int(rng.integers(2, 6))
    frame = drawn_table(rng, lattice, k)
    table = CountedTable(lattice, frame, carried=["ill"] if rng.random() < 0.3 else ())
    # Half of the time others are served by a smaller k, in a circle of their own.
    criteria = [Criterion("own", k), *([Criterion("trusted", 2)] if k > 2 and rng.random() < 0.5 else [])]
    terms = OfferTerms(
        criteria,
        predictor=predictor or str(rng.choice(["margins", "power-law"])),
        epsilon=float(rng.choice([1.0, 10.0])),
        is_vetted=bool(rng.random() < 0.6),
        has_discretion=bool(rng.random() < 0.5),
        lots=Lots(0.02, 0.3),
    )
    try:
        offer, text = make_offer("people", WORDS, table, terms, str(seed).encode())
    except CannotAnonymize:
        return Played(0, 0, None)
    offer, releases = _asked(rng, offer, table, text)
    cells = CellSpace(lattice)
    truth = cell_counts(cells, table.classes(lattice.bottom).over(lattice.attributes).to_frame())
    sizes = [np.bincount(cells.classes(node), truth) for node in lattice]
    n_small = sum(int(((each > 0) & (each < k)).sum()) for each in sizes)
    return Played(len(releases) - 1, n_small, attack(offer, releases, truth=truth))


def _asked(
    rng: np.random.Generator, offer: Offer, table: CountedTable, text: str
) -> tuple[Offer, list[PublishedCounts]]:
    lattice = offer.lattice
    nodes = sorted(lattice, key=lambda node: abs(np.log(offer.predict(node).low / offer.k_p)))
    releases = [PublishedCounts.of_frame(lattice, offer.first_node, read_release(text, lattice.attributes))]
    desk, held = Desk(), [lattice.top]
    counted: dict[Node, int] = {}
    for number in range(N_REQUESTS):
        node = nodes[number] if number < len(nodes) // 2 else _next(rng, lattice, held)
        k = int(rng.choice([one.k for one in offer.criteria]))
        found = answer(offer, node, k, desk=desk, table=table, secret=b"lots")
        desk = found.desk
        counted |= found.ks
        if found.release is not None:
            held.append(node)
            classes = read_release(io.StringIO(found.release).read(), lattice.attributes)
            judged = [(each.node, each.k) for each in found.joints]
            releases.append(PublishedCounts.of_frame(lattice, node, classes, k=k, held=judged))
        if number == N_REQUESTS // 2:
            try:
                offer = tightened(offer, counted_nodes(offer, counted), "digest", b"lots", table)
            except CannotAnonymize:
                offer = replace(offer, revision=2)
    return offer, releases


def _next(rng: np.random.Generator, lattice: Lattice, held: list[Node]) -> Node:
    near = lattice.finer_neighbors(held[int(rng.integers(len(held)))])
    return near[int(rng.integers(len(near)))] if near else lattice.bottom


def main(n_offers: int) -> None:
    """Play so many offers, and print what came of them."""
    played = [play(seed) for seed in range(n_offers)]
    attacked = [each for each in played if each.found is not None]
    proven = sum(len(each.found.proven) for each in attacked if each.found is not None)
    n_open = sum(each.found.n_open for each in attacked if each.found is not None)
    served, small = sum(each.n_served for each in attacked), sum(each.n_small for each in attacked)
    sys.stdout.write(
        f"{n_offers} drawn, {len(attacked)} could be offered, {served} releases, {small} small classes: "
        f"{proven} proven, {n_open} left open\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
