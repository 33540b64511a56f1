"""The pages of accounts and teams in a real browser; the fixture fails on anything the content policy refuses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.platform.conftest import PASSWORD

from tokumei.platform.accounts.models import User
from tokumei.platform.teams import services
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db(transaction=True)

PAGES_OF_VISITORS = ["/", "/login", "/sign-up", "/reset", "/reset/sent", "/nothing-there"]
PAGES_OF_USERS = [
    *("/", "/teams/", "/teams/new", "/teams/red-team", "/teams/red-team/rename", "/people", "/account"),
    *("/account/password", "/account/second-factor"),
]
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def log_in(page: Any, name: str) -> None:
    page.goto("/login")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/")


def test_visitor_signs_up_and_makes_a_team_by_keyboard_alone(page: Any) -> None:
    page.goto("/sign-up")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    for typed in ("hanako", "佐藤 花子", "hanako@example.com", PASSWORD, PASSWORD):
        page.keyboard.type(typed)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=status]")
    assert "Welcome!" in page.inner_text("[role=status]")
    page.goto("/teams/new")
    page.focus("#id_display_name")
    page.keyboard.type("匿名チーム")
    page.keyboard.press("Tab")
    page.keyboard.type("tokumei-team")
    page.keyboard.press("Enter")
    page.wait_for_url("**/teams/tokumei-team")
    assert page.inner_text("h1") == "匿名チーム"


def test_captain_invites_a_friend_who_joins_through_signing_up(page: Any, browser: Any, team: Team) -> None:
    log_in(page, "alice")
    page.goto("/teams/red-team")
    page.click("text=Make an invitation link")
    link = page.input_value("#link")
    context = browser.new_context(locale="ja-JP")
    friend = context.new_page()
    friend.goto(link)
    friend.click("main >> text=新規登録")
    for field, typed in {"username": "taro", "display_name": "太郎", "email": "taro@example.com"}.items():
        friend.fill(f"#id_{field}", typed)
    friend.fill("#id_password", PASSWORD)
    friend.fill("#id_password_again", PASSWORD)
    friend.click("main button")
    friend.wait_for_url("**/teams/join/**")
    assert "チーム「Red Team」に招待されています" in friend.inner_text("main")
    friend.click("main button")
    friend.wait_for_url("**/teams/red-team")
    assert "太郎" in friend.inner_text("main table")
    context.close()


def test_removing_a_member_asks_first(page: Any, team: Team, bob: User) -> None:
    log_in(page, "alice")
    page.goto("/teams/red-team")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.click("text=Remove")
    assert services.teams_of(bob).count() == 1
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("text=Remove")
    page.wait_for_selector("text=The member is removed.")
    assert services.teams_of(bob).count() == 0


def test_language_is_changed_on_every_page_and_stays(page: Any) -> None:
    page.goto("/login?next=/teams/")
    page.click("text=日本語")
    page.wait_for_selector("html[lang=ja]")
    assert page.url.endswith("/login?next=/teams/")
    assert page.inner_text("h1") == "ログイン"
    page.goto("/")
    assert page.get_attribute("html", "lang") == "ja"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_page_fits_on_a_phone(browser: Any, live_server: Any, team: Team, admin: User, language: str) -> None:
    _, token = services.invite(team, admin)
    services.accept(admin, token)
    context = browser.new_context(
        base_url=live_server.url, locale=language, viewport={"width": 400, "height": 800}, color_scheme="dark"
    )
    phone = context.new_page()
    for path in PAGES_OF_VISITORS:
        phone.goto(path)
        assert phone.evaluate(TOO_WIDE) == 0, path
        assert phone.get_attribute("html", "lang") == language
    log_in(phone, "root")
    for path in PAGES_OF_USERS:
        phone.goto(path)
        assert phone.evaluate(TOO_WIDE) == 0, path
    context.close()
