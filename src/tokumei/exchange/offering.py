"""Making an offer from a table: fit the formula on what may be published, and make the first release.

What leaves the house:

- the hierarchies, so they should be made from what values there can be, not from those that occur;
- the first release P′: class counts, none below the strictest k of the offer, without the columns carried along. If
  the provider names no levels, it is the number of rows and no more;
- the formula. By default a power law through a few small nodes, whose k have noise of a stated ε: the formula without
  the distribution. `margins` is the provider's explicit choice: it publishes how many rows have which value, small
  ones merged, and two-way tables only at levels that the provider names;
- slope and lots. Each is one of a few numbers, and some steps more than needed by a secret draw.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import polars as pl

from tokumei.core.chain import digest_of
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.text import Text, choice_of
from tokumei.engines.class_counts import SIZE, ClassCounts
from tokumei.exchange.counted_table import CountedTable, drawn, extra_steps, noisy_ks, small_nodes, stepped
from tokumei.exchange.documents import Criterion, check_distinct
from tokumei.exchange.joint import KNOWN_PREDICTORS
from tokumei.exchange.offer import NONCE_LENGTH, STEEPEST, FirstRelease, Lots, Offer, Recipient, Words, check_offer
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.margins import Margins
from tokumei.predictors.power_law import PowerLaw
from tokumei.predictors.predictor import Knowledge, Rule

# The slope is published, so it says no more than it must: it is one of these.
SLOPES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 4.0, 6.0, 9.0, 14.0, STEEPEST)
# Steeper ones promise hardly anything: no more than one step beyond this is taken without need.
STEEP = 3.0
# So are the shares that are refused by lot.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
# Beyond, looking at all nodes takes longer than a provider waits; so many are drawn where γ is measured.
MOST_VETTED = 20_000
MOST_MEASURED = 2_000
# A factor of e^0.4 either way, beyond chance: fixed, since one that is fitted would tell of pairs that fail.
SPREAD = 0.4


@dataclass(frozen=True)
class OfferTerms:
    """What a provider decides about an offer: for whom, by which formula, and who must agree.

    `lots` are the shares that are refused by lot; None makes them from how often the formula fails. `tables` are the
    two-way tables that go with margins, each by the levels of two columns. `largest` and `n_nodes` choose the nodes
    that a power law is fitted on (see `small_nodes`), `caution` is the chance that k lies below the band, and `rule`
    what must reach k.
    """

    criteria: Sequence[Criterion]
    predictor: str = "power-law"
    first_levels: Mapping[str, int] | None = None
    tables: Sequence[Mapping[str, int]] = ()
    epsilon: float = 1.0
    has_discretion: bool = False
    is_vetted: bool = True
    lots: Lots | None = None
    tighten_every: int = 10
    recipients: Sequence[Recipient] = ()
    approvals_needed: int = 0
    approvers: Sequence[str] = ()
    largest: int | None = None
    n_nodes: int | None = None
    caution: float = 0.1
    rule: Rule = "low"


def make_offer(name: str, words: Words, table: CountedTable, terms: OfferTerms, secret: bytes) -> tuple[Offer, str]:
    """Make an offer and the text of its first release, in one counting pass.

    A vetted offer has been held against the true k of all its nodes: its slope is at least the least of a few with
    which the rule promises no node that fails. So no answer will ever have to break a promise.

    secret: what lots, noise and extra steps are drawn by; `noise.secret_of` gives it.
    """
    lattice = table.lattice
    criteria = check_distinct(terms.criteria)
    k_p = criteria[0].k
    if terms.predictor not in KNOWN_PREDICTORS:
        expected = f"a predictor whose publication can be checked: {', '.join(KNOWN_PREDICTORS)}"
        raise InputError.of(expected, column="predictor", value=terms.predictor)
    if terms.rule not in get_args(Rule):
        raise InputError.of(choice_of(get_args(Rule)), option="rule", value=terms.rule)
    # The finest node first: all others are rolled up from it.
    table.classes(lattice.bottom)
    check_carried(table, k_p)
    knowledge, first = _fit(lattice, table, terms, k_p, secret)
    text = release_text(table.classes(first).over(lattice.attributes), lattice)
    release = FirstRelease(lattice.levels(first), digest_of(text.encode()))
    offer = Offer(
        name=name,
        words=words,
        hierarchies=lattice.hierarchies,
        knowledge=knowledge,
        criteria=criteria,
        first_release=release,
        nonce=secrets.token_hex(NONCE_LENGTH // 2),
        carried=table.carried,
        sensitive=table.sensitive,
        recipients=tuple(terms.recipients),
        tighten_every=terms.tighten_every,
        has_discretion=terms.has_discretion,
        lots=terms.lots or Lots(),
        approvals_needed=terms.approvals_needed,
        approvers=tuple(terms.approvers),
        rule=terms.rule,
    )
    check_offer(offer)
    cover = first if offer.can_join(first) else offer.zone(first, k_p).cover
    if table.k(cover) < k_p:
        raise CannotAnonymize(
            Text("The first release would show a class below {k} rows: give it coarser levels.", k=k_p)
        )
    if terms.is_vetted:
        if lattice.n_nodes > MOST_VETTED:
            raise InputError.of(
                Text("at most {n:,} nodes to vet", n=MOST_VETTED), column="nodes", value=lattice.n_nodes
            )
        offer = vetted(offer, table, secret)
    if terms.lots is None:
        offer = with_new_lots(offer, table, secret)
    return offer, text


def vetted(offer: Offer, table: CountedTable, secret: bytes) -> Offer:
    """Make an offer so steep that its rule allows nothing that fails, or some steps steeper by a secret draw."""
    needed = vetted_slope(offer, _true_ks(table, offer.lattice))
    return replace(offer, slope=drawn_slope(needed, secret, offer.revision), is_vetted=True)


def drawn_slope(needed: float, secret: bytes, revision: int) -> float:
    """Draw the slope of a revision: the one that is needed or, so that it proves no failure, a steeper one."""
    first = SLOPES.index(needed)
    last = min(max(first, SLOPES.index(STEEP)) + 1, len(SLOPES) - 1)
    return SLOPES[min(first + extra_steps(secret, f"slope {revision}"), last)]


def check_carried(table: CountedTable, k_p: int) -> None:
    """Refuse to carry along what finds people by itself: values that fewer than k_p rows have, such as names."""
    for column in table.carried:
        values = table.classes(table.lattice.top).over([column])
        n_rare = int((values.sizes < k_p).sum())
        if values.n_classes * k_p > values.n_rows:
            raise CannotAnonymize(
                Text(
                    "{column} has {n:,} different values among {m:,} rows: it is an identifier, and cannot be "
                    "carried along.",
                    column=column,
                    n=values.n_classes,
                    m=values.n_rows,
                )
            )
        if n_rare:
            raise CannotAnonymize(
                Text(
                    "{column} has {n:,} values of fewer than {k} rows, each of which finds somebody: merge "
                    "them, or do not carry it along.",
                    column=column,
                    n=n_rare,
                    k=k_p,
                )
            )
        for attribute in table.lattice.attributes:
            _check_tells_no_level(table, column, attribute, k_p)


def _check_tells_no_level(table: CountedTable, column: str, attribute: str, k_p: int) -> None:
    """Refuse to carry along a quasi-identifier by another name: whatever level is given, it would tell the finest."""
    counts = table.classes(table.lattice.bottom)
    n_both, n_values, n_leaves = (counts.over(each).n_classes for each in ([attribute, column], [column], [attribute]))
    tells = n_leaves > 1 and n_both == n_values
    # Values that hardly repeat tell everything of a row by chance.
    is_told = n_values > 1 and n_both == n_leaves and n_leaves * k_p <= counts.n_rows
    if tells or is_told:
        raise CannotAnonymize(
            Text(
                "{column} follows from {attribute}, or the other way round: carried along, it would tell "
                "{other} more finely than the levels that are given.",
                column=column,
                attribute=attribute,
                other=attribute,
            )
        )


def vetted_slope(offer: Offer, ks: Mapping[Node, int]) -> float:
    """Return the least slope, from the offer's own on, with which the rule allows no node that fails."""
    failing = [(node, one.k) for node, k in ks.items() for one in offer.criteria if k < one.k]
    for slope in (each for each in SLOPES if each >= offer.slope):
        turned = replace(offer, slope=slope)
        failing = [(node, k) for node, k in failing if turned.zone(offer.joint(node), k).zone == "allowed"]
        if not failing:
            return slope
    raise CannotAnonymize("No slope keeps the rule from promising nodes that fail: choose another predictor.")


