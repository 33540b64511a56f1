"""What pages, letters and kits hold when something is there to tell: faults, refusals, results, in Japanese alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation
from tests.platform.conftest import PASSWORD
from tests.platform.offers import host
from tests.platform.security.test_japanese_pages import latin_sentences
from tests.platform.security.world import BACKEND, World
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

from tokumei.contest.edition import EDITIONS
from tokumei.contest.kit import readme_text
from tokumei.contest.pages import rules_text
from tokumei.platform.accounts import services
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Question
from tokumei.platform.contests.services import joining
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run_here
from tokumei.platform.notices.models import Notice
from tokumei.platform.teams.models import Team
from tokumei.platform.workbench import services as workbench

HISTORY = "customer,date,item,price,quantity\n" + "".join(
    f"c{number % 6},2024-{number % 3 + 1:02d}-{number % 27 + 1:02d},i{number % 5},{number % 7 + 1},1\n"
    for number in range(90)
)
STEPS = ("", "hierarchies", "risk", "protect", "see", "others", "take-home")


def reader(user: User) -> Client:
    """Return a Japanese browser of somebody."""
    client = Client(headers={"accept-language": "ja"})
    client.force_login(user, backend=BACKEND)
    return client


def check(answer: Any) -> str:
    """Refuse English on a page, and give the page."""
    text = str(answer.content.decode())
    assert latin_sentences(text) == []
    return text


def test_workbench_tells_of_files_and_wishes_that_cannot_be_in_japanese(world: World) -> None:
    alice = world.user("captain")
    client = reader(alice)
    for name, content in {
        "empty.csv": b"",
        "head.csv": b"a,b\n",
        "ragged.csv": b"a,b\n1,2\n3\n",
        "twice.csv": b"a,a\n1,2\n",
        "bad.xlsx": b"PK nothing",
        "bad.parquet": b"PAR1 nothing",
        "bad.csv.gz": b"\x1f\x8b nothing",
        "quote.csv": b'a,b\n1,"2\n',
        "bytes.csv": b"a,b\n\xff\xfe\x00,2\n",
        "odd.doc": b"x",
    }.items():
        upload = SimpleUploadedFile(name, content)
        answer = client.post("/workbench/new", {"file": upload, "kind": "table"}, follow=True)
        do_jobs()
        check(client.get(answer.redirect_chain[-1][0]) if answer.redirect_chain else answer)
    piece = begin(alice)
    for wish in ({"k": "99"}, {"k": "0"}, {"k": "many"}, {"k": "2", "share": "9"}, {"k": "8", "share": "0"}):
        check(client.post(f"/workbench/{piece.key}/run", wish, follow=True))
        do_jobs()
        check(client.get(f"/workbench/{piece.key}/see"))


@pytest.mark.parametrize(("content", "kind"), [(PEOPLE, "table"), (HISTORY.encode(), "history")])
def test_every_step_of_a_piece_of_work_is_japanese(world: World, content: bytes, kind: str) -> None:
    alice = world.user("captain")
    piece = begin(alice, content, kind=kind)
    for work in (workbench.FRONTIER, workbench.RELEASE):
        workbench.start(piece, work)
        do_jobs()
    for step in STEPS if kind == "table" else [step for step in STEPS if step != "hierarchies"]:
        check(reader(alice).get(f"/workbench/{piece.key}/{step}"))


def test_exchange_tells_of_offers_and_requests_that_cannot_be_in_japanese(world: World) -> None:
    alice, rita = world.user("captain"), world.user("rival")
    red = Team.objects.get(slug="red-team")
    # Sixteen people of one age are too few for this k.
    failed = host(alice, red, slug="failed", criteria=["own=5000"])
    assert failed.state == "failed"
    check(reader(alice).get(f"/exchange/{failed.slug}/desk"))
    client = reader(rita)
    for given in ({}, {"level-age": "9"}, {"level-age": "0", "level-sex": "0", "level-town": "0", "purpose": "x"}):
        check(client.post("/exchange/people/ask", given, follow=True))
    for given in ({}, {"name": "x", "criteria": "nonsense"}, {"criteria": "a=1"}):
        check(reader(alice).post("/exchange/offers/host", given, follow=True))


def test_contest_tells_what_is_wrong_with_files_and_forms_in_japanese(world: World) -> None:
    client, olga = reader(world.user("captain")), reader(world.user("organizer"))
    for content in (b"", b"\xff\xfe\x00", b"1,2\n3\n", b"11\n20\n"):
        upload = SimpleUploadedFile("R.csv", content)
        check(client.post("/contests/draft/check", {"R": upload}, follow=True))
    for kind, step, typed in (
        ("pwscup2017", "rules", {"option-known": "abc"}),
        ("pwscup2017", "details", {"title": "", "slug": "!"}),
        ("pwscup2015", "data", {"origin": "file", "source": SimpleUploadedFile("X.csv", b"a,b\n1\n")}),
        ("own-history", "rules", {"own_toml": "x = ["}),
    ):
        made = olga.post("/contests/new", {"kind": kind})
        address = made["Location"].rpartition("/")[0]
        check(olga.post(f"{address}/{step}", typed, follow=True))
        check(olga.get(f"{address}/finish"))
    cup = Contest.objects.get(slug="cup")
    asked = Question.objects.create(contest=cup, by=world.user("captain"), text="なぜですか。")
    joining.answer_question(asked, world.user("organizer"), text="そうだからです。", is_public=True)
    check(client.get("/contests/cup/questions"))


def test_letters_and_notices_are_japanese(world: World) -> None:
    alice = world.user("captain")
    User.objects.filter(pk=alice.pk).update(language="ja")
    with translation.override("ja"):
        for post in (services.post_reset, services.post_verification, services.post_test):
            post(alice, "https://tokumei.example")
    for job in Job.objects.filter(kind="letter", is_done=False):
        run_here(job.pk)
    assert len(mail.outbox) == 3
    for letter in mail.outbox:
        assert latin_sentences(f"{letter.subject} {letter.body}") == []
    assert Notice.objects.filter(user=alice).count() > 2
    check(reader(alice).get("/notices/"))


def test_errors_of_every_status_are_japanese(world: World) -> None:
    alice = world.user("captain")
    visitor = Client(headers={"accept-language": "ja"}, enforce_csrf_checks=True)
    statuses = []
    for answer in (
        visitor.get("/nothing-there"),
        visitor.post("/login", {"username": "alice", "password": PASSWORD}),
        reader(alice).get("/server"),
        reader(alice).put("/teams/"),
        reader(alice).post("/contests/past/submit", {}),
        reader(alice).post("/account", {"display_name": "", "email": "no", "time_zone": "Mars"}),
        reader(alice).post("/account/password", {"old_password": "x", "new_password": "1", "again": "2"}),
    ):
        statuses.append(answer.status_code)
        check(answer)
    assert {403, 404} <= set(statuses)


@pytest.mark.parametrize("name", [name for name in EDITIONS if name.startswith("pwscup")])
def test_what_kits_say_first_and_rules_are_japanese(name: str) -> None:
    edition = EDITIONS.make(name)
    for text in (readme_text(edition, "ja"), rules_text(edition.terms, "ja")):
        assert latin_sentences(text.partition("```")[0].replace("United Kingdom, France, Germany", "国")) == []
