"""What the public is told: what was given, to whom, by which standard, without the recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokumei.core.chain import Link
from tokumei.core.wording import counted
from tokumei.data.files.keys import fingerprint
from tokumei.exchange.offer import Offer


@dataclass(frozen=True)
class Disclosed:
    """One release as the public is told of it; columns by how many groups they are told in.

    `key` is the short form of the recipient's; the name is their own word unless the offer lists it.
    """

    date: str
    recipient: str
    purpose: str
    standard: str
    k: int
    groups: dict[str, int]
    digest: str
    key: str = ""
    is_listed: bool = True

    @property
    def sentence(self) -> str:
        """The release in a sentence."""
        told = [f"{name} in {n} groups" for name, n in self.groups.items() if n > 1]
        what = ", ".join(told) or "the number of people only"
        who = self.recipient if self.is_listed else f"{self.recipient} (their own word, key {self.key})"
        return (
            f"{self.date}: {who} was given {what}, for: {self.purpose}. Every group that can be told "
            f"apart has at least {self.k} people ({self.standard})."
        )


def disclosed(offer: Offer, links: Sequence[Link]) -> list[Disclosed]:
    """Return what was given, from the provider's log."""
    out = []
    for says in (link.payload for link in links if link.payload.get("outcome") == "served"):
        levels = zip(offer.hierarchies, says["node"], strict=True)
        groups = {hierarchy.attribute: hierarchy.n_told_apart(level) for hierarchy, level in levels}
        criterion = offer.criterion(says["criterion"])
        standard = f"{criterion.name}, {criterion.source}"
        out.append(
            Disclosed(
                *(says["time"][:10], says["user"], says["purpose"], standard, criterion.k, groups, says["release"]),
                key=fingerprint(says["user_key"]),
                is_listed=offer.recipient(says["user_key"]) is not None,
            )
        )
    return out


def disclosure(offer: Offer, provider_key: str, links: Sequence[Link]) -> dict[str, Any]:
    """Return the disclosure for JSON."""
    given = disclosed(offer, links)
    return {
        "provider": offer.words.provider,
        "offer": offer.name,
        "signed_by": fingerprint(provider_key),
        "summary": offer.words.summary,
        "terms": offer.words.terms,
        "columns": [*offer.lattice.attributes, *offer.carried],
        "standards": [one.as_dict() for one in offer.criteria],
        "n_requests": sum(link.payload["what"] == "answer" for link in links),
        "given": [
            {
                "date": each.date,
                "recipient": each.recipient,
                "key": each.key,
                "is_listed": each.is_listed,
                "purpose": each.purpose,
                "standard": each.standard,
                "k": each.k,
                "groups": each.groups,
                "digest": each.digest,
            }
            for each in given
        ],
    }


def disclosure_text(offer: Offer, provider_key: str, links: Sequence[Link]) -> str:
    """Return the disclosure as a page of Markdown."""
    given = disclosed(offer, links)
    n_requests = sum(link.payload["what"] == "answer" for link in links)
    lines = [
        f"# {_plain(offer.name)}",
        "",
        _plain(offer.words.summary),
        "",
        f"Offered by {_plain(offer.words.provider)}, signed by the key {fingerprint(provider_key)}.",
        f"Terms: {_plain(offer.words.terms)}",
        "",
        f"## What was given: {len(given)} of {counted(n_requests, 'request')}",
        "",
        *(f"- {_plain(each.sentence)}" for each in given),
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Keep what users wrote from becoming markup or further lines."""
    flat = " ".join(text.split())
    return "".join(f"\\{mark}" if mark in r"\`*_[]<>#|!" else mark for mark in flat)
