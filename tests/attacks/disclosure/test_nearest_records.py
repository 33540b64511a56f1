"""Attackers who look for the record most like a person: by hand, on changed records, and on records of nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokumei as tk
from tokumei.attacks.disclosure.nearest_records import Inference, precision_with_recall
from tokumei.attacks.judge import risk_above
from tokumei.core.score import Score
from tokumei.tasks.table_threat_model import threat_model_of

N = 600
LETTERS = list("abcdefgh")


def people(n: int, seed: int) -> pl.DataFrame:
    """Numbers that hang together, a rare one, and values in no order."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    numbers = {f"n{index}": np.round(100 * (0.6 * common + rng.normal(size=n))) for index in range(4)}
    gain = np.where(rng.random(n) < 0.1, rng.integers(1, 5_000, n), 0)
    return pl.DataFrame(
        numbers | {"gain": gain} | {name: rng.choice(LETTERS, n) for name in ("at", "job")}
    ).with_columns(ill=pl.Series(rng.choice(["flu", "cold", "cough"], n, p=[0.6, 0.3, 0.1])))


@pytest.fixture(scope="module")
def table() -> tk.Table:
    frame = people(N, 1)
    return tk.Table(frame, qi=[name for name in frame.columns if name != "ill"], sensitive=["ill"])


@pytest.fixture(scope="module")
def others() -> pl.DataFrame:
    return people(N, 2)


def scores(table: tk.Table, release: Any, attack: str, **options: Any) -> dict[str, Score]:
    return dict(tk.attack(table, release, attack, **options).scores[attack])


def changed(frame: pl.DataFrame, how: str) -> pl.DataFrame:
    """The same people with numbers noised, or each value drawn anew three times in ten."""
    rng = np.random.default_rng(3)
    numbers = [name for name in frame.columns if name.startswith("n")]
    if how == "noise":
        return frame.with_columns(pl.col(name) + rng.normal(0, 20, len(frame)) for name in numbers)
    drawn = {name: frame[name].gather(rng.integers(0, len(frame), len(frame))) for name in frame.columns}
    kept = {name: rng.random(len(frame)) < 0.7 for name in frame.columns}
    return frame.with_columns(
        pl.when(pl.Series(kept[name])).then(pl.col(name)).otherwise(drawn[name]).alias(name) for name in frame.columns
    )


def test_people_are_found_by_who_lies_between() -> None:
    """Of 20, 30, 40, 50 as 21, 29, 44, 45 the man of 40 is as near to 45 as to 44, which is less like anybody else."""
    found = scores(
        tk.Table({"age": [20, 30, 40, 50]}, qi=["age"]), {"age": [21, 29, 44, 45]}, "distance-linkage", in_order=True
    )
    assert found["success"].inputs["expected"] == 1
    assert found["success"].baseline == 1 / 4


@pytest.mark.parametrize("how", ["noise", "drawn"])
def test_changed_records_are_found_that_exact_labels_miss(table: tk.Table, how: str) -> None:
    release = changed(table.frame, how)
    exact = scores(table, release, "record-linkage", in_order=True)["success"].inputs["expected"]
    found = scores(table, release, "distance-linkage", in_order=True)
    assert exact < 0.2
    assert found["success"].inputs["expected"] > 0.85
    assert found["one-to-one"].value >= found["success"].inputs["expected"] - 0.02
    assert found["claimed"].inputs["precision"] > 0.9


def test_a_copy_is_found_and_a_release_by_k_at_most_once_in_k(table: tk.Table) -> None:
    copy = scores(table, table.frame, "distance-linkage", in_order=True)
    assert copy["success"].value > 0.99
    for method in ("mondrian", "optimal"):
        release = tk.anonymize(table, method=method, k=5, seed=1)
        found = scores(table, release, "distance-linkage")["success"]
        assert found.inputs["expected"] <= 1 / 5 + 1e-9
        assert found.inputs["expected"] == pytest.approx(
            scores(table, release, "record-linkage")["success"].inputs["expected"], abs=0.05
        )


def test_order_of_records_and_people_in_pieces_change_nothing(table: tk.Table) -> None:
    release = changed(table.frame, "noise")
    rows = np.random.default_rng(5).permutation(N)
    one = scores(table, release, "distance-linkage", in_order=True)["success"].inputs["expected"]
    other = scores(table, release[rows], "distance-linkage", rows=rows.tolist())["success"].inputs["expected"]
    assert one == pytest.approx(other)


def test_people_with_several_rows_are_found_by_any_of_theirs() -> None:
    frame = pl.DataFrame({"who": ["a", "a", "b", "b"], "age": [20, 20, 50, 60], "at": ["n", "n", "s", "s"]})
    table = tk.Table(frame, qi=["age", "at"], person="who")
    found = scores(table, frame.drop("who"), "distance-linkage", in_order=True)["success"]
    assert found.inputs["people"] == 2
    assert found.inputs["expected"] == 1


