"""A whole contest of a real edition, with errors of every kind: no secret appears where it should not."""

from __future__ import annotations

import base64
import io
import json
import logging
import re
import zipfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone
from tests.platform.security.world import (
    PASSWORD,
    World,
    address,
    all_routes,
    captured,
    own_values,
    people_and_teams,
    send,
    state_of_database,
)
from tests.platform.sites import Site, do_jobs
from tests.platform.test_phases import end_anonymizing, end_attacks

from tokumei.contest.edition import files_in
from tokumei.platform.contests.models import Contest, State, Submission
from tokumei.platform.contests.services import scoreboard
from tokumei.platform.contests.services.phase_work import phase_jobs
from tokumei.platform.contests.services.rulebook import edition_of
from tokumei.platform.jobs import queue
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run
from tokumei.platform.start import JsonLines

pytestmark = pytest.mark.slow

OPTIONS = {"option-n_customers": "20"}
PLAIN = ("", "contests/", "teams/", "metrics", "health", "account/tokens", "api/v1/submissions", "api/v1/contests")
CANARY = "canary-5ec7e7"
# So many lines in a row are looked for, since one alone may stand in public data too. Of knowledge the secret is which
# rows are known: a sample that is drawn anew agrees with a few in a row by chance, with these never.
IN_A_ROW = {"knowledge": 40, "truth": 3}


@dataclass
class Drive:
    """A contest that is being played, with all that the server said meanwhile."""

    world: World
    log: io.StringIO
    mails: Any
    secrets: dict[str, list[bytes]] = field(default_factory=dict)

    def post(self, role: str, path: str, data: Any) -> Any:
        """Send a form for good."""
        client = Client(raise_request_exception=False)
        client.cookies[settings.SESSION_COOKIE_NAME] = self.world.sessions[role]
        answer = send(client, "POST", path, data, "")
        self.world.seen.append((f"{role} POST {path}", answer))
        return answer

    def crawl(self, *roles: str) -> None:
        """Ask for every address that tells of contests, or of the server, as everybody."""
        for route in all_routes():
            if route.access is None or "GET" not in route.access.methods:
                continue
            if any(room in route.pattern for room in ("exchange", "workbench")):
                continue
            if captured(route) or route.pattern in PLAIN:
                path = address(route, self.world.values_for(route, "public"))
                for role in roles:
                    self.world.call(role, "GET", path)

    def said(self) -> Iterator[tuple[str, bytes]]:
        """Return everything that left the server or was written down, and where."""
        for where, answer in self.world.seen:
            headers = {name: value for name, value in answer.headers.items() if name != "Set-Cookie"}
            yield where, answer.body + json.dumps(headers).encode()
            if answer.body.startswith(b"PK"):
                with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
                    yield from ((f"{where} {name}", archive.read(name)) for name in archive.namelist())
        yield "log", self.log.getvalue().encode()
        for mail in self.mails:
            yield "mail", mail.message().as_bytes()
        for name, rows in state_of_database().items():
            yield f"table {name}", repr(rows).encode()
            yield f"table {name}", json.dumps(rows, default=str, ensure_ascii=False).encode()

    def leaks(self, *secrets: str) -> list[str]:
        """Where a secret is found."""
        sought = [(name, secret, secret.split(b"\n")[1:-1]) for name in secrets for secret in self.secrets[name]]
        found = []
        for where, text in self.said():
            # Thousands of secrets are runs of lines: one whose inner lines are no lines of a text is not in it.
            lines = set(text.split(b"\n"))
            found += [
                f"{name} in {where}" for name, secret, inner in sought if lines.issuperset(inner) and secret in text
            ]
        return found


def runs_of_lines(path: Path, n_lines: int, public: Sequence[bytes]) -> list[bytes]:
    """Return some lines in a row of a secret file, as often as they are nowhere in what is public."""
    lines = path.read_bytes().split(b"\n")
    runs = [b"\n".join(lines[start : start + n_lines]) for start in range(0, len(lines) - n_lines, n_lines)]
    return [run for run in runs if len(run) > 8 and not any(run in text for text in public)]


def spellings(secret: bytes) -> list[bytes]:
    """Return the ways in which bytes could be written."""
    return [secret, secret.hex().encode(), base64.b64encode(secret).rstrip(b"="), repr(secret)[2:-1].encode()]


@pytest.fixture
def drive(site: Site, mailoutbox: Any) -> Iterator[Drive]:
    """Everybody, and ears on the log."""
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    handler.setFormatter(JsonLines())
    root, ours = logging.getLogger(), logging.getLogger("tokumei")
    level = ours.level
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    world = World(site.folder)
    world.seen = deque()
    people_and_teams(world)
    yield Drive(world, heard, mailoutbox)
    root.removeHandler(handler)
    ours.setLevel(level)


