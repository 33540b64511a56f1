"""Hosted offers with real worker processes: made and answered once, whatever is killed and when."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from tests.platform.offers import HIERARCHIES, TABLE
from tests.platform.sites import Site, make_person, release, wait_final, wait_until
from tests.platform.sites import make_contest as make_cup

from tokumei.exchange.desk import DeskFolder
from tokumei.platform.contests.models import State
from tokumei.platform.exchange.desk_work import Wish
from tokumei.platform.exchange.models import LevelRequest, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.services import hosting, looking, requesting
from tokumei.platform.jobs import queue
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.teams import services as teams

pytestmark = pytest.mark.slow

# Read by every process that starts: at a stage of its work the limited one waits there, until it is killed or let go.
PAUSES = """
import os, pathlib, time

def pause(stage):
    folder = pathlib.Path(os.environ["HOME"])
    if (folder / f"stop-{stage}").exists():
        (folder / f"at-{stage}").write_text(str(os.getpid()))
        while (folder / f"stop-{stage}").exists():
            time.sleep(0.02)

from tokumei.platform.exchange import desk_work

def around(name, before, after, module=desk_work):
    real = getattr(module, name)
    def paused(*given, **named):
        pause(before)
        found = real(*given, **named)
        pause(after)
        return found
    setattr(module, name, paused)

