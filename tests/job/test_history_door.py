"""What one types in a notebook about a history."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import tokumei as tk


@pytest.fixture(scope="module")
def shop() -> pd.DataFrame:
    """A made shop of 12 households with columns of its own names."""
    days = pd.date_range("2011-01-01", periods=120, freq="D")
    rows = [
        {
            "household": n % 12,
            "when": days[(n * 7) % 120],
            "product": f"P{n * n % 17}",
            "paid": 1 + n % 9,
            "n": 1 + n % 3,
        }
        for n in range(360)
    ]
    return pd.DataFrame(rows)


def test_example_of_the_readme_runs_as_written(
    shop: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    h = tk.History(shop, customer="household", date="when", item="product", price="paid", quantity="n")
    a = tk.anonymize(h, method="pseudonyms", lifetime=1, seed=1)
    assert isinstance(a.frame, pd.DataFrame)
    assert repr(a) == "HistoryRelease(360 rows, 360 released, by pseudonyms, 12 customers, 48 pseudonyms)"
    found = tk.attack(h.known(0.25, seed=1), a, "linkage")
    assert 0 <= found.success["row"]["value"] <= 1
    assert set(found.success) == {"row", "cell", "pseudonym", "transaction"}
    lost = tk.measure(h, a)
    assert lost.scores["rows"].value == 0
    assert "crosstab" in lost.left_out
    swept = tk.sweep(h, attacks=["s1"], grid={"one": {"step": [{"method": "pseudonyms", "lifetime": 12}]}})
    assert swept.to_frame().columns[0] == "way"
    attackers = tk.knowledge(h).to_dict()["attackers"]
    assert not all(one["theory_is_a_chance"] for one in attackers)
    assert all(one["theory_is_a_chance"] == (one["theory"] <= 1) for one in attackers)
    a.save("out.parquet")
    a.report("out.html", attacks=["s1"])
    assert "<svg" in (tmp_path / "out.html").read_text(encoding="utf-8")
    for result in (a, found, lost, swept):
        assert "<table" in result._repr_html_()


def test_wrong_calls_get_one_clear_error(shop: pd.DataFrame) -> None:
    with pytest.raises(tk.errors.InputError, match="such as household"):
        tk.History(shop, customer="houshold", date="when")
    with pytest.raises(tk.errors.InputError, match="column date"):
        tk.History(shop, customer="household")
    h = tk.History(shop, customer="household", date="when")
    with pytest.raises(tk.errors.InputError, match="the column item, which jaccard needs"):
        tk.attack(h, h, "jaccard")
    with pytest.raises(tk.errors.UnknownPart, match="pseudonyms"):
        tk.anonymize(h, method="pseudonym")
    with pytest.raises(tk.errors.InputError, match="lifetime"):
        tk.anonymize(h, method="pseudonyms", lifetme=1)
