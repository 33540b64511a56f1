"""The exchange on the platform: publishing, asking, answering, agreeing, and who may see what."""

from __future__ import annotations

import html
import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.offers import HIERARCHIES, PUBLIC, TABLE, host, make_desk, publish
from tests.platform.sites import do_jobs

from tokumei.core.errors import InputError, NotAllowed, NotFound, PromiseBroken
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.desk import DeskFolder, answer_request
from tokumei.exchange.documents import parse_signed
from tokumei.exchange.request import REQUEST, Approval, make_request, request_of
from tokumei.exchange.request import VERSION as REQUEST_VERSION
from tokumei.exchange.transport import HttpTransport, serve
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange import trying
from tokumei.platform.exchange.desk_work import Wish
from tokumei.platform.exchange.models import LevelRequest, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.services import answering, hosting, looking, offers, requesting
from tokumei.platform.exchange.services.offers import BoundedCache
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import begin_again, release_worker
from tokumei.platform.jobs.running import name_of
from tokumei.platform.messages import TooMany
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db

PAIRS = {"age": 1, "sex": 0, "town": 2}
SINGLES = {"age": 0, "sex": 0, "town": 2}
TOWNS = {"age": 2, "sex": 0, "town": 0}
FINEST = {"age": 0, "sex": 0, "town": 0}


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    """Files of each test in a folder of its own."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    return tmp_path / "files"


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    """The provider's key."""
    return PrivateKey.fresh()


@pytest.fixture
def desk(tmp_path: Path, key: PrivateKey) -> DeskFolder:
    """A desk at the provider's home."""
    return make_desk(tmp_path, key)


@pytest.fixture
def people(desk: DeskFolder, alice: User, team: Team) -> PublishedOffer:
    """An offer of the red team, whose table is at home."""
    return publish(desk, alice, team)


@pytest.fixture
def hosted(alice: User, team: Team) -> PublishedOffer:
    """An offer of the red team, whose table the platform hosts."""
    return host(alice, team)


@pytest.fixture
def carol(make_user: Any) -> User:
    """A user who has said who she is to providers."""
    made: User = make_user("carol", display_name="Carol")
    requesting.introduce(made, organization="A university")
    return made


@pytest.fixture
def dave(make_user: Any) -> User:
    """Another one."""
    made: User = make_user("dave", display_name="Dave")
    requesting.introduce(made, organization="An institute")
    return made


def ask(offer: PublishedOffer, user: User, levels: dict[str, int], purpose: str = "a study") -> LevelRequest:
    return requesting.ask(offer, user, levels=levels, criterion=None, purpose=purpose)


def answered(offer: PublishedOffer, request: LevelRequest) -> LevelRequest:
    """Answer what waits at a hosted offer, in this process."""
    do_jobs("exchange")
    request.refresh_from_db()
    return request


def test_published_offer_is_found_by_its_words_and_shown_to_everybody(people: PublishedOffer, client: Client) -> None:
    assert [one.slug for one in offers.visible_offers("ages SHOP town")] == ["people"]
    assert not offers.visible_offers("ages nothing")
    page = client.get("/exchange/people").content.decode()
    for text in ("A shop", "Research on ages", "Do not look for anybody.", "k ≥ 5", "k_p = 5"):
        assert text in page
    assert client.get("/exchange/", {"q": "customers"}).status_code == 200
    assert client.get("/exchange/people/first-release.csv").getvalue().decode().startswith("age,sex,town,n_rows")
    assert json.loads(client.get("/exchange/people/offer.json").getvalue())["body"]["name"] == "people"


@pytest.mark.parametrize(
    ("name", "old", "new", "error"),
    [
        ("offer_text", '"name":"people"', '"name":"others"', PromiseBroken),
        ("first_release", "n_rows", "n_row", PromiseBroken),
        ("log", '"revision":1', '"revision":2', PromiseBroken),
        ("offer_text", "{", "[", InputError),
    ],
)
def test_publishing_a_changed_file_is_refused_and_leaves_nothing(
    desk: DeskFolder, alice: User, team: Team, name: str, old: str, new: str, error: type[Exception]
) -> None:
    texts = {each: (desk.folder / file).read_text("utf-8") for each, file in PUBLIC.items()}
    assert old in texts[name]
    texts[name] = texts[name].replace(old, new, 1)
    with pytest.raises(error):
        offers.publish(alice, team, slug="changed", **texts)
    assert not PublishedOffer.objects.exists()


