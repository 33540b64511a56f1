"""The attacker who wants to learn a value, not to find a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tokumei.attacks.attribute_inference import (
    SensitiveRecords,
    blind_chances,
    infer,
    sensitive_column,
    target_values,
    true_values,
)
from tokumei.attacks.targets import control_people, drawn_success, share_of, share_score, target_people
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.score import Score
from tokumei.hierarchies.label_semantics import Bools


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
        blind = float(blind_chances(released, values).mean())
        certain = share_score("certain", int(inferred.is_certain.sum()), len(values), inputs={"sensitive": column})
        success = drawn_success("success", inferred.chances, blind, purpose="homogeneity", seed=seed)
        others = control_people(threat_model, seed)
        if others is not None and threat_model.control is not None:
            theirs = infer(released, others, true_values(threat_model, column, threat_model.control, "control"))
            certain = replace(certain, control=share_of(theirs.is_certain))
            success = replace(success, control=float(theirs.chances.mean()))
        return {"certain": certain, "success": success}

    def risks(self, threat_model: ThreatModel, *, seed: int) -> Bools:
        """Tell for each target whether the value is certain."""
        column = sensitive_column(threat_model, self.sensitive)
        released, people = SensitiveRecords.of(threat_model, column), target_people(threat_model, seed)
        return infer(released, people, target_values(threat_model, column)).is_certain
