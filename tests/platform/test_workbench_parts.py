"""Hierarchies, histories and the studio: what the forms do to the job file, and who comes in by a link."""

from __future__ import annotations

import io
import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.workbench_plays import begin, do_jobs

from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.platform.accounts.models import User
from tokumei.platform.backup import LEFT_OUT, _is_below
from tokumei.platform.demo import set_up
from tokumei.platform.files.incoming import most_bytes
from tokumei.platform.workbench import releasing, services
from tokumei.platform.workbench.models import Piece
from tokumei.tasks.job_file import Job

pytestmark = pytest.mark.django_db
HISTORY = b"member,day,goods,price,number\n" + b"".join(
    f"{who},2020-{month:02d}-0{day},{item},1.5,2\n".encode()
    for who, month, day, item in (
        *(("a", 1, 1, "tea"), ("a", 2, 2, "rice"), ("b", 1, 3, "tea"), ("b", 2, 4, "soap")),
        *(("c", 1, 5, "rice"), ("c", 2, 6, "tea"), ("d", 1, 7, "soap"), ("d", 2, 8, "soap")),
    )
)


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()


def change_tree(client: Client, piece: Piece, column: str, **sent: str) -> Job:
    answer = client.post(f"/workbench/{piece.key}/hierarchies", {"column": column} | sent)
    assert answer.status_code == 302
    do_jobs()
    return Job.read(piece.folder / "job.toml")


def trees(piece: Piece) -> Any:
    return json.loads((piece.folder / "trees.json").read_text())