def test_publishing_twice_or_under_a_taken_name_is_refused(
    people: PublishedOffer, desk: DeskFolder, alice: User, team: Team
) -> None:
    for slug in ("people", "again", "watch"):
        with pytest.raises(NotAllowed):
            publish(desk, alice, team, slug)
    assert PublishedOffer.objects.count() == 1


def test_trying_levels_gives_the_library_s_numbers(people: PublishedOffer, client: Client) -> None:
    found = client.get("/exchange/people/try", {"l0": 1, "l1": 0, "l2": 2}).json()
    offer, _ = offers.document_of(people)
    prediction = offer.predict((1, 0, 2))
    assert (found["k"], found["low"], found["high"]) == (prediction.k, prediction.low, prediction.high)
    assert (found["class_count"], found["zone"], found["k_p"]) == (6, "allowed", 5)
    finest = client.get("/exchange/people/try", {"l0": 0, "l1": 0, "l2": 0}).json()
    assert (finest["zone"], finest["class_count"], finest["can_ask"]) == ("refused", 48, False)
    # What is shown as the lowest k follows the levels, too.
    assert finest["judged"] <= finest["k"]


@pytest.mark.parametrize("given", [{"l0": "x"}, {"l0": "99", "l1": "0", "l2": "0"}, {"c": "nothing"}, {"l0": "１"}])
def test_levels_that_cannot_be_read_fall_back_to_suggested_ones(
    people: PublishedOffer, client: Client, given: dict[str, str]
) -> None:
    found = client.get("/exchange/people/try", given)
    assert found.status_code == 200
    assert found.json()["zone"] == "allowed"


def test_own_values_connect_at_the_levels_that_have_them(people: PublishedOffer, client: Client) -> None:
    page = client.post("/exchange/people/join", {"attribute": "age", "values": "a\nb\nc\n"}).content.decode()
    assert page.count('class="tag good"') == 3  # Pairs, the top, and the state of the offer.
    file = SimpleUploadedFile("mine.csv", b"id;town\n1;n\n2;x\n")
    page = client.post("/exchange/people/join", {"attribute": "town", "file": file}).content.decode()
    assert "1 / 2" in page
    assert client.post("/exchange/people/join", {"attribute": "town"}).status_code == 400
    assert client.post("/exchange/people/join", {"attribute": "wrong", "values": "x"}).status_code == 400
    assert client.post("/exchange/people/join", {"attribute": "town", "values": "\0"}).status_code in (200, 400)


def test_request_outside_of_what_the_offer_allows_is_not_sent(people: PublishedOffer, carol: User, alice: User) -> None:
    with pytest.raises(NotAllowed, match="is below 5"):
        ask(people, carol, FINEST)
    with pytest.raises(NotAllowed, match="who you are"):
        ask(people, alice, PAIRS)
    with pytest.raises(InputError):
        ask(people, carol, PAIRS, purpose=" ")
    assert not LevelRequest.objects.exists()


def test_request_signed_at_home_is_passed_on_once_and_under_the_own_name_only(
    people: PublishedOffer, carol: User, dave: User
) -> None:
    offer, signed = offers.document_of(people)
    name = requesting.name_of(carol.recipient)
    own = PrivateKey.fresh()
    made = make_request(offer, signed.digest, PAIRS, signer=own.public, user=name, purpose="a study").signed(own)
    with pytest.raises(NotAllowed, match="An institute"):
        requesting.ask_signed(people, dave, made.text())
    sent = requesting.ask_signed(people, carol, made.text())
    assert (sent.is_signed_here, sent.document, sent.levels) == (False, made.text(), PAIRS)
    with pytest.raises(NotAllowed):
        requesting.ask_signed(people, carol, made.text())
    with pytest.raises(PromiseBroken):
        requesting.ask_signed(people, carol, made.text().replace("a study", "a party"))


