"""What hardening the 2017 set under yearly pseudonyms costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.reports.evaluation import CONTEST_UTILITIES
from tokumei.tasks.harden_history import harden_history

pytestmark = pytest.mark.slow


def test_every_attack_is_under_the_bound_at_the_use_of_the_docs(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "pwscup2017"
    pipeline = tmp_path / "year.toml"
    pipeline.write_text('[[step]]\nmethod = "pseudonyms"\nlifetime = 12\n')
    done = harden_history(
        read_history(folder / "T.csv.gz"),
        pipeline=pipeline,
        bound=0.25,
        knowledge={"25": read_knowledge(folder / "T25.csv.gz"), "100": read_knowledge(folder / "T100.csv.gz")},
        attacks=["linkage", "row-counts"],
        changes=["permute"],
        seed=1,
    )
    assert max(done.found.before.values()) == 1
    assert max(done.found.after.values()) <= 0.25
    assert max(done.losses[name][1] for name in CONTEST_UTILITIES) == pytest.approx(0.222, abs=0.01)
    # The customers who are left open have most of the rows.
    assert done.facts["attributed"] == pytest.approx(0.85, abs=0.03)
