"""Which values occur, counted with noise: the threshold by hand, its chance, and what it costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2, norm

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.synthetic import paid_domains as module
from tokumei.methods.synthetic.account import Account
from tokumei.methods.synthetic.paid_domains import Payment, paid_columns, paid_domains
from tokumei.methods.synthetic.private_noise import Coins, discrete_gaussian, rho_of


def test_noise_and_threshold_of_the_docstring() -> None:
    payment = Payment(1 / 8, 1e-4, 1, 1)
    assert payment.sigma == 2
    assert payment.threshold == pytest.approx(9.58, abs=0.01)
    # Two columns and three rows of a person: each count spends 9/(2σ²), both together ρ.
    several = Payment(0.1, 1e-6, 2, 3)
    assert 2 * 9 / (2 * several.sigma**2) == pytest.approx(0.1)


def test_value_of_one_person_is_told_as_seldom_as_promised_and_noise_is_as_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    payment, noise = Payment(1 / 8, 0.05, 1, 1), list[int]()

    def drawn(sigma: float, n: int, coins: Coins) -> Any:
        found = discrete_gaussian(sigma, n, coins)
        noise.extend(found.tolist())
        return found

    monkeypatch.setattr(module, "discrete_gaussian", drawn)
    original = Original(pl.DataFrame({"city": ["a"] * 60 + ["b"]}), ())
    n, told = 2_000, 0
    for seed in range(n):
        labels = paid_domains(original, {"city": None}, payment, Coins(seed), is_complete=True)["city"].labels
        assert "a" in labels
        told += "b" in labels
    # The bound e^(−t²/2σ²) of the tail is above the tail of the noise itself.
    tail = float(norm.sf((payment.threshold - 1.5) / payment.sigma))
    assert told / n < payment.delta
    assert told / n == pytest.approx(tail, abs=5 * math.sqrt(tail / n))
    squares = float(np.square(noise).sum())
    assert chi2.ppf(1e-6, len(noise)) < squares / payment.sigma**2 < chi2.ppf(1 - 1e-6, len(noise))
    for wrong in (1.15, 1 / 1.15):
        assert not chi2.ppf(1e-6, len(noise)) < squares / (wrong * payment.sigma) ** 2 < chi2.ppf(1 - 1e-6, len(noise))


def test_range_of_numbers_ends_at_powers_of_two() -> None:
    numbers = [17, 40, 90] * 2_000 + [10**9]
    original = Original(pl.DataFrame({"age": numbers, "debt": [-n for n in numbers]}), ("age", "debt"), ("age", "debt"))
    found = paid_domains(original, {"age": 4, "debt": 2}, Payment(0.1, 1e-9, 2, 1), Coins(1), is_complete=False)
    age, debt = (found[name].edges for name in ("age", "debt"))
    assert age is not None
    assert debt is not None
    # 17 lies below 32 and not below 16, 90 below 128; one person's 10⁹ does not count.
    assert (int(age[0]), int(age[-1])) == (16, 128)
    assert (int(debt[0]), int(debt[-1])) == (-127, -15)
    assert (len(age), len(debt)) == (5, 3)


@pytest.mark.parametrize("text", ["city=?/", "city=?/0", "city=?x"])
def test_wish_that_cannot_be_read_is_one_clear_error(text: str) -> None:
    with pytest.raises(InputError, match="counts which labels occur"):
        paid_columns([text], ["city"])


def test_release_counts_its_domain_and_enters_what_it_spent(tmp_path: Any) -> None:
    account = tmp_path / "account.toml"
    account.write_text("epsilon = 3\ndelta = 1e-6\n")
    people = pl.DataFrame({"city": ["Kyoto", "Osaka"] * 1_000 + ["Nara"], "age": [20, 60] * 1_000 + [99]})
    made = tk.anonymize(
        tk.Table(people, qi=["city", "age"]),
        method="mst",
        domain=["city=?", "age=?/8"],
        epsilon=2.0,
        delta=1e-7,
        hold_out=0,
        anyway=True,
        budget=str(account),
    )
    assert set(made.frame["city"].drop_nulls()) == {"Kyoto", "Osaka"}
    assert made.recipe.options["domains_counted"] == ["age", "city"]
    rho = rho_of(2.0, 0.9e-7)
    assert made.recipe.options["domains_rho"] == pytest.approx(rho / 10)
    entered = Account.read(account).entries[0]
    assert entered.rho == pytest.approx(rho)
    assert entered.delta == pytest.approx(1e-8)


def test_account_whose_delta_is_spent_has_nothing_left() -> None:
    from tokumei.methods.synthetic.account import Spending

    account = Account(3.0, 1e-9, "key", (Spending(0.001, delta=1e-9),))
    assert not account.is_kept
    assert account.left_epsilon == 0
