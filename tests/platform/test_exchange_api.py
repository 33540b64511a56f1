"""The exchange for programs: trying, asking and fetching by a token, and what a provider's process may send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.offers import host, make_desk, publish
from tests.platform.sites import do_jobs

from tokumei.data.files.keys import PrivateKey
from tokumei.platform.accounts.models import User
from tokumei.platform.api.services import make_token
from tokumei.platform.exchange.services import offers, requesting
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/exchange"
PAIRS = {"age": 1, "sex": 0}


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> None:
    """Files of each test in a folder of its own."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()


def program(user: User, scope: str = "submit") -> Client:
    """Return a program with a token of a user."""
    _made, token = make_token(user, name="program", scope=scope, days=1)
    return Client(headers={"authorization": f"Bearer {token}"})


def test_program_tries_asks_and_fetches_its_release_alone(alice: User, bob: User, mallory: User, team: Team) -> None:
    host(alice, team)
    requesting.introduce(mallory, organization="A paper")
    user = program(mallory)
    assert user.get(f"{ROOT}/catalogue", {"q": "ages"}).json()["offers"][0]["slug"] == "hosted"
    json = "application/json"
    tried = user.post(f"{ROOT}/catalogue/hosted/try", {"levels": PAIRS}, json).json()
    assert (tried["class_count"], tried["zone"], tried["levels"]["town"]) == (6, "allowed", 2)
    refused = user.post(f"{ROOT}/catalogue/hosted/try", {"levels": {"wrong": 1}}, json)
    assert (refused.status_code, refused.json()["error"]) == (400, "InputError")
    asked = {"levels": PAIRS, "purpose": "an article"}
    assert program(mallory, "read").post(f"{ROOT}/catalogue/hosted/requests", asked, json).status_code == 403
    made = user.post(f"{ROOT}/catalogue/hosted/requests", asked, json)
    assert made.status_code == 201
    key = made.json()["key"]
    assert user.get(f"{ROOT}/requests/{key}/release").status_code == 404
    do_jobs("exchange")
    assert user.get(f"{ROOT}/requests/{key}").json()["state"] == "served"
    assert user.get(f"{ROOT}/requests/{key}/release").getvalue().startswith(b"age,sex,town,n_rows")
    other = program(bob)
    nothing = other.get(f"{ROOT}/requests/nothing").content
    for path in ("", "/release"):
        found = other.get(f"{ROOT}/requests/{key}{path}")
        assert (found.status_code, found.content) == (404, nothing)
    assert user.get(f"{ROOT}/requests").json()["n"] == 1
    assert other.get(f"{ROOT}/requests").json()["n"] == 0
    # The platform itself sits at a hosted desk.
    assert program(alice).get(f"{ROOT}/offers/hosted/pending").status_code == 404


def test_process_may_send_only_what_the_desk_signed(alice: User, mallory: User, team: Team, tmp_path: Path) -> None:
    desk = make_desk(tmp_path, PrivateKey.fresh())
    publish(desk, alice, team)
    requesting.introduce(mallory, organization="A paper")
    made = program(mallory).post(
        f"{ROOT}/catalogue/people/requests", {"levels": PAIRS, "purpose": "x"}, "application/json"
    )
    key = made.json()["key"]
    process = program(alice)
    assert [each["key"] for each in process.get(f"{ROOT}/offers/people/pending").json()["requests"]] == [key]
    for parts in ({}, {"answer": b"{}"}, {"answer": b"\xff"}, {"answer": b"{}", "release": b"a"}):
        sent = {name: SimpleUploadedFile(name, content) for name, content in parts.items()}
        assert process.post(f"{ROOT}/offers/people/answers/{key}", sent).status_code == 400
    for name, status in (("nothing", 404), (key, 204)):
        problem = {"problem": SimpleUploadedFile("problem", b"of an earlier revision")}
        assert process.post(f"{ROOT}/offers/people/answers/{name}", problem).status_code == status
    found = program(mallory).get(f"{ROOT}/requests/{key}").json()
    assert (found["state"], found["problem"]) == ("invalid", "of an earlier revision")
    # A revision by another key, or one that changes more than the formula, is refused.
    signed = offers.document_of(offers.find_offer("people"))[1]
    parts = {"log": b"", "head": b"{}", "revision-0002": signed.text().encode(), "revision-x": b""}
    sent = {name: SimpleUploadedFile(name, content) for name, content in parts.items()}
    assert process.post(f"{ROOT}/offers/people/log", sent).status_code == 400
    assert offers.find_offer("people").revision == 1


def test_team_lists_recipients_and_reads_the_attack_by_token(alice: User, mallory: User, team: Team) -> None:
    host(alice, team, criteria=["public=5", "trusted=3"])
    requesting.introduce(mallory, organization="A paper")
    own, json = program(alice), "application/json"
    attack = own.get(f"{ROOT}/offers/hosted/attack").json()
    assert (attack["is_safe"], attack["found"]["k"], attack["trouble"]) == (True, 5, "")
    listed = own.post(f"{ROOT}/offers/hosted/recipients", {"user": "mallory", "criterion": "trusted"}, json)
    assert listed.status_code == 201, listed.content
    found = own.get(f"{ROOT}/offers/hosted/recipients").json()["recipients"]
    assert [(one["user"], one["criterion"]) for one in found] == [("mallory", "trusted")]
    # Others see neither, and read tokens change nothing.
    for path in ("attack", "recipients"):
        assert program(mallory).get(f"{ROOT}/offers/hosted/{path}").status_code == 404
    reading = program(alice, "read")
    assert reading.delete(f"{ROOT}/offers/hosted/recipients?user=mallory").status_code == 403
    assert own.delete(f"{ROOT}/offers/hosted/recipients?user=nobody").status_code == 404
    assert own.delete(f"{ROOT}/offers/hosted/recipients?user=mallory").status_code == 204
    assert own.get(f"{ROOT}/offers/hosted/recipients").json()["recipients"] == []
