"""Mistakes that people make with files of their own: each ends at a page that says what to do, with nothing dangerous.

Every page is looked at in a real browser and in both languages; none speaks of the command line.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.platform.conftest import PASSWORD
from tests.platform.workbench_plays import begin, do_jobs

from tokumei.data.files.formats import write_frame
from tokumei.platform.accounts.models import User
from tokumei.platform.workbench.models import Piece

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.thorough]
GIVEN = [
    "Olivia",
    "Amelia",
    "Emily",
    "Jack",
    "Harry",
    "Jacob",
    "Charlie",
    "Thomas",
    "George",
    "Oscar",
    "James",
    "William",
    "Sophie",
    "Grace",
    "Lily",
    "Ava",
]
FAMILY = [
    "Smith",
    "Jones",
    "Taylor",
    "Brown",
    "Williams",
    "Wilson",
    "Johnson",
    "Davies",
    "Patel",
    "Wright",
    "Walker",
    "White",
    "Edwards",
    "Green",
]
ILLNESSES = ("flu", "asthma", "diabetes", "cancer")
# What nobody should read on a page: options of commands, and commands.
COMMANDS = re.compile(r"--[a-z]|tokumei [a-z]|\[roles\]|\[requirements\]")
# What is offered as a command stands in a box of its own.
WITHOUT_CODE = """() => {
  const main = document.querySelector("main").cloneNode(true);
  for (const code of main.querySelectorAll("pre, code")) code.remove();
  return main.textContent;
}"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()


@pytest.fixture(params=["en", "ja"])
def page(request: pytest.FixtureRequest, browser: Any, live_server: Any, alice: User) -> Iterator[Any]:
    """Return a logged-in page of each language, wide in one and narrow in the other."""
    width = {"en": 1280, "ja": 390}[request.param]
    context = browser.new_context(
        base_url=live_server.url, locale=request.param, viewport={"width": width, "height": 900}
    )
    opened = context.new_page()
    opened.goto("/login?next=/workbench/")
    opened.fill("#id_username", "alice")
    opened.fill("#id_password", PASSWORD)
    opened.click("main button")
    opened.wait_for_url("**/workbench/")
    yield opened
    context.close()


def table(header: str, row: Callable[[random.Random, int], str], n: int = 60) -> bytes:
    drawn = random.Random(1)
    return "\n".join([header, *(row(drawn, number) for number in range(n))]).encode() + b"\n"


PATIENTS = table(
    "name,sex,age,illness",
    lambda drawn, n: (
        f"{drawn.choice(GIVEN)} {drawn.choice(FAMILY)},{'fm'[n % 2]},{20 + n % 12},{drawn.choice(ILLNESSES)}"
    ),
)


def admissions() -> bytes:
    drawn, rows = random.Random(1), []
    for number in range(40):
        birth = f"19{drawn.randrange(30, 90)}-{drawn.randrange(1, 13):02d}-{drawn.randrange(1, 29):02d}"
        rows += [f"P{1000 + 7 * number},{birth},{'fm'[number % 2]},{drawn.choice(ILLNESSES)}" for _ in range(5)]
    return "\n".join(["patient_id,birth_date,sex,illness", *rows]).encode() + b"\n"


def look(page: Any, piece: Piece, where: str) -> str:
    """Open a page of a piece of work; what it says, once it is found to be fit to be read."""
    page.goto(f"/workbench/{piece.key}/{where}")
    return read(page)


def settle(page: Any) -> None:
    """Have done what is under way, and wait for the page that shows it: its script loads it again."""
    do_jobs()
    page.wait_for_selector("main h1")
    page.wait_for_selector("main:not(:has([data-poll]))")


def read(page: Any) -> str:
    page.wait_for_selector("main h1")
    said: str = page.inner_text("main")
    assert not COMMANDS.search(page.evaluate(WITHOUT_CODE)), page.url
    assert page.evaluate(TOO_WIDE) == 0, page.url
    return said


def make(page: Any, piece: Piece) -> None:
    """Have the release made by the button of its page, and look at what came of it."""
    page.goto(f"/workbench/{piece.key}/protect")
    page.click("button[name=run]")
    page.wait_for_url("**/see")
    settle(page)
    look(page, piece, "see")


def mark(page: Any, piece: Piece, **roles: str) -> None:
    """Choose roles on the page of columns, by their numbers, and save them."""
    page.goto(f"/workbench/{piece.key}/")
    for field, role in roles.items():
        page.select_option(f"#{field}", role)
    page.click(".columns-table ~ p button")
    settle(page)


def verdict(page: Any) -> str:
    found: str = page.get_attribute("#verdict", "data-verdict")
    return found


