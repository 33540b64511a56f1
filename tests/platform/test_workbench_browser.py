"""The whole way in a real browser: a table and a history, in both languages, wide and narrow, and without scripts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from tests.platform.conftest import PASSWORD
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

import tokumei as tk
from tokumei.data.files.formats import write_frame
from tokumei.data.made_retail import make_retail
from tokumei.platform.accounts.models import User
from tokumei.tasks.job_file import Job

pytestmark = pytest.mark.django_db(transaction=True)
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
WORDS = {
    "en": {"begin": "Begin", "save": "Save and see the risk", "make": "Make the release", "home": "Take home"},
    "ja": {"begin": "始める", "save": "保存してリスクを見る", "make": "加工データを作る", "home": "持ち帰る"},
}


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()


@pytest.fixture
def worker(db: None) -> Iterator[None]:
    """Do jobs beside the pages, as the process of the workbench does."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(0.2):
            do_jobs()
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    is_over.set()
    thread.join()


def settle(page: Any) -> None:
    """Wait until nothing is under way; the script reloads the page then."""
    page.wait_for_selector("main h1")
    page.wait_for_selector("main:not(:has([data-poll]))")
    assert page.evaluate(TOO_WIDE) == 0, page.url


@pytest.fixture
def visit(browser: Any, live_server: Any, alice: User) -> Iterator[Any]:
    """Return a logged-in page of a language and a width; a breach of the content policy fails the test."""
    contexts, complaints = [], []

    def open_page(language: str, width: int) -> Any:
        context = browser.new_context(
            base_url=live_server.url, locale=language, viewport={"width": width, "height": 900}, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        page.goto("/login?next=/workbench/")
        page.fill("#id_username", "alice")
        page.fill("#id_password", PASSWORD)
        page.click("main button")
        page.wait_for_url("**/workbench/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def take(page: Any, name: str, to: Path) -> None:
    with page.expect_download() as download:
        page.click(f"a[href$='/files/{name}']")
    download.value.save_as(to / name)


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("ja", 400)])
def test_table_goes_from_a_file_to_the_release_of_the_command_line(
    visit: Any, worker: None, tmp_path: Path, language: str, width: int
) -> None:
    words, page = WORDS[language], visit(language, width)
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    page.set_input_files("#file", str(tmp_path / "people.csv"))
    page.click(f"button:has-text('{words['begin']}')")
    page.wait_for_url("**/workbench/*/")
    settle(page)
    assert page.input_value("#r0") == "identifier"
    page.select_option("#r3", "other")
    page.click(f"button:has-text('{words['save']}')")
    page.wait_for_url("**/risk")
    settle(page)
    assert page.locator("svg.figure").count() >= 1
    page.click("nav.tabs a[href$=protect]")
    page.wait_for_selector("#k")
    page.focus("#k")
    # From 4, half of the rows, by the keyboard to 2.
    while page.input_value("#k") != "2":
        page.keyboard.press("ArrowLeft")
    page.click(f"button:has-text('{words['make']}')")
    page.wait_for_url("**/see")
    settle(page)
    page.wait_for_selector("#verdict")
    page.click(f"nav.tabs a:has-text('{words['home']}')")
    page.wait_for_url("**/take-home")
    for name in ("release.csv", "job.toml"):
        take(page, name, tmp_path)
    tk.run(Job.read(tmp_path / "job.toml"), tmp_path / "dossier")
    assert (tmp_path / "dossier" / "release.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()


@pytest.mark.parametrize(("language", "width"), [("ja", 1280), ("en", 400)])
def test_history_goes_from_a_file_to_the_release_of_the_command_line(
    visit: Any, worker: None, tmp_path: Path, language: str, width: int
) -> None:
    words, page = WORDS[language], visit(language, width)
    made = make_retail(12, n_rows=240, seed=1).rename({"customer": "member", "date": "day"})
    write_frame(made, tmp_path / "shop.csv")
    page.set_input_files("#file", str(tmp_path / "shop.csv"))
    page.check("input[value=history]")
    page.click(f"button:has-text('{words['begin']}')")
    page.wait_for_url("**/workbench/*/")
    settle(page)
    assert (page.input_value("#m_customer"), page.input_value("#m_date")) == ("member", "day")
    page.click(f"button:has-text('{words['save']}')")
    page.wait_for_url("**/risk")
    settle(page)
    # Whatever is found, the release is to be had.
    page.click("nav.tabs a[href$=context]")
    page.wait_for_url("**/context")
    page.fill("#most_gain", "100")
    page.click("main form.card button.button")
    page.wait_for_url("**/protect")
    page.check("input[name=step][value=delete]")
    page.evaluate("document.querySelector('#target').value = 100")
    page.click(f"button:has-text('{words['make']}')")
    page.wait_for_url("**/see")
    settle(page)
    page.wait_for_selector("dl.scores")
    page.click(f"nav.tabs a:has-text('{words['home']}')")
    page.wait_for_url("**/take-home")
    for name in ("published.csv", "job.toml"):
        take(page, name, tmp_path)
    assert [name for name, _ in Job.read(tmp_path / "job.toml").methods] == ["pipeline"]
    tk.run(Job.read(tmp_path / "job.toml"), tmp_path / "dossier")
    assert (tmp_path / "dossier" / "published.csv").read_bytes() == (tmp_path / "published.csv").read_bytes()


@pytest.mark.parametrize(("language", "width"), [("ja", 1280), ("en", 400)])
def test_further_requirements_unfold_and_what_is_wrong_stands_at_its_field(
    visit: Any, alice: User, language: str, width: int
) -> None:
    piece, page = begin(alice), visit(language, width)
    page.goto(f"/workbench/{piece.key}/protect")
    number = page.locator("[name='l_diversity-0']")
    assert page.is_visible("#suppress")
    assert not number.is_visible()
    for one in page.locator("details.asked > summary").all():
        one.click()
    number.fill("0")
    page.select_option("[name='t_closeness-0_kind']", "ordered")
    page.fill("#prefer", "town")
    assert page.evaluate(TOO_WIDE) == 0
    page.click("button[name=run]")
    page.wait_for_selector("#l_diversity-0_error .errorlist")
    assert number.get_attribute("aria-invalid") == "true"
    assert number.is_visible()
    assert page.evaluate(TOO_WIDE) == 0
    number.fill("2")
    page.click("button[name=try]")
    page.wait_for_selector("[data-poll]")
    assert Job.read(piece.folder / "job.toml").requirements["l_diversity"] == {"illness": 2}
    assert Job.read(piece.folder / "job.toml").requirements["prefer"] == ("town",)


def test_way_of_a_table_needs_no_script(browser: Any, live_server: Any, alice: User, worker: None) -> None:
    context = browser.new_context(base_url=live_server.url, locale="en", java_script_enabled=False)
    page = context.new_page()
    page.goto("/login?next=/workbench/")
    page.fill("#id_username", "alice")
    page.fill("#id_password", PASSWORD)
    page.click("main button")
    page.set_input_files("#file", {"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE})
    page.click("button:has-text('Begin')")
    # The page asks to be loaded again by itself while work is under way.
    page.wait_for_selector("#r0")
    page.click("button:has-text('Save and see the risk')")
    page.wait_for_selector("svg.figure")
    page.click("nav.tabs a[href$=protect]")
    page.click("button:has-text('Make the release')")
    page.wait_for_selector("#verdict")
    context.close()


@pytest.mark.parametrize(("language", "width"), [("en", 390), ("ja", 1280)])
def test_release_of_others_is_attacked_in_the_browser(
    visit: Any, worker: None, tmp_path: Path, language: str, width: int
) -> None:
    page = visit(language, width)
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    page.set_input_files("#file", str(tmp_path / "people.csv"))
    page.click(f"button:has-text('{WORDS[language]['begin']}')")
    page.wait_for_url("**/workbench/*/")
    settle(page)
    page.click("nav.tabs a[href$=others]")
    page.wait_for_selector("#id_release")
    page.click("form[enctype] button")
    page.wait_for_selector("#id_release_error")
    page.set_input_files("#id_release", str(tmp_path / "people.csv"))
    page.check("input[name=threat][value=prosecutor]")
    page.click("form[enctype] button")
    page.wait_for_selector("#verdict", timeout=120_000)
    settle(page)
    # The file itself, of which nobody is hidden.
    assert "100" in page.inner_text("#verdict.error strong")
    assert page.is_checked("input[name=threat][value=prosecutor]")
