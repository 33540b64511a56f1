"""What the limited process of a job does for the exchange, on files alone.

At the desk of a hosted offer each function may be killed at any moment and called again: a desk gets its name when it
is whole, and an answer that a desk has logged is repeated to the letter. What providers send from home is read here
first; who reads it then tells what is wrong with it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tokumei.core.chain import canonical
from tokumei.core.errors import InputError, TokumeiError
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.keys import PRIVATE, PrivateKey, read_private, write_keys, write_secret
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.attack import attack as attack_desk
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.desk import DeskFolder
from tokumei.exchange.documents import Signed, parse_signed, read_criterion
from tokumei.exchange.offer import KIND, Lots, Offer, Words, offer_of
from tokumei.exchange.offer import VERSION as OFFER_VERSION
from tokumei.exchange.offering import OfferTerms, read_release
from tokumei.exchange.opening import open_offer, releases_at
from tokumei.exchange.public_knowledge import MOST_CELLS, CellSpace, PublishedCounts
from tokumei.exchange.request import APPROVAL, VERSION, Approval, approval_of
from tokumei.exchange.sources import SourceRegistry
from tokumei.exchange.transport import Incoming, Outgoing, repeat_answer, serve
from tokumei.exchange.watch import check_first_release, tampering, verify_public
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.lattice import Lattice
from tokumei.platform.jobs.child import refusing


def try_offer(asked: JsonView) -> dict[str, object]:
    """Read an offer and its first release."""
    with suppress(TokumeiError):
        offer = offer_of(parse_signed(asked["offer"], KIND, OFFER_VERSION))
        check_first_release(offer, asked["release"].encode())
        read_release(asked["release"], offer.lattice.attributes)
    return {}


def try_log(asked: JsonView) -> dict[str, object]:
    """Verify a public desk."""
    with suppress(TokumeiError):
        verify_public(Path(asked["folder"]))
    return {}


Asked = JsonView
READING: JsonView = {"engine": "local"}
# Beside what the desk itself keeps in its private folder.
KEY, LOCK, ATTACK = "provider", ".serving.lock", "attack.json"
# Beside the sources of a team.
TEAM_KEY = "team"
MOST_ATTRIBUTES, MOST_LABELS = 12, 20_000
MOST_ROWS, MOST_CLASSES = 50_000_000, 20_000_000


@dataclass(frozen=True)
class Wish:
    """What a provider decides about an offer that the platform is to make."""

    name: str
    words: Mapping[str, str]
    criteria: Sequence[str]
    predictor: str = "power-law"
    first_levels: Mapping[str, int] | None = None
    epsilon: float = 1.0
    person: str = ""
    other_people: bool = False
    has_discretion: bool = False
    is_vetted: bool = True
    lots: Sequence[float] | None = None
    tighten_every: int = 10
    approvals_needed: int = 0
    approvers: Sequence[str] = ()

    def terms(self) -> OfferTerms:
        """Read what was decided, or say what is wrong with it."""
        if len(set(self.approvers)) < self.approvals_needed:
            raise InputError.of("as many people as must agree", column="approvers")
        return OfferTerms(
            criteria=[read_criterion(each) for each in self.criteria],
            predictor=self.predictor,
            first_levels=self.first_levels,
            epsilon=self.epsilon,
            has_discretion=self.has_discretion,
            is_vetted=self.is_vetted,
            lots=Lots(*self.lots) if self.lots else None,
            tighten_every=self.tighten_every,
            approvals_needed=self.approvals_needed,
            approvers=self.approvers,
        )


def make(asked: Asked) -> dict[str, object]:
    """Make the offer of a hosted table and its desk; one that is there already was made by an earlier attempt."""
    incoming, folder = Path(asked["incoming"]), Path(asked["folder"])
    with _alone(incoming):
        if not folder.is_dir():
            draft = folder.with_name(f".{folder.name}")
            shutil.rmtree(draft, ignore_errors=True)
            with refusing():
                _make(Wish(**asked["wish"]), incoming, asked["table"], draft, folder, _registry(asked))
            draft.rename(folder)
        # Also where an attempt was killed after the desk got its name.
        closed = _registry(asked).confirm(folder)
        return {"desk": facts_of(DeskFolder(folder)), "closed": [each.name for each in closed]}


def _registry(asked: Asked) -> SourceRegistry:
    sources = Path(asked["sources"])
    return SourceRegistry(sources, _team_key(sources), Path(asked["root"]))


def _make(wish: Wish, incoming: Path, table: str, draft: Path, folder: Path, registry: SourceRegistry) -> None:
    names = sorted(path.stem for path in (incoming / "hierarchies").iterdir())
    hierarchies = read_hierarchies(incoming / "hierarchies", names).values()
    lattice = Lattice.of([each.with_top() for each in hierarchies])
    if len(lattice.hierarchies) > MOST_ATTRIBUTES:
        raise InputError.of(f"at most {MOST_ATTRIBUTES} columns with levels", column="attributes")
    _check_size(incoming / table, lattice)
    words = Words(*(wish.words.get(name, "") for name in ("provider", "purpose", "terms", "summary")))
    source = str(incoming / table)
    key = PrivateKey.fresh()
    draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = open_offer(
        *(draft, wish.name, words, CountedTable(lattice, source, **READING), wish.terms()),
        key=key,
        source=source,
        reading=READING,
        registry=None if wish.other_people else registry,
        person=wish.person or None,
        seed_key=registry.key,
        will_be=folder,
        # Each table is sent once; on another machine its file would be another.
        place=f"hosted {folder.name}",
    )
    write_keys(draft / "private" / KEY, key)
    write_secret(draft / "private" / ATTACK, canonical({} if opened.found is None else opened.found.as_dict()))


def _team_key(sources: Path) -> PrivateKey:
    """Return the key that recognizes a team's sources, and draws its lots and noise."""
    path = sources / f"{TEAM_KEY}{PRIVATE}"
    if not path.is_file():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_keys(path.with_suffix(""), PrivateKey.fresh())
    return read_private(path)


