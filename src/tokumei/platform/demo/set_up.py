"""Making the demo's users, contests, offer and work, and keeping them fresh: the start of `tokumei serve --demo`.

What was made is noted in a file of the data folder, with the password of all demo users. A start that was broken off is
taken up again by the next one; a demo that has grown old gets its times moved to today; a contest that has gone on to
another phase meanwhile gets a successor. The offer is of made-up customers of a service, hosted by the platform, with a
request that was served; the work is of made-up patients, with a release and releases to choose from.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.utils import timezone

from tokumei.core.errors import InputError
from tokumei.data.files.disk import atomic_path
from tokumei.data.made_services import make_service
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.demo.play import make, play
from tokumei.platform.demo.script import (
    ADMIN,
    ATTACK,
    CLOSED,
    OPEN,
    ORGANIZER,
    SIDES,
    STAFF,
    Person,
    Script,
    ScriptedTeam,
    bring_up_to_date,
)
from tokumei.platform.exchange import trying
from tokumei.platform.exchange.desk_work import Wish
from tokumei.platform.exchange.models import OfferState, PublishedOffer
from tokumei.platform.exchange.services import hosting, offers, requesting
from tokumei.platform.jobs.process import Interrupted
from tokumei.platform.jobs.queue import EXCHANGE, next_jobs
from tokumei.platform.jobs.running import run_here
from tokumei.platform.teams.models import Membership, Role, Team
from tokumei.platform.typed_text import same_name_key
from tokumei.platform.workbench import services
from tokumei.platform.workbench.models import Piece

# The data is made up: it may stay as long as the demo.
STAYS = timedelta(days=3650)


def make_piece(user: User) -> None:
    """Have it made for somebody who has none; the one process of the workbench does its jobs in this order."""
    if Piece.objects.filter(owner=user).exists():
        return
    piece = services.begin_piece(user, sample="people")
    Piece.objects.filter(pk=piece.pk).update(expires=timezone.now() + STAYS)
    for kind in (services.RELEASE, services.FRONTIER):
        services.start(piece, kind)


SLUG = "demo-customers"
N_PEOPLE, SEED = 60_000, 1
WORDS = {
    "provider": "Sakura Mart (made up)",
    "purpose": "Research on shops and regions; planning of services. 店舗・地域の研究、サービスの企画。",
    "terms": "Do not try to find anybody, and do not pass it on. 再識別と再提供を禁じます。",
    "summary": (
        "We share how many customers of our service live where, by sex and age group, never who they are. "
        "どの地域に、どの性別・年代のお客様が何人いるかだけを共有し、個人は共有しません。"
    ),
}
PURPOSE = "A study of age groups by region. 地域別の年齢構成の調査。"


def make_offer(user: User, team: Team, asking: Sequence[User] = ()) -> list[str]:
    """Make the demo's offer for a team, once, and let some users ask for levels; give a line to print."""
    published = PublishedOffer.objects.filter(slug=SLUG).first()
    if published is None:
        published = _host(user, team)
    _do_jobs()
    published.refresh_from_db()
    for each in asking:
        if requesting.recipient_of(each) is None:
            requesting.introduce(each, organization=f"{each.display_name} Lab")
        if published.state == OfferState.OPEN and not requesting.requests_of(each).filter(offer=published).exists():
            # The finest that the offer allows beside what is out by now.
            document, _signed = offers.document_of(published)
            node = trying.first_levels(document, out=trying.given(published, document))
            wanted = dict(zip(document.lattice.attributes, node, strict=True))
            requesting.ask(published, each, levels=wanted, criterion=None, purpose=PURPOSE)
            _do_jobs()
            published.refresh_from_db()
    _do_jobs()
    return [f"An offer to try levels on: /exchange/{SLUG}"]


def _do_jobs() -> None:
    """Do the work of the exchange now, while no worker runs that would."""
    for job in next_jobs([EXCHANGE], most=50):
        run_here(job)


def _host(user: User, team: Team) -> PublishedOffer:
    people = make_service(N_PEOPLE, service=1, seed=SEED)
    packed = io.BytesIO()
    people.write_parquet(packed)
    built = [
        Sex().build("sex", people["sex"]),
        JapanAge().build("age", people["age"]),
        JapanPrefecture().build("prefecture", people["prefecture"]),
    ]
    return hosting.host(
        user,
        team,
        slug=SLUG,
        wish=Wish(name="Customers of a service 顧客データ", words=WORDS, criteria=["public=10", "trusted=3"]),
        table=SimpleUploadedFile("customers.parquet", packed.getvalue()),
        hierarchies=[SimpleUploadedFile(f"{each.attribute}.csv", _text(each)) for each in built],
    )


def _text(hierarchy: Hierarchy) -> bytes:
    """Serialize a hierarchy as its file."""
    rows = zip(*(hierarchy.labels_at(level) for level in range(len(hierarchy.levels))), strict=True)
    return "".join(";".join(row) + "\n" for row in rows).encode()


NOTES, LOCK = "demo.json", ".demo.lock"


@dataclass
class Notes:
    """What is known of the demo from start to start: the password, each contest's short name, and which are done."""

    password: str
    slugs: dict[str, str] = field(default_factory=dict)
    played: list[str] = field(default_factory=list)


