"""Generalized histories compared: by hand, on two releases of a made shop, and through the shell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.journey.commands import tokumei, tokumei_json

import tokumei as tk
from tokumei.data.made_retail import make_retail

# Groups by one release: a with b and c with d; by the other: a with c and b with d. Everybody buys once a day.
BOUGHT = {"a": "tea", "b": "jam", "c": "oil", "d": "rye"}
FIRST = {"a": "{jam;tea}", "b": "{jam;tea}", "c": "{oil;rye}", "d": "{oil;rye}"}
SECOND = {"a": "{oil;tea}", "b": "{jam;rye}", "c": "{oil;tea}", "d": "{jam;rye}"}


def write_shop(folder: Path) -> list[Path]:
    files = []
    for name, items in (("T", BOUGHT), ("G1", FIRST), ("G2", SECOND)):
        rows = [(customer, "2024-05-01", item, "1.5", "1") for customer, item in items.items()]
        frame = pl.DataFrame(rows, schema=["customer", "date", "item", "price", "quantity"], orient="row")
        frame.write_csv(folder / f"{name}.csv")
        files.append(folder / f"{name}.csv")
    return files


def test_two_releases_of_pairs_single_everybody_out(tmp_path: Path) -> None:
    """Two fit each person in either release, and only the person in both; of two items one is left."""
    original, first, second = write_shop(tmp_path)
    words = ["audit", first, "--against", second, "--original", original, "--in-order"]
    done = tokumei_json(*words)
    assert done["alone"] == {"k": 2, "mean_k": 2.0, "singled_out": 0, "item_precision": 0.5, "items_told": 0}
    assert done["together"] == {"k": 1, "mean_k": 1.0, "singled_out": 4, "item_precision": 1.0, "items_told": 4}
    failed = tokumei(*words, "--k", "2")
    assert failed.returncode == 1
    assert "FAILS  k = 2 in all releases together" in failed.stdout
    assert tokumei("audit", first, "--against", first, *words[4:], "--k", "2").returncode == 0


def test_what_is_missing_or_wrong_is_named(tmp_path: Path) -> None:
    original, first, second = write_shop(tmp_path)
    for words, why in (
        ([first, "--against", second, "--in-order"], "--original"),
        ([first, "--original", original, "--in-order"], "an earlier release of the same people"),
        ([first, "--against", second, "--original", original], "--in-order: each release row for row"),
        ([original], "--qi: expected the quasi-identifiers"),
    ):
        refused = tokumei("audit", *words)
        assert refused.returncode == 2
        assert why in " ".join(refused.stderr.split())
    shuffled = tmp_path / "G3.csv"
    pl.read_csv(second, infer_schema=False).reverse().write_csv(shuffled)
    refused = tokumei("audit", first, "--against", shuffled, "--original", original, "--in-order")
    assert refused.returncode == 2
    assert "G3.csv, line 1, column item: expected a cell that can stand for the value" in " ".join(
        refused.stderr.split()
    )


def test_releases_by_two_seeds_leave_fewer_than_k(tmp_path: Path) -> None:
    shop = tk.History(make_retail(60, n_rows=3_000, seed=5))
    first, second = (tk.anonymize(shop, method="generalize", k=3, seed=seed) for seed in (1, 2))
    done = tk.audit(first, against=second, k=3)
    assert done.to_dict()["alone"]["k"] >= 3
    assert not done.holds
    assert done.to_dict()["together"]["singled_out"] == 12
    assert done.to_dict()["together"]["item_precision"] > done.to_dict()["alone"]["item_precision"]
    assert (done.customers["together"] <= done.customers["alone"]).all()
    again = tk.audit(first, against=[first], k=3)
    assert again.holds
    by_files = [tmp_path / "G1.csv", tmp_path / "G2.csv"]
    for one, file in zip((first, second), by_files, strict=True):
        one.save(file)
    told = tk.audit(by_files[0], against=by_files[1], original=shop, in_order=True, k=3)
    assert told.to_dict()["together"] == done.to_dict()["together"]
    assert np.array_equal(again.customers["together"], again.customers["alone"])


@pytest.mark.parametrize("wanted", ["original", "against"])
def test_python_names_what_is_missing(wanted: str) -> None:
    shop = tk.History(make_retail(20, n_rows=400, seed=5))
    release = tk.anonymize(shop, method="generalize", k=2, seed=1)
    if wanted == "against":
        with pytest.raises(tk.errors.InputError, match="an earlier release"):
            tk.audit(release, against=[])
    else:
        assert tk.audit(release, against=release).facts["releases"] == 2
