"""Whose purchases the rows of a release are: the attack by name, in Python and at the shell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.core.result import Sentence
from tokumei.data.made_retail import make_retail
from tokumei.tasks.attribute_history import ABOVE_BOUND


@pytest.fixture(scope="module")
def shop() -> tk.History:
    return tk.History(make_retail(20, n_rows=400, seed=2))


def test_rows_under_lasting_pseudonyms_are_nearly_all_given_to_their_buyer(shop: tk.History) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    done = tk.attack(shop, release, "attribution", draws=2)
    assert done.scores["rows"].value > 0.9
    assert "shared" not in done.scores
    assert done.to_dict()["success"]["rows"]["inputs"]["rows"] == 300
    assert done.claims["row"].to_list() == list(range(400))


def test_threat_and_its_changes_are_taken(shop: tk.History) -> None:
    release = tk.anonymize(shop, method="pseudonyms", lifetime=1, seed=1)
    spouse = tk.attack(shop, release, "attribution", threat="spouse", draws=1, share=0.3)
    assert spouse.to_dict()["threat"]["draw"] == "basket"
    assert 0 < spouse.scores["rows"].inputs["rows"] <= 280
    # Of the earlier half of the months alone: no purchase is in both, and pseudonyms are linked by habits.
    broker = tk.attack(shop, release, "attribution", threat="data-broker", draws=1)
    assert broker.scores["rows"].value < 0.9


def test_who_knows_habits_is_above_a_bound_that_is_not_about_them() -> None:
    # Eight customers of four groups at most, each of whom buys one thing of their own every day.
    rows = [(f"c{who}", f"2017-01-{1 + day:02}", f"i{who}", 1.0, 1) for who in range(8) for day in range(20)]
    columns = ["customer", "date", "item", "price", "quantity"]
    own = tk.History(pl.DataFrame(rows, schema=columns, orient="row"))
    release = tk.anonymize(own, method="permute-groups", bound=0.25, seed=1)
    done = tk.attack(own, release, "attribution", draws=1)
    assert done.to_dict()["attribution_bound"] == 0.125
    assert done.scores["rows"].value > 0.3
    assert done.sections()[-1] == Sentence(ABOVE_BOUND)


def test_release_that_moved_purchases_leads_back_to_them_and_a_file_of_it_needs_rows(
    shop: tk.History, tmp_path: Path
) -> None:
    release = tk.anonymize(shop, method="permute-groups", bound=0.4, seed=1)
    assert release.release.rows is not None
    kept = release.history.frame["customer"].is_not_null()
    came_from = shop.frame[release.release.rows.to_numpy()].filter(kept)
    assert release.history.frame.filter(kept)["item"].equals(came_from["item"])
    release.save(tmp_path / "A.parquet", rows=tmp_path / "R.csv")
    with pytest.raises(InputError, match="or purchases moved"):
        tk.attack(shop, tmp_path / "A.parquet", "attribution", draws=1)
    by_file = tk.attack(shop, tmp_path / "A.parquet", "attribution", draws=1, sources=tmp_path / "R.csv")
    assert by_file.scores == tk.attack(shop, release, "attribution", draws=1).scores


def test_shell_writes_rows_and_claims(shop: tk.History, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"{name}.csv" for name in ("T", "A", "R", "C")}
    shop.frame.write_csv(files["T"])
    made = ["anonymize", "history", files["T"], "--method", "permute-groups", "--set", "bound=0.4", "--seed", 1]
    assert tokumei_here(capsys, *made, "--out", files["A"], "--rows", files["R"])[0] == 0
    asked = ["attack", "history", "attribution", "--original", files["T"], "--release", files["A"], "--draws", 1]
    code, found = tokumei_here(capsys, *asked, "--rows", files["R"], "--out", files["C"])
    assert (code, found["attack"]) == (0, "attribution")
    claims = pl.read_csv(files["C"])
    assert claims.columns == ["row", "customer", "chance"]
    assert claims["row"].min() == 1


def test_release_without_its_places_is_refused(shop: tk.History) -> None:
    half = tk.History(shop.frame.head(200))
    with pytest.raises(InputError, match="the row of the original behind each released row"):
        tk.attack(shop, half, "attribution")


def test_moved_purchases_that_all_look_alike_are_not_judged_by_the_wrong_rows() -> None:
    """Of one item at one price nothing but days shows that rows changed places: .749 was said where .772 is true."""
    alike = tk.History(make_retail(40, n_rows=1_000, seed=5).with_columns(item=pl.lit("disc"), price=1.0, quantity=1))
    release = tk.anonymize(alike, method="permute-groups", bound=0.3, seed=1)
    with pytest.raises(InputError, match="or purchases moved"):
        tk.attack(alike, release.frame, "attribution", draws=1)
    told = tk.attack(alike, release.frame, "attribution", draws=1, sources=release.release.rows)
    assert told.scores["rows"].value == tk.attack(alike, release, "attribution", draws=1).scores["rows"].value
