"""What legal checks look at: the released columns as they are recognized, and the numbers that were measured."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from tokumei.attacks.verdict import MET, NOT_MET
from tokumei.inspection.column_facts import ColumnFacts, column_facts
from tokumei.inspection.kinds import header_words
from tokumei.inspection.roles import Suggestion, suggest_role

# Columns that these words name hold the body of a person, which no text tells.
_BODY = {
    "biometric": r"\b(fingerprints?|voice ?prints?|iris|retina|biometrics?|gait|dna|genome)\b|指紋"
    r"|虹彩|声紋|静脈|歩容|ゲノム",
    "photo": r"\b(photos?|photographs?|face|images?|pictures?|selfie)\b|写真|顔|画像",
}


@dataclass(frozen=True)
class Finding:
    """One item of a law: what it asks, where that is written, what was found, and by what evidence.

    said: the evidence as a sentence, with a {name} for each of `values`, so that it can be said in other languages.
    who: the recipient that it is about, where it differs from one to another.
    """

    article: str
    asks: str
    finding: str
    said: str
    values: Mapping[str, Any] = field(default_factory=dict)
    who: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return {
            "article": self.article,
            "item": self.asks if self.who is None else f"{self.asks} ({self.who})",
            "finding": self.finding,
            "evidence": self.said.format(**self.values),
            "asks": self.asks,
            "who": self.who,
            "said": self.said,
            "values": dict(self.values),
        }


@dataclass(frozen=True)
class LegalCase:
    """A release to check; `attacks` and `bounds` as the dossier has them, `known` the quasi-identifiers."""

    released: pl.DataFrame
    known: Sequence[str]
    k: int
    attacks: Sequence[Mapping[str, Any]] = ()
    bounds: Sequence[Mapping[str, Any]] = ()
    # None where nobody said where the processing information lies.
    is_secret_apart: bool | None = None
    secrets: Sequence[str] = field(default_factory=tuple)
    # Columns of pseudonyms that were drawn at random, and so follow from nothing that anybody knows.
    pseudonyms: Sequence[str] = ()
    # Whether ranges of numbers are of a public grid or tight; None where there are none, or nobody said.
    ranges: str | None = None
    # What the method writes of the values of people, in a sentence; None where there is nothing to tell.
    gives_away: str | None = None
    # In which ages are counted.
    year: int = field(default_factory=lambda: dt.datetime.now(dt.UTC).year)

    @cached_property
    def facts(self) -> dict[str, ColumnFacts]:
        """The counts of each released column."""
        return {column.name: column_facts(column) for column in self.released.get_columns()}

    @cached_property
    def columns(self) -> dict[str, Suggestion]:
        """What each released column is recognized as."""
        return {name: suggest_role(facts) for name, facts in self.facts.items()}

    def of_kinds(self, *kinds: str) -> dict[str, str]:
        """Return the released columns of some kinds, with the reason; pseudonyms drawn at random are of none."""
        told = {name: one for name, one in self.columns.items() if name not in self.pseudonyms}
        return {name: one.reason for name, one in told.items() if one.kind in kinds}

    def of_body(self, what: str) -> list[str]:
        """Return the columns that are named after a part of the body, or hold bytes."""
        named = [name for name in self.columns if re.search(_BODY[what], header_words(name), re.IGNORECASE)]
        return [
            *named,
            *(name for name, kind in self.released.schema.items() if kind == pl.Binary and name not in named),
        ]

    def without(self, article: str, item: str, *kinds: str) -> Finding:
        """Item that is met where no released column is recognized as one of some kinds."""
        found = self.of_kinds(*kinds)
        if found:
            said = "; ".join(f"{name}: {why}" for name, why in found.items())
            return Finding(article, item, NOT_MET, "{found}", {"found": said})
        return Finding(
            article, item, MET, "none of the {n} released columns is recognized as such", {"n": self.released.width}
        )
