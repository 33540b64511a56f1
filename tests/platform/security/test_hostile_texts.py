"""Texts that people give: formulas, markup, scripts and characters nobody sees do nothing, wherever they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from tests.platform.security.world import (
    PASSWORD,
    ROLES,
    World,
    address,
    captured,
    may_see,
    named,
    page_routes,
    state_of_database,
)
from tests.platform.sites import do_jobs

from tokumei.platform.access import Route
from tokumei.platform.accounts.models import User
from tokumei.platform.api.models import Token
from tokumei.platform.contests.models import (
    Announcement,
    Contest,
    ContestInvitation,
    FileCheck,
    OrganizerAction,
    Participation,
    Question,
    Submission,
)
from tokumei.platform.exchange.models import LevelRequest, PublishedOffer, Recipient
from tokumei.platform.notices.models import Notice
from tokumei.platform.teams.models import Team
from tokumei.platform.typed_text import FORMULA_STARTS, inert_cell

MARKUP = "\"'><xss onload=1>{{7*7}}</title></script><script>xss()</script>"
HOSTILE_MARKDOWN = f"""{MARKUP}

# {MARKUP}

[a](javascript:xss()) [b](//evil.example) [c](data:text/html,x) [d](/\\evil.example) ![e](javascript:xss())

<iframe src="javascript:xss()"></iframe>

| {MARKUP} |
|---|
| ![x](//evil.example/pixel.gif) |

```{MARKUP}
{MARKUP}
```
"""
FORMULA = "=cmd|' /C calc'!A0"
UNSEEN = ("\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\x07", "\ufeff", "\u2028", "\x85", "\U000e0041")
LINKS = ("href", "src", "action", "formaction", "xlink:href", "data")
# Nothing that these begin with is loaded or run.
HARMLESS = ("/", "#", "http://testserver/", "?")


class Reader(HTMLParser):
    """Reads a page as a browser does and notes what would run or lead away."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        given = dict(attrs)
        if tag in {"xss", "iframe", "object", "embed", "base"} or (tag == "script" and "src" not in given):
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "srcdoc", "background"}:
                self.found.append(f"<{tag} {name}>")
            if name in LINKS and value and tag != "svg" and not value.startswith(HARMLESS):
                self.found.append(f"<{tag} {name}={value!r}>")


def what_runs(page: str) -> list[str]:
    """Return what in a page would run, load or lead away."""
    reader = Reader()
    reader.feed(page)
    return reader.found


def test_the_reader_sees_what_runs() -> None:
    assert what_runs(MARKUP) == ["<xss>", "<xss onload>", "<script>"]
    assert what_runs('<a href="javascript:x()">') == ["<a href='javascript:x()'>"]
    assert what_runs('<a href="/teams/" class="x">') == []


@pytest.fixture
def marked(world: World) -> World:
    """The world in which everybody and everything is called by markup, past all forms."""
    User.objects.update(display_name=MARKUP[:60])
    for team in Team.objects.all():
        Team.objects.filter(pk=team.pk).update(display_name=f"{team.pk}{MARKUP}"[:60])
    Contest.objects.update(title=MARKUP, trouble=MARKUP, trouble_details=MARKUP)
    ContestInvitation.objects.update(note=MARKUP)
    Token.objects.update(name=MARKUP[:60])
    Contest.objects.update(description=HOSTILE_MARKDOWN, description_ja=HOSTILE_MARKDOWN)
    Question.objects.update(text=HOSTILE_MARKDOWN, answer=HOSTILE_MARKDOWN)
    Notice.objects.update(says=MARKUP, text=HOSTILE_MARKDOWN, text_ja=HOSTILE_MARKDOWN)
    Submission.objects.update(note=MARKUP)
    Participation.objects.filter(team__slug="grey-team").update(disqualified_at=timezone.now(), disqualified_for=MARKUP)
    OrganizerAction.objects.update(details={"text": MARKUP, MARKUP: MARKUP})
    FileCheck.objects.update(notes=[{"was": "excel", "file": MARKUP, "sheet": MARKUP}])
    PublishedOffer.objects.update(name=MARKUP, words=MARKUP, trouble=MARKUP)
    Recipient.objects.update(organization=MARKUP[:60], about=MARKUP)
    LevelRequest.objects.update(recipient=MARKUP, purpose=MARKUP, problem=MARKUP, remarks=[MARKUP])
    for contest in Contest.objects.all():
        Announcement.objects.create(contest=contest, title=MARKUP, text=MARKUP + "\n\n" + MARKUP)
    fault = {"expected": MARKUP, "file": MARKUP, "line": 1, "column": MARKUP, "value": MARKUP}
    Submission.objects.filter(key=world.keys["red-team cup"]).update(
        state="refused", reason=MARKUP, faults=[fault], n_faults=3
    )
    return world


@pytest.mark.parametrize(
    "route", [route for route in page_routes() if route.access and "GET" in route.access.methods], ids=named
)
def test_markup_is_text_on_every_page(marked: World, route: Route) -> None:
    allowed = may_see(route, "public")
    roles = [role for role in ("anonymous", "captain", "organizer", "admin", "rival") if role in allowed][:3]
    for role in roles:
        found = marked.call(role, "GET", address(route, marked.values_for(route, "public")))
        assert found.status in {200, 302, 403, 404}, f"{role} {route.pattern} gives {found.status}"
        kind = found.headers.get("Content-Type", "").partition(";")[0]
        if kind == "text/html" and route.name == "report":
            # Opened from a disk it has no policy of ours but the one it brings along.
            assert "default-src 'none'" in found.text
            assert [one for one in what_runs(found.text) if "style" not in one] == []
        elif kind in {"text/html", "image/svg+xml"}:
            assert what_runs(found.text) == [], f"{role} {route.pattern}"
            assert "49</title>" not in found.text
        elif kind == "application/json":
            json.loads(found.body)
    assert set(captured(route)) <= set(marked.values_for(route, "public"))


def test_pages_show_the_markup_as_it_was_written(marked: World) -> None:
    """Else the test above would hold for pages that show none of it."""
    escaped = "&lt;xss onload=1&gt;"
    for role, path in (
        ("captain", "/teams/red-team"),
        ("captain", "/contests/cup"),
        ("captain", f"/contests/submissions/{marked.keys['red-team cup']}"),
        ("captain", f"/contests/submissions/{marked.keys['red-team cup']}/report"),
        ("captain", "/account/tokens"),
        ("organizer", "/contests/club/organize"),
        ("admin", "/people"),
        ("anonymous", "/contests/"),
    ):
        assert escaped in marked.call(role, "GET", path).text, path
    assert "&lt;xss" in marked.call("organizer", "GET", "/contests/cup/figures/standings.svg").text


def form(path: str, role: str, field: str, **others: Any) -> Callable[[World, str], Any]:
    """Return what sends a text by a form of a page."""
    return lambda world, text: send_and_keep(world, role, path, others | {field: text}, "")


def body(path: str, role: str, field: str, **others: Any) -> Callable[[World, str], Any]:
    """Return what sends a text to the API."""
    return lambda world, text: send_and_keep(
        world, role, path, json.dumps(others | {field: text}).encode(), "application/json"
    )


def send_and_keep(world: World, role: str, path: str, data: Any, kind: str) -> Any:
    client = Client(raise_request_exception=False)
    if role != "anonymous":
        client.cookies["tokumei_session"] = world.sessions[role]
    headers = {"Authorization": f"Bearer {world.tokens[role]}"} if kind else {}
    if kind:
        return client.post(path, data, content_type=kind, headers=headers)
    return client.post(path, data)


MOMENTS = {
    "opens_at": "2030-01-01T00:00",
    "attacks_open_at": "2030-02-01T00:00",
    "closes_at": "2030-03-01T00:00",
}
AWARE = {name: f"{moment}:00+09:00" for name, moment in MOMENTS.items()}
WAYS: dict[str, Callable[[World, str], Any]] = {
    "a new account": form(
        "/sign-up",
        "anonymous",
        "display_name",
        username="neu",
        email="neu@example.com",
        password="quite long enough",
        password_again="quite long enough",
    ),
    "an account": form("/account", "member", "display_name", email="bob@example.com"),
    "a new team": form("/teams/new", "member", "display_name", slug="neu"),
    "a team": form("/teams/red-team/rename", "captain", "display_name"),
    "a token": form("/account/tokens", "member", "name", scope="read", days="7", current_password=PASSWORD),
    "an announcement": form("/contests/cup/organize/announce", "organizer", "title", text="t"),
    "an announcement's text": form("/contests/cup/organize/announce", "organizer", "text", title="t"),
    "an invitation": form("/contests/club/organize/invite", "organizer", "note"),
    "a recipient": form("/exchange/profile", "member", "organization"),
    "a recipient's story": form("/exchange/profile", "member", "about", organization="o"),
    "a token by program": body("/api/v1/tokens", "member", "name", username="bob", password=PASSWORD),
    "a contest by program": body("/api/v1/contests", "organizer", "title", slug="neu", edition="odd", **AWARE),
    "an announcement by program": body("/api/v1/contests/cup/announcements", "organizer", "title", text="t"),
    "an announcement's text by program": body("/api/v1/contests/cup/announcements", "organizer", "text", title="t"),
}


@pytest.mark.parametrize("way", WAYS)
def test_unseen_characters_are_refused(world: World, way: str) -> None:
    before = comparable()
    for character in UNSEEN:
        found = WAYS[way](world, f"a{character}b")
        assert found.status_code in {200, 400}, f"{character!r}: {found.status_code}"
        assert comparable() == before, f"{character!r} was taken"


def comparable() -> Any:
    """Return the tables without those that count attempts; of a token the day it was used is noted."""
    rows = state_of_database() | {"Token": [len(Token.objects.all())]}
    return {name: rows[name] for name in rows if name not in {"Deed", "AccessAttempt", "AccessFailureLog"}}


@pytest.mark.parametrize("way", WAYS)
def test_visible_characters_are_taken(world: World, way: str) -> None:
    """Else the test above would hold for forms that take nothing."""
    before = comparable()
    found = WAYS[way](world, "チーム =1 <b>&é")
    assert found.status_code in {200, 201, 302}, found.content[:500]
    assert comparable() != before


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_cell_that_begins_like_a_formula_is_text(start: str) -> None:
    assert inert_cell(f"{start}1+1") == f"'{start}1+1"
    assert inert_cell(f"a{start}") == f"a{start}"


def test_name_of_an_uploaded_file_is_kept_nowhere(world: World) -> None:
    client = Client()
    client.cookies["tokumei_session"] = world.sessions["captain"]
    for name in (f"{FORMULA}.csv", "<xss onload=1>.csv", "\u202evsc.exe", "a" * 300 + ".csv"):
        given = SimpleUploadedFile(name, b"11\n20\n30\n40\n50\n60\n")
        answer = client.post("/contests/draft/submit", {"R": given}, headers={"X-Upload": "1"})
        path = answer.json()["location"]
        page = client.get(path).content.decode()
        assert name[:20] not in page
        assert what_runs(page) == []
        made = Submission.objects.get(key=path.rpartition("/")[2])
        assert [file["name"] for file in made.files.values()] == ["R.csv"]
        for file in made.folder.iterdir():
            file.unlink()
        made.folder.rmdir()


def test_mail_is_plain_text_with_its_own_headers(world: World, mailoutbox: Any) -> None:
    User.objects.filter(username="bob").update(display_name="<xss>, bcc: evil@example.com", email="bob@example.com")
    Client().post("/reset", {"email": "bob@example.com"})
    Client().post("/reset", {"email": "bob@example.com\nbcc: evil@example.com"})
    do_jobs("mail")
    assert len(mailoutbox) == 1
    message = mailoutbox[0].message()
    assert message.get_content_type() == "text/plain"
    assert (message["To"], message["Bcc"], message["Cc"]) == ("bob@example.com", None, None)
    assert mailoutbox[0].recipients() == ["bob@example.com"]


def test_answers_of_the_api_are_no_pages(marked: World) -> None:
    for role in ROLES[1:]:
        for path in ("/api/v1/contests", "/api/v1/contests/cup", "/api/v1/contests/cup/announcements", "/api/v1/teams"):
            found = marked.call(role, "GET", path)
            assert found.headers["Content-Type"].startswith("application/json")
            assert json.loads(found.body) is not None
