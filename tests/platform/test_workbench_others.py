"""The page of a release that others made: what is sent, what is wrong with it, and what attacks find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

from tokumei.attacks.table_threats import TABLE_THREATS
from tokumei.platform.accounts.models import User
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.others_views import THREATS, found_shown

pytestmark = pytest.mark.django_db
# The same rows with ages as ARX writes them, in the order of the file.
LINES = PEOPLE.decode().splitlines()


def in_tens(line: str) -> str:
    """Write the age of a line as ARX writes a range."""
    cells = line.split(",")
    return ",".join([*cells[:2], f'"[{cells[2][0]}0, {int(cells[2][0]) + 1}0["', *cells[3:]])


ARX = "\n".join([LINES[0], *map(in_tens, LINES[1:])]).encode()


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()


def send(client: Client, piece: Piece, release: bytes | None, name: str = "arx.csv", **more: Any) -> str:
    """Send a release and return the page that follows, after its job."""
    sent = {"whose": "in_order", "threat": "", **more}
    if release is not None:
        sent["release"] = SimpleUploadedFile(name, release)
    answer = client.post(f"/workbench/{piece.key}/others", sent)
    if answer.status_code == 302:
        do_jobs()
        answer = client.get(f"/workbench/{piece.key}/others")
    return str(answer.content.decode())


def test_every_threat_has_its_words() -> None:
    assert {*TABLE_THREATS} == {*THREATS} - {""}


def test_release_of_others_is_attacked_and_its_report_taken(alice: User, mallory: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = begin(alice)
    assert "Send a release that others made" in client.get(f"/workbench/{piece.key}/others").content.decode()
    shown = send(client, piece, ARX)
    # Two of each pair are alike by sex, tens of years and town, so that one of two is found.
    assert 'id="verdict"' in shown
    assert "out of 100 people are found" in shown
    assert "8 rows, of 8 in the original" in shown
    assert "Rows at most risk" in shown
    for name in ("report.html", "report.ja.html"):
        page = b"".join(client.get(f"/workbench/{piece.key}/others/{name}"))
        assert b"<html" in page
        # Where files lie on the server is in no report.
        assert str(piece.folder).encode() not in page
    for name in ("found.json", "..", "report.md"):
        assert client.get(f"/workbench/{piece.key}/others/{name}").status_code == 404
    other = log_in(mallory)
    assert other.get(f"/workbench/{piece.key}/others").status_code == 404
    assert other.get(f"/workbench/{piece.key}/others/report.html").status_code == 404


def test_column_of_row_numbers_says_whose_rows_are(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = begin(alice)
    lines = ARX.decode().splitlines()
    turned = [f"{lines[0]},row", *(f"{line},{8 - at}" for at, line in enumerate(reversed(lines[1:])))]
    shown = send(client, piece, "\n".join(turned).encode(), whose="column", column="row")
    assert "out of 100 people are found" in shown
    wrong = "\n".join([turned[0], turned[1].rpartition(",")[0] + ",x", *turned[2:]]).encode()
    shown = send(client, piece, wrong, whose="column", column="row")
    assert "What is wrong" in shown
    assert "a row of the original, counted from 1" in shown
    shown = send(client, piece, wrong, whose="column", column="number")
    assert "What is wrong" in shown


def test_synthetic_rows_are_attacked_without_asking_whose_they_are(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = begin(alice)
    made = LINES[0] + "\n" + "".join(f"X,{'fm'[n % 2]},{30 + n},Nara,flu\n" for n in range(12))
    shown = send(client, piece, made.encode(), name="sdv.csv", whose="nobody", threat="data-broker")
    assert "12 rows, of 8 in the original" in shown
    assert "out of 100 people are found" not in shown
    assert "Rows equal to a row of the original" in shown
    assert "whose each row is" in shown


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "Choose the file of the release."),
        ({"release": ("release.exe", b"a")}, "a name that ends in"),
        ({"release": ("release.csv", ARX), "whose": "column"}, "Name the column of the release"),
        ({"release": ("release.csv", ARX), "threat": "journalist"}, "A journalist needs the list"),
        ({"release": ("release.csv", ARX), "threat": "spy"}, "Select a valid choice"),
        ({"release": ("release.csv", b"")}, "empty"),
    ],
)
def test_what_lacks_is_said_beside_its_field(alice: User, log_in: LogIn, sent: dict[str, Any], said: str) -> None:
    client = log_in(alice)
    piece = begin(alice)
    files = {name: SimpleUploadedFile(*value) for name, value in sent.items() if isinstance(value, tuple)}
    answer = client.post(f"/workbench/{piece.key}/others", {"whose": "in_order", "threat": "", **sent, **files})
    assert answer.status_code == 400
    shown = answer.content.decode()
    assert said in shown.partition('<form method="post" enctype')[2]
    assert not (piece.folder / "others").exists()


def test_release_that_cannot_be_of_the_file_is_refused_with_its_place(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = begin(alice)
    shown = send(client, piece, b"\n".join(ARX.splitlines()[:5]))
    assert "What is wrong" in shown
    assert "the 8 rows of the original" in shown
    # What was sent is attacked in another way without being sent again.
    assert "4 rows, of 8 in the original" in send(client, piece, None, whose="nobody")


def test_change_of_a_role_is_said_to_make_the_findings_old(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = begin(alice)
    assert "Attack again." not in send(client, piece, ARX)
    text = (piece.folder / "job.toml").read_text()
    (piece.folder / "job.toml").write_text(text + "\n")
    assert "Attack again." in client.get(f"/workbench/{piece.key}/others").content.decode()


def test_page_is_of_tables_alone(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = begin(alice, sample="purchases", kind="history")
    assert client.get(f"/workbench/{piece.key}/others").status_code == 404


def record(attack: str, success: float, low: float, baseline: float, **more: Any) -> dict[str, Any]:
    outcome = {"measure": "success", "control_of": "", "success": success, "interval": [low, 1.0], "baseline": baseline}
    outcome |= {"control": None, "risk": None, "certain": 1, "highest": None, "riskiest": [3], "n": 10} | more
    return {"attack": attack, "sensitive": None, "scores": {}, "outcome": outcome}


def test_verdict_is_of_the_attack_that_finds_most_above_chance() -> None:
    tried = [
        record("homogeneity", 0.9, 0.8, 0.85),
        record("record-linkage", 0.4, 0.35, 0.01),
        record("distance-linkage", 0.003, 0.0, 0.001),
        record("linkability", 1.0, 0.9, 0.0),
    ]
    found = found_shown({"attacks": tried, "left_out": {}, "asked": {"threat": ""}})
    assert found["verdict"]["said"].startswith("40 out of 100 people are found")
    assert found["verdict"]["kind"] == "error"
    assert [one["kind"] for one in found["verdicts"]] == ["success"]
    # What is found of people outside as well is no finding.
    alike = [record("homogeneity", 0.9, 0.8, 0.2, control=0.89, control_of="success")]
    assert found_shown({"attacks": alike, "left_out": {}, "asked": {"threat": ""}})["verdict"]["kind"] == "success"
    few = [record("record-linkage", 0.003, 0.0, 0.001)]
    assert (
        "fewer than 1 out of 100"
        in found_shown({"attacks": few, "left_out": {}, "asked": {"threat": ""}})["verdict"]["said"]
    )