@dataclass(frozen=True)
class Gamma:
    """How often the rule fails: of the nodes that it allows, of those at discretion, and of those allowed by little."""

    allowed: float
    discretion: float
    edge: float = 0.0


def measured_gamma(offer: Offer, table: CountedTable, secret: bytes) -> Gamma:
    """Measure how often nodes fail that the rule allows or leaves to discretion, at the strictest criterion."""
    lattice = offer.lattice
    if lattice.n_nodes <= MOST_VETTED:
        nodes = list(lattice)
    else:
        rng = drawn(secret, "nodes")
        sizes = [len(each.levels) for each in lattice.hierarchies]
        nodes = [tuple(int(rng.integers(size)) for size in sizes) for _ in range(MOST_MEASURED)]
    joints = {offer.joint(node) for node in nodes}
    fails: dict[str, list[bool]] = {"allowed": [], "discretion": [], "edge": []}
    for joint in joints:
        zoned = offer.zone(joint, offer.k_p)
        if zoned.zone != "refused":
            is_edge = zoned.zone == "allowed" and offer.is_at_edge(zoned.cover, offer.k_p)
            fails["edge" if is_edge else zoned.zone].append(table.k(zoned.cover) < offer.k_p)
    return Gamma(**{zone: sum(each) / max(len(each), 1) for zone, each in fails.items()})


