"""Offers drawn at random, asked adaptively and then attacked with all that is out, by integer programming.

Hierarchies nest or cross and have levels of one label, values are missing, rare people are planted, rows and requests
repeat, columns are carried along, and the offer is made steeper and drawn anew on the way. As a command it does this
two thousand times, and proves by integer programs of its own (`own_program`) what the product's attack says:
`python -m tests.exchange.random_offers 2000`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from tests.exchange.own_program import Out, Published, truth_of

from tokumei.core.errors import CannotAnonymize
from tokumei.core.seeds import generator
from tokumei.exchange.answer import Desk, answer, counted_nodes, refitted, tightened
from tokumei.exchange.attack import Found, attack
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Lots, Offer, Words
from tokumei.exchange.offering import OfferTerms, make_offer, read_release
from tokumei.exchange.public_knowledge import CellSpace, PublishedCounts, cell_counts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node

WORDS = Words("", "", "", "")
N_REQUESTS = 40


@dataclass(frozen=True)
class Played:
    """What became of one offer: what was served, how many classes are small in truth, and what the attack found.

    `proven` are the classes that the test's own programs prove small.
    """

    n_served: int
    n_small: int
    found: Found | None
    proven: int = 0
    is_refitted: bool = False


def drawn_hierarchy(rng: np.random.Generator, name: str) -> Hierarchy:
    """Draw levels over a few values; a further one may cross those before it, and one label may stand for all."""
    n_leaves = 1 if rng.random() < 0.05 else int(rng.integers(2, 7))
    leaves = [f"{name}{number}" for number in range(n_leaves)]
    columns = [leaves]
    for width in range(2, n_leaves):
        if rng.random() < 0.6:
            shift = int(rng.integers(width))
            columns.append([f"{name}{width}/{(number + shift) // width}" for number in range(n_leaves)])
    columns.sort(key=lambda column: -len(set(column)))
    if rng.random() < 0.4:
        # As of days of one year, or numbers of one first digit: beside it a missing value is told.
        columns.append([f"all {name}"] * n_leaves)
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
    if rng.random() < 0.3:
        often = frame.slice(int(rng.integers(frame.height)), 1)
        frame = pl.concat([frame, *[often] * int(rng.integers(2, 60))])
    for column in lattice.attributes:
        if rng.random() < 0.4:
            is_missing = pl.Series(rng.random(frame.height) < rng.choice([0.01, 0.1]))
            frame = frame.with_columns(pl.when(is_missing).then(None).otherwise(pl.col(column)).alias(column))
    return frame.with_columns(ill=pl.Series(rng.choice(["a", "b", "c"], frame.height)))


def play(seed: int, predictor: str | None = None, *, with_product: bool = True) -> Played:
    """Draw an offer, ask for what is nearest the edge or next to what was served, revise it, and attack.

    with_product: attack by the product's own programs, too; the test's always are.
    """
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
        return Played(0, -1, None)
    revisions, releases = _asked(rng, offer, table, text)
    cells = CellSpace(lattice)
    truth = cell_counts(cells, table.classes(lattice.bottom).over(lattice.attributes).to_frame())
    sizes = [np.bincount(cells.classes(node), truth) for node in lattice]
    n_small = sum(int(((each > 0) & (each < k)).sum()) for each in sizes)
    n_proven = 0
    for bound in {one.k for one in criteria}:
        published = Published(revisions, releases, bound)
        rows = frame.select(lattice.attributes).rows()
        n_proven += len(list(published.proven(truth_of(published, rows), list(lattice))))
    found = None
    if with_product:
        counts = [_counts_of(lattice, each) for each in releases]
        found = attack(revisions[-1], counts, truth=truth, earlier=revisions[:-1])
    is_refitted = len({str(each.knowledge) for each in revisions}) > 1
    return Played(len(releases) - 1, n_small, found, n_proven, is_refitted)


def _counts_of(lattice: Lattice, out: Out) -> PublishedCounts:
    classes = read_release(io.StringIO(out.text).read(), lattice.attributes)
    return PublishedCounts.of_frame(lattice, lattice.node(out.levels), classes, k=out.k, held=out.held)


def _asked(rng: np.random.Generator, offer: Offer, table: CountedTable, text: str) -> tuple[list[Offer], list[Out]]:
    lattice = offer.lattice
    nodes = sorted(lattice, key=lambda node: abs(np.log(offer.predict(node).low / offer.k_p)))
    revisions, releases = [offer], [Out(lattice.levels(offer.first_node), text, None)]
    desk, held = Desk(), [lattice.top]
    counted: dict[Node, int] = {}
    for number in range(N_REQUESTS):
        node = nodes[number] if number < len(nodes) // 2 else _next(rng, lattice, held)
        k = int(rng.choice([one.k for one in offer.criteria]))
        # Now and then the same is asked again.
        for _ in range(1 + int(rng.random() < 0.1)):
            found = answer(offer, node, k, desk=desk, table=table, secret=b"lots")
            desk = found.desk
            counted |= found.ks
            if found.release is not None:
                held.append(node)
                judged = tuple((each.node, each.k) for each in found.joints)
                releases.append(Out(lattice.levels(node), found.release, k, judged))
        if number in (N_REQUESTS // 3, 2 * N_REQUESTS // 3):
            offer = _revised(rng, offer, table, counted, desk)
            revisions.append(offer)
    return revisions, releases


def _revised(
    rng: np.random.Generator, offer: Offer, table: CountedTable, counted: Mapping[Node, int], desk: Desk
) -> Offer:
    """Make the formula steeper, or draw it anew."""
    try:
        if offer.knowledge["method"] == "power-law" and rng.random() < 0.6:
            return refitted(offer, table, desk.given, "digest", b"lots")
        return tightened(offer, counted_nodes(offer, counted), "digest", b"lots", table)
    except CannotAnonymize:
        return replace(offer, revision=offer.revision + 1)


def _next(rng: np.random.Generator, lattice: Lattice, held: list[Node]) -> Node:
    near = lattice.finer_neighbors(held[int(rng.integers(len(held)))])
    return near[int(rng.integers(len(near)))] if near else lattice.bottom


def main(n_offers: int, start: int = 0) -> None:
    """Play so many offers, and print what came of them."""
    played = [play(seed, with_product=False) for seed in range(start, start + n_offers)]
    served, small = sum(each.n_served for each in played), sum(max(each.n_small, 0) for each in played)
    n_made, n_refitted = sum(each.n_small >= 0 for each in played), sum(each.is_refitted for each in played)
    sys.stdout.write(
        f"{n_offers} drawn, {n_made} could be offered, {n_refitted} drawn anew, {served} releases, {small} small "
        f"classes: {sum(each.proven for each in played)} proven\n"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else main(2000)