def test_hosted_offer_serves_refuses_learns_and_becomes_steeper(
    hosted: PublishedOffer, carol: User, dave: User
) -> None:
    served = answered(hosted, ask(hosted, carol, PAIRS))
    assert served.state == RequestState.SERVED
    assert served.release_path.read_text().splitlines()[:2] == ["age,sex,town,n_rows", "a,f,*,16"]
    assert served.release_path.stat().st_mode & 0o777 == 0o600
    # The formula promises single ages, of which one has two women: γ.
    assert answered(hosted, ask(hosted, dave, SINGLES)).state == RequestState.REFUSED
    # Towns are allowed alone, but not beside the ages that carol has: differencing by two who collude.
    attempt = trying.try_levels(hosted, list(TOWNS.values()))
    assert (attempt.tried.zone, attempt.zone) == ("allowed", "refused")
    assert answered(hosted, ask(hosted, dave, TOWNS)).state == RequestState.REFUSED

    learned = looking.learn(hosted)
    lesson = learned.learned[0]
    assert (lesson.before.quadrants.gamma, lesson.after.quadrants.gamma) == (1, 0)
    assert lesson.before.s2 > lesson.after.s2 == 0
    looking.tighten(hosted)
    hosted.refresh_from_db()
    assert hosted.revision == 2
    assert trying.try_levels(hosted, list(SINGLES.values())).tried.zone == "refused"
    # And not again before as many answers more.
    with pytest.raises(NotAllowed, match="after 3 more answers"):
        looking.tighten(hosted)
    found = looking.audit(hosted)
    assert (found.fault, len(found.lines)) == ("", 5)


