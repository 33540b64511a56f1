"""The commands of histories at 60, 80 and 120 columns against their JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.widths import check_widths

from tokumei.cli.main import main
from tokumei.data.made_retail import make_retail

COMMANDS: dict[str, tuple[str, ...]] = {
    "anonymize history": (
        *("anonymize", "history", "T.csv", "--method", "pseudonyms", "--seed", "1", "--out", "B.csv", "--force"),
    ),
    "attack history": (
        *("attack", "history", "s4", "--knowledge", "T.csv", "--release", "S.csv", "--truth", "F.csv"),
        *("--out", "Fh.csv", "--force"),
    ),
    "judge": ("judge", "guess.csv", "--truth", "F.csv", "--published", "S.csv"),
    "knowledge": ("knowledge", "T.csv"),
    "knowledge --unicity": ("knowledge", "T.csv", "--unicity", "--points", "3", "--draws", "2"),
    "harden history": (
        *("harden", "history", "--original", "T.csv", "--release", "A.csv", "--bound", "0.9", "--knowledge", "25"),
        *("--attacks", "s6", "--seed", "1", "--out", "hard.csv", "--force"),
    ),
    "measure history": ("measure", "history", "--original", "T.csv", "--release", "A.csv"),
    "measure safety": ("measure", "safety", "km-anonymity", "--set", "k=1", "--set", "m=2", "--release", "A.csv"),
    "data draw-knowledge": ("data", "draw-knowledge", "T.csv", "--share", "25", "--out", "T25.csv", "--force"),
    "report": (
        *("report", "--original", "T.csv", "--release", "A.csv", "--knowledge", "25", "--attacks", "s6"),
        *("--out", "report.html", "--force"),
    ),
    "sweep": ("sweep", "T.csv", "--grid", "grid.toml", "--attacks", "s6", "--knowledge", "25", "--out", "sweep"),
    "contest show": ("contest", "show", "cup"),
}
GRID = """
[[pipeline]]
name = "pseudonyms of a year, all that there is of them"
[[pipeline.step]]
method = "pseudonyms"
lifetime = 12
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("widths")
    rows = make_retail(8, n_rows=200, seed=1)
    rows.select("customer", "date", "item", "price", "quantity").write_csv(folder / "T.csv")
    named = {name: str(folder / f"{name}.csv") for name in ("T", "A", "S", "F", "guess")}
    (folder / "grid.toml").write_text(GRID)
    cup = ["--edition", "pwscup2016", "--set", "n_customers=12"]
    method = ["--method", "pseudonyms", "--set", "lifetime=1", "--seed", "1"]
    for command in (
        [
            *("anonymize", "history", named["T"], *method, "--out", named["A"]),
            *("--published", named["S"], "--truth", named["F"]),
        ],
        ["attack", "history", "s4", "--knowledge", named["T"], "--release", named["S"], "--out", named["guess"]],
        ["contest", "prepare", *cup, "--out", str(folder / "cup"), "--seed", "7"],
    ):
        with pytest.raises(SystemExit, match="0"):
            main(command)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_or_name_of_a_history_is_cut_at_any_width(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    check_widths(capsys, monkeypatch, *COMMANDS[name])
