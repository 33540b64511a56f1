"""Ratings of films and tracks of walkers, from file to file: anonymized, attacked, measured, reported, hardened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.journey.commands import tokumei

RATINGS = ["--columns", "customer=userId,item=movieId,date=timestamp", "--date-format", "%s"]
# Roles by columns of another language, in a file with marks and lines as a spreadsheet writes them.
TRACKS = ["--columns", "customer=Person,item=Breite+Länge@0.01,date=Zeitpunkt"]
N_PEOPLE = 14


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Films rated within seconds of each other, some at the same second, by people whom nothing else tells apart."""
    rng = np.random.default_rng(3)
    lines = ["userId,movieId,rating,timestamp"]
    for person in range(1, N_PEOPLE + 1):
        moment = 1_200_000_000 + int(rng.integers(86_400 * 60))
        for film in rng.choice(400, 25, replace=False):
            moment += int(rng.choice([0, 7, 86_400 * 2]))
            lines.append(f"{person},{film + 1},{rng.choice([0.5, 3.0, 4.5])},{moment}")
    file = tmp_path_factory.mktemp("ratings") / "ratings.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Walks between home and work, south of the equator and west of Greenwich, with rows that stand twice."""
    rng = np.random.default_rng(4)
    lines = ["Person;Breite;Länge;Höhe;Zeitpunkt"]
    for person in range(N_PEOPLE):
        home, work = rng.normal((-34.6, -0.02), 0.05, (2, 2))
        for day in sorted(rng.choice(56, 8, replace=False)):
            for step in range(5):
                at = home + (work - home) * step / 4 + rng.normal(0, 0.002, 2)
                when = np.datetime64("2008-10-01T07:30:00") + np.timedelta64(int(day), "D") + np.timedelta64(step, "m")
                lines.append(f"{person:03};{at[0]:.6f};{at[1]:.6f};-777;{when}Z")
    file = tmp_path_factory.mktemp("tracks") / "tracks.csv"
    file.write_bytes("\ufeff".encode() + "\r\n".join([*lines, *lines[5:8], ""]).encode())
    return file


@pytest.fixture(params=["ratings", "tracks"])
def log(request: pytest.FixtureRequest) -> tuple[Path, list[str]]:
    """Return a file and how it is read."""
    return request.getfixturevalue(request.param), {"ratings": RATINGS, "tracks": TRACKS}[request.param]


def run(*words: object, exit_code: int = 0) -> dict[str, Any]:
    """Run a command that prints JSON; what is left out of a file is told on the side."""
    done = tokumei(*words, "--json")
    assert done.returncode == exit_code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("method", [["pseudonyms", "lifetime=12"], ["perturb"], ["delete", "random=0.3"]])
def test_logs_are_anonymized_measured_and_attacked(
    log: tuple[Path, list[str]], method: list[str], tmp_path: Path
) -> None:
    file, read = log
    options = [word for one in method[1:] for word in ("--set", one)]
    files = [tmp_path / name for name in ("A.csv", "S.csv", "F.csv")]
    made = ["--out", files[0], "--published", files[1], "--truth", files[2]]
    done = run("anonymize", "history", file, *read, "--method", method[0], *options, "--seed", 1, *made)
    assert done["customers"] == N_PEOPLE
    scores = run("measure", "history", "--original", file, "--release", files[0], *read)["scores"]
    assert {"date", "rows", "top-items", "item-cf-top"} <= set(scores)
    known = ["--knowledge", file, "--release", files[1], "--truth", files[2], "--out", tmp_path / "Fh.csv"]
    found = run("attack", "history", "linkage", *known, *read)["success"]["found"]["value"]
    # Whole films and cells are known: nobody is hidden by moving days.
    assert found > 0.9


def test_logs_are_generalized_and_a_second_release_is_held_against_the_first(
    log: tuple[Path, list[str]], tmp_path: Path
) -> None:
    file, read = log
    releases = [tmp_path / f"G{seed}.csv" for seed in (1, 2)]
    for seed, out in enumerate(releases, 1):
        words = ["anonymize", "history", file, *read, "--method", "generalize", "--set", f"k={seed + 1}"]
        made = ["--published", tmp_path / f"S{seed}.csv", "--truth", tmp_path / f"F{seed}.csv"]
        run(*words, "--seed", seed, "--out", out, *made)
    cells = pl.read_csv(releases[0], infer_schema=False)
    assert cells.filter(pl.col("customer") != "*").select("price", "quantity").unique().rows() == [("*", "*")]
    words = ["--knowledge", file, "--release", tmp_path / "S1.csv", "--truth", tmp_path / "F1.csv"]
    assert run("attack", "history", "generalized", *words, "--out", tmp_path / "Gh.csv", *read)["guesses"] > 0
    drawn = run("measure", "history", "--original", file, "--release", releases[0], "--draws", 2, *read)["scores"]
    assert {"date", "top-items"} <= set(drawn)
    words = ["audit", releases[0], "--original", file, "--in-order", *read]
    once = run(*words, "--against", releases[0], "--k", 2)
    assert once["together"] == once["alone"]
    both = run(*words, "--against", releases[1])
    assert both["together"]["mean_k"] < both["alone"]["mean_k"]


