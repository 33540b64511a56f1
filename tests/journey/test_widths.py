"""Every command's output at 60, 80 and 120 columns against its JSON; a command of yours is one line below."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.widths import check_widths

from tokumei.cli.main import main
from tokumei.data.made_services import make_service

TABLE = ("--qi", "sex,age,prefecture")
COMMANDS: dict[str, tuple[str, ...]] = {
    "count": ("count", "people.csv", "--by", "sex,age,prefecture"),
    "data describe": ("data", "describe", "people.csv"),
    "data croissant": (
        *("data", "croissant", "people.csv", "--name", "people", "--description", "who they are"),
        *("--out", "croissant.json", "--force"),
    ),
    "hierarchy build": ("hierarchy", "build", "intervals", "--data", "people.csv", "--out", "age.csv", "--force"),
    "hierarchy show": ("hierarchy", "show", "s/hierarchies/prefecture.csv"),
    "hierarchy check": ("hierarchy", "check", "s/hierarchies/prefecture.csv"),
    "anonymize table": ("anonymize", "table", "people.csv", *TABLE, "--k", "5", "--out", "x.csv", "--force"),
    "mondrian": (
        *("anonymize", "table", "people.csv", *TABLE, "--k", "5", "--out", "m.csv", "--method", "mondrian"),
        *("--seed", "1", "--force"),
    ),
    "anonymize table --dry-run": (
        "anonymize",
        "table",
        "people.csv",
        *TABLE,
        "--k",
        "5",
        "--out",
        "z.csv",
        "--dry-run",
    ),
    "data make survey": (
        *("data", "make", "survey", "--rows", "50", "--seed", "1", "--out", "survey", "--format", "csv", "--force"),
    ),
    "job new": ("job", "new", "people.csv", "--out", "job.toml", "--force"),
    "run --dry-run": ("run", "own.toml", "--out", "dry", "--dry-run"),
    "run": ("run", "own.toml", "--out", "dossier", "--force"),
    "study list": ("study", "list"),
    "anonymize apply": ("anonymize", "apply", "recipe.json", "people.csv", "--out", "y.csv", "--force"),
    "audit": ("audit", "people.csv", "--qi", "sex,age", "--sensitive", "prefecture"),
    "audit --against": (
        *("audit", "release.csv", "--qi", "sex,age", "--sensitive", "prefecture", "--against", "earlier.csv"),
        *("--against-rows", "earlier-rows.csv", "--rows", "rows.csv"),
    ),
    "compare": ("compare", "people.csv", *TABLE, "--k", "5"),
    "predict": ("predict", "people.csv", "--qi", "sex,age", "--hierarchies", "s/hierarchies", "--k", "5"),
    "attack table": (
        *("attack", "table", "--original", "people.csv", "--release", "release.csv", "--qi", "sex,age"),
        *("--sensitive", "prefecture", "--rows", "rows.csv"),
    ),
    "harden table": (
        *(
            "harden",
            "table",
            "--release",
            "release.csv",
            "--qi",
            "sex,age",
            "--attacks",
            "downcoding",
            "--bound",
            "0.9",
        ),
        *("--out", "hard.csv", "--force"),
    ),
    "measure table": (
        *("measure", "table", "--original", "people.csv", "--release", "release.csv", "--qi", "sex,age"),
        *("--sensitive", "prefecture", "--rows", "rows.csv"),
    ),
    "parts": ("parts",),
    "exchange try": ("exchange", "try", "desk/offer.json", "--data", "people.csv", "--limit", "4"),
    "exchange attack": ("exchange", "attack", "desk"),
    "exchange learn": ("exchange", "learn", "--desk", "desk", "--key", "shop.key"),
    "exchange verify": ("exchange", "verify", "desk", "--key", "shop.pub"),
    "exchange watch": ("exchange", "watch", "desk/offer.json", "desk/offer.json"),
    "exchange request": (
        *("exchange", "request", "desk/offer.json", "--levels", "sex=0", "--key", "shop.key", "--user", "A university"),
        *("--purpose", "A study", "--out", "b.request.json", "--force"),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("widths")
    make_service(600, service=1, seed=1).write_csv(folder / "people.csv")
    written = ["--recipe", str(folder / "recipe.json"), "--rows", str(folder / "rows.csv")]
    release = [
        *("anonymize", "table", str(folder / "people.csv"), "--qi", "sex,age", "--keep", "prefecture"),
        "--keep-anyway",
    ]
    earlier = ["--k", "20", "--rows", str(folder / "earlier-rows.csv"), "--out", str(folder / "earlier.csv")]
    key, request = str(folder / "shop.key"), str(folder / "a.request.json")
    desk = ["--desk", str(folder / "desk"), "--key", key]
    asked = ["--levels", "sex=0", "--key", key, "--user", "A university", "--purpose", "A study", "--out", request]
    exchange = [
        ["exchange", "keys", str(folder / "shop")],
        [
            *("exchange", "offer", str(folder / "people.csv"), *TABLE),
            *(
                "--hierarchies",
                str(folder / "s" / "hierarchies"),
                "--k",
                "3",
                "--method",
                "margins",
                "--name",
                "customers",
                "--other-people",
                *desk,
            ),
        ],
        ["exchange", "request", str(folder / "desk" / "offer.json"), *asked],
        ["exchange", "answer", request, *desk, "--out", str(folder)],
    ]
    for command in (
        ["data", "make", "services", "--services", "1", "--seed", "1", "--out", str(folder / "s")],
        [*release, *earlier],
        [*release, "--k", "5", *written, "--out", str(folder / "release.csv")],
        *exchange,
        ["job", "new", str(folder / "people.csv"), "--out", str(folder / "own.toml")],
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