def takes_home(page: Any, piece: Piece) -> list[str]:
    """List the files that can be taken home."""
    look(page, piece, "take-home")
    return [link.inner_text() for link in page.locator("a[download]").all()]


def dossier_of(piece: Piece) -> Any:
    return json.loads((piece.folder / "out" / "dossier.json").read_text())


def test_names_that_were_marked_as_sensitive_are_stopped_until_their_column_is_typed(page: Any, alice: User) -> None:
    piece = begin(alice, PATIENTS, "patients.csv")
    mark(page, piece, r0="sensitive")
    make(page, piece)
    stop = page.locator(".mend")
    assert "name" in stop.locator("h3").inner_text()
    # Some of the values stand there, and nothing was made.
    assert any(family in stop.inner_text() for family in FAMILY)
    assert page.locator("a[href$=take-home]").count() == 0
    stop.locator("summary").click()
    page.fill("input[name=typed]", "nam")
    page.click(".mend button.danger")
    page.wait_for_selector(".notice.error, .notices .error")
    assert not (piece.folder / "out" / "dossier.json").exists()
    page.locator(".mend summary").click()
    page.fill("input[name=typed]", "name")
    page.click(".mend button.danger")
    settle(page)
    look(page, piece, "see")
    assert verdict(page) != "safe"
    kept = dossier_of(piece)["results"]["kept_anyway"]
    assert [one["column"] for one in kept] == ["name"]
    # Who changes the column's role takes back what was typed for the role before.
    mark(page, piece, r0="identifier")
    assert "keep_anyway" not in (piece.folder / "job.toml").read_text()


def test_rows_of_one_patient_are_not_taken_for_people(page: Any, alice: User) -> None:
    piece = begin(alice, admissions(), "admissions.csv")
    mark(page, piece, r0="identifier")
    look(page, piece, "risk")
    make(page, piece)
    assert verdict(page) == "unsafe"
    assert "patient_id" in page.inner_text(".reasons")
    assert page.locator("a.button[href$=take-home]").count() == 0
    assert not {"release.csv", "everything.zip", "recipe.json"} & set(takes_home(page, piece))
    for name in ("release.csv", "everything.zip"):
        assert page.request.get(f"/workbench/{piece.key}/files/{name}").status == 404
    # The way on: one click counts people.
    look(page, piece, "risk")
    page.click("form[action$=person] button")
    settle(page)
    make(page, piece)
    after = dossier_of(piece)["results"]["after"]
    assert (after["unit"], verdict(page) == "unsafe") == ("people", False) or after["k"] >= 5


def test_release_that_changes_nothing_is_never_green(page: Any, alice: User) -> None:
    same = table("sex,illness", lambda drawn, n: f"{'fm'[n % 2]},{ILLNESSES[n // 2 % 4]}")
    piece = begin(alice, same, "same.csv")
    mark(page, piece, r0="quasi-identifier", r1="sensitive")
    make(page, piece)
    assert dossier_of(piece)["results"]["profile"]["unchanged"] == 60
    assert verdict(page) in ("not yet", "unsafe")
    assert page.locator(".notice.success").count() == 0


def test_class_far_too_large_is_called_useless(page: Any, alice: User) -> None:
    numbers = table("age,height", lambda drawn, n: f"{20 + n},{drawn.randrange(150, 199)}")
    piece = begin(alice, numbers, "numbers.csv")
    mark(page, piece, r0="quasi-identifier", r1="quasi-identifier")
    page.goto(f"/workbench/{piece.key}/protect")
    page.evaluate("document.querySelector('#k').value = 30")
    page.click("button[name=run]")
    page.wait_for_url("**/see")
    settle(page)
    look(page, piece, "see")
    assert verdict(page) in ("useless", "unsafe")
    assert page.locator(".notice.success").count() == 0


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_columns_of_which_none_is_known_are_refused_with_what_was_chosen(page: Any, alice: User, role: str) -> None:
    piece = begin(alice, PATIENTS, "patients.csv")
    before = (piece.folder / "job.toml").read_text()
    page.goto(f"/workbench/{piece.key}/")
    for field in ("r1", "r2", "r3"):
        page.select_option(f"#{field}", role)
    page.click(".columns-table ~ p button")
    page.wait_for_selector(".notice.error")
    said = read(page)
    assert "quasi-identifier" in said or "準識別子" in said
    assert [page.input_value(f"#{field}") for field in ("r1", "r2", "r3")] == [role] * 3
    assert (piece.folder / "job.toml").read_text() == before


