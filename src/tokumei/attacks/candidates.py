"""Who fits which released record: people by what is known of them, records by what their labels stand for.

Equal people and equal records are counted once. A class of people fits a class of records if each known value is a leaf
of the record's label. People are compared in order of what is known, so that those compared at once are alike and most
records are ruled out for all of them together. Which of the rest a value fits is a row of bits, and a person's
candidates are the bits set in the rows of all known values. Memory stays bounded, however many fit.

Where no two labels of a column have a leaf in common, as in every release by levels, each person fits one class of
records at most, which is looked up.

The people an attacker looks for are drawn here as well, with their own records among those that fit, and so is success
scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from tokumei.attacks.judge import risk_above, wilson_interval
from tokumei.attacks.threat_model import NOBODY, Published, ThreatModel, column_of
from tokumei.core.progress import SilentBar, step
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, JsonView
from tokumei.engines.grouping import group_rows, radix_order
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets, told_apart

Words = npt.NDArray[np.uint64]
WORD_BITS = 64
UNKNOWN = -1
# Comparisons that are made at once, and people among them.
PIECE_BITS = 1 << 25
MOST_AT_ONCE = 256
LOOKED_UP_AT_ONCE = 1 << 18
# Of more labels only those that stand in a piece are looked at.
FEW_LABELS = 256


@dataclass(frozen=True, eq=False)
class People:
    """People by what is known of them: the index of each known value, or UNKNOWN, a row each class."""

    indices: Ints
    class_of: Ints

    @classmethod
    def of(
        cls,
        threat_model: ThreatModel,
        frame: pl.DataFrame,
        name: str,
        known: Bools | None = None,
        rows: Ints | None = None,
    ) -> People:
        """Look up what is known of these people, or of some rows of them; `known` tells which cells are, if not all.

        Values that no release tells apart are looked up as one, so that classes are few however fine the values are.
        """
        releases = [one.table for one in (threat_model.published, *threat_model.earlier)]
        records = [CandidateRecords.of(threat_model, table.frame, table.name) for table in releases]
        columns = []
        for index, column in enumerate(threat_model.known_columns):
            values = threat_model.vocabulary(column).indices(column_of(frame, column, name), rows, file=name)
            values = told_apart([one.sets[index] for one in records])[values]
            if known is not None:
                values[~(known[:, index] if rows is None else known[rows, index])] = UNKNOWN
            columns.append(values)
        return cls.of_indices(columns, frame.height if rows is None else len(rows))

    @classmethod
    def of_indices(cls, columns: Sequence[Ints], n_people: int) -> People:
        """Group people of whom the same is known."""
        first, class_of = classes_of(columns, n_people)
        return cls(_rows_of(columns, first), class_of)

    @cached_property
    def sizes(self) -> Ints:
        """The number of people of each class."""
        return np.bincount(self.class_of, minlength=len(self.indices))

    def members(self, classes: Ints) -> tuple[Ints, Ints]:
        """Return the people of some classes, and for each the number of its class among these."""
        sizes = self.sizes[classes]
        at = np.repeat(np.arange(len(classes)), sizes)
        within = np.arange(len(at)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self._by_class[self._starts[classes][at] + within], at

    @cached_property
    def _by_class(self) -> Ints:
        return radix_order([self.class_of])

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum(self.sizes) - self.sizes


@dataclass(frozen=True, eq=False)
class CandidateRecords:
    """Released records by their labels in the known columns: the number of each label, a row each class."""

    labels: Ints
    class_of: Ints
    sets: Sequence[LeafSets]

    @classmethod
    def of(cls, threat_model: ThreatModel, frame: pl.DataFrame, name: str) -> CandidateRecords:
        """Read the labels of a release, once for all attacks."""
        return threat_model.once(("records", id(frame)), lambda: cls._read(threat_model, frame, name))

    @classmethod
    def _read(cls, threat_model: ThreatModel, frame: pl.DataFrame, name: str) -> CandidateRecords:
        columns, sets = [], []
        for column in threat_model.known_columns:
            codes, leaf_sets = threat_model.read_labels(column, column_of(frame, column, name), name)
            columns.append(codes)
            sets.append(leaf_sets)
        return cls.of_labels(columns, sets, frame.height)

    @classmethod
    def of_labels(cls, columns: Sequence[Ints], sets: Sequence[LeafSets], n_records: int) -> CandidateRecords:
        """Group records that say the same."""
        first, class_of = classes_of(columns, n_records)
        return cls(_rows_of(columns, first), class_of, sets)

    @cached_property
    def looked_up(self) -> dict[int, tuple[Ints, Ints | None]]:
        """The one class of records that fits each class of people, by the people looked up, which are held here."""
        return {}

    @property
    def n_classes(self) -> int:
        """The number of different records."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> Ints:
        """The number of records of each class."""
        return np.bincount(self.class_of, minlength=self.n_classes)

    def fit(self, people: People, persons: Ints, records: Ints) -> Bools:
        """Return for each person whether the record beside them may be theirs."""
        # Pairs of classes are far fewer than pairs of people and records, as a rule.
        first, pair_of = classes_of([people.class_of[persons], self.class_of[records]], len(persons))
        indices, labels = people.indices[people.class_of[persons[first]]], self.labels[self.class_of[records[first]]]
        out = np.ones(len(first), bool)
        for column, sets in enumerate(self.sets):
            known = indices[:, column]
            out &= (known == UNKNOWN) | sets.contain(labels[:, column], known)
        return out[pair_of]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some classes of people, the classes of records that any of them may fit, and which of these each of them does."""

    people: Ints
    records: Ints
    words: Words


@dataclass(frozen=True, eq=False)
class Candidates:
    """The classes of records that fit each class of people, as bits, piece by piece."""

    people: People
    records: CandidateRecords

    def chunks(self) -> list[Ints]:
        """Return the classes of people to compare at once, similar ones together: few records fit any of them."""
        if not len(self.people.indices):
            return []
        order = np.arange(len(self.people.indices))
        if self.only_class is not None:
            return np.split(order, range(LOOKED_UP_AT_ONCE, len(order), LOOKED_UP_AT_ONCE))
        if self.people.indices.shape[1]:
            order = np.lexsort([self.people.indices[:, column] for column in reversed(self._telling_columns)])
        size = min(MOST_AT_ONCE, max(1, PIECE_BITS // max(1, self.records.n_classes)))
        return np.split(order, range(size, len(order), size))

    def pieces(self, chunks: Sequence[Ints] | None = None) -> Iterator[Piece]:
        """Compare the people of each chunk with the records; whoever gives the chunks tells how far it is."""
        with step("comparing", len(self.people.indices)) if chunks is None else nullcontext(SilentBar()) as bar:
            for chunk in self.chunks() if chunks is None else chunks:
                indices = self.people.indices[chunk]
                possible = self._possible(indices)
                n_words = max(1, -(-len(possible) // WORD_BITS))
                words = np.repeat(packed(np.ones((1, len(possible)), bool), n_words), len(chunk), axis=0)
                for column in range(indices.shape[1]):
                    words &= self._rows(column, indices[:, column], possible, n_words)
                yield Piece(chunk, possible, words)
                bar.advance(len(chunk))

    @property
    def only_class(self) -> Ints | None:
        """The one class of records that each class of people fits, or UNKNOWN; None where several may fit."""
        # Every attack asks about the same people, perhaps in other groups: the array itself is the key.
        key = id(self.people.indices)
        if key not in self.records.looked_up:
            self.records.looked_up[key] = self.people.indices, self._only_class()
        return self.records.looked_up[key][1]

    def _only_class(self) -> Ints | None:
        at = [sets.label_at for sets in self.records.sets]
        if not at or any(one is None for one in at) or (self.people.indices == UNKNOWN).any():
            return None
        n_classes = self.records.n_classes
        both = [
            np.concatenate([self.records.labels[:, i], one[self.people.indices[:, i]]])
            for i, one in enumerate(at)
            if one is not None
        ]
        _, group_of = classes_of(both, n_classes + len(self.people.indices))
        if len(np.unique(group_of[:n_classes])) < n_classes:
            # Records with equal labels are told apart by more than these.
            return None
        class_of_group = np.full(len(group_of), UNKNOWN)
        class_of_group[group_of[:n_classes]] = np.arange(n_classes)
        return class_of_group[group_of[n_classes:]]

    def counts(self) -> Ints:
        """Return for each class of people the number of records that fit."""
        if self.only_class is not None:
            return np.append(self.records.sizes, 0)[self.only_class]
        out = np.zeros(len(self.people.indices), np.int64)
        for piece in self.pieces():
            sizes = self.records.sizes[piece.records]
            # Each binary digit of the sizes is a row of bits, so that counting bits is enough.
            for digit in range(int(sizes.max(initial=0)).bit_length()):
                mask = packed(((sizes >> digit) & 1).astype(bool)[None, :], piece.words.shape[1])
                out[piece.people] += np.bitwise_count(piece.words & mask).sum(axis=1, dtype=np.int64) << digit
        return out

    def matrices(self, chunks: Sequence[Ints] | None = None) -> Iterator[tuple[Ints, sparse.csr_array]]:
        """Yield the candidates as sparse matrices of ones: the people classes of a chunk × all record classes."""
        if self.only_class is not None:
            yield from self._looked_up(self.only_class, self.chunks() if chunks is None else chunks)
            return
        for piece in self.pieces(chunks):
            at_row, at_word = np.nonzero(piece.words)
            found = piece.words[at_row, at_word].view(np.uint8).reshape(-1, WORD_BITS // 8)
            which, bit = np.nonzero(np.unpackbits(found, axis=1, bitorder="little"))
            ends = np.cumsum(np.bincount(at_row[which], minlength=len(piece.people)))
            columns = piece.records[at_word[which] * WORD_BITS + bit]
            shape = (len(piece.people), self.records.n_classes)
            ones = np.ones(len(which), np.int64)
            yield piece.people, sparse.csr_array((ones, columns, np.concatenate([[0], ends])), shape=shape)

    def _looked_up(self, only_class: Ints, chunks: Sequence[Ints]) -> Iterator[tuple[Ints, sparse.csr_array]]:
        for chunk in chunks:
            found = only_class[chunk]
            ends = np.cumsum(found != UNKNOWN)
            columns = found[found != UNKNOWN]
            parts = (np.ones(len(columns), np.int64), columns, np.concatenate([[0], ends]))
            yield chunk, sparse.csr_array(parts, shape=(len(chunk), self.records.n_classes))

    @cached_property
    def _telling_columns(self) -> list[int]:
        """The known columns, first the one whose values fit the fewest records."""
        n_fitting = []
        for column, sets in enumerate(self.records.sets):
            n_records = np.bincount(self.records.labels[:, column], minlength=sets.n_labels)
            steps = np.zeros(sets.n_indices + 1)
            np.add.at(steps, sets.first, n_records[sets.label])
            np.add.at(steps, sets.end, -n_records[sets.label])
            by_index = np.append(np.cumsum(steps)[:-1], self.records.n_classes)
            # The last entry is that of UNKNOWN.
            n_fitting.append(float(by_index[self.people.indices[:, column]].mean()))
        return sorted(range(len(n_fitting)), key=n_fitting.__getitem__)

    def _possible(self, indices: Ints) -> Ints:
        """Return the classes of records that could fit one of these people, judged a column at a time."""
        possible = np.arange(self.records.n_classes)
        for column in self._telling_columns:
            low, high = int(indices[:, column].min()), int(indices[:, column].max())
            if low != UNKNOWN:
                reached = self.records.sets[column].reach(low, high)
                possible = possible[reached[self.records.labels[possible, column]]]
        return possible

    def _rows(self, column: int, indices: Ints, possible: Ints, n_words: int) -> Words:
        """Return for each index the records that its value may fit; all for a value that is not known."""
        sets, labels = self.records.sets[column], self.records.labels[possible, column]
        distinct, at = np.unique(indices, return_inverse=True)
        wanted = None
        if sets.n_labels > FEW_LABELS:
            wanted, labels = np.unique(labels, return_inverse=True)
        holds = sets.rows(distinct, wanted)
        holds[distinct == UNKNOWN] = True
        return packed(holds[:, labels], n_words)[at]


def packed(rows: Bools, n_words: int) -> Words:
    """Pack each row into words; bits beyond the row are 0."""
    out = np.zeros((len(rows), n_words * 8), np.uint8)
    bits = np.packbits(rows, axis=1, bitorder="little")
    out[:, : bits.shape[1]] = bits
    return out.view(np.uint64)


def classes_of(columns: Sequence[Ints], n_rows: int) -> tuple[Ints, Ints]:
    """Return a row of each class of equal rows, and the class of each row."""
    # Raised by one, since a value may be UNKNOWN.
    raised = [(column + 1).astype(np.int32) for column in columns]
    grouping = group_rows(raised, [int(column.max(initial=0)) + 1 for column in raised], n_rows)
    return grouping.a_row_of, grouping.group_of


def _rows_of(columns: Sequence[Ints], rows: Ints) -> Ints:
    return np.column_stack([column[rows] for column in columns]) if columns else np.zeros((len(rows), 0), np.int64)


Floats = npt.NDArray[np.float64]


def target_people(threat_model: ThreatModel, seed: int, targets: Ints | None = None) -> People:
    """Return what is known of the people who are in the release, or of these rows of the original."""
    if targets is None:
        return threat_model.once(("people", seed), lambda: target_people(threat_model, seed, threat_model.targets))
    known = threat_model.known_cells
    if known is None:
        known = threat_model.known_mask(threat_model.original.n_rows, "original", seed)
    original = threat_model.original
    return People.of(
        threat_model, threat_model.as_known(original.frame, "original", seed), original.name, known, targets
    )


def control_people(threat_model: ThreatModel, seed: int) -> People | None:
    """Return what is known of people who are not in the release, where some are given."""
    if threat_model.control is None or not threat_model.control.height:
        return None
    known = threat_model.known_mask(threat_model.control.height, "control", seed)
    return People.of(threat_model, threat_model.as_known(threat_model.control, "control", seed), "control", known)


def own_records(published: Published, targets: Ints, n_people: int) -> tuple[Ints, Ints]:
    """Return the records of these targets: the index of each one's owner among the targets, and the record."""
    owners = published.owners(n_people)
    # The last entry is that of NOBODY.
    index_of = np.full(n_people + 1, NOBODY)
    index_of[targets] = np.arange(len(targets))
    index = index_of[owners]
    records = np.flatnonzero(index != NOBODY)
    return index[records], records


