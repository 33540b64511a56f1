"""What the studies on background knowledge say beside their numbers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.attacks.history.attackers import ATTACKERS, knowledge_points
from tokumei.contest.editions.pwscup2016.files import read_history
from tokumei.data.history import History
from tokumei_studies.results._knowledge import EIGHT_DIFFERS
from tokumei_studies.results.knowledge_attackers import KnowledgeAttackers
from tokumei_studies.results.knowledge_points import KnowledgePoints
from tokumei_studies.results.knowledge_release import KnowledgeRelease
from tokumei_studies.results.knowledge_toy import KnowledgeToy
from tokumei_studies.study import Findings, Verdict


@pytest.fixture(scope="module")
def history(shared_data: Path) -> History:
    return read_history(shared_data / "pwscup2016" / "T.csv.gz")


@pytest.fixture(scope="module")
def attackers(shared_data: Path) -> Findings:
    return KnowledgeAttackers().run(shared_data)


def differing(findings: Findings) -> list[str]:
    return [line.what for line in findings.lines if line.verdict is Verdict.DIFFERS]


def test_printed_table_holds_but_for_attacker_8_and_the_two_largest_products(attackers: Findings) -> None:
    assert differing(attackers) == ["attacker 8, by theory", "attacker 9, by theory"]


def test_attacker_4_is_told_as_printed_and_as_stated(history: History, attackers: Findings) -> None:
    told = {line.what: line for line in attackers.lines if line.what.startswith("attacker 4 as")}
    printed, stated = told.values()
    assert (round(printed.computed, 4), round(stated.computed, 4)) == (0.9788, 0.9812)
    assert (printed.verdict, stated.verdict) == (Verdict.HOLDS, Verdict.DIFFERENT_METHOD)
    baskets = history.frame.group_by("customer", "date").agg(n=pl.len(), items=pl.col("item").unique().sort())
    n_sets, n_pairs = baskets["items"].n_unique(), baskets.select("items", "n").n_unique()
    assert f"{baskets.height:,} baskets have {n_sets:,} sets of items, and {n_pairs:,} pairs" in stated.why


def test_reason_why_attacker_8_cannot_follow_states_what_is_counted(history: History) -> None:
    points = knowledge_points(history, ATTACKERS[8])
    n_rows = points.select((pl.col("n_rows") * pl.col("n_known")).filter(pl.col("n_customers") > 1).sum()).item()
    n_known = int(points["n_known"].sum())
    assert f"only {n_rows} of {history.n_rows:,} rows" in EIGHT_DIFFERS
    assert f"{n_known:,} / {history.n_rows:,} = .97495" in EIGHT_DIFFERS
    # Even if each of these rows were lost, more than the printed .9750 would be found.
    assert 1 - n_rows / history.n_rows > 0.99


def test_products_that_differ_are_of_the_numbers_counted(history: History, attackers: Findings) -> None:
    reasons = {line.what: line.why for line in attackers.lines}
    n_sizes = history.frame.group_by("customer", "date").len()["len"].n_unique()
    sets = history.frame.group_by("customer", "date").agg(pl.col("item").unique().sort())["item"].n_unique()
    assert f"× {n_sizes} numbers of rows ×" in reasons["attacker 8, by theory"]
    assert f"× {sets:,} sets of items =" in reasons["attacker 9, by theory"]


def test_toy_differs_only_where_the_slide_counts_nine_rows_of_ten() -> None:
    findings = KnowledgeToy().run(Path())
    assert differing(findings) == [
        "purchases of item 100 on day 3",
        "purchases of item 200 on day 1",
        "purchases of item 300 on day 1",
    ]
    assert "3/7" in findings.remarks[0]


def test_points_lie_on_or_below_the_line_and_explain_the_ratio(shared_data: Path) -> None:
    findings = KnowledgePoints().run(shared_data)
    assert differing(findings) == []
    ratio = next(line for line in findings.lines if line.what.startswith("measured over predicted"))
    assert ratio.computed == pytest.approx(0.0965 / 0.07302, abs=0.001)
    assert findings.figures[0].svg.startswith("<svg")


def test_names_alone_protect_nobody_and_moved_days_do(shared_data: Path) -> None:
    findings = KnowledgeRelease().run(shared_data)
    assert differing(findings) == []
    others = [line.what for line in findings.lines if line.verdict is Verdict.DIFFERENT_METHOD]
    assert others == ["one pseudonym: attacker 8, measured", "monthly: attacker 8, measured"]
    computed = {line.what: line.computed for line in findings.lines}
    assert computed["monthly, moved a little: attacker 9"] < 0.5 * computed["monthly: attacker 9, measured"]
