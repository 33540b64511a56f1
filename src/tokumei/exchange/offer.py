"""An offer: all that a provider publishes of a table, so that others can tell by themselves what they can have.

Users are listed in it by their keys: by which criterion each is served, and who may ask at all.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.counted_table import Sensitive, sensitive_of
from tokumei.exchange.documents import Criterion, Document, Signed, check_distinct, criterion_of, read_signed, sign
from tokumei.exchange.joint import Zoned, check_knowledge, find_zone, joiner, joint_node
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.power_law import FittedPowerLaw
from tokumei.predictors.predictor import Fitted, Prediction, Rule, deciding, from_knowledge

KIND, VERSION = "offer", 2
NONCE_LENGTH = 32
STEEPEST = 24.0
# Where nothing was vetted, k is uncertain up to so many times what is needed: refusals there are mostly lots.
EDGE = 2.0


@dataclass(frozen=True)
class FirstRelease:
    """The release that everybody gets with an offer (the thesis's P′): its levels, and the digest of its file."""

    levels: Mapping[str, int]
    digest: str


@dataclass(frozen=True)
class Lots:
    """The share of nodes that are refused by lot though the rule would serve them, by zone.

    It is for their sake that a refusal proves nothing: without lots it would tell that some class is too small.
    """

    allowed: float = 0.02
    discretion: float = 0.5

    def __post_init__(self) -> None:
        for name, share in (("allowed", self.allowed), ("discretion", self.discretion)):
            if not 0 < share <= 0.9:
                raise InputError.of("a share above 0 and at most 0.9", column=f"lots.{name}", value=share)


@dataclass(frozen=True)
class Recipient:
    """A user whom the provider knows: their public key, the name that the logs tell, and their criterion."""

    key: str
    name: str
    criterion: str

    def as_dict(self) -> dict[str, str]:
        """Return the recipient for JSON."""
        return {"key": self.key, "name": self.name, "criterion": self.criterion}


@dataclass(frozen=True)
class Words:
    """What an offer says to people: who offers what, for which use, on which terms, and what the public is told."""

    provider: str
    purpose: str
    terms: str
    summary: str


@dataclass(frozen=True, eq=False)
class Offer:
    """What is offered of one table, and by which rule.

    `hierarchies` are those of the quasi-identifiers, `carried` the columns that go along as they are. `knowledge` is
    what the predictor publishes; `slope` makes it steeper than it was fitted (the thesis's f′): k − 1 is divided by
    the class count to this power. `rule` is what is held against k: the low end of the band, or the predicted k itself,
    as in the thesis. A vetted offer has been held against the true k of all nodes: all that it allows holds. Only
    `recipients` are served by another criterion than the strictest. The nonce tells desks apart that are otherwise
    alike. A revision follows on `previous`, the digest of the one before; a formula is made steeper every
    `tighten_every` answers and at no other time.
    """

    name: str
    words: Words
    hierarchies: tuple[Hierarchy, ...]
    knowledge: JsonView
    criteria: tuple[Criterion, ...]
    first_release: FirstRelease
    nonce: str = ""
    carried: tuple[str, ...] = ()
    sensitive: Sensitive = field(default_factory=Sensitive)
    recipients: tuple[Recipient, ...] = ()
    is_vetted: bool = False
    tighten_every: int = 10
    slope: float = 0.0
    has_discretion: bool = False
    lots: Lots = field(default_factory=Lots)
    approvals_needed: int = 0
    approvers: tuple[str, ...] = ()
    revision: int = 1
    previous: str = ""
    rule: Rule = "low"

    @cached_property
    def lattice(self) -> Lattice:
        """All nodes that can be asked for."""
        return Lattice.of(self.hierarchies)

    @cached_property
    def fitted(self) -> Fitted:
        """The predictor, made from nothing but what is published."""
        return from_knowledge(self.lattice, self.knowledge)

    @cached_property
    def first_node(self) -> Node:
        """The node of the first release."""
        return self.lattice.node(self.first_release.levels)

    @property
    def k_p(self) -> int:
        """The strictest k: all that is published to everybody holds it."""
        return self.criteria[0].k

    def criterion(self, name: str | None) -> Criterion:
        """Return the criterion of a recipient; the strictest if none is named."""
        if name is None:
            return self.criteria[0]
        for one in self.criteria:
            if one.name == name:
                return one
        raise NotFound(
            Text(
                "The offer has no criterion '{name}'. Known: {names}.",
                name=name,
                names=", ".join(one.name for one in self.criteria),
            )
        )

    def recipient(self, key: str) -> Recipient | None:
        """Return the owner of a key, if the offer lists it."""
        return next((one for one in self.recipients if one.key == key), None)

    def criteria_for(self, key: str | None) -> tuple[Criterion, ...]:
        """Return the criteria that serve the owner of a key, the strictest first."""
        named = {one.criterion for one in self.recipients if one.key == key}
        return tuple(one for place, one in enumerate(self.criteria) if place == 0 or one.name in named)

    # Many users ask for few nodes: what was worked out once is kept.

    @cached_property
    def predict(self) -> Callable[[Node], Prediction]:
        """Predict the k of a node by the formula as it stands, slope included."""
        return cache(lambda node: steeper(self.fitted.predict(node), told_classes(self.lattice, node), self.slope))

    def joint(self, *nodes: Node) -> Node:
        """Return the joint node of some nodes and the first release."""
        return joint_node(self.lattice, [self.first_node, *nodes])

    @cached_property
    def can_join(self) -> Callable[[Node], bool]:
        """Whether a joint node can stand beside what the offer publishes."""
        return cache(joiner(self.fitted))

    @cached_property
    def zone(self) -> Callable[[Node, int], Zoned]:
        """Return a function for the zone of a joint node at a k, from what is published alone."""

        def zone(node: Node, k: int) -> Zoned:
            return find_zone(
                *(self.lattice, node, k),
                predict=self.predict,
                can_join=self.can_join,
                has_discretion=self.has_discretion,
                rule=self.rule,
            )

        return cache(zone)

    def law(self, k: int) -> dict[str, float | None] | None:
        """List α and β of the formula as it stands, R, and the class count x for a k; None if it is no law."""
        return self.fitted.numbers(k, slope=self.slope) if isinstance(self.fitted, FittedPowerLaw) else None

    def is_at_edge(self, node: Node, k: int) -> bool:
        """Whether the rule of an offer that nobody vetted allows a node by little more than k."""
        return not self.is_vetted and deciding(self.predict(node), self.rule) < EDGE * k

    def lot_share(self, node: Node, k: int) -> float:
        """Find the share of nodes like this one that are refused by lot: at the edge as many as at discretion."""
        zoned = self.zone(node, k)
        if zoned.zone == "allowed" and not self.is_at_edge(zoned.cover, k):
            return self.lots.allowed
        return max(self.lots.allowed, self.lots.discretion)

    def body(self) -> Json:
        """Return the offer for JSON."""
        # The usual rule goes without saying, so that an earlier Tokumei can read the offer.
        rule = {} if self.rule == "low" else {"rule": self.rule}
        return rule | {
            "name": self.name,
            "nonce": self.nonce,
            "revision": self.revision,
            "previous": self.previous,
            "provider": self.words.provider,
            "purpose": self.words.purpose,
            "terms": self.words.terms,
            "summary": self.words.summary,
            "attributes": [_hierarchy_as_dict(each) for each in self.hierarchies],
            "carried": list(self.carried),
            "sensitive": {"l": self.sensitive.l, "t": self.sensitive.t},
            "recipients": [one.as_dict() for one in self.recipients],
            "vetted": self.is_vetted,
            "tighten_every": self.tighten_every,
            "predictor": self.knowledge,
            "slope": self.slope,
            "criteria": [one.as_dict() for one in self.criteria],
            "discretion": self.has_discretion,
            "lots": {"allowed": self.lots.allowed, "discretion": self.lots.discretion},
            "first_release": {"levels": dict(self.first_release.levels), "digest": self.first_release.digest},
            "approvals": {"needed": self.approvals_needed, "approvers": list(self.approvers)},
        }

    def signed(self, key: PrivateKey) -> Signed:
        """Sign the offer."""
        return sign(KIND, VERSION, self.body(), key)


def told_classes(lattice: Lattice, node: Node) -> int:
    """Count the classes by which a formula is turned: a level of one label that tells missing values apart has two.

    Counted as one class, such a node would be promised by every slope, however few the missing values are.
    """
    return math.prod(one.n_told_apart(level) for one, level in zip(lattice.hierarchies, node, strict=True))


def steeper(prediction: Prediction, class_count: int, slope: float) -> Prediction:
    """Return a prediction of a formula turned about the whole table: k − 1 divided by the class count to a power."""
    factor = class_count**-slope
    return Prediction(*(1 + (each - 1) * factor for each in (prediction.k, prediction.low, prediction.high)))


def read_offer(path: Path | str) -> tuple[Offer, Signed]:
    """Read an offer and check its signature, and that what it publishes is safe by its own standard."""
    signed = read_signed(path, KIND, VERSION)
    return offer_of(signed, file=str(path)), signed


def offer_of(signed: Signed, *, file: str | None = None) -> Offer:
    """Read the offer in a signed document."""
    fields = Document(signed.body, file)
    first, lots, approvals = fields.inside("first_release"), fields.inside("lots"), fields.inside("approvals")
    offer = Offer(
        name=fields.text("name", most=200),
        words=Words(*(fields.text(name) for name in ("provider", "purpose", "terms", "summary"))),
        hierarchies=tuple(_read_hierarchy(each) for each in fields.objects("attributes")),
        knowledge=fields.inside("predictor").found,
        criteria=check_distinct(criterion_of(each) for each in fields.objects("criteria")),
        first_release=FirstRelease(first.wholes("levels"), first.text("digest", most=64)),
        nonce=fields.text("nonce", most=NONCE_LENGTH),
        carried=fields.texts("carried"),
        sensitive=sensitive_of(fields.inside("sensitive")),
        recipients=tuple(_read_recipient(each) for each in fields.objects("recipients")),
        is_vetted=fields.flag("vetted"),
        tighten_every=fields.whole("tighten_every", least=1, most=10**6),
        slope=fields.number("slope", least=0, most=STEEPEST),
        has_discretion=fields.flag("discretion"),
        lots=Lots(lots.number("allowed", least=0, most=1), lots.number("discretion", least=0, most=1)),
        approvals_needed=approvals.whole("needed", most=100),
        approvers=approvals.texts("approvers"),
        revision=fields.whole("revision", least=1),
        previous=fields.text("previous", most=64),
        rule="k" if "rule" in fields.found and fields.choice("rule", ["low", "k"]) == "k" else "low",
    )
    for each in (first, lots, approvals, fields):
        each.finish()
    check_offer(offer, file=file)
    return offer


def _read_recipient(fields: Document) -> Recipient:
    read = Recipient(*(fields.text(name, most=200) for name in ("key", "name", "criterion")))
    fields.finish()
    return read


def read_alike(name: str) -> str:
    """Normalize a name for comparison: however its letters are composed, spaced, wide or narrow, large or small."""
    marks = (letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return " ".join("".join(marks).split()).casefold()


def check_offer(offer: Offer, *, file: str | None = None) -> None:
    """Refuse an offer that cannot be used or that publishes less safely than it promises."""
    names = [*offer.lattice.attributes, *offer.carried]
    if not offer.hierarchies or len(set(names)) < len(names):
        raise InputError.of("at least one attribute, each column once", file=file, column="attributes", value=names)
    check_knowledge(offer.lattice, Document(offer.knowledge, file, "predictor"))
    if len(offer.nonce) != NONCE_LENGTH:
        raise InputError.of(f"{NONCE_LENGTH} hexadecimal digits", file=file, column="nonce", value=offer.nonce)
    for listed in ([one.key for one in offer.recipients], [read_alike(one.name) for one in offer.recipients]):
        if len(set(listed)) < len(listed):
            raise InputError.of("each key and each name once", file=file, column="recipients")
    for one in offer.recipients:
        offer.criterion(one.criterion)
    if len(set(offer.approvers)) < max(offer.approvals_needed, len(offer.approvers)):
        raise InputError.of("as many different approvers as approvals are needed", file=file, column="approvals")
    try:
        offer.predict(offer.lattice.bottom)
        offer.predict(offer.lattice.top)
    except TokumeiError:
        raise
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError) as error:
        expected = f"knowledge that a {offer.knowledge['method']} predictor can use ({error})"
        raise InputError.of(expected, file=file, column="predictor") from None
    if set(offer.first_release.levels) != set(offer.lattice.attributes):
        raise InputError.of("a level for each attribute", file=file, column="first_release.levels")
    for hierarchy, level in zip(offer.hierarchies, offer.first_node, strict=True):
        hierarchy.check_level(level)
    check_publication(offer)


def check_publication(offer: Offer) -> None:
    """Refuse an offer that publishes a count below its own k, or a first release that does not fit beside the rest."""
    fitted = offer.fitted
    if isinstance(fitted, FittedMargins):
        counts = [int(size) for margin in fitted.margins for size in margin.sizes]
        counts += [int(size) for table in fitted.tables for size in table.counts[table.counts != 0]]
        if min(counts) < offer.k_p:
            raise NotAllowed(
                Text("The offer publishes a count of {n}, below its own k of {k}.", n=min(counts), k=offer.k_p)
            )
    if not offer.can_join(offer.first_node) and offer.zone(offer.first_node, offer.k_p).zone != "allowed":
        raise NotAllowed("The first release and what the predictor publishes tell of small classes together.")


def _hierarchy_as_dict(hierarchy: Hierarchy) -> dict[str, object]:
    levels = [{"labels": list(level.labels), "codes": level.codes.tolist()} for level in hierarchy.levels]
    return {"attribute": hierarchy.attribute, "levels": levels}


def _read_hierarchy(fields: Document) -> Hierarchy:
    columns = []
    for level in fields.objects("levels"):
        labels, codes = level.texts("labels"), level.items("codes")
        if not all(isinstance(code, int) and 0 <= code < len(labels) for code in codes):
            raise level.fault(f"indices from 0 to {len(labels) - 1}", "codes")
        columns.append([labels[code] for code in codes])
        level.finish()
    if len({len(column) for column in columns}) > 1:
        raise fields.fault("equally many codes at each level", "levels")
    hierarchy = Hierarchy.of_levels(fields.text("attribute", most=200), columns, file=fields.file)
    if not hierarchy.has_single_top:
        raise fields.fault("a last level of one label", "levels")
    fields.finish()
    return hierarchy


def admitted(
    offer: Offer, offer_digest: str, recipients: Iterable[Recipient], *, without: Collection[str] = ()
) -> Offer:
    """Return the next revision of an offer, with added recipients and without those of some keys.

    One whose key is listed already is listed anew.
    """
    new = tuple(recipients)
    gone = {*without, *(one.key for one in new)}
    listed = (*(one for one in offer.recipients if one.key not in gone), *new)
    after = replace(offer, recipients=listed, revision=offer.revision + 1, previous=offer_digest)
    check_offer(after)
    return after
