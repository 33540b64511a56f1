"""What anybody can check: one desk, one answer, and many offers side by side.

The public half of a desk is a folder like the provider's own, without `private/`: offer, revisions, first release and
public log. Whoever has it can check all that was published, and with an answer of their own that the log is still the
one they were told of.

Over many offers one can see copies, tampering, and partners for joint studies (the thesis's section 7.4).

A formula is made from uniform hierarchies, so that formulas of different tables can be compared where the tables
themselves cannot. Two offers with nearly one formula and the same class counts are one table offered twice, or a copy
from which a few rows were left out: margins that agree in all but one row of two hundred, and more closely than samples
of one population do by chance; or laws whose k agree within two percent wherever they were fitted (their noise moves
those of a copy by less, where the smallest classes have hundreds of rows). Where classes are smaller, noise parts the
laws of a copy, and first releases that count as many rows tell of it. Laws of other people of one population agree so,
too: what laws and first releases show is a question to the providers, not a finding. A release whose k is far above
what the formula allows was not made from the table that the formula was. And tables with much alike formulas could be
studied together at finer levels than each alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.core.chain import digest_of
from tokumei.core.errors import PromiseBroken
from tokumei.core.text import Json, counted
from tokumei.data.files.disk import check_is_file
from tokumei.data.files.keys import fingerprint
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.audit_log import AuditLog, LogHead, check_reaches
from tokumei.exchange.desk import ANSWER, VERSION, DeskFolder, commitment, public_part
from tokumei.exchange.documents import Document, read_signed
from tokumei.exchange.offer import Offer, read_offer
from tokumei.exchange.offering import read_release
from tokumei.exchange.request import REQUEST, request_of
from tokumei.exchange.request import VERSION as REQUEST_VERSION
from tokumei.exchange.same_people import BY_CHANCE, chance_of_all
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.power_law import FittedPowerLaw

# In the order in which a reader looks at them; the revisions are a folder.
PUBLIC_FILES = ("offer.json", "first-release.csv", "public.jsonl", "public.head.json")
REVISIONS = "revisions"


def verify_public(folder: Path) -> dict[str, object]:
    """Check all that is public of an offer; PromiseBroken names what is wrong."""
    desk = DeskFolder(folder)
    offer, signed = desk.offer()
    links = desk.public_log.read(signed.key)
    told = [str(link.payload.get("offer")) for link in links if link.payload.get("what") == "offer"]
    if told != _check_revisions(folder, signed.key) or told[-1:] != [signed.digest]:
        raise PromiseBroken("The revisions are not those that the log tells of.")
    check_first_release(offer, check_is_file(folder / "first-release.csv").read_bytes())
    outcomes = [link.payload.get("outcome") for link in links]
    return {
        "revision": offer.revision,
        "lines": len(links),
        "served": outcomes.count("served"),
        "refused": outcomes.count("refused"),
    }


def check_first_release(offer: Offer, content: bytes) -> None:
    """Refuse a first release that is not the one that was offered."""
    if digest_of(content) != offer.first_release.digest:
        raise PromiseBroken("first-release.csv is not the one that was offered.")


def _check_revisions(folder: Path, key: str) -> list[str]:
    """Return the digests of the revisions, each of which follows the one before and is signed by the same key."""
    digests: list[str] = []
    for path in sorted((folder / REVISIONS).glob("*.json")):
        offer, signed = read_offer(path)
        if signed.key != key:
            raise PromiseBroken(f"{path.name}: signed by {fingerprint(signed.key)}, not by the provider.")
        if offer.revision != len(digests) + 1 or offer.previous != (digests[-1] if digests else ""):
            raise PromiseBroken(f"{path.name}: does not follow on the revision before.")
        digests.append(signed.digest)
    return digests


def verify_desk(desk: DeskFolder) -> Json:
    """Check offer, revisions, both logs and every release that was given; PromiseBroken names what is wrong."""
    offer, signed = desk.offer()
    public, private = desk.public_log.read(signed.key), desk.private_log.read(signed.key)
    told = [link.payload["offer"] for link in public if link.payload["what"] == "offer"]
    if told != list(desk.digests().values()) or told[-1] != signed.digest:
        raise PromiseBroken("The revisions are not those that the log tells of.")
    if [public_part(link.payload) for link in private] != [dict(link.payload) for link in public]:
        raise PromiseBroken("The public log and the private one do not tell the same.")
    if digest_of((desk.folder / "first-release.csv").read_bytes()) != offer.first_release.digest:
        raise PromiseBroken("first-release.csv is not the one that was offered.")
    for link in private:
        if digest := link.payload.get("release_file"):
            path = desk.release_path(digest)
            if not path.is_file() or digest_of(path.read_bytes()) != digest:
                raise PromiseBroken(f"{path.name}: is missing or not as it was given.")
    n_served = sum(link.payload.get("outcome") == "served" for link in public)
    n_refused = sum(link.payload.get("outcome") == "refused" for link in public)
    return {"revision": offer.revision, "lines": len(public), "served": n_served, "refused": n_refused}


def check_answer(
    path: Path,
    provider: str,
    public_log: Path | None = None,
    *,
    request: Path | None = None,
    release: Path | None = None,
) -> dict[str, object]:
    """Check an answer against the provider's key, the request that it is to, the release that came with it, and a log.

    PromiseBroken names what does not fit.
    """
    signed = read_signed(path, ANSWER, VERSION)
    if signed.key != provider:
        raise PromiseBroken(f"{path}: signed by {fingerprint(signed.key)}, not by the provider.")
    fields = Document(signed.body, str(path))
    result: dict[str, object] = {"outcome": fields.choice("outcome", ["served", "refused", "waiting"])}
    asked = None
    if request is not None:
        asked = read_signed(request, REQUEST, REQUEST_VERSION)
        if asked.digest != fields.text("request", most=64):
            raise PromiseBroken(f"{path}: is not the answer to {request}.")
        result["request"] = asked.digest
    if release is not None:
        if digest_of(check_is_file(release).read_bytes()) != fields.text("release", most=64):
            raise PromiseBroken(f"{release}: is not the release that the answer tells of.")
        result["release"] = signed.body["release"]
    if signed.body.get("log") is None or public_log is None:
        return result
    head = fields.inside("log")
    links = AuditLog(public_log).lines()
    told = LogHead(head.whole("number"), head.text("hash", most=64))
    check_reaches(links, told, public_log.name)
    says = links[told.number - 1].payload
    if (says.get("request"), says.get("outcome")) != (signed.body["request"], result["outcome"]):
        raise PromiseBroken(f"{public_log.name}, line {told.number}: tells of another answer.")
    if asked is not None and says.get("release") != commitment(request_of(asked).nonce, str(signed.body["release"])):
        raise PromiseBroken(f"{public_log.name}, line {told.number}: tells of another release.")
    return result | {"log_line": told.number}


FirstReleases = Sequence[Sequence[int]]
"""For each offer the rows of each class of its first release; none where it is not at hand."""

# A k this many times the upper end of the band is no luck any more.
FAR_ABOVE = 2.0
# Alike in nine of ten people.
SIMILAR = 0.9
# Alike in all but one of two hundred: no two tables of other people are, unless they are very large.
COPY = 0.995
# How far apart the k of two laws may be for one to be a copy's, as a factor.
COPY_FACTOR = 1.02


@dataclass(frozen=True)
class Pair:
    """Two offers that have something in common, by their indices; `likeness` is 1 where nothing differs.

    `by` says of a copy whether counts show it; a law alone, as other people of one population may have it, too; or much
    alike laws with as many rows in the first release.
    """

    first: int
    second: int
    likeness: float
    by: str = ""


def sameness(one: Offer, other: Offer) -> float:
    """Return how nearly two offers have one formula, from 0 to 1, ignoring their names.

    Margins: the share of rows that are counted alike, each attribute's counts in order of size; the smallest of all
    attributes. Power laws: 1 less how far their k are apart, in the logarithm, where they were fitted.
    """
    if _shapes(one) != _shapes(other):
        return 0.0
    first, second = one.fitted, other.fitted
    if isinstance(first, FittedMargins) and isinstance(second, FittedMargins):
        pairs = zip(_sizes(first), _sizes(second), strict=True)
        return min(_alike(ours, theirs) for ours, theirs in pairs)
    if isinstance(first, FittedPowerLaw) and isinstance(second, FittedPowerLaw):
        ends = [1.0, math.exp(2 * max(first.middle, second.middle))]
        apart = max(abs(math.log(first.predict_at(x).k / second.predict_at(x).k)) for x in ends)
        return max(0.0, 1 - apart)
    return 0.0


def copies(offers: Sequence[Offer], first_releases: FirstReleases = ()) -> list[Pair]:
    """Return the pairs of offers with one formula, or very nearly, and the same class counts.

    Args:
        offers: what is looked over.
        first_releases: the rows of each class of their first releases, where they are at hand.
    """
    found = []
    for one, other in combinations(range(len(offers)), 2):
        is_law = isinstance(offers[one].fitted, FittedPowerLaw)
        same = sameness(offers[one], offers[other])
        if same >= (1 - math.log(COPY_FACTOR) if is_law else COPY):
            if is_law or _is_no_chance(offers[one], offers[other]):
                found.append(Pair(one, other, same, by="law" if is_law else "counts"))
        elif is_law and first_releases and likeness(offers[one], offers[other]) >= SIMILAR:
            ours, theirs = first_releases[one], first_releases[other]
            alike = _alike(sorted(ours, reverse=True), sorted(theirs, reverse=True))
            if alike >= COPY:
                found.append(Pair(one, other, alike, by="rows"))
    return found


def _is_no_chance(one: Offer, other: Offer) -> bool:
    """Whether margins are closer than those of other people of one population are."""
    first, second = one.fitted, other.fitted
    if not isinstance(first, FittedMargins) or not isinstance(second, FittedMargins):
        return False
    pairs = [
        tuple(np.array(each, np.int64) for each in zip(*zip_longest(ours, theirs, fillvalue=0), strict=True))
        for ours, theirs in zip(_sizes(first), _sizes(second), strict=True)
    ]
    return chance_of_all((ours, theirs) for ours, theirs in pairs) < BY_CHANCE


def _shapes(offer: Offer) -> list[tuple[int, ...]]:
    return sorted(tuple(len(level) for level in each.levels) for each in offer.hierarchies)


def _sizes(fitted: FittedMargins) -> list[list[int]]:
    """Return the counts of each attribute in order of size, the attributes in order of their levels."""
    by_shape = zip(fitted.lattice.hierarchies, fitted.margins, strict=True)
    keyed = [
        (tuple(len(level) for level in each.levels), sorted(m.sizes.tolist(), reverse=True)) for each, m in by_shape
    ]
    return [sizes for _, sizes in sorted(keyed)]


def _alike(ours: Sequence[int], theirs: Sequence[int]) -> float:
    """Return the share of rows that two lists of counts have in common."""
    both = list(zip_longest(ours, theirs, fillvalue=0))
    return sum(min(pair) for pair in both) / max(sum(max(pair) for pair in both), 1)


def likeness(one: Offer, other: Offer) -> float:
    """Return how alike two offers' formulas are, from 0 (nothing in common) to 1.

    Margins: the share of people who are alike, mean over the attributes with the same values; 0 if there are none.
    Power laws: how near the slopes are, where the attributes have the same values.
    """
    shared = [name for name in one.lattice.attributes if _leaves(one, name) == _leaves(other, name) is not None]
    if not shared:
        return 0.0
    first, second = one.fitted, other.fitted
    if isinstance(first, FittedMargins) and isinstance(second, FittedMargins):
        return float(np.mean([_overlap(_shares(first, name), _shares(second, name)) for name in shared]))
    if isinstance(first, FittedPowerLaw) and isinstance(second, FittedPowerLaw):
        return max(0.0, 1 - abs(first.beta - second.beta) / max(abs(first.beta), abs(second.beta), 1e-9))
    return 0.0


def partners(offers: Sequence[Offer], first_releases: FirstReleases = (), *, least: float = SIMILAR) -> list[Pair]:
    """Return the pairs of offers for joint studies, most alike first; copies are none."""
    same = {(pair.first, pair.second) for pair in copies(offers, first_releases)}
    pairs = [
        Pair(one, other, found)
        for one, other in combinations(range(len(offers)), 2)
        if (one, other) not in same and (found := likeness(offers[one], offers[other])) >= least
    ]
    return sorted(pairs, key=lambda pair: -pair.likeness)


def tampering(offer: Offer, node: Node, classes: pl.DataFrame) -> list[str]:
    """Describe what is odd about the classes of a release; no sentences if nothing is.

    `classes` has the columns of the offer and the rows of each class.
    """
    sizes = classes[SIZE].to_list()
    k, high = min(sizes, default=0), offer.predict(node).high
    remarks = []
    if k > FAR_ABOVE * high:
        remarks.append(f"Its k of {k:,} is far above the {high:,.0f} that the formula allows at most.")
    for index, hierarchy in enumerate(offer.hierarchies):
        known = set(hierarchy.levels[node[index]].labels)
        strange = set(classes[hierarchy.attribute].drop_nulls().to_list()) - known
        if strange:
            remarks.append(f"{hierarchy.attribute} has {counted(len(strange), 'label')} that its level does not have.")
    n_rows = rows_of(offer)
    if n_rows is not None and sum(sizes) > n_rows:
        remarks.append(f"It has {counted(sum(sizes), 'row')}, more than the {n_rows:,} of the table.")
    return remarks


def rows_of(offer: Offer) -> int | None:
    """Return the rows of the table, where the formula tells."""
    return offer.fitted.n_rows if isinstance(offer.fitted, FittedMargins) else None


def rows_of_first_release(offer: Offer, path: Path) -> list[int]:
    """Return the rows of each class of an offer's first release; none where the file is missing or another."""
    if not path.is_file() or digest_of(content := path.read_bytes()) != offer.first_release.digest:
        return []
    sizes: list[int] = read_release(content.decode(), offer.lattice.attributes, file=str(path))[SIZE].to_list()
    return sizes


def watch(names: Sequence[str], offers: Sequence[Offer], first_releases: FirstReleases = ()) -> dict[str, object]:
    """Look over some offers and give what was found, for JSON."""

    def shown(pairs: Sequence[Pair]) -> list[Json]:
        return [{"one": names[p.first], "other": names[p.second], "likeness": p.likeness} for p in pairs]

    found = copies(offers, first_releases)
    same = [each | {"by": pair.by} for each, pair in zip(shown(found), found, strict=True)]
    return {"offers": len(offers), "copies": same, "partners": shown(partners(offers, first_releases))}


def _leaves(offer: Offer, name: str) -> frozenset[str] | None:
    if name not in offer.lattice.attributes:
        return None
    return frozenset(offer.hierarchies[offer.lattice.attributes.index(name)].leaves)


def _shares(fitted: FittedMargins, name: str) -> Mapping[object, float]:
    """Return the share of people of each group of an attribute's values."""
    margin = fitted.margins[fitted.lattice.attributes.index(name)]
    return {tuple(names): size / fitted.n_rows for names, size in margin.named_groups}


def _overlap(one: Mapping[object, float], other: Mapping[object, float]) -> float:
    return sum(min(share, other.get(group, 0.0)) for group, share in one.items())