def open_contest(drive: Drive) -> Contest:
    """Make a contest by its forms, have its data made, and let two teams in."""
    now = timezone.localtime()
    moments = {"opens_at": -1, "attacks_open_at": 24, "closes_at": 48}
    given = {name: (now + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M") for name, hours in moments.items()}
    given |= {"title": "Cup", "slug": "cup", "is_public": "on"}
    given |= {"board": "live", "digits_shown": "3", "shows_guess_scores": "on"}
    given |= {"releases_a_day": "9", "releases_in_all": "9", "guesses_a_day": "9", "guesses_on_one": "3"}
    place = drive.post("organizer", "/contests/new", {"kind": "pwscup2017"}).headers["Location"].rpartition("/")[0]
    drive.post("organizer", f"{place}/rules", OPTIONS | {"go": "details"})
    drive.post("organizer", f"{place}/details", given | {"go": "finish"})
    do_jobs("workbench")
    answer = drive.post("organizer", f"{place}/finish", {"go": "publish", "sure": "yes"})
    assert answer.status == 302, answer.text
    contest = Contest.objects.get()
    run(phase_jobs(contest).get().pk)
    for role, team in (("captain", "red-team"), ("rival", "blue-team")):
        assert drive.post(role, "/contests/cup/join", {"team": team}).status == 302
    return Contest.objects.get()


def hand_in_releases(drive: Drive, contest: Contest, scratch: Path) -> None:
    """Hand in a release of each team for good, and what is no release."""
    edition = edition_of(contest)
    data = files_in(contest.folder / "public" / "data", edition.terms.data_files)
    for number, (role, team) in enumerate((("captain", "red-team"), ("rival", "blue-team"))):
        folder = scratch / team
        folder.mkdir()
        edition.anonymize(edition.anonymizers()[0], data, folder, seed=11 + number)
        given = {
            file.name.partition(".")[0]: SimpleUploadedFile(file.name, file.read_bytes()) for file in folder.iterdir()
        }
        answer = drive.post(role, "/contests/cup/submit", given)
        key = answer.headers["Location"].rpartition("/")[2]
        run(Job.objects.get(submission__key=key).pk)
        drive.world.keys[f"{team} cup"] = key
        assert Submission.objects.get(key=key).state == State.SCORED
    junk = {role.name: SimpleUploadedFile("x", bytes(range(256)) * 40) for role in edition.terms.release_files}
    answer = drive.post("captain", "/contests/cup/submit", junk)
    key = answer.headers["Location"].rpartition("/")[2]
    run(Job.objects.get(submission__key=key).pk)
    assert Submission.objects.get(key=key).state == State.REFUSED
    for below in ("", "/state", "/report"):
        drive.world.call("captain", "GET", f"/contests/submissions/{key}{below}")


def attack(drive: Drive, contest: Contest, scratch: Path) -> str:
    """Let red guess at blue's release by an attack of the edition."""
    edition = edition_of(contest)
    public, (level, roles) = contest.folder / "public", next(iter(edition.terms.knowledge_files.items()))
    scratch.mkdir()
    edition.attack(
        edition.attacks()[0],
        files_in(public / "data", edition.terms.data_files),
        files_in(public / "knowledge", roles),
        files_in(public / "releases" / "blue-team", edition.terms.published_files),
        scratch,
        seed=1,
    )
    given: dict[str, Any] = {"knowledge": level}
    given |= {
        file.name.partition(".")[0]: SimpleUploadedFile(file.name, file.read_bytes()) for file in scratch.iterdir()
    }
    answer = drive.post("captain", "/contests/cup/attack/blue-team", given)
    return str(answer.headers["Location"].rpartition("/")[2])


def note_secrets(drive: Drive, contest: Contest) -> None:
    """Note the secrets that are there now, by kind."""
    secret = contest.folder / "secret"
    public = [path.read_bytes() for path in (contest.folder / "public").rglob("*") if path.is_file()]
    drive.secrets["key"] = spellings((secret / "key").read_bytes())
    for kind in ("knowledge", "truth"):
        # Knowledge of everything is the public data with its items cut.
        paths = [path for path in sorted((secret / kind).rglob("*.csv")) if path.name != "T100.csv"]
        found = [run for path in paths for run in runs_of_lines(path, IN_A_ROW[kind], public)]
        drive.secrets.setdefault(kind, found)
        if found:
            drive.secrets[kind] = found
    drive.secrets["passwords"] = [PASSWORD.encode(), settings.SECRET_KEY.encode()]
    drive.secrets["sessions"] = [key.encode() for key in drive.world.sessions.values()]
    drive.secrets["tokens"] = [token.encode() for token in drive.world.tokens.values()]
    drive.secrets["paths"] = [str(contest.folder).encode(), contest.folder_key.encode()]


def break_things(drive: Drive, contest: Contest, monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
    """Let evaluations and views fail in ways whose messages quote secrets."""
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.0)
    truth = next((contest.folder / "secret" / "truth" / "blue-team").iterdir())
    kept = truth.read_bytes()
    truth.write_bytes(kept[: len(kept) // 2])
    key = attack(drive, contest, scratch)
    for _ in range(3):
        run(Job.objects.get(submission__key=key).pk)
    assert Submission.objects.get(key=key).state == State.FAILED
    truth.write_bytes(kept)
    data = contest.folder / "public" / "data"
    data.rename(data.with_name("away"))
    drive.crawl("captain")
    data.with_name("away").rename(data)
    quoted = f"{CANARY} {kept[:2000]!r} {(contest.folder / 'secret' / 'key').read_bytes().hex()}"
    for error in (DatabaseError(quoted), ValueError(quoted), OSError(5, quoted, quoted), RecursionError(quoted)):
        # What was worked out before would be shown without asking.
        cache.clear()
        with monkeypatch.context() as patch:
            patch.setattr(scoreboard, "standings", _raising(error))
            for path in (
                "/contests/cup/scoreboard",
                "/contests/cup/figures/standings.svg",
                "/api/v1/contests/cup/scoreboard",
            ):
                for role in ("captain", "organizer", "admin"):
                    assert drive.world.call(role, "GET", path).status == 500
    drive.secrets["canary"] = [CANARY.encode()]


def _raising(error: Exception) -> Any:
    def fail(*_given: Any, **_options: Any) -> Any:
        raise error

    return fail


@pytest.mark.thorough
def test_secrets_of_a_whole_contest_stay_where_they_are(
    drive: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = drive.world
    Client().post("/login", {"username": "bob", "password": PASSWORD + "?"})
    Client().post("/reset", {"email": "bob@example.com"})
    do_jobs("mail")
    contest = open_contest(drive)
    hand_in_releases(drive, contest, tmp_path)
    world.values["public"] = own_values(world, "cup")
    note_secrets(drive, contest)
    assert len(drive.secrets["knowledge"]) > 3, "there is nothing to look for"
    drive.crawl("anonymous", "captain", "organizer")
    # What attackers will know is nobody's before the releases are published.
    assert drive.leaks("knowledge", "key") == []

    contest = end_anonymizing(contest)
    assert contest.published_at is not None, contest.trouble
    note_secrets(drive, contest)
    assert len(drive.secrets["truth"]) > 3, "there is nothing to look for"
    key = attack(drive, contest, tmp_path / "guess")
    run(Job.objects.get(submission__key=key).pk)
    assert Submission.objects.get(key=key).state == State.SCORED
    drive.crawl("rival")
    break_things(drive, contest, monkeypatch, tmp_path / "second")

    drive.crawl("anonymous", "captain", "organizer")
    assert drive.leaks("truth", "key") == []

    contest = end_attacks(contest)
    do_jobs("contest")
    assert contest.closed_at is not None, contest.trouble
    drive.crawl("anonymous", "captain", "organizer")
    assert drive.leaks("canary", "passwords", "sessions", "tokens") == []
    # What is published at the end is published in one place.
    assert [leak for leak in drive.leaks("truth") if "/contests/cup/export" not in leak] == []
    # The row of a contest has to know its folder; nothing else does.
    assert [leak for leak in drive.leaks("paths") if leak != "paths in table Contest"] == []
    check_the_search_finds(drive)


def check_the_search_finds(drive: Drive) -> None:
    """What a visitor downloads at the end holds what was secret, so that the search above can find it."""
    exports = [answer.body for where, answer in drive.world.seen if where == "anonymous GET /contests/cup/export"]
    with zipfile.ZipFile(io.BytesIO(exports[-1])) as archive:
        held = b"\0".join(archive.read(name) for name in archive.namelist())
    assert all(secret in held for secret in drive.secrets["truth"])
    assert drive.secrets["key"][0] in held


def test_token_is_shown_once_and_kept_nowhere(drive: Drive) -> None:
    answer = drive.post(
        "captain", "/account/tokens", {"name": "new", "scope": "read", "days": "7", "current_password": PASSWORD}
    )
    token = re.search(r"tokumei_[\w-]{30,}", answer.text)
    assert token is not None
    drive.world.seen.clear()
    drive.secrets["token"] = [token[0].encode()]
    for path in ("/account/tokens", "/account", "/"):
        drive.world.call("captain", "GET", path)
    send(Client(), "GET", "/api/v1/me", None, "", headers={"Authorization": f"Bearer {token[0]}"})
    assert drive.leaks("token") == []
