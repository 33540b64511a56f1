"""Claims about the rows of a class that somebody deduced, whether they are true, and whether they single a row out.

A predicate singles out if it fits one row alone: the question is whether the end of a range does so more often than any
value of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.attacks.candidates import CandidateRecords, Candidates, People, share_score
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import CLAIM_COLUMNS, PublicKnowledge
from tokumei.attacks.threat_model import NOBODY, ThreatModel
from tokumei.core.score import Score
from tokumei.core.text import Json
from tokumei.hierarchies.label_semantics import Ints, Vocabulary

Rule = Literal["count", "each", "spread", "pile", "minority", "any", "outside"]
Leaf = int | str
"""The index of a value in the hierarchy of its column or, where there is none, the value itself."""
Leaves = frozenset[Leaf]
# The index of the missing value, which has another one in every vocabulary.
MISSING = -1


@dataclass(frozen=True, eq=False)
class Claim:
    """What is said of one column of a class of rows, or of all classes or columns where that is None.

    rule: `count`: from `least` to `most` of the rows have one of the `leaves`; `each`: from `least` to `most` of them
    have one of each of `parts`; `spread`: at least `least` of `parts` occur; `pile`: some value has `least` rows or
    more; `minority`: some of `parts` has from `least` to `most` rows; `any`: one of the `reasons` is true; `outside`:
    no row fits a released class but its own.
    leaves, parts: indices of the leaves of the column's hierarchy, or MISSING; where there is none a number or a label.
    value: what it says in a word, where that is one value or label. is_exact: whether that is one value alone.
    """

    class_number: int | None
    column: str | None
    kind: str
    rule: Rule
    least: int
    most: int
    text: str
    value: str | None = None
    leaves: Leaves | Fraction | str = frozenset()
    parts: Sequence[Leaves] = ()
    is_exact: bool = False
    reasons: Sequence[Claim] = ()


def claims_frame(public: PublicKnowledge, claims: Sequence[Claim]) -> pl.DataFrame:
    """Return claims as a frame, judged where the original is there."""
    firsts, sizes = (public.first_rows + 1).tolist(), public.sizes.tolist()
    label_of = {name: public.labels_of_classes(name).tolist() for name in public.columns}
    truth = None if public.truth is None else ClassContents(public, public.truth)

    def label(one: Claim) -> str | None:
        if one.column is None or one.class_number is None:
            return None
        found: str | None = public.labels[one.column][label_of[one.column][one.class_number]]
        return found

    rows = {
        "row": [None if one.class_number is None else firsts[one.class_number] for one in claims],
        "rows": [public.release.n_rows if one.class_number is None else sizes[one.class_number] for one in claims],
        "column": [one.column for one in claims],
        "label": [label(one) for one in claims],
        "kind": [one.kind for one in claims],
        "value": [one.value for one in claims],
        "least": [one.least for one in claims],
        "most": [one.most for one in claims],
        "claim": [one.text for one in claims],
        "proven": [True] * len(claims),
        "is_true": [None if truth is None else truth.holds(one) for one in claims],
    }
    frame = pl.DataFrame(rows, schema=CLAIM_COLUMNS)
    return frame.sort("row", "column", "kind", "value", nulls_last=True, maintain_order=True)


class ClassContents:
    """The values that the rows of each class really have."""

    def __init__(self, public: PublicKnowledge, truth: ThreatModel) -> None:
        self._truth, self._sizes = truth, public.sizes
        owners = truth.published.owners(truth.original.n_rows)
        is_owned = owners != NOBODY
        n_classes = len(public.sizes)
        # Of a class with a row that is nobody's, not all is known.
        self._is_whole = np.bincount(public.class_of[is_owned], minlength=n_classes) == public.sizes
        self._classes, self._rows, self._n_classes = public.class_of[is_owned], owners[is_owned], n_classes
        self._counts: dict[str, sparse.csr_array] = {}
        self._lists: dict[str, tuple[list[int], list[int], list[int]]] = {}
        # Many claims speak of the same leaves, and to look thousands of texts up takes long.
        self._known: dict[tuple[str, Leaves], Leaves] = {}
        self._places: dict[tuple[str, tuple[Leaves, ...]], dict[Leaf, list[int]]] = {}

    def counts(self, column: str) -> sparse.csr_array:
        """Return how many rows of each class have each value, by its index in the vocabulary."""
        if column not in self._counts:
            vocabulary, original = self._truth.vocabulary(column), self._truth.original
            values = vocabulary.indices(original.frame[column], file=original.name)[self._rows]
            shape = (self._n_classes, vocabulary.n_leaves + 1)
            ones = np.ones(len(values), np.int64)
            self._counts[column] = sparse.coo_array((ones, (self._classes, values)), shape=shape).tocsr()
        return self._counts[column]

    def holds(self, claim: Claim) -> bool | None:
        """Whether a claim is true; None where a row of the class is nobody's."""
        if claim.rule == "any":
            judged = [self.holds(one) for one in claim.reasons]
            return True if True in judged else None if None in judged else False
        assert claim.class_number is not None  # noqa: S101 - only `any` speaks of all classes.
        if not self._is_whole[claim.class_number]:
            return None
        if claim.rule == "outside":
            return self._is_outside(claim.class_number)
        assert claim.column is not None  # noqa: S101 - only `outside` speaks of all columns.
        found = self._values(claim.column, claim.class_number)
        if claim.rule == "count":
            return claim.least <= _among(found, self._leaves(claim)) <= claim.most
        if claim.rule == "pile":
            return max(rows for _, rows in found) >= claim.least
        n_rows = self._rows_of_parts(claim.column, tuple(claim.parts), found)
        if claim.rule == "each":
            return all(claim.least <= n <= claim.most for n in n_rows)
        if claim.rule == "spread":
            return sum(n > 0 for n in n_rows) >= claim.least
        return any(claim.least <= n <= claim.most for n in n_rows)

    def _is_outside(self, number: int) -> bool:
        """Whether the rows of a class fit no class but their own."""
        table, own = self._truth.published.table, np.unique(self._rows[self._classes == number])
        records = CandidateRecords.of(self._truth, table.frame, table.name)
        people = People.of(self._truth, self._truth.original.frame, self._truth.original.name, rows=own)
        n_own = self._sizes[number]
        return bool((Candidates(people, records).counts() == n_own).all())

    def _leaves(self, claim: Claim) -> Leaves:
        vocabulary = self._truth.vocabulary(claim.column or "")
        if isinstance(claim.leaves, Fraction):
            return index_of_number(vocabulary, claim.leaves)
        if isinstance(claim.leaves, str):
            return indices_of_labels(vocabulary, [claim.leaves])[0]
        return self._known_in(claim.column or "", claim.leaves)

    def _rows_of_parts(self, column: str, parts: tuple[Leaves, ...], found: Sequence[tuple[int, int]]) -> list[int]:
        """Return how many rows have a value of each part; a class has few values, and a label may have thousands."""
        if (column, parts) not in self._places:
            places: dict[Leaf, list[int]] = {}
            for place, part in enumerate(parts):
                for leaf in self._known_in(column, part):
                    places.setdefault(leaf, []).append(place)
            self._places[column, parts] = places
        own, n_rows = self._places[column, parts], [0] * len(parts)
        for value, rows in found:
            for place in own.get(value, ()):
                n_rows[place] += rows
        return n_rows

    def _known_in(self, column: str, leaves: Leaves) -> Leaves:
        """Return the indices of leaves, those named by their text looked up once."""
        if (column, leaves) not in self._known:
            self._known[column, leaves] = _known_in(self._truth.vocabulary(column), leaves)
        return self._known[column, leaves]

    def _values(self, column: str, number: int) -> list[tuple[int, int]]:
        """Return the values of a class with the number of rows that have each."""
        if column not in self._lists:
            counts, missing = self.counts(column), self._truth.vocabulary(column).n_leaves
            values = np.where(counts.indices == missing, MISSING, counts.indices)
            self._lists[column] = counts.indptr.tolist(), values.tolist(), counts.data.tolist()
        starts, listed, rows = self._lists[column]
        own = slice(starts[number], starts[number + 1])
        return list(zip(listed[own], rows[own], strict=True))


