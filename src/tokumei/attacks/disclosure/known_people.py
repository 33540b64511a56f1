"""Attackers who know people: whether they find a record, learn that somebody is in the release, or learn a value.

To learn a value is not to find a record; some attackers can rule sensitive values out beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tokumei.attacks.attribute_inference import (
    SensitiveRecords,
    blind_chances,
    infer,
    infer_excluding,
    n_open_values,
    sensitive_column,
    target_values,
    true_values,
)
from tokumei.attacks.candidates import (
    CandidateRecords,
    Candidates,
    control_people,
    drawn_success,
    n_of_person_fitting,
    n_own_fitting,
    of_any_row,
    of_each_person,
    own_records,
    riskiest_of,
    share_of,
    share_score,
    target_people,
)
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Json, Text
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
    Dankar (2008). Of people who have several rows a row is known, and every record of theirs is one that is sought:
    `certain` is the share of people of whom some row fits records of their own alone, `success` the mean over rows.

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
        is_certain = of_any_row(threat_model, _only_own(threat_model, n_fitting, n_own))
        chances = of_each_person(threat_model, n_own / np.maximum(n_fitting, 1))
        others = control_people(threat_model, seed)
        control = None
        if others is not None:
            control = share_of(Candidates(others, records).counts()[others.class_of] == 1)
        _, own = own_records(threat_model.published, threat_model.targets, threat_model.original.n_rows)
        # A person may have several records; nearly always it is one.
        blind = len(own) / len(chances) / table.n_rows
        n_lost = int((of_each_person(threat_model, n_own.astype(np.float64)) == 0).sum())
        fitting = {
            "fewest_fitting": int(n_fitting.min()),
            "without_fitting_own": n_lost,
            **riskiest_of(threat_model.targets, n_own / np.maximum(n_fitting, 1)),
        }
        return {
            "certain": share_score("certain", int(is_certain.sum()), len(is_certain), blind, control),
            "success": drawn_success("success", chances, blind, purpose="record-linkage", seed=seed, inputs=fitting),
        }

    def risks(self, threat_model: ThreatModel, *, seed: int) -> Bools:
        """Whether exactly one record fits each target, and it is theirs."""
        return _only_own(threat_model, *_fitting(threat_model, seed))


def _only_own(threat_model: ThreatModel, n_fitting: Ints, n_own: Ints) -> Bools:
    """Return for each target whether the one record that fits, or every one of several, is theirs."""
    is_own: Bools = (n_own > 0) & (n_fitting == n_own)
    return is_own if threat_model.person_of is not None else is_own & (n_fitting == 1)


def _fitting(threat_model: ThreatModel, seed: int) -> tuple[Ints, Ints]:
    """Count for each target the records that fit, and their own among them."""
    table = threat_model.published.table
    people, records = target_people(threat_model, seed), CandidateRecords.of(threat_model, table.frame, table.name)
    n_fitting = Candidates(people, records).counts()[people.class_of]
    if threat_model.person_of is not None:
        return n_fitting, n_of_person_fitting(threat_model, threat_model.person_of, people, records)
    owners, own = own_records(threat_model.published, threat_model.targets, threat_model.original.n_rows)
    return n_fitting, n_own_fitting(people, records, owners, own)


@dataclass(frozen=True)
class Homogeneity:
    """Learn a person's sensitive value from the records that fit, without finding the person's own.

    Knowledge: as of record linkage. Aim: the sensitive value. Success: `certain` is the share of people of whom all
    fitting records tell the same value, and it is theirs. `success` is the share whose value is guessed by the most
    frequent value of the fitting records; of several one is drawn. Baseline: the most frequent value of the whole
    release. Control: the same guesses for people who are not in the release; what these give away is what the release
    says of everybody alike, and only the rest comes from being in it. Machanavajjhala et al. 2007 answer it by
    ℓ-diversity.

    Example: the release says (f, 30-34, flu), (f, 30-34, flu), (m, 35-39, flu), (m, 35-39, cold) of four people. Of
    both women it tells the value, so `certain` is 1/2; the men's two values are drawn between, and (1 + 1 + 1/2 + 1/2)
    / 4 = 3/4 of the guesses are expected to be right. Guessing flu for all is right for three of four as well.
    """

    sensitive: str = field(default="", metadata={"help": "Column to learn; the only sensitive one if none is named."})

    needs: ClassVar[tuple[str, ...]] = ("sensitive",)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Look at the values of the records that fit each person."""
        column = sensitive_column(threat_model, self.sensitive)
        released, people = SensitiveRecords.of(threat_model, column), target_people(threat_model, seed)
        values = target_values(threat_model, column)
        inferred = infer(released, people, values)
        blind = float(of_each_person(threat_model, blind_chances(released, values)).mean())
        is_certain = of_any_row(threat_model, inferred.is_certain)
        chances = of_each_person(threat_model, inferred.chances)
        told = riskiest_of(threat_model.targets, inferred.is_certain.astype(np.float64))["riskiest"]
        inputs = {"sensitive": column, "riskiest": told}
        certain = share_score("certain", int(is_certain.sum()), len(is_certain), inputs=inputs)
        success = drawn_success("success", chances, blind, purpose="homogeneity", seed=seed)
        others = control_people(threat_model, seed)
        if others is not None and threat_model.control is not None:
            theirs = infer(released, others, true_values(threat_model, column, threat_model.control, "control"))
            certain = replace(certain, control=share_of(theirs.is_certain))
            success = replace(success, control=float(theirs.chances.mean()))
        return {"certain": certain, "success": success}

    def risks(self, threat_model: ThreatModel, *, seed: int) -> Bools:
        """Whether each target's value is certain."""
        column = sensitive_column(threat_model, self.sensitive)
        released, people = SensitiveRecords.of(threat_model, column), target_people(threat_model, seed)
        return infer(released, people, target_values(threat_model, column)).is_certain


