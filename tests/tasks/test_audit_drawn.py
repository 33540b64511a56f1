"""Drawn rows are attacked before they are released, and refused where people are found in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.copied_people import copied_people
from tokumei.core.seeds import generator
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.synthetic.synthesizer import Drawn, Synthesizer
from tokumei.tasks.audit_drawn import Finding, corrected

N_ROWS = 2_000


@dataclass(frozen=True, kw_only=True)
class Copying(Synthesizer):
    """Draw each column by its own shares, but for a share of the rows that are copies with one changed cell."""

    share: float = field(default=0.0)
    # Whether a cell of each copy is changed.
    is_changed: bool = field(default=True)

    def draw(self, original: Original, n_rows: int, *, seed: int) -> Drawn:
        random, n = generator(seed, "copying"), n_rows or original.n_rows
        columns = [column.gather(random.integers(len(column), size=n)) for column in original.frame]
        frame, is_copied = pl.DataFrame(columns), random.random(n) < self.share
        copied = original.frame.gather(random.permutation(original.n_rows)[:n])
        if self.is_changed:
            copied = copied.with_columns(frame["age"])
        rows = pl.concat([copied.filter(pl.Series(is_copied)), frame.filter(pl.Series(~is_copied))])
        return Drawn(rows)


def people(n: int = N_ROWS, seed: int = 1) -> tk.Table:
    random = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            # Each value is that of many, so that no single one gives anybody away.
            "age": random.integers(18, 90, n),
            "height": random.integers(300, 380, n) / 2,
            "weight": random.integers(100, 180, n) / 2,
            "income": random.integers(5, 60, n) * 1000,
            "illness": random.choice(["flu", "cold", "none"], n),
        }
    )
    return tk.Table(frame, qi=["age", "height", "weight", "income"], sensitive=["illness"])


def test_finding_is_a_leak_if_chance_does_not_explain_that_it_lies_above_the_bound() -> None:
    assert Finding("membership success", None, 0.06, 0.05, 0.037, 0.02).is_leak
    assert not Finding("membership success", None, 0.04, 0.03, 0.019, 0.02).is_leak


def test_generator_that_copies_people_is_refused_with_the_figures() -> None:
    with pytest.raises(tk.errors.NotAllowed, match=r" finds .* \(at least .*\) more than of others; the bound is"):
        tk.anonymize(people(), method=Copying(share=0.2), seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize(("share", "is_changed"), [(0.1, True), (0.01, False)])
def test_planted_leak_is_refused_every_time(share: float, is_changed: bool) -> None:
    """A tenth of the people copied but for a cell, or one of a hundred exactly."""
    for seed in range(50):
        with pytest.raises(tk.errors.NotAllowed):
            tk.anonymize(people(seed=seed), method=Copying(share=share, is_changed=is_changed), seed=seed)


def test_copies_and_copies_but_for_a_cell_by_hand() -> None:
    people = pl.DataFrame({"sex": ["f", "m", "f", None], "age": [20, 30, 40, 50], "ill": ["flu", "flu", "cold", "flu"]})
    drawn = pl.DataFrame({"sex": ["f", "m", None], "age": [20, 31, 50], "ill": ["flu", "flu", "cold"]})
    is_copied, is_near = copied_people(people, drawn, ["sex", "age", "ill"])
    assert is_copied.tolist() == [True, False, False, False]
    assert is_near is not None
    assert is_near.tolist() == [True, True, False, True]
    assert copied_people(people, drawn, ["sex", "age"])[1] is None
    # Text of numbers is compared as numbers.
    text = drawn.with_columns(pl.col("age").cast(pl.Float64).cast(pl.String))
    assert copied_people(people, text, ["sex", "age", "ill"])[0].tolist() == is_copied.tolist()


def test_numbers_of_many_values_are_near_within_a_hundredth_of_the_people() -> None:
    people = pl.DataFrame(
        {"income": [float(10 * at) for at in range(1_000)], "sex": ["f", "m"] * 500, "ill": ["a"] * 1_000}
    )
    moved = people.with_columns(pl.col("income") + 1.0, ill=pl.lit("b"))
    is_copied, is_near = copied_people(people, moved, people.columns)
    assert not is_copied.any()
    assert is_near is not None
    assert is_near.mean() > 0.85
    far = people.with_columns(pl.col("income") + 1e6, ill=pl.lit("b"))
    # All of them stand above everybody, where the last of the people is.
    assert np.asarray(copied_people(people, far, people.columns)[1]).sum() == 1


def test_several_attacks_together_are_wrong_as_seldom_as_one() -> None:
    one = Finding("singling-out", None, 0.1, 0.05, 0.05 - 1.959964 * 0.01, 0.02)
    assert corrected([one])[0].low == pytest.approx(one.low)
    # Five attacks: 1 in 100 each, 2.326 deviations.
    assert corrected([one] * 5)[0].low == pytest.approx(0.05 - 2.3263 * 0.01, abs=1e-5)
    assert corrected([one], 5)[0].low == pytest.approx(0.05 - 2.3263 * 0.01, abs=1e-5)


def test_rows_that_are_drawn_column_by_column_are_released_with_what_was_tried() -> None:
    release = tk.anonymize(people(), method=Copying(), seed=1)
    audit = release.facts["audit"]
    tried = [(one["attack"], one["column"]) for one in audit["findings"]]
    membership = [("membership success", None)]
    copies = [("copies", None), ("near-copies", None)]
    assert tried == [("singling-out", None), ("linkability", None), *membership, ("inference", "illness"), *copies]
    # 400 people are outside of each of eight draws.
    assert audit["draws"] == 8
    assert set(audit["use"]) == {"pair-error", "triple-error", "model-loss"}
    assert "use, judged by people outside" in " ".join(str(one) for one in release.sections())
    assert not any(one["is_leak"] for one in audit["findings"])
    assert audit["people_outside"] == 400
    assert release.recipe.options["audit"] == audit
    assert release.facts["held_out"] == 400


def test_leak_that_is_released_anyway_is_told_on_the_page_and_in_the_recipe() -> None:
    release = tk.anonymize(people(), method=Copying(share=0.2, anyway=True, bound=0.03), seed=1)
    assert {one["most"] for one in release.facts["audit"]["findings"]} == {0.03, 0.003}
    leaks = [one["attack"] for one in release.facts["audit"]["findings"] if one["is_leak"]]
    assert "membership success" in leaks
    said = " ".join(str(one) for one in release.sections())
    assert "Released although attacks find more people than the bound allows" in said
    assert [one["is_leak"] for one in release.recipe.options["audit"]["findings"]].count(True) == len(leaks)


def test_nobody_kept_out_is_refused_unless_anyway() -> None:
    with pytest.raises(tk.errors.NotAllowed, match="Nobody was kept out of fitting"):
        tk.anonymize(people(50), method="copula", hold_out=0, seed=1)
    release = tk.anonymize(people(50), method="copula", hold_out=0, anyway=True, seed=1)
    assert release.facts["audit"]["left_out"] == {"all": "nobody was kept out of fitting"}
    assert "Not measured" in " ".join(str(one) for one in release.sections())


def test_few_people_are_attacked_by_what_few_allow() -> None:
    release = tk.anonymize(people(100), method="copula", seed=1)
    audit = release.facts["audit"]
    assert audit["people_outside"] == 25
    assert set(audit["left_out"]) == {"membership"}


@pytest.mark.parametrize(("n", "kept"), [(100, 25), (2_000, 400), (10_000, 1_000)])
def test_a_tenth_is_kept_out_and_of_fewer_people_more(n: int, kept: int) -> None:
    frame = pl.DataFrame({"age": range(n)})
    assert len(Copying().control(Original(frame, ("age",)), 1)) == kept


def test_all_rows_of_a_person_are_kept_out_or_none() -> None:
    whose = pl.Series("who", [0, 0, 1, 2, 2, 2, 3, 3])
    original = Original(pl.DataFrame({"age": range(8)}), ("age",), whose=whose)
    kept = whose.gather(Copying(hold_out=0.5).control(original, 1))
    assert kept.n_unique() == 2
    assert len(kept) == int(whose.is_in(kept.implode()).sum())


def test_every_method_that_draws_rows_is_audited() -> None:
    drawing = [name for name in TABLE_ANONYMIZERS if getattr(TABLE_ANONYMIZERS.get(name), "draws_all_columns", False)]
    assert drawing == ["aim", "copula", "mst", "sequential-trees"]
    assert all(issubclass(TABLE_ANONYMIZERS.get(name), Synthesizer) for name in drawing)


@pytest.mark.parametrize("n", [100, 200])
def test_few_people_of_whom_all_have_a_near_copy_are_no_leak(n: int) -> None:
    """Three columns of few values: any row is near one that is drawn, of people inside and outside alike."""
    random = np.random.default_rng(n)
    frame = pl.DataFrame({name: random.choice(["a", "b", "c"], n) for name in ("one", "two", "three")})
    table = tk.Table(frame, qi=["one", "two"], sensitive=["three"])
    for seed in range(5):
        audit = tk.anonymize(table, method=Copying(is_changed=False), seed=seed).facts["audit"]
        near = next(one for one in audit["findings"] if one["attack"] == "near-copies")
        assert near["found"] > 0.95
        assert not any(one["is_leak"] for one in audit["findings"])
