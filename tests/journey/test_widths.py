"""Every command's output at 60, 80 and 120 columns against its JSON; a command of yours is one line below."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.widths import check_widths

from tokumei.cli.main import main
from tokumei.data.made.services import make_service

TABLE = ("--qi", "sex,age,prefecture")
COMMANDS: dict[str, tuple[str, ...]] = {
    "count": ("count", "people.csv", "--by", "sex,age,prefecture"),
    "data describe": ("data", "describe", "people.csv"),
    "hierarchy build": ("hierarchy", "build", "intervals", "--data", "people.csv", "--out", "age.csv", "--force"),
    "hierarchy show": ("hierarchy", "show", "s/hierarchies/prefecture.csv"),
    "hierarchy check": ("hierarchy", "check", "s/hierarchies/prefecture.csv"),
    "anonymize table": ("anonymize", "table", "people.csv", *TABLE, "--k", "5", "--out", "x.csv", "--force"),
    "mondrian": (
        *("anonymize", "table", "people.csv", *TABLE, "--k", "5", "--out", "m.csv", "--method", "mondrian"),
        *("--seed", "1", "--force"),
    ),
    "anonymize apply": ("anonymize", "apply", "recipe.json", "people.csv", "--out", "y.csv", "--force"),
    "audit": ("audit", "people.csv", "--qi", "sex,age", "--sensitive", "prefecture"),
    "compare": ("compare", "people.csv", *TABLE, "--k", "5"),
    "predict": ("predict", "people.csv", "--qi", "sex,age", "--hierarchies", "s/hierarchies", "--k", "5"),
    "attack table": (
        *("attack", "table", "--original", "people.csv", "--release", "release.csv", "--qi", "sex,age"),
        *("--sensitive", "prefecture", "--rows", "rows.csv"),
    ),
    "measure table": (
        *("measure", "table", "--original", "people.csv", "--release", "release.csv", "--qi", "sex,age"),
        *("--sensitive", "prefecture", "--rows", "rows.csv"),
    ),
    "parts": ("parts",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("widths")
    make_service(600, service=1, seed=1).write_csv(folder / "people.csv")
    written = ["--recipe", str(folder / "recipe.json"), "--rows", str(folder / "rows.csv")]
    release = [
        *("anonymize", "table", str(folder / "people.csv"), "--qi", "sex,age", "--keep", "prefecture", "--k", "5"),
        "--keep-anyway",
    ]
    for command in (
        ["data", "make", "services", "--services", "1", "--seed", "1", "--out", str(folder / "s")],
        [*release, *written, "--out", str(folder / "release.csv")],
    ):
        with pytest.raises(SystemExit, match="0"):
            main(command)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_or_name_is_cut_at_any_width(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    check_widths(capsys, monkeypatch, *COMMANDS[name])
