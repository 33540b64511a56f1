"""The people an attacker looks for in a release, their own records among those that fit, and how success is scored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.attacks.candidates import CandidateRecords, People
from tokumei.attacks.judge import wilson_interval
from tokumei.attacks.threat_model import NOBODY, Published, ThreatModel
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.hierarchies.label_semantics import Bools, Ints

Floats = npt.NDArray[np.float64]


def target_people(threat_model: ThreatModel, seed: int, targets: Ints | None = None) -> People:
    """Return what is known of the people who are in the release, or of these rows of the original."""
    if targets is None:
        return threat_model.once(("people", seed), lambda: target_people(threat_model, seed, threat_model.targets))
    known = threat_model.known_cells
    if known is None:
        known = threat_model.known_mask(threat_model.original.n_rows, "original", seed)
    return People.of(threat_model, threat_model.original.frame, threat_model.original.name, known, targets)


def control_people(threat_model: ThreatModel, seed: int) -> People | None:
    """Return what is known of people who are not in the release, where some are given."""
    if threat_model.control is None or not threat_model.control.height:
        return None
    known = threat_model.known_mask(threat_model.control.height, "control", seed)
    return People.of(threat_model, threat_model.control, "control", known)


def own_records(published: Published, targets: Ints, n_people: int) -> tuple[Ints, Ints]:
    """Return the records of these targets: the index of each one's owner among the targets, and the record."""
    owners = published.owners(n_people)
    # The last entry is that of NOBODY.
    index_of = np.full(n_people + 1, NOBODY)
    index_of[targets] = np.arange(len(targets))
    index = index_of[owners]
    records = np.flatnonzero(index != NOBODY)
    return index[records], records


def n_own_fitting(people: People, records: CandidateRecords, owners: Ints, own: Ints) -> Ints:
    """Count for each person the records that are theirs and fit what is known of them."""
    fits = records.fit(people, owners, own)
    return np.bincount(owners[fits], minlength=len(people.class_of))


def drawn_success(
    name: str, chances: Floats, baseline: float, *, purpose: str, seed: int, inputs: Mapping[str, Any] | None = None
) -> Score:
    """Guess once for each person, right with that person's chance; the expected success is an input."""
    drawn = int((generator(seed, purpose).random(len(chances)) < chances).sum())
    # Chances are shares of few numbers: to add up those that differ takes a tenth of the time.
    values, counts = np.unique(chances, return_counts=True)
    expected = math.fsum((values * counts).tolist()) / max(1, len(chances))
    return share_score(name, drawn, len(chances), baseline, inputs={"expected": expected, **(inputs or {})})


def share_score(
    name: str,
    n_found: float,
    n_people: int,
    baseline: float | None = None,
    control: float | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Score:
    """Return the share of people found, from 0 (nobody, best) to 1, with its 95 % interval."""
    return Score(
        name,
        n_found / max(1, n_people),
        best=0,
        worst=1,
        interval=wilson_interval(n_found, n_people),
        baseline=baseline,
        control=control,
        inputs={"people": n_people, **(inputs or {})},
    )


def share_of(flags: Bools) -> float:
    """Return the share of those that are true."""
    return int(flags.sum()) / max(1, len(flags))
