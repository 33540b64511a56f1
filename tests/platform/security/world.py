"""A world to attack: people of every role, teams, contests in every state, and the values that addresses need.

It is built once in a database and a folder of its own, by the real services and real evaluations. Every test, and every
single request of a test, is taken back afterwards.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client
from django.utils import timezone
from tests.platform.offers import host
from tests.platform.sites import SOURCE, do_jobs, make_contest, upload, work_here
from tests.platform.test_phases import end_anonymizing, end_attacks
from tests.platform.workbench_plays import begin as begin_piece

from tokumei.platform.access import Route, routes
from tokumei.platform.accounts.models import User
from tokumei.platform.api import services as tokens
from tokumei.platform.contests.models import Contest, ContestDraft, FileCheck, Question, State, Submission
from tokumei.platform.contests.services import contests, joining, submitting
from tokumei.platform.exchange.models import Trust
from tokumei.platform.exchange.services import requesting
from tokumei.platform.jobs import process
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run
from tokumei.platform.notices.models import Notice
from tokumei.platform.notices.services import token_of
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team
from tokumei.platform.workbench import services as workbench
from tokumei.platform.workbench.folder import OTHERS_FOUND

PASSWORD = "correct horse battery"
BACKEND = "tokumei.platform.accounts.authentication.NameOrEmail"
# The role → the name of who has it; red is the team whose things are asked for, rita is in blue.
PEOPLE = {
    "anonymous": "",
    "outsider": "mallory",
    "rival": "rita",
    "member": "bob",
    "captain": "alice",
    "other_organizer": "oscar",
    "organizer": "olga",
    "admin": "root",
}
ROLES = tuple(PEOPLE)
USERS = frozenset(ROLES[1:])
PLAYERS = frozenset({"rival", "member", "captain"})
RED = frozenset({"member", "captain"})
RUNNERS = frozenset({"organizer", "admin"})
CAPTURED = re.compile(r"<(?:(\w+):)?(\w+)>")
ABSENT = {"int": "987654321"}
API = "api/"
SHOWN_IN_BROWSER = {"text/html", "application/json", "text/plain", "image/svg+xml", ""}
# What the key of a submission is called in addresses.
SUBMISSION = ("submission", "key")
Values = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """What the server gave, as bytes."""

    status: int
    headers: dict[str, str]
    body: bytes
    cookies: SimpleCookie

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


@dataclass
class World:
    """Who and what there is; `slugs` are the contests by their state."""

    folder: Path
    sessions: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    # Whose → how the pattern begins, what it captures → value.
    values: dict[str, dict[tuple[str, str], str]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    exchange: dict[tuple[str, str], str] = field(default_factory=dict)
    workbench: dict[tuple[str, str], str] = field(default_factory=dict)
    # What the server says where there is nothing, by pattern, role and method.
    nothing: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    # Addresses that no route takes and that were asked for: how they begin, the odd part and the method.
    refused: set[tuple[str, str, str]] = field(default_factory=set)
    # What was answered to whom, for those who look for secrets in it.
    seen: deque[tuple[str, Answer]] = field(default_factory=lambda: deque(maxlen=1))
    browser: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def call(
        self,
        role: str,
        method: str,
        path: str,
        data: Any = None,
        *,
        by: str = "",
        content_type: str = "",
        **extra: Any,
    ) -> Answer:
        """Send one request as somebody and take back what it changed; the API is shown a token, pages a session.

        by: "session" or "token", where it is not to be the usual one.
        """
        client = self.browser
        client.cookies = SimpleCookie()
        by = by or ("token" if path.startswith("/" + API) else "session")
        if role != "anonymous" and by == "session":
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[role]
        if role != "anonymous" and by == "token":
            extra["headers"] = {"Authorization": f"Bearer {self.tokens[role]}"} | extra.get("headers", {})
        with taken_back():
            answer = send(client, method, path, data, content_type, **extra)
        self.seen.append((f"{role} {method} {path}", answer))
        return answer

    def user(self, role: str) -> User:
        """Return who has a role."""
        return User.objects.get(username=PEOPLE[role])

    def values_for(self, route: Route, whose: str) -> dict[str, str]:
        """Return a value for everything that the address of a route captures."""
        found = {}
        for match in CAPTURED.finditer(route.pattern):
            name, known = match[2], self.values[whose]
            # The longest beginning decides: a name means something else below another address.
            fitting = [place for place, one in known if one == name and route.pattern.startswith(place)]
            if not fitting:
                raise AssertionError(
                    f"the world has no value for <{name}> of {route.pattern!r}: "
                    "add one to own_values() in tests/platform/security/world.py, and say in may_see() who may see it"
                )
            found[name] = known[max(fitting, key=len), name]
        return found


@contextmanager
def taken_back() -> Iterator[None]:
    """Undo what is done to the database."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def send(client: Client, method: str, path: str, data: Any, content_type: str, **extra: Any) -> Answer:
    """Send a request and read the whole of its answer."""
    if content_type:
        response = client.generic(method, path, data or b"", content_type=content_type, **extra)
    elif method == "POST":
        response = client.post(path, data or {}, **extra)
    else:
        response = client.generic(method, path, **extra)
    parts: Iterable[bytes] = getattr(response, "streaming_content", None) or [response.content]
    body = b"".join(parts)
    answer = Answer(response.status_code, dict(response.items()), body, response.cookies)
    check_headers(answer, f"{method} {path:.200}")
    return answer


def check_headers(answer: Answer, where: str) -> None:
    """Refuse an answer of whatever kind that lacks what keeps browsers safe, or tells too much of the server."""
    headers = answer.headers
    policy = headers["Content-Security-Policy"]
    for directive in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert directive in policy, where
    assert "unsafe" not in policy, where
    assert headers["X-Content-Type-Options"] == "nosniff", where
    assert headers["X-Frame-Options"] == "DENY", where
    assert headers["Referrer-Policy"] == "same-origin", where
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin", where
    assert not {"Server", "X-Powered-By", "Via", "X-AspNet-Version"} & set(headers), where
    # A figure may stay in the visitor's own browser for a moment.
    assert "no-store" in headers["Cache-Control"] or headers["Cache-Control"] == "private, max-age=30", where
    kind = headers.get("Content-Type", "").partition(";")[0]
    if answer.status == 200 and kind not in SHOWN_IN_BROWSER:
        assert headers["Content-Disposition"].startswith("attachment;"), f"{where} gives {kind}"
    if answer.status >= 400 and kind in {"text/html", "application/json", "text/plain"}:
        assert not re.search(r"Traceback|File \"|site-packages|django\.|/tmp/|\.py\b", answer.text), where


def address(route: Route, values: Values) -> str:
    """Put values into the address of a route."""
    return "/" + CAPTURED.sub(lambda match: quote(values[match[2]], safe=""), route.pattern)


def captured(route: Route) -> list[str]:
    """Name what the address of a route captures."""
    return [match[2] for match in CAPTURED.finditer(route.pattern)]


def absent_value(route: Route, name: str) -> str:
    """Return a value of the right form that nothing has."""
    kind = next(match[1] for match in CAPTURED.finditer(route.pattern) if match[2] == name)
    return ABSENT.get(kind or "str", "0123456789abcdef01234567" if name in SUBMISSION else "no-such-thing")


def named(route: Route) -> str:
    """Name a route in the list of tests."""
    return route.pattern or "/"


def all_routes() -> list[Route]:
    """Return every route of the server."""
    return list(routes())


def page_routes() -> list[Route]:
    """Return the routes of pages, which know people by their session."""
    return [route for route in routes() if not route.pattern.startswith(API)]


def api_routes() -> list[Route]:
    """Return the routes of the API, which knows people by their token."""
    return [route for route in routes() if route.pattern.startswith(API)]


def unsafe_methods(route: Route) -> frozenset[str]:
    """Return the methods of a route that change something."""
    return frozenset() if route.access is None else route.access.methods - {"GET", "HEAD", "OPTIONS"}


def state_of_database() -> dict[str, list[Any]]:
    """Return every row of every table but the sessions."""
    return {
        model.__name__: list(model._default_manager.order_by("pk").values_list())
        for model in apps.get_models()
        if model is not Session
    }


def files_of(folder: Path) -> list[Path]:
    """List every file of the server."""
    return sorted(path for path in (folder / "files").rglob("*") if path.is_file())


def build(folder: Path) -> World:
    """Make everybody and everything; the database of this process is the world's."""
    world = World(folder)
    with pytest.MonkeyPatch.context() as patch:
        # The same work on the same files, without the second that each of some twenty processes takes to start.
        patch.setattr(process, "run", work_here)
        _fill(world)
    return world