def n_own_fitting(people: People, records: CandidateRecords, owners: Ints, own: Ints) -> Ints:
    """Count for each person the records that are theirs and fit what is known of them."""
    fits = records.fit(people, owners, own)
    return np.bincount(owners[fits], minlength=len(people.class_of))


def n_of_person_fitting(threat_model: ThreatModel, person_of: Ints, people: People, records: CandidateRecords) -> Ints:
    """Count for each target the records that fit and are the same person's, whichever of their rows they came from."""
    owners = threat_model.published.owners(threat_model.original.n_rows)
    owned = np.flatnonzero(owners != NOBODY)
    asked = pl.DataFrame({"person": person_of[threat_model.targets], "known": people.class_of})
    told = pl.DataFrame({"person": person_of[owners[owned]], "record": records.class_of[owned]})
    known, told = asked.unique(), told.group_by("person", "record").len("n")
    a_target, a_record = _one_of(people.class_of), _one_of(records.class_of)
    fitting = []
    # All rows of a person are held against all their records, a few people at a time.
    cost = known.group_by("person").len("k").join(told.group_by("person").len("r"), on="person").sort("person")
    step_of = (cost["k"] * cost["r"]).cum_sum() // PIECE_BITS
    for part in cost.with_columns(step=step_of).partition_by("step"):
        pairs = known.join(part.select("person"), on="person", how="semi").join(told, on="person")
        fits = records.fit(people, a_target[pairs["known"].to_numpy()], a_record[pairs["record"].to_numpy()])
        fitting.append(pairs.filter(pl.Series(fits)).group_by("person", "known").agg(pl.col("n").sum()))
    found = pl.concat([*fitting, pl.DataFrame(schema={"person": pl.Int64, "known": pl.Int64, "n": told.schema["n"]})])
    return asked.join(found, on=["person", "known"], how="left", maintain_order="left")["n"].fill_null(0).to_numpy()


