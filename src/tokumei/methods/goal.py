"""What is asked of a release of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.losses import LOSSES, Loss
from tokumei.measures.requirement import Requirement, in_words, value_shares
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableAnonymizer


@dataclass(frozen=True)
class Goal:
    """What a release must promise, what it may lose, and how it is found.

    The loss is what a search keeps small. A local recoding is measured by the certainty penalty.
    """

    requirements: Sequence[Requirement]
    loss: Loss = field(default_factory=lambda: LOSSES.make("prec"))
    method: TableAnonymizer = field(default_factory=lambda: TABLE_ANONYMIZERS.make("optimal"))
    suppression: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    numeric: Sequence[str] = ()
    preference: Sequence[str] = ()

    @property
    def sensitive(self) -> list[str]:
        """The columns whose values the requirements protect."""
        return sorted({column for one in self.requirements for column in one.sensitive_columns})

    def against(self, counts: ClassCounts) -> Goal:
        """Return the goal whose requirements know what classes are compared with: the original, and the release."""
        return replace(self, requirements=against_original(self.requirements, counts, moves=self.suppression > 0))


def against_original(
    requirements: Iterable[Requirement], counts: ClassCounts, *, moves: bool = False
) -> list[Requirement]:
    """Return requirements that compare classes with the original, where they compare with all rows.

    Where rows may be left out, all rows of the release are others than those of the original (`moves`). Classes are
    then compared with both, unless a requirement says with which.
    """
    return [told for one in requirements for told in _against(one, counts, moves=moves)]


def check_classes(counts: ClassCounts, requirements: Iterable[Requirement]) -> None:
    """Raise PromiseBroken if a class of a release does not meet a requirement."""
    for requirement in requirements:
        n_failing = int((~requirement.holds_in(counts)).sum())
        if n_failing:
            raise PromiseBroken(f"{n_failing:,} classes of the release do not meet {in_words(requirement)}")


def released_columns(
    names: Sequence[str] | None, quasi_identifiers: Iterable[str], goal: Goal, keep: Sequence[str]
) -> list[str]:
    """Return the columns to release, in the order of the original where that is known."""
    quasi_identifiers = list(quasi_identifiers)
    wanted = list(dict.fromkeys([*quasi_identifiers, *goal.sensitive, *keep]))
    for column in keep:
        if column in quasi_identifiers:
            raise InputError.of("a column that is not a quasi-identifier", option="keep", value=column)
    return wanted if names is None else [name for name in names if name in wanted]


def _against(requirement: Requirement, counts: ClassCounts, *, moves: bool) -> list[Requirement]:
    """Add the shares of sensitive values in the original to a requirement that needs them and has none."""
    if getattr(requirement, "reference", 0) is not None:
        return [requirement]
    against = getattr(requirement, "against", "original")
    if against == "release" and moves:
        return [requirement]
    shares = value_shares(counts, requirement.sensitive_columns[0])
    # Of no rows there are no shares, and nothing to compare with them.
    told = replace(requirement, reference=shares) if shares else requirement  # type: ignore[type-var]
    return [told, requirement] if against == "both" and moves else [told]
