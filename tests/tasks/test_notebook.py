"""One whole session in a notebook, typed as people type it, on real and on made data."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tokumei as tk

OF_A_TABLE = """
t = tk.Table(df, qi=["sex", "age", "region"], sensitive=["illness"])      # roles once
audited = tk.audit(t)                                                     # every measure, as a table
r = tk.anonymize(t, k=5, l_diversity={"illness": 2}, suppress=0.02)       # method="optimal" by default
r.k, r.loss, r.n_suppressed, r.promises, r.frame                          # pandas in, pandas out
results = tk.attack(t, r), tk.measure(t, r), tk.compare(t, k=5), tk.predict(t, k=5)
r.save("out.parquet"); tk.report(r, "out.html"); applied = tk.apply(r.recipe, next_month)
"""
OF_A_HISTORY = """
h = tk.History(df, customer="household", date="when", item="product", price="paid", quantity="n")
a = tk.anonymize(h, method="pseudonyms", lifetime=1, seed=1)
results = tk.attack(h.known(0.25, seed=1), a, "linkage"), tk.measure(h, a), tk.sweep(h), tk.knowledge(h)
"""
JOBS_OF_A_TABLE, JOBS_OF_A_HISTORY = 4, 4


def made_people(n: int = 300, seed: int = 1) -> pd.DataFrame:
    draw = random.Random(seed)
    rows = [
        {
            "sex": draw.choice("mf"),
            "age": draw.randint(20, 59),
            "region": draw.choice(["north", "south", "east"]),
            "illness": draw.choice(["flu", "cold", "ulcer"]),
        }
        for _ in range(n)
    ]
    return pd.DataFrame(rows)


def made_shop() -> pd.DataFrame:
    days = pd.date_range("2011-01-01", periods=60, freq="D")
    rows = [
        {"household": n % 6, "when": days[n * 7 % 60], "product": f"P{n * n % 11}", "paid": 1 + n % 9, "n": 1 + n % 3}
        for n in range(72)
    ]
    return pd.DataFrame(rows)


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **names: Any) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    cells = {"tk": tk, **names}
    exec(code, cells)
    return cells


def check_table(cells: dict[str, Any], n_rows: int) -> None:
    r = cells["r"]
    assert r.k >= 5
    assert r.n_suppressed <= 0.02 * n_rows
    assert len(r.frame) == n_rows - r.n_suppressed
    # Counted once more by pandas alone: whoever reads the release finds what it promises.
    classes = r.frame.groupby(["sex", "age", "region"], dropna=False)
    assert classes.size().min() == r.k
    assert classes["illness"].nunique().min() >= 2
    assert {len(audited.to_frame()) > 0 for audited in (cells["audited"], *cells["results"])} == {True}
    assert len(cells["results"]) == JOBS_OF_A_TABLE
    assert Path("out.html").read_text(encoding="utf-8").count("<svg") > 0
    assert len(pd.read_parquet("out.parquet")) == len(r.frame)
    assert len(cells["applied"].frame) > 0


@pytest.mark.slow
def test_session_with_a_made_table_runs_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_table(run(OF_A_TABLE, tmp_path, monkeypatch, df=made_people(), next_month=made_people(seed=2)), 300)


@pytest.mark.thorough
def test_session_with_adult_runs_as_typed(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adult = pd.read_csv(shared_data / "adult" / "adult.csv.gz", sep=";")
    # Every thirtieth person: the jobs are the same, and the suite has many more tests to run.
    df = adult.rename(columns={"native-country": "region", "occupation": "illness"}).iloc[::30]
    check_table(run(OF_A_TABLE, tmp_path, monkeypatch, df=df, next_month=df), len(df))


@pytest.mark.slow
def test_session_with_a_made_shop_runs_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = run(OF_A_HISTORY, tmp_path, monkeypatch, df=made_shop())
    found, lost, swept, knowledge = cells["results"]
    assert set(found.success) == {"found", "row", "cell", "month", "pseudonym", "transaction"}
    assert lost.scores["rows"].value == 0
    assert len(swept.to_frame()) > 20
    assert knowledge.to_dict()["attackers"]
    assert isinstance(cells["a"].frame, pd.DataFrame)