def _one_of(class_of: Ints) -> Ints:
    """Return one member of each class."""
    members: Ints = np.unique(class_of, return_index=True)[1]
    return members


def of_each_person(threat_model: ThreatModel, chances: Floats) -> Floats:
    """Return the mean chance over the rows of each person in the release; the same where every row is somebody else."""
    if threat_model.person_of is None:
        return chances
    _, person = np.unique(threat_model.person_of[threat_model.targets], return_inverse=True)
    means: Floats = np.bincount(person, chances) / np.bincount(person)
    return means


def of_any_row(threat_model: ThreatModel, flags: Bools) -> Bools:
    """Return for each person in the release whether it is so for any of their rows; the same for rows."""
    return of_each_person(threat_model, flags.astype(np.float64)) > 0


def drawn_success(
    name: str, chances: Floats, baseline: float, *, purpose: str, seed: int, inputs: JsonView | None = None
) -> Score:
    """Guess once for each person, right with that person's chance; the expected success is an input."""
    drawn = int((generator(seed, purpose).random(len(chances)) < chances).sum())
    # Chances are shares of few numbers: to add up those that differ takes a tenth of the time.
    values, counts = np.unique(chances, return_counts=True)
    expected = math.fsum((values * counts).tolist()) / max(1, len(chances))
    return share_score(name, drawn, len(chances), baseline, inputs={"expected": expected, **(inputs or {})})