def _known_in(vocabulary: Vocabulary, leaves: Leaves) -> Leaves:
    """Return the indices of leaves, looking those up that are named by their text."""
    texts = sorted(leaf for leaf in leaves if isinstance(leaf, str))
    numbers: Leaves = frozenset(leaf for leaf in leaves if isinstance(leaf, int))
    return numbers.union(*indices_of_labels(vocabulary, texts)) if texts else leaves


def index_of_number(vocabulary: Vocabulary, number: Fraction) -> Leaves:
    """Return the index of the leaf that is a number; none if no leaf is."""
    found = vocabulary.index_of_number.get(number)
    return frozenset() if found is None else frozenset([found])


def indices_of_labels(vocabulary: Vocabulary, labels: Sequence[str]) -> list[Leaves]:
    """Return the indices that each label stands for."""
    sets = vocabulary.leaf_sets(labels)
    out: list[set[int]] = [set() for _ in labels]
    for label, first, end in zip(sets.label.tolist(), sets.first.tolist(), sets.end.tolist(), strict=True):
        out[label] |= set(range(first, end))
    return [frozenset(one) for one in out]


def _among(found: Sequence[tuple[int, int]], leaves: Leaves) -> int:
    return sum(rows for value, rows in found if value in leaves)


def least_by_cell(claims: Iterable[Claim]) -> dict[tuple[int, str], int]:
    """Return for each class and column how many of its rows have a value that is known exactly."""
    best: dict[tuple[int, str, str | None], int] = {}
    for one in claims:
        if one.is_exact and one.class_number is not None and one.column is not None:
            key = one.class_number, one.column, one.value
            best[key] = max(best.get(key, 0), one.least)
    out: dict[tuple[int, str], int] = {}
    for (number, column, _), least in best.items():
        out[number, column] = out.get((number, column), 0) + least
    return out


