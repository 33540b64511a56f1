"""Reading on one's own terms: the scoreboard sorted, filtered and fresh, a small header on phones, one's own clock."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    make_contest,
    odd_edition,
    open_contest,
    participation,
    release,
    text_of,
)

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import submitting
from tokumei.platform.middleware import ZONE_COOKIE, time_zones
from tokumei.platform.notices.models import Notice, NoticeKind
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db


def test_times_are_by_the_clock_of_the_browser_or_the_one_chosen(organizer: User, alice: User, log_in: LogIn) -> None:
    noon = timezone.now().replace(month=1, day=15, hour=3, minute=0, second=0, microsecond=0)
    make_contest(organizer)
    Contest.objects.update(opens_at=noon)
    client = log_in(alice)
    # The server's own is that of Tokyo: three o'clock UTC is noon there.
    assert "noon" in text_of(client.get("/contests/cup"))
    client.cookies[ZONE_COOKIE] = "America/New_York"
    said = text_of(client.get("/contests/cup"))
    assert "10 p.m." in said
    assert "All times are those of America/New_York." in said
    client.post("/account", {"display_name": "Alice", "email": alice.email, "time_zone": "Europe/Paris"})
    said = text_of(client.get("/contests/cup"))
    assert "4 a.m." in said
    assert "4:00" in text_of(client.get("/contests/cup", headers={"accept-language": "ja"}))
    for nonsense in ("Mars/Base", "../../etc/passwd", "x" * 5000):
        stranger = Client()
        stranger.cookies[ZONE_COOKIE] = nonsense
        assert "All times are those of Asia/Tokyo." in text_of(stranger.get("/contests/cup"))
    assert "Asia/Tokyo" in time_zones()


def test_no_zone_gives_another_day_of_attempts(contest: Contest, team: Team, alice: User) -> None:
    entered = participation(contest, team)
    counted = submitting.release_attempts(entered)
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"):
        with timezone.override(zone):
            assert submitting.release_attempts(entered) == counted


@pytest.fixture
def open_page(browser: Any, live_server: Any) -> Any:
    """Open pages at a width in a language: `open_page(390, "ja")`."""
    contexts = []

    def make(width: int, language: str) -> Any:
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(base_url=live_server.url, locale=language, viewport=size))
        return contexts[-1].new_page()

    yield make
    for context in contexts:
        context.close()


def _column(page: Any, place: int) -> list[str]:
    cells = page.locator(f"table.board tbody tr:not([hidden]) > :nth-child({place})")
    return [text.strip() for text in cells.all_inner_texts()]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "ja")])
def test_scoreboard_is_sorted_filtered_and_fresh_on_every_width(
    contest: Contest, open_page: Any, team: Team, alice: User, width: int, language: str
) -> None:
    page = open_page(width, language)
    page.goto("/contests/cup/scoreboard")
    names = _column(page, 2)
    assert names == ["Red Team", "Blue Team"]
    head = page.locator("table.board thead button")
    for _ in range(2):
        head.nth(2).click()
    assert _column(page, 2) == names[::-1]
    page.fill("[name=filter]", "red")
    assert _column(page, 2) == ["Red Team"]
    page.fill("[name=filter]", "")
    page.locator(".board-tools summary").click()
    page.locator("[name=column]").nth(1).uncheck()
    hidden = page.locator("table.board thead th").nth(3)
    assert not hidden.is_visible()
    # The choice is kept, and the order is the server's again.
    page.reload()
    assert not page.locator("table.board thead th").nth(3).is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('table.board tbody th')).position") == "sticky"
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    images = page.locator(".drawn img")
    images.first.scroll_into_view_if_needed()
    box = images.first.bounding_box()
    assert box is not None
    assert box["width"] <= width


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_header_and_tabs_take_little_of_a_phone_and_change_the_language(
    contest: Contest, open_page: Any, alice: User, language: str
) -> None:
    from tests.platform.test_browser import log_in as enter

    # A long name, and notices that nobody has read.
    User.objects.filter(pk=alice.pk).update(display_name="佐藤 遥（大会事務局）")
    for number in range(12):
        Notice.objects.create(user=alice, kind=NoticeKind.ANNOUNCEMENT, text=f"News {number}")
    page = open_page(390, language)
    enter(page, "alice")
    page.goto("/contests/cup")
    heights = [page.locator(part).bounding_box()["height"] for part in (".site-header", ".tabs ul")]
    assert sum(heights) < 120
    page.locator(".site-header button[name=language]").click()
    other = "ja" if language == "en" else "en"
    page.wait_for_selector(f"html[lang={other}]")
    assert page.url.endswith("/contests/cup")


@pytest.mark.django_db(transaction=True)
def test_scoreboard_follows_a_new_release_without_a_reload(
    contest: Contest, open_page: Any, team: Team, alice: User
) -> None:
    page = open_page(1280, "en")
    page.clock.install()
    page.goto("/contests/cup/scoreboard")
    assert _column(page, 2) == ["Red Team", "Blue Team"]
    release(contest, team, alice, "60 60 60 60 60 10")
    page.clock.fast_forward(21_000)
    page.wait_for_selector("table.board tbody tr:first-child th:text-is('Blue Team')")
