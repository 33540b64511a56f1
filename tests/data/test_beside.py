"""Two files by one set of options: each is read by those that fit it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.data.files.formats import read_beside, read_frame, reading_beside
from tokumei.data.files.reading import AS_IT_IS, Reading

REAL = Reading(encoding="cp932", delimiter=";", skip_rows=2)


def _raw(folder: Path) -> Path:
    rows = "".join(
        f"{sex};{age};{ill}\n" for sex, age, ill in zip("男女男女", (31, 31, 52, 52), "風風腹腹", strict=True)
    )
    (folder / "raw.csv").write_bytes(f"調査\n\n性別;年齢;病気\n{rows}".encode("cp932"))
    return folder / "raw.csv"


def test_plain_file_is_read_plainly_beside_one_that_is_not(tmp_path: Path) -> None:
    raw, plain = _raw(tmp_path), tmp_path / "plain.csv"
    plain.write_text("性別,年齢\n男,31\n", encoding="utf-8")
    assert reading_beside(raw, REAL, ["年齢"]) == REAL
    assert reading_beside(plain, REAL, ["年齢"]) == AS_IT_IS
    assert read_beside(plain, REAL, ["年齢"]).height == 1
    # A file that fits neither way is named by the options that were given.
    assert reading_beside(plain, REAL, ["age"]) == REAL


def test_release_is_attacked_and_measured_beside_the_raw_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, out, rows = _raw(tmp_path), tmp_path / "release.csv", tmp_path / "rows.txt"
    reading = ["--encoding", "cp932", "--delimiter", ";", "--skip-rows", "2"]
    given = [*reading, "--qi", "性別,年齢"]
    tell = ["--sensitive", "病気", "--rows", rows]
    assert tokumei_here(capsys, "anonymize", "table", raw, *given, "--k", "2", "--out", out, "--rows", rows)[0] == 0
    pair = ["--original", raw, "--release", out, *given, *tell[2:]]
    assert tokumei_here(capsys, "attack", "table", "record-linkage", *pair)[1]["released"] == 4
    assert tokumei_here(capsys, "measure", "table", *pair, "--measures", "row-count")[0] == 0
    code, found = tokumei_here(capsys, "audit", out, *given, "--against", raw, "--id", "性別")
    assert (code, found["error"]) == (2, "InputError")
    assert "a person's number that is no other column" in found["message"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_texts_of_missing_values_count_in_every_kind_of_column(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(
        {
            "age": [31, -9],
            "pay": [-9.0, 1.5],
            "born": [dt.date(1900, 1, 1), dt.date(1980, 5, 1)],
            "town": ["-9", "x"],
            "is_well": [True, None],
        }
    )
    file = tmp_path / f"people.{suffix}"
    frame.write_parquet(file) if suffix == "parquet" else frame.write_csv(file)
    found = read_frame(file, Reading(null_values=("-9", "-9.0", "1900-01-01")))
    assert found.null_count().row(0) == (1, 1, 1, 1, 1)
    assert found["age"].to_list() in ([31, None], ["31", None])