def odds(gamma: float, lot: float) -> float:
    """Return the chance that a refused node fails: γ / (γ + (1 − γ)·lot)."""
    return gamma / (gamma + (1 - gamma) * lot)


def _lots(offer: Offer, gamma: Gamma, secret: bytes) -> Lots:
    """Return lots by which a refused node is at least as likely to hold as to fail: lot ≥ γ / (1 − γ).

    Steps beyond what is needed are drawn whether any is needed or not, lest a larger lot prove that some node fails.
    What a vetted offer allows holds, as everybody knows: there the least will do.
    """

    def share(least: float, failing: float, what: str) -> float:
        return stepped(SHARES, max(least, failing / max(1 - failing, 1e-9)), extra_steps(secret, what))

    least = Lots()
    uncertain = max(gamma.discretion, gamma.edge)
    has_uncertain = offer.has_discretion or not offer.is_vetted
    return Lots(
        least.allowed if offer.is_vetted else share(least.allowed, gamma.allowed, "lots"),
        share(least.discretion, uncertain, "lots at discretion") if has_uncertain else least.discretion,
    )


def with_new_lots(offer: Offer, table: CountedTable, secret: bytes) -> Offer:
    """Draw lots anew that fit an offer's formula as it stands; none becomes rarer, be it the provider's own choice."""
    lots, anew = offer.lots, _lots(offer, measured_gamma(offer, table, secret), secret)
    larger = Lots(max(lots.allowed, anew.allowed), max(lots.discretion, anew.discretion))
    return replace(offer, lots=larger)


def release_text(classes: ClassCounts, lattice: Lattice) -> str:
    """Write a release as CSV: one line for each class, in the order of the labels, with the number of its rows."""
    if SIZE in classes.columns:
        raise InputError.of("a column of another name, since releases count rows in it", column=SIZE)
    frame = classes.to_frame()
    order = [*lattice.attributes, *(name for name in classes.columns if name not in lattice.attributes)]
    # Rows in their own order would tell which of two releases' rows belong together.
    return frame.sort(order, nulls_last=True).select(*order, SIZE).write_csv()


def read_release(text: str, attributes: Iterable[str], *, file: str | None = None) -> pl.DataFrame:
    """Return the classes of a release over its quasi-identifiers, with the rows of each."""
    wanted = list(attributes)
    try:
        frame = pl.read_csv(text.encode(), infer_schema=False).with_columns(pl.col(SIZE).cast(pl.Int64))
        return frame.group_by(wanted).agg(pl.col(SIZE).sum())
    except pl.exceptions.PolarsError:
        expected = f"a release, with the columns {', '.join([*wanted, SIZE])}"
        raise InputError.of(expected, file=file) from None


def _fit(lattice: Lattice, table: CountedTable, terms: OfferTerms, k_p: int, secret: bytes) -> tuple[Knowledge, Node]:
    """Fit the formula, and choose the node of the first release."""
    first = lattice.top if terms.first_levels is None else lattice.node(_for_all(lattice, terms.first_levels))
    if terms.predictor == "margins":
        return _fit_margins(lattice, lambda node: table.classes(node).over(lattice.attributes), terms, k_p), first
    if terms.tables:
        raise InputError.of("no two-way tables, which go with margins", column="tables")
    chosen = {"largest": terms.largest, "n_nodes": terms.n_nodes}
    fitting = PowerLaw(**{name: value for name, value in chosen.items() if value is not None}, caution=terms.caution)
    points = noisy_ks(table, small_nodes(lattice, **chosen), first, epsilon=terms.epsilon, secret=secret)
    if len({class_count for class_count, _ in points}) < 2:
        raise CannotAnonymize(
            Text(
                "A formula with noise of ε = {e:g} says nothing of so few rows: give a larger ε, finer levels "
                "for the first release, or choose margins.",
                e=terms.epsilon,
            )
        )
    law = fitting.fit_points(lattice, *zip(*points, strict=True))
    return law.knowledge | {"epsilon": terms.epsilon}, first


def _fit_margins(lattice: Lattice, count: Callable[[Node], ClassCounts], terms: OfferTerms, k_p: int) -> Knowledge:
    for option, value in (("largest", terms.largest), ("n_nodes", terms.n_nodes)):
        if value is not None:
            raise InputError.of("an option of the power law, which counts few nodes", option=option, value=value)
    margins = Margins(k_p=k_p, caution=terms.caution, two_way=False, spread=SPREAD)
    with step("fitting"):
        fitted = margins.fit(lattice, count)
        return margins.with_tables(fitted, count, terms.tables).knowledge


def _for_all(lattice: Lattice, levels: Mapping[str, int]) -> dict[str, int]:
    """Return a level for each attribute: one that is not named is at the top, since it was not requested."""
    lattice.node(levels)
    return lattice.levels(lattice.top) | dict(levels)


def _true_ks(table: CountedTable, nodes: Lattice) -> dict[Node, int]:
    ks = {}
    with step("vetting", nodes.n_nodes) as bar:
        for node in nodes:
            ks[node] = table.k(node)
            bar.advance()
    return ks
