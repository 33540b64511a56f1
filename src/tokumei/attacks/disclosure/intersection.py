"""The attacker who holds several releases of the same people side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from tokumei.attacks.candidates import (
    CandidateRecords,
    Candidates,
    People,
    drawn_success,
    n_own_fitting,
    own_records,
    riskiest_of,
    share_score,
    target_people,
)
from tokumei.attacks.threat_model import Published, ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets

# Which labels of two releases agree is found leaf by leaf; a hostile file could ask for billions.
MOST_LEAVES = 1 << 25


@dataclass(frozen=True)
class Intersection:
    """Find the record of a person by what several releases of the same people leave together.

    Knowledge: as of record linkage, and that the person is in every release. Aim: their record in the last one. A
    record of the last release stays a candidate if its sensitive values, all together, may be those of a record that
    fits in each earlier release; without a sensitive column in all releases the earlier ones tell nothing. Success:
    `certain` is the share of people with one candidate, which is theirs, `success` the share whose record is drawn
    among the candidates. `linked-certain` and `linked-success` are the same if the attacker could tell which records of
    the releases are one person's, by their order or by a name: candidates are then the people who fit in every release,
    and the fewest there are, `k` among the inputs, is the k that all releases together keep. Baseline: drawing any
    record. Only people who are in every release are looked for (Ganta, Kasiviswanathan and Smith 2008; m-invariance of
    Xiao and Tao 2007 answers it).

    Example: (f, A), (f, B), (m, A) and (m, B) have flu, cold, cold and cough. One release keeps sex and hides the town,
    the last keeps the town and hides sex; each has two records for everybody. In the last (f, B) fits cold and cough,
    but in the first flu and cold: only cold stays. So `certain` is 1/2, a guess finds (1/2 + 1 + 1 + 1/2) / 4 = 3/4,
    and who can link the records finds everybody: `linked-certain` is 1, and k is 1.
    """

    needs: ClassVar[tuple[str, ...]] = ("earlier",)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Narrow the candidates of each person release by release."""
        if not threat_model.earlier:
            raise InputError.of("an earlier release of the same people")
        releases = [threat_model.published, *threat_model.earlier]
        n_people = threat_model.original.n_rows
        owners = [one.owners(n_people) for one in releases]
        targets = reduce(np.intersect1d, [threat_model.targets, *(np.unique(own[own >= 0]) for own in owners)])
        if not len(targets):
            raise InputError.of("a person or more in every release", file=threat_model.published.table.name)
        people = target_people(threat_model, seed, targets)
        n_left, n_own, n_alone, n_own_alone = _unlinked(threat_model, people, targets)
        n_linked, n_own_linked = _linked(threat_model, people, targets, releases)
        blind = 1 / threat_model.published.table.n_rows
        alone = float((n_own_alone / np.maximum(n_alone, 1)).mean())
        before = {"expected_from_the_last_alone": alone, "fewest_in_the_last_alone": int(n_alone.min())}
        scores = {}
        for mark, left, own, base, inputs in (
            ("", n_left, n_own, blind, before),
            ("linked-", n_linked, n_own_linked, 1 / len(targets), {}),
        ):
            is_certain = (left == 1) & (own == 1)
            more: dict[str, Any] = {"k": int(left.min()), **inputs}
            name = f"{mark}success"
            scores[f"{mark}certain"] = share_score(f"{mark}certain", int(is_certain.sum()), len(targets), base)
            chances = own / np.maximum(left, 1)
            more |= riskiest_of(targets, chances)
            scores[name] = drawn_success(name, chances, base, purpose=f"intersection {name}", seed=seed, inputs=more)
        return scores


def _linked(
    threat_model: ThreatModel, people: People, targets: Ints, releases: Sequence[Published]
) -> tuple[Ints, Ints]:
    """Count the people who fit each person in every release, the person among them."""
    columns: list[Ints] = []
    sets: list[LeafSets] = []
    for one in releases:
        owners, records = own_records(one, targets, threat_model.original.n_rows)
        # The first record of each; more than one is rare.
        record = records[np.unique(owners, return_index=True)[1]]
        for column in threat_model.known_columns:
            cells, name = column_of(one.table.frame, column, one.table.name), one.table.name
            codes, leaf_sets = threat_model.read_labels(column, cells, name)
            columns.append(codes[record])
            sets.append(leaf_sets)
    joint = CandidateRecords.of_labels(columns, sets, len(targets))
    known = People(np.tile(people.indices, len(releases)), people.class_of)
    everyone = np.arange(len(targets))
    return Candidates(known, joint).counts()[known.class_of], n_own_fitting(known, joint, everyone, everyone)


