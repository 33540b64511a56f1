"""Who is in a released history: the attack by name, in Python and at the shell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.data.made_retail import make_retail

NOISE = {"method": "perturb", "days": 31, "prices": 1.0, "quantities": 1.0, "hides_times": True, "whole_baskets": False}
Parts = dict[str, tk.History]


@pytest.fixture(scope="module")
def parts() -> Parts:
    """Customers of one shop: those in a release, those outside, and other people."""
    shop = make_retail(660, n_rows=12_000, seed=3)
    names = shop["customer"].unique().sort()
    drawn = names.sample(fraction=1, shuffle=True, seed=1)
    cuts = {"inside": drawn[:220], "outside": drawn[220:440], "others": drawn[440:]}
    return {name: tk.History(shop.filter(pl.col("customer").is_in(who.implode()))) for name, who in cuts.items()}


def test_untouched_copy_tells_nearly_everybody(parts: Parts) -> None:
    done = tk.attack(parts["inside"], parts["inside"], "membership", control=parts["outside"], draws=1)
    assert done.scores["success"].value > 0.95
    assert done.scores["auc"].value > 0.97
    assert done.scores["success"].baseline == 0.01
    assert done.to_dict()["riskiest"][0]["told"] == 1.0
    assert set(done.to_frame()["customer"]) <= set(parts["inside"].customers)


def test_release_of_other_people_tells_no_more_than_chance(parts: Parts) -> None:
    release = tk.anonymize(parts["others"], method="pseudonyms", lifetime=12, seed=1)
    done = tk.attack(parts["inside"], release, "membership", control=parts["outside"], draws=1)
    for way in ("", " by rows", " by customer"):
        assert done.scores[f"auc{way}"].value == pytest.approx(0.5, abs=0.12)
        assert done.scores[f"success{way}"].value < 0.06


def test_whole_customers_tell_what_single_purchases_do_not(parts: Parts) -> None:
    """Under noise no purchase stands as it was; all of one under one pseudonym still give somebody away."""
    steps = [NOISE, {"method": "pseudonyms", "lifetime": 12}]
    release = tk.anonymize(parts["inside"], pipeline={"step": steps}, seed=1)
    done = tk.attack(parts["inside"], release, "membership", control=parts["outside"], draws=2)
    by_rows, by_customer = (done.scores[f"success by {way}"] for way in ("rows", "customer"))
    assert by_rows.interval is not None and by_customer.interval is not None
    assert by_customer.interval[0] > by_rows.interval[1]
    assert done.scores["auc by customer"].value > done.scores["auc by rows"].value
    assert len(done.scores["success"].inputs["draws"]) == 2
    again = tk.attack(parts["inside"], release, "membership", control=parts["outside"], draws=2)
    assert again.scores == done.scores


def test_order_of_rows_does_not_matter_to_who_is_told(parts: Parts) -> None:
    release = tk.anonymize(parts["inside"], method="pseudonyms", lifetime=1, seed=1)
    shuffled = tk.History(release.history.kept.sample(fraction=1, shuffle=True, seed=2))
    one, other = (
        tk.attack(parts["inside"], each, "membership", control=parts["outside"], draws=1, rows=2)
        for each in (release, shuffled)
    )
    assert one.scores == other.scores


def test_control_that_sets_no_threshold_is_refused(parts: Parts) -> None:
    inside, outside = parts["inside"], parts["outside"]
    few = tk.History(outside.frame.filter(pl.col("customer").is_in(outside.customers[:100])))
    for control, message in (
        (few, "200 customers or more"),
        (inside, "customers who are not in the original"),
        (tk.History(outside.frame.with_columns(pl.col("date").dt.offset_by("5y"))), "months of the original"),
        (None, "not in the release"),
    ):
        with pytest.raises(InputError, match=message):
            tk.attack(inside, inside, "membership", control=control)
    with pytest.raises(InputError, match="single purchases"):
        tk.attack(inside, inside, "membership", control=outside, threat="data-broker")
    with pytest.raises(InputError, match="a release with rows"):
        tk.attack(inside, tk.History(inside.frame.clear()), "membership", control=outside)


def test_shell_writes_who_is_told(parts: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"{name}.csv" for name in ("T", "A", "C", "told")}
    parts["inside"].frame.write_csv(files["T"])
    parts["outside"].frame.write_csv(files["C"])
    made = ["anonymize", "history", files["T"], "--method", "pseudonyms", "--set", "lifetime=12", "--seed", 1]
    assert tokumei_here(capsys, *made, "--out", files["A"])[0] == 0
    asked = ["attack", "history", "membership", "--original", files["T"], "--release", files["A"], "--draws", 1]
    code, found = tokumei_here(capsys, *asked, "--control", files["C"], "--people", 210, "--out", files["told"])
    assert (code, found["attack"], found["customers"]) == (0, "membership", 210)
    told = pl.read_csv(files["told"])
    assert told.columns == ["customer", "told"]
    assert told.height == found["customers_told"]
    assert tokumei_here(capsys, *asked)[0] == 2
    elsewhere = ["attack", "history", "attribution", "--original", files["T"], "--release", files["A"]]
    assert tokumei_here(capsys, *elsewhere, "--control", files["C"])[0] == 2
