"""How many rows a predicate fits: whether the end of a range singles somebody out more often than any value of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from tokumei.attacks.candidates import CandidateRecords, Candidates, People
from tokumei.attacks.claims import index_of_number
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.attacks.targets import share_score
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.score import Score
from tokumei.hierarchies.label_semantics import Ints


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