def known_cells(
    public: PublicKnowledge, is_generalized: Mapping[str, Sequence[bool]], claims: Iterable[Claim]
) -> Score:
    """Measure which share of the generalized cells is known exactly, up to the order of rows that say the same.

    is_generalized: for each column whether each of its labels leaves open which value stood there.
    """
    known = least_by_cell(claims)
    by_column, n_known, n_cells = {}, 0, 0
    for column, is_open in is_generalized.items():
        n_own = int(public.sizes[np.array(is_open)[public.labels_of_classes(column)]].sum())
        # Where what is assumed of a release is false, claims contradict each other and would add up to more than all.
        n_exact = sum(min(n, int(public.sizes[number])) for (number, one), n in known.items() if one == column)
        n_known, n_cells = n_known + n_exact, n_cells + n_own
        if n_own:
            by_column[column] = n_exact / n_own
    certain = share_score("cells-certain", n_known, n_cells)
    return replace(certain, inputs={"cells": n_cells, "by_column": by_column})


def summary_of(claims: pl.DataFrame) -> Json:
    """Count the claims of each kind, those that are true, and show one of each."""
    by_kind = claims.group_by("kind", maintain_order=True).agg(
        pl.len().alias("claims"),
        pl.col("is_true").mean().alias("true"),
        pl.struct("row", "column", "label", "claim").first().alias("example"),
    )
    return {
        "claims": claims.height,
        "claims_true": mean_of(claims["is_true"]),
        "claims_by_kind": {
            kind: {"claims": n, "true": true, "example": example}
            for kind, n, true, example in by_kind.sort("claims", descending=True).iter_rows()
        },
    }


def mean_of(values: pl.Series) -> float | None:
    """Return the mean of the values that are known; None if none is."""
    known = values.drop_nulls()
    return float(known.cast(pl.Float64).sum()) / len(known) if len(known) else None


@dataclass
class _Tally:
    """Predicates at the ends of ranges, how many of them fit one row, and how many any value would."""

    n_ends: int = 0
    n_alone: float = 0.0
    n_alone_anywhere: float = 0.0


def singling_out(public: PublicKnowledge, readings: Sequence[LabelReading], truth: ThreatModel) -> Score:
    """Measure which share of predicates "value = end of the range, others within the labels" fit one row of all.

    The baseline is the share of the values of the same ranges, each alike, for which that is so.
    """
    found: dict[str, _Tally] = {}
    fitting = _fitting(public, truth) if any(any(one.ranges) for one in readings) else None
    for reading in (one for one in readings if any(one.ranges)):
        counts = _by_value(truth, reading.column, *fitting) if fitting else None
        found[reading.column] = _tally(public, truth, reading, counts)
    return _score("singled-out", found)