def test_two_parts_meet_by_chance() -> None:
    """Of (f, 31), (f, 52) and (m, 31) the parts meet with 1/4, 1/2 and 1/2, always in the own record."""
    frame = pl.DataFrame({"sex": ["f", "f", "m"], "age": [31, 52, 31]})
    found = scores(tk.Table(frame, qi=["sex", "age"]), frame, "linkability", in_order=True)
    assert found["success"].value == pytest.approx(5 / 12)
    assert found["linked-rightly"].value == pytest.approx(5 / 12)
    with pytest.raises(tk.errors.InputError, match="known columns: sex, age"):
        scores(tk.Table(frame, qi=["sex", "age"]), frame, "linkability", in_order=True, first="work")


@pytest.mark.parametrize("attack", ["linkability", "inference"])
def test_what_a_copy_tells_lies_above_the_control_and_what_others_tell_does_not(
    table: tk.Table, others: pl.DataFrame, attack: str
) -> None:
    copy = scores(table, table.frame, attack, in_order=True, control=others)["success"]
    least = {"linkability": 0.15, "inference": 0.7}[attack]
    assert copy.value > least
    assert copy.risk is not None
    assert copy.risk > least
    # Of people of whom nobody is in the release as much is found as of the control.
    strangers = scores(table, people(N, 4), attack, control=others)["success"]
    assert strangers.risk_interval is not None
    assert strangers.risk_interval[0] < 0.02


def test_anonymity_is_lost_by_a_copy_and_not_by_other_people(table: tk.Table, others: pl.DataFrame) -> None:
    assert scores(table, table.frame, "inference", in_order=True, control=others)["anonymity-loss"].value > 0.9
    assert scores(table, people(N, 4), "inference", control=others)["anonymity-loss"].value < 0.4


def test_attacks_that_ask_whose_a_record_is_are_not_made_on_records_of_nobody(table: tk.Table) -> None:
    with pytest.raises(tk.errors.InputError, match="singling-out, linkability, inference or membership need neither"):
        tk.attack(table, people(N, 4), "distance-linkage")
    assert "linked-rightly" not in scores(table, people(N, 4), "linkability")


def test_numbers_are_guessed_within_a_twentieth() -> None:
    frame = pl.DataFrame({"age": list(range(20, 60)), "pay": [100 * age for age in range(20, 60)]})
    table = tk.Table(frame, qi=["age"], sensitive=["pay"])
    found = scores(table, frame, "inference", in_order=True)
    assert found["neighbours"].value == 1
    # The middle, 3,950 or 4,000, is right for those within a twentieth of what they earn.
    assert found["neighbours"].baseline == pytest.approx(4 / 40, abs=1 / 40)


def test_labels_and_missing_values_are_read(table: tk.Table) -> None:
    frame = table.frame.with_columns(
        pl.when(pl.col("n0") > 0).then(pl.col("n0")), pl.when(pl.col("at") != "a").then(pl.col("at"))
    )
    ugly = tk.Table(frame, qi=list(table.quasi_identifiers), sensitive=["ill"])
    labels = frame.with_columns(
        pl.when(pl.col("n1") < 0).then(pl.lit("<0")).otherwise(pl.lit("[0, 900]")).alias("n1"),
        pl.lit("*").alias("n2"),
        pl.when(pl.col("job").is_in(["a", "b"])).then(pl.lit("{a;b}")).otherwise(pl.col("job")).alias("job"),
    )
    assert scores(ugly, labels, "distance-linkage", in_order=True)["success"].value > 0.9


def test_risk_by_hand() -> None:
    """As in its docstring: .732 ± .102."""
    value, (low, high) = risk_above(80, 100, 20, 100)
    assert value == pytest.approx(0.7322, abs=1e-3)
    assert high - value == pytest.approx(0.1020, abs=1e-3)
    assert value - low == pytest.approx(high - value)


@given(st.integers(0, 50), st.integers(0, 50))
def test_risk_is_a_share_and_none_where_nothing_more_is_found(found: int, else_: int) -> None:
    value, (low, high) = risk_above(found, 50, else_, 50)
    assert 0 <= low <= value <= high <= 1
    assert (value > 0) == (found > else_)


def test_precision_falls_little_with_few_claims() -> None:
    """Of 100 claims the 50 surest are right: 1 − (.301 / 4)³ with these alone."""
    right = np.repeat([1.0, 0.0], 50)
    sure = np.linspace(1, 0, 100)
    assert precision_with_recall(right, sure) == pytest.approx(1 - (np.log10(2) / 4) ** 3)
    # Whoever is as sure of all claims makes all or none.
    assert precision_with_recall(right, np.ones(100)) == pytest.approx(0.5)


def test_what_outsiders_show_is_of_all_rows_though_the_release_has_fewer(table: tk.Table, others: pl.DataFrame) -> None:
    """The baseline of the anonymity loss reads the original, whatever was learned of the release before."""
    release = table.frame.head(N // 2)
    everything = threat_model_of(
        tk.Table(table.frame, [*table.quasi_identifiers, "ill"]), release, control=others, may_be_made_up=True, seed=1
    )
    alone = threat_model_of(table, release, control=others, may_be_made_up=True, seed=1)
    found = [Inference(sensitive="ill").measure(one, seed=1) for one in (everything.learning("ill"), alone)]
    bases = [one["anonymity-loss"].inputs["baseline"] for one in found]
    assert bases[0] == bases[1]