def attack(asked: Asked) -> Json:
    """Attack an offer with all its releases that are here, by integer programs; empty if there are too many cells.

    Those of a desk at home that went through the platform are `released`: levels, criterion and file of each.
    """
    desk = DeskFolder(Path(asked["folder"]))
    offer, _ = desk.offer()
    if len(CellSpace(offer.lattice)) > MOST_CELLS:
        return {}
    releases = releases_at(desk)
    for each in asked.get("released", ()):
        text = Path(each["path"]).read_text(encoding="utf-8")
        node, k = offer.lattice.node(each["levels"]), offer.criterion(each["criterion"]).k
        classes = read_release(text, offer.lattice.attributes, file="release.csv")
        releases.append(PublishedCounts.of_frame(offer.lattice, node, classes, k=k))
    try:
        earlier = [each for each, _ in desk.revisions()[:-1]]
        return attack_desk(offer, releases, earlier=earlier).as_dict()
    except TokumeiError as error:
        # Such as releases that no one table can have given.
        return {"trouble": str(error)}


def _check_size(table: Path, lattice: Lattice) -> None:
    """Refuse a table of too many rows or classes by what its file says of itself, before any row is read."""
    n_rows = None
    if table.suffix == ".parquet":
        try:
            n_rows = int(pl.scan_parquet(table).select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError):
            raise InputError.of("a Parquet file", file=table.name) from None
        if n_rows > MOST_ROWS:
            raise InputError.of(
                Text("at most {n_most:,} rows", n_most=MOST_ROWS), file=table.name, value=counted(n_rows, "row")
            )
    n_labels = sum(len(level) for each in lattice.hierarchies for level in each.levels)
    if n_labels > MOST_LABELS:
        raise InputError.of(f"at most {MOST_LABELS:,} labels in all hierarchies", column="labels", value=n_labels)
    n_classes = min(lattice.class_count(lattice.bottom), n_rows or MOST_ROWS)
    if n_classes > MOST_CLASSES:
        form = "at most {n:,} classes at the finest levels: leave out a column, or begin at coarser levels"
        raise InputError.of(Text(form, n=MOST_CLASSES), file=table.name, value=n_classes)


def answer(asked: Asked) -> Json:
    """Answer one request at a desk, or repeat what was answered; the release stays in the desk's folder."""
    folder = Path(asked["folder"])
    with at_desk(folder, Path(asked["table"])) as desk:
        key = desk_key(folder)
        transport = OneRequest(Incoming(asked["name"], asked["text"]), asked["approvals"])
        again = repeat_answer(desk, transport.incoming, key)
        if again is None:
            serve(desk, transport, key)
            again = transport.sent
        if again is None:
            raise RuntimeError("a desk gave no answer")
        if again.answer is None:
            return {"problem": again.problem or "", "desk": facts_of(desk)}
        remarks = _remarks(desk.offer()[0], asked, again.release) if again.release is not None else []
        return {"answer": again.answer.text(), "remarks": remarks, "desk": facts_of(desk)}


class OneRequest:
    """A transport of one request, from memory to memory."""

    def __init__(self, incoming: Incoming, approvals: Sequence[str]) -> None:
        self.incoming = incoming
        self.sent: Outgoing | None = None
        self._approvals = approvals

    def receive(self) -> list[Incoming]:
        """Return the request."""
        return [self.incoming]

    def approvals(self) -> list[tuple[Approval, Signed]]:
        """Return the approvals of second persons."""
        signed = [parse_signed(text, APPROVAL, VERSION) for text in self._approvals]
        return [(approval_of(each), each) for each in signed]

    def send(self, outgoing: Outgoing) -> None:
        """Keep the answer."""
        self.sent = outgoing


def _remarks(offer: Offer, asked: Asked, release: str) -> list[str]:
    """Describe what is odd about a release beside its offer."""
    classes = read_release(release, offer.lattice.attributes, file="release.csv")
    if min(classes[SIZE], default=0) < offer.criterion(asked["criterion"]).k:
        raise RuntimeError("a desk gave a class that is too small")
    return tampering(offer, offer.lattice.node(asked["levels"]), classes)


def facts_of(desk: DeskFolder) -> dict[str, object]:
    """Return what the platform remembers of a desk as it stands."""
    offer, signed = desk.offer()
    lines = desk.public_log.read(signed.key)
    return {
        "revision": offer.revision,
        "digest": signed.digest,
        "public_key": signed.key,
        "log_lines": len(lines),
        "log_hash": lines[-1].hash,
        "name": offer.name,
        "words": words_of(offer),
    }


def words_of(offer: Offer) -> str:
    """Return the words by which an offer is found."""
    words = offer.words
    columns = [*offer.lattice.attributes, *offer.carried]
    return "\n".join([offer.name, words.provider, words.purpose, words.summary, words.terms, *columns])


@contextmanager
def at_desk(folder: Path, table: Path | None = None) -> Iterator[DeskFolder]:
    """Sit at a desk alone on this machine; whoever shares it with others has a copy of it."""
    with (folder / "private" / LOCK).open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield DeskFolder(folder, table)


def desk_key(folder: Path) -> PrivateKey:
    """Return the key that signs for a hosted offer."""
    return read_private(folder / "private" / f"{KEY}.key")


def given_release(folder: Path, digest: str) -> Path:
    """Return the path of a release that a desk gave."""
    return folder / "private" / "releases" / f"{digest}.csv"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process works on a table; the folder itself is locked, since a file would be one more."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
