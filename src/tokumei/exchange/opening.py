"""Opening a desk: an offer is made, attacked as strangers would, held against earlier ones, and only then published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Json, Text, counted
from tokumei.data.files.keys import PrivateKey
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.attack import Found, attack
from tokumei.exchange.counted_table import CountedTable, secret_of
from tokumei.exchange.desk import DeskFolder, open_desk
from tokumei.exchange.offer import Offer, Words
from tokumei.exchange.offering import Gamma, OfferTerms, make_offer, measured_gamma, odds, read_release
from tokumei.exchange.public_knowledge import MOST_CELLS, CellSpace, PublishedCounts, cell_counts
from tokumei.exchange.sources import Before, SourceRegistry, people_of, place_of


@dataclass(frozen=True)
class Opened:
    """A desk that was opened, and what only its provider is told: what the attack found, and how often the rule fails.

    `found` is None where there are too many cells for integer programs. `only_what_occurs` are columns whose published
    hierarchy lists no value but those that occur, some of them rare: who guesses so knows that each has a row.
    """

    desk: DeskFolder
    offer: Offer
    found: Found | None
    gamma: Gamma
    before: Before = field(default_factory=Before)
    only_what_occurs: tuple[str, ...] = ()

    def as_dict(self) -> Json:
        """Return the opening for JSON."""
        offer = self.offer
        return {
            "nodes": offer.lattice.n_nodes,
            "allowed": sum(offer.zone(offer.joint(node), offer.k_p).zone == "allowed" for node in offer.lattice)
            if offer.lattice.n_nodes <= MOST_CELLS
            else None,
            "k": offer.k_p,
            "method": offer.knowledge["method"],
            "rule": offer.rule,
            "law": offer.law(offer.k_p),
            "slope": offer.slope,
            "vetted": offer.is_vetted,
            "lots": {"allowed": offer.lots.allowed, "discretion": offer.lots.discretion},
            "refused_fails": {
                "allowed": odds(self.gamma.allowed, offer.lots.allowed),
                "discretion": odds(self.gamma.discretion, offer.lots.discretion),
                "edge": odds(self.gamma.edge, max(offer.lots.allowed, offer.lots.discretion)),
            },
            "first_release": dict(offer.first_release.levels),
            "epsilon": offer.knowledge.get("epsilon"),
            "epsilon_before": self.before.epsilon,
            "only_what_occurs": list(self.only_what_occurs),
            "closed": [str(each) for each in self.before.replaced],
            "attack": None if self.found is None else self.found.as_dict(),
        }


def open_offer(
    folder: Path,
    name: str,
    words: Words,
    table: CountedTable,
    terms: OfferTerms,
    *,
    key: PrivateKey,
    source: str,
    reading: Mapping[str, object],
    registry: SourceRegistry | None,
    person: str | None = None,
    seed_key: PrivateKey | None = None,
    will_be: Path | None = None,
    place: str | None = None,
) -> Opened:
    """Make an offer of a table and open its desk; NotAllowed tells why it cannot be published.

    registry: the provider's; None where they say that nobody in the table was offered before. seed_key: what lots and
    noise are drawn by, where that is not the key that signs. will_be: where the desk goes when it is whole; whoever
    puts it there confirms it at the registry. place: what tells the source from others, where that is not its file.
    """
    secret = secret_of(seed_key or key, table)
    offer, text = make_offer(name, words, table, terms, secret)
    if person:
        # Also where nobody looks for the same people.
        people_of(table, person)
    own, before = None, Before()
    if registry is not None:
        is_formula = terms.predictor == "power-law" and offer.first_node == offer.lattice.top
        own = registry.source(
            *(table,),
            place=place or place_of(source),
            desk=will_be or folder,
            name=name,
            epsilon=terms.epsilon if is_formula else None,
            person=person,
        )
        before = registry.check(own)
    found = attack_own(offer, text, table)
    if found is not None and found.proven:
        smallest = found.proven[0]
        few, many = smallest.least, smallest.most
        rows = counted(few, "row") if few == many else Text("{n} to {m} rows", n=few, m=many)
        raise NotAllowed(
            Text(
                "The offer would prove a class of {rows}, fewer than {k}: {names}.",
                rows=rows,
                k=found.k,
                names=smallest.as_dict()["class"],
            )
        )
    # Noted first: what is published must not be forgotten, while a note of nothing does no harm.
    if registry is not None and own is not None:
        registry.add(own, before)
    desk = open_desk(folder, offer, text, source, reading, key, secret=secret, table=table.digest)
    if registry is not None and will_be is None:
        registry.confirm(folder)
    return Opened(desk, offer, found, measured_gamma(offer, table, secret), before, only_what_occurs(offer, table))


def only_what_occurs(offer: Offer, table: CountedTable) -> tuple[str, ...]:
    """Return the columns whose hierarchy seems made of the data, and shows values of fewer than k rows."""
    named = []
    for hierarchy in offer.hierarchies:
        counts = table.classes(offer.lattice.bottom).over([hierarchy.attribute])
        occurring = {str(value) for value in counts.domains[0].drop_nulls()}
        if counts.n_classes and counts.k < offer.k_p and occurring >= set(hierarchy.leaves):
            named.append(hierarchy.attribute)
    return tuple(named)


def attack_own(offer: Offer, first_release: str, table: CountedTable) -> Found | None:
    """Attack an offer and its first release with the truth at hand; None if there are too many cells."""
    cells = CellSpace(offer.lattice)
    if len(cells) > MOST_CELLS:
        return None
    attributes = offer.lattice.attributes
    classes = table.classes(offer.lattice.bottom).over(attributes).to_frame()
    first = PublishedCounts.of_frame(offer.lattice, offer.first_node, read_release(first_release, attributes))
    return attack(offer, [first], truth=cell_counts(cells, classes))


def releases_at(desk: DeskFolder) -> list[PublishedCounts]:
    """Return all readable releases of a desk: the first, and those given where its private half is here."""
    offer, signed = desk.offer()
    attributes = offer.lattice.attributes
    path = desk.folder / "first-release.csv"
    if not path.is_file():
        raise InputError.of("a desk, with the first release", file=path)
    found = [
        PublishedCounts.of_frame(offer.lattice, offer.first_node, read_release(path.read_text("utf-8"), attributes))
    ]
    if desk.private_log.path.is_file():
        for link in desk.private_log.read(signed.key):
            if digest := link.payload.get("release_file"):
                text = desk.release_path(digest).read_text(encoding="utf-8")
                classes = read_release(text, attributes).select(*attributes, SIZE)
                held = [(tuple(each["node"]), int(each["k"])) for each in link.payload["joints"]]
                node, k = tuple(link.payload["node"]), int(link.payload["k"])
                found.append(PublishedCounts.of_frame(offer.lattice, node, classes, k=k, held=held))
    return found
