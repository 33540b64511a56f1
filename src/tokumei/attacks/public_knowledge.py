"""What everybody knows of a release: its rows, the public hierarchies, and how it was made.

An attack that needs no more than that knows no person at all. Where the original is there too, only the judge looks at
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.candidates import classes_of
from tokumei.attacks.threat_model import KnownMethod, ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Json
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.label_semantics import Ints, Vocabulary
from tokumei.hierarchies.labels import number_label, read_range, set_members
from tokumei.hierarchies.leaves import LARGEST_NUMBER, read_number

# Whole numbers between the ends of ranges are listed up to so many.
MOST_LISTED = 100_000


@dataclass(frozen=True, eq=False)
class PublicKnowledge:
    """A release as somebody sees it who knows nobody in it.

    release: the released table; its quasi-identifiers are attacked.
    hierarchies: the public ones, by column. numeric: columns of numbers; those whose labels are all numbers or ranges
    if None. method: how the release was made, as far as that is public.
    truth: the people and whose each row is, for the judge alone; None where nobody can judge. control: people who are
    not in the release, for the judge as well.
    """

    release: Table
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    numeric: Sequence[str] | None = None
    method: KnownMethod = field(default_factory=KnownMethod)
    truth: ThreatModel | None = None
    control: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        if not self.release.n_rows:
            raise InputError.of("a record or more", file=self.release.name, value="no rows")
        if not self.columns:
            raise InputError.of("a quasi-identifier or more", file=self.release.name)

    @classmethod
    def of(cls, threat_model: ThreatModel) -> PublicKnowledge:
        """Take what is public of a threat model, and its original for the judge."""
        original, table = threat_model.original, threat_model.published.table
        columns = [name for name in table.quasi_identifiers if name in original.frame.columns]
        numeric = [name for name in columns if name in threat_model.numeric or original.frame.schema[name].is_numeric()]
        # The judge knows all that was released, however little the people do who attack otherwise.
        everything: Json = {"known_share": 1.0, "known_cells": None, "numbers_off": 0.0, "codes_wrong": 0.0}
        judge = replace(threat_model, known=columns, aimed_at=None, earlier=(), control=None, **everything)
        public = cls(Table(table.frame, columns, name=table.name), threat_model.hierarchies, numeric)
        public = replace(public, method=threat_model.method, control=threat_model.control)
        return threat_model.once("public", lambda: replace(public, truth=judge))

    @property
    def columns(self) -> list[str]:
        """The released quasi-identifiers."""
        return self.release.quasi_identifiers

    @cached_property
    def label_codes(self) -> dict[str, Ints]:
        """For each column the number of each row's label among `labels`."""
        return {name: codes for name, (codes, _) in self._read.items()}

    @cached_property
    def labels(self) -> dict[str, list[str | None]]:
        """For each column its different labels in the order of their texts, a missing one last."""
        return {name: labels for name, (_, labels) in self._read.items()}

    @cached_property
    def class_of(self) -> Ints:
        """The class of each released row: rows that say the same."""
        return self._classes[1]

    @cached_property
    def first_rows(self) -> Ints:
        """A row of each class, the first one."""
        first = np.full(len(self._classes[0]), self.release.n_rows)
        np.minimum.at(first, self.class_of, np.arange(self.release.n_rows))
        return first

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return np.bincount(self.class_of)

    @property
    def k_asked(self) -> int:
        """The k that was asked for; if that is not known, the least class, since nobody asked for more."""
        return int(self.sizes.min()) if self.method.k is None else self.method.k

    def labels_of_classes(self, column: str) -> Ints:
        """Return the number of the label of each class."""
        if column not in self._class_labels:
            self._class_labels[column] = self.label_codes[column][self.first_rows]
        return self._class_labels[column]

    @cached_property
    def _class_labels(self) -> dict[str, Ints]:
        return {}

    def is_numeric(self, column: str) -> bool:
        """Whether a column holds numbers: it was named, or all of its labels are numbers or ranges of them."""
        if self.numeric is not None:
            return column in self.numeric
        told = [label for label in self.labels[column] if label is not None and label != SUPPRESSED]
        return bool(told) and all(read_number(label) is not None or read_range(label) is not None for label in told)

    def vocabulary(self, column: str) -> Vocabulary:
        """Return the leaves of a column as the public knows them, and what its labels stand for.

        Without a hierarchy these are the values that stand in the release, the members of its sets and, of whole
        numbers, all from the least to the greatest end of a range.
        """
        if column not in self._vocabularies:
            is_numeric, tree = self.is_numeric(column), self.hierarchies.get(column)
            if tree is not None:
                self._vocabularies[column] = Vocabulary(tree, is_numeric)
            else:
                texts = _number_texts(self.labels[column]) if is_numeric else _value_texts(self.labels[column])
                values = [pl.Series(column, texts, pl.String)]
                self._vocabularies[column] = Vocabulary.of(column, values, is_numeric=is_numeric)
        return self._vocabularies[column]

    @cached_property
    def _vocabularies(self) -> dict[str, Vocabulary]:
        return {}

    @cached_property
    def _read(self) -> dict[str, tuple[Ints, list[str | None]]]:
        out: dict[str, tuple[Ints, list[str | None]]] = {}
        for name in self.columns:
            text = column_of(self.release.frame, name, self.release.name).cast(pl.String)
            labels = text.unique().sort(nulls_last=True)
            codes = text.cast(pl.Enum(labels.drop_nulls())).to_physical().cast(pl.Int64)
            out[name] = codes.fill_null(labels.len() - 1).to_numpy(), labels.to_list()
        return out

    @cached_property
    def _classes(self) -> tuple[Ints, Ints]:
        return classes_of([self.label_codes[name] for name in self.columns], self.release.n_rows)