def share_score(
    name: str,
    n_found: float,
    n_people: int,
    baseline: float | None = None,
    control: float | None = None,
    inputs: JsonView | None = None,
    outside: tuple[float, int] | None = None,
) -> Score:
    """Return the share of people found, from 0 (nobody, best) to 1, with its 95 % interval.

    outside: how many people who are not in the release were found, and tried; instead of `control`, if they are as
    hard to find.
    """
    risk, reach = (None, None) if outside is None else risk_above(n_found, n_people, *outside)
    return Score(
        name,
        n_found / max(1, n_people),
        best=0,
        worst=1,
        interval=wilson_interval(n_found, n_people),
        baseline=baseline,
        control=control if outside is None else outside[0] / max(1, outside[1]),
        risk=risk,
        risk_interval=reach,
        inputs={"people": n_people, **({} if outside is None else {"outside": outside[1]}), **(inputs or {})},
    )


N_RISKIEST = 10


def riskiest_of(rows: Ints, chances: Floats) -> Json:
    """Return the highest chance that one of these rows is found, how many have it, and the rows most surely found.

    Rows of the original count from 1, since this goes to files.

    Example: of the rows 0, 3 and 7 with the chances 1/2, 0 and 1 the highest is 1, one row has it, and rows 8 and 1 are
    the riskiest.
    """
    highest = float(chances.max(initial=0.0))
    order = np.argsort(-chances, kind="stable")[:N_RISKIEST]
    n_highest = int((chances >= highest - 1e-9).sum()) if highest else 0
    found = [int(rows[at]) + 1 for at in order if chances[at] > 0]
    return {"highest": highest, "at_highest": n_highest, "riskiest": found}


def share_of(flags: Bools) -> float:
    """Return the share of those that are true."""
    return int(flags.sum()) / max(1, len(flags))
