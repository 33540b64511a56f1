"""A contest goes to Codabench and its results come back, as an organizer types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contest.codabench_server import faults_of, results_csv
from tests.journey.commands import tokumei, tokumei_json

TIMES = ["--start", "2026-08-01T09:00", "--attacks", "2026-08-15", "--end", "2026-08-29"]


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest of two teams whose attacks have begun."""
    folder = tmp_path_factory.mktemp("journey") / "cup"
    options = ["--set", "n_customers=12"]
    tokumei_json("contest", "prepare", "--edition", "pwscup2018", "--out", folder, "--seed", 1, *options)
    for team, name in (("alpha", "generalize-2"), ("beta", "months")):
        tokumei_json("contest", "submit", folder, "--team", team, "--with", name)
    tokumei_json("contest", "publish", folder)
    return folder


def test_contest_goes_to_codabench_and_its_results_come_back(cup: Path, tmp_path: Path) -> None:
    bundle, image = tmp_path / "bundle.zip", ["--image", "me/tokumei:1"]
    words = ["contest", "export", cup, "--codabench", *image, *TIMES, "--show-verdicts", "--out", bundle]
    found = tokumei_json(*words)
    assert (found["phase"], "competition.yaml" in found["files"]) == ("attack", True)
    assert faults_of(bundle) == []
    first = bundle.read_bytes()
    # It holds the truth, so that only its owner may read it; and it is replaced when asked alone.
    assert bundle.stat().st_mode & 0o777 == 0o600
    assert tokumei(*words).returncode == 2
    tokumei_json(*words, "--force")
    assert bundle.read_bytes() == first
    scores = {"alpha": {"guesses": 1, "found": 0.25, "found_002": 0.25}, "beta": {"guesses": 1, "found_001": 0.75}}
    table = results_csv(bundle, 1, scores, tmp_path / "results.csv")
    ranked = tokumei_json("contest", "export", cup, "--codabench", "--import", table)
    assert [(line["team"], line["found"]) for line in ranked["attackers"]] == [("beta", 0.75), ("alpha", 0.25)]
    assert {line["team"] for line in ranked["ranking"]} == {"alpha", "beta"}
    assert "Attackers" in tokumei("contest", "export", cup, "--codabench", "--import", table).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--codabench"),
        (["--codabench"], "--out and --image, or --import"),
        (["--codabench", "--out", "bundle.zip"], "--out and --image, or --import"),
        (["--codabench", "--import", "results.csv", "--out", "bundle.zip"], "either --import or --out"),
        (["--codabench", "--import", "results.csv"], "a file that exists"),
        (["--codabench", "--image", "i", "--out", "bundle.zip", "--team", "alpha"], "no team: all have the same data"),
        (["--codabench", "--image", "i", "--out", "bundle.zip", "--start", "now"], "a time such as"),
    ],
)
def test_export_that_cannot_be_done_says_why(cup: Path, tmp_path: Path, words: list[str], said: str) -> None:
    done = tokumei("contest", "export", cup, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []
