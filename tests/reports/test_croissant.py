"""Metadata of releases has the structure that Croissant 1.1 asks for, the hash of the file, and no value of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_json

from tokumei.core.errors import InputError
from tokumei.reports.croissant import croissant, risk_in_words

PUBLIC = {
    "decision": {"outcome": "Release."},
    "results": {
        "attacks": [
            {"attack": "record-linkage", "outcome": {"success": 0.0825, "interval": [0.0593, 0.1136]}},
            {"attack": "downcoding", "outcome": {"success": None, "interval": None}},
        ]
    },
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    path = tmp_path / "release.parquet"
    rows = {"age band": ["20-39", "40-59"], "pay": [1.5, 2.0], "n": [1, 2], "ok": [True, False], "年齢": ["x", "y"]}
    pl.DataFrame(rows).with_columns(day=pl.date(2026, 1, 2)).write_parquet(path)
    return path


def test_metadata_names_the_file_its_hash_and_its_columns(release: Path) -> None:
    found = croissant(release, name="Visits", description="By district", creator="A hospital", public=PUBLIC)
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert found["@type"] == "sc:Dataset"
    (file,) = found["distribution"]
    assert file["sha256"] == hashlib.sha256(release.read_bytes()).hexdigest()
    assert file["contentSize"] == f"{release.stat().st_size} B"
    (rows,) = found["recordSet"]
    types = {one["name"]: one["dataType"] for one in rows["field"]}
    assert types == {
        "age band": "sc:Text", "pay": "sc:Float", "n": "sc:Integer", "ok": "sc:Boolean", "年齢": "sc:Text",
        "day": "sc:Date",
    }  # fmt: skip
    for one in rows["field"]:
        assert one["@type"] == "cr:Field"
        assert one["source"] == {"fileObject": {"@id": file["@id"]}, "extract": {"column": one["name"]}}
    names = [one["@id"] for one in rows["field"]]
    assert len(set(names)) == len(names)
    assert "40-59" not in json.dumps(found)


def test_risk_is_told_by_the_dossier_and_what_is_none_is_refused() -> None:
    said = risk_in_words(PUBLIC)
    assert said == "Anonymized. Release. Attacks tried: record-linkage finds 0.083 (95 % 0.059 to 0.114)."
    with pytest.raises(InputError, match=r"public\.json of a dossier"):
        risk_in_words({"a": 1})


def test_command_writes_what_the_format_s_own_library_takes(release: Path, tmp_path: Path) -> None:
    out = release.with_name("croissant.json")
    options = ["--name", "Visits", "--description", "By district", "--license", "CC-BY-4.0", "--out", out]
    assert tokumei_json("data", "croissant", release, *options)["columns"] == 6
    library = pytest.importorskip("mlcroissant")
    read = library.Dataset(str(out))
    assert not read.metadata.issues.errors
    assert len(list(read.records("rows"))) == 2


def test_workbook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="CSV or Parquet"):
        croissant(tmp_path / "a.xlsx", name="a", description="b")
