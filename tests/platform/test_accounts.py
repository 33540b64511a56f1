"""Accounts: signing up and in, passwords, the second factor, and what strangers can learn."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.sessions.backends.db import SessionStore
from django.core import mail
from django.db import IntegrityError, connection
from django.forms import Select
from django.test import Client
from django.test.html import parse_html
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tests.platform.conftest import PASSWORD, LogIn, MakeUser
from tests.platform.sites import do_jobs

from tokumei.core.errors import InputError
from tokumei.platform.accounts import services
from tokumei.platform.accounts.forms import LongSelect
from tokumei.platform.accounts.models import Deed, User
from tokumei.platform.jobs.models import Job

pytestmark = pytest.mark.django_db

SIGN_UP = {
    "username": "yuki",
    "display_name": "結城 <b>ゆき</b>",
    "email": "Yuki@Example.com",
    "password": "long enough to keep",
    "password_again": "long enough to keep",
}


def enter(client: Client, username: str = "alice", password: str = PASSWORD, **more: str) -> Any:
    return client.post("/login", {"username": username, "password": password} | more)


def is_logged_in(client: Client) -> bool:
    return client.get("/account").status_code == 200


def test_signing_up_makes_an_account_and_logs_in(client: Client) -> None:
    answer = client.post("/sign-up", SIGN_UP)
    assert answer.status_code == 302
    assert answer["Location"] == "/"
    user = User.objects.get(username="yuki")
    assert (user.email, user.display_name) == ("yuki@example.com", "結城 <b>ゆき</b>")
    assert user.password.startswith("argon2$")
    assert not (user.is_organizer or user.is_superuser)
    assert is_logged_in(client)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"username": "ALICE"}, "This user name is taken."),
        ({"username": "../etc"}, "begin with a letter or a digit"),
        ({"username": "yuki\n"}, None),
        ({"display_name": "safe\u202eevil"}, "invisible characters"),
        ({"display_name": "null\x00byte"}, "Null characters are not allowed"),
        ({"password": "short", "password_again": "short"}, "too short"),
        ({"password": "yuki@example.com", "password_again": "yuki@example.com"}, "too similar"),
        ({"password_again": "another one"}, "are not the same"),
    ],
)
def test_signing_up_with_what_cannot_be_used_says_why(
    client: Client, alice: User, changed: dict[str, str], said: str | None
) -> None:
    answer = client.post("/sign-up", SIGN_UP | changed)
    if said is None:
        # Blanks around a name are a slip and are dropped.
        assert User.objects.filter(username="yuki").exists()
        return
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert User.objects.count() == 1


def test_names_that_differ_in_case_only_are_refused_by_the_database(alice: User) -> None:
    with pytest.raises(IntegrityError):
        User.objects.create_user("Alice", "other@example.com", PASSWORD)


def test_signing_up_too_often_from_one_address_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "SIGN_UPS_AN_HOUR", 1)
    assert client.post("/sign-up", SIGN_UP).status_code == 302
    again = SIGN_UP | {"username": "another", "email": "another@example.com"}
    assert Client().post("/sign-up", again).status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.7").post("/sign-up", again).status_code == 302
    assert User.objects.count() == 2


def test_limits_end_with_time_and_keep_no_addresses(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "SIGN_UPS_AN_HOUR", 1)
    client.post("/sign-up", SIGN_UP)
    assert "127.0.0.1" not in str(list(Deed.objects.values()))
    Deed.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert Client().post("/sign-up", SIGN_UP | {"username": "b", "email": "b@example.com"}).status_code == 302


@pytest.mark.parametrize("login", ["alice", "ALICE", "alice@example.com", "Alice@Example.com", " alice "])
def test_logging_in_by_name_or_address_in_any_case_works(client: Client, alice: User, login: str) -> None:
    assert enter(client, login).status_code == 302
    assert is_logged_in(client)


def test_unknown_user_and_wrong_password_look_and_work_alike(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_user("closed", "closed@example.com", PASSWORD, is_active=False)
    hashings: list[str] = []
    for name in ("encode", "verify"):
        original = getattr(Argon2PasswordHasher, name)

        def counted(*given: Any, original: Any = original, name: str = name, **options: Any) -> Any:
            hashings.append(name)
            return original(*given, **options)

        monkeypatch.setattr(Argon2PasswordHasher, name, counted)

    def attempt(username: str, password: str) -> tuple[int, str, int, int]:
        hashings.clear()
        with CaptureQueriesContext(connection) as queries:
            answer = enter(Client(), username, password)
        page = re.sub(r'value="[^"]*"', "", answer.content.decode())
        return answer.status_code, page, len(hashings), len(queries)

    wrong = attempt("alice", "wrong password")
    assert wrong[0] == 200
    assert wrong[2] == 1
    assert attempt("nobody", "wrong password") == wrong
    assert attempt("nobody@example.com", "wrong password") == wrong
    assert attempt("closed", PASSWORD) == wrong


def test_logging_in_gives_the_session_a_new_key(alice: User) -> None:
    planted = SessionStore()
    planted["something"] = "kept"
    planted.create()
    client = Client()
    client.cookies["tokumei_session"] = str(planted.session_key)
    enter(client)
    assert client.cookies["tokumei_session"].value != planted.session_key
    assert is_logged_in(client)
    thief = Client()
    thief.cookies["tokumei_session"] = str(planted.session_key)
    assert not is_logged_in(thief)


def test_logging_out_ends_the_session_for_good(client: Client, alice: User) -> None:
    enter(client)
    key = client.cookies["tokumei_session"].value
    assert client.get("/logout").status_code == 405
    assert is_logged_in(client)
    assert client.post("/logout").status_code == 302
    assert not is_logged_in(client)
    thief = Client()
    thief.cookies["tokumei_session"] = key
    assert not is_logged_in(thief)


def test_changing_the_password_ends_all_other_sessions(alice: User) -> None:
    here, elsewhere = Client(), Client()
    enter(here)
    enter(elsewhere)
    old_key = here.cookies["tokumei_session"].value
    new = "a wholly new password"
    wrong = {"current_password": "wrong", "password": new, "password_again": new}
    assert "The password is wrong." in here.post("/account/password", wrong).content.decode()
    assert is_logged_in(elsewhere)
    right = wrong | {"current_password": PASSWORD}
    assert here.post("/account/password", right).status_code == 302
    assert is_logged_in(here)
    assert here.cookies["tokumei_session"].value != old_key
    assert not is_logged_in(elsewhere)
    assert enter(Client(), password=PASSWORD).status_code == 200
    assert enter(Client(), password=new).status_code == 302


def test_a_closed_account_is_logged_out_at_once(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    assert is_logged_in(client)
    User.objects.update(is_active=False)
    assert not is_logged_in(client)


def test_many_wrong_passwords_lock_the_name_at_that_address_only(alice: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    # Name and address count together.
    for login in ("alice", "ALICE", "alice@example.com"):
        last = enter(Client(), login, "wrong")
    assert last.status_code == 429
    locked = enter(Client(), "alice", PASSWORD)
    assert locked.status_code == 429
    assert "Wait 15 minutes" in locked.content.decode()
    japanese = Client(headers={"accept-language": "ja"}).post("/login", {"username": "alice", "password": "x"})
    assert "15 分待って" in japanese.content.decode()
    assert enter(Client(REMOTE_ADDR="192.0.2.7")).status_code == 302


def test_many_wrong_passwords_for_many_names_lock_the_address(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "FAILED_LOGINS_AN_HOUR", 3)
    for name in ("a", "b", "c"):
        assert enter(Client(), name, "wrong").status_code == 200
    assert enter(Client()).status_code == 429


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "http:evil.example",
        "http://testserver/teams/",
        " //evil.example",
        "/\t/evil.example",
    ],
)
def test_going_on_to_another_site_after_logging_in_is_refused(alice: User, wanted: str) -> None:
    assert enter(Client(), next=wanted)["Location"] == "/"
    asked = Client().get("/login", {"next": wanted}).content.decode()
    assert 'name="next" value="/"' in asked


def test_going_on_to_our_own_page_after_logging_in_works(client: Client, alice: User) -> None:
    sent = client.get("/teams/?page=2")
    assert sent["Location"] == "/login?next=/teams/%3Fpage%3D2"
    assert enter(client, next="/teams/?page=2")["Location"] == "/teams/?page=2"


def test_a_forgotten_password_is_set_anew_by_a_link_that_works_once(alice: User, log_in: LogIn) -> None:
    session = log_in(alice)
    answer = Client().post("/reset", {"email": "ALICE@example.com"})
    assert (answer.status_code, answer["Location"]) == (302, "/reset/sent")
    do_jobs("mail")
    (letter,) = mail.outbox
    assert letter.to == ["alice@example.com"]
    link = re.search(r"http://testserver(/reset/\S+)", str(letter.body))
    assert link is not None
    visitor = Client()
    assert visitor.get(link[1]).status_code == 200
    weak = visitor.post(link[1], {"password": "1234567890", "password_again": "1234567890"})
    assert weak.status_code == 200
    new = {"password": "another good one", "password_again": "another good one"}
    assert visitor.post(link[1], new).status_code == 302
    assert not is_logged_in(session)
    assert not is_logged_in(visitor)
    assert enter(Client(), password="another good one").status_code == 302
    assert Client().get(link[1]).status_code == 404
    assert Client().post(link[1], new).status_code == 404


def test_a_forgotten_password_of_nobody_is_answered_alike_and_sends_nothing(alice: User) -> None:
    known = Client().post("/reset", {"email": "alice@example.com"})
    unknown = Client().post("/reset", {"email": "nobody@example.com"})
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    do_jobs("mail")
    assert len(mail.outbox) == 1


def test_asking_for_many_links_is_refused(alice: User) -> None:
    answers = [Client(REMOTE_ADDR=f"192.0.2.{n}").post("/reset", {"email": "alice@example.com"}) for n in range(4)]
    assert [answer.status_code for answer in answers] == [302, 302, 302, 429]
    do_jobs("mail")
    assert len(mail.outbox) == 3


@pytest.mark.parametrize(
    "path", ["/reset/MQ/x-y", "/reset/!/x", "/reset/OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk/a-b", "/reset/あ/い"]
)
def test_a_made_up_link_is_void(client: Client, alice: User, path: str) -> None:
    assert client.get(path).status_code == 404


def test_changing_the_address_needs_the_password(alice: User, bob: User, log_in: LogIn) -> None:
    client = log_in(alice)
    new = {"display_name": "アリス", "email": "new@example.com", "language": "ja"}
    assert client.post("/account", new).status_code == 200
    assert client.post("/account", new | {"current_password": PASSWORD}).status_code == 302
    alice.refresh_from_db()
    assert (alice.display_name, alice.email, alice.language) == ("アリス", "new@example.com", "ja")
    # Without a new address, no password is needed.
    assert client.post("/account", new | {"display_name": "Alice"}).status_code == 302


def test_trying_ones_own_password_often_is_refused(alice: User, log_in: LogIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "WRONG_PASSWORDS_AN_HOUR", 2)
    client = log_in(alice)
    given = {"current_password": "wrong", "password": "x" * 12, "password_again": "x" * 12}
    assert [client.post("/account/password", given).status_code for _ in range(3)] == [200, 200, 429]


def test_admin_makes_organizers_and_closes_accounts(alice: User, admin: User, log_in: LogIn) -> None:
    client = log_in(admin)
    assert "alice@example.com" in client.get("/people", {"q": "ALICE"}).content.decode()
    assert client.post("/people/alice", {"do": "make_organizer"}).status_code == 302
    alice.refresh_from_db()
    assert alice.may_organize
    assert client.post("/people/alice", {"do": "close"}).status_code == 302
    assert enter(Client()).status_code == 200
    assert client.post("/people/root", {"do": "close"}).status_code == 403
    assert client.post("/people/alice", {"do": "is_superuser"}).status_code == 403
    assert client.post("/people/nobody", {"do": "open"}).status_code == 404


def test_nobody_but_an_admin_sees_the_people(alice: User, organizer: User, log_in: LogIn) -> None:
    nothing = log_in(alice).get("/nothing-there")
    for user in (alice, organizer):
        answer = log_in(user).get("/people")
        assert answer.status_code == nothing.status_code == 404
        assert log_in(user).post("/people/alice", {"do": "make_organizer"}).status_code == 404
    assert Client().get("/people")["Location"].startswith("/login")


def test_user_made_on_the_command_line_keeps_the_rules(make_user: MakeUser) -> None:
    made = services.make_user("boss", email="Boss@example.com", password="good enough pass", is_admin=True)
    assert (made.is_superuser, made.is_organizer, made.email) == (True, False, "boss@example.com")
    again = services.make_user("BOSS", email=None, password=None, is_organizer=True)
    assert (again.pk, again.is_superuser, again.is_organizer) == (made.pk, True, True)
    assert again.check_password("good enough pass")
    with pytest.raises(InputError, match="letters"):
        services.make_user("bad name", email="x@example.com", password="good enough pass")
    with pytest.raises(InputError, match="short"):
        services.make_user("weak", email="x@example.com", password="x")


NEW = {
    "username": "yuki",
    "display_name": "Yuki",
    "email": "yuki@example.com",
    "password": "a good long one",
    "password_again": "a good long one",
}


def verification_link() -> str:
    do_jobs("mail")
    found = re.search(r"http://testserver(/verify/\S+)", str(mail.outbox[-1].body))
    assert found is not None
    return found[1]


def test_address_counts_once_its_link_was_followed(client: Client) -> None:
    client.post("/sign-up", NEW)
    user = User.objects.get(username="yuki")
    assert not user.is_verified
    assert User.objects.find_by_login("yuki@example.com") is None
    assert "not confirmed" in client.get("/account").content.decode()
    link = verification_link()
    assert Client().get(link[:-1] + "x").status_code == 404
    assert client.get(link)["Location"] == "/account"
    user.refresh_from_db()
    assert user.is_verified
    assert User.objects.find_by_login("YUKI@example.com") == user


def test_signing_up_with_somebodys_address_tells_nothing_and_takes_nothing(alice: User) -> None:
    known = Client().post("/sign-up", NEW | {"email": "alice@example.com"})
    unknown = Client().post("/sign-up", NEW | {"username": "yuki2"})
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert User.objects.find_by_login("alice@example.com") == alice
    do_jobs("mail")
    letter = next(one for one in mail.outbox if one.to == ["alice@example.com"])
    link = re.search(r"http://testserver(/verify/\S+)", str(letter.body))
    assert link is not None
    # Even by the link, since the address is somebody's already.
    assert Client().get(link[1]).status_code == 404


def test_address_that_nobody_confirmed_does_not_block_its_owner(client: Client) -> None:
    Client().post("/sign-up", NEW | {"username": "squatter"})
    client.post("/sign-up", NEW)
    assert client.get(verification_link()).status_code == 302
    assert User.objects.find_by_login("yuki@example.com") == User.objects.get(username="yuki")


def test_signing_up_is_throttled_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setattr(services, "SIGN_UPS_AN_HOUR", 3)
    answers = [Client().post("/sign-up", {"username": f"guess{number}"}).status_code for number in range(5)]
    assert answers == [200, 200, 200, 429, 429]


def test_admin_can_be_demoted_by_another_and_not_by_themselves(admin: User, log_in: LogIn, make_user: Any) -> None:
    other = make_user("second", is_superuser=True)
    client = log_in(admin)
    assert client.post("/people/second", {"do": "unmake_admin"}).status_code == 302
    other.refresh_from_db()
    assert not other.is_superuser
    assert client.post(f"/people/{admin.username}", {"do": "unmake_admin"}).status_code == 403


def test_letter_in_the_database_holds_no_link(alice: User) -> None:
    Client().post("/reset", {"email": "alice@example.com"})
    (job,) = Job.objects.filter(kind="letter")
    assert set(job.payload) == {"what", "user", "origin", "language"}


@pytest.mark.parametrize("value", ["", "b", "<c>", "of nobody"])
def test_choice_among_many_is_written_as_django_writes_it(value: str) -> None:
    choices = [("", "Any"), ("b", "B & b"), ("<c>", "<C>")]
    given = ("zone", value, {"id": "id_zone", "required": True, "disabled": False})
    written, plain = (parse_html(kind(choices=choices).render(*given)) for kind in (LongSelect, Select))
    assert written == plain