# Who can rule out more than that needs no release.
MOST_EXCLUDED = 100


@dataclass(frozen=True)
class BackgroundKnowledge:
    """Learn a person's sensitive value by ruling out values that are known not to be theirs.

    Knowledge: as of record linkage, and for each person some sensitive values that are not theirs, drawn by the seed
    among all others that the release has. Aim: the sensitive value. Success: `certain` is the share of people of whom
    one value is left, and it is theirs; `at_worst` among its inputs is that share if the values ruled out were chosen
    to do most harm, which ℓ-diversity keeps at 0 while ℓ is larger than the values ruled out plus one. `success` is the
    share whose value is guessed by the most frequent value left. Baseline: the most frequent value of the whole release
    (Machanavajjhala et al. 2007).

    Example: four people share one class and have flu, flu, cold and cough. Ruling out one value leaves two, ruling out
    two leaves each their own alone: with `excludes` = 1 `certain` is 0, with 2 it is 1. A label of several values is
    narrowed too: `{flu;cold}` without cold is flu.
    """

    sensitive: str = field(default="", metadata={"help": "Column to learn; the only sensitive one if none is named."})
    excludes: int = field(default=1, metadata={"help": "Sensitive values ruled out for each person, 0 or more."})

    needs: ClassVar[tuple[str, ...]] = ("sensitive",)

    def __post_init__(self) -> None:
        if not 0 <= self.excludes <= MOST_EXCLUDED:
            raise InputError.of(
                Text("a whole number from {n} to {m:,}", n=0, m=MOST_EXCLUDED), option="excludes", value=self.excludes
            )

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Look at the values that are left of the records that fit each person."""
        column = sensitive_column(threat_model, self.sensitive)
        released, people = SensitiveRecords.of(threat_model, column), target_people(threat_model, seed)
        values = target_values(threat_model, column)
        inferred = infer_excluding(released, people, values, self.excludes, purpose="background-knowledge", seed=seed)
        n_open, is_possible = n_open_values(released, people, values)
        # The own value must be among those that fit, else ruling out the others leaves nothing.
        at_worst = float(of_any_row(threat_model, (n_open <= self.excludes + 1) & is_possible).mean())
        blind = float(of_each_person(threat_model, blind_chances(released, values)).mean())
        is_certain = of_any_row(threat_model, inferred.is_certain)
        chances = of_each_person(threat_model, inferred.chances)
        told = riskiest_of(threat_model.targets, inferred.is_certain.astype(np.float64))["riskiest"]
        inputs = {"sensitive": column, "at_worst": at_worst, "riskiest": told}
        return {
            "certain": share_score("certain", int(is_certain.sum()), len(is_certain), inputs=inputs),
            "success": drawn_success("success", chances, blind, purpose="background-knowledge", seed=seed),
        }

    def risks(self, threat_model: ThreatModel, *, seed: int) -> Bools:
        """Whether only a target's own value is left, for each target."""
        column = sensitive_column(threat_model, self.sensitive)
        released, people = SensitiveRecords.of(threat_model, column), target_people(threat_model, seed)
        values = target_values(threat_model, column)
        chosen: Json = {"purpose": "background-knowledge", "seed": seed}
        return infer_excluding(released, people, values, self.excludes, **chosen).is_certain
