"""Two servers and two workers that share a database and an S3 store, and no folder."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone
from tests.platform.programs import token_for
from tests.platform.sites import QUICK, SOURCE, Site, captain, end_group, enter_team, make_person, wait_until
from tests.platform.stores import BUCKET, CREDENTIALS, client, store  # noqa: F401 - a fixture.

from tokumei.contest.replay import replay
from tokumei.platform.contests.models import Contest, Submission
from tokumei.platform.files.models import SharedFolder


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


@pytest.mark.slow
def test_contest_is_played_on_machines_that_share_no_folder(site: Site, store: str, tmp_path: Path) -> None:  # noqa: F811
    shared = {"TOKUMEI_STORE": f"s3://{BUCKET}/contests", "TOKUMEI_STORE_URL": store} | CREDENTIALS
    serve = ("serve", "--port", "0", "--no-jobs")
    work = ("worker", "--processes", "1")
    now = timezone.now()
    with (
        machine(site, "web-one", *serve, **shared) as first,
        machine(site, "web-two", *serve, **shared) as second,
        machine(site, "worker-one", *work, **shared),
        machine(site, "worker-two", *work, **shared),
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
    listed = client(store).list_objects_v2(Bucket=BUCKET)["Contents"]
    kept = {f"contests/{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}
    assert {entry["Key"] for entry in listed} == kept
    homes = [site.folder / name for name in ("web-one", "web-two", "worker-one", "worker-two")]
    assert all((home / "files").is_dir() for home in homes)


def _export(at: httpx.Client) -> bytes | None:
    answer = at.get("contests/cup/export")
    return answer.content if answer.status_code == 200 else None
