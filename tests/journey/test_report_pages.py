"""The pages of a dossier as people see them: at every width, and printed."""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import tokumei as tk

ROWS = "氏名,性別,年齢,病名\n" + "".join(
    f"鮎沢 {'壱汐千'[n % 3]}成,{'男女'[n % 2]},{30 + n % 8},{('胃炎', '喘息', '糖尿病')[n % 3]}\n" for n in range(60)
)
ROLES = '"氏名" = "identifier"\n"性別" = "quasi-identifier"\n"年齢" = "quasi-identifier"\n"病名" = "sensitive"\n'
JOB = (
    f'[input]\nfile = "患者.csv"\n[roles]\n{ROLES}[requirements]\nk = 3\n'
    '[[threat]]\nname = "neighbor"\nattacks = ["record-linkage", "homogeneity"]\n[[bound]]\nof = "k"\nleast = 3\n'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pages")
    (made / "患者.csv").write_text(ROWS, encoding="utf-8")
    tk.run(tk.Job.of(JOB, folder=made), made / "out")
    return made


@pytest.mark.parametrize("page", ["report.html", "report.ja.html"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_page_is_never_wider_than_its_window_and_asks_nobody(
    browser: Browser, folder: Path, page: str, width: int
) -> None:
    asked: list[str] = []
    window = browser.new_page(viewport={"width": width, "height": 800})
    window.on("request", lambda request: asked.append(request.url))
    window.goto((folder / "out" / page).as_uri())
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    assert window.locator("figure svg").count() >= 2
    assert [one for one in asked if not one.startswith(("file:", "data:"))] == []
    window.close()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_printed_report_has_pages_and_letters_that_can_be_read_in_japanese(tmp_path: Path) -> None:
    (tmp_path / "患者.csv").write_text(ROWS, encoding="utf-8")
    people = tk.Table(str(tmp_path / "患者.csv"), qi=["性別", "年齢"], sensitive=["病名"])
    file = tmp_path / "report.pdf"
    tk.report(tk.anonymize(people, k=3), file, language="ja")
    content = file.read_bytes()
    assert content.startswith(b"%PDF-")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", content)) <= 30
    streams = re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL)
    opened = [zlib.decompressobj().decompress(one) for one in streams if one[:1] == b"x"]
    # What a reader of the page may copy: the letters of each font, and 判断 among them.
    letters = {code.upper() for one in opened if b"beginbf" in one for code in re.findall(rb"<([0-9A-Fa-f]{4})>", one)}
    assert {f"{ord(sign):04X}".encode() for sign in "判断者"} <= letters
    assert re.search(rb"/FontFile[23]?\b", content), "fonts are not in the file"
