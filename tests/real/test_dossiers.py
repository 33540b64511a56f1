"""From raw files to dossiers by three commands, as the start page shows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.journey.commands import tokumei_here

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult" / "adult.csv.gz"


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not here")
def test_adult_goes_from_raw_file_to_dossier_by_three_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Every tenth row, so that the test is short; the whole takes ten seconds of computing.
    lines = gzip.decompress(ADULT.read_bytes()).decode().splitlines()
    (tmp_path / "adult.csv").write_text("\n".join([lines[0], *lines[1::10]]) + "\n")
    job, out = tmp_path / "job.toml", tmp_path / "out"
    code, found = tokumei_here(capsys, "inspect", tmp_path / "adult.csv", "--job", job)
    roles = [one["role"] for one in found["columns"].values()]
    assert (code, roles.count("quasi-identifier"), roles.count("sensitive")) == (0, 8, 1)
    text = job.read_text(encoding="utf-8")
    assert "# l_diversity" in text
    job.write_text(text.replace("# l_diversity", "l_diversity"), encoding="utf-8")
    code, done = tokumei_here(capsys, "run", job, "--out", out)
    assert (code, done["holds"]) == (0, True)
    dossier = json.loads((out / "dossier.json").read_text(encoding="utf-8"))
    attacks = {one["attack"]: one["scores"] for one in dossier["results"]["attacks"]}
    certain = [scores["certain"]["value"] for scores in attacks.values() if "certain" in scores]
    # With two salaries in every class, nobody's is told with certainty.
    assert certain == [0.0, 0.0]
    # The job names no such attack, and still it is measured what labels give away.
    score = attacks["downcoding"]["singled-out"]
    clauses = [one for page in dossier["frameworks"] for one in page["clauses"] if one["title"] == "Singling out"]
    law = next(one for one in clauses if one["evidence"].startswith("downcoding"))
    # Nobody stated what an attack may gain, so that nothing is met by it.
    assert (law["verdict"], law["outcome"]) == ("measured", None)
    for figure in (score["value"], *score["interval"], score["baseline"]):
        assert f"{100 * figure:.3g}" in law["evidence"]
    assert len(dossier["frameworks"]) == 11
    assert {f"{name}{end}" for name in ("report", "public") for end in (".html", ".ja.html", ".md", ".ja.md")} <= {
        one.name for one in out.iterdir()
    }