def _fill(world: World) -> None:
    red, blue = people_and_teams(world)
    for slug, is_public in (("cup", True), ("club", False), ("past", True), ("draft", False)):
        contest = _contest(slug, is_public=is_public)
        for team, role in ((red, "captain"), (blue, "rival")):
            _join(contest, team, world.user(role))
        _play(world, contest, slug)
    contests.create_contest(
        world.user("other_organizer"), slug="elsewhere", title="Elsewhere", edition="odd", **_moments()
    )
    _exchange(world, red)
    _workbench(world)
    for whose, slug in (("public", "cup"), ("private", "club"), ("closed", "past"), ("open", "draft")):
        world.values[whose] = own_values(world, slug)


def people_and_teams(world: World) -> tuple[Team, Team]:
    """Make everybody, with a session and a token each, and the teams; gives red and blue."""
    for role, name in PEOPLE.items():
        if name:
            rights = {"is_organizer": "organizer" in role, "is_superuser": role == "admin"}
            user = User.objects.create_user(name, f"{name}@example.com", PASSWORD, display_name=name.title(), **rights)
            client = Client()
            client.force_login(user, backend=BACKEND)
            world.sessions[role] = client.cookies[settings.SESSION_COOKIE_NAME].value
            _, world.tokens[role] = tokens.make_token(user, name="laptop", scope="organize", days=90)
    red, blue = _team(world, "captain", "red-team"), _team(world, "rival", "blue-team")
    _team(world, "outsider", "grey-team")
    _, token = teams.invite(red, world.user("captain"))
    teams.accept(world.user("member"), token)
    return red, blue


def _exchange(world: World, red: Team) -> None:
    """Let red offer a table that the platform hosts, rita ask for levels of it, and red trust her."""
    rita = world.user("rival")
    offered = host(world.user("captain"), red, slug="people")
    requesting.introduce(rita, organization="Blue")
    served, waiting = (
        requesting.ask(offered, rita, levels={"age": 2, "sex": sex, "town": 2}, criterion=None, purpose="Research")
        for sex in (0, 1)
    )
    Job.objects.filter(subject=f"{waiting.pk}.0").delete()
    do_jobs("exchange")
    trusted = Trust.objects.create(offer=offered, user=rita, criterion="own=5", by=world.user("captain"))
    world.exchange = {
        ("exchange/", "published"): offered.slug,
        ("exchange/", "key"): waiting.key,
        ("exchange/requests/", "key"): served.key,
        ("exchange/", "trusted"): str(trusted.pk),
        ("api/v1/exchange/", "slug"): offered.slug,
        ("api/v1/exchange/", "key"): waiting.key,
        ("api/v1/exchange/requests/", "key"): served.key,
    }


def _workbench(world: World) -> None:
    """Let the captain have a piece of work with a release."""
    piece = begin_piece(world.user("captain"))
    workbench.start(piece, workbench.RELEASE)
    do_jobs("workbench")
    # The page of a release of others is there once one was attacked.
    found = piece.folder / OTHERS_FOUND
    found.mkdir()
    (found / "report.html").write_text("<html></html>")
    world.workbench = {
        ("workbench/", "piece"): piece.key,
        ("workbench/", "place"): "0",
        ("workbench/", "name"): "release.csv",
        ("workbench/", "report"): "report.html",
        ("workbench/enter/", "token"): "of-nobody",
    }


