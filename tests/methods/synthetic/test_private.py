"""MST and AIM: what each step spends and how much noise it has, who is protected, and what may be known beforehand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.synthetic import aim, mst, private
from tokumei.methods.synthetic.aim import Aim
from tokumei.methods.synthetic.domains import domains_of
from tokumei.methods.synthetic.graphical_model import GraphicalModel, Measurement
from tokumei.methods.synthetic.mst import Merged, Mst, chosen_tree
from tokumei.methods.synthetic.private import PrivateRows, truncated
from tokumei.methods.synthetic.private_noise import Coins, gaussian_rho, rho_of

N = 2_000
RANDOM = np.random.default_rng(0)
SEX = RANDOM.integers(0, 2, N)
PEOPLE = pl.DataFrame(
    {
        "sex": np.array(["f", "m"])[SEX],
        "smokes": np.array(["no", "yes"])[np.where(RANDOM.random(N) < 0.9, SEX, 1 - SEX)],
        "age": 20 + RANDOM.integers(0, 40, N),
        "who": np.arange(N) // 4,
    }
)
DOMAIN = ["sex=f|m", "smokes=no|yes", "age=20..59/8"]


def table(frame: pl.DataFrame = PEOPLE, **roles: Any) -> tk.Table:
    return tk.Table(frame, qi=["sex", "age"], sensitive=["smokes"], **roles)


class Recorded(PrivateRows):
    """Rows that remember how much noise was added."""

    noise: dict[float, list[float]]

    def measure(self, clique: Any, sigma: float) -> Measurement:
        """Measure, and keep the noise of each cell."""
        found = super().measure(clique, sigma)
        self.__dict__.setdefault("noise", {}).setdefault(sigma, []).extend((found.counts - self.count(clique)).ravel())
        return found


def rows(seed: int, most_rows: int = 1) -> Recorded:
    codes = tuple(np.random.default_rng(seed).integers(0, size, 300) for size in (2, 3, 6))
    return Recorded(codes, (2, 3, 6), most_rows, Coins(seed))


def has_deviation(noise: list[float], sigma: float) -> bool:
    """Whether the squares of noise add up as those of so much noise would, in 999 of 1,000 cases."""
    return bool(chi2.ppf(0.0005, len(noise)) < np.square(noise).sum() / sigma**2 < chi2.ppf(0.9995, len(noise)))


@pytest.mark.parametrize("most_rows", [1, 3])
def test_noise_of_each_count_of_mst_is_that_of_a_third_of_the_budget(
    monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    seen: dict[int, list[float]] = {1: [], 2: []}
    measure = PrivateRows.measure

    def recorded(self: PrivateRows, clique: Any, sigma: float) -> Measurement:
        found = measure(self, clique, sigma)
        seen[len(clique)] += (found.counts - self.count(clique)).ravel().tolist()
        return found

    monkeypatch.setattr(PrivateRows, "measure", recorded)
    # How well the model fits decides nothing about the noise.
    monkeypatch.setattr(mst, "N_STEPS", 2)
    monkeypatch.setattr(private, "LAST_STEPS", 2)
    rho = 0.1
    for seed in range(60):
        _, cliques, spent = Mst().fitted(rows(seed, most_rows), rho)
        assert spent == pytest.approx(rho)
        assert [len(one) for one in cliques] == [1, 1, 1, 2, 2]
    for columns, sigma in ((1, math.sqrt(3 * 3 / (2 * rho))), (2, math.sqrt(3 * 2 / (2 * rho)))):
        assert has_deviation(seen[columns], most_rows * sigma)
        for wrong in (1.15, 1 / 1.15):
            assert not has_deviation(seen[columns], most_rows * sigma * wrong)


def test_noise_of_the_first_counts_of_aim_is_that_of_its_rounds_and_all_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name in ((aim, "STEPS_PER_ROUND"), (aim, "LAST_STEPS"), (private, "LAST_STEPS")):
        monkeypatch.setattr(module, name, 1)
    rho, noise = 0.5, list[float]()
    sigma = math.sqrt(16 * 3 / (2 * 0.9 * rho))
    for seed in range(40):
        told = rows(seed)
        _, cliques, spent = Aim().fitted(told, rho)
        assert spent == pytest.approx(rho)
        assert [len(one) for one in cliques[:3]] == [1, 1, 1]
        noise += told.noise[sigma]
        # Each further deviation is half of the one before, but the last, which uses up what is left.
        for one in list(told.noise)[:-1]:
            assert math.log2(sigma / one) == pytest.approx(round(math.log2(sigma / one)))
    assert has_deviation(noise, sigma)
    for wrong in (1.1, 1 / 1.1):
        assert not has_deviation(noise, sigma * wrong)


def test_pair_that_goes_together_is_chosen_as_often_as_its_score_says() -> None:
    codes = (np.repeat([0, 1], 20), np.repeat([0, 1], 20), np.tile([0, 1], 20))
    model = GraphicalModel.fit(
        [2, 2, 2], [Measurement((one,), np.array([20.0, 20.0]), 1.0) for one in range(3)], n_steps=9
    )
    # Pair (0, 1) has 20 rows in two cells where 10 are expected in four: a distance of 40. The others have none.
    n, epsilon, first = 1_500, 0.1, 0
    for seed in range(n):
        first += chosen_tree(PrivateRows(codes, (2, 2, 2), 1, Coins(seed)), model, epsilon)[0] == (0, 1)
    chance = math.exp(epsilon * 40 / 2) / (math.exp(epsilon * 40 / 2) + 2)
    assert first / n == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / n))
    twice = math.exp(epsilon * 40) / (math.exp(epsilon * 40) + 2)
    assert first / n < twice - 4 * math.sqrt(twice * (1 - twice) / n)


def test_cells_below_three_deviations_become_one_and_are_drawn_evenly() -> None:
    measured = Measurement((0,), np.array([50.0, 5.0, -2.0, 31.0]), 10.0)
    merged = Merged.of(measured)
    assert merged.cell_of.tolist() == [0, 2, 2, 1]
    told = merged.told(measured)
    assert told.counts.tolist() == [50, 31, 3]
    assert np.asarray(told.sigma) == pytest.approx([10, 10, 10 * math.sqrt(2)])
    drawn = merged.spread(np.full(1_000, 2), np.random.default_rng(0))
    assert set(drawn.tolist()) == {1, 2}
    # One alone stays what it is.
    assert Merged.of(Measurement((0,), np.array([50.0, 5.0]), 10.0)).cell_of.tolist() == [0, 1]


@pytest.mark.parametrize("method", ["mst", "aim"])
def test_release_keeps_what_goes_together_and_says_what_it_promises(method: str) -> None:
    made = tk.anonymize(table(), method=method, hold_out=0, anyway=True, epsilon=5.0, delta=1e-6, domain=DOMAIN)
    released = made.frame
    assert released.columns == ["sex", "smokes", "age"]
    assert released.schema["age"] == pl.Int64
    assert released["age"].drop_nulls().is_between(20, 59).all()
    assert released.height == pytest.approx(N, abs=200)
    both = released.drop_nulls()
    assert ((both["sex"] == "f") == (both["smokes"] == "no")).mean() == pytest.approx(0.9, abs=0.06)
    promise = made.promises["epsilon"]
    assert promise.value == 5.0
    assert promise.inputs["delta"] == 1e-6
    assert promise.inputs["rho"] == pytest.approx(rho_of(5.0, 1e-6))
    assert promise.inputs["protects"] == "rows, each of another person"
    assert made.recipe.seed is None
    assert made.rows is None
    with pytest.raises(tk.errors.NotAllowed, match="spends budget"):
        tk.apply(made.recipe, PEOPLE)


def test_seed_is_refused_unless_nothing_is_promised() -> None:
    with pytest.raises(InputError, match="no seed"):
        tk.anonymize(table(), method="mst", hold_out=0, anyway=True, domain=DOMAIN, seed=1)
    one, again = (
        tk.anonymize(
            table(), method="mst", hold_out=0, anyway=True, domain=DOMAIN, seed=1, reproducible=True, n_rows=50
        )
        for _ in range(2)
    )
    assert one.frame.equals(again.frame)
    assert one.promises == {}
    assert one.frame.height == 50


def test_people_with_several_rows_ask_how_many_count() -> None:
    people = table(person="who")
    with pytest.raises(InputError, match="how many rows of one person count"):
        tk.anonymize(people, method="mst", hold_out=0, anyway=True, domain=DOMAIN)
    made = tk.anonymize(people, method="mst", hold_out=0, anyway=True, domain=DOMAIN, most_rows=2, epsilon=3.0)
    assert "who" not in made.frame.columns
    assert made.promises["epsilon"].inputs["protects"] == "people of column who, of whose rows 2 count"
    # Two of the four rows of each.
    assert made.frame.height == pytest.approx(N / 2, abs=300)
    with pytest.raises(InputError, match="tells whose a row is"):
        empty = PEOPLE.with_columns(who=pl.when(pl.col("who") > 3).then("who"))
        tk.anonymize(table(empty, person="who"), method="mst", hold_out=0, anyway=True, domain=DOMAIN, most_rows=2)


def test_rows_beyond_those_that_count_are_left_out_at_random_and_one_persons_do_not_move_anothers() -> None:
    whose = pl.Series("who", ["a"] * 5 + ["b"] * 2 + ["c"])
    original = Original(pl.DataFrame({"x": range(8)}), ("x",), whose=whose)
    kept = [truncated(original, 2, np.random.default_rng(seed)).frame["x"].to_list() for seed in range(30)]
    assert {tuple(one[-3:]) for one in kept} == {(5, 6, 7)}
    assert all(len(one) == 5 for one in kept)
    assert {row for one in kept for row in one[:2]} == {0, 1, 2, 3, 4}


def test_noise_grows_with_the_rows_of_a_person() -> None:
    assert Mst().first_sigma(9, 0.1, 3) == 3 * Mst().first_sigma(9, 0.1, 1)
    assert gaussian_rho(Mst().first_sigma(9, 0.1, 3), 3) * 9 == pytest.approx(0.1 / 3)
    assert Aim().first_sigma(9, 0.1, 3) == pytest.approx(3 * math.sqrt(144 / 0.18))


def test_domain_is_declared_or_the_column_is_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match="a hierarchy or a domain") as caught:
        tk.anonymize(table(), method="mst", hold_out=0, anyway=True, domain=["sex=f|m", "age=20..59"])
    assert caught.value.faults[0].column == "smokes"
    trees = {"smokes": FromData().build("smokes", PEOPLE["smokes"])}
    made = tk.anonymize(
        tk.Table(PEOPLE, qi=["smokes", "age"], hierarchies=trees),
        method="mst",
        hold_out=0,
        anyway=True,
        domain=["age=20..59"],
        epsilon=9.0,
    )
    assert set(made.frame["smokes"].drop_nulls()) == {"no", "yes"}


@pytest.mark.parametrize("text", ["age", "age=", "age=9..1", "age=a..b", "age=1..9/0", "nobody=f|m", "age=1..x/2"])
def test_domain_that_cannot_be_read_is_one_clear_error(text: str) -> None:
    with pytest.raises(InputError, match="column=value"):
        tk.anonymize(table(), method="mst", hold_out=0, anyway=True, domain=[text])


def test_cells_of_declared_domains_by_hand() -> None:
    frame = pl.DataFrame(
        {
            "sex": ["f", "m", "x", None],
            "age": [5, 20, 29, 99],
            "price": ["0.00", "0.99", "1.00", "2.00"],
            "day": ["2020-01-01", "2020-01-31", "1999-01-01", None],
        }
    )
    declared = ["sex=f|m", "age=20..29/2", "price=0.00..1.99/2", "day=2020-01-01..2020-01-31/31"]
    original = Original(frame, ("price",), ("price",))
    found = domains_of(original, frame.columns, declared, [], is_complete=False)
    # What is beyond goes to the nearest bin; an unknown label and a missing value are missing.
    assert [one.encode(original).tolist() for one in found] == [
        [0, 1, 2, 2],
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 30, 0, 31],
    ]
    assert [one.size for one in found] == [3, 3, 3, 32]
    random = np.random.default_rng(0)
    days = found[3].write(np.array([0, 30, 31]), pl.String, random)
    assert days.to_list() == ["2020-01-01", "2020-01-31", None]
    prices = found[2].write(np.array([0] * 50 + [1] * 50), pl.String, random)
    assert prices[:50].cast(pl.Float64).max() <= 0.99 < 1.0 <= prices[50:].cast(pl.Float64).min()  # type: ignore[operator]
    assert set(prices.str.len_chars()) == {4}
    whole = domains_of(original, ["sex"], ["sex=f|m"], [], is_complete=True)[0]
    assert whole.encode(original).tolist() == [0, 1, 0, 0]


def test_level_of_a_hierarchy_is_a_domain() -> None:
    tree = FromData().build("age", PEOPLE["age"])
    level = tree.height
    made = tk.anonymize(
        tk.Table(PEOPLE, qi=["age"], hierarchies={"age": tree}),
        method="mst",
        hold_out=0,
        anyway=True,
        levels=[f"age={level}"],
        epsilon=9.0,
    )
    assert made.frame["age"].drop_nulls().unique().to_list() == ["*"]
    with pytest.raises(InputError, match="column=level"):
        tk.anonymize(
            tk.Table(PEOPLE, qi=["age"]), method="mst", hold_out=0, anyway=True, levels=["age=1"], domain=["age=1..99"]
        )


def test_noise_that_is_too_large_is_refused_before_anything_is_spent(tmp_path: Any) -> None:
    account = tmp_path / "account.toml"
    account.write_text("epsilon = 1\ndelta = 1e-9\n")
    with pytest.raises(InputError, match="more epsilon"):
        tk.anonymize(
            table(),
            method="aim",
            hold_out=0,
            anyway=True,
            epsilon=0.001,
            domain=DOMAIN,
            most_rows=50,
            budget=str(account),
        )
    assert account.read_text() == "epsilon = 1\ndelta = 1e-9\n"


@pytest.mark.parametrize(
    ("option", "value"), [("epsilon", 0), ("delta", 0), ("delta", 1), ("most_rows", 0), ("hold_out", 1)]
)
def test_option_beyond_its_bounds_is_refused(option: str, value: float) -> None:
    given: Any = {option: value}
    with pytest.raises(InputError) as caught:
        tk.anonymize(table(), method="mst", domain=DOMAIN, **given)
    assert caught.value.faults[0].option == option
