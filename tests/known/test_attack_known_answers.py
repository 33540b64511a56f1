"""The sample attackers of PWSCUP 2017 against the organizers' sample release."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.attacks.history.plain_attacks import ExactMatch
from tokumei.attacks.judge import judge, truth_of
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge, read_release
from tokumei.data.history import History

KNOWN: dict[tuple[str, ...], tuple[float, ...]] = {
    ("date", "quantity"): (0.166, 0.18, 0.178, 0.174),
    ("item", "price"): (0.006, 0.016, 0.014, 0.016),
    ("item", "quantity"): (0.01, 0.016, 0.012, 0.016),
    ("date", "item"): (0.134, 0.154, 0.136, 0.142),
}
UNCHANGED_BUT_IDS = (0.166, 0.174, 0.188, 0.192)


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2017"


def row_success(original: History, released: History, fields: tuple[str, ...], folder: Path) -> list[float]:
    truth = pl.DataFrame(
        {"customer": original.frame["customer"], "period": original.period, "pseudonym": released.frame["customer"]}
    )
    found = []
    for share in (25, 50, 75, 100):
        knowledge = read_knowledge(folder / f"T{share}.csv.gz")
        guesses = ExactMatch(fields).guess(knowledge, released)
        verdict = judge(guesses, truth.drop_nulls().unique(), original.customers, original.periods)
        found.append(verdict.row.value)
    return found


@pytest.mark.parametrize("fields", list(KNOWN), ids="+".join)
def test_sample_release_is_attacked_as_known(folder: Path, fields: tuple[str, ...]) -> None:
    original, released = read_history(folder / "T.csv.gz"), read_release(folder / "AT_sample.csv.gz")
    assert row_success(original, released, fields, folder) == pytest.approx(KNOWN[fields])


def test_rows_of_the_sample_release_are_shared_by_who_claims_their_pseudonym(folder: Path) -> None:
    original, released = read_history(folder / "T.csv.gz"), read_release(folder / "AT_sample.csv.gz")
    seen, truth = History(released.kept), truth_of(original, released)
    guesses = ExactMatch(("date", "quantity")).guess(read_knowledge(folder / "T100.csv.gz"), seen)
    verdict = judge(guesses, truth, original.customers, original.periods, seen)
    assert verdict.transaction is not None
    # Several customers claim most pseudonyms. Counted by hand, each row by the share of its claimants who own it.
    claims = guesses.group_by("period", "pseudonym").agg(claimants="customer")
    rows = seen.kept.select(pseudonym="customer").with_columns(seen.period).join(truth, on=["period", "pseudonym"])
    claimed = rows.join(claims, on=["period", "pseudonym"])
    shares = claimed.select(pl.col("claimants").list.contains(pl.col("customer")) / pl.col("claimants").list.len())
    assert verdict.transaction.value == pytest.approx(shares.to_series().sum() / rows.height)
    assert round(verdict.transaction.value, 4) == 0.1858
    # The cells of the paper are all of 12 × 500.
    assert verdict.cell.value == verdict.cell.inputs["found"] / 6_000


def test_release_with_nothing_but_ids_changed_is_attacked_as_known(folder: Path) -> None:
    original = read_history(folder / "T.csv.gz")
    released = History(original.frame.with_columns(customer="P" + pl.col("customer")))
    assert row_success(original, released, ("date", "quantity"), folder) == pytest.approx(UNCHANGED_BUT_IDS)
