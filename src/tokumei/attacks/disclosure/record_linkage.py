"""The attacker who looks for somebody's record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.attacks.candidates import CandidateRecords, Candidates
from tokumei.attacks.targets import (
    control_people,
    drawn_success,
    n_own_fitting,
    own_records,
    share_of,
    share_score,
    target_people,
)
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.score import Score
from tokumei.hierarchies.label_semantics import Bools, Ints


@dataclass(frozen=True)
class RecordLinkage:
    """Find the record of a person of whom some values are known.

    Knowledge: the known columns of each person, or a share of these cells, and that the person is in the release. A
    record fits if each known value is a leaf of its label. Aim: which record is theirs. Success: `certain` is the share
    of people whom exactly one record fits, which is theirs; on an untouched copy that is the share of unique records.
    `success` is the share whose record is drawn among those that fit; its expectation is at most 1/k if k-anonymity
    holds for what is known. Baseline: drawing any record. The control is the share of people outside the release whom
    exactly one record fits: it says how often being certain is a mistake. This is the prosecutor of El Emam and
    Dankar (2008).

    Example: of (f, 31), (f, 31), (m, 35) and (m, 38) the release is (f, 30-34), (f, 30-34), (m, *), (m, 38). Both women
    fit two records, the man of 35 fits (m, *) alone, the man of 38 fits both men's: `certain` is 1/4, and a guess is
    expected to find (1/2 + 1/2 + 1 + 1/2) / 4 = 5/8 of them.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Compare every known person with every record."""
        table = threat_model.published.table
        records = CandidateRecords.of(threat_model, table.frame, table.name)
        n_fitting, n_own = _fitting(threat_model, seed)
        is_certain = (n_fitting == 1) & (n_own == 1)
        chances = n_own / np.maximum(n_fitting, 1)
        others = control_people(threat_model, seed)
        control = None
        if others is not None:
            control = share_of(Candidates(others, records).counts()[others.class_of] == 1)
        _, own = own_records(threat_model.published, threat_model.targets, threat_model.original.n_rows)
        # A person may have several records; nearly always it is one.
        blind = len(own) / len(n_own) / table.n_rows
        n_lost = int((n_own == 0).sum())
        fitting = {"fewest_fitting": int(n_fitting.min()), "without_fitting_own": n_lost}
        return {
            "certain": share_score("certain", int(is_certain.sum()), len(is_certain), blind, control),
            "success": drawn_success("success", chances, blind, purpose="record-linkage", seed=seed, inputs=fitting),
        }

    def risks(self, threat_model: ThreatModel, *, seed: int) -> Bools:
        """Tell for each target whether exactly one record fits, which is theirs."""
        n_fitting, n_own = _fitting(threat_model, seed)
        found: Bools = (n_fitting == 1) & (n_own == 1)
        return found


def _fitting(threat_model: ThreatModel, seed: int) -> tuple[Ints, Ints]:
    """Count for each target the records that fit, and their own among them."""
    table = threat_model.published.table
    people, records = target_people(threat_model, seed), CandidateRecords.of(threat_model, table.frame, table.name)
    owners, own = own_records(threat_model.published, threat_model.targets, threat_model.original.n_rows)
    return Candidates(people, records).counts()[people.class_of], n_own_fitting(people, records, owners, own)
