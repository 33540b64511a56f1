"""Two releases without truth: chances worked out by hand, the fast way beside the plain one, and made shops."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from tests.journey.commands import tokumei, tokumei_json

import tokumei as tk
from tokumei.attacks.history import link_releases
from tokumei.attacks.history.link_releases import Model, chances_of, one_to_one
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.tasks.link_releases import LinkedReleases, judge_links

MIDDLE = dt.date(2011, 6, 1)


@pytest.fixture(scope="module")
def shop() -> pl.DataFrame:
    return make_retail(160, n_rows=16_000, seed=5).drop("invoice")


def test_chances_of_two_by_two_worked_out_by_hand() -> None:
    """With odds 9 of both right pairs and 1/9 of the wrong ones, by symmetry all names have the same factor x = y.

    With s in both, x² s (9 + 1/9) / 4 + x (1 − s / 2) = 1; the chances of all pairs add up to 2 x² s (9 + 1/9) / 4,
    which is s where x² (9 + 1/9) / 2 = 1: x = .4685. Then .4685 (1 − s / 2) = 1 − s / 2, so that s = 2.
    """
    odds = np.log([[9.0, 1 / 9], [1 / 9, 9.0]])
    chances, n_both = chances_of(sparse.csr_array(odds))
    assert n_both == pytest.approx(2, abs=0.02)
    assert chances.toarray() == pytest.approx(np.array([[81, 1], [1, 81]]) / 82, abs=0.01)


def test_nobody_is_in_both_where_all_odds_are_against_it() -> None:
    chances, n_both = chances_of(sparse.csr_array(np.full((3, 4), np.log(0.01))))
    assert n_both < 0.05
    assert chances.sum() == pytest.approx(n_both, abs=0.01)


def test_chances_of_a_name_add_up_to_at_most_one() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        n, m = random.integers(2, 9, 2)
        chances, n_both = chances_of(sparse.csr_array(random.normal(0, 3, (n, m))))
        assert (chances.sum(axis=0) <= 1.01).all()
        assert (chances.sum(axis=1) <= 1.01).all()
        assert chances.sum() == pytest.approx(n_both, abs=0.02 * min(n, m))


def test_each_name_is_linked_once_the_surest_first() -> None:
    chances = sparse.csr_array(np.array([[0.6, 0.3], [0.7, 0.2], [0.1, 0.15]]))
    lines, columns, found = one_to_one(chances)
    assert list(zip(lines.tolist(), columns.tolist(), found.tolist(), strict=True)) == [(1, 0, 0.7), (0, 1, 0.3)]


def test_odds_of_all_pairs_are_those_of_each_pair_by_itself(
    shop: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = shop.filter(pl.col("date") < MIDDLE), shop.filter(pl.col("date") >= MIDDLE)
    compared = link_releases._Compared.of(*halves, link_releases._habits(set(), is_one_time=False))
    n, m = (len(names) for names in compared.names)
    monkeypatch.setattr(link_releases, "PARTNERS", m)
    monkeypatch.setattr(link_releases, "BLOCK_CELLS", 7 * m)
    model = Model(np.random.default_rng(1).normal(size=(compared.n_habits, 3)), -2.5)
    lines, columns = (one.ravel() for one in np.indices((n, m)))
    plain = compared.features(lines, columns) @ model.weights.ravel() + model.constant
    assert compared.odds(model).toarray() == pytest.approx(plain.reshape(n, m), rel=1e-3, abs=1e-3)


def linked(first: pl.DataFrame, second: pl.DataFrame) -> LinkedReleases:
    """Name both anew, link them, and judge the links."""
    both = sorted(set(first["customer"]) & set(second["customer"]))
    sides = [
        History(rows.with_columns(customer=mark + pl.col("customer"))) for mark, rows in (("a", first), ("b", second))
    ]
    truth = {"first": [f"a{name}" for name in both], "second": [f"b{name}" for name in both]}
    return tk.attack(sides[0], sides[1], "link-releases", truth=truth)


@pytest.mark.parametrize("columns", ["all", "no prices", "no items"])
@pytest.mark.parametrize("way", ["time", "items", "rows"])
def test_made_shops_are_linked_as_surely_as_is_said(shop: pl.DataFrame, way: str, columns: str) -> None:
    """What is expected of the sure pairs is what is found, within what 160 people can show."""
    dropped = {"all": [], "no prices": ["price", "quantity"], "no items": ["item"]}[columns]
    if way == "items" and dropped == ["item"]:
        pytest.skip("there are no items by which to divide")
    random = np.random.default_rng(2)
    if way == "time":
        is_first = shop["date"] < MIDDLE
    elif way == "items":
        items = shop["item"].unique().sort()
        is_first = shop["item"].is_in(items.filter(pl.Series(random.random(len(items)) < 0.5)).implode())
    else:
        is_first = pl.Series(random.random(shop.height) < 0.5)
    found = linked(shop.filter(is_first).drop(dropped), shop.filter(~is_first).drop(dropped))
    assert found.facts["divided_by"] == way
    assert found.success is not None
    if way != "time":
        assert found.success["linked"].value > 0.9
    elif columns != "no items":
        assert found.success["linked"].value > 20 * (found.success["linked"].baseline or 1)
    if "precision" in found.success:
        _, high = found.success["precision"].interval or (0, 1)
        promised = found.facts["sure_right"] / found.facts["sure"]
        # Learned on halves, which have fewer rows than the releases: at worst too modest.
        assert promised <= high + 0.05
    assert found.pairs["first"].is_unique().all()
    assert found.pairs["second"].is_unique().all()


def test_other_people_are_not_linked(shop: pl.DataFrame) -> None:
    names = shop["customer"].unique().sort()
    mine = shop["customer"].is_in(names[:80].implode())
    parts = [
        History(rows.with_columns(customer=mark + pl.col("customer")))
        for mark, rows in (
            ("a", shop.filter(mine & (shop["date"] < MIDDLE))),
            ("b", shop.filter(~mine & (shop["date"] >= MIDDLE))),
        )
    ]
    found = tk.attack(parts[0], parts[1], "link-releases")
    assert found.facts["sure"] <= 8
    assert found.facts["in_both"] < 40


def test_links_judged_by_hand() -> None:
    """Of two people in both one is linked rightly; of two sure pairs one is right."""
    pairs = pl.DataFrame({"first": ["a", "b", "c"], "second": ["x", "z", "y"], "chance": [0.9, 0.6, 0.2]})
    truth = pl.DataFrame({"first": ["a", "b"], "second": ["x", "y"]})
    found = judge_links(pairs, truth, (3, 4))
    assert (found["linked"].value, found["linked"].baseline) == (0.5, 0.25)
    assert (found["precision"].value, found["precision"].baseline) == (0.5, 2 / 12)


def test_too_few_people_to_learn_from_are_refused(shop: pl.DataFrame) -> None:
    few = shop.filter(pl.col("customer").is_in(shop["customer"].unique().sort()[:10].implode()))
    with pytest.raises(tk.errors.InputError, match="at least 20 names with rows in both halves"):
        tk.attack(History(few), History(shop), "link-releases")


def test_command_writes_pairs_and_judges_them(shop: pl.DataFrame, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("A.csv", "B.csv", "truth.csv", "pairs.csv")]
    a, b, truth, out = files
    shop.filter(pl.col("date") < MIDDLE).write_csv(a)
    shop.filter(pl.col("date") >= MIDDLE).with_columns(customer="n" + pl.col("customer")).write_csv(b)
    names = shop["customer"].unique().sort()
    pl.DataFrame({"first": names, "second": "n" + names}).write_csv(truth)
    done = tokumei_json("attack", "history", "link-releases", a, b, "--truth", truth, "--out", out)
    assert set(done["success"]) == {"linked", "precision"}
    assert {"first", "second", "in_both", "sure", "sure_right", "checked"} <= done.keys()
    assert pl.read_csv(out).columns == ["first", "second", "chance"]
    for wrong, why in (
        (["link-releases", a, "--out", out], "two releases and --out"),
        (["linkage", a, b, "--out", out], "link-releases, which takes two releases"),
    ):
        refused = tokumei("attack", "history", *wrong)
        assert refused.returncode == 2
        assert why in refused.stderr
