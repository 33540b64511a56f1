"""Shadow releases: what they teach by hand, that nothing is learned where nothing is told, and what they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.attacks.disclosure.test_nearest_records import people

import tokumei as tk
from tokumei.attacks.judge import auc_interval
from tokumei.attacks.shadow_releases import Shadows, shadows_of
from tokumei.core.score import Score

N = 500
QI = ["n0", "n1", "at", "job"]


def membership(release: Any, table: tk.Table, control: pl.DataFrame, **options: Any) -> dict[str, Score]:
    found = tk.attack(table, release, "membership", control=control, people=0, **options)
    return dict(found.scores["membership"])


@pytest.fixture(scope="module")
def table() -> tk.Table:
    return tk.Table(people(N, 1).select(QI), qi=QI)


@pytest.fixture(scope="module")
def control() -> pl.DataFrame:
    return people(2 * N, 2).select(QI)


def test_likelihoods_by_hand() -> None:
    """In: 4 and 5; not in: 1 and 2. The spread is 4 · .25 / 2 = .5, so 4.5 says (4.5 − 3) · 3 / .5 = 9."""
    is_in = np.array([[True], [False], [True], [False]])
    shadows = Shadows(np.array([[[4.0]], [[1.0]], [[5.0]], [[2.0]]]), is_in, 100)
    assert shadows.likelihoods(np.array([[4.5]])) == pytest.approx([9.0], rel=1e-4)
    assert shadows.likelihoods(np.array([[3.0]])) == pytest.approx([0.0])


def test_what_a_classifier_learns_from_leaves_itself_out() -> None:
    """Of 4 and 5 the other one is the mean; of a release that is attacked the means are of all: 4.5 and 1.5."""
    is_in = np.array([[True], [False], [True], [False]])
    shadows = Shadows(np.array([[[4.0]], [[1.0]], [[5.0]], [[2.0]]]), is_in, 100)
    assert shadows.features()[0].tolist() == [4.0, -1.0, 2.5]
    assert shadows.features(np.array([[3.0]]))[0].tolist() == [3.0, -1.5, 1.5]


def test_shadows_that_tell_nothing_teach_nothing() -> None:
    rng = np.random.default_rng(3)
    people, others = pl.DataFrame({"at": rng.random(600)}), pl.DataFrame({"at": rng.random(600)})
    draws = np.random.default_rng(4)
    found = shadows_of(
        lambda frame, _: frame,
        people,
        others,
        lambda _: draws.normal(size=(600, 2)),
        n_rows=600,
        n_shadows=16,
        seconds=0,
        seed=1,
    )
    assert isinstance(found, Shadows)
    # Each person is in half of the shadows.
    assert found.is_in.sum(axis=0).tolist() == [8] * 600
    told = found.likelihoods(draws.normal(size=(600, 2)))
    low, high = auc_interval(told[:300], told[300:])
    assert low - 0.02 <= 0.5 <= high + 0.02


def test_shadows_find_who_is_in_and_nobody_in_a_release_of_others(table: tk.Table, control: pl.DataFrame) -> None:
    release = tk.anonymize(table, method="noise", columns=["n0"], seed=1)
    found = membership(release, table, control, shadows=8, seconds=0)["success"]
    assert found.inputs["shadows"] == {"asked": 8, "made": 8, "rows": N}
    each = found.inputs["each"]
    assert each["shadows"] > 0.3
    assert each["shadow-classifier"] > 0.3
    # The release of other people by the same method tells nothing of these.
    other = tk.anonymize(tk.Table(people(N, 5).select(QI), qi=QI), method="noise", columns=["n0"], seed=1)
    scores = membership(other.frame, table, control, shadows=8, seconds=0, method="noise")
    area = scores["auc"]
    assert area.interval is not None
    assert area.interval[0] <= 0.56
    for name in ("shadows", "shadow-classifier"):
        assert abs(area.inputs["each"][name] - 0.5) < 0.06


def test_same_seed_makes_the_same_shadows(table: tk.Table, control: pl.DataFrame) -> None:
    release = tk.anonymize(table, method="mondrian", k=5, seed=1)
    one, two = (membership(release, table, control, shadows=4, seconds=0)["auc"].inputs["each"] for _ in range(2))
    assert one == two
    assert "shadows" in one


@pytest.mark.parametrize(
    ("options", "lack"),
    [
        ({}, "the method that made the release"),
        ({"method": "mondrian"}, "the k that was asked for"),
        ({"method": "optimal", "k": 5}, "a hierarchy of n0"),
        ({"method": "mondrian", "k": 5, "shadows": 0}, "shadows to be asked for"),
        ({"method": "mondrian", "k": 5, "shadows": 2}, "more seconds, or 4 shadows or more"),
    ],
)
def test_what_shadows_lack_is_said(table: tk.Table, control: pl.DataFrame, options: dict[str, Any], lack: str) -> None:
    release = table.frame.with_columns(pl.lit("*").alias("n0"))
    assert membership(release, table, control, **options)["success"].inputs["shadows"]["for_lack_of"] == lack


def test_what_is_no_number_of_shadows_is_refused(table: tk.Table, control: pl.DataFrame) -> None:
    for name in ("shadows", "seconds", "most_rows"):
        with pytest.raises(tk.errors.InputError, match=name):
            membership(table.frame, table, control, **{name: -1})


def test_number_of_shadows_follows_from_rows_alone(table: tk.Table, control: pl.DataFrame) -> None:
    """A shadow has 500 rows: 3,000 are six; at least four are made."""
    release = tk.anonymize(table, method="mondrian", k=5, seed=1)
    for most_rows, made in ((3_400, 6), (100, 4)):
        found = membership(release, table, control, shadows=32, most_rows=most_rows)["success"].inputs["shadows"]
        assert found["asked"] == 32
        assert found["made"] == made