def own_values(world: World, slug: str) -> dict[tuple[str, str], str]:
    """Return what the addresses of red's things in a contest consist of."""
    red, contest = Team.objects.get(slug="red-team"), Contest.objects.get(slug=slug)
    alice, bob = world.user("captain"), world.user("member")
    team_invitation, team_token = teams.invite(red, alice)
    invitation, contest_token = joining.invite(contest, "for green")
    key = world.keys[f"red-team {slug}"]
    part = contest.participations.get(team=red)
    token, _ = tokens.make_token(alice, name="old", scope="read", days=1)
    return {
        ("reset/", "user"): "MQ",
        ("reset/", "token"): "c0ffee-0123456789abcdef",
        ("verify/", "token"): "WzEsImEiXQ:made:up",
        ("people/", "username"): "bob",
        ("help/", "page"): "guide",
        ("notices/", "notice"): str(_notice(alice).pk),
        ("calendar/", "token"): token_of(alice),
        ("contests/checks/", "check"): _check(slug, alice).key,
        ("contests/drafts/", "draft"): _draft(contest.organizer).key,
        ("contests/drafts/", "step"): "data",
        ("contests/", "question"): str(_question(slug).pk),
        ("server/jobs/", "job"): str(failed_letter().pk),
        ("account/tokens/", "token"): str(token.pk),
        ("teams/", "team"): "red-team",
        ("teams/", "member"): str(bob.pk),
        ("teams/", "invitation"): str(team_invitation.pk),
        ("teams/join/", "token"): team_token,
        ("contests/", "contest"): slug,
        ("contests/", "participation"): str(part.pk),
        ("contests/", "invitation"): str(invitation.pk),
        ("contests/join/", "token"): contest_token,
        ("contests/submissions/", "submission"): key,
        ("contests/submissions/", "name"): "R.csv",
        ("contests/<slug:contest>/files/", "kind"): "data",
        ("contests/<slug:contest>/files/", "name"): "D.csv",
        ("contests/<slug:contest>/files/<str:kind>/<str:team>/", "kind"): "release",
        ("contests/<slug:contest>/files/<str:kind>/<str:team>/", "team"): "blue-team",
        ("contests/<slug:contest>/files/<str:kind>/<str:team>/", "name"): "P.csv",
        ("contests/<slug:contest>/figures/", "name"): "standings",
        ("contests/<slug:contest>/attack/", "team"): "blue-team",
        ("contests/<slug:contest>/organize/tables/", "name"): "submissions",
        **world.exchange,
        **world.workbench,
        ("api/v1/contests/", "slug"): slug,
        ("api/v1/contests/", "kind"): "data",
        ("api/v1/contests/", "name"): "D.csv",
        ("api/v1/contests/", "team"): "blue-team",
        ("api/v1/submissions/", "key"): key,
        ("api/v1/submissions/", "name"): "R.csv",
    }


def _notice(user: User) -> Notice:
    return Notice.objects.get_or_create(user=user, kind="score", says="Scored", link="/contests/")[0]


def _check(slug: str, user: User) -> FileCheck:
    """Return a check of red's that found nothing."""
    facts = {"team": Team.objects.get(slug="red-team"), "contest": Contest.objects.get(slug=slug)}
    return FileCheck.objects.get_or_create(**facts, by=user, kind="release", defaults={"state": "passed"})[0]


def _draft(user: User) -> ContestDraft:
    """Return a contest that its organizer is still making."""
    return ContestDraft.objects.get_or_create(by=user, defaults={"answers": {"kind": "odd"}})[0]


def _question(slug: str) -> Question:
    contest = Contest.objects.get(slug=slug)
    return Question.objects.get_or_create(contest=contest, by=contest.organizer, text="Why?")[0]


def failed_letter() -> Job:
    """Return a letter that could not be sent, which an admin may try again."""
    facts = {"queue": "mail", "is_done": True, "outcome": "failed"}
    return Job.objects.get_or_create(kind="letter", subject="of-nobody", defaults=facts)[0]


def may_see(route: Route, whose: str) -> frozenset[str]:
    """Which roles may see what an address leads to; nobody else may learn that it is there."""
    assert route.access is not None
    level, names = route.access.level, captured(route)
    if level in {"anyone", "operator"} and not names:
        return frozenset(ROLES)
    if "exchange/" in route.pattern and names:
        return _may_see_of_exchange(route)
    if names and names[0] == "piece":
        return frozenset({"captain"})
    if route.pattern.startswith("workbench/enter/"):
        # On a server with accounts nobody comes in by a link.
        return frozenset()
    if names and names[0] in SUBMISSION:
        # Notes and logs are the team's own, also before organizers.
        return RED if level == "member" else RED | RUNNERS
    if names and names[0] in {"contest", "slug"}:
        return _may_see_of_contest(route, whose)
    if names and names[0] == "check":
        return RED
    if names and names[0] == "draft":
        return frozenset({"organizer"})
    if names and names[0] == "notice":
        return frozenset({"captain"})
    if names and names[0] == "team":
        return RED if level == "member" else frozenset({"captain"})
    if route.pattern.startswith("account/tokens/"):
        return frozenset({"captain"})
    if level == "organizer":
        return RUNNERS | {"other_organizer"}
    if level == "admin":
        return frozenset({"admin"})
    if names == ["page"]:
        return frozenset(ROLES)
    # Whoever has the link may use it.
    assert set(names) <= {"token", "user"}, f"say in may_see() who may see {route.pattern!r}"
    return frozenset(ROLES) if level == "anyone" else USERS


def _may_see_of_exchange(route: Route) -> frozenset[str]:
    """An offer is everybody's, its desk is its team's, and a request is whose it is."""
    assert route.access is not None
    if "exchange/requests/" in route.pattern:
        return frozenset({"rival"})
    if route.access.level == "member" or "api/v1/exchange/offers/" in route.pattern:
        return RED
    return frozenset(ROLES) if route.access.level == "anyone" else USERS


def _may_see_of_contest(route: Route, whose: str) -> frozenset[str]:
    assert route.access is not None
    level = route.access.level
    if level == "organizer":
        return RUNNERS
    if route.pattern.endswith("/attack/<str:team>"):
        # A target of one's own is none.
        return RED
    if level == "member":
        return PLAYERS
    seen = frozenset(ROLES) if whose in {"public", "closed"} else PLAYERS | RUNNERS
    return seen if level == "anyone" else seen & USERS


def _team(world: World, role: str, slug: str) -> Team:
    user = world.user(role)
    return teams.create_team(user, slug=slug, display_name=slug.replace("-", " ").title())


def _moments() -> dict[str, Any]:
    now = timezone.now()
    return {
        "opens_at": now - timedelta(hours=1),
        "attacks_open_at": now + timedelta(days=1),
        "closes_at": now + timedelta(days=2),
    }


def _contest(slug: str, *, is_public: bool) -> Contest:
    assert SOURCE
    return make_contest(slug=slug, is_public=is_public, guesses_on_one=5)


def _join(contest: Contest, team: Team, user: User) -> None:
    token = None if contest.is_public else joining.invite(contest, "for a team")[1]
    joining.join(contest, team, user, token)


def _play(world: World, contest: Contest, slug: str) -> None:
    """Hand in what the state of a contest needs: `draft` stays open, the others go on to attacks, `past` to its end."""
    for team, role in (("red-team", "captain"), ("blue-team", "rival")):
        part = contest.participations.select_related("team", "contest").get(team__slug=team)
        made = submitting.submit_release(part, world.user(role), upload("R", "11 20 30 40 50 60"))
        world.keys[f"{team} {slug}"] = evaluated(made).key
    if slug == "draft":
        do_jobs("workbench")
        return
    contest = end_anonymizing(contest)
    part = contest.participations.select_related("team", "contest").get(team__slug="red-team")
    target = Team.objects.get(slug="blue-team")
    made = submitting.submit_guess(part, world.user("captain"), target, "all", upload("G", "0 1 2 3 4 5"))
    world.keys[f"red-team guess {slug}"] = evaluated(made).key
    if slug == "past":
        end_attacks(contest)
        do_jobs("contest")
    do_jobs("workbench")


def evaluated(submission: Submission) -> Submission:
    """Evaluate a submission for real, and give it as it is then."""
    run(Job.objects.get(submission=submission).pk)
    submission.refresh_from_db()
    assert submission.state == State.SCORED
    return submission


def normal(answer: Answer, path: str) -> tuple[int, dict[str, str], str]:
    """Return an answer without what differs between any two: the request's number, tokens of forms, its own address."""
    headers = {name: value for name, value in answer.headers.items() if name not in {"X-Request-Id", "Expires"}}
    text = re.sub(r'(name="csrfmiddlewaretoken" value=")[^"]*', r"\1", answer.text)
    for spelled in sorted(
        {path, path.replace("%", "&#x25;"), quote(path), quote(path, safe="")}, key=len, reverse=True
    ):
        text = text.replace(spelled, "ADDRESS")
        headers = {name: value.replace(spelled, "ADDRESS") for name, value in headers.items()}
    # An address may be longer than another.
    headers.pop("Content-Length", None)
    return answer.status, headers, text


def differences(one: Sequence[Any], other: Sequence[Any]) -> str:
    """Name the parts in which two answers differ."""
    names = ("status", "headers", "body")
    return "; ".join(f"{n}: {a!r:.300} | {b!r:.300}" for n, a, b in zip(names, one, other, strict=True) if a != b)
