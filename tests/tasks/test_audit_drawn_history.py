"""Purchases of nobody are attacked before anybody sees them."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from tests.promises.commands import run

import tokumei as tk
from tokumei.attacks.history.drawn_purchases import hits_of_inference, hits_of_singling_out
from tokumei.core.errors import InputError, NotAllowed
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.data.release import Release
from tokumei.methods.history.basket_chain import BasketChain
from tokumei.tasks.audit_drawn_history import attacks_of_audit, audit_drawn_history


def history(*rows: tuple[str, int, str]) -> History:
    made = [(who, datetime.date(2011, 3, day), item, 1.0, 1) for who, day, item in rows]
    return History(pl.DataFrame(made, schema=["customer", "date", "item", "price", "quantity"], orient="row"))


def test_item_is_inferred_from_the_drawn_customer_who_is_likest() -> None:
    # Whichever of u's items is known, the likest has the other as its rarest; nobody has what goes with w's.
    customers = history(("u", 1, "a"), ("u", 1, "c"), ("w", 1, "x"), ("w", 1, "y"), ("z", 1, "a"))
    drawn = history(("P1", 1, "a"), ("P1", 1, "c"), ("P2", 1, "b"), ("P3", 1, "x"))
    assert hits_of_inference(customers, drawn, seed=1) == (1, 2)


def test_pair_of_a_drawn_basket_singles_out_who_alone_bought_both_that_month() -> None:
    drawn = history(("P1", 9, "a"), ("P1", 9, "b"), ("P1", 9, "c"), ("P2", 9, "c"))
    one = history(("u", 3, "a"), ("u", 3, "b"), ("v", 3, "a"))
    two = history(("s", 3, "a"), ("s", 3, "b"), ("t", 4, "a"), ("t", 4, "b"))
    # a and b are its rarest items, with one purchase each.
    assert hits_of_singling_out((one, two), drawn, seed=1) == (1, 0, 1)
    assert hits_of_singling_out((two, one), drawn, seed=1) == (0, 1, 1)


@dataclass(frozen=True, kw_only=True)
class Copier(BasketChain):
    """Releases a third of the customers whom it knows as they are, under new names."""

    def anonymize(self, original: History, *, seed: int) -> Release:
        made = super().anonymize(original, seed=seed)
        known = sorted(set(original.customers) - set(self.outside(original, seed=seed)))
        copied = original.frame.filter(pl.col("customer").is_in(known[::3]))
        frame = pl.concat([made.frame, copied.with_columns(customer="X" + pl.col("customer"))]).sort("date")
        return Release(frame, made.recipe, pl.Series("row", [None] * frame.height, pl.Int64), made.pseudonyms)


@pytest.fixture(scope="module")
def original() -> History:
    return History.of(make_retail(420, n_rows=6_000, seed=2))


@pytest.mark.slow
def test_planted_leak_is_refused_and_recorded_where_it_is_released_anyway(original: History) -> None:
    with pytest.raises(NotAllowed, match="give customers away"):
        tk.anonymize(original, method=Copier(), seed=1)
    made = tk.anonymize(original, method=Copier(anyway=True), seed=1)
    leaks = [one["attack"] for one in made.facts["audit"]["findings"] if one["is_leak"]]
    assert {"membership success", "inference"} <= set(leaks)
    assert made.recipe.found["audit"] == made.facts["audit"]
    assert "Released although attacks find more people than the bound allows" in str(made.sections())


@pytest.mark.slow
def test_release_passes_and_says_which_attacks_do_not_apply(original: History) -> None:
    made = tk.anonymize(original, method="basket-chain", seed=1)
    audit = made.facts["audit"]
    assert audit["customers_outside"] == len(made.held_out) == 200
    assert {one["attack"] for one in audit["findings"]} >= {"membership success", "inference", "singling-out"}
    assert not any(one["is_leak"] for one in audit["findings"])
    assert set(audit["left_out"]) == {"linkage", "attribution"}
    assert made.truth.height == 0
    report = tk.report(made, knowledge=[25])
    assert report.to_dict()["audit"] == audit
    assert "rows of nobody" in report.page().to_html()
    assert "linkage" in report.to_dict()["left_out"]
    assert tk.measure(original, made).scores["frequent-itemsets"].value < 1


def test_without_anybody_kept_out_nothing_is_released() -> None:
    small = History.of(make_retail(40, n_rows=400, seed=1))
    with pytest.raises(NotAllowed, match="Nobody was kept out"):
        tk.anonymize(small, method="basket-chain", hold_out=0.0, seed=1)
    made = tk.anonymize(small, method="basket-chain", hold_out=0.0, anyway=True, seed=1)
    assert made.facts["audit"]["findings"] == []
    assert "all" in made.facts["audit"]["left_out"]


def test_few_customers_outside_leave_membership_out() -> None:
    small = History.of(make_retail(40, n_rows=1_500, seed=1))
    method = BasketChain(anyway=True)
    release = method.anonymize(small, seed=1)
    found = audit_drawn_history(small, History(release.frame), method.outside(small, seed=1), method)
    assert "200 customers" in found["left_out"]["membership"]


def test_no_column_is_carried_and_no_row_is_told(tmp_path: Path) -> None:
    frame = make_retail(40, n_rows=1_500, seed=1).with_columns(note=pl.lit("x"))
    with pytest.raises(InputError, match="no column to carry"):
        tk.anonymize(History(frame, carry=["note"]), method="basket-chain", anyway=True, seed=1)
    made = tk.anonymize(History(frame), method="basket-chain", anyway=True, seed=1)
    with pytest.raises(InputError, match="rows of the original"):
        made.save(tmp_path / "A.csv", rows=tmp_path / "rows.txt")


def test_shell_and_job_file_draw_the_same(tmp_path: Path) -> None:
    file, out = tmp_path / "T.csv", tmp_path / "A.csv"
    make_retail(60, n_rows=900, seed=1).write_csv(file)
    options = ("--method", "basket-chain", "--anyway", "--seed", 7)
    run("anonymize", "history", file, *options, "--out", out, "--truth", tmp_path / "F.csv")
    made = tk.anonymize(History(file), method="basket-chain", anyway=True, seed=7)
    assert pl.read_csv(out).height == made.frame.height
    run("report", "--original", file, "--release", out, "--made-up", "--out", tmp_path / "report.html")
    assert "there is none to find" in (tmp_path / "report.html").read_text()
    job = tmp_path / "job.toml"
    job.write_text(
        '[job]\nkind = "history"\nseed = 7\n[input]\nfile = "T.csv"\n[[method]]\nname = "basket-chain"\nanyway = true\n'
        '[[threat]]\nname = "anybody"\n'
    )
    run("run", job, "--out", tmp_path / "work")
    results = json.loads(next((tmp_path / "work").glob("**/dossier.json")).read_text())["results"]
    assert results["drawn"]["audit"]["bound"] == 0.02
    assert results["attacks"][0]["left_out"].keys() == {"linkage"}
    # What the audit found decides, as of any release.
    tried = {one["attack"] for one in results["attacks"] if one["scores"]}
    assert "inference" in tried
    pages = (tmp_path / "work" / "report.md").read_text()
    assert "No attack on people was tried" not in pages
    assert "Somebody is assumed to know 100% of the purchases." in pages


def test_finding_stands_as_an_attack_beside_what_is_found_of_others() -> None:
    told = {"attack": "membership success", "found": 0.04, "beyond": 0.03, "low": 0.01, "high": 0.06}
    rare = {**told, "attack": "membership at-0.1%"}
    (record,) = attacks_of_audit({"findings": [told, rare, {**told, "high": None}]})
    score = record["scores"]["success"]
    assert (record["attack"], score["value"], score["baseline"]) == ("membership", 0.04, pytest.approx(0.01))
    assert score["interval"] == pytest.approx((0.02, 0.07))
