"""The exchange in a real browser: moving sliders changes the numbers and the mark, without a reload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.platform.conftest import MakeUser
from tests.platform.offers import HIERARCHIES, host, make_desk, publish
from tests.platform.test_browser import log_in

from tokumei.data.files.keys import PrivateKey
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.services import offers, requesting
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db(transaction=True)
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_sliders_show_at_once_what_the_offer_says(
    page: Any, make_user: MakeUser, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    alice = make_user("alice")
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")
    published = publish(make_desk(tmp_path, PrivateKey.fresh()), alice, team)
    offer, _ = offers.document_of(published)

    page.goto("/exchange/people?l0=1&l1=0&l2=2")
    assert page.inner_text("[data-zone]") == "Allowed"
    assert page.inner_text("[data-classes]") == "6"
    assert not page.is_visible("[data-without-script]")
    page.evaluate("window.isSamePage = true")
    before = page.get_attribute("[data-mark]", "cx")
    # By keyboard: one step to the left is finer.
    page.focus("#l0")
    page.keyboard.press("ArrowLeft")
    page.locator("[data-classes]", has_text="12").wait_for()
    assert page.inner_text("[data-k]") == f"{offer.predict((0, 0, 2)).k:,.0f}"
    assert page.inner_text("#l0-labels") == "1 · 2 · 3 · 4 · 5 · 6"
    page.focus("#l2")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.locator("[data-classes]", has_text="48").wait_for()
    assert page.inner_text("[data-zone]") == "Not given"
    assert not page.is_visible("[data-ask]")
    assert float(page.get_attribute("[data-mark]", "cx")) > float(before)
    assert float(page.get_attribute("[data-t]", "width")) > 0
    assert page.evaluate("window.isSamePage")
    assert "l0=0&l1=0&l2=0" in page.url
    page.set_viewport_size({"width": 400, "height": 800})
    for path in ("", "people", "people/join", "people/audit", "people/disclosure", "watch"):
        page.goto(f"/exchange/{path}")
        assert page.evaluate(TOO_WIDE) <= 0, path


def test_without_scripts_the_same_page_is_a_form(
    browser: Any, live_server: Any, make_user: MakeUser, tmp_path: Path, settings: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    alice = make_user("alice")
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")
    publish(make_desk(tmp_path, PrivateKey.fresh()), alice, team)
    context = browser.new_context(base_url=live_server.url, locale="ja-JP", java_script_enabled=False)
    page = context.new_page()
    page.goto("/exchange/people?l0=0&l1=0&l2=0")
    assert page.inner_text("[data-zone]") == "提供不可"
    page.focus("#l2")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.click("[data-without-script]")
    assert page.inner_text("[data-classes]") == "12"
    assert page.inner_text("[data-zone]") == "提供可能"
    context.close()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_provider_reads_the_attack_and_removes_the_offer_on_a_narrow_screen(
    browser: Any, live_server: Any, make_user: MakeUser, tmp_path: Path, settings: Any, language: str
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    alice = make_user("alice")
    carol = make_user("carol", display_name="Carol with a name of many letters")
    requesting.introduce(carol, organization="A university")
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")
    published = host(alice, team, criteria=["public=5", "trusted=3"])
    requesting.trust(published, alice, username="carol", criterion="trusted")
    context = browser.new_context(base_url=live_server.url, locale=language, viewport={"width": 400, "height": 800})
    page = context.new_page()
    log_in(page, "alice")
    page.goto("/exchange/offers")
    words = {"en": ("proves nothing", "none is proven", "removed"), "ja": ("何も証明されず", "5", "削除")}[language]
    assert words[0] in page.inner_text("main")
    for path in ("offers", "hosted/desk", "hosted/learning", "hosted/audit"):
        page.goto(f"/exchange/{path}")
        assert page.evaluate(TOO_WIDE) <= 0, path
    page.goto("/exchange/hosted/desk")
    assert words[1] in page.inner_text(".notice.success")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("details", has=page.locator("#typed")).locator("summary").click()
    page.fill("#typed", "hosted")
    page.locator("form", has=page.locator("#typed")).locator("button").click()
    page.goto("/exchange/hosted/audit")
    assert words[2] in page.inner_text(".notice.warning")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate(TOO_WIDE) <= 0
    context.close()


def test_levels_of_the_first_release_are_picked_by_their_labels(page: Any, alice: User, team: Team) -> None:
    log_in(page, "alice")
    page.goto("/exchange/offers/host")
    files = [
        {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": HIERARCHIES[name].encode()} for name in ("age", "sex")
    ]
    page.set_input_files("input[name=hierarchies]", files)
    page.select_option(".level-pickers select[data-column=age]", label="a · b · c")
    page.select_option(".level-pickers select[data-column=sex]", label="f · m")
    assert page.input_value("input[name=first_levels]") == "age=1,sex=0"
