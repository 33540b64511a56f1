from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

import tokumei as tk
from tokumei.data.history import History
from tokumei.reports import needs
from tokumei.reports.needs import sample_customers


def history(n_customers: int, n_rows: int) -> History:
    """Return customers with so many rows each."""
    rows = [
        (f"{who:02}", date(2020, 1, 1) + timedelta(days=3 * row + who), f"I{row % 4}", 1.0 + row, 1 + who % 3)
        for who in range(n_customers)
        for row in range(n_rows)
    ]
    columns = ["customer", "date", "item", "price", "quantity"]
    return History.of(pl.DataFrame(rows, schema=columns, orient="row"))


@pytest.mark.parametrize(
    ("n_asked", "most_rows", "n_drawn"),
    [
        (None, 1_000, 20),
        # Seven customers of five rows have 35, eight would have 40.
        (None, 39, 7),
        (None, 40, 8),
        # Too few rows for anything: so few customers would say nothing.
        (None, 1, 4),
        (12, 1, 12),
        (99, 1, 20),
    ],
)
def test_as_many_customers_are_drawn_as_are_asked_for_or_fit(
    monkeypatch: pytest.MonkeyPatch, n_asked: int | None, most_rows: int, n_drawn: int
) -> None:
    monkeypatch.setattr(needs, "LEAST_CUSTOMERS", 4)
    original = history(20, 5)
    found = sample_customers(original, None, n_asked, most_rows=most_rows, seed=1)
    assert len(found.original.customers) == n_drawn
    assert found.original.n_rows == 5 * n_drawn
    assert (found.said is None) == (n_drawn == 20)
    if found.said is not None:
        assert f"{n_drawn} of 20 customers with {5 * n_drawn} of 100 rows" in found.said


def test_rows_of_those_drawn_are_taken_from_the_release_too() -> None:
    original = history(20, 5)
    released = History(original.frame.with_columns(customer="x" + pl.col("customer")))
    found = sample_customers(original, released, 6, most_rows=1, seed=3)
    assert found.released.frame["customer"].to_list() == ["x" + one for one in found.original.frame["customer"]]


def test_report_and_sweep_of_many_rows_attack_some_customers_and_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(needs, "LEAST_CUSTOMERS", 5)
    monkeypatch.setattr("tokumei.tasks.report_history.SWEEP_ROWS", 30)
    monkeypatch.setattr("tokumei.tasks.report_history.REPORT_ROWS", 50)
    original = tk.History(history(20, 5).frame)
    grid = {"monthly": {"step": [{"method": "pseudonyms", "lifetime": 1}]}}
    swept = tk.sweep(original, grid=grid, attacks=["s1"])
    assert "6 of 20 customers" in swept.to_dict()["sampled"]
    release = tk.anonymize(original, method="pseudonyms", lifetime=1, seed=1)
    report = tk.report(release, tmp_path / "report.html", attacks=["s1"])
    assert "10 of 20 customers" in report.to_dict()["sampled"]
    assert "10 of 20 customers" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("absent", [["item"], ["item", "price", "quantity"]])
def test_sweep_of_a_history_without_items_leaves_out_what_needs_them(
    monkeypatch: pytest.MonkeyPatch, absent: list[str]
) -> None:
    whole = default_ways(monkeypatch)
    frame = history(6, 8).frame.drop(absent)
    swept = tk.sweep(tk.History(frame))
    found = swept.to_dict()
    assert found["ways"]
    assert {way["name"] for way in found["ways"]} | set(found["left_out"]) == whole
    assert all("no item" in why or "no price" in why for why in found["left_out"].values())


def default_ways(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Let three ways stand for all thirty."""
    from tokumei.reports.evaluation import default_grid

    kept = [
        name
        for name in default_grid()
        if name.startswith("pseudonyms of 6 months") and ("10%" in name or " 0%" in name)
    ]
    some = {name: default_grid()[name] for name in kept}
    monkeypatch.setattr("tokumei.tasks.report_history.default_grid", lambda _: some)
    return set(some)