def test_class_larger_than_the_file_is_told_where_it_is_asked_for(page: Any, alice: User) -> None:
    piece = begin(alice, PATIENTS, "patients.csv")
    page.goto(f"/workbench/{piece.key}/protect")
    page.evaluate("document.querySelector('#k').max = 900; document.querySelector('#k').value = 900")
    page.click("button[name=run]")
    settle(page)
    page.reload()
    read(page)
    assert page.locator(".notice.error").count() >= 1
    assert page.locator("a[href$=protect]").count() >= 1
    assert page.locator("a[href$=take-home]").count() == 0


def test_file_of_one_column_goes_its_way(page: Any, alice: User) -> None:
    piece = begin(alice, table("age", lambda drawn, n: str(20 + n % 6)), "one.csv")
    make(page, piece)
    assert verdict(page) in ("not yet", "unsafe", "useless")


@pytest.mark.parametrize("name", ["notes.docx", "list.pdf"])
def test_file_of_a_wrong_type_is_refused_before_it_is_sent(page: Any, name: str) -> None:
    page.goto("/workbench/")
    page.set_input_files("#file", {"name": name, "mimeType": "application/x", "buffer": b"PK\x03\x04 nothing"})
    page.click("form[enctype] button.button")
    page.wait_for_selector(".notice.error:visible")
    assert ".csv" in read(page)


def test_job_that_was_changed_makes_the_release_stale(page: Any, alice: User) -> None:
    piece = begin(alice, PATIENTS, "patients.csv")
    make(page, piece)
    assert page.locator(".stale").count() == 0
    mark(page, piece, r3="other")
    look(page, piece, "see")
    assert page.locator(".stale").count() == 1
    assert page.locator("#verdict.success").count() == 0
    assert takes_home(page, piece) == []
    # Nor by the address of a file.
    page.goto(f"/workbench/{piece.key}/files/report.html")
    assert page.url.endswith("take-home")
    page.click("a[href$='older=1']")
    assert page.locator("a[download]").count() > 0


def test_other_file_of_the_same_name_begins_anew(page: Any, alice: User) -> None:
    first = begin(alice, PATIENTS, "patients.csv")
    make(page, first)
    second = begin(alice, admissions(), "patients.csv")
    look(page, second, "see")
    assert page.locator("#verdict").count() == 0
    assert "patient_id" in look(page, second, "")
    assert "patient_id" not in look(page, first, "")


def test_file_of_a_japanese_office_is_repaired_with_a_word_and_goes_out_as_it_came(page: Any, alice: User) -> None:
    rows = [f"{'男女'[n % 2]},{20 + n % 2},再診,{n % 2},要連絡" for n in range(60)]
    text = "性別,年齢,備考,,備考\r\n" + "\n".join(rows) + "\n"
    piece = begin(alice, text.encode("cp932"), "患者.csv")
    said = look(page, piece, "")
    assert "column_4" in said
    assert "備考_2" in said
    assert "cp932" in said
    # Lines that end in two ways, and rows that are alike.
    assert page.locator("main .notice li").count() == 4
    make(page, piece)
    if verdict(page) == "unsafe":
        pytest.fail(page.inner_text(".reasons"))
    assert "release-shift-jis.csv" in takes_home(page, piece)
    as_it_came = page.locator("tr:has(.tag.good) a[download]")
    assert as_it_came.inner_text() == "release-shift-jis.csv"
    sent = page.request.get(f"/workbench/{piece.key}/files/release-shift-jis.csv").body()
    assert sent.decode("cp932").startswith("性別,年齢")
    book = page.request.get(f"/workbench/{piece.key}/files/release.xlsx").body()
    assert book.startswith(b"PK")


def test_workbook_that_is_called_csv_is_read_as_a_workbook(page: Any, alice: User, tmp_path: Path) -> None:
    write_frame(pl.DataFrame({"sex": ["f", "m"] * 30, "age": [20, 30, 40] * 20}), tmp_path / "people.xlsx")
    piece = begin(alice, (tmp_path / "people.xlsx").read_bytes(), "people.csv")
    assert "Excel" in look(page, piece, "")
    assert page.locator(".columns-table tbody tr").count() == 2


def test_default_of_a_history_that_finds_most_customers_is_held_back_and_another_is_recommended(
    page: Any, alice: User
) -> None:
    begun = begin(alice, sample="purchases", kind="history", content=b"")
    page.goto(f"/workbench/{begun.key}/protect")
    page.evaluate("document.querySelector('#target').value = 1")
    page.click("button[name=run]")
    page.wait_for_url("**/see")
    settle(page)
    look(page, begun, "see")
    assert verdict(page) == "unsafe"
    assert "published.csv" not in takes_home(page, begun)
    page.goto(f"/workbench/{begun.key}/protect")
    page.evaluate("document.querySelector('#target').value = 100")
    page.click("button[name=try]")
    page.wait_for_selector("main h1")
    settle(page)
    assert page.locator("#recommended.success a").count() == 1
