"""A whole contest by people's clicks alone: made by the wizard, played by three teams, replayed by a visitor.

What a new person clicks and fills in from signing up to the first score is counted and bounded. On their own
machines teams run the commands that the data page shows; the server's work is done between the clicks.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.platform.conftest import PASSWORD
from tests.platform.pictures import keep_picture
from tests.platform.sites import do_jobs
from tests.platform.test_wizard import PEOPLE

from tokumei.cli.main import main
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services.phase_work import begin_due_work

pytestmark = pytest.mark.django_db(transaction=True)
# At ten seconds a click and twenty a field this is under five minutes.
MOST_CLICKS, MOST_FIELDS = 12, 9
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Each team plays another built-in method.
METHODS = {"red": "noise", "green": "swap", "blue": "delete"}


class Person:
    """Somebody with a browser of their own, whose clicks and fields are counted."""

    def __init__(self, browser: Any, address: str, language: str, width: int, home: Path) -> None:
        self.context = browser.new_context(
            base_url=address, locale=language, viewport={"width": width, "height": 900}, accept_downloads=True
        )
        self.page = self.context.new_page()
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.home = home
        home.mkdir()
        self.clicks: list[str] = []
        self.fields: list[str] = []

    def click(self, selector: str) -> None:
        self.clicks.append(selector)
        self.page.click(selector)

    def fill(self, selector: str, text: str) -> None:
        self.fields.append(selector)
        self.page.fill(selector, text)

    def send(self, selector: str, path: Path) -> None:
        self.fields.append(selector)
        self.page.set_input_files(selector, path)

    def download(self, selector: str) -> Path:
        with self.page.expect_download() as begun:
            self.click(selector)
        path = self.home / str(begun.value.suggested_filename)
        begun.value.save_as(path)
        return path

    def look(self, name: str) -> None:
        width = self.page.viewport_size["width"]
        language = self.page.get_attribute("html", "lang")
        assert self.page.evaluate(TOO_WIDE) <= 0, name
        keep_picture(self.page, f"whole/{name}-{language}-{width}")


def command(*words: object) -> None:
    """Run a command on one's own machine."""
    with pytest.raises(SystemExit) as done:
        main(["contest", *map(str, words)])
    assert not done.value.code, words


@pytest.fixture
def people(browser: Any, live_server: Any, tmp_path: Path) -> Iterator[Any]:
    made: list[Person] = []

    def person(name: str, language: str, width: int) -> Person:
        made.append(Person(browser, live_server.url, language, width, tmp_path / name))
        return made[-1]

    yield person
    for one in made:
        one.context.close()


def make_by_wizard(one: Person) -> None:
    """Make a contest from a Shift-JIS file, step by step, and publish it."""
    page = one.page
    (one.home / "名簿.csv").write_bytes(PEOPLE.encode("cp932"))
    page.goto("/login")
    one.fill("#id_username", "olga")
    one.fill("#id_password", PASSWORD)
    one.click("main button")
    page.wait_for_url("**/")
    one.click("header a[href='/contests/']")
    one.click("a[href='/contests/new']")
    one.click("input[value=own-table]")
    one.click("main form button.button")
    one.send("#source", one.home / "名簿.csv")
    one.click("button[value=check]")
    page.wait_for_selector("[data-poll]")
    do_jobs("workbench")
    page.wait_for_selector("#preview table")
    one.click("p.row button[value=next]")
    page.wait_for_url("**/rules")
    do_jobs("workbench")
    page.wait_for_selector("#trial dl")
    one.click("p.row button[value=next]")
    page.wait_for_url("**/details")
    one.fill("[name=title]", "名簿の杯")
    one.fill("[name=slug]", "meibo")
    one.click("p.row button[value=next]")
    page.wait_for_url("**/people")
    one.click("p.row button[value=next]")
    page.wait_for_url("**/finish")
    do_jobs("workbench")
    page.reload()
    one.click("#sure")
    one.click("button[value=publish]")
    page.wait_for_url("**/contests/meibo/organize")
    do_jobs("contest")
    page.reload()
    one.click("form[action$='/organize/phase'] button")
    page.wait_for_load_state()
    assert Contest.objects.get().phase == Phase.ANONYMIZE


