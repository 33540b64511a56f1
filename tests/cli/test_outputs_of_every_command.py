"""Every command that writes: no output is an input, none is replaced unasked, and a failure leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.test_every_command import COMMANDS, options_of

from tokumei.cli.main import main
from tokumei.data.made_retail import make_retail

PEOPLE = "sex,age,illness\n" + "f,31,flu\nf,31,ulcer\nm,52,flu\nm,52,ulcer\n" * 2
RETAIL = (
    "InvoiceNo,StockCode,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n1,tea,2,2010-12-01 08:26:00,1.5,7,Japan\n"
)
PAIR = ["--original", "{history}", "--release", "{released}"]
HARDEN = ["--bound", "1", "--attacks", "same-day", "--seed", "1"]
QI = ["--qi", "sex,age", "--k", "2"]
METHOD = ["--method", "pseudonyms", "--seed", "1"]
GRID = '[[pipeline]]\nname = "month"\n[[pipeline.step]]\nmethod = "pseudonyms"\nlifetime = 1\n'

# Each command with files that it reads and {out}, what it writes; the option after the slash names that.
RUNS: dict[str, list[str]] = {
    "anonymize table/--out": ["{people}", *QI, "--out", "{out}.csv"],
    "anonymize table/--recipe": ["{people}", *QI, "--out", "{dir}/r.csv", "--recipe", "{out}.csv"],
    "anonymize table/--rows": ["{people}", *QI, "--out", "{dir}/r.csv", "--rows", "{out}.csv"],
    "anonymize apply/--out": ["{recipe}", "{people}", "--out", "{out}.csv"],
    "anonymize history/--out": ["{history}", *METHOD, "--out", "{out}.csv"],
    "anonymize history/--published": ["{history}", *METHOD, "--out", "{dir}/r.csv", "--published", "{out}.csv"],
    "anonymize history/--truth": ["{history}", *METHOD, "--out", "{dir}/r.csv", "--truth", "{out}.csv"],
    "attack history/--out": ["same-day", "--knowledge", "{history}", "--release", "{released}", "--out", "{out}.csv"],
    "harden history/--out": [*PAIR, *HARDEN, "--out", "{out}.csv"],
    "harden history/--published": [*PAIR, *HARDEN, "--out", "{dir}/r.csv", "--published", "{out}.csv"],
    "harden history/--truth": [*PAIR, *HARDEN, "--out", "{dir}/r.csv", "--truth", "{out}.csv"],
    "harden table/--out": ["--release", "{people}", "--qi", "sex,age", "--bound", "0.9", "--out", "{out}.csv"],
    "knowledge/--out": ["{history}", "--out", "{out}.html"],
    "report/--out": [*PAIR, "--knowledge", "50", "--attacks", "same-day", "--out", "{out}.html"],
    "compare/--out": ["{people}", *QI, "--methods", "optimal", "--out", "{out}.html"],
    "hierarchy build/--out": ["intervals", "--data", "{people}", "--column", "age", "--out", "{out}.csv"],
    "job new/--out": ["{people}", "--out", "{out}.csv"],
    "inspect/--out": ["{people}", "--out", "{out}.html"],
    "inspect/--job": ["{people}", "--job", "{out}.csv"],
    "data croissant/--out": ["{people}", "--name", "x", "--description", "y", "--out", "{out}.csv"],
    "data clean-retail/--out": ["{retail}", "--out", "{out}.csv"],
    "data draw-knowledge/--out": ["{history}", "--share", "50", "--out", "{out}.csv"],
}
# Those that make a folder or a file of their own and refuse one that is there, tried below or where they are told of;
# all other output options are guarded as above.
APART = {
    *("sweep", "study run", "run", "demo", "backup", "data make retail", "data make services", "data make survey"),
    *("contest new", "contest prepare", "contest kit", "contest simulate", "contest export"),
    *("contest make-release", "contest make-guess"),
    *("exchange answer", "exchange disclose", "exchange request", "exchange approve"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    people, history, retail = (folder / f"{name}.csv" for name in ("people", "history", "retail"))
    people.write_text(PEOPLE)
    rows = make_retail(5, n_rows=60, seed=1)
    rows.select("customer", "date", "item", "price", "quantity").write_csv(history)
    retail.write_text(RETAIL)
    recipe, released = folder / "recipe.json", folder / "released.csv"
    run("anonymize table", [str(people), *QI, "--out", str(folder / "r.csv"), "--recipe", str(recipe)])
    run("anonymize history", [str(history), *METHOD, "--out", str(released)])
    return {"people": people, "history": history, "retail": retail, "recipe": recipe, "released": released}


def run(command: str, arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as done:
        main([*command.split(), *arguments])
    return int(done.value.code or 0)


def test_every_output_option_is_tried_or_stands_apart() -> None:
    writers = {f"{name}/{option}" for name in COMMANDS for option in ("--out", "--published", "--truth", "--recipe")}
    known = {one for one in writers if one.partition("/")[2] in options_of(one.partition("/")[0])}
    # What is read by these commands, though others write it.
    read = {
        "attack history/--truth",
        "judge/--published",
        "judge/--truth",
        "audit/--recipe",
        "contest check/--published",
    }
    read |= {"contest judge/--published", "contest judge/--truth"}
    assert {one for one in known - read if one.partition("/")[0] not in APART} <= set(RUNS)
    for name in RUNS:
        assert "--force" in options_of(name.partition("/")[0])


@pytest.fixture(params=sorted(RUNS))
def attempt(request: pytest.FixtureRequest, files: dict[str, Path], tmp_path: Path) -> Callable[..., int]:
    name, _, _ = request.param.partition("/")

    def try_it(out: Path, *more: str) -> int:
        given = {key: str(file) for key, file in files.items()} | {"dir": str(tmp_path)}
        words = [word.format(out=str(out.with_suffix("")), **given) for word in RUNS[request.param]]
        return run(name, [*words, *more])

    try_it.name = request.param  # type: ignore[attr-defined]
    try_it.suffix = next(Path(word).suffix for word in RUNS[request.param] if "{out}" in word)  # type: ignore[attr-defined]
    return try_it


def _inputs(files: dict[str, Path]) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in files.values()}


def test_output_that_is_an_input_is_refused_by_any_name(
    attempt: Callable[..., int], files: dict[str, Path], tmp_path: Path
) -> None:
    words = RUNS[attempt.name]  # type: ignore[attr-defined]
    source = next(files[key] for key in ("people", "history", "retail") if f"{{{key}}}" in words)
    before = _inputs(files)
    suffix = attempt.suffix  # type: ignore[attr-defined]
    symbolic, hard = tmp_path / f"symbolic{suffix}", tmp_path / f"hard{suffix}"
    symbolic.symlink_to(source)
    os.link(source, hard)
    for out in (source, symbolic, hard) if suffix == source.suffix else (symbolic, hard):
        assert attempt(out, "--force") == 2
    assert _inputs(files) == before
    assert sorted(tmp_path.iterdir()) == [hard, symbolic]


def test_existing_output_needs_force(attempt: Callable[..., int], tmp_path: Path) -> None:
    out = tmp_path / f"there{attempt.suffix}"  # type: ignore[attr-defined]
    out.write_text("mine")
    assert attempt(out) == 2
    assert out.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [out]
    assert attempt(out, "--force") == 0
    assert out.read_bytes() != b"mine"


@pytest.mark.parametrize("name", sorted(name for name, words in RUNS.items() if "{out}.html" in words))
def test_page_is_not_written_by_a_name_that_promises_another_form(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    command, _, option = name.partition("/")
    given = {key: str(file) for key, file in files.items()} | {"dir": str(tmp_path)}
    words = [word.replace("{out}.html", str(tmp_path / "page.toml")).format(**given) for word in RUNS[name]]
    assert run(command, words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"option {option}: found 'page.toml', expected a file that ends in .html" in said
    assert list(tmp_path.iterdir()) == []


def test_sweep_goes_on_in_its_folder_and_into_no_other(files: dict[str, Path], tmp_path: Path) -> None:
    grid, out = tmp_path / "grid.toml", tmp_path / "sweep"
    grid.write_text(GRID)
    given = [str(files["history"]), "--grid", str(grid), "--attacks", "same-day", "--out"]
    assert run("sweep", [*given, str(out)]) == 0
    assert run("sweep", [*given, str(out)]) == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    assert run("sweep", [*given, str(other)]) == 2
    assert [path.name for path in other.iterdir()] == ["mine.txt"]
    # The grid as the page of the sweep: an input that would be written.
    (out / "sweep.json").unlink()
    (out / "sweep.json").symlink_to(grid)
    assert run("sweep", [*given, str(out)]) == 2
    assert grid.read_text() == GRID
    assert run("sweep", [*given, str(grid)]) == 2


def test_study_writes_into_no_folder_of_other_things(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert run("study run", ["knowledge-toy", "--out", str(tmp_path)]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_counted_nodes_of_pak_go_into_no_input(files: dict[str, Path], tmp_path: Path) -> None:
    before = _inputs(files)
    given = [str(files["people"]), *QI, "--method", "pak", "--out", str(tmp_path / "r.csv")]
    assert run("anonymize table", [*given, "--set", f"table={files['people']}"]) == 2
    assert run("anonymize table", [*given, "--set", f"table={tmp_path / 'r.csv'}"]) == 2
    assert _inputs(files) == before
    assert list(tmp_path.iterdir()) == []
    assert run("anonymize table", [*given, "--set", f"table={tmp_path / 'table.json'}"]) == 0


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("contest new", ["{out}"]),
        ("contest prepare", ["--edition", "pwscup2015", "--out", "{out}"]),
        ("demo", ["--out", "{out}", "--customers", "5"]),
        ("exchange disclose", ["--desk", "{out}", "--out", "{out}"]),
    ],
)
def test_file_that_is_there_is_kept_by_those_that_stand_apart(
    tmp_path: Path, command: str, arguments: list[str]
) -> None:
    out = tmp_path / "there.toml"
    out.write_text("mine")
    assert run(command, [word.format(out=out) for word in arguments]) in (1, 2)
    assert out.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["there.toml"]
