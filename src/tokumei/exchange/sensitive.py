"""What must hold of columns that are carried along: they are what an attacker wants to learn of a class."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.core.errors import InputError
from tokumei.exchange.documents import Fields


@dataclass(frozen=True)
class Sensitive:
    """What must hold of the values of each carried column in every class.

    l: fewest different values (distinct ℓ-diversity); a missing value is none. t: most that the shares of a class may
    differ from those of the table, by total variation (t-closeness); None asks for nothing.
    """

    l: int = 2  # noqa: E741 - the name that the field uses.
    t: float | None = None

    def __post_init__(self) -> None:
        if self.l < 2:
            raise InputError.of("at least 2 different values", column="sensitive.l", value=self.l)
        if self.t is not None and not 0 <= self.t <= 1:
            raise InputError.of("a number from 0 to 1", column="sensitive.t", value=self.t)


def sensitive_of(fields: Fields) -> Sensitive:
    """Read what is asked of carried columns from a document."""
    t = None if fields.shape.get("t") is None else fields.number("t", least=0, most=1)
    fields.asked.add("t")
    read = Sensitive(fields.whole("l", least=2, most=10**6), t)
    fields.done()
    return read