def expected_singling_out(
    public: PublicKnowledge, readings: Sequence[LabelReading], is_tight: Mapping[str, bool]
) -> Score:
    """Estimate the same without the original, as if all values of a range were alike and no other class fitted."""
    found: dict[str, _Tally] = {}
    for reading in (one for one in readings if any(one.ranges)):
        tally = found.setdefault(reading.column, _Tally())
        for label, size in zip(public.labels_of_classes(reading.column).tolist(), public.sizes.tolist(), strict=True):
            n_ends, n_values = len(reading.ends[label]), max(1.0, reading.n_possible[label])
            # Rows of which one stands at each end for certain, and the others anywhere.
            n_fixed = n_ends if is_tight.get(reading.column) and size >= n_ends else 0
            alone = _chance_of_none(n_values, size - n_fixed)
            anew = (size - n_fixed) / n_values * _chance_of_none(n_values, size - n_fixed - 1)
            at_end = alone if n_fixed else anew
            anywhere = (n_fixed * alone + (n_values - n_fixed) * anew) / n_values
            tally.n_ends += n_ends
            tally.n_alone += n_ends * min(1.0, at_end)
            tally.n_alone_anywhere += n_ends * min(1.0, max(0.0, anywhere))
    return _score("singled-out-estimate", found)


def _chance_of_none(n_values: float, n_rows: int) -> float:
    return (1 - 1 / n_values) ** max(0, n_rows) if n_values > 1 else float(n_rows <= 0)


def _score(name: str, found: Mapping[str, _Tally]) -> Score:
    n_ends = sum(one.n_ends for one in found.values())
    anywhere = sum(one.n_alone_anywhere for one in found.values()) / max(1, n_ends)
    by_column = {
        column: {
            "predicates": one.n_ends,
            "end": one.n_alone / max(1, one.n_ends),
            "any": one.n_alone_anywhere / max(1, one.n_ends),
        }
        for column, one in found.items()
    }
    n_alone: float = math.fsum(one.n_alone for one in found.values())
    score = share_score(name, n_alone, n_ends, anywhere)
    return replace(score, inputs={"predicates": n_ends, "by_column": by_column})


def _tally(
    public: PublicKnowledge, truth: ThreatModel, reading: LabelReading, counts: sparse.csr_array | None
) -> _Tally:
    tally, vocabulary = _Tally(), truth.vocabulary(reading.column)
    if counts is None:
        return tally
    is_alone = counts.copy()
    is_alone.data = (is_alone.data == 1).astype(np.int64)
    ends = {
        label: [index_of_number(vocabulary, end) for end in reading.ends[label]] for label in range(len(reading.labels))
    }
    starts, values, alone = is_alone.indptr.tolist(), is_alone.indices.tolist(), is_alone.data.tolist()
    for number, label in enumerate(public.labels_of_classes(reading.column).tolist()):
        own = slice(starts[number], starts[number + 1])
        single = {value for value, is_one in zip(values[own], alone[own], strict=True) if is_one}
        tally.n_ends += len(ends[label])
        tally.n_alone += sum(bool(at & single) for at in ends[label])
        tally.n_alone_anywhere += len(ends[label]) * min(1.0, len(single) / max(1.0, reading.n_possible[label]))
    return tally


def _fitting(public: PublicKnowledge, truth: ThreatModel) -> tuple[People, sparse.csr_array]:
    """Return all people of the original, and which classes of records each class of them fits."""
    table = truth.published.table
    records = CandidateRecords.of(truth, table.frame, table.name)
    people = People.of(truth, truth.original.frame, truth.original.name)
    matrices = list(Candidates(people, records).matrices())
    order = np.concatenate([classes for classes, _ in matrices])
    fits = sparse.vstack([fitting for _, fitting in matrices], format="csr")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    # The classes here are those of the records, in whichever order these were numbered.
    return people, fits[back][:, records.class_of[public.first_rows]]


def _by_value(truth: ThreatModel, column: str, people: People, fits: sparse.csr_array) -> sparse.csr_array:
    """Count for each class and value the people who have the value and fit the other labels as well."""
    vocabulary, original = truth.vocabulary(column), truth.original
    values: Ints = vocabulary.indices(original.frame[column], file=original.name)
    shape = (len(people.indices), vocabulary.n_leaves + 1)
    having = sparse.coo_array((np.ones(len(values), np.int64), (people.class_of, values)), shape=shape).tocsr()
    return sparse.csr_array(fits.T.tocsr() @ having)
