"""Promises as a user meets them: held against original and release, void where noise can be made again."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

ILL = pl.DataFrame({"zip": list("AABBB"), "illness": ["flu", "flu", "flu", "cold", "cold"]})
TREE = "A,*\nB,*\nC,*\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "zip.csv").write_text(TREE)
    ILL.vstack(pl.DataFrame({"zip": ["C"], "illness": ["flu"]})).write_csv(tmp_path / "people.csv")
    ILL.write_csv(tmp_path / "release.csv")
    return tmp_path


def test_audit_holds_closeness_against_the_original_and_the_release(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A, all flu, is 1/3 from the original's 4 of 6 and 2/5 from the release's 3 of 5.
    asked = ["audit", folder / "release.csv", "--qi", "zip", "--t-closeness", "illness=0.35"]
    code, alone = tokumei_here(capsys, *asked)
    assert (code, [one["against"] for one in alone["requirements"]]) == (1, ["the release"])
    code, both = tokumei_here(capsys, *asked, "--original", folder / "people.csv")
    found = {one["against"]: (one["holds"], round(one["value"], 3)) for one in both["requirements"]}
    assert found == {"the original": (True, 0.333), "the release": (False, 0.4)}
    assert code == 1


def test_delta_disclosure_is_asked_for_and_audited(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--qi", "zip", "--delta-disclosure", "illness=1"]
    out = folder / "out.csv"
    code, made = tokumei_here(
        capsys, "anonymize", "table", folder / "people.csv", "--hierarchies", folder / "trees", *asked, "--out", out
    )
    # A has no cold at all.
    assert (code, made["levels"]) == (0, {"zip": 1})
    assert tokumei_here(capsys, "audit", out, *asked)[0] == 0
    assert tokumei_here(capsys, "audit", folder / "release.csv", *asked)[0] == 1


def test_seed_for_noisy_counts_needs_a_word_and_voids_the_promise(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, recipe = folder / "noisy.csv", folder / "noisy.json"
    asked = ["anonymize", "table", folder / "people.csv", "--qi", "zip", "--hierarchies", folder / "trees"]
    asked += ["--method", "dp-counts", "--out", out, "--recipe", recipe, "--seed", 7]
    code, refused = tokumei_here(capsys, *asked)
    assert code == 2
    assert "no seed" in refused["message"]
    assert not out.exists()
    code, made = tokumei_here(capsys, *asked, "--reproducible")
    assert (code, made["promises"]) == (0, {})
    assert made["promise"].startswith("void")
    assert json.loads(recipe.read_text())["options"]["reproducible"] is True
    code, audited = tokumei_here(capsys, "audit", out, "--qi", "zip", "--recipe", recipe)
    assert (code, audited["holds"]) == (1, False)
    assert "void" in audited["requirements"][0]["requirement"]


def test_measures_of_rows_and_of_paths_are_reached_by_a_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--original", folder / "release.csv", "--release", folder / "release.csv", "--set", "columns=zip"]
    code, found = tokumei_here(
        capsys, "measure", "safety", "pl-diversity", *files, "--set", "sensitive=illness", "--set", "l=1",
        "--set", "retentions=0.5",
    )  # fmt: skip
    assert code == 0
    assert found["score"]["value"] > 1
    code, found = tokumei_here(
        capsys, "measure", "safety", "pk-anonymity", *files, "--set", "k=1", "--set", "retentions=0.5"
    )
    assert (code, found["holds"]) == (0, True)


def test_measures_that_the_columns_cannot_have_are_left_out_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = folder / "release.csv"
    files = ["--original", release, "--release", release, "--in-order"]
    code, found = tokumei_here(capsys, "measure", "table", *files, "--qi", "zip")
    assert code == 0
    for name in ("mean-mae", "correlation-mae", "cross-mean", "statistics"):
        assert name not in found["scores"]
        assert "columns of numbers" in found["left_out"][name]
