"""The defense with a proven bound on the 2017 set: what it costs, and that every attack stays under a quarter."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.attacks.history.attribution import attribute_release
from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.history.dealing import deal, draw_holders
from tokumei.methods.history.permute_groups import PermuteGroups, hand_out
from tokumei.reports.evaluation import CONTEST_UTILITIES
from tokumei.tasks.predict_history import predict_history


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


def test_dealt_days_hide_whose_purchases_are_in_groups_and_open_customers_keep_theirs_in_sight(
    shared_data: Path,
) -> None:
    original = read_history(shared_data / "pwscup2017" / "T.csv.gz")
    groups = PermuteGroups(bound=0.25).group(original)
    bound = groups.promise_of_rows
    # The 80 customers who are left open have nearly four fifths of the rows.
    assert (bound["open_rows"], bound["blocks"]) == (29_650, 1_527)
    assert bound["attribution_bound"] == pytest.approx(0.820, abs=0.001)
    dealt = deal(original, groups, "rows", generator(1, "permute-groups", "deal"))
    holders = draw_holders(groups, generator(1, "permute-groups", "hand out"))
    known = original.known(0.25, seed=1, item_characters=None)
    shares = []
    for way in (dealt.with_columns(pl.col("row").alias("day_of")), dealt):
        release = hand_out(original, groups, way, holders, hides_baskets=True, seed=1)
        assert release.rows is not None
        found, _ = attribute_release(original, History(release.frame), release.rows, known)
        assert found.shared is not None
        assert found.shared.baseline == pytest.approx(0.185, abs=0.01)
        shares.append(found.shared.value)
    in_place, dealt_out = shares
    assert in_place > 0.75
    assert dealt_out < 0.25


def test_six_tenths_of_the_purchases_with_their_buyers_cost_half_of_the_use_as_predicted(shared_data: Path) -> None:
    original = read_history(shared_data / "pwscup2017" / "T.csv.gz")
    [free, held] = predict_history(original, bound=0.25, attributed=[1.0, 0.6]).predicted
    assert (held.facts["open"], held.facts["groups"], held.facts["rows_cut"]) == (14, 97, 12_050)
    assert held.facts["attribution_bound"] == pytest.approx(0.594, abs=0.001)
    # Merged on by the rows that they lose alone, customers lost .885.
    release = History(PermuteGroups(bound=0.25, attributed=0.6).anonymize(original, seed=1).frame)
    loss = max(HISTORY_UTILITIES.make(name).measure(original, release).value for name in CONTEST_UTILITIES)
    assert loss == pytest.approx(0.491, abs=0.002)
    assert held.facts["lost"] == pytest.approx(loss, abs=0.02)
    assert free.facts["lost"] == pytest.approx(0.223, abs=0.02)
