"""The attacks by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.data.table import Table

if TYPE_CHECKING:
    # Only for their types: names of attacks are asked for where nothing is attacked.
    from tokumei.attacks.public_knowledge import Deductions, PublicKnowledge


@runtime_checkable
class HistoryAttack(Protocol):
    """Finds customers in a release from knowledge of some purchases; its fields are its options."""

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym believed to be each customer's in each month: customer, period, pseudonym.

        A customer and month without a guess is left out. A guess is a function one way or the other: one pseudonym
        for a customer and month, or one customer for a pseudonym and month, who may then be given several.
        """


class TableAttack(Protocol):
    """Finds people in a released table from knowledge of some of their columns; its fields are its options."""

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:
        """Return for each published row the row of the knowledge believed to be the same person's, counted from 0.

        A row without a guess is missing. The roles of both tables say what may be compared.
        """


@runtime_checkable
class DisclosureAttack(Protocol):
    """Measures how much a released table gives away to somebody who knows people; its fields are its options."""

    needs: ClassVar[tuple[str, ...]]
    """What a scene must have besides the original and the release: sensitive, earlier, population."""

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Attack the release as far as the scene allows and judge the guesses, the main score first."""


@runtime_checkable
class ReleaseAttack(DisclosureAttack, Protocol):
    """A disclosure attack that needs neither the original nor any person: the release and public knowledge suffice."""

    def deduce(self, public: PublicKnowledge, *, seed: int) -> Deductions:
        """Deduce what must be true of the original; where that is there, judge the claims by it."""


@runtime_checkable
class ChecksThreatModel(DisclosureAttack, Protocol):
    """A disclosure attack that needs more of a threat model than `needs` can name."""

    def lacks(self, threat_model: ThreatModel) -> str | None:
        """Return what keeps this attack from being tried, or None."""


@runtime_checkable
class NamesVictims(DisclosureAttack, Protocol):
    """A disclosure attack that tells whom it finds, so that `harden` knows which rows to change first."""

    def risks(self, threat_model: ThreatModel, *, seed: int) -> npt.NDArray[np.bool_]:
        """Tell for each target of the threat model whether they are found by what the main score counts."""


# The attackers who look for equal rows stand in one file.
EXACT_MATCHES = ("s1", "s2", "s3", "s4", "s5", "s6", "same-day", "same-item", "same-month-and-item")
HISTORY_ATTACKS: Registry[HistoryAttack] = Registry(
    "history attack", "tokumei.attacks.history", presets=dict.fromkeys(EXACT_MATCHES, "exact_match")
)
TABLE_ATTACKS: Registry[TableAttack] = Registry("table attack", "tokumei.attacks.table")
DISCLOSURE_ATTACKS: Registry[DisclosureAttack] = Registry("disclosure attack", "tokumei.attacks.disclosure")


def attack_title(attack: str, sensitive: str | None) -> str:
    """Name an attack that was tried, with the column it learned where that is one of several.

    >>> attack_title("homogeneity", "illness"), attack_title("record-linkage", None)
    ('homogeneity of illness', 'record-linkage')
    """
    return attack if sensitive is None else f"{attack} of {sensitive}"
