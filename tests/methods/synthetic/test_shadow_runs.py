"""What counts with noise tell of one person: worked by hand, found by runs, and too much if the noise is too small."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.methods.synthetic import private
from tokumei.methods.synthetic.aim import Aim
from tokumei.methods.synthetic.graphical_model import Measurement
from tokumei.methods.synthetic.mst import Mst
from tokumei.methods.synthetic.private_noise import Coins, discrete_gaussian, rho_of
from tokumei.methods.synthetic.shadow_runs import Transcript, WatchedRows, mu_between, shadow_runs, worst_rows


def test_mu_of_two_normal_samples_lies_in_its_interval() -> None:
    random = np.random.default_rng(0)
    kept = 0
    for seed in range(300):
        low, mu, high = mu_between(random.normal(0, 1, 400), random.normal(0.5, 1, 400), seed=seed)
        assert low <= mu <= high
        kept += low <= 0.5 <= high
    # 95 % or more; fewer than 270 of 300 would be seen once in 10⁻⁴ such tests, if it were 95 %, and seeds are fixed.
    assert kept >= 276


def test_mu_of_the_docstring() -> None:
    without = np.concatenate([np.full(90, 0.0), np.full(10, 2.0)])
    within = np.concatenate([np.full(20, 0.0), np.full(80, 2.0)])
    found = mu_between(np.tile(without, 50), np.tile(within, 50), seed=1)
    assert found[1] == pytest.approx(norm.ppf(0.9) - norm.ppf(0.2), abs=0.05)


def test_chance_of_a_count_and_of_a_choice_by_hand() -> None:
    codes = (np.array([0, 0, 1]),)
    told = Transcript([Measurement((0,), np.array([4.0, 1.0]), 2.0), 1])
    rows = WatchedRows(codes, (2,), 1, Coins(1), follows=told)
    assert rows.measure((0,), 2.0).counts.tolist() == [4, 1]
    # A noise of 2 at σ = 2.
    assert rows.seen.log_chance == pytest.approx(-1 / 2)
    assert rows.choose([0.0, 3.0], 1.0, 2.0) == 1
    assert rows.seen.log_chance == pytest.approx(-1 / 2 + 3 - math.log(1 + math.exp(3)))


def test_one_person_moves_each_count_by_one_and_distances_up_and_down() -> None:
    without, within = worst_rows(with_person=False), worst_rows(with_person=True)
    assert [one.sum() for one in without] == [500] * 4
    assert [one.sum() for one in within] == [501] * 4
    both = [int((without[0] & one).sum()) for one in without[1:]]
    assert both == [500, 0, 0]


@pytest.mark.slow
def test_runs_of_mst_find_the_promise_and_a_third_of_the_noise_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method, n = Mst(epsilon=8.0, delta=1e-2), 100
    found = shadow_runs(method, n, seed=1)
    assert found.promised == pytest.approx(math.sqrt(2 * rho_of(8.0, 1e-2)))
    assert found.is_kept
    assert found.low > 0.4 * found.promised

    def too_little(sigma: float, size: int, coins: Coins) -> Any:
        return discrete_gaussian(sigma / 3, size, coins)

    monkeypatch.setattr(private, "discrete_gaussian", too_little)
    broken = shadow_runs(method, n, seed=1)
    assert not broken.is_kept


@pytest.mark.slow
def test_runs_of_aim_keep_the_promise() -> None:
    found = shadow_runs(Aim(epsilon=8.0, delta=1e-2), 20, seed=1)
    assert found.is_kept
    assert found.empirical > 0


def test_release_says_what_was_promised_and_found() -> None:
    people = tk.Table(pl.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no", "yes"] * 50}), qi=["sex", "smokes"])
    domain = ["sex=f|m", "smokes=no|yes"]
    made = tk.anonymize(people, method="mst", domain=domain, hold_out=0, anyway=True, epsilon=3.0, shadow_runs=20)
    audit = made.facts["audit"]
    assert audit["promised_mu"] == pytest.approx(math.sqrt(2 * rho_of(3.0, 1e-9)))
    assert audit["shadow_runs"]["n_runs"] == 20
    said = " ".join(str(one) for one in made.sections())
    assert "Found by 20 shadow runs" in said
    with pytest.raises(InputError, match="0, or a whole number of 20 or more"):
        tk.anonymize(people, method="mst", domain=domain, shadow_runs=5)
