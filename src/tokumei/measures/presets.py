"""Thresholds that others have used, by name.

The children's hospital CHEO in Ottawa allows a probability of finding somebody again that depends on who receives the
data: 0.33 for a trusted recipient such as a public or academic body, 0.05 for release to the public. Source: K. El
Emam's rules at CHEO as given in the thesis that Tokumei grew from, section 2.7.4, which puts them as 3-anonymity and
20-anonymity. CHEO also weighs the recipient's motives, capacity and safeguards, which no count can know, and takes the
likeliest way to an attacker. One has a number in the thesis: a health care organization loses data with a chance of
0.27. Leaked data are as public as released ones, so that 0.27/k must be at most 0.05: 6-anonymity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tokumei.core.errors import UnknownPart
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.breach_risk import BREACH_CHANCE, PUBLIC_RISK, BreachRisk
from tokumei.measures.safety.k_anonymity import KAnonymity
from tokumei.measures.safety.prosecutor_risk import ProsecutorRisk


@dataclass(frozen=True)
class Preset:
    """A threshold that somebody has used, as the risk it allows and the k that keeps it."""

    name: str
    printed_risk: float
    k: int
    use: str
    source: str
    # That somebody gets the data to look for people in them.
    chance: float = 1.0

    @property
    def max_risk(self) -> float:
        """The largest risk of a record allowed."""
        # Not the printed 0.33, which classes of three would exceed by a rounding.
        return self.printed_risk if self.chance < 1 else 1 / self.k

    def requirements(self) -> tuple[Requirement, ...]:
        """Return what a release must satisfy; the two agree, once as a size and once as a risk."""
        if self.chance < 1:
            return KAnonymity(self.k), BreachRisk(self.max_risk, self.chance)
        return KAnonymity(self.k), ProsecutorRisk(self.max_risk)


_CHEO = "El Emam, CHEO; thesis section 2.7.4"

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset("cheo-trusted-recipient", 0.33, 3, "Data for a trusted recipient, bound by contract.", _CHEO),
            Preset("cheo-public-release", 0.05, 20, "Data for everybody.", _CHEO),
            Preset("cheo-breach", PUBLIC_RISK, 6, "Data that a recipient may lose.", _CHEO, BREACH_CHANCE),
        )
    }
)


def preset(name: str) -> Preset:
    """Return the preset of that name; UnknownPart suggests the nearest one."""
    if name not in PRESETS:
        raise UnknownPart("preset", name, PRESETS)
    return PRESETS[name]
