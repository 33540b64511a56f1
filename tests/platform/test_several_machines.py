"""Two servers and two workers that share a database and an S3 store, and no folder."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.utils import timezone
from tests.platform.offers import HIERARCHIES, TABLE
from tests.platform.programs import token_for
from tests.platform.sites import QUICK, SOURCE, Site, captain, end_group, enter_team, make_person, wait_until
from tests.platform.stores import BUCKET, CREDENTIALS, client, store  # noqa: F401 - a fixture.

from tokumei.contest.replay import replay
from tokumei.platform.contests.models import Contest, Submission
from tokumei.platform.exchange.models import OPEN_STATES, LevelRequest, OfferState, PublishedOffer
from tokumei.platform.files.models import SharedFolder
from tokumei.platform.jobs.models import Job
from tokumei.platform.teams import services as teams
from tokumei.platform.workbench.models import Piece


@pytest.fixture
def both_databases() -> str:
    """Machines share a database over the network."""
    return "postgres"


@contextmanager
def machine(site: Site, name: str, *command: str, **variables: str) -> Iterator[str]:
    """Run a command with a data folder of its own; give the address that it prints, if it serves."""
    environment = site.environment | QUICK | variables | {"TOKUMEI_DATA": str(site.folder / name)}
    with (
        (site.folder / f"{name}.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "tokumei", *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        ) as started,
    ):
        try:
            assert started.stdout is not None
            line = started.stdout.readline().decode() if command[0] == "serve" else ""
            found = re.search(r"http://\S+?(?=/\s)", line)
            assert command[0] != "serve" or found is not None, (site.folder / f"{name}.log").read_text()
            yield found[0] if found else ""
        finally:
            end_group(started)


def program(url: str, user: Any) -> httpx.Client:
    return httpx.Client(base_url=f"{url}/api/v1/", headers={"Authorization": f"Bearer {token_for(user)}"}, timeout=60)


def rows(text: str) -> bytes:
    return "".join(f"{row}\n" for row in text.split()).encode()


def hand_in(at: httpx.Client, path: str, role: str, text: str) -> str:
    sent = at.post(path, files={role: (f"{role}.csv", rows(text))})
    assert sent.status_code == 201, sent.text
    return str(sent.json()["key"])


def wait_scored(*keys: str) -> None:
    wait_until(lambda: Submission.objects.filter(key__in=keys, state="scored").count() == len(keys), 120)


def pass_to(column: str, phase: str) -> None:
    """Let the time for a phase come, and wait until some worker has done its work."""
    Contest.objects.update(**{column: timezone.now()})
    wait_until(lambda: Contest.objects.get().phase == phase, 120)


SERVE = ("serve", "--port", "0", "--no-jobs")
WORK = ("worker", "--processes", "1")


@pytest.mark.thorough
def test_contest_is_played_on_machines_that_share_no_folder(site: Site, store: str, tmp_path: Path) -> None:  # noqa: F811
    shared = {"TOKUMEI_STORE": f"s3://{BUCKET}/all", "TOKUMEI_STORE_URL": store} | CREDENTIALS
    now = timezone.now()
    with (
        machine(site, "web-one", *SERVE, **shared) as first,
        machine(site, "web-two", *SERVE, **shared) as second,
        machine(site, "worker-one", *WORK, **shared),
        machine(site, "worker-two", *WORK, **shared),
    ):
        moments = {"opens_at": now, "attacks_open_at": now + timedelta(days=1), "closes_at": now + timedelta(days=2)}
        given = {"slug": "cup", "title": "Cup", "edition": "odd"}
        with program(first, make_person("olga", is_organizer=True)) as organizer:
            made = organizer.post(
                "contests",
                json=given | {"options": {"n_rows": "6"}} | {name: at.isoformat() for name, at in moments.items()},
            )
            assert made.status_code == 201, made.text
        wait_until(lambda: Contest.objects.get().prepared_at, 120)
        contest = Contest.objects.get()
        for name in ("red", "blue"):
            enter_team(contest, name)
        with program(first, captain("red")) as red, program(second, captain("blue")) as blue:
            # Each server gives the data that some worker made.
            files = [at.get("contests/cup/files/data/D.csv").content for at in (red, blue)]
            assert files[0] == files[1]
            assert len(files[0].splitlines()) == len(SOURCE.splitlines())
            keys = [
                hand_in(red, "contests/cup/releases", "R", "11 20 30 40 50 60"),
                hand_in(blue, "contests/cup/releases", "R", "10 20 30 40 50 61"),
            ]
            wait_scored(*keys)
            pass_to("attacks_open_at", "attack")
            # What one machine published the other one shows, and a copy from before is not shown any more.
            seen = [at.get("contests/cup/files/release/P.csv", params={"team": "red"}) for at in (red, blue)]
            assert [answer.status_code for answer in seen] == [200, 200]
            assert seen[0].content == seen[1].content
            guess = hand_in(blue, "contests/cup/targets/red/guesses?knowledge=all", "G", "0 1 2 3 4 5")
            wait_scored(guess)
            pass_to("closes_at", "closed")
            exports = [wait_until(partial(_export, at), 120) for at in (red, blue)]
        assert exports[0] == exports[1]
    with zipfile.ZipFile(io.BytesIO(exports[0])) as archive:
        archive.extractall(tmp_path)
    assert replay(tmp_path / "cup").phase == "closed"
    # Each version that counts is one object, and those that were replaced are gone.
    assert objects(store) == {f"{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}
    homes = [site.folder / name for name in ("web-one", "web-two", "worker-one", "worker-two")]
    assert all((home / "files").is_dir() for home in homes)


def _export(at: httpx.Client) -> bytes | None:
    answer = at.get("contests/cup/export")
    return answer.content if answer.status_code == 200 else None


def objects(url: str) -> set[str]:
    """All that is in the store, by the names of the database."""
    listed = client(url).list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {entry["Key"].removeprefix("all/") for entry in listed}


def browser(url: str, user: Any) -> httpx.Client:
    """Return a browser that is logged in; the servers have one database of sessions."""
    entered = Client()
    entered.force_login(user, backend="tokumei.platform.accounts.authentication.NameOrEmail")
    name = django_settings.SESSION_COOKIE_NAME
    return httpx.Client(base_url=url, cookies={name: entered.cookies[name].value}, timeout=60)


def fill_in(at: httpx.Client, page: str, path: str, data: dict[str, str], **files: Any) -> str:
    """Send the form of a page; where it leads."""
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', at.get(page).text)
    assert token is not None
    sent = at.post(path, data=data | {"csrfmiddlewaretoken": token[1]}, **files)
    assert sent.status_code == 302, sent.text
    return str(sent.headers["Location"])


@pytest.mark.thorough
def test_exchange_and_workbench_on_machines_that_share_no_folder(site: Site, store: str) -> None:  # noqa: F811
    shared = {"TOKUMEI_STORE": f"s3://{BUCKET}/all", "TOKUMEI_STORE_URL": store} | CREDENTIALS
    shared["TOKUMEI_JOB_ORPHAN_SECONDS"] = "1"
    alice, carol, dave = (make_person(name) for name in ("alice", "carol", "dave"))
    teams.create_team(alice, slug="red-team", display_name="Red Team")
    with (
        machine(site, "web-one", *SERVE, **shared) as first,
        machine(site, "web-two", *SERVE, **shared) as second,
        machine(site, "worker-one", *WORK, **shared),
        machine(site, "worker-two", *WORK, **shared),
        browser(first, alice) as one,
        browser(second, alice) as two,
    ):
        _host(one)
        piece = _begin_piece(one)
        wait_until(lambda: PublishedOffer.objects.get().state != OfferState.MAKING, 120)
        offer = PublishedOffer.objects.get()
        assert (offer.state, offer.trouble) == (OfferState.OPEN, "")
        assert "A shop" in two.get("/exchange/people").text

        # The desk is revised by two servers at once, and asked by two people at once.
        for url, user in ((first, carol), (second, dave)):
            with browser(url, user) as at:
                fill_in(at, "/exchange/profile", "/exchange/profile", {"organization": f"Lab of {user.username}"})
        with program(first, alice) as left, program(second, alice) as right, ThreadPoolExecutor(2) as both:
            listed = both.map(_list_recipient, (left, right), ("carol", "dave"))
            assert list(listed) == [201, 201]
        offer.refresh_from_db()
        assert offer.revision == 3
        with program(first, carol) as left, program(second, dave) as right, ThreadPoolExecutor(2) as both:
            asked = list(both.map(_ask, (left, right), ({"sex": 0}, {"sex": 1})))
            wait_until(lambda: not LevelRequest.objects.filter(state__in=OPEN_STATES).exists(), 120)
            assert set(LevelRequest.objects.values_list("state", flat=True)) == {"served"}
        # What was asked at the second is downloaded from the first.
        with program(first, dave) as at:
            got = at.get(f"exchange/requests/{asked[1]}/release")
        assert got.status_code == 200, got.text
        assert got.text.startswith("age,sex,town,n_rows")
        assert all("Verified." in at.get("/exchange/people/audit").text for at in (one, two))

        wait_until(lambda: not Job.objects.filter(subject=piece.key, is_done=False).exists(), 120)
        # Whatever attacks find, the release is to be had.
        context = f"/workbench/{piece.key}/context"
        fill_in(two, context, context, {"most_gain": "100"})
        goal = {"k": "2", "suppress": "0", "method": "optimal"}
        fill_in(two, f"/workbench/{piece.key}/protect", f"/workbench/{piece.key}/protect", goal)
        wait_until(lambda: Job.objects.filter(kind="workbench-release", is_done=True).exists(), 120)
        releases = [at.get(f"/workbench/{piece.key}/files/release.csv") for at in (one, two)]
        assert [answer.status_code for answer in releases] == [200, 200]
        assert releases[0].content == releases[1].content
        assert objects(store) == {f"{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}

        # What is deleted is in no store, and on no disk.
        fill_in(one, "/workbench/", f"/workbench/{piece.key}/delete", {"sure": "yes"})
        fill_in(two, "/exchange/people/desk", "/exchange/people/desk/remove", {"typed": "people"})
        kept = {name.split("/")[1] for name in objects(store)}
        assert kept == {"offers", "sources", "keys", "releases"}
        disks = [site.folder / name / "files" for name in ("web-one", "web-two", "worker-one", "worker-two")]
        gone = [disk / "workbench" / piece.key / "people.csv" for disk in disks]
        gone += [disk / "exchange" / "tables" / offer.folder_key for disk in disks]
        gone += [disk / "exchange" / "offers" / offer.folder_key / "private" for disk in disks]
        wait_until(lambda: not any(folder.exists() for folder in gone), 150)


def _host(at: httpx.Client) -> None:
    header, *body = TABLE.splitlines()
    table = "\n".join([header, *(body * 20)]) + "\n"
    files = [("table", ("people.csv", table))]
    files += [("hierarchies", (f"{name}.csv", text)) for name, text in HIERARCHIES.items()]
    said = dict.fromkeys(("purpose", "terms", "summary"), "Research.")
    decided = {"criteria": "public=10,own=5", "predictor": "power-law", "epsilon": "10", "approvals_needed": "0"}
    given = {"team": "red-team", "slug": "people", "name": "People", "provider": "A shop", "first_levels": "sex=0"}
    fill_in(at, "/exchange/offers/host", "/exchange/offers/host", given | said | decided, files=files)


def _begin_piece(at: httpx.Client) -> Piece:
    fill_in(at, "/workbench/", "/workbench/new", {"kind": "table"}, files={"file": ("people.csv", TABLE)})
    return Piece.objects.get()


def _list_recipient(at: httpx.Client, user: str) -> int:
    return at.post("exchange/offers/people/recipients", json={"user": user, "criterion": "own"}).status_code


def _ask(at: httpx.Client, levels: dict[str, int]) -> str:
    asked = at.post("exchange/catalogue/people/requests", json={"levels": levels, "purpose": "a study"})
    assert asked.status_code == 201, asked.text
    return str(asked.json()["key"])
