"""The provider's desk: a folder with an offer, its logs and what only the provider may see.

| path                        | holds                                                            | for        |
|-----------------------------|------------------------------------------------------------------|------------|
| offer.json                  | the offer as it stands, signed                                   | everybody  |
| revisions/0001.json         | each revision                                                    | everybody  |
| first-release.csv           | the first release                                                | everybody  |
| public.jsonl, its head      | outcome and digests of each answer                               | everybody  |
| private/source.json         | where the table is, and the secret of the lots                   | provider   |
| private/log.jsonl, its head | each answer with quadrant, joint nodes and their true k          | provider   |
| private/releases/           | what was given                                                   | provider   |
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tokumei.core.chain import Link, canonical, digest_of
from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path, write_text
from tokumei.data.files.keys import PrivateKey, write_secret
from tokumei.exchange.answer import REFUSED, WAITING, Answered, Desk, Given, Joint, answer
from tokumei.exchange.audit_log import AuditLog, LogHead
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.documents import Document, Signed, read_json, sign
from tokumei.exchange.offer import Offer, read_offer
from tokumei.exchange.request import Approval, Request, check_fits
from tokumei.exchange.sources import check_not_retired

ANSWER, VERSION = "answer", 2
REMOVED = "removed"
PUBLIC_FIELDS = ("what", "revision", "offer", "slope", "request", "outcome", "release", "time")


@dataclass(frozen=True)
class DeskFolder:
    """A desk in its folder."""

    folder: Path
    # Where the table is by now, if not where it was when the desk was made.
    source_file: Path | None = None

    @property
    def public_log(self) -> AuditLog:
        """What everybody may read."""
        return AuditLog(self.folder / "public.jsonl")

    @property
    def private_log(self) -> AuditLog:
        """What only the provider may read."""
        return AuditLog(self.folder / "private" / "log.jsonl")

    def offer(self) -> tuple[Offer, Signed]:
        """Read the offer as it stands."""
        return read_offer(self.folder / "offer.json")

    def revisions(self) -> list[tuple[Offer, Signed]]:
        """Return all revisions of the offer, oldest first."""
        return [read_offer(path) for path in sorted((self.folder / "revisions").glob("*.json"))]

    def digests(self) -> dict[int, str]:
        """Return the digest of each revision."""
        return {offer.revision: signed.digest for offer, signed in self.revisions()}

    def standing(self) -> set[str]:
        """Return the digests of the revisions whose formula is still in force."""
        now, _ = self.offer()
        same = [each for each in self.revisions() if (each[0].knowledge, each[0].slope) == (now.knowledge, now.slope)]
        return {signed.digest for _, signed in same}

    def release_path(self, digest: str) -> Path:
        """Return the path of a release that was given."""
        return self.folder / "private" / "releases" / f"{digest}.csv"

    def answered(self) -> set[str]:
        """Return the digests of the requests that were answered, from the logs, which are verified."""
        _, signed = self.offer()
        self.public_log.read(signed.key)
        return {link.payload.get("request", "") for link in self.private_log.read(signed.key)}

    @cached_property
    def source(self) -> Json:
        """Where the table is and how it is read, and the secret of the lots."""
        path = self.folder / "private" / "source.json"
        if not path.is_file():
            raise InputError.of("a desk made by 'tokumei exchange offer'", file=self.folder)
        fields = Document(read_json(path.read_text(encoding="utf-8"), file=str(path)), str(path))
        return {
            "source": fields.text("source") if self.source_file is None else str(self.source_file),
            "reading": dict(fields.inside("reading").found),
            "secret": bytes.fromhex(fields.text("secret")),
            "table": fields.text("table", most=64),
        }

    def table(self) -> CountedTable:
        """Return the table behind the offer; it is counted when it must be."""
        offer, _ = self.offer()
        found = self.source
        return CountedTable(
            offer.lattice, found["source"], carried=offer.carried, sensitive=offer.sensitive, **found["reading"]
        )

    def check_table(self, table: CountedTable) -> None:
        """Refuse to answer on another table than the one that was offered, were it only a row."""
        if table.digest != self.source["table"]:
            raise NotAllowed(
                "The table behind this desk is not the one that was offered: what it would tell beside what is out "
                "is whoever came or went. Make a new offer of it."
            )

    def same_table(self) -> CountedTable:
        """Open the table behind the offer; NotAllowed if it has changed."""
        table = self.table()
        self.check_table(table)
        return table

    def publish(self, signed: Signed, revision: int) -> None:
        """Write a revision of the offer."""
        signed.write(self.folder / "revisions" / f"{revision:04}.json")
        signed.write(self.folder / "offer.json")


def open_desk(
    folder: Path,
    offer: Offer,
    first_release: str,
    source: str,
    reading: Mapping[str, object],
    key: PrivateKey,
    *,
    secret: bytes,
    table: str,
) -> DeskFolder:
    """Make the desk of a new offer; a folder that holds anything is refused.

    secret: what lots and extra steps are drawn by. table: the digest of the table that was offered.
    """
    if folder.exists() and any(folder.iterdir()):
        raise NotAllowed(f"{folder} holds something already; an offer needs a folder of its own.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A desk is there whole or not at all: half of one would be taken for an offer.
    with atomic_path(folder) as draft:
        desk = DeskFolder(draft)
        (draft / "revisions").mkdir(parents=True, exist_ok=True)
        (draft / "private" / "releases").mkdir(mode=0o700, parents=True)
        (draft / "private").chmod(0o700)
        hidden = {"source": source, "reading": dict(reading), "secret": secret.hex(), "table": table}
        write_secret(draft / "private" / "source.json", canonical(hidden) + "\n")
        write_text(draft / "first-release.csv", first_release)
        desk.public_log.start(key, mode=0o644)
        desk.private_log.start(key)
        signed = offer.signed(key)
        desk.publish(signed, offer.revision)
        _append(desk, {"what": "offer", "revision": offer.revision, "offer": signed.digest}, key)
    return DeskFolder(folder)


def answer_request(
    desk: DeskFolder,
    request: Request,
    signed: Signed,
    *,
    key: PrivateKey,
    table: CountedTable,
    approvals: Sequence[tuple[Approval, Signed]] = (),
) -> tuple[Signed, str | None]:
    """Answer a request, log it, and give the signed answer with the release, if there is one.

    What is given is logged before it is handed over: a machine that stops in between has told nothing.
    """
    with desk.private_log.locked():
        offer, offered = desk.offer()
        _check_own(offered, key)
        check_not_retired(desk.folder)
        desk.check_table(table)
        links = desk.private_log.read(offered.key)
        if _is_removed(links):
            raise NotAllowed("The offer was removed for good.")
        desk.public_log.read(offered.key)
        _catch_up(desk, key)
        check_request(desk, request, signed, desk.answered())
        approved, denied = _votes(offer, signed, approvals)
        node, k = offer.lattice.node(request.levels), offer.criterion(request.criterion).k
        found = answer(
            *(offer, node, k),
            desk=remembered(links),
            table=table,
            secret=desk.source["secret"],
            user=request.user,
            n_approved=len(approved),
            is_denied=bool(denied),
        )
        if found.outcome == "waiting":
            return _answer(offered, signed, found, None, key), None
        if found.release is not None:
            write_text(desk.release_path(found.release_digest), found.release)
        head = _append(desk, _line(request, signed, Joint(node, k), found, sorted(approved)), key)
        return _answer(offered, signed, found, head, key), found.release


def check_request(desk: DeskFolder, request: Request, signed: Signed, answered: Collection[str]) -> None:
    """Refuse a request that is not for this offer as it stands, or was answered already."""
    offer, _ = desk.offer()
    check_fits(request, signed.key, offer, desk.standing())
    if signed.digest in answered:
        raise NotAllowed("This request was answered already; its answer stands.")


def remembered(links: Sequence[Link]) -> Desk:
    """Return what is out and what was refused for good, from the private log."""
    given: list[Given] = []
    refused: list[Joint] = []
    for says in (link.payload for link in links if link.payload["what"] == "answer"):
        if says["outcome"] == "served":
            given.append(Given(tuple(says["node"]), says["k"], says["user"]))
        elif says["reason"] not in ("rule", "before"):
            refused += [Joint(tuple(each["node"]), each["k"]) for each in says["joints"]]
    return Desk(tuple(given), tuple(refused))


def revise(desk: DeskFolder, offer: Offer, key: PrivateKey, *, is_tightened: bool = False) -> Signed:
    """Publish the next revision of an offer, such as one with a steeper slope or with more recipients."""
    with desk.private_log.locked():
        before, offered = desk.offer()
        _check_own(offered, key)
        if offer.revision != before.revision + 1 or offer.previous != offered.digest:
            raise NotAllowed("A revision follows on the offer as it stands.")
        signed = offer.signed(key)
        desk.publish(signed, offer.revision)
        line = {"what": "offer", "revision": offer.revision, "offer": signed.digest}
        _append(desk, line | ({"slope": offer.slope} if is_tightened else {}), key)
        return signed


def delete_permanently(desk: DeskFolder, key: PrivateKey) -> LogHead:
    """Remove a desk for good: its logs end with a line that says so, and of its files only the public log stays.

    May be called again where a machine stopped in between.
    """
    # Only the key in its own file tells whose desk it is, once the offer is gone.
    with desk.private_log.locked():
        if not _is_removed(desk.private_log.lines()):
            _append(desk, {"what": REMOVED}, key)
        head = _catch_up(desk, key)
    for path in sorted(desk.folder.iterdir()):
        if path.is_dir() and path.name != "private":
            shutil.rmtree(path)
        elif path not in (desk.public_log.path, desk.public_log.head_path) and not path.is_dir():
            path.unlink()
    # The private half last: with it the tombstone can be written again.
    shutil.rmtree(desk.folder / "private", ignore_errors=True)
    return head


def _is_removed(links: Sequence[Link]) -> bool:
    return bool(links) and links[-1].payload.get("what") == REMOVED


def commitment(nonce: str, digest: str) -> str:
    """Return what the public log has of a release: nothing to whoever lacks the request or the release."""
    return digest_of(f"{nonce} {digest}".encode()) if digest else ""


def public_part(says: Mapping[str, object]) -> dict[str, object]:
    """Return the public part of a line of the private log."""
    return {name: says[name] for name in PUBLIC_FIELDS if name in says}


def _append(desk: DeskFolder, says: Mapping[str, object], key: PrivateKey) -> LogHead:
    """Add a line to both logs, the private one first: what the next answer depends on must not be lost."""
    time = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    desk.private_log.append({**says, "time": time}, key, links=desk.private_log.lines())
    return _catch_up(desk, key)


def _catch_up(desk: DeskFolder, key: PrivateKey) -> LogHead:
    """Bring the public log up to the private one, from which a machine that stopped may have kept it."""
    private, public = desk.private_log.lines(), desk.public_log.lines()
    for link in private[len(public) :]:
        desk.public_log.append(public_part(link.payload), key, links=public)
    return LogHead(public[-1].number, public[-1].hash)


def _line(request: Request, signed: Signed, asked: Joint, found: Answered, approved: list[str]) -> Json:
    """Return the line of the private log for an answer."""
    return {
        "what": "answer",
        "request": signed.digest,
        "outcome": found.outcome,
        "release": commitment(request.nonce, found.release_digest),
        "release_file": found.release_digest,
        "user": request.user,
        "user_key": signed.key,
        "purpose": request.purpose,
        "criterion": request.criterion,
        "node": list(asked.node),
        "k": asked.k,
        "quadrant": found.quadrant,
        "reason": found.reason,
        "joints": [{"node": list(each.node), "k": each.k, "counted": found.ks[each.node]} for each in found.joints],
        "approved": approved,
    }


def _answer(offered: Signed, request: Signed, found: Answered, head: LogHead | None, key: PrivateKey) -> Signed:
    says = {"served": "", "refused": REFUSED, "waiting": WAITING}[found.outcome]
    body = {
        "offer": offered.digest,
        "request": request.digest,
        "outcome": found.outcome,
        "message": says,
        "release": found.release_digest,
        "log": None if head is None else head.as_dict(),
    }
    return sign(ANSWER, VERSION, body, key)


def _votes(offer: Offer, request: Signed, approvals: Sequence[tuple[Approval, Signed]]) -> tuple[set[str], set[str]]:
    """Return the keys of those who approve of this request and of those who do not; others have no say."""
    about = [(each, by.key) for each, by in approvals if each.request == request.digest and by.key in offer.approvers]
    # Nobody approves of a request of their own.
    return (
        {by for each, by in about if each.is_approved and by != request.key},
        {by for each, by in about if not each.is_approved},
    )


def _check_own(offered: Signed, key: PrivateKey) -> None:
    if offered.key != key.public:
        raise NotAllowed("The key is not the one that signed the offer.")
