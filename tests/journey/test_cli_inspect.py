"""`tokumei inspect` as people run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.commands import tokumei, tokumei_here
from tests.journey.widths import check_widths

import tokumei as tk

ROWS = [
    "氏名,性別,年齢,郵便番号,病名,メモ",
    "四方田 琴葉,女,31,150-0001,胃炎,",
    "鮎沢 壱成,男,45,150-0002,糖尿病,",
    "六車 汐里,女,31,530-0001,胃炎,電話 090-1234-5678",
    "綿貫 慶次郎,男,62,530-0001,,",
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "患者.csv"
    file.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    return file


def test_inspect_gives_a_role_and_a_reason_for_each_column(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = tokumei_here(capsys, "inspect", people)
    assert code == 0
    roles = {name: one["role"] for name, one in found["columns"].items()}
    assert roles == {
        "氏名": "identifier",
        "性別": "quasi-identifier",
        "年齢": "quasi-identifier",
        "郵便番号": "quasi-identifier",
        "病名": "sensitive",
        "メモ": "identifier",
    }
    assert all(one["reason"] for one in found["columns"].values())
    assert found["columns"]["病名"]["missing"] == 1
    assert found["columns"]["郵便番号"]["hierarchy"]["builder"] == "prefix"
    assert found["sets"][0]["distinction"] == 1.0


def test_inspect_writes_one_page_and_does_not_replace_it_unasked(people: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert tokumei("inspect", people, "--out", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "郵便番号" in text
    assert tokumei("inspect", people, "--out", page).returncode == 2
    assert tokumei("inspect", people, "--out", people, "--force").returncode == 2


@pytest.mark.parametrize("text", ["a,b\n", "a\n1\n", "a,b\n,\n"])
def test_inspect_of_next_to_nothing_ends_well(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.csv").write_text(text)
    code, found = tokumei_here(capsys, "inspect", tmp_path / "x.csv")
    assert code == 0
    assert set(found["columns"]) == set(text.split("\n")[0].split(","))


def test_inspect_reads_other_encodings_as_every_command_does(people: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(people.read_text(encoding="utf-8").replace(",", ";"), encoding="cp932")
    assert tk.inspect(str(other), encoding="cp932", delimiter=";").roles == tk.inspect(str(people)).roles
    assert tokumei("inspect", other, "--encoding", "cp932", "--delimiter", ";").returncode == 0


def test_inspect_at_every_width(
    people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_widths(capsys, monkeypatch, "inspect", people)


def test_inspect_of_a_frame_gives_what_the_file_gives(people: Path) -> None:
    assert tk.inspect(tk.read_frame(people)).roles == tk.inspect(str(people)).roles
    assert "identifier" in tk.inspect(str(people))._repr_html_()
    assert tk.inspect(str(people)).figure() is not None


def test_three_commands_lead_from_a_file_to_a_dossier(
    people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people.write_text("\n".join([ROWS[0], *ROWS[1:] * 5]) + "\n", encoding="utf-8")
    job = tmp_path / "job.toml"
    code, made = tokumei_here(capsys, "job", "new", people, "--out", job)
    assert (code, made["rows"]) == (0, 20)
    assert "氏名" in job.read_text(encoding="utf-8")
    code, planned = tokumei_here(capsys, "run", job, "--dry-run")
    assert (code, planned["planned"][0]) == (0, "before")
    code, done = tokumei_here(capsys, "run", job, "--out", tmp_path / "out")
    assert (code, done["holds"]) == (0, True)
    header = (tmp_path / "out" / "release.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "性別,年齢,郵便番号,病名"
    job.write_text(job.read_text(encoding="utf-8").replace("most = 0.2", "most = 0.01"), encoding="utf-8")
    code, done = tokumei_here(capsys, "run", job, "--out", tmp_path / "out")
    assert (code, done["holds"]) == (1, False)
