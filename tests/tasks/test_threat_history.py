from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import tokumei as tk
from tokumei.attacks.linkage.attack import Linkage
from tokumei.cli.commands import TOKUMEI
from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.reports import needs
from tokumei.tasks.threat_history import threat_history


@pytest.fixture(scope="module")
def shop() -> History:
    return History.of(make_retail(40, n_rows=1_500, seed=5))


def test_an_untouched_copy_is_found_with_certainty_and_the_score_says_against_what(shop: History) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    done = tk.attack(shop, release, threat="insider", attacks=["linkage", "row-counts"], draws=1)
    score = done.scores["linkage"]
    assert score.value == 1
    assert score.baseline is not None
    assert score.baseline == pytest.approx(1 / len(shop.customers))
    assert score.control is not None
    assert done.at_risk.height == len(shop.customers)
    assert done.to_dict()["best"] == "linkage"
    assert "insider" in repr(done)


def test_other_customers_of_the_same_shop_are_found_at_the_blind_rate(shop: History) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    # The rows of the release in the places of customers who have nothing to do with them.
    other = History.of(make_retail(40, n_rows=1_500, seed=6))
    moved = History(
        release.history.frame.drop("customer").with_columns(other.frame["customer"]).select(shop.frame.columns)
    )
    strangers = threat_history(
        other, History(moved.frame.with_columns("P" + pl.col("customer"))), "rivals", attacks=["tfidf"], draws=2
    )
    assert strangers.scores["tfidf"].value <= 0.1


def test_intervals_are_over_draws_and_those_at_risk_are_found_in_half_of_them(shop: History) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    done = threat_history(shop, release, "rivals", attacks=["tfidf"], draws=3, share=0.1)
    draws = done.scores["tfidf"].inputs["draws"]
    assert len(draws) == 3
    assert done.scores["tfidf"].value == pytest.approx(sum(draws) / 3)
    assert (done.at_risk["found"] >= 0.5).all()
    assert done.inference is not None


def test_knowledge_of_another_time_finds_profiles_and_says_what_cannot_work(shop: History) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    done = threat_history(shop, release, "data-broker", attacks=["tfidf", "linkage"], draws=1)
    assert done.scores["tfidf"].baseline is not None
    assert done.scores["tfidf"].value > 3 * done.scores["tfidf"].baseline
    assert done.left_out["linkage"] == "it compares purchases of the same time, and those of another are known"
    with pytest.raises(InputError, match="can work"):
        threat_history(shop, release, "data-broker", attacks=["s1"], draws=1)


def test_attacks_on_visits_say_what_they_lack_in_place_of_nought(shop: History) -> None:
    visits = History(shop.frame.select("customer", "date", "time"))
    release = tk.anonymize(visits, method="pseudonyms", lifetime=12, seed=1)
    done = threat_history(visits, release, "rivals", attacks=["row-counts", "s1"], draws=1)
    assert done.left_out == {"s1": "the history has no quantity", "rest of baskets": "the history has no item"}
    assert list(done.scores) == ["row-counts"]


def test_threat_by_the_command_line(shop: History, tmp_path: Path) -> None:
    shop.frame.write_parquet(tmp_path / "T.parquet")
    tk.anonymize(shop, method="permute-groups", bound=0.35, seed=1).save(tmp_path / "A.parquet")
    files = ["--original", str(tmp_path / "T.parquet"), "--release", str(tmp_path / "A.parquet")]
    asked = ["--threat", "neighbour", "--draws", "1", "--set", "days=0", "--out", str(tmp_path / "risk.csv")]
    run = CliRunner().invoke(TOKUMEI, ["attack", "history", "s6", *files, *asked])
    assert run.exit_code == 0, run.output
    assert "neighbor" in run.output
    assert (tmp_path / "risk.csv").read_text().startswith("customer,found")
    for incomplete in (["--threat", "spouse"], []):
        asked = ["attack", "history", *incomplete, "--release", str(tmp_path / "A.parquet")]
        assert isinstance(CliRunner().invoke(TOKUMEI, asked).exception, InputError)


def test_an_attack_that_the_machine_cannot_hold_is_refused_before_it_starts(
    shop: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    cost = Linkage().estimate(shop.known(0.5, seed=1), release.published)
    # Forty customers by forty pseudonyms, nine numbers of eight bytes each: habits need several epochs.
    assert cost.n_bytes == 40 * 40 * 8 * 9
    monkeypatch.setattr(needs, "machine_bytes", lambda: cost.n_bytes)
    with pytest.raises(InputError, match="fewer customers: linkage would take about"):
        tk.attack(shop.known(0.5, seed=1), release, "linkage")


@pytest.mark.parametrize(
    ("threat", "changes", "said"),
    [
        ("spouse", {}, "baskets are known whole"),
        ("insider", {}, "all rows are known"),
        ("neighbor", {}, "not sure of the day"),
        ("data-broker", {}, "time that is attacked"),
    ],
)
def test_who_can_learn_nothing_of_baskets_is_told_why(
    shop: History, threat: str, changes: dict[str, Any], said: str
) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    done = threat_history(shop, release, threat, attacks=["tfidf"], draws=1, **changes)
    assert done.inference is None
    assert said in done.left_out["rest of baskets"]
    assert "basket_inference" not in done.to_dict()
