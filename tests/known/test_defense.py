"""The pipeline that the docs show: the best built-in attack finds fewer than a fifth."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tokumei.anonymize.pipeline import pipeline_of
from tokumei.attack.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.data.history import History
from tokumei.report.evaluation import evaluate

DOCS = Path(__file__).resolve().parents[2] / "docs" / "howto" / "histories.md"


def test_pipeline_of_the_docs_keeps_every_attack_under_a_fifth(shared_data: Path) -> None:
    pipelines = [block for block in re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL) if "0.25" in block]
    original = read_history(shared_data / "pwscup2017" / "T.csv.gz")
    known = {"25": read_knowledge(shared_data / "pwscup2017" / "T25.csv.gz")}
    release = pipeline_of(tomllib.loads(pipelines[0])).anonymize(original, seed=1)
    done = evaluate(original, History(release.frame), known, attacks=HISTORY_ATTACKS.names())
    assert done.best_attack("25")[1] < 0.2
    assert done.contest_utility < 0.89
