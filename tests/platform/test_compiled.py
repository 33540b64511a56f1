"""What every page asks is written once, kept for one page, and the same as if it were asked anew."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.template import Context, Engine
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.contest_plays import odd_edition, open_contest  # noqa: F401 - fixtures.

from tokumei.core.errors import NotFound
from tokumei.platform.accounts.authentication import ACTIVE_USER, NameOrEmail
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Participation, State, Submission
from tokumei.platform.contests.services import joining, rulebook, scoreboard, visibility
from tokumei.platform.middleware import CompiledQuery, cache_while_reading, find_once
from tokumei.platform.notices.models import Notice, NoticeKind
from tokumei.platform.notices.services import UNREAD, n_unread
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team

QUERIES = {
    "user": ACTIVE_USER,
    "contest": visibility.BY_SLUG,
    "co-organizers": visibility.CO_ORGANIZERS,
    "own part": joining.OWN_PART,
    "changed teams": rulebook.CHANGED,
    "scored": scoreboard.SCORED,
    "unread": UNREAD,
}


def new_contest(organizer: User, slug: str, **facts: Any) -> Contest:
    now = timezone.now()
    moments = {"attacks_open_at": now + timedelta(days=1), "closes_at": now + timedelta(days=2)}
    return Contest.objects.create(slug=slug, title=slug, edition="odd", organizer=organizer, **moments, **facts)


def fill() -> None:
    """Fill a database with some of everything that these queries ask for."""
    people = [User.objects.create_user(f"user-{n}", f"u{n}@example.com", "x", is_active=n != 3) for n in range(5)]
    for n, user in enumerate(people[:3]):
        made = new_contest(people[4], f"cup-{n}", options={"n": n}, prepared_at=timezone.now(), told=["open", n])
        made.co_organizers.add(*people[n:4])
        team = teams.create_team(user, slug=f"team-{n}", display_name=f"Team {n}")
        for contest in Contest.objects.all():
            withdrawn_at = timezone.now() if n == 1 else None
            part = Participation.objects.create(contest=contest, team=team, withdrawn_at=withdrawn_at)
            facts: dict[str, Any] = {"contest": contest, "team": team, "by": user, "kind": Kind.RELEASE}
            done = Submission.objects.create(state=State.SCORED, finished_at=timezone.now(), score={}, **facts)
            Submission.objects.create(**facts)
            if n == 2:
                part.chosen, part.chosen_at, part.disqualified_at = done, timezone.now(), timezone.now()
                part.disqualified_for = "copied"
                part.save()
        for _ in range(n):
            Notice.objects.create(user=user, kind=NoticeKind.values[0], says="Hello.")


def values_for(query: CompiledQuery) -> list[tuple[Any, ...]]:
    tried: dict[type, list[Any]] = {
        int: [*User.objects.values_list("pk", flat=True), *Contest.objects.values_list("pk", flat=True), 0],
        str: ["cup-0", "cup-1", "none", 'it\'s 100% \\ "quoted" 匿名'],
    }
    return list(itertools.product(*(tried[kind] for kind in query.kinds)))


def test_compiled_queries_give_what_their_querysets_give(site: Any, both_databases: str) -> None:
    fill()
    for name, query in QUERIES.items():
        n_rows = 0
        # More often than it takes for PostgreSQL to plan a query once for all.
        for values in values_for(query) * 2:
            found = query(*values)
            assert [tuple(row) for row in found] == list(query.make(*values)), (name, values)
            n_rows += len(found)
        assert n_rows, name


def test_query_that_does_not_hold_a_value_is_refused(db: None) -> None:
    with pytest.raises(TypeError, match="each of its values"):
        CompiledQuery(lambda _: User.objects.values_list("pk"), int)(1)


def test_rows_are_as_django_makes_them(db: None) -> None:
    fill()
    for user in User.objects.all():
        found = NameOrEmail().get_user(user.pk)
        assert found is None if not user.is_active else vars(found)["email"] == user.email and found == user
        assert n_unread(user) == Notice.objects.filter(user=user, read_at=None).count()
    for contest in Contest.objects.all():
        one = visibility.find_contest(None, contest.slug)
        names = [field.attname for field in Contest._meta.concrete_fields]
        assert [getattr(one, name) for name in names] == [getattr(contest, name) for name in names]
        one.title = "changed"
        one.save(update_fields=["title"])
        for user in User.objects.all():
            plain = Participation.objects.filter(contest=contest, team__members=user, withdrawn_at=None).first()
            own = joining.participation_of(contest, user)
            assert own == plain
            assert own is None or plain is None or (own.team == plain.team and own.contest is contest)


def test_contest_is_found_by_whom_lists_show_it_to(make_user: MakeUser) -> None:
    organizer, helper, player, other = (make_user(name) for name in ("orga", "helper", "player", "other"))
    root = make_user("root", is_superuser=True)
    team = teams.create_team(player, slug="players", display_name="Players")
    left = teams.create_team(other, slug="others", display_name="Others")
    now = timezone.now()
    states = itertools.product([True, False], [None, now], ["", "no data"])
    for number, (is_public, prepared_at, trouble) in enumerate(states):
        made = new_contest(organizer, f"c-{number}", is_public=is_public, prepared_at=prepared_at, trouble=trouble)
        made.co_organizers.add(helper)
        Participation.objects.create(contest=made, team=team)
        Participation.objects.create(contest=made, team=left, withdrawn_at=now)
        for user in (None, organizer, helper, player, other, root):
            is_listed = visibility.visible_contests(user).filter(pk=made.pk).exists()
            if is_listed:
                assert visibility.find_contest(user, made.slug) == made
            else:
                with pytest.raises(NotFound):
                    visibility.find_contest(user, made.slug)


def test_what_is_found_is_kept_for_one_page_that_is_read_and_no_longer() -> None:
    asked: list[int] = []

    def find() -> int:
        asked.append(1)
        return len(asked)

    def twice(_: HttpRequest) -> HttpResponse:
        return HttpResponse(f"{find_once(('it',), find)} {find_once(('it',), find)} {find_once(('it', 2), find)}")

    def answered(method: str) -> bytes:
        request = getattr(RequestFactory(), method)("/")
        request.user = AnonymousUser()
        return bytes(cache_while_reading(twice)(request).content)  # type: ignore[attr-defined]

    assert answered("get") == b"1 1 2"
    assert answered("get") == b"3 3 4"
    # Whoever changes something sees it at once.
    assert answered("post") == b"5 6 7"
    assert find_once(("it",), find) == 8


def test_page_after_a_change_shows_the_change(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    client = log_in(alice)
    address = f"/contests/{contest.slug}"
    assert b"was copied" not in client.get(address).content
    contest.participations.filter(team=team).update(disqualified_at=timezone.now(), disqualified_for="was copied")
    assert b"was copied" in client.get(address).content
    contest.co_organizers.add(alice)
    assert f"{address}/organize".encode() in client.get(address).content
    contest.co_organizers.remove(alice)
    assert f"{address}/organize".encode() not in client.get(address).content


def test_addresses_are_those_of_django() -> None:
    ours = Engine(builtins=["tokumei.platform.pages.tags"])
    for template, values in (
        ("{% url 'pages:home' %}", {}),
        ("{% url route %}", {"route": "contests:list"}),
        ("{% url 'contests:contest' slug %}", {"slug": "a-cup"}),
        ("{% url 'contests:submission' key|upper %}", {"key": "ab"}),
        ("{% url 'teams:remove' team.slug 7 %}", {"team": {"slug": "red"}}),
        ("{% url 'contests:contest' contest=slug %}", {"slug": "a-cup"}),
        ("{% url 'contests:contest' slug as found %}[{{ found }}]", {"slug": "a-cup"}),
        ("{% url 'no:such' as found %}[{{ found }}]", {}),
        ("{% autoescape off %}{% url 'pages:help' page %}{% endautoescape %}", {"page": "faq"}),
    ):
        plain = Engine().from_string(template).render(Context(values))
        for _ in range(2):
            assert ours.from_string(template).render(Context(values)) == plain
    assert reverse("contests:list") == "/contests/"
