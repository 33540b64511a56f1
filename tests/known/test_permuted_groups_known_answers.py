"""The defense with a proven bound on the 2017 set: what it costs, and that every attack stays under a quarter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.history.permute_groups import PermuteGroups
from tokumei.reports.evaluation import CONTEST_UTILITIES


def test_permuted_groups_lose_a_third_and_let_no_attack_find_a_quarter(shared_data: Path) -> None:
    folder = shared_data / "pwscup2017"
    original = read_history(folder / "T.csv.gz")
    release = PermuteGroups(bound=0.2).anonymize(original, seed=1)
    released = History(release.frame)
    assert release.recipe.found["bound"] == pytest.approx(0.2)
    assert (release.recipe.found["open"], release.recipe.found["groups"]) == (58, 42)
    loss = max(HISTORY_UTILITIES.make(name).measure(original, released).value for name in CONTEST_UTILITIES)
    assert loss == pytest.approx(0.311, abs=0.002)
    truth, seen = truth_of(original, released), published(released, seed=1)
    for share in (25, 100):
        known = read_knowledge(folder / f"T{share}.csv.gz")
        for name in HISTORY_ATTACKS:
            guesses = HISTORY_ATTACKS.make(name).guess(known, seen)
            assert judge(guesses, truth, original.customers, original.periods).row.value <= 0.25, name
