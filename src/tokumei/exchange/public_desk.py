"""The public half of a desk, as anybody may have it: offer, revisions, first release and public log.

It is a folder like the provider's own, without `private/`. Whoever has it can check all that was published, and with
an answer of their own that the log is still the one they were told of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokumei.core.chain import digest_of
from tokumei.core.errors import PromiseBroken
from tokumei.data.files.keys import fingerprint
from tokumei.data.files.source import check_is_file
from tokumei.exchange.desk import DeskFolder
from tokumei.exchange.offer import Offer, read_offer

# In the order in which a reader looks at them; the revisions are a folder.
PUBLIC_FILES = ("offer.json", "first-release.csv", "public.jsonl", "public.head.json")
REVISIONS = "revisions"


def verify_public(folder: Path) -> dict[str, Any]:
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
