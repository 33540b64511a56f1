"""Making a contest in a browser, in both languages, wide and narrow: switching steps loses nothing that was typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import odd_edition  # noqa: F401 - a fixture.
from tests.platform.pictures import keep_picture
from tests.platform.sites import do_jobs, wait_until
from tests.platform.test_console_browser import TOO_WIDE, UNLABELED, enter, page_with_address  # noqa: F401 - a fixture.
from tests.platform.test_wizard import PEOPLE

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, ContestDraft

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = ("what", "data", "rules", "details", "people", "finish")


def look(page: Any, name: str, language: str) -> None:
    """Look at a page wide and narrow: nothing is wider than the page, every field has its label."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TOO_WIDE) <= 0, (name, language, width)
        keep_picture(page, f"wizard/{name}-{language}-{width}")
    assert page.evaluate(UNLABELED) == [], (name, language)


def step_to(page: Any, name: str) -> None:
    """Go to a step by its button."""
    page.click(f".wizard button[value={name}]")
    page.wait_for_url(f"**/{name}")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_contest_is_made_step_by_step(page: Any, organizer: User, log_in: LogIn, language: str, tmp_path: Path) -> None:
    (tmp_path / "名簿.csv").write_bytes(PEOPLE.encode("cp932"))
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1,2\n3\n")
    enter(page, log_in, organizer, language)
    page.goto("/contests/new")
    look(page, "new", language)
    page.check("input[value=own-table]")
    page.click("main form button.button")
    page.wait_for_url("**/data")
    page.set_input_files("#source", tmp_path / "bad.csv")
    page.click("button[value=check]")
    page.wait_for_selector("[data-poll]")
    do_jobs("workbench")
    page.wait_for_selector(".fault-groups")
    look(page, "data-bad", language)
    page.set_input_files("#source", tmp_path / "名簿.csv")
    page.click("button[value=check]")
    page.wait_for_selector("[data-poll]")
    do_jobs("workbench")
    page.wait_for_selector("#preview table")
    assert "cp932" in page.inner_text("#preview")
    look(page, "data", language)
    assert not Contest.objects.exists()
    page.click("p.row button[value=next]")
    page.wait_for_url("**/rules")
    do_jobs("workbench")
    page.wait_for_selector("#trial dl")
    page.wait_for_selector("#rules-preview")
    look(page, "rules", language)
    step_to(page, "details")
    page.fill("[name=title]", "名簿の杯")
    page.fill("[name=description]", "**Welcome**, read [the rules](/help/guide)")
    step_to(page, "people")
    look(page, "people", language)
    # By the browser's own button nothing is lost either.
    page.go_back()
    page.goto(page.url.replace("/people", "/details"))
    assert page.input_value("[name=title]") == "名簿の杯"
    page.fill("[name=slug]", "meibo")
    page.fill("[name=description_ja]", "**ようこそ**")
    page.click("button[value=details].quiet")
    page.wait_for_selector("#texts-preview strong")
    look(page, "details", language)
    step_to(page, "finish")
    do_jobs("workbench")
    page.reload()
    look(page, "finish", language)
    page.check("#sure")
    page.click("button[value=publish]")
    page.wait_for_url("**/contests/meibo/organize")
    assert Contest.objects.get().title == "名簿の杯"


def test_what_is_typed_is_kept_before_any_button(page: Any, organizer: User, log_in: LogIn) -> None:
    made = ContestDraft.objects.create(by=organizer, answers={"kind": "pwscup2018"})
    enter(page, log_in, organizer, "en")
    page.goto(f"/contests/drafts/{made.key}/details")
    page.fill("[name=title]", "Half a title")
    page.press("[name=title]", "Tab")
    wait_until(lambda: ContestDraft.objects.get().answers.get("title") == "Half a title")
    page.goto("/contests/new")
    page.click("text=Half a title")
    page.wait_for_url("**/finish")


def test_what_is_typed_while_work_is_under_way_is_not_lost(page: Any, organizer: User, log_in: LogIn) -> None:
    made = ContestDraft.objects.create(by=organizer, answers={"kind": "odd", "origin": "made"})
    enter(page, log_in, organizer, "en")
    page.goto(f"/contests/drafts/{made.key}/finish")
    page.click("button[value=try]")
    page.wait_for_selector("[data-poll]")
    page.click(".wizard button[value=details]")
    page.wait_for_selector("[data-poll]")
    page.locator("[name=description]").press_sequentially("not yet left")
    do_jobs("workbench")
    page.wait_for_selector("[data-poll]", state="detached")
    assert page.input_value("[name=description]") == "not yet left"


@pytest.mark.parametrize("name", STEPS)
def test_steps_work_without_scripts(browser: Any, live_server: Any, organizer: User, log_in: LogIn, name: str) -> None:
    made = ContestDraft.objects.create(by=organizer, answers={"kind": "odd"})
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.url_of_server = live_server.url
    enter(page, log_in, organizer, "en")
    page.goto(f"/contests/drafts/{made.key}/{name}")
    target = "what" if name != "what" else "people"
    page.click(f".wizard button[value={target}]")
    page.wait_for_url(f"**/{target}")
    context.close()