def test_hierarchy_is_drawn_and_changed_to_other_widths(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    change_tree(client, piece, "age", builder="intervals", **{"o.width": "20", "o.factors": "2"})
    assert [level["n_labels"] for level in trees(piece)["age"]["levels"]] == [8, 2, 2, 1]
    shown = client.get(f"/workbench/{piece.key}/hierarchies").content.decode()
    assert ">20-39<" in shown
    assert "age" not in change_tree(client, piece, "age", builder="").hierarchies


def test_groups_put_by_hand_are_in_the_job_file(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    values = [value for value, _ in trees(piece)["town"]["values"]]
    job = change_tree(client, piece, "town", builder="groups", **{f"g{n}": "Kansai" for n in range(len(values))})
    assert job.hierarchies["town"].groups == (f"Kansai={'|'.join(values)}",)
    assert [level["n_labels"] for level in trees(piece)["town"]["levels"]][:2] == [2, 1]
    before = (piece.folder / "job.toml").read_bytes()
    change_tree(client, piece, "town", builder="groups", g0="a=b")
    assert (piece.folder / "job.toml").read_bytes() == before


def test_groups_put_by_hand_have_an_order_by_which_neighbors_are_joined(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    values = [value for value, _ in trees(piece)["age"]["values"]]
    named = {f"g{n}": ("young", "middle", "old")[0 if n < 2 else 1 if n < 5 else 2] for n in range(len(values))}
    job = change_tree(client, piece, "age", builder="groups", order="old, middle", **{"o.sizes": "2"}, **named)
    assert [one.partition("=")[0] for one in job.hierarchies["age"].groups] == ["old", "middle", "young"]
    assert [level["n_labels"] for level in trees(piece)["age"]["levels"]] == [8, 3, 2, 1]
    shown = client.get(f"/workbench/{piece.key}/hierarchies").content.decode()
    assert 'value="old, middle, young"' in shown
    before = (piece.folder / "job.toml").read_bytes()
    change_tree(client, piece, "age", builder="groups", order="ancient", **named)
    assert (piece.folder / "job.toml").read_bytes() == before


def test_hierarchy_file_goes_up_and_comes_down_in_the_form_of_arx(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    sent = SimpleUploadedFile("town.csv", b"Kobe;Hyogo;*\nNara;Nara;*\n")
    client.post(f"/workbench/{piece.key}/hierarchies/upload", {"column": "town", "file": sent})
    do_jobs()
    place = list(trees(piece)).index("town")
    answer = client.get(f"/workbench/{piece.key}/hierarchies/{place}.csv")
    assert b"".join(answer) == b"Kobe;Hyogo;*\nNara;Nara;*\n"
    bad = SimpleUploadedFile("town.csv", b"Kobe;x\n")
    client.post(f"/workbench/{piece.key}/hierarchies/upload", {"column": "town", "file": bad})
    do_jobs()
    assert "What is wrong" in client.get(f"/workbench/{piece.key}/hierarchies").content.decode()


def test_history_has_its_columns_guessed_mapped_and_protected_by_a_pipeline(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice, HISTORY, "shop.csv", "history"), log_in(alice)
    assert Job.read(piece.folder / "job.toml").reading.columns["customer"] == "member"
    sent = {"m_customer": "member", "m_date": "day", "m_item": "goods", "m_price": "price", "m_quantity": "number"}
    client.post(f"/workbench/{piece.key}/", sent)
    do_jobs()
    assert "8 rows of 4 customers over 2 months" in client.get(f"/workbench/{piece.key}/risk").content.decode()
    sent = {
        "step": "delete",
        "delete.random": "0.25",
        "naming": "pseudonyms",
        "pseudonyms.lifetime": "2",
        "share": "50",
    }
    client.post(f"/workbench/{piece.key}/protect", sent)
    do_jobs()
    job = Job.read(piece.folder / "job.toml")
    (name, options), *others = job.methods
    assert (name, others) == ("pipeline", [])
    assert options["step"][1] == {"method": "pseudonyms", "lifetime": 2}
    assert job.threats[0].share == 0.5
    shown = client.get(f"/workbench/{piece.key}/see").content.decode()
    assert "Customers found (attacked)" in shown
    assert "of 4 customers" in shown


# Five customers who buy one item each, so that every purchase tells its buyer.
LOYAL = b"member,day,goods,price,number\n" + b"".join(
    f"{who},2020-{month:02d}-{day:02d},{item},1.5,2\n".encode()
    for who, item in zip("abcde", ("tea", "rice", "soap", "salt", "oil"), strict=True)
    for month in (1, 2)
    for day in (3, 9, 15, 21)
)


@pytest.mark.parametrize(
    ("sent", "stated"),
    [
        ({"share": "50", "attack": "linkage"}, ("100.0%", "100.0%")),
        ({"share": "50", "attack": "jaccard"}, ("100.0%", None)),
        ({"share": "100", "attack": "linkage"}, ("100.0%", None)),
    ],
)
def test_whose_purchases_are_known_is_stated_beside_who_is_found_or_why_not(
    alice: User, log_in: LogIn, sent: dict[str, str], stated: tuple[str | None, ...]
) -> None:
    piece, client = begin(alice, LOYAL, "shop.csv", "history"), log_in(alice)
    client.post(f"/workbench/{piece.key}/protect", {"naming": "pseudonyms", "pseudonyms.lifetime": "2"} | sent)
    do_jobs()
    for language, titles, unknown, by_chance in (
        ("en", ("Customers found (attacked)", "Purchases given to their buyers (attacked)"), "not measured", "chance"),
        ("ja", ("特定された顧客（攻撃）", "購入者を当てられた購買（攻撃）"), "未測定", "偶然"),
    ):
        shown = client.get(f"/workbench/{piece.key}/see", headers={"accept-language": language}).content.decode()
        for title, value in zip(titles, stated, strict=True):
            line = shown.partition(f"<dt>{title}</dt>")[2].partition("</div>")[0]
            assert f"<strong>{value or unknown}</strong>" in line
            # The interval and what guessing blindly would find, or the reason.
            assert ("95%" in line and by_chance in line) if value else 'muted">' in line, line
    reasons = {"jaccard": "攻撃「linkage」を試したときに", "100": "すべて事前に知られています"}
    assert all(why in line for given, why in reasons.items() if given in sent.values()), line


def test_history_without_a_date_gets_a_table_of_faults_and_can_be_mapped_anew(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice, b"who,what\na,tea\nb,rice\n", "shop.csv", "history"), log_in(alice)
    shown = client.get(f"/workbench/{piece.key}/").content.decode()
    assert "What is wrong" in shown
    assert 'name="m_date"' in shown


def test_sample_is_made_and_looked_at(alice: User, log_in: LogIn) -> None:
    piece = begin(alice, sample="people")
    shown = log_in(alice).get(f"/workbench/{piece.key}/").content.decode()
    assert "3,000 rows" in shown
    assert '<tr class="role-identifier">' in shown


def test_file_on_the_workbench_may_be_larger_than_elsewhere(settings: Any, alice: User, log_in: LogIn) -> None:
    settings.MAX_REQUEST_BYTES, settings.WORKBENCH_BYTES = 100, 5_000
    assert (most_bytes("/workbench/new"), most_bytes("/contests/")) == (5_000, 100)
    client = log_in(alice)
    for n_bytes, status in ((1_000, 302), (6_000, 413)):
        file = SimpleUploadedFile("a.csv", b"a,b\n" + b"1,2\n" * (n_bytes // 4))
        assert client.post("/workbench/new", {"kind": "table", "file": file}).status_code == status
    assert client.post("/language", {"language": "en", "next": "x" * 200}).status_code == 413


def test_workbench_is_in_no_backup() -> None:
    assert _is_below("files/workbench/0123/people.csv", LEFT_OUT)
    assert not _is_below("files/exchange/people.csv", LEFT_OUT)


def test_link_of_the_studio_lets_its_owner_in_once_and_nobody_on_a_server(
    settings: Any, tmp_path: Path, client: Client
) -> None:
    settings.DATA, file = tmp_path, tmp_path / "mine.csv"
    file.write_bytes(b"age,sex\n31,f\n32,m\n")
    link = services.make_link(file, "table")
    assert client.get(link).status_code == 404
    settings.IS_STUDIO = True
    assert client.get(link[:-1] + ("x" if link[-1] != "x" else "y")).status_code == 404
    answer = client.get(link)
    assert answer["Location"].startswith("/workbench/")
    assert client.get(answer["Location"]).status_code == 200
    assert "mine.csv" in client.get("/workbench/").content.decode()
    assert client.get("/")["Location"] == "/workbench/"
    assert Client().get(link).status_code == 404
    assert Client().get("/workbench/").content.decode().count("mine.csv") == 0


def test_japanese_pages_say_reasons_methods_and_faults_in_japanese(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    client.cookies["django_language"] = "ja"
    client.post("/language", {"language": "ja", "next": "/"})
    rows = "".join(f"佐藤 翔,{'男女'[n % 2]},{20 + 3 * n},東京都,{n}\n" for n in range(12))
    piece = begin(alice, f"氏名,性別,年齢,都道府県,点\n{rows}".encode(), "名簿.csv")
    shown = {
        below: client.get(f"/workbench/{piece.key}/{below}").content.decode() for below in ("", "hierarchies", "risk")
    }
    shown["protect"] = client.get(f"/workbench/{piece.key}/protect").content.decode()
    assert "見出しがそう示し" in shown[""]
    assert "設定を満たす一般化のうち損失が最小のもの" in shown["protect"]
    assert "検察官" in shown["risk"]
    for below, page in shown.items():
        assert '<span lang="en">' not in page, below
    bad = begin(alice, b"a,b\n1\n", "名簿.csv")
    assert "2 個のセル" in client.get(f"/workbench/{bad.key}/").content.decode()


def test_sheet_of_excel_goes_from_its_upload_to_its_release(alice: User, log_in: LogIn, tmp_path: Path) -> None:
    """Days, empty cells and Japanese, as people have them in their sheets."""
    days = [date(2024, 1, 1 + n % 3) if n % 5 else None for n in range(12)]
    sheet = pl.DataFrame({"氏名": ["佐藤 翔"] * 12, "性別": ["男", "女"] * 6, "来店日": days, "点": [*range(11), None]})
    sheet.write_excel(tmp_path / "名簿.xlsx")
    piece, client = begin(alice, (tmp_path / "名簿.xlsx").read_bytes(), "名簿.xlsx"), log_in(alice)
    shown = client.get(f"/workbench/{piece.key}/").content.decode()
    assert "12 rows, 4 columns" in shown
    assert "3 missing" in shown
    assert ">date<" in shown.replace(" ·", "<")
    sent = {"r0": "identifier", "r1": "quasi-identifier", "r2": "quasi-identifier", "r3": "other"}
    client.post(f"/workbench/{piece.key}/", sent)
    do_jobs()
    client.post(f"/workbench/{piece.key}/protect", {"k": "2", "suppress": "10", "method": "optimal"})
    do_jobs()
    assert 'id="verdict"' in client.get(f"/workbench/{piece.key}/see").content.decode()
    given = b"".join(client.get(f"/workbench/{piece.key}/files/release.csv")).decode()
    assert given.startswith("性別,来店日\n")
    assert "佐藤" not in given


@pytest.mark.parametrize("content", [b"PK\x03\x04 no book", b"age,sex\n1,f\n"])
def test_sheet_that_is_none_gets_a_table_of_faults(alice: User, log_in: LogIn, content: bytes) -> None:
    piece = begin(alice, content, "book.xlsx")
    shown = log_in(alice).get(f"/workbench/{piece.key}/").content.decode()
    assert "What is wrong" in shown
    assert "Excel" in shown


def test_demo_has_a_finished_piece_of_work_that_stays(alice: User, log_in: LogIn) -> None:
    set_up.make_piece(alice)
    set_up.make_piece(alice)
    piece = Piece.objects.get(owner=alice)
    assert (piece.expires - piece.created).days > 300
    do_jobs()
    do_jobs()
    assert (piece.folder / "out" / "report.html").is_file()
    assert (piece.folder / "frontier.json").is_file()


def test_page_for_a_visitor_says_what_it_is_and_takes_nothing(client: Client) -> None:
    shown = client.get("/workbench/").content.decode()
    assert "tokumei studio" in shown
    assert '<input type="file"' not in shown
    answer = client.post("/workbench/new", {"kind": "table", "file": io.BytesIO(b"a\n1\n")})
    assert answer["Location"].startswith("/login")


@pytest.mark.slow
def test_frontier_of_a_history_is_drawn_by_the_strongest_attacks(tmp_path: Path) -> None:
    history = History.of(make_retail(12, seed=1))
    found = {one["method"]: one["found"] for one in releasing._sweep(history, tmp_path / "sweep")["releases"]}
    # By weak attacks a quarter of the customers under pseudonyms alone seemed to be found.
    assert found["pseudonyms of 12 months, 0% deleted"] == 1


def test_releases_to_choose_from_say_whose_purchases_are_known(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice, LOYAL, "shop.csv", "history"), log_in(alice)
    one = {"method": "x", "pipeline": [], "loss": 0.1, "found": 0.3, "attributed": 0.875, "is_on_frontier": True}
    without = {"method": "y", "pipeline": [], "loss": 0.2, "found": 0.1, "is_on_frontier": False}
    found = {"loss_name": "worst", "releases": [one, without], "left_out": {}}
    (piece.folder / "frontier.json").write_text(json.dumps(found))
    shown = client.get(f"/workbench/{piece.key}/protect").content.decode()
    assert re.findall(r'data-label="Purchases given to their buyers">([^<]*)<', shown) == ["87.5%", "–"]
