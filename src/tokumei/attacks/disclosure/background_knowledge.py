"""The attacker who can rule some sensitive values out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tokumei.attacks.attribute_inference import (
    SensitiveRecords,
    blind_chances,
    infer_excluding,
    n_open_values,
    sensitive_column,
    target_values,
)
from tokumei.attacks.targets import drawn_success, share_score, target_people
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.hierarchies.label_semantics import Bools

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
        at_worst = float(((n_open <= self.excludes + 1) & is_possible).mean())
        blind = float(blind_chances(released, values).mean())
        inputs = {"sensitive": column, "at_worst": at_worst}
        return {
            "certain": share_score("certain", int(inferred.is_certain.sum()), len(values), inputs=inputs),
            "success": drawn_success("success", inferred.chances, blind, purpose="background-knowledge", seed=seed),
        }

    def risks(self, threat_model: ThreatModel, *, seed: int) -> Bools:
        """Tell for each target whether their own value alone is left."""
        column = sensitive_column(threat_model, self.sensitive)
        released, people = SensitiveRecords.of(threat_model, column), target_people(threat_model, seed)
        values = target_values(threat_model, column)
        chosen: dict[str, Any] = {"purpose": "background-knowledge", "seed": seed}
        return infer_excluding(released, people, values, self.excludes, **chosen).is_certain
