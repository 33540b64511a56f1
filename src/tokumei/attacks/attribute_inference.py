"""What the records that fit somebody tell about a sensitive value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.attacks.candidates import CandidateRecords, Candidates, Floats, People, classes_of
from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets

# Counted values that are worked on at once.
PIECE_CELLS = 1 << 21
NONE = -1
# A table of keys may be so many times as long as what is looked up in it.
DENSE_FACTOR = 4


@dataclass(frozen=True, eq=False)
class SensitiveRecords:
    """The sensitive values of released records, counted in each class: classes × labels."""

    column: str
    records: CandidateRecords
    labels: LeafSets
    counts: sparse.csr_array
    label_of_index: Ints
    """For each index the label that tells it alone, or NONE."""

    @classmethod
    def of(cls, threat_model: ThreatModel, column: str) -> SensitiveRecords:
        """Count the values of a sensitive column in each class of records, once for all attacks."""
        return threat_model.once(("sensitive", column), lambda: cls._count(threat_model, column))

    @classmethod
    def _count(cls, threat_model: ThreatModel, column: str) -> SensitiveRecords:
        table = threat_model.published.table
        records = CandidateRecords.of(threat_model, table.frame, table.name)
        codes, labels = threat_model.vocabulary(column).read(
            column_of(table.frame, column, table.name), file=table.name
        )
        is_single = labels.sizes[labels.label] == 1
        label_of_index = np.full(labels.n_indices, NONE)
        # Backwards, so that of two labels that tell one value, as 1 and 1.0, the first is kept for both.
        label_of_index[labels.first[is_single][::-1]] = labels.label[is_single][::-1]
        same = np.arange(labels.n_labels)
        same[labels.label[is_single]] = label_of_index[labels.first[is_single]]
        shape = (records.n_classes, labels.n_labels)
        ones = np.ones(len(codes), np.int64)
        # Equal indices are added up.
        counts = sparse.csr_array(sparse.coo_array((ones, (records.class_of, same[codes])), shape=shape))
        return cls(column, records, labels, counts, label_of_index)


@dataclass(frozen=True, eq=False)
class Inferred:
    """What was told of each person: whether the value is certain and right, and the chance that a guess is right.

    `n_values` is the number of values that the fitting records leave open, `is_possible` whether the true one is told
    by one of them.
    """

    is_certain: Bools
    is_possible: Bools
    chances: Floats
    n_values: Ints


def sensitive_column(threat_model: ThreatModel, named: str) -> str:
    """Return the sensitive column that is named, or the only one."""
    if named and named not in threat_model.known_columns:
        return named
    if named:
        raise InputError.of("a column that the attacker does not know", option="sensitive", value=named)
    if len(threat_model.sensitive) != 1:
        expected = f"one sensitive column, of {', '.join(threat_model.sensitive) or 'which there is none'}"
        raise InputError.of(expected, file=threat_model.original.name)
    return threat_model.sensitive[0]


def infer(released: SensitiveRecords, people: People, values: Ints) -> Inferred:
    """Look at the values of the records that fit each person, `values` being the indices of the true ones.

    The attacker believes in the value most records have; of several, in each alike; where no record fits, in the value
    most frequent in all.
    """
    return _infer(released, people, values, np.zeros((len(values), 0), np.int64))


def infer_excluding(
    released: SensitiveRecords, people: People, values: Ints, n_excluded: int, *, purpose: str, seed: int
) -> Inferred:
    """Look at the values that are left if some are ruled out for each person, drawn among those that are not theirs.

    A label of several values is narrowed by those ruled out: `{flu;cold}` without cold is flu.
    """
    return _infer(released, people, values, _excluded(released, values, n_excluded, purpose, seed))


def _infer(released: SensitiveRecords, people: People, values: Ints, excluded: Ints) -> Inferred:
    """Decide once for all people of one class who have the same value, and of whom the same is ruled out."""
    first, kind_of = classes_of([people.class_of, values, *excluded.T], len(values))
    kinds = People(people.indices, people.class_of[first])
    told = _infer_each(released, kinds, values[first], excluded[first])
    return Inferred(told.is_certain[kind_of], told.is_possible[kind_of], told.chances[kind_of], told.n_values[kind_of])


def _infer_each(released: SensitiveRecords, people: People, values: Ints, excluded: Ints) -> Inferred:
    """Decide once for all people of one class of whom the same is ruled out; only the true value is each one's own."""
    first, sight_of = classes_of([people.class_of, *excluded.T], len(values))
    lookers = People(np.zeros((len(first), 0), np.int64), sight_of)
    sights = People(people.indices, people.class_of[first])
    inferred, blind = _nothing(len(values)), blind_chances(released, values)
    width = released.labels.n_indices + released.labels.n_labels
    for seen, counts in _by_person(released, sights):
        row, key, number, n_left = _narrowed(released, counts, excluded[first[seen]])
        most = np.zeros(len(seen), np.int64)
        np.maximum.at(most, row, number)
        is_most = number == most[row]
        persons, at = lookers.members(seen)
        own, keys = values[persons], row * width + key
        sought, n_keys = at * width + own, len(seen) * width
        right = _is_in(sought, keys[is_most], n_keys).astype(np.float64)
        # Labels that tell several values are few, and looked at person by person.
        is_open = is_most & (key >= released.labels.n_indices)
        if is_open.any():
            labels = key[is_open] - released.labels.n_indices
            right += _drawn_right(released, row[is_open], labels, n_left[is_open], at, own)
        n_most = np.bincount(row[is_most], minlength=len(seen))[at]
        inferred.chances[persons] = np.where(n_most > 0, right / np.maximum(n_most, 1), blind[persons])
        inferred.n_values[persons] = np.bincount(row, minlength=len(seen))[at]
        inferred.is_possible[persons] = _is_in(sought, keys, n_keys)
    # One label is left, and it tells one value.
    np.logical_and(inferred.is_possible, inferred.n_values == 1, out=inferred.is_certain)
    return inferred