def test_answer_that_a_dead_job_did_not_hand_over_is_handed_over_by_the_next(
    hosted: PublishedOffer, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask(hosted, carol, PAIRS)

    def die(*_given: object, **_more: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(answering, "take_answer", die)
        do_jobs("exchange")
    request.refresh_from_db()
    assert request.state == RequestState.SENT
    assert release_worker(name_of(os.getpid())) == 1
    assert answered(hosted, request).state == RequestState.SERVED
    assert looking.audit(hosted).fault == ""


def test_second_person_agrees_and_nobody_else(alice: User, bob: User, mallory: User, team: Team, carol: User) -> None:
    second = requesting.introduce(bob, organization="A shop")
    requesting.introduce(alice, organization="A shop")
    offer = host(alice, team, approvals_needed=1, approvers=[second.public_key])
    # Where others must agree, only those whom the offer lists can ask: nobody asks with a key of no name.
    with pytest.raises(NotAllowed, match="whom the offer lists"):
        ask(offer, carol, PAIRS)
    for user in (carol, bob):
        requesting.trust(offer, alice, username=user.username, criterion="own")
    request = answered(offer, ask(offer, carol, PAIRS))
    assert request.state == RequestState.WAITING
    for user in (alice, mallory, carol):
        with pytest.raises(NotAllowed):
            requesting.vote(request, user, is_approved=True)
    forged = Approval(request.digest, True).signed(PrivateKey.fresh())
    with pytest.raises(NotAllowed):
        requesting.vote_signed(request, alice, forged.text())
    requesting.vote(request, bob, is_approved=True)
    with pytest.raises(NotAllowed):
        requesting.vote(request, bob, is_approved=False)
    assert answered(offer, request).state == RequestState.SERVED
    # Their own requests they cannot agree to.
    own = answered(offer, ask(offer, bob, {"age": 2, "sex": 0, "town": 1}))
    assert not requesting.may_vote(own, bob)


def test_criterion_of_the_trusted_is_for_those_whom_the_provider_names(
    tmp_path: Path, key: PrivateKey, alice: User, team: Team, carol: User, dave: User
) -> None:
    at_home = publish(make_desk(tmp_path, key), alice, team, "home")
    with pytest.raises(NotAllowed, match="tokumei exchange admit"):
        requesting.trust(at_home, alice, username="carol", criterion="own")
    offer = host(alice, team, criteria=["all=10", "trusted=3"], predictor="margins")
    requesting.trust(offer, alice, username="CAROL", criterion="trusted")
    assert [one.name for one in requesting.criteria_for(offer, carol)] == ["all", "trusted"]
    assert [one.name for one in requesting.criteria_for(offer, dave)] == ["all"]
    sent = requesting.ask(offer, carol, levels={"age": 1, "sex": 1, "town": 2}, criterion="trusted", purpose="x")
    assert sent.criterion == "trusted"
    with pytest.raises(NotAllowed):
        requesting.ask(offer, dave, levels={"age": 1, "sex": 1, "town": 2}, criterion="trusted", purpose="x")
    with pytest.raises(NotFound):
        requesting.trust(offer, alice, username="nobody", criterion="trusted")
    with pytest.raises(NotFound):
        requesting.trust(offer, alice, username="dave", criterion="nothing")


def test_answers_are_taken_only_with_the_offer_s_signature_and_their_release(
    people: PublishedOffer, desk: DeskFolder, key: PrivateKey, carol: User
) -> None:
    request = ask(people, carol, PAIRS)
    other = ask(people, carol, PAIRS, purpose="another")
    sent: list[Any] = []

    class Home:
        """Hands requests to the desk and keeps the answers."""

        def receive(self) -> list[Any]:
            from tokumei.exchange.transport import Incoming

            return [Incoming(request.key, request.document)]

        def approvals(self) -> list[Any]:
            return []

        def send(self, outgoing: Any) -> None:
            sent.append(outgoing)

    serve(desk, Home(), key)
    answer, release = sent[0].answer, sent[0].release
    forged = json.loads(answer.text())
    forged["signature"]["key"] = PrivateKey.fresh().public
    for text, given in [
        (json.dumps(forged), release),
        (answer.text(), None),
        (answer.text(), release + "a,f,*,99\n"),
        (answer.text().replace("served", "refused"), None),
    ]:
        with pytest.raises((NotAllowed, InputError, PromiseBroken)):
            answering.take_answer(request, text, given)
    with pytest.raises(NotAllowed, match="another request"):
        answering.take_answer(other, answer.text(), release)
    answering.take_answer(request, answer.text(), release)
    answering.take_answer(request, answer.text(), release)
    request.refresh_from_db()
    assert (request.state, request.remarks) == (RequestState.SERVED, [])
    with pytest.raises(NotAllowed):
        answering.take_problem(request, "no")


def test_log_that_does_not_go_on_from_the_old_one_is_refused(
    people: PublishedOffer, desk: DeskFolder, key: PrivateKey, tmp_path: Path
) -> None:
    with pytest.raises(PromiseBroken):
        offers.receive_log(people, log="", head=(desk.folder / "public.head.json").read_text())
    (tmp_path / "other").mkdir()
    # The same table and key, and yet another log.
    other = make_desk(tmp_path / "other", key)
    log, head = ((other.folder / name).read_text() for name in ("public.jsonl", "public.head.json"))
    PublishedOffer.objects.update(log_hash="0" * 64)
    with pytest.raises((NotAllowed, PromiseBroken)):
        offers.receive_log(people, log=log, head=head)


def test_changed_log_is_told_on_the_audit_page_and_by_the_packed_files(
    hosted: PublishedOffer, carol: User, client: Client, tmp_path: Path
) -> None:
    answered(hosted, ask(hosted, carol, PAIRS))
    assert "Verified." in client.get("/exchange/hosted/audit").content.decode()
    with zipfile.ZipFile(io.BytesIO(client.get("/exchange/hosted/audit.zip").getvalue())) as archive:
        assert sorted(archive.namelist()) == [
            *("first-release.csv", "offer.json", "provider.pub", "public.head.json", "public.jsonl"),
            "revisions/0001.json",
        ]
    log = hosted.folder / "public.jsonl"
    log.write_text(log.read_text().replace("served", "refused"))
    page = client.get("/exchange/hosted/audit").content.decode()
    assert "This log was changed." in page
    assert "line 2" in page or "line 1" in page


def test_disclosure_tells_who_was_given_what_and_not_the_recipe(
    hosted: PublishedOffer, carol: User, dave: User, client: Client
) -> None:
    answered(hosted, ask(hosted, carol, PAIRS, purpose="<b>ages</b>"))
    answered(hosted, ask(hosted, dave, SINGLES, purpose="refused ones are not told"))
    page = client.get("/exchange/hosted/disclosure").content.decode()
    assert "A university (carol)" in page
    assert "&lt;b&gt;ages" in page
    assert "age in 3 groups" in page
    assert "An institute" not in page
    assert "refused ones" not in page


def test_watch_finds_copies(
    people: PublishedOffer, tmp_path: Path, key: PrivateKey, mallory: User, other_team: Team, client: Client
) -> None:
    (tmp_path / "copy").mkdir()
    copy = publish(make_desk(tmp_path / "copy", PrivateKey.fresh(), "copy"), mallory, other_team, "copied")
    found = looking.watch()
    assert [(one.slug, other.slug) for one, other in found.copies] == [("people", copy.slug)]
    assert "Blue Team" in client.get("/exchange/watch").content.decode()


def test_release_and_request_of_others_are_the_same_404_as_nothing(
    hosted: PublishedOffer, carol: User, dave: User, alice: User, admin: User, log_in: LogIn
) -> None:
    request = answered(hosted, ask(hosted, carol, PAIRS))
    parts = ("", "/state", "/release", "/answer", "/document")
    for part in parts:
        found = log_in(carol).get(f"/exchange/requests/{request.key}{part}")
        assert found.status_code == 200
        assert (found.getvalue() if found.streaming else found.content) != b""
    # Not even the provider's team or an admin gets another's release from the platform.
    for user in (dave, alice, admin):
        client = log_in(user)
        nothing = client.get("/exchange/requests/nothing/release").content
        for part in parts:
            found = client.get(f"/exchange/requests/{request.key}{part}")
            assert found.status_code == 404
        assert len(nothing) > 0
        assert client.post(f"/exchange/requests/{request.key}/withdraw").status_code == 404
    assert request.fetched.count() == 1


def test_desk_and_learning_are_for_the_provider_s_team(
    hosted: PublishedOffer, carol: User, mallory: User, bob: User, other_team: Team, log_in: LogIn
) -> None:
    request = ask(hosted, carol, PAIRS)
    for path in ("desk", "learning", f"desk/requests/{request.key}/document"):
        assert log_in(bob).get(f"/exchange/hosted/{path}").status_code == 200
        for user in (carol, mallory):
            assert log_in(user).get(f"/exchange/hosted/{path}").status_code == 404
    for path in ("learning/tighten", "desk/close", "desk/serve", "desk/trust", f"desk/requests/{request.key}/vote"):
        assert log_in(mallory).post(f"/exchange/hosted/{path}").status_code == 404
    assert log_in(bob).post("/exchange/hosted/desk/requests/nothing/vote").status_code == 404


def test_offer_that_is_being_made_or_failed_is_nothing_to_others(
    alice: User,
    bob: User,
    carol: User,
    team: Team,
    log_in: LogIn,
    files: Path,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        failed = host(alice, team, slug="failed", first_levels={"age": 0, "sex": 0, "town": 0})
    assert failed.state == OfferState.FAILED
    assert "below 5" in failed.trouble
    assert log_in(carol).get("/exchange/failed").status_code == 404
    assert "below 5" in log_in(bob).get("/exchange/failed/desk").content.decode()
    # Nothing that was typed is lost: the way on has it all, for the team alone.
    assert "/exchange/offers/host?again=failed" in log_in(bob).get("/exchange/failed/desk").content.decode()
    again = log_in(bob).get("/exchange/offers/host?again=failed").content.decode()
    assert 'value="failed-2"' in again
    assert "age=0,sex=0,town=0" in again
    assert "failed-2" not in log_in(carol).get("/exchange/offers/host?again=failed").content.decode()
    kept = [path for path in (files / "exchange").rglob("*") if path.is_file() and "keys" not in path.parts]
    # Nothing of the table: only the team's own key, by which it would be known again.
    assert sorted(path.name for path in kept) == ["team.key", "team.pub"]


def test_secrets_of_a_hosted_desk_are_for_the_server_alone(hosted: PublishedOffer, client: Client) -> None:
    secret = [path for path in (hosted.folder / "private").rglob("*") if path.suffix in {".key", ".json", ".jsonl"}]
    table = list((hosted.folder.parent.parent / "tables" / hosted.folder_key).rglob("*"))
    for path in [*secret, *table]:
        if path.is_file() and not path.name.endswith(".head.json"):
            assert path.stat().st_mode & 0o077 == 0, path.name
    for address in ("private/source.json", "private%2Fsource.json", "..%2Fprivate"):
        assert client.get(f"/exchange/hosted/{address}").status_code == 404


def test_pages_of_users_and_providers_work_as_forms(
    hosted: PublishedOffer, make_user: Any, log_in: LogIn, alice: User
) -> None:
    erin = make_user("erin", display_name="Erin")
    client = log_in(erin)
    chosen = "?l0=1&l1=0&l2=2&c=own"
    found = client.get(f"/exchange/hosted/ask{chosen}")
    assert found["Location"].startswith("/exchange/profile?next=")
    found = client.post(found["Location"], {"organization": "A paper", "about": ""})
    assert found["Location"] == f"/exchange/hosted/ask{chosen}"
    assert "A paper (erin)" in client.get(found["Location"]).content.decode()
    found = client.post(found["Location"], {"purpose": "an article", "criterion": "own"})
    request = LevelRequest.objects.get()
    assert found["Location"] == f"/exchange/requests/{request.key}"
    assert request.levels == PAIRS
    answered(hosted, request)
    page = client.get(f"/exchange/requests/{request.key}").content.decode()
    assert "<td>a</td><td>f</td>" in page
    assert client.get("/exchange/requests").status_code == 200
    assert client.get("/exchange/key").content.startswith(b"tokumei-ed25519 ")
    provider = log_in(alice)
    for path in ("offers", "offers/publish", "offers/host", "hosted/desk", "hosted/learning"):
        assert provider.get(f"/exchange/{path}").status_code == 200
    finest = client.post("/exchange/hosted/ask?l0=0&l1=0&l2=0", {"purpose": "x", "criterion": "own"})
    assert finest.status_code == 400
    assert LevelRequest.objects.count() == 1


def test_form_that_hosts_a_table_makes_an_offer(
    alice: User, team: Team, log_in: LogIn, settings: Any, tmp_path: Path
) -> None:
    fields = {
        "team": "red-team",
        "slug": "formed",
        "name": "Formed",
        "provider": "A shop",
        "purpose": "x",
        "terms": "x",
        "summary": "x",
        "criteria": "public=5, trusted=3",
        "predictor": "margins",
        "first_levels": "",
        "epsilon": "1",
        "approvals_needed": "0",
        "table": SimpleUploadedFile("people.csv", TABLE.encode()),
        "hierarchies": [SimpleUploadedFile(f"{name}.csv", text.encode()) for name, text in HIERARCHIES.items()],
    }
    found = log_in(alice).post("/exchange/offers/host", fields)
    assert found.status_code == 302, found.content.decode()
    made = PublishedOffer.objects.get(slug="formed")
    do_jobs("exchange")
    made.refresh_from_db()
    assert made.state == OfferState.OPEN
    assert [one.k for one in offers.document_of(made)[0].criteria] == [5, 3]
    again = log_in(alice).post("/exchange/offers/host", fields | {"criteria": "public=1"})
    assert again.status_code == 400


def test_offer_that_another_process_made_while_this_one_waited_is_not_made_again(alice: User, team: Team) -> None:
    made = host(alice, team)
    digest = made.digest
    PublishedOffer.objects.filter(pk=made.pk).update(state=OfferState.MAKING)
    begin_again(Job.objects.get(kind="offer"))
    do_jobs("exchange")
    made.refresh_from_db()
    assert made.state == OfferState.OPEN
    assert made.digest == digest != ""


def test_transport_refuses_to_send_tokens_in_the_clear(desk: DeskFolder, key: PrivateKey) -> None:
    with pytest.raises(NotAllowed):
        HttpTransport("http://example.org", "token", desk, key)
    with pytest.raises(InputError):
        HttpTransport("ftp://example.org", "token", desk, key)


def test_second_hosted_offer_of_the_same_people_is_refused_and_its_team_is_told_why(alice: User, team: Team) -> None:
    first = host(alice, team, slug="first", other_people=False)
    assert (first.state, first.trouble) == (OfferState.OPEN, "")
    assert first.attack["proven"] == []
    second = host(alice, team, slug="second", other_people=False)
    assert second.state == OfferState.FAILED
    assert "offered as 'hosted people' already" in second.trouble
    stated = host(alice, team, slug="stated", other_people=True)
    assert stated.state == OfferState.OPEN


def test_criterion_below_the_operators_standard_is_refused(
    alice: User, team: Team, settings: Any, tmp_path: Path, key: PrivateKey
) -> None:
    settings.EXCHANGE_LEAST_K = 6
    with pytest.raises(NotAllowed, match="must be 6 or more"):
        host(alice, team)
    with pytest.raises(NotAllowed, match="must be 6 or more"):
        publish(make_desk(tmp_path, key), alice, team)
    assert not PublishedOffer.objects.exists()


def test_offer_from_before_a_stricter_standard_serves_nobody_below_it(
    hosted: PublishedOffer, carol: User, settings: Any
) -> None:
    settings.EXCHANGE_LEAST_K = 6
    with pytest.raises(NotAllowed, match="must be 6 or more"):
        ask(hosted, carol, PAIRS)
    settings.EXCHANGE_LEAST_K = 5
    assert ask(hosted, carol, PAIRS).state == RequestState.SENT


def test_attack_of_every_night_is_noted_for_the_team(hosted: PublishedOffer, carol: User) -> None:
    answered(hosted, ask(hosted, carol, PAIRS))
    # It was attacked when it was made, and is again when a day has passed.
    assert hosting.start_attacks() == 0
    PublishedOffer.objects.update(attacked=None, attack={})
    assert hosting.start_attacks() == 1
    do_jobs("exchange")
    hosted.refresh_from_db()
    assert hosted.attacked is not None
    assert (hosted.attack["proven"], hosted.attack["open"]) == ([], 0)


def test_quotas_of_the_exchange_are_answered_with_429_and_a_reason(
    hosted: PublishedOffer, carol: User, alice: User, team: Team, log_in: LogIn
) -> None:
    client = log_in(carol)
    answers = []
    for number in range(12):
        given = {"purpose": f"a study {number}", "criterion": "own"}
        answers.append(client.post("/exchange/hosted/ask?l0=2&l1=1&l2=2", given))
    assert [one.status_code for one in answers] == [302] * 10 + [429] * 2
    assert "10 times a minute" in answers[-1].content.decode()
    for slug in ("one", "two"):
        _host_only(alice, team, slug)
    with pytest.raises(TooMany, match="being made"):
        _host_only(alice, team, "three")


def test_offers_and_bytes_of_a_team_have_bounds_that_are_answered_with_429(
    alice: User, team: Team, log_in: LogIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: PrivateKey
) -> None:
    desk = make_desk(tmp_path, key)
    page = log_in(alice)

    def sent(slug: str) -> Any:
        files = {
            name: SimpleUploadedFile(file, (desk.folder / file).read_bytes())
            for name, file in {**PUBLIC, "offer": "offer.json"}.items()
            if name != "offer_text"
        }
        return page.post("/exchange/offers/publish", {"team": team.slug, "slug": slug, **files})

    for name, said in (("OFFERS_A_DAY", "0 offers a day"), ("OFFERS_OF_A_TEAM", "has 0 offers")):
        with monkeypatch.context() as patched:
            patched.setattr(offers, name, 0)
            answer = sent("people")
            assert answer.status_code == 429, answer.content.decode()
            assert said in answer.content.decode()
    monkeypatch.setattr(hosting, "BYTES_OF_A_TEAM", 100)
    with pytest.raises(TooMany, match="100 bytes of tables in all"):
        _host_only(alice, team, "large")
    assert not PublishedOffer.objects.exists()
    # What was refused leaves no file behind.
    assert not [path for path in (tmp_path / "files").rglob("*") if path.is_file()]


def _host_only(user: User, team: Team, slug: str, table: bytes = TABLE.encode(), name: str = "t.csv") -> PublishedOffer:
    return hosting.host(
        user,
        team,
        slug=slug,
        wish=Wish("people", {}, ["own=5"], "power-law", {"sex": 0}, is_vetted=False),
        table=SimpleUploadedFile(name, table),
        hierarchies=[SimpleUploadedFile(f"{name}.csv", text.encode()) for name, text in HIERARCHIES.items()],
    )


def test_table_of_a_billion_rows_in_a_small_file_is_refused_before_it_is_read(alice: User, team: Team) -> None:
    packed = io.BytesIO()
    # Of one bit a value, which is quickly made.
    same = pl.repeat(True, 51_000_000, eager=True)
    pl.DataFrame(dict.fromkeys(("age", "sex", "town"), same)).write_parquet(packed, row_group_size=10_000_000)
    assert len(packed.getvalue()) < 1_000_000
    made = _host_only(alice, team, "bomb", packed.getvalue(), "t.parquet")
    do_jobs("exchange")
    made.refresh_from_db()
    assert made.state == OfferState.FAILED
    assert "at most 50,000,000 rows" in made.trouble


def test_nightly_attack_knows_what_a_desk_at_home_gave_through_the_platform(
    people: PublishedOffer, desk: DeskFolder, key: PrivateKey, carol: User
) -> None:
    asked = ask(people, carol, PAIRS)
    made = requesting.find_request(carol, asked.key)
    signed = parse_signed(made.document, REQUEST, REQUEST_VERSION)
    found, release = answer_request(desk, request_of(signed), signed, key=key, table=desk.table())
    assert release is not None
    answering.take_answer(made, found.text(), release)
    PublishedOffer.objects.update(attacked=None)
    assert hosting.start_attacks() == 1
    do_jobs("exchange")
    people.refresh_from_db()
    assert people.attack["proven"] == []
    # What no table can have given is told as such, and not as a table of too many values.
    path = made.release_path
    path.write_text(release.replace(",16", ",17"))
    PublishedOffer.objects.update(attacked=None)
    hosting.start_attacks()
    do_jobs("exchange")
    people.refresh_from_db()
    assert "that one table can have" in people.attack["trouble"]


def test_offer_that_is_removed_leaves_its_log_and_nothing_else(
    hosted: PublishedOffer, carol: User, alice: User, log_in: LogIn, client: Client
) -> None:
    served = ask(hosted, carol, PAIRS)
    answered(hosted, served)
    waiting = ask(hosted, carol, {"age": 2, "sex": 0, "town": 2})
    table, folder = hosted.table_place, hosted.folder
    assert any(table.iterdir())
    page = log_in(alice)
    refused = page.post("/exchange/hosted/desk/remove", {"typed": "another"})
    assert refused.status_code == 403
    assert table.exists()
    assert page.post("/exchange/hosted/desk/remove", {"typed": "hosted"}).status_code == 302
    hosted.refresh_from_db()
    assert (hosted.state, hosted.words, hosted.wanted) == (OfferState.REMOVED, "", {})
    assert not table.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["public.head.json", "public.jsonl"]
    lines = DeskFolder(folder).public_log.read(hosted.public_key)
    assert (lines[-1].payload["what"], len(lines), lines[-1].hash) == ("removed", hosted.log_lines, hosted.log_hash)
    # Nobody finds it any more but by its log; those who were given something keep it, and who waited is told.
    assert client.get("/exchange/hosted").status_code == 404
    assert client.get("/exchange/hosted/offer.json").status_code == 404
    assert "removed for good" in client.get("/exchange/hosted/audit").content.decode()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.problem) == (RequestState.INVALID, "The offer was removed.")
    own = log_in(carol)
    assert own.get(f"/exchange/requests/{served.key}").status_code == 200
    kept = own.get(f"/exchange/requests/{served.key}/release")
    assert kept.getvalue().startswith(b"age,sex,town,n_rows")
    assert own.get("/exchange/requests").status_code == 200
    assert page.get("/exchange/offers").status_code == page.get("/exchange/hosted/desk").status_code == 200


def test_offer_with_too_many_labels_is_refused(alice: User, team: Team, tmp_path: Path, key: PrivateKey) -> None:
    desk = make_desk(tmp_path, key)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(offers, "MOST_LABELS", 10)
        with pytest.raises(InputError, match="at most 10 labels in all"):
            publish(desk, alice, team)
    assert not PublishedOffer.objects.exists()


def test_cache_of_offers_is_bounded_by_bytes() -> None:
    cache = BoundedCache[int, str](most_bytes=100)
    made: list[int] = []

    def make(number: int, size: int) -> str:
        def read() -> tuple[str, int]:
            made.append(number)
            return f"offer {number}", size

        return cache.get(number, read)

    assert [make(1, 40), make(2, 40), make(1, 40)] == ["offer 1", "offer 2", "offer 1"]
    # The third does not fit beside both: the second was not asked for longest.
    make(3, 40)
    assert (len(cache), cache.n_bytes) == (2, 80)
    make(1, 40)
    make(2, 40)
    assert made == [1, 2, 3, 2]
    # One that is larger than all of it is given and not kept.
    assert make(4, 1_000) == "offer 4"
    assert cache.n_bytes <= 100


def test_desk_says_what_is_asked_in_labels_with_its_risk_and_use(
    alice: User, team: Team, mallory: User, log_in: LogIn
) -> None:
    offered = host(alice, team)
    requesting.introduce(mallory, organization="Lab")
    asked = requesting.ask(offered, mallory, levels=PAIRS, criterion=None, purpose="Study")
    k = offers.document_of(offered)[0].criterion(asked.criterion).k
    page = log_in(alice).get("/exchange/hosted/desk").content.decode()
    said = " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
    for words in ("age a · b · c", "sex f · m", "town not told", f"a group of {k} rows or more", "6 kinds of people"):
        assert words in said, words
    japanese = log_in(alice).get("/exchange/hosted/desk", headers={"accept-language": "ja"}).content.decode()
    assert "最大6通りの人々を区別できます" in japanese