@dataclass(frozen=True, eq=False)
class Deductions:
    """What an attack deduced from public knowledge: its scores, its claims, what they narrow, and what it assumed.

    claims: a row each, see `CLAIM_COLUMNS`; `is_true` is missing where no original was there to judge by.
    rows: for each released row, counted from 1, what its labels leave open, and what the claims remove of that.
    candidates: rows of people that the attacker takes for likely, the surest first; None of attacks that guess none.
    """

    scores: Mapping[str, Score]
    claims: pl.DataFrame
    rows: pl.DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)
    candidates: pl.DataFrame | None = None


# row: the first released row of the class, counted from 1; rows: how many rows the class has; kind: the reasoning;
# least and most: how many of the rows have the value; proven: it follows from the facts that were assumed.
CLAIM_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.Int64,
    "rows": pl.Int64,
    "column": pl.String,
    "label": pl.String,
    "kind": pl.String,
    "value": pl.String,
    "least": pl.Int64,
    "most": pl.Int64,
    "claim": pl.String,
    "proven": pl.Boolean,
    "is_true": pl.Boolean,
}


def _value_texts(labels: Sequence[str | None]) -> list[str]:
    members = [member for label in labels if label is not None for member in set_members(label) or [label]]
    # A mask such as 130** stands for values that nobody sees: it is one of its own.
    return [text for text in dict.fromkeys(members) if text != SUPPRESSED]


def _number_texts(labels: Sequence[str | None]) -> list[str]:
    ends: set[Fraction] = set()
    for label in (label for label in labels if label is not None):
        number, found = read_number(label), read_range(label)
        ends |= {number} if number is not None else {found.low, found.high} if found is not None else set()
    ends = {end for end in ends if abs(end) <= LARGEST_NUMBER}
    if ends and all(end.denominator == 1 for end in ends) and max(ends) - min(ends) < MOST_LISTED:
        ends = {Fraction(number) for number in range(int(min(ends)), int(max(ends)) + 1)}
    return [number_label(end) for end in sorted(ends)]
