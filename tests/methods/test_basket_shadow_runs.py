"""What shadow runs find of one customer of `dp-baskets`, beside what is promised."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.basket_shadow_runs import WatchedNoise, basket_shadow_runs, worst_customers
from tokumei.methods.history.dp_baskets import PARTS, Added, DpBaskets
from tokumei.methods.history.drawn_customers import Baskets
from tokumei.methods.history.noisy_baskets import Noise
from tokumei.methods.synthetic.private_noise import Coins, rho_of

METHOD = DpBaskets(epsilon=2.0, delta=1e-2, most_items=5, most_months=3, most_together=3)


class Counting(WatchedNoise):
    """Adds no noise, so that what is written down is the counts."""

    def add(self, name: str, counts: np.ndarray) -> np.ndarray:
        self.answers.append(counts)
        return counts


def test_the_customer_moves_every_count_by_as_many_cells_as_noise_is_made_for() -> None:
    told = replace(METHOD, months="2011-01..2011-03")
    names = [f"i{at}" for at in range(5)]
    seen = []
    for is_in in (False, True):
        added = Added.of(Baskets.of(worst_customers(told, with_customer=is_in)), told, generator(1, "chosen"))
        noise = Counting(told.cells(), told.noise((), 1.0, 1).rhos, Coins(1, "no noise"))
        told.counted(added, noise, names, 0.0)
        seen.append(noise.answers)
    moved = [np.abs(one - other) for one, other in zip(*seen, strict=True)]
    assert all(one.max() == 1 for one in moved)
    assert sorted(int(one.sum()) for one in moved) == sorted(told.cells().values())
    assert len(moved) == len(PARTS)


def test_log_ratio_of_one_count_by_hand() -> None:
    """Of 7 where 5 and 6 were counted, with σ = 2: −(2² − 1²) / 8 = −3/8 more by the second."""
    rhos = {"items": 1 / 8}
    mine = WatchedNoise({"items": 1}, rhos, Coins(1, "hand"), follows=[np.array([7])])
    other = replace(mine, answers=[], log_chance=[])
    mine.add("items", np.array([5]))
    other.add("items", np.array([6]))
    assert mine.sigma("items") == 2
    assert mine.log_chance[0] - other.log_chance[0] == pytest.approx(-3 / 8)


@dataclass(frozen=True, kw_only=True)
class Leaking(DpBaskets):
    """Counts with a third of the noise that it promises."""

    def noise(self, absent: object, rho: float, seed: int) -> Noise:
        return super().noise(absent, 9 * rho, seed)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_runs_find_the_promise_and_a_third_of_the_noise_is_found_out() -> None:
    kept = basket_shadow_runs(METHOD, 100, seed=1)
    assert kept.promised == pytest.approx(math.sqrt(2 * rho_of(2.0, 5e-3)))
    assert kept.is_kept
    assert kept.low < kept.empirical < kept.high
    assert kept.high > kept.promised / 2
    fields = {name: getattr(METHOD, name) for name in ("epsilon", "delta", "most_items", "most_months")}
    assert not basket_shadow_runs(Leaking(**fields, most_together=3), 100, seed=1).is_kept


@pytest.mark.slow
def test_release_states_what_runs_found_and_few_runs_are_refused() -> None:
    history = History(make_retail(60, seed=1))
    made = tk.anonymize(
        history, method="dp-baskets", epsilon=5_000.0, delta=1e-2, most_months=2, anyway=True, shadow_runs=100
    )
    audit = made.facts["audit"]
    assert audit["shadow_runs"]["n_runs"] == 100
    assert audit["promised_mu"] == audit["shadow_runs"]["promised"]
    assert "shadow runs with and without one person" in " ".join(str(one) for one in made.sections())
    with pytest.raises(InputError, match="shadow_runs"):
        DpBaskets(shadow_runs=7)