def _narrowed(released: SensitiveRecords, counts: sparse.csr_array, excluded: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return what each row's labels tell without the values ruled out there, and how many records tell it.

    What is told is the index of the one value left or, beyond all indices, a label of which several are left; with it
    comes the number of values left.
    """
    labels = released.labels
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    label, number = counts.indices.astype(np.int64), counts.data
    n_left, index_sum = labels.sizes[label].copy(), _index_sums(labels)[label]
    for gone in excluded.T:
        is_in = (gone[row] != NONE) & labels.contain(label, np.maximum(gone[row], 0))
        n_left -= is_in
        index_sum -= np.where(is_in, gone[row], 0)
    # Of one value that is left the sum of all is that value.
    key = np.where(n_left == 1, index_sum, labels.n_indices + label)
    is_left = n_left > 0
    width = labels.n_indices + labels.n_labels
    keys, first, same = np.unique(row[is_left] * width + key[is_left], return_index=True, return_inverse=True)
    summed = np.bincount(same.reshape(-1), number[is_left], len(keys)).astype(np.int64)
    return keys // width, keys % width, summed, n_left[is_left][first]


def _index_sums(labels: LeafSets) -> Ints:
    """Add up the indices that each label stands for."""
    out = np.zeros(labels.n_labels, np.int64)
    np.add.at(out, labels.label, (labels.first + labels.end - 1) * (labels.end - labels.first) // 2)
    return out


def n_open_values(released: SensitiveRecords, people: People, values: Ints) -> tuple[Ints, Bools]:
    """Count the values that the records fitting each person leave open, and say whether the true one is among them."""
    # Once for all people of one class who have the same value.
    first, kind_of = classes_of([people.class_of, values], len(values))
    n_open, is_possible = _n_open_values(released, People(people.indices, people.class_of[first]), values[first])
    return n_open[kind_of], is_possible[kind_of]


def _n_open_values(released: SensitiveRecords, people: People, values: Ints) -> tuple[Ints, Bools]:
    n_open, is_possible = np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    labels = released.labels
    lengths = labels.end - labels.first
    start = np.repeat(np.cumsum(lengths) - lengths, lengths)
    index = np.repeat(labels.first, lengths) + np.arange(int(lengths.sum())) - start
    cells = (np.ones(len(index), np.int64), (np.repeat(labels.label, lengths), index))
    stands = sparse.csr_array(sparse.coo_array(cells, shape=(labels.n_labels, labels.n_indices)))
    for persons, row, counts in _by_class(released, people):
        told = sparse.csr_array(counts @ stands)
        told.sort_indices()
        at_row = np.repeat(np.arange(told.shape[0]), np.diff(told.indptr))
        keys = at_row * labels.n_indices + told.indices.astype(np.int64)
        n_open[persons] = np.diff(told.indptr)[row]
        sought, n_keys = row * labels.n_indices + values[persons], told.shape[0] * labels.n_indices
        is_possible[persons] = _is_in(sought, keys, n_keys)
    return n_open, is_possible


def blind_chances(released: SensitiveRecords, values: Ints) -> Floats:
    """Return the chance that the most frequent value of the whole release is each person's."""
    totals = np.asarray(released.counts.sum(axis=0)).reshape(-1)
    is_mode = totals == totals.max()
    # How much each index gets of the labels that are most frequent, each sharing itself out among its indices.
    labels = released.labels
    shares = np.where(is_mode, 1 / np.maximum(labels.sizes, 1), 0.0)[labels.label]
    steps = np.zeros(labels.n_indices + 1)
    np.add.at(steps, labels.first, shares)
    np.add.at(steps, labels.end, -shares)
    chances: Floats = np.clip(np.cumsum(steps)[values] / is_mode.sum(), 0, 1)
    return chances


def true_values(
    threat_model: ThreatModel, column: str, frame: pl.DataFrame, name: str, rows: Ints | None = None
) -> Ints:
    """Return the indices of the true values of some people, or of some rows of them."""
    return threat_model.vocabulary(column).indices(column_of(frame, column, name), rows, file=name)


def target_values(threat_model: ThreatModel, column: str) -> Ints:
    """Return the indices of the true values of the people who are in the release, once for all attacks."""
    original = threat_model.original

    def found() -> Ints:
        return true_values(threat_model, column, original.frame, original.name, threat_model.targets)

    return threat_model.once(("values", column), found)


def _nothing(n_people: int) -> Inferred:
    return Inferred(
        np.zeros(n_people, bool), np.zeros(n_people, bool), np.zeros(n_people), np.zeros(n_people, np.int64)
    )


def _by_class(released: SensitiveRecords, people: People) -> Iterator[tuple[Ints, Ints, sparse.csr_array]]:
    """Yield some people at a time, the class of each, and how many fitting records of a class have which value."""
    for classes, fitting in Candidates(people, released.records).matrices():
        counts = sparse.csr_array(fitting @ released.counts)
        counts.sort_indices()
        yield *people.members(classes), counts


def _by_person(released: SensitiveRecords, people: People) -> Iterator[tuple[Ints, sparse.csr_array]]:
    """Yield some people at a time, with how many of the records that fit each have which value."""
    for persons, row, counts in _by_class(released, people):
        for piece in _pieces(np.diff(counts.indptr)[row]):
            yield persons[piece], sparse.csr_array(counts[row[piece]])


def _drawn_right(
    released: SensitiveRecords, at_row: Ints, labels: Ints, n_left: Ints, row: Ints, values: Ints
) -> Floats:
    """Return for each person the summed chances of being right by drawing from each label of a row."""
    lengths = np.bincount(at_row, minlength=int(row.max(initial=0)) + 1)
    starts = np.cumsum(lengths) - lengths
    out = np.zeros(len(row))
    for piece in _pieces(lengths[row]):
        own = lengths[row[piece]]
        person = np.repeat(piece, own)
        # The labels of each person's row, one after the other.
        index = np.arange(len(person)) - np.repeat(np.cumsum(own) - own, own) + starts[row[person]]
        is_right = released.labels.contain(labels[index], values[person])
        np.add.at(out, person, np.where(is_right, 1 / n_left[index], 0.0))
    return out


def _pieces(cells: Ints) -> list[Ints]:
    """Divide people who have so many cells each into pieces of about as many cells as are worked on at once."""
    piece_of = np.cumsum(cells) // PIECE_CELLS
    return np.split(np.arange(len(cells)), np.flatnonzero(np.diff(piece_of)) + 1)


def _is_in(wanted: Ints, keys: Ints, n_keys: int) -> Bools:
    """Whether each of these is among keys that are sorted, all of them below a number."""
    if n_keys <= DENSE_FACTOR * len(wanted):
        # A table of all keys is filled and read faster than the keys are searched.
        is_key = np.zeros(n_keys, bool)
        is_key[keys] = True
        return is_key[wanted]
    at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    return keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)


