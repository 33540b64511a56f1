"""Offers whose table the platform hosts: the desk is a folder here, and a job sits at it.

Whoever runs the server could read such a table. For small teams; others keep theirs at home.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, TokumeiError
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.criteria import Criterion, read_criterion
from tokumei.exchange.desk import DeskFolder, open_desk
from tokumei.exchange.documents import Signed, parse_signed
from tokumei.exchange.keys import PrivateKey, read_private, write_keys
from tokumei.exchange.offer import Lots, Words
from tokumei.exchange.offering import Terms, make_offer
from tokumei.exchange.repeating import repeat_answer
from tokumei.exchange.request import APPROVAL, VERSION, Approval, approval_of
from tokumei.exchange.transport import Incoming, Outgoing, serve
from tokumei.hierarchy.files import read_hierarchies
from tokumei.hierarchy.lattice import Lattice
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.services.uploads import telling_full_disk
from tokumei.platform.exchange.models import OfferState, PublishedOffer, Recipient, exchange_folder
from tokumei.platform.exchange.services import answering
from tokumei.platform.exchange.services.offers import check_slug, check_usable, refresh_hosted, save_new
from tokumei.platform.teams.models import Team
from tokumei.platform.telling import in_words

log = logging.getLogger("tokumei.exchange")
MAKE = "tokumei.platform.exchange.services.hosting.make_hosted"
TABLE_ENDS = (".csv", ".parquet", ".xlsx")
# Beside what the desk itself keeps in its private folder.
KEY, LOCK = "provider", ".serving.lock"


@dataclass(frozen=True)
class Wish:
    """What a provider decides about an offer that the platform is to make."""

    name: str
    words: Mapping[str, str]
    criteria: Sequence[str]
    predictor: str = "margins"
    first_levels: Mapping[str, int] | None = None
    has_discretion: bool = False
    is_vetted: bool = True
    lots: Sequence[float] = (0.02, 0.5)
    approvals_needed: int = 0
    approvers: Sequence[str] = ()


def host(
    user: User,
    team: Team,
    *,
    slug: str,
    wish: Wish,
    table: UploadedFile[Any],
    hierarchies: Iterable[UploadedFile[Any]],
) -> PublishedOffer:
    """Take a table and its hierarchies, and have the offer made."""
    check_slug(slug)
    terms_of(wish)
    ending = Path(str(table.name)).suffix.lower()
    if ending not in TABLE_ENDS:
        raise InputError.of(_("a table in one of these kinds: %s") % ", ".join(TABLE_ENDS), file=str(table.name))
    published = PublishedOffer(
        slug=slug,
        team=team,
        by=user,
        name=wish.name,
        words=wish.name,
        state=OfferState.MAKING,
        is_hosted=True,
        wanted={**vars(wish), "table": f"table{ending}"},
    )
    incoming = _incoming(published)
    try:
        with telling_full_disk(), transaction.atomic():
            incoming.mkdir(parents=True, mode=0o700)
            (incoming / "hierarchies").mkdir(mode=0o700)
            _store(table, incoming / f"table{ending}")
            for each in hierarchies:
                _store(each, incoming / "hierarchies" / _file_name(str(each.name)))
            save_new(published)
    except BaseException:
        shutil.rmtree(incoming, ignore_errors=True)
        raise
    _start(published)
    return published


def terms_of(wish: Wish) -> Terms:
    """Read what was decided, or say what is wrong with it."""
    criteria: list[Criterion] = [read_criterion(each) for each in wish.criteria]
    if len(set(wish.approvers)) < wish.approvals_needed:
        raise InputError.of(_("as many people as must agree"), column="approvers")
    return Terms(
        criteria=criteria,
        predictor=wish.predictor,
        first_levels=wish.first_levels,
        has_discretion=wish.has_discretion,
        is_vetted=wish.is_vetted,
        lots=Lots(*wish.lots),
        approvals_needed=wish.approvals_needed,
        approvers=wish.approvers,
    )


def possible_approvers(team: Team, user: User) -> list[Recipient]:
    """Give the members of a team whose keys here can agree to requests: all but who makes the offer."""
    members = Recipient.objects.filter(user__memberships__team=team).exclude(user=user).select_related("user")
    return list(members.order_by("user__username"))


def make_hosted(offer_id: int) -> None:
    """Make a hosted offer: a job; a second one at the same time waits for the first and finds it done."""
    published = PublishedOffer.objects.filter(pk=offer_id, state=OfferState.MAKING).first()
    if published is None or not _incoming(published).is_dir():
        return
    # The folder itself is locked: a file in it would be one more that nobody may read.
    folder = os.open(_incoming(published), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        published.refresh_from_db()
        if published.state == OfferState.MAKING:
            _try_to_make(published)
    finally:
        os.close(folder)


def _try_to_make(published: PublishedOffer) -> None:
    try:
        _make(published)
    except TokumeiError as error:
        # What is wrong with a table may quote it: only its own team reads that.
        _give_up(published, in_words(error)[:2_000])
    except Exception:
        _give_up(published)
        raise
    else:
        published.state = OfferState.OPEN
        published.save(update_fields=["state"])
        log.info("an offer was made", extra={"facts": {"offer": published.slug}})


def _give_up(published: PublishedOffer, trouble: str = "") -> None:
    published.state, published.trouble = OfferState.FAILED, trouble
    published.save(update_fields=["state", "trouble"])
    shutil.rmtree(published.folder, ignore_errors=True)
    shutil.rmtree(_incoming(published), ignore_errors=True)


def _make(published: PublishedOffer) -> None:
    wanted = dict(published.wanted)
    file = wanted.pop("table")
    wish = Wish(**wanted)
    incoming, folder = _incoming(published), published.folder
    # What a job that died left behind was never shown to anybody.
    shutil.rmtree(folder, ignore_errors=True)
    lattice = Lattice.of([each.with_top() for each in _hierarchies(incoming / "hierarchies")])
    reading: dict[str, Any] = {"engine": "local"}
    words = Words(*(wish.words.get(name, "") for name in ("provider", "purpose", "terms", "summary")))
    made, text = make_offer(wish.name, words, CountedTable(lattice, str(incoming / file), **reading), terms_of(wish))
    check_usable(made)
    key = PrivateKey.fresh()
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    open_desk(folder, made, text, str(incoming / file), reading, key)
    write_keys(folder / "private" / KEY, key)
    refresh_hosted(published)


def answer_waiting(offer_id: int) -> None:
    """Answer what waits at a hosted offer: a job; a second one at the same time waits for the first."""
    published = PublishedOffer.objects.filter(pk=offer_id, is_hosted=True).first()
    if published is None or not published.is_published:
        return
    with at_desk(published) as desk:
        key = desk_key(published)
        serve(desk, DeskTransport(published, desk, key), key)
        refresh_hosted(published)


@dataclass(frozen=True)
class DeskTransport:
    """The platform's own table of requests as a transport."""

    published: PublishedOffer
    desk: DeskFolder
    key: PrivateKey

    def receive(self) -> list[Incoming]:
        """Give the requests that wait; one whose answer a job that died did not hand over gets it now."""
        waiting = []
        for request in answering.pending(self.published):
            incoming = Incoming(request.key, request.document)
            again = repeat_answer(self.desk, incoming, self.key)
            waiting.append(incoming) if again is None else self.send(again)
        return waiting

    def approvals(self) -> list[tuple[Approval, Signed]]:
        """Give what second persons said."""
        signed = [parse_signed(text, APPROVAL, VERSION) for text in answering.approvals(self.published)]
        return [(approval_of(each), each) for each in signed]

    def send(self, outgoing: Outgoing) -> None:
        """Hand an answer over."""
        # The tampering check reads the offer as it stands.
        refresh_hosted(self.published)
        request = answering.find_pending(self.published, outgoing.name)
        if outgoing.answer is None:
            answering.take_problem(request, outgoing.problem or "")
        else:
            answering.take_answer(request, outgoing.answer.text(), outgoing.release)


