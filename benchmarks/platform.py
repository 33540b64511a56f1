"""The server under people: how soon a large submission is scored, and how quick pages are for a hundred users.

A real server, its web and its job processes, on SQLite and over loopback; the hundred users run in this process and
share the machine with it.
"""

# ruff: noqa: A005 - `python -m benchmarks platform` runs it, and nothing imports it by its bare name.

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.measure import Figure

N_USERS = int(os.environ.get("BENCHMARK_USERS", "100"))
N_TEAMS = max(N_USERS // 4, 1)
# At 95 rows a customer.
LARGE, SMALL = 474, 60
N_UPLOADS = 3
# Seconds: over which users arrive, for which they are watched, and that they read a page.
ARRIVING, WATCHED, READING = 0.4 * N_USERS, 30.0, (1.0, 3.0)
# Of a hundred pages that a user opens, so many are for a submission: all teams hand in within a minute or two.
SUBMITS_PER_CENT = 1
PAGES = ("", "contests/", "contests/small", "contests/small/rules", "contests/small/scoreboard") + 2 * (
    "contests/small",
    "contests/small/scoreboard",
    "contests/small/submissions",
)
PASSWORD = "correct horse battery"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
PICTURE = re.compile(r'<img src="(/[^"]+)"')


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch, server(Path(scratch) / "data") as url:
        uploads = [_upload(url, f"user-{number}", Path(scratch) / "data" / "large.csv") for number in range(N_UPLOADS)]
        watched = asyncio.run(crowd(url, (Path(scratch) / "data" / "small.csv").read_bytes()))
    pages = watched.seconds["page"] + watched.seconds["submit"]
    return [
        Figure("45,000 rows of 2017, from upload to score", median(uploads), "s", 3.0, f"worst {max(uploads):.2f} s"),
        Figure(f"{N_USERS} users: page, p50", 1000 * median(pages), "ms", None, f"{len(pages)} pages"),
        Figure(f"{N_USERS} users: page, p95", 1000 * p95(pages), "ms", 500),
        Figure(f"{N_USERS} users: figures on the scoreboard, p95", 1000 * p95(watched.seconds["figure"]), "ms"),
        Figure(f"{N_USERS} users: log-in, p95", 1000 * p95(watched.seconds["log-in"]), "ms"),
        Figure(f"{N_USERS} users: errors", len(watched.errors), "", 0, "; ".join(sorted(set(watched.errors))[:3])),
    ]


@dataclass
class Watched:
    """What the users met: seconds by kind of request, and whatever was not as it ought to be."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    n_submitted: int = 0


def environment(data: Path, address: str | None = None) -> dict[str, str]:
    """Return the environment of a server with its files in a folder, on SQLite or at a database's address."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("TOKUMEI_")}
    given |= {"TOKUMEI_DATA": str(data), "TOKUMEI_LOG_LEVEL": "WARNING", "TOKUMEI_HOSTS": "localhost,127.0.0.1"}
    given.pop("DATABASE_URL", None)
    return given if address is None else given | {"DATABASE_URL": address}


@contextmanager
def server(data: Path, address: str | None = None, contests: Sequence[str] = ("large", "small")) -> Iterator[str]:
    """Fill a new data folder with these contests and serve from it; give the address."""
    given = environment(data, address)
    subprocess.run([sys.executable, "-m", "benchmarks.platform", *contests], check=True, env=given)
    command = [sys.executable, "-m", "tokumei", "serve", "--port", "0", "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given)
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        yield re.findall(r"http://\S+/", line)[0].replace("localhost", "127.0.0.1")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def make_site(contests: Sequence[str]) -> None:
    """Fill a new data folder: users, teams, a large and a small contest or one of them, and releases to hand in."""
    from tokumei.platform.start import configure, prepare

    configure()
    prepare()
    _make_people()
    if "large" in contests:
        _make_contest("large", LARGE, n_releases=0)
    _make_contest("small", SMALL, n_releases=N_TEAMS // 3)


def _make_people() -> None:
    from django.contrib.auth.hashers import make_password
    from django.utils import timezone

    from tokumei.platform.accounts.models import User
    from tokumei.platform.teams.models import Membership, Role, Team

    hashed = make_password(PASSWORD)
    User.objects.create(
        username="organizer", email="o@example.com", password=hashed, is_organizer=True, verified_at=timezone.now()
    )
    teams = [Team(slug=f"team-{n}", display_name=f"Team {n}", display_key=f"team {n}") for n in range(N_TEAMS)]
    teams = Team.objects.bulk_create(teams)
    people = [
        User(
            username=f"user-{n}",
            display_name=f"User {n}",
            email=f"u{n}@example.com",
            password=hashed,
            verified_at=timezone.now(),
        )
        for n in range(N_USERS)
    ]
    for number, user in enumerate(User.objects.bulk_create(people)):
        role = Role.CAPTAIN if number < N_TEAMS else Role.MEMBER
        Membership.objects.create(team=teams[number % N_TEAMS], user=user, role=role)


def _make_contest(slug: str, n_customers: int, *, n_releases: int) -> None:
    from django.conf import settings
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.utils import timezone

    from tokumei.contest.edition import files_in
    from tokumei.platform.accounts.models import User
    from tokumei.platform.contests.services import contests, joining, rulebook, submitting
    from tokumei.platform.contests.services.phase_work import phase_jobs
    from tokumei.platform.jobs.models import Job
    from tokumei.platform.jobs.running import run
    from tokumei.platform.teams.models import Team

    now, day = timezone.now(), timedelta(days=1)
    contest = contests.create_contest(
        User.objects.get(username="organizer"),
        slug=slug,
        title=slug,
        edition="pwscup2017",
        options={"n_customers": n_customers},
        releases_a_day=1000,
        releases_in_all=1000,
        opens_at=now - day,
        attacks_open_at=now + day,
        closes_at=now + 2 * day,
    )
    run(phase_jobs(contest).get().pk)
    contest.refresh_from_db()
    edition = rulebook.edition_of(contest)
    data = files_in(contest.folder / "public" / "data", edition.terms.data_files)
    with tempfile.TemporaryDirectory() as folder:
        edition.anonymize("perturb-and-delete", data, Path(folder), seed=1)
        made = (Path(folder) / "AT.csv").read_bytes()
    (settings.DATA / f"{slug}.csv").write_bytes(made)
    for number in range(N_TEAMS):
        captain = User.objects.get(username=f"user-{number}")
        joined = joining.join(contest, Team.objects.get(slug=f"team-{number}"), captain)
        if number < n_releases:
            handed_in = submitting.submit_release(joined, captain, {"AT": SimpleUploadedFile("AT.csv", made)})
            run(Job.objects.get(submission=handed_in).pk)


def _upload(url: str, name: str, release: Path) -> float:
    """Hand in a file as a browser does; give the seconds from its last byte to the score."""
    with httpx.Client(base_url=url, timeout=60) as client:
        page = client.get("login").text
        client.post("login", data={"csrfmiddlewaretoken": _token(page), "username": name, "password": PASSWORD})
        token = _token(client.get("contests/large/submit").text)
        sent_at = 0.0

        def body() -> Iterator[bytes]:
            nonlocal sent_at
            content = _multipart(token, release.read_bytes())
            for start in range(0, len(content), 65536):
                yield content[start : start + 65536]
            sent_at = time.perf_counter()

        length = len(_multipart(token, release.read_bytes()))
        headers = {"Content-Type": "multipart/form-data; boundary=edge", "Content-Length": str(length)}
        answer = client.post("contests/large/submit", content=body(), headers=headers)
        address = answer.headers["Location"]
        while not (state := client.get(f"{address}/state").json())["is_final"]:
            time.sleep(0.05)
        if state["state"] != "scored":
            sys.exit(f"the release was not scored: {state}")
        return time.perf_counter() - sent_at


def _multipart(token: str, content: bytes) -> bytes:
    head = f'--edge\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{token}\r\n'
    head += '--edge\r\nContent-Disposition: form-data; name="AT"; filename="AT.csv"\r\nContent-Type: text/csv\r\n\r\n'
    return head.encode() + content + b"\r\n--edge--\r\n"


async def crowd(
    url: str, release: bytes, *, seconds: float = WATCHED, submits_per_cent: int = SUBMITS_PER_CENT
) -> Watched:
    """Let the users come one after the other, then watch them for a while."""
    watched = Watched()
    begins_at = time.perf_counter() + ARRIVING
    wanted = Visit(url, release, begins_at, begins_at + seconds, submits_per_cent)
    await asyncio.gather(*(_visit(wanted, number, watched) for number in range(N_USERS)))
    return watched


@dataclass(frozen=True)
class Visit:
    """Where users go, what they hand in and how often, and from when until when they are watched."""

    url: str
    release: bytes
    begins_at: float
    ends_at: float
    submits_per_cent: int


async def _visit(wanted: Visit, number: int, watched: Watched) -> None:
    choose = random.Random(number)
    await asyncio.sleep(ARRIVING * number / N_USERS)
    # Without certificates, which would take a second to load for each hundred and are not needed here.
    async with httpx.AsyncClient(base_url=wanted.url, timeout=30, verify=False) as client:
        user = Browser(client, watched)
        await user.log_in(f"user-{number}")
        while time.perf_counter() < wanted.ends_at:
            user.is_watched = time.perf_counter() >= wanted.begins_at
            try:
                if choose.randrange(100) < wanted.submits_per_cent:
                    await user.submit(wanted.release)
                else:
                    await user.look(choose.choice(PAGES))
            except httpx.HTTPError as error:
                watched.errors.append(type(error).__name__)
            await asyncio.sleep(choose.uniform(*READING))


@dataclass
class Browser:
    """One user's browser."""

    client: httpx.AsyncClient
    watched: Watched
    is_watched: bool = False
    fresh_until: dict[str, float] = field(default_factory=dict)

    async def log_in(self, name: str) -> None:
        page = await self._ask("GET", "login", "first page")
        data = {"csrfmiddlewaretoken": _token(page.text), "username": name, "password": PASSWORD}
        self.is_watched = True
        await self._ask("POST", "login", "log-in", expected=302, data=data)
        self.is_watched = False

    async def look(self, path: str) -> None:
        page = await self._ask("GET", path, "page")
        for picture in PICTURE.findall(page.text):
            # A browser asks again only when the figure is older than the server said it may be.
            if time.perf_counter() > self.fresh_until.get(picture, 0.0):
                figure = await self._ask("GET", picture, "figure")
                age = re.search(r"max-age=(\d+)", figure.headers.get("Cache-Control", ""))
                self.fresh_until[picture] = time.perf_counter() + (float(age[1]) if age else 0.0)

    async def submit(self, release: bytes) -> None:
        page = await self._ask("GET", "contests/small/submit", "page")
        data, files = {"csrfmiddlewaretoken": _token(page.text)}, {"AT": ("AT.csv", release)}
        made = await self._ask("POST", "contests/small/submit", "submit", expected=302, data=data, files=files)
        self.watched.n_submitted += made.status_code == 302
        await self._ask("GET", made.headers["Location"], "page")

    async def _ask(self, method: str, path: str, kind: str, *, expected: int = 200, **given: object) -> httpx.Response:
        started = time.perf_counter()
        answer = await self.client.request(method, path, **given)  # type: ignore[arg-type]
        if self.is_watched:
            self.watched.seconds[kind].append(time.perf_counter() - started)
        if answer.status_code != expected or (expected == 302 and answer.headers["Location"].endswith("/submit")):
            self.watched.errors.append(f"{method} {path}: {answer.status_code}")
        return answer


def _token(page: str) -> str:
    return str(TOKEN.findall(page)[0])


def p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[-1] if len(seconds) > 1 else 0.0


if __name__ == "__main__":
    make_site(sys.argv[1:])