def _excluded(released: SensitiveRecords, values: Ints, n_excluded: int, purpose: str, seed: int) -> Ints:
    """Draw for each person values of the release that are not theirs, each at most once; NONE where there are no more.

    Values that records tell alone come first, in the order of their labels, then those that stand only beside others.
    """
    labels, label_of_index = released.labels, released.label_of_index
    alone = np.flatnonzero(label_of_index != NONE)
    alone = alone[np.argsort(label_of_index[alone], kind="stable")]
    steps = np.zeros(labels.n_indices + 1, np.int64)
    np.add.at(steps, labels.first, 1)
    np.add.at(steps, labels.end, -1)
    # The missing value is no value that anybody rules out, unless a record tells it.
    beside = np.setdiff1d(np.flatnonzero(np.cumsum(steps)[: labels.n_indices - 1]), alone)
    pool = np.concatenate([alone, beside])
    index_in = np.full(labels.n_indices, len(pool))
    index_in[pool] = np.arange(len(pool))
    taken = index_in[values][:, None]
    rng = generator(seed, "excluded", purpose)
    for _ in range(min(n_excluded, max(0, len(pool) - 1))):
        n_left = len(pool) - (taken < len(pool)).sum(axis=1)
        drawn = rng.integers(0, np.maximum(n_left, 1))
        # Skip those that are taken, the smallest first, so that each of the others is as likely.
        for column in np.sort(taken, axis=1).T:
            drawn += drawn >= column
        taken = np.column_stack([taken, drawn])
    out: Ints = np.append(pool, NONE)[np.minimum(taken[:, 1:], len(pool))]
    return out