@contextmanager
def at_desk(published: PublishedOffer) -> Iterator[DeskFolder]:
    """Sit at a desk alone."""
    with (published.folder / "private" / LOCK).open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield DeskFolder(published.folder)


def desk_key(published: PublishedOffer) -> PrivateKey:
    """Give the key that signs for a hosted offer."""
    return read_private(published.folder / "private" / f"{KEY}.key")


def _incoming(published: PublishedOffer) -> Path:
    """Where the table lies: apart from the desk, which wants an empty folder to begin with."""
    return exchange_folder() / "tables" / published.folder_key


def _start(published: PublishedOffer) -> None:
    from django_q.tasks import async_task

    async_task(MAKE, published.pk, save=False)


def _hierarchies(folder: Path) -> list[Any]:
    names = sorted(path.stem for path in folder.iterdir())
    return list(read_hierarchies(folder, names).values())


def _file_name(name: str) -> str:
    """Give the name of a hierarchy's file: that of its column, which must be plain."""
    stem, ending = Path(name).stem, Path(name).suffix.lower()
    if ending != ".csv" or not stem or len(stem) > 100 or not stem.isprintable() or stem.startswith("."):
        raise InputError.of(_("a file named by its column, such as age.csv"), file=name)
    return f"{stem}.csv"


def _store(upload: UploadedFile[Any], path: Path) -> None:
    """Write an upload where only the server can read it; two of one name are refused."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError.of(_("each file once"), file=path.name) from None
    with os.fdopen(descriptor, "wb") as handle:
        for chunk in upload.chunks():
            handle.write(chunk)
        handle.flush()
        os.fsync(handle.fileno())