around("open_offer", "offer-counted", "desk-made")
around("serve", "answer-begun", "answer-logged")
around("facts_of", "named", "told")
"""


def start(site: Site, n_evaluations: int = 0, **variables: str) -> None:
    """Start a worker whose limited processes can be held at each stage."""
    packages = site.folder / "packages"
    (packages / "sitecustomize.py").write_text(
        "import sys\nif 'tokumei.platform.jobs.child' in ' '.join(sys.orig_argv):\n    import holding\n"
    )
    (packages / "holding.py").write_text(PAUSES)
    site.start_worker(n_evaluations, ["exchange"], HOME=str(site.folder), **variables)


def hold(site: Site, stage: str) -> None:
    (site.folder / f"stop-{stage}").touch()


def held(site: Site, stage: str) -> Callable[[], int]:
    """Return which process waits at a stage, once one does."""

    def look() -> int:
        found = site.folder / f"at-{stage}"
        return int(found.read_text() or 0) if found.exists() else 0

    return look


def let_go(site: Site, stage: str) -> None:
    (site.folder / f"stop-{stage}").unlink()
    (site.folder / f"at-{stage}").unlink()


def offer_people(table: bytes = TABLE.encode(), name: str = "people.csv") -> PublishedOffer:
    alice = make_person("alice")
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")
    words = {"provider": "A shop"}
    # Not vetted: a vetted slope takes a drawn number of steps beyond what it needs, which may refuse what is asked.
    wish = Wish("people", words, ["own=5"], "power-law", {"sex": 0}, 100.0, is_vetted=False, lots=(1e-9, 1e-9))
    return hosting.host(
        alice,
        team,
        slug="people",
        wish=wish,
        table=SimpleUploadedFile(name, table),
        hierarchies=[SimpleUploadedFile(f"{name}.csv", text.encode()) for name, text in HIERARCHIES.items()],
    )


def ask(offer: PublishedOffer) -> LevelRequest:
    carol = make_person("carol")
    requesting.introduce(carol, organization="A university")
    return requesting.ask(offer, carol, levels={"age": 1, "sex": 0, "town": 2}, criterion=None, purpose="a study")


def wait_made(offer: PublishedOffer) -> None:
    def is_made() -> bool:
        offer.refresh_from_db()
        return offer.state != OfferState.MAKING

    wait_until(is_made, 120)


def wait_answered(request: LevelRequest) -> None:
    def is_answered() -> bool:
        request.refresh_from_db()
        return not request.is_open

    wait_until(is_answered, 120)


def test_exchange_job_killed_at_each_stage_ends_in_one_offer_and_one_answer(both_databases: str, site: Site) -> None:
    stages = ("offer-counted", "desk-made")
    for stage in stages:
        hold(site, stage)
    start(site)
    made = offer_people()
    # While the offer is made: the limited process dies, and then the one that took the job.
    os.kill(wait_until(held(site, "offer-counted"), 60), signal.SIGKILL)
    let_go(site, "offer-counted")
    wait_until(held(site, "desk-made"), 60)
    os.kill(consumer_of(Job.objects.get(kind="offer")), signal.SIGKILL)
    let_go(site, "desk-made")
    wait_made(made)
    assert (made.state, made.trouble) == (OfferState.OPEN, "")
    assert Job.objects.get(kind="offer").n_attempts == 3
    assert [path.name for path in made.folder.parent.iterdir()] == [made.folder_key]

    # The answer is computed and logged at the desk, and not handed over.
    hold(site, "answer-logged")
    asked = ask(made)
    os.kill(wait_until(held(site, "answer-logged"), 60), signal.SIGKILL)
    logged = DeskFolder(made.folder).public_log.lines()
    let_go(site, "answer-logged")
    # The file is written beside the row, and the row is not: killed with the answer in hand.
    hold(site, "named")
    wait_until(held(site, "named"), 60)
    consumer = consumer_of(Job.objects.get(kind="answer"))
    os.kill(consumer, signal.SIGSTOP)
    let_go(site, "named")
    time.sleep(0.5)
    os.kill(consumer, signal.SIGKILL)
    wait_answered(asked)
    assert asked.state == RequestState.SERVED
    assert asked.release_path.is_file()
    assert len(DeskFolder(made.folder).public_log.lines()) == len(logged) == 2
    made.refresh_from_db()
    assert looking.audit(made).fault == ""
    assert Job.objects.get(kind="answer").outcome == Outcome.DONE


def consumer_of(job: Job) -> int:
    return int(job.worker.rpartition(":")[2])


@pytest.mark.thorough
def test_table_that_exhausts_memory_is_given_up_with_its_reason_and_evaluations_go_on(site: Site) -> None:
    contest = make_cup("red")
    # Enough to start and for the evaluation, and far too little for what the table says it holds.
    start(site, 1, TOKUMEI_JOB_MEMORY_BYTES=str(1_500_000_000))
    hungry = offer_people(large_table(40_000_000), "people.parquet")
    submission = release(contest, "red")
    assert wait_final(submission, 60).state == State.SCORED
    wait_made(hungry)
    assert (hungry.state, hungry.trouble) == (OfferState.FAILED, queue.TOO_LARGE)
    job = Job.objects.get(kind="offer")
    assert (job.outcome, job.reason, job.n_attempts) == (Outcome.FAILED, queue.TOO_LARGE, 2)


def large_table(n_rows: int) -> bytes:
    """Return a small Parquet file of many rows."""
    import io

    import polars as pl

    packed = io.BytesIO()
    one = pl.DataFrame({"age": ["1"], "sex": ["f"], "town": ["p"]})
    one.select(pl.all().repeat_by(n_rows).explode()).write_parquet(packed, row_group_size=1_000_000)
    return packed.getvalue()


def test_offer_whose_process_dies_each_time_is_given_up(site: Site) -> None:
    hold(site, "offer-counted")
    start(site)
    made = offer_people()
    killed: set[int] = set()

    def kill() -> bool:
        found = held(site, "offer-counted")()
        if found and found not in killed and Path(f"/proc/{found}").exists():
            killed.add(found)
            os.kill(found, signal.SIGKILL)
        made.refresh_from_db()
        return made.state != OfferState.MAKING

    wait_until(kill, 90)
    assert (made.state, made.trouble) == (OfferState.FAILED, queue.BROKE_OFF)
    assert len(killed) == Job.objects.get(kind="offer").n_attempts == 3
    wait_until(lambda: not files_of(made))


def files_of(offer: PublishedOffer) -> list[Path]:
    return [path for path in offer.folder.parent.parent.rglob("*") if offer.folder_key in path.name]