@pytest.mark.slow
def test_logs_are_permuted_reported_and_hardened(log: tuple[Path, list[str]], tmp_path: Path) -> None:
    file, read = log
    words = ["anonymize", "history", file, *read, "--method", "permute-groups", "--set", "bound=0.7"]
    [predicted] = run(*words, "--dry-run", "--out", tmp_path / "none.csv")["predicted"]
    done = run(*words, "--seed", 1, "--out", tmp_path / "A.csv", "--rows", tmp_path / "R.csv")
    assert done["bound"] == predicted["bound"] <= 0.7
    scores = run("measure", "history", "--original", file, "--release", tmp_path / "A.csv", *read)["scores"]
    use = max(scores[name]["value"] for name in predicted["losses"])
    # Of so few people one deal is unlike another.
    assert use == pytest.approx(predicted["lost"], abs=0.15)
    words = ["--original", file, "--release", tmp_path / "A.csv", *read]
    told = run("attack", "history", "attribution", *words, "--rows", tmp_path / "R.csv", "--draws", 1)
    assert 0 < told["success"]["rows"]["value"] <= 1
    run("report", *words, "--knowledge", 25, "--attacks", "linkage", "--out", tmp_path / "report.html")
    assert "linkage" in (tmp_path / "report.html").read_text()
    pipeline = tmp_path / "p.toml"
    pipeline.write_text('[[step]]\nmethod = "pseudonyms"\nlifetime = 12\n')
    words = ["harden", "history", "--original", file, "--pipeline", pipeline, "--bound", 0.75, *read]
    hard = run(*words, "--attacks", "linkage", "--changes", "permute", "--seed", 1, "--out", tmp_path / "H.csv")
    assert hard["found"] <= 0.75 < hard["found_before"]


def test_a_job_file_goes_from_a_log_to_a_dossier(log: tuple[Path, list[str]], tmp_path: Path) -> None:
    file, read = log
    roles = dict(one.split("=") for one in read[1].split(","))
    lines = ["[job]", 'kind = "history"', "seed = 1", "[input]", f"file = {json.dumps(str(file))}"]
    lines += [f'date_format = "{read[3]}"'] if len(read) > 2 else []
    lines += ["[input.columns]", *(f'{role} = "{column}"' for role, column in roles.items())]
    lines += ["[[method]]", 'name = "permute-groups"', "bound = 0.7", "[[method]]", 'name = "perturb"']
    lines += ["[[threat]]", 'name = "friend"', "share = 0.25", 'attacks = ["linkage"]']
    (tmp_path / "job.toml").write_text("\n".join([*lines, ""]))
    run("run", tmp_path / "job.toml", "--out", tmp_path / "dossier")
    done = json.loads((tmp_path / "dossier" / "dossier.json").read_text())
    assert done["results"]["chosen"] == "permute-groups"
    published = pl.read_csv(tmp_path / "dossier" / "published.csv", infer_schema=False)
    assert set(published.columns) >= {"customer", "date", "item"}
    assert (tmp_path / "dossier" / "report.md").exists()


def test_what_is_no_log_is_told_with_its_line(ratings: Path, tracks: Path, tmp_path: Path) -> None:
    lines = ratings.read_text().splitlines()
    broken = tmp_path / "broken.csv"
    for wrong, expected in (
        ("1,5,3.0,soon", "line 4, column timestamp"),
        (",5,3.0,1200000000", "line 4, column userId"),
        ("1,5,3.0", "line 4"),
    ):
        broken.write_text("\n".join([*lines[:3], wrong, *lines[3:]]) + "\n")
        words = [broken, *RATINGS, "--method", "perturb", "--out", tmp_path / "A.csv"]
        refused = tokumei("anonymize", "history", *words)
        assert (refused.returncode, expected in " ".join(refused.stderr.split())) == (2, True), refused.stderr
    for columns, expected in (
        ("customer=Person,item=Breite+Lange@0.01,date=Zeitpunkt", "Länge"),
        ("customer=Person,item=Breite+Zeitpunkt@0.01,date=Zeitpunkt", "a coordinate"),
        ("customer=Person,item=Breite+Länge@0,date=Zeitpunkt", "Breite"),
    ):
        words = [tracks, "--columns", columns, "--method", "perturb", "--out", tmp_path / "A.csv"]
        refused = tokumei("anonymize", "history", *words)
        assert (refused.returncode, expected in refused.stderr) == (2, True), refused.stderr
