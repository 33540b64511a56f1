"""Making an offer from a table: fit the predictor on what may be published, and make the first release.

What leaves the house:

- the hierarchies, so they should be made from what values there can be, not from those that occur;
- the first release P′: class counts, none below the strictest k of the offer;
- the predictor's knowledge. Margins publish no count below k, and their spread and the slope are each one of a few
  numbers. A power law is fitted on nodes that follow from P′ and on no others: its numbers tell nothing that the
  first release does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from tokumei.core.chain import digest_of
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.counting.class_counts import SIZE, ClassCounts
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.criteria import Criterion, check_distinct
from tokumei.exchange.knowledge import KNOWN_PREDICTORS
from tokumei.exchange.offer import (
    STEEPEST,
    FirstRelease,
    Lots,
    Offer,
    Words,
    check_offer,
)
from tokumei.hierarchy.lattice import Lattice, Node
from tokumei.predict.methods.margins import Margins
from tokumei.predict.methods.power_law import PowerLaw
from tokumei.predict.predictor import Knowledge

# The slope is published, so it says no more than it must: it is one of these.
SLOPES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, STEEPEST)
# Beyond, looking at all nodes takes longer than a provider waits.
MOST_VETTED = 20_000


@dataclass(frozen=True)
class Terms:
    """What a provider decides about an offer: for whom, by which predictor, and who must agree."""

    criteria: Sequence[Criterion]
    predictor: str = "margins"
    first_levels: Mapping[str, int] | None = None
    has_discretion: bool = False
    is_vetted: bool = True
    lots: Lots = field(default_factory=Lots)
    approvals_needed: int = 0
    approvers: Sequence[str] = ()


def make_offer(name: str, words: Words, table: CountedTable, terms: Terms) -> tuple[Offer, str]:
    """Make an offer and the text of its first release, in one counting pass.

    A vetted offer has been held against the true k of all its nodes: its slope is the least of a few with which the
    rule promises no node that fails. So no answer will ever have to break a promise, and all that a thousand
    requests could find out about failing nodes is in that one number.
    """
    lattice = table.lattice
    criteria = check_distinct(terms.criteria)
    k_p = criteria[0].k
    if terms.predictor not in KNOWN_PREDICTORS:
        expected = f"a predictor whose publication can be checked: {', '.join(KNOWN_PREDICTORS)}"
        raise InputError.of(expected, column="predictor", value=terms.predictor)
    # The finest node first: all others are rolled up from it.
    table.classes(lattice.bottom)
    knowledge, first = _fit(lattice, table, terms, k_p)
    text = release_text(table.classes(first), lattice)
    release = FirstRelease(lattice.levels(first), digest_of(text.encode()))
    offer = Offer(
        name=name,
        words=words,
        hierarchies=lattice.hierarchies,
        knowledge=knowledge,
        criteria=criteria,
        first_release=release,
        carried=table.carried,
        has_discretion=terms.has_discretion,
        lots=terms.lots,
        approvals_needed=terms.approvals_needed,
        approvers=tuple(terms.approvers),
    )
    check_offer(offer)
    cover = first if offer.can_join(first) else offer.zone(first, k_p).cover
    if table.k(cover) < k_p:
        raise CannotAnonymize(f"The first release would show a class below {k_p} rows: give it coarser levels.")
    if terms.is_vetted:
        if lattice.n_nodes > MOST_VETTED:
            raise InputError.of(f"at most {MOST_VETTED:,} nodes to vet", column="nodes", value=lattice.n_nodes)
        offer = replace(offer, slope=vetted_slope(offer, _true_ks(table)))
    return offer, text


def vetted_slope(offer: Offer, ks: Mapping[Node, int]) -> float:
    """Give the least slope, from the offer's own on, with which the rule allows no node that fails."""
    failing = [(node, one.k) for node, k in ks.items() for one in offer.criteria if k < one.k]
    for slope in (each for each in SLOPES if each >= offer.slope):
        turned = replace(offer, slope=slope)
        failing = [(node, k) for node, k in failing if turned.zone(offer.joint(node), k).zone == "allowed"]
        if not failing:
            return slope
    raise CannotAnonymize("No slope keeps the rule from promising nodes that fail: choose another predictor.")


def release_text(classes: ClassCounts, lattice: Lattice) -> str:
    """Give a release as CSV: one line for each class, in the order of the labels, with the number of its rows."""
    if SIZE in classes.columns:
        raise InputError.of("a column of another name, since releases count rows in it", column=SIZE)
    frame = classes.to_frame()
    order = [*lattice.attributes, *(name for name in classes.columns if name not in lattice.attributes)]
    # Rows in their own order would tell which of two releases' rows belong together.
    return frame.sort(order, nulls_last=True).select(*order, SIZE).write_csv()


def read_release(text: str, attributes: Iterable[str], *, file: str | None = None) -> pl.DataFrame:
    """Give the classes of a release over its quasi-identifiers, with the rows of each."""
    wanted = list(attributes)
    try:
        frame = pl.read_csv(text.encode(), infer_schema=False).with_columns(pl.col(SIZE).cast(pl.Int64))
        return frame.group_by(wanted).agg(pl.col(SIZE).sum())
    except pl.exceptions.PolarsError:
        expected = f"a release, with the columns {', '.join([*wanted, SIZE])}"
        raise InputError.of(expected, file=file) from None


def _fit(lattice: Lattice, table: CountedTable, terms: Terms, k_p: int) -> tuple[Knowledge, Node]:
    """Fit the predictor, and choose the node of the first release."""

    def count(node: Node) -> ClassCounts:
        return table.classes(node).over(lattice.attributes)

    given = None if terms.first_levels is None else lattice.node(_for_all(lattice, terms.first_levels))
    if terms.predictor == "margins":
        with step("fitting"):
            fitted = Margins(k_p=k_p).fit(lattice, count)
        return fitted.knowledge, lattice.top if given is None else given
    if given is None:
        raise InputError.of("the levels of the first release, which a power law is fitted on", column="levels")
    follow = [node for node in lattice if lattice.is_coarser_or_equal(node, given)]
    ks = [max(1, table.k(node)) for node in follow]
    law = PowerLaw().fit_points(lattice, [lattice.class_count(node) for node in follow], ks)
    return law.knowledge, given


def _for_all(lattice: Lattice, levels: Mapping[str, int]) -> dict[str, int]:
    """Give a level for each attribute: one that is not named is at the top, since it was not asked to be told."""
    lattice.node(levels)
    return lattice.levels(lattice.top) | dict(levels)


def _true_ks(table: CountedTable) -> dict[Node, int]:
    ks = {}
    with step("vetting", table.lattice.n_nodes) as bar:
        for node in table.lattice:
            ks[node] = table.k(node)
            bar.advance()
    return ks