def set_up(data: Path) -> Sequence[str]:
    """Make what is missing of the demo, as far as the first page needs it; give the lines that tell how to log in."""
    with _alone(data):
        notes = _read(data)
        if notes is None:
            if User.objects.exists() or Contest.objects.exists():
                raise InputError.of("a folder of its own: this one is in real use", option="--demo", value=data)
            notes = Notes(password="-".join(secrets.token_hex(3) for _ in range(3)))
            _write(data, notes)
        _make_people(notes.password)
        # Now, while no worker runs that would make it at the same time.
        _make_offer()
        for name in (ORGANIZER, SIDES[0].members[0].name):
            make_piece(User.objects.get(username=name))
        for script in (ATTACK, OPEN, CLOSED):
            _choose_contest(script, notes)
        _write(data, notes)
        if ATTACK.slug not in notes.played:
            play(replace(ATTACK, guesses=()), notes.slugs[ATTACK.slug])
        if OPEN.slug not in notes.played:
            make(OPEN, notes.slugs[OPEN.slug])
    return _lines(notes)


def has_rest(data: Path) -> bool:
    """Whether something of the demo is still to be played, beside the server that answers already."""
    notes = _read(data)
    return notes is not None and bool({ATTACK.slug, OPEN.slug, CLOSED.slug} - set(notes.played))


def play_rest() -> None:
    """Play what the first page can do without: the guesses, what is handed in, and the closed contest."""
    data = Path(settings.DATA)
    with _alone(data), suppress(Interrupted):
        notes = _read(data)
        if notes is not None:
            for script in (ATTACK, OPEN, CLOSED):
                _play(script, data, notes)


def _make_offer() -> None:
    """Offer a made-up table of the first team, and let two users of others ask for it."""
    provider, *others = (User.objects.get(username=side.members[0].name) for side in SIDES)
    make_offer(provider, Team.objects.get(slug=SIDES[0].slug), others[:2])


def _play(script: Script, data: Path, notes: Notes) -> None:
    if script.slug not in notes.played:
        play(script, notes.slugs[script.slug])
        notes.played.append(script.slug)
        _write(data, notes)


def _choose_contest(script: Script, notes: Notes) -> None:
    """Go on with a contest that is still of use, moved to today, or choose the short name of a new one."""
    known = Contest.objects.filter(slug=notes.slugs.get(script.slug, script.slug)).first()
    if known is not None:
        bring_up_to_date(known, script)
        if script.slug not in notes.played or known.phase_at() == script.phase:
            notes.slugs[script.slug] = known.slug
            return
        notes.played.remove(script.slug)
    slug, number = script.slug, 1
    while Contest.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{script.slug}-{number}"
    notes.slugs[script.slug] = slug


@transaction.atomic
def _make_people(password: str) -> None:
    # Hashed once for all: they share it anyway.
    hashed = make_password(password)
    for person in STAFF:
        _make_person(person, hashed, is_organizer=person.name == ORGANIZER, is_superuser=person.name == ADMIN)
    for side in SIDES:
        _make_team(side, [_make_person(person, hashed) for person in side.members])


def _make_person(person: Person, hashed: str, **rights: bool) -> User:
    facts = {
        "display_name": person.display_name,
        "language": person.language,
        "email": f"{person.name}@demo.invalid",
        "verified_at": timezone.now(),
    }
    user, _ = User.objects.get_or_create(username=person.name, defaults=facts | {"password": hashed} | rights)
    return user


def _make_team(side: ScriptedTeam, members: Sequence[User]) -> None:
    key = same_name_key(side.display_name)
    facts = {"display_name": side.display_name, "display_key": key}
    team, is_new = Team.objects.get_or_create(slug=side.slug, defaults=facts)
    for number, user in enumerate(members if is_new else ()):
        Membership.objects.create(team=team, user=user, role=Role.MEMBER if number else Role.CAPTAIN)


def _lines(notes: Notes) -> list[str]:
    people = [(ORGANIZER, "runs the contests"), (ADMIN, "looks after the site")]
    for side in SIDES:
        people += [
            (person.name, f"{'member' if number else 'captain'} of {side.display_name} ({person.language})")
            for number, person in enumerate(side.members)
        ]
    return [
        "",
        f"Log in with any of these names; the password of all is  {notes.password}",
        *(f"  {name:<10} {tells}" for name, tells in people),
        f"A finished piece of work is on the workbench of {ORGANIZER} and {SIDES[0].members[0].name}, at /workbench/.",
        "Contests are at /contests/, an offer to try levels on at /exchange/.",
        "The data is made up. Whoever has the password can do anything here: do not use this folder for real contests.",
    ]


def _read(data: Path) -> Notes | None:
    file = data / NOTES
    if not file.is_file():
        return None
    try:
        return Notes(**json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise InputError.of("the notes of the demo; remove the folder to begin anew", file=file) from None


def _write(data: Path, notes: Notes) -> None:
    with atomic_path(data / NOTES) as draft:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(notes), file, indent=1)


@contextmanager
def _alone(data: Path) -> Iterator[None]:
    """Wait until nobody else plays this demo."""
    with (data / LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