def sign_up_and_score(one: Person, name: str, letters: Any) -> None:
    """Come to the contest as a stranger, take part in place, and see the score of a first release."""
    page = one.page
    page.goto("/contests/meibo")
    one.click("main a[href^='/sign-up']")
    for field, typed in {"username": name, "display_name": name.title(), "email": f"{name}@example.com"}.items():
        one.fill(f"#id_{field}", typed)
    one.fill("#id_password", PASSWORD)
    one.fill("#id_password_again", PASSWORD)
    one.click("main form button.button")
    page.wait_for_url("**/contests/meibo")
    do_jobs("mail")
    link = next(re.search(r"http\S+", one_.body) for one_ in reversed(letters) if f"{name}@example.com" in one_.to)
    assert link is not None
    # The link in the letter is a click, too.
    one.clicks.append("the link in the letter")
    page.goto(re.sub(r"^http://[^/]+", "", link[0]))
    one.click("header a[href='/contests/']")
    one.click("main a[href='/contests/meibo']")
    one.fill("#id_display_name", f"Team {name}")
    one.fill("#id_slug", f"team-{name}")
    one.click("button[value=enter]")
    page.wait_for_selector("a[href='/contests/meibo/submit'].button")
    do_jobs("workbench")
    one.click(".tabs a[href='/contests/meibo/data']")
    kit = one.download("a[href='/contests/meibo/kit']")
    with zipfile.ZipFile(kit) as packed:
        packed.extractall(one.home / "kit")
    command("make-release", one.home / "kit", "--out", one.home / "release", "--method", METHODS[name])
    one.click(".tabs a[href='/contests/meibo/submit']")
    (release,) = (one.home / "release").iterdir()
    one.send("input[type=file]", release)
    one.click("main form .row button.button >> nth=0")
    page.wait_for_url("**/contests/submissions/**")
    do_jobs("contest")
    page.reload()
    assert page.locator(".tag.accent").count(), page.inner_text("main")


def attack(one: Person, name: str, target: str) -> None:
    """Guess at another team's release with the kit as it is now."""
    page = one.page
    do_jobs("workbench")
    one.click(".tabs a[href='/contests/meibo/data']")
    kit = one.download("a[href='/contests/meibo/kit']")
    with zipfile.ZipFile(kit) as packed:
        packed.extractall(one.home / "kit2")
    published = one.home / "kit2" / "releases" / f"team-{target}"
    command("make-guess", one.home / "kit2", published, "--out", one.home / "guess")
    one.click(".tabs a[href='/contests/meibo/attack']")
    one.click(f"a[href='/contests/meibo/attack/team-{target}']")
    (guess,) = (one.home / "guess").iterdir()
    one.send("input[type=file]", guess)
    one.click("main form .row button.button >> nth=0")
    page.wait_for_url("**/contests/submissions/**")
    do_jobs("contest")


def change_phase(one: Person) -> None:
    """Let the next phase begin by the button of the console, and have its work done."""
    one.click("header a[href='/contests/']")
    one.click("main a[href='/contests/meibo']")
    one.click(".tabs a[href='/contests/meibo/organize']")
    one.click("form[action$='/organize/phase'] button")
    one.page.wait_for_selector(".tabs a[href='/contests/meibo/organize'][aria-current]")
    begin_due_work()
    do_jobs("contest")


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("ja", 390)])
def test_whole_contest_is_played_by_clicks_and_replayed_by_a_visitor(
    people: Any,
    organizer: User,
    mailoutbox: Any,
    tmp_path: Path,
    language: str,
    width: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    host = people("host", language, width)
    make_by_wizard(host)
    teams = {name: people(name, language, width) for name in METHODS}
    for name, one in teams.items():
        sign_up_and_score(one, name, mailoutbox)
        one.look(f"first-score-{name}")
        assert len(one.clicks) <= MOST_CLICKS, one.clicks
        assert len(one.fields) <= MOST_FIELDS, one.fields
    change_phase(host)
    for name, target in (("red", "green"), ("green", "blue"), ("blue", "red")):
        attack(teams[name], name, target)
    change_phase(host)
    do_jobs("contest")
    contest = Contest.objects.get()
    assert (contest.phase, contest.trouble) == (Phase.CLOSED, "")
    visitor = people("visitor", language, width)
    visitor.page.goto("/contests/meibo")
    visitor.look("closed")
    with zipfile.ZipFile(visitor.download("a[href='/contests/meibo/export']")) as packed:
        packed.extractall(visitor.home)
    capsys.readouterr()
    command("replay", visitor.home / "meibo", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["phase"], told["head"]) == ("closed", contest.heads["close"])
    visitor.click(".tabs a[href='/contests/meibo/scoreboard']")
    visitor.page.wait_for_url("**/scoreboard")
    assert all(f"Team {name}" in visitor.page.inner_text("main") for name in METHODS)
    visitor.look("board")
