"""The hierarchy that is suggested for a quasi-identifier, by the name of its builder, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tokumei.hierarchies.written_dates import date_reader
from tokumei.inspection.column_facts import ColumnFacts
from tokumei.inspection.roles import Suggestion

JAPANESE = range(0x3040, 0x9FFF)


@dataclass(frozen=True)
class HierarchyChoice:
    """A builder with its options, and why; without a builder the value is told or not told."""

    builder: str | None
    reason: str
    options: dict[str, Any] = field(default_factory=dict)


def suggest_hierarchy(facts: ColumnFacts, suggestion: Suggestion) -> HierarchyChoice | None:
    """Suggest how a quasi-identifier is generalized; None for columns of other roles."""
    if suggestion.role != "quasi-identifier" or not facts.n_distinct:
        return None
    kind, values = suggestion.kind, facts.values
    if kind == "sex":
        return HierarchyChoice(None, "sex is told or not told")
    if kind == "prefecture" and all(value.endswith(("都", "道", "府", "県")) for value in values):
        return HierarchyChoice(
            "japan-prefecture", "prefectures lie in regions, these in east and west", {"names": "ja"}
        )
    if kind in ("birth-date", "date") and (facts.type == "date" or date_reader(values) is not None):
        return HierarchyChoice("calendar", "days become months, quarters and years")
    if facts.type in ("number", "whole number") and kind != "postal-code":
        if facts.n_distinct < 4:
            return HierarchyChoice(None, "few numbers: the value or nothing")
        return HierarchyChoice("intervals", "numbers become intervals, joined in pairs")
    if kind == "postal-code" or (kind == "code" and len({len(value) for value in values}) == 1):
        return HierarchyChoice("prefix", "the beginning of a code says most")
    return HierarchyChoice(None, "the value is told or not told; a hierarchy of your own keeps more")
