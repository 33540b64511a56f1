"""Safety criteria by recipient: how large every class must be for whom.

| criterion                | k  | risk allowed | for                                      |
|--------------------------|----|--------------|------------------------------------------|
| `cheo-trusted-recipient` | 3  | 0.33         | a trusted recipient, bound by contract   |
| `cheo-public-release`    | 20 | 0.05         | everybody                                |
| `cheo-breach`            | 6  | 0.27/6       | a recipient who may lose the data        |
| `NAME=K`                 | K  | 1/K          | whom the provider names                  |
| `NAME=0.1`               | 10 | 0.1          | the same, by the risk that is allowed    |

Whoever the offer does not list by their key is served by the strictest. What one recipient may have, those who are
trusted more may know too: a criterion with a larger k stands for a wider circle. CHEO's 0.33 is 3-anonymity, as the
thesis prints it; an own risk t becomes the smallest k with 1/k ≤ t.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tokumei.core.errors import InputError, UnknownPart
from tokumei.exchange.documents import Fields
from tokumei.measures.presets import PRESETS


@dataclass(frozen=True)
class Criterion:
    """What a release for one kind of recipient must hold: every class at least k rows."""

    name: str
    k: int
    source: str = "the provider's own"

    def __post_init__(self) -> None:
        if self.k < 2:
            raise InputError.of("a k of 2 or more", column=self.name, value=self.k)
        if not self.name or len(self.name) > 100 or not self.name.isprintable():
            raise InputError.of("a name of 1 to 100 letters", column="criterion", value=self.name)

    @classmethod
    def of_risk(cls, name: str, risk: float) -> Criterion:
        """Make the criterion that allows a risk of finding somebody again."""
        if not 0 < risk <= 0.5:
            raise InputError.of("a risk above 0 and at most 0.5", column=name, value=risk)
        # A hair less, lest 1/0.1 become 11 by rounding.
        return cls(name, math.ceil(1 / risk - 1e-9), f"the provider's own, risk {risk:g}")

    def as_dict(self) -> dict[str, object]:
        """Return the criterion for JSON."""
        return {"name": self.name, "k": self.k, "source": self.source}


def read_criterion(text: str) -> Criterion:
    """Read a criterion as typed: a preset's name, NAME=K or NAME=RISK."""
    name, mark, value = text.partition("=")
    if not mark:
        if name not in PRESETS:
            raise UnknownPart("criterion", name, PRESETS)
        preset = PRESETS[name]
        return Criterion(name, preset.k, preset.source)
    if value.isdecimal():
        return Criterion(name.strip(), int(value))
    try:
        return Criterion.of_risk(name.strip(), float(value))
    except ValueError:
        raise InputError.of("NAME=K or NAME=RISK", column="criterion", value=text) from None


def criterion_of(fields: Fields) -> Criterion:
    """Read a criterion from a document."""
    read = Criterion(
        fields.text("name", most=100), fields.whole("k", least=2, most=10**9), fields.text("source", most=500)
    )
    fields.done()
    return read


def check_distinct(criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """Return the criteria, strictest first; two of one name are refused."""
    listed = sorted(criteria, key=lambda one: (-one.k, one.name))
    names = [one.name for one in listed]
    if not listed or len(set(names)) < len(names):
        raise InputError.of("at least one criterion, each name once", column="criteria", value=", ".join(names))
    return tuple(listed)
