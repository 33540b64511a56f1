"""The consoles in a browser, in both languages, wide and narrow: nothing wider than the page, no word unlabeled."""

from __future__ import annotations

from typing import Any

import pytest
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import odd_edition, open_contest, participation  # noqa: F401 - fixtures.
from tests.platform.pictures import keep_picture

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services import contests, joining, steering
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db(transaction=True)
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNLABELED = """() => [...document.querySelectorAll("main input:not([type=hidden]), main select, main textarea")]
    .filter((one) => !(one.labels && one.labels.length)).map((one) => one.outerHTML)"""
PAGES = {
    "steer": "/contests/cup/organize",
    "teams": "/contests/cup/organize/teams",
    "submissions": "/contests/cup/organize/submissions",
    "log": "/contests/cup/organize/log",
    "overview": "/contests/cup",
    "board": "/contests/cup/scoreboard",
    "questions": "/contests/cup/questions",
    "inbox": "/notices/",
    "guide": "/help/guide",
    "glossary": "/help/glossary",
    "notice-settings": "/notices/settings",
}


def enter(page: Any, log_in: LogIn, user: User, language: str) -> None:
    """Take the session of a user into the browser, and speak a language."""
    base = page.url_of_server
    session = log_in(user).cookies["tokumei_session"].value
    page.context.add_cookies(
        [
            {"name": "tokumei_session", "value": session, "url": base},
            {"name": "tokumei_language", "value": language, "url": base},
        ]
    )


def look(page: Any, name: str, language: str) -> None:
    """Look at a page wide and narrow."""
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TOO_WIDE) <= 0, (name, language, width)
        keep_picture(page, f"consoles/{name}-{language}-{width}")
    assert page.evaluate(UNLABELED) == [], (name, language)


@pytest.fixture(name="page")
def page_with_address(page: Any, live_server: Any) -> Any:
    """Return the page, which knows where its server is."""
    page.url_of_server = live_server.url
    return page


@pytest.mark.parametrize("language", ["en", "ja"])
def test_pages_of_the_console_fit_wide_and_narrow(
    page: Any, contest: Contest, organizer: User, mallory: User, team: Team, log_in: LogIn, language: str
) -> None:
    steering.disqualify(participation(contest, team), organizer, "Two teams of one person")
    steering.change_texts(contest, organizer, title="A cup", description="**Welcome** to\n\n- this\n- cup")
    contests.announce(contest, title="Hello", text="See [the rules](/contests/cup/rules).", by=organizer)
    joining.answer_question(
        joining.ask_organizers(contest, mallory, "May we ask?"),
        organizer,
        text="**Yes**, see [rules](/)",
        is_public=True,
    )
    enter(page, log_in, organizer, language)
    for name, address in PAGES.items():
        page.goto(address)
        look(page, name, language)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_pages_of_admins_fit_wide_and_narrow(
    page: Any, contest: Contest, admin: User, log_in: LogIn, language: str
) -> None:
    enter(page, log_in, admin, language)
    for name, address in {"server": "/server?state=done", "people": "/people"}.items():
        page.goto(address)
        look(page, name, language)


def test_organizer_publishes_now_and_disqualifies_by_clicks(
    page: Any, contest: Contest, organizer: User, log_in: LogIn
) -> None:
    enter(page, log_in, organizer, "en")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/contests/cup/organize/teams")
    row = page.locator("tr", has_text="blue-team")
    row.locator("summary").click()
    row.locator("input[name=reason]").fill("Shared its truth")
    row.locator("form button", has_text="Disqualify").click()
    page.wait_for_selector("text=The team is disqualified.")
    page.goto("/contests/cup/organize")
    page.click("text=Publish and let attacks begin now")
    page.wait_for_selector("text=The next phase begins.")
    contest.refresh_from_db()
    assert contest.phase == Phase.PUBLISHING