def _unlinked(threat_model: ThreatModel, people: People, targets: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Count each person's candidates in the last release and their own among them; then the same of it alone."""
    last = threat_model.published.table
    tables = [last, *(one.table for one in threat_model.earlier)]
    shared = [name for name in threat_model.sensitive if all(name in table.frame.columns for table in tables)]
    known, sensitive = CandidateRecords.of(threat_model, last.frame, last.name), _Labels.of(threat_model, last, shared)
    # Records are told apart by their sensitive values as well.
    columns = [known.labels[known.class_of, index] for index in range(known.labels.shape[1])]
    whole = CandidateRecords.of_labels([*columns, sensitive.codes], known.sets, last.n_rows)
    records = CandidateRecords(whole.labels[:, : len(columns)], whole.class_of, known.sets)
    before = [
        _Earlier(
            CandidateRecords.of(threat_model, one.table.frame, one.table.name),
            _Labels.of(threat_model, one.table, shared),
            sensitive,
        )
        for one in threat_model.earlier
    ]
    owners, own = own_records(threat_model.published, targets, threat_model.original.n_rows)
    n_left, n_alone = np.zeros(len(people.indices), np.int64), np.zeros(len(people.indices), np.int64)
    is_left = np.zeros(len(own), bool)
    class_of_own = records.class_of[own]
    # The records of each class of people, one after the other.
    by_class = np.argsort(people.class_of[owners], kind="stable")
    starts = np.searchsorted(people.class_of[owners][by_class], np.arange(len(people.indices) + 1))
    for classes, fitting, allowed in _pieces(people, records, before):
        left, rows = fitting.copy(), np.repeat(np.arange(fitting.shape[0]), np.diff(fitting.indptr))
        for one in allowed:
            left.data *= _holds(one, rows, whole.labels[left.indices, len(columns)])
        n_alone[classes], n_left[classes] = fitting @ records.sizes, left @ records.sizes
        left.eliminate_zeros()
        here = np.concatenate([by_class[starts[one] : starts[one + 1]] for one in classes])
        row = np.repeat(np.arange(len(classes)), starts[classes + 1] - starts[classes])
        is_left[here] = _holds(left, row, class_of_own[here])
    n_own = np.bincount(owners[is_left], minlength=len(targets))
    n_own_alone = n_own_fitting(people, records, owners, own)
    return n_left[people.class_of], n_own, n_alone[people.class_of], n_own_alone


@dataclass(frozen=True, eq=False)
class _Labels:
    """The sensitive labels of a release: for each record the number of its combination, and the labels in each.

    `leaves` has for each sensitive column the leaves that its labels stand for.
    """

    codes: Ints
    combinations: Ints
    leaves: list[sparse.csr_array]

    @classmethod
    def of(cls, threat_model: ThreatModel, table: Table, columns: Sequence[str]) -> _Labels:
        codes, leaves = [np.zeros(table.n_rows, np.int64)], []
        for column in columns:
            found, sets = threat_model.vocabulary(column).read(table.frame[column], file=table.name)
            if int(sets.sizes.sum()) > MOST_LEAVES:
                expected = f"labels that stand for at most {MOST_LEAVES:,} values in all"
                raise InputError.of(expected, file=table.name, column=column, value=f"{int(sets.sizes.sum()):,}")
            codes.append(found)
            leaves.append(_incidence(sets))
        combinations, numbers = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
        return cls(numbers.reshape(-1).astype(np.int64), combinations[:, 1:], leaves)

    def agreeing(self, other: _Labels) -> sparse.csr_array:
        """Return which combinations here and there may be the same person's: every column has a leaf in common."""
        pairs = [sparse.csr_array(one @ theirs.T) for one, theirs in zip(self.leaves, other.leaves, strict=True)]
        if not pairs:
            return sparse.csr_array(np.ones((len(self.combinations), len(other.combinations)), np.int64))
        # By the column whose labels agree least, so that few pairs of combinations are ever made.
        n_pairs = [
            _n_joined(pair, self.combinations[:, at], other.combinations[:, at]) for at, pair in enumerate(pairs)
        ]
        first = int(np.argmin(n_pairs))
        if n_pairs[first] > MOST_LEAVES:
            expected = f"sensitive values of which at most {MOST_LEAVES:,} pairs agree"
            raise InputError.of(expected, value=f"{n_pairs[first]:,}")
        found = sparse.coo_array(pairs[first][self.combinations[:, first]][:, other.combinations[:, first]])
        row, column = found.row.astype(np.int64), found.col.astype(np.int64)
        for at, pair in enumerate(pairs):
            pair.sort_indices()
            is_same = _holds(pair, self.combinations[row, at], other.combinations[column, at])
            row, column = row[is_same], column[is_same]
        shape = (len(self.combinations), len(other.combinations))
        return sparse.csr_array(sparse.coo_array((np.ones(len(row), np.int64), (row, column)), shape=shape))


def _n_joined(pairs: sparse.csr_array, labels: Ints, others: Ints) -> int:
    """Count the pairs of combinations whose labels of one column agree."""
    n_own = np.bincount(labels, minlength=pairs.shape[0])
    n_others = np.bincount(others, minlength=pairs.shape[1])
    return int(n_own @ ((pairs > 0).astype(np.int64) @ n_others))


@dataclass(frozen=True, eq=False)
class _Earlier:
    """An earlier release: its records, and which combinations of the last release each of theirs agrees with."""

    records: CandidateRecords
    labels: _Labels
    last: _Labels

    @cached_property
    def _of_classes(self) -> sparse.csr_array:
        """For each class of records the combinations of the last release that one of its records agrees with."""
        codes = self.labels.codes
        shape = (self.records.n_classes, len(self.labels.combinations))
        held = sparse.coo_array((np.ones(len(codes), np.int64), (self.records.class_of, codes)), shape=shape)
        return sparse.csr_array(sparse.csr_array(held) @ self.labels.agreeing(self.last))

    def agreeing(self, fitting: sparse.csr_array) -> sparse.csr_array:
        """Return the combinations of the last release that a fitting record agrees with."""
        found = sparse.csr_array(fitting @ self._of_classes)
        found.sort_indices()
        return found


def _pieces(
    people: People, records: CandidateRecords, before: Sequence[_Earlier]
) -> Iterator[tuple[Ints, sparse.csr_array, list[sparse.csr_array]]]:
    """Yield the candidates of some people at a time, with the labels that each earlier release allows."""
    all_candidates = [Candidates(people, one) for one in (records, *(earlier.records for earlier in before))]
    # The finest division is fine enough for all.
    chunks = max((one.chunks() for one in all_candidates), key=len)
    with step("comparing", len(chunks)) as bar:
        for pieces in zip(*(one.matrices(chunks) for one in all_candidates), strict=True):
            (classes, fitting), earlier = pieces[0], [matrix for _, matrix in pieces[1:]]
            fitting.sort_indices()
            yield classes, fitting, [one.agreeing(matrix) for one, matrix in zip(before, earlier, strict=True)]
            bar.advance()


def _holds(matrix: sparse.csr_array, rows: Ints, columns: Ints) -> Bools:
    """Return for each row whether the matrix has a cell in the column beside it."""
    width = matrix.shape[1]
    at_row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    keys = at_row * width + matrix.indices
    wanted = rows.astype(np.int64) * width + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    out: Bools = keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)
    return out


def _incidence(sets: LeafSets) -> sparse.csr_array:
    """Return labels × indices, 1 where a label stands for an index."""
    lengths = sets.end - sets.first
    label = np.repeat(sets.label, lengths)
    start = np.repeat(np.cumsum(lengths) - lengths, lengths)
    index = np.repeat(sets.first, lengths) + np.arange(len(label)) - start
    ones = np.ones(len(label), np.int64)
    return sparse.csr_array(sparse.coo_array((ones, (label, index)), shape=(sets.n_labels, sets.n_indices)))
