from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.steps import Pseudonyms
from tokumei.reports.evaluation import evaluate
from tokumei.reports.history_page import history_page


def test_evaluation_of_pseudonyms_loses_no_rows_and_finds_someone() -> None:
    original = History.of(make_retail(20, seed=1))
    released = History(Pseudonyms(1).anonymize(original, seed=1).frame)
    known = {"50": original.known(0.5, seed=1), "100": original.known(1.0, seed=1)}
    done = evaluate(original, released, known, attacks=["s1", "s6"])
    assert done.utility["rows"].value == 0
    assert done.contest_utility == max(score.value for score in done.utility.values())
    for count in ("found", "row"):
        assert done.best_attack("100", count)[1] == done.attacks.filter(pl.col("known") == "100")[count].max()
    assert done.attacks["transaction"].is_between(0, 1).all()
    assert "crosstab" not in done.left_out
    assert done.attacks.height == 4
    assert done.exposed["found"].is_between(0, 1).all()
    assert done.exposed["found"].is_sorted(descending=True)
    again = evaluate(original, released, known, attacks=["s1", "s6"])
    assert again.attacks.equals(done.attacks)


def test_page_of_an_evaluation_ends_with_the_frontier_where_there_is_one() -> None:
    original = History.of(make_retail(10, seed=1))
    released = History(Pseudonyms(1).anonymize(original, seed=1).frame)
    known = {"100": original.known(1.0, seed=1)}
    done = evaluate(original, released, known, attacks=["s6"])
    swept = pl.DataFrame(
        {"name": ["<a>"], "utility": [0.2], "found": [0.3], "attack": ["s6"], "is_on_frontier": [True]}
    )
    page = history_page("report", done, swept).to_html()
    assert page.count("<svg") == 2
    assert "<a>" not in page
    assert "What safety costs" in page
    assert history_page("report", done).to_html().count("<svg") == 1


def test_shop_that_is_found_in_most_months_is_not_reported_as_safe() -> None:
    original = History.of(make_retail(30, seed=1))
    release = Pseudonyms(1).anonymize(original, seed=1)
    known = {"25": original.known(0.25, seed=1)}
    done = evaluate(original, History(release.frame), known, utilities=(), attacks=("s1",))
    found, row = (done.best_attack("25", count)[1] for count in ("found", "row"))
    assert row < found - 0.1
    page = history_page("A shop", done).to_html()
    assert f"names a customer rightly in {found:.1%} of their months" in " ".join(page.split())


def test_evaluation_states_whose_purchases_are_known_where_it_is_told_whose_they_are() -> None:
    original = History.of(make_retail(20, n_rows=400, seed=1))
    release = Pseudonyms(12).anonymize(original, seed=1)
    known = {"25": original.known(0.25, seed=1), "100": original.known(1.0, seed=1)}
    asked: dict[str, Any] = {"utilities": (), "attacks": ("linkage",)}
    done = evaluate(original, History(release.frame), known, **asked, sources=release.rows)
    # Who knows everything has nothing to find out.
    assert set(done.attribution) == {"25"}
    assert done.attribution["25"].rows.value > 0.9
    assert done.as_dict()["attribution"]["25"]["rows"]["value"] == done.attribution["25"].rows.value
    assert "Whose purchases are known" in history_page("A shop", done).to_html()
    assert not evaluate(original, History(release.frame), known, **asked).attribution
