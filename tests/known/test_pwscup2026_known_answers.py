"""The scores of PWSCUP 2026 against the known answers, on a generated cohort in the shared data."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.journey.commands import tokumei_json

from tokumei.contest.editions.pwscup2026.attacks import (
    attribute_score,
    beyond_controls,
    density_ratio,
    nearest_time,
    true_positives,
)
from tokumei.contest.editions.pwscup2026.edition import Pwscup2026
from tokumei.contest.editions.pwscup2026.files import (
    RARE,
    RECORD,
    Cohort,
    Reference,
    assigned_cohorts,
    check_release,
    read_cohort,
)
from tokumei.contest.editions.pwscup2026.utility import Utility, km_scale

RELEASES = ("id", "noise", "round", "shuf", "abg")
# Our names of the parts, by those of the known answers.
GEN = {"marginals": "marginal_mean", "corr": "corr", "pmse": "pmse_score", "time": "time_dz", "tail": "tail"}
SPEC = {"intervals": "io_part", "concordance": "tstr_cal"}
RARE_PARTS = {"mass": "mass_star", "profile": "prof_cal", "onset": "onset_cal", "apart": "c2st_cal"}
VALID = {
    "censoring": "cens",
    "no made-up regions": "no_fab",
    "no copied rows": "no_dup",
    "not nearer to outsiders": "novel",
}
# Mean answer and first three of the density ratio; true positives at 1 % if the first hundred are members.
DENSITY = {
    "id": (0.7109880914414078, [0.6957557026124774, 0.5241427743669973, 0.6958108094175738], 0.0),
    "noise": (0.6897289886187514, [0.6872478623686549, 0.4759065113666356, 0.6905223828654499], 0.0),
    "round": (0.44910027991865475, [0.23396521944311136, 0.21412580970079617, 0.24436392409838265], 0.0),
    "abg": (0.4546049858176586, [0.4681671225602351, 0.43968246547775214, 0.4346262529130045], 0.02),
}
# Hits of members and of controls, and what is left of them; the same of the rare.
TIMES = {
    "id": (1.0, 0.7425, 1.0, 0.18000000000000005),
    "noise": (1.0, 0.735, 1.0, 0.18000000000000005),
    "round": (0.9725, 0.6975, 0.9090909090909092, 0.18000000000000005),
    "shuf": (0.715, 0.725, 0.0, 0.0),
    "abg": (0.6825, 1.0, 0.0, 0.0),
}
SALT = "pwscup2026-prelim-640835c70b0c16c5bae356b2"


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2026"


@pytest.fixture(scope="module")
def known(folder: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((folder / "known.json").read_text())
    return found


@pytest.fixture(scope="module")
def background(folder: Path) -> Cohort:
    return read_cohort(folder / "A_bg.csv")


@pytest.fixture(scope="module")
def own(folder: Path) -> Cohort:
    return read_cohort(folder / "B_self.csv", [RECORD, RARE])


@pytest.mark.thorough
@pytest.mark.parametrize("name", RELEASES)
def test_every_score_of_a_release_is_the_known_one(
    name: str, folder: Path, known: Mapping[str, Any], background: Cohort, own: Cohort
) -> None:
    path = folder / f"C_{name}.csv"
    check_release(len(own), path)
    reference = Reference.read(folder / "utility_ref.json")
    release = read_cohort(path).sorted()
    found, right = Utility(own, release, background, reference, own.of(RARE) != 0).families(), known[name]
    assert min(one["score"] for one in found.values()) == pytest.approx(right["U"], abs=1e-9)
    for family, one in found.items():
        assert one["score"] == pytest.approx(right[f"U_{family}"], abs=1e-9), family
    assert {ours: found["gen"][ours] for ours in GEN} == pytest.approx(
        {ours: right[theirs] for ours, theirs in GEN.items()}, abs=1e-9
    )
    tail = right["tail_detail"]
    assert (found["gen"]["tail shift"], found["gen"]["tail spike"]) == pytest.approx(
        (tail["u_shift"], tail["u_spike"]), abs=1e-9
    )
    assert {ours: found["spec"][ours] for ours in SPEC} == pytest.approx(
        {ours: right["spec"][theirs] for ours, theirs in SPEC.items()}, abs=1e-9
    )
    kept = [one[-1] for one in right["spec"]["coef"].values()]
    assert list(found["spec"]["coefficients"].values()) == pytest.approx(kept, abs=1e-8)
    assert {ours: found["rare"][ours] for ours in RARE_PARTS} == pytest.approx(
        {ours: right["rare"][theirs] for ours, theirs in RARE_PARTS.items()}, abs=1e-9
    )
    assert {ours: found["valid"][ours] for ours in VALID} == pytest.approx(
        {ours: right["valid"][theirs] for ours, theirs in VALID.items()}, abs=1e-9
    )


def test_propensity_is_the_known_one(folder: Path, known: Mapping[str, Any], background: Cohort, own: Cohort) -> None:
    reference = Reference.read(folder / "utility_ref.json")
    release = read_cohort(folder / "C_noise.csv").sorted()
    told = Utility(own, release, background, reference, own.of(RARE) != 0).propensity()[0]
    assert told == pytest.approx(0.00021199671078935632, abs=1e-12)


def test_scale_of_the_time_score_is_that_of_the_organizers(folder: Path, own: Cohort) -> None:
    assert km_scale(own) == pytest.approx(Reference.read(folder / "utility_ref.json").signal, abs=1e-12)


@pytest.mark.parametrize("name", DENSITY)
def test_sample_membership_attack_answers_as_known(name: str, folder: Path, background: Cohort, own: Cohort) -> None:
    told = density_ratio(read_cohort(folder / f"C_{name}.csv"), background, own)
    mean, first, found = DENSITY[name]
    assert told.mean() == pytest.approx(mean, abs=1e-9)
    assert told[:3] == pytest.approx(first, abs=1e-9)
    assert true_positives(told, np.arange(len(own)) < 100) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("name", RELEASES)
def test_sample_attribute_attack_finds_as_known(name: str, folder: Path, background: Cohort, own: Cohort) -> None:
    release, controls = read_cohort(folder / f"C_{name}.csv"), Cohort(background.frame.head(400))
    sides = [
        np.abs(nearest_time(release, background, people.frame) - people.of("time")) <= 0.5 for people in (own, controls)
    ]
    hits, control, beyond, rare = TIMES[name]
    assert (sides[0].mean(), sides[1].mean()) == pytest.approx((hits, control), abs=1e-12)
    assert beyond_controls(sides[0].sum(), 400, sides[1].sum(), 400) == pytest.approx(beyond, abs=1e-9)
    is_rare = own.of(RARE) != 0
    found = beyond_controls(sides[0][is_rare].sum(), is_rare.sum(), sides[1][:12].sum(), 12, 1.64)
    assert found == pytest.approx(rare, abs=1e-9)
    truth = np.concatenate([own.of("time"), controls.of("time")])
    told = np.concatenate([nearest_time(release, background, people.frame) for people in (own, controls)])
    is_member = np.arange(800) < 400
    assert attribute_score(told, truth, is_member, np.zeros(800, bool)) == pytest.approx(beyond, abs=1e-9)


def test_cohorts_are_assigned_as_published(folder: Path) -> None:
    with (folder / "cohort_assignment.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    found = assigned_cohorts([row["team_name"] for row in rows], SALT, 30)
    assert found == [int(row["cohort"]) for row in rows]
    assert len(rows) == 22


@pytest.mark.thorough
def test_scores_of_the_command_line_are_the_known_ones(folder: Path, known: Mapping[str, Any]) -> None:
    given = ["--edition", "pwscup2026", "--data", f"A_bg={folder / 'A_bg.csv'}", "--data", f"B={folder / 'B_self.csv'}"]
    given += ["--data", f"utility_ref={folder / 'utility_ref.json'}"]
    assert tokumei_json("check", *given, folder / "C_noise.csv")["is_valid"]
    found = tokumei_json("score", *given, folder / "C_noise.csv")
    right = {name: known["noise"][f"U_{name}"] for name in ("gen", "spec", "rare", "valid")}
    assert found["utility"] == pytest.approx(right, abs=1e-9)
    assert found["total"] == pytest.approx(1 - 0.7025963808025175, abs=1e-9)
    assert Pwscup2026().terms.title == "PWSCUP 2026"
