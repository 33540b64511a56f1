"""Attackers who look for the record that is most like a person, whatever was done to the records.

Records that were noised, exchanged, drawn anew or made up fit nobody to the letter; `tokumei.attacks.likeness` tells
how much each speaks for each person. Of records that are equally like one is drawn, so that chances are expectations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from tokumei.attacks.assignment import assignments
from tokumei.attacks.attribute_inference import sensitive_column
from tokumei.attacks.candidates import Floats, drawn_success, share_score
from tokumei.attacks.compared_columns import distinct_values, ends_of_labels, values_together
from tokumei.attacks.likeness import TIED, Likeness, Near
from tokumei.attacks.threat_model import NOBODY, Published, ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.hierarchies.label_semantics import Bools, Ints

PEOPLE_HELP = "Rows of the original that are looked for, drawn by the seed; 0 for all."
N_PEOPLE = 2_000
# Pairs of which all are compared to learn which records are like many people, where it decides whose a record is.
PAIRS_TO_LINK = 1_000_000_000
# One record is likelier than all others together.
CLAIMED = 0.5
N_RISKIEST = 10
# A guess at a number is right so near to it; a number of few values is guessed as any other value.
WITHIN = 0.05
MANY_VALUES = 20
MOST_GUESSES = 2_000


@dataclass(frozen=True)
class DistanceLinkage:
    """Find the record that is most like a person, however its values were changed.

    Knowledge: the known columns of each person, or a share of these cells, and that the person is in the release. Aim:
    which record is theirs. Success: `success` is the share whose record is drawn among those most like them, of which
    k-anonymity leaves at least k; `claimed` the share of whom one record is likelier than all others together, and it
    is theirs, with the `precision` of such claims. `one-to-one` is the share found if everybody is known and each
    record can be one person's only, of up to 4,000 rows (the assignment of greatest likelihood). Baseline: drawing any
    record. Control: people who are not in the release, of whom a record is claimed nevertheless. Labels count as what
    they stand for, weights are learned from the release (Fellegi and Sunter 1969). Of people who have several rows a
    row is known, and every record of theirs is one that is sought.

    Example: people of 20, 30, 40 and 50 are released as 21, 29, 44 and 45. Nobody lies between the man of 40 and either
    of 44 and 45, but 45 is like the woman of 50 as well, and so 44 speaks more for him: all four are found.
    """

    people: int = field(default=N_PEOPLE, metadata={"help": PEOPLE_HELP})

    needs: ClassVar[tuple[str, ...]] = ()

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Compare each of the people with every record."""
        likeness = replace(Likeness.of(threat_model, seed=seed), most_pairs=PAIRS_TO_LINK)
        wanted = drawn_people(threat_model, self.people, seed)
        own = OwnRecords.of(threat_model, likeness, wanted)
        chances, surest, own_share = (np.zeros(len(wanted)) for _ in range(3))
        for near in likeness.near(wanted, "comparing"):
            n_nearest = near.sums(likeness.sizes[near.records] * near.is_nearest)
            n_own = own.among(near, near.is_nearest)
            chances[near.part] = n_own / n_nearest
            surest[near.part] = _share_of_best(near, likeness.sizes)
            own_share[near.part] = n_own * surest[near.part]
        n_records = threat_model.published.table.n_rows
        of_person = own.mean_of_people
        is_claimed = surest > CLAIMED
        n_claimed, is_right = float(of_person(is_claimed.astype(np.float64)).sum()), of_person(is_claimed * chances)
        blind = len(own.sizes) / max(1, len(chances)) / n_records
        inputs = {"riskiest": own.riskiest(own_share), "highest": float(own_share.max(initial=0.0))}
        precision = float(is_right.sum()) / n_claimed if n_claimed else None
        claimed = share_score(
            "claimed",
            float(is_right.sum()),
            len(is_right),
            control=_claimed_of_others(threat_model, likeness, self.people, seed),
            inputs={"precision": precision, "claims": n_claimed},
        )
        out = {
            "success": drawn_success(
                "success", of_person(chances), blind, purpose="distance-linkage", seed=seed, inputs=inputs
            ),
            "claimed": claimed,
        }
        if len(wanted) == len(threat_model.targets):
            out |= _one_to_one(likeness, wanted, own, blind, seed)
        return out


@dataclass(frozen=True)
class Linkability:
    """Learn from the release that what two others know is of one person.

    Knowledge: the known columns in two parts, held by two others who do not know whose their rows are. Aim: to join
    these. Both look for the record most like their part; if it is the same record, they take the parts for one
    person's. Success: `success` is the share of people whose parts meet in one record, `linked-rightly` the share of
    whom that is their own. Of records equally like one is drawn on each side. Baseline: two records drawn blindly.
    Control: people who are not in the release; what lies above it is the `risk` (Giomi et al. 2022, who do not ask
    whether the record is the person's).

    Example: of (f, 31), (f, 52) and (m, 31) all is released. By sex the first two fit both women's records and by age
    the first and the last fit two: her parts meet by chance 1/4, those of (f, 52) by 1/2, those of (m, 31) by 1/2.
    """

    people: int = field(default=N_PEOPLE, metadata={"help": PEOPLE_HELP})
    first: str = field(
        default="", metadata={"help": "Known columns of the first part, with commas; the first half if not given."}
    )

    asks_whose: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def lacks(self, threat_model: ThreatModel) -> str | None:
        """Return what keeps this attack from being tried: there must be two parts."""
        return None if len(threat_model.known_columns) > 1 else "two known columns or more"

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Let both sides look for their record, of people in the release and outside."""
        likeness = Likeness.of(threat_model, seed=seed)
        parts = _parts(threat_model.known_columns, self.first)
        sides = [likeness.over(part) for part in parts]
        wanted = drawn_people(threat_model, self.people, seed)
        own = OwnRecords.of(threat_model, likeness, wanted)
        meet, rightly = _meeting(sides, wanted, own)
        met, right = own.mean_of_people(meet), own.mean_of_people(rightly)
        others = drawn_others(threat_model, self.people, seed)
        outside = (float(_meeting(sides, others)[0].sum()), len(others)) if len(others) else None
        blind = 1 / threat_model.published.table.n_rows
        named = [[threat_model.known_columns[index] for index in part] for part in parts]
        is_paired = threat_model.published.is_paired
        surest = rightly if is_paired else meet
        inputs = {"parts": named, "riskiest": own.riskiest(surest), "highest": float(surest.max(initial=0.0))}
        out = {"success": share_score("success", float(met.sum()), len(met), blind, inputs=inputs, outside=outside)}
        if is_paired:
            out["linked-rightly"] = share_score("linked-rightly", float(right.sum()), len(right), blind)
        return out


def _parts(columns: Sequence[str], first: str) -> tuple[list[int], list[int]]:
    """Return the places of the columns of both parts."""
    if not first:
        half = (len(columns) + 1) // 2
        return list(range(half)), list(range(half, len(columns)))
    named = [name.strip() for name in first.split(",")]
    for name in named:
        if name not in columns:
            raise InputError.of(f"known columns: {', '.join(columns)}", option="first", value=name)
    rest = [index for index, name in enumerate(columns) if name not in named]
    if not rest:
        raise InputError.of("some of the known columns, not all", option="first", value=first)
    return [columns.index(name) for name in named], rest


def _meeting(sides: Sequence[Likeness], people: Ints, own: OwnRecords | None = None) -> tuple[Floats, Floats]:
    """Return the chances that both sides come upon one record, and that it is the person's own."""
    meet, rightly, sizes = np.zeros(len(people)), np.zeros(len(people)), sides[0].sizes
    one, other = (side.near(people, "comparing", TIED) for side in sides)
    for mine, theirs in zip(one, other, strict=True):
        is_met = np.isin(mine.who * len(sizes) + mine.records, theirs.who * len(sizes) + theirs.records)
        pairs = mine.sums(sizes[mine.records]) * theirs.sums(sizes[theirs.records])
        meet[mine.part] = mine.sums(sizes[mine.records] * is_met) / pairs
        if own is not None:
            rightly[mine.part] = own.among(mine, is_met) / pairs
    return meet, rightly


@dataclass(frozen=True)
class Inference:
    """Learn a sensitive value from the records that are like a person, without knowing which is theirs.

    Knowledge: as of distance linkage. Aim: the sensitive value; of a number a guess is right within 5 %. Guessed is by
    the records most like the person (`neighbours`) and by all records, each as far as it is likely to be theirs
    (`model`). Success: `success` is the share of right guesses of the better of both, which a third of the people
    chose and the others are counted by. Baseline: the most frequent value of the release, of numbers the one in the
    middle. Control: the same guesses of people who are not in the release: that much the release says of everybody,
    and only what lies above it is the `risk` (Giomi et al. 2022). `anonymity-loss` lets the attacker keep silent where
    unsure (Francis and Wagner 2025): P (1 − (log₁₀ R / −4)³) of the precision P of the claims made and the share R of
    people they are made of, at the best threshold, as far as it lies above that of claims about people outside by all
    of the original.

    Example: released are (30, flu), (31, flu) and (60, cold). Most like a man of 32 is the record of 31, who has the
    flu; so has whoever guesses by the most frequent value.
    """

    sensitive: str = field(default="", metadata={"help": "Column to learn; the only sensitive one if none is named."})
    people: int = field(default=N_PEOPLE, metadata={"help": PEOPLE_HELP})

    asks_whose: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("sensitive",)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Guess the value of people in the release and outside."""
        column = sensitive_column(threat_model, self.sensitive)
        likeness = Likeness.of(threat_model, seed=seed)
        secret = Secret.of(threat_model, column, likeness)
        wanted = drawn_people(threat_model, self.people, seed)
        own = OwnRecords.of(threat_model, likeness, wanted)
        near, model, sure = secret.guessed(likeness, wanted)
        chooses = generator(seed, "choose").random(len(near)) < 1 / 3
        by_near = near[chooses].sum() > model[chooses].sum()
        blind = own.mean_of_people(secret.blind(wanted))
        others = drawn_others(threat_model, self.people, seed)
        outside: list[tuple[float, int] | None] = [None, None]
        if len(others):
            near_else, model_else, _ = secret.guessed(likeness, others)
            outside = [(float(one.sum()), len(others)) for one in (near_else, model_else)]
        judged = np.unique(own.person[~chooses], return_inverse=True)[1]
        best = np.bincount(judged, (near if by_near else model)[~chooses]) / np.bincount(judged)
        inputs = {
            "sensitive": column,
            "by": "neighbours" if by_near else "model",
            "riskiest": own.riskiest(model * sure),
            "highest": float((model * sure).max(initial=0.0)),
        }
        out = {
            "success": share_score(
                "success",
                float(best.sum()),
                len(best),
                float(blind.mean()),
                inputs=inputs,
                outside=outside[not by_near],
            )
        }
        for name, chances, else_ in (("neighbours", near, outside[0]), ("model", model, outside[1])):
            each = own.mean_of_people(chances)
            out[name] = share_score(name, float(each.sum()), len(each), float(blind.mean()), outside=else_)
        if len(others):
            out["anonymity-loss"] = _anonymity_loss(threat_model, column, (model, sure), others, seed)
        return out


def _anonymity_loss(
    threat_model: ThreatModel, column: str, found: tuple[Floats, Floats], others: Ints, seed: int
) -> Score:
    """Return how far claims about people in the release exceed claims about others by all of the original."""
    everything = Published(threat_model.original, pl.Series("row", np.arange(threat_model.original.n_rows)))
    blind_model = replace(threat_model, published=everything)
    likeness = Likeness.of(blind_model, seed=seed)
    _, right, sure = Secret.of(blind_model, column, likeness).guessed(likeness, others)
    rng = generator(seed, "anonymity-loss")

    def loss_of(ours: Ints, theirs: Ints) -> float:
        attack = precision_with_recall(found[0][ours], found[1][ours])
        base = precision_with_recall(right[theirs], sure[theirs])
        return min(1.0, max(0.0, (attack - base) / (1 - base))) if base < 1 else 0.0

    every, every_other = np.arange(len(found[0])), np.arange(len(others))
    value = loss_of(every, every_other)
    # By drawing the people anew.
    again = [loss_of(rng.choice(every, len(every)), rng.choice(every_other, len(others))) for _ in range(N_DRAWS)]
    low, high = np.quantile(again, [0.025, 0.975])
    base = precision_with_recall(right, sure)
    inputs = {"attack": precision_with_recall(*found), "baseline": base}
    reach = (min(value, float(low)), max(value, float(high)))
    return Score("anonymity-loss", value, best=0, worst=1, interval=reach, inputs=inputs)


# Of fewer claims, and of a smaller share of people, the best precision is luck.
FEWEST_CLAIMS, LEAST_SHARE = 20, 0.05
LEAST_RECALL = 1e-4
N_DRAWS = 200


def precision_with_recall(right: Floats, sure: Floats) -> float:
    """Return the best precision of claims, lowered where few are made: P (1 − (log₁₀ R / −4)³), at any threshold.

    Claims are made in order of how sure they are. Example: of 100 claims the 50 surest are right and the others wrong:
    at R = .5 it is 1 − (.301 / 4)³ = .9996, and with all claims P = .5.
    """
    order = np.argsort(-sure, kind="stable")
    n_made = np.arange(1, len(order) + 1)
    precision = np.cumsum(right[order]) / n_made
    least = max(FEWEST_CLAIMS, LEAST_SHARE * len(order))
    # A threshold lies between two claims of which one is surer.
    is_end = np.append(sure[order][1:] < sure[order][:-1], True) & (n_made >= min(least, len(order)))
    made = precision * (1 - (np.log10(n_made / len(order)) / np.log10(LEAST_RECALL)) ** 3)
    return float(made[is_end].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Secret:
    """The sensitive values of different records, and what counts as a right guess of each person's.

    counts: how much each different record speaks for each guess. first, last: the guesses that are right of each
    person, those of the control after the others, from the first to the last.
    """

    counts: sparse.csr_array
    first: Ints
    last: Ints
    is_number: bool

    @classmethod
    def of(cls, threat_model: ThreatModel, column: str, likeness: Likeness) -> Secret:
        """Read the sensitive values of everybody, and of the records."""
        table = threat_model.published.table
        frames = [threat_model.original.frame]
        if threat_model.control is not None and column in threat_model.control.columns:
            frames.append(threat_model.control)
        true = values_together(column, frames, threat_model.original.name)
        released = column_of(table.frame, column, table.name)
        is_number = true.dtype.is_numeric() and true.n_unique() > MANY_VALUES
        read = _numbers_to_guess if is_number else _values_to_guess
        first, last, record, guess, weights = read(threat_model, column, true, released)
        cells = (weights, (likeness.record_of[record], guess))
        shape = (len(likeness.sizes), int(max(guess.max(initial=0), last.max(initial=0))) + 1)
        return cls(sparse.csr_array(sparse.coo_array(cells, shape=shape)), first, last, is_number)

    def guessed(self, likeness: Likeness, people: Ints) -> tuple[Floats, Floats, Floats]:
        """Return the chances that guesses by the nearest records and by all are right, and how sure the latter are."""
        near, model, sure = (np.zeros(len(people)) for _ in range(3))
        for some in likeness.near(people, "guessing"):
            likely = np.exp(some.told - some.best[some.who])
            near[some.part], _ = self._right(self._of_records(some, some.is_nearest), people[some.part])
            model[some.part], sure[some.part] = self._right(self._of_records(some, likely), people[some.part])
        return near, model, sure

    def blind(self, people: Ints) -> Floats:
        """Return the chance that the value guessed of everybody is each person's."""
        totals = np.asarray(self.counts.sum(axis=0)).reshape(1, -1)
        return self._right(np.repeat(totals, len(people), axis=0), people)[0]

    def _of_records(self, near: Near, weights: npt.NDArray[Any]) -> Floats:
        """Return how much the records near each person speak for each guess."""
        shape = (len(near.part), self.counts.shape[0])
        pairs = sparse.csr_array((weights.astype(np.float64), (near.who, near.records)), shape=shape)
        told: Floats = (pairs @ self.counts).toarray()
        return told

    def _right(self, told: Floats, people: Ints) -> tuple[Floats, Floats]:
        """Return the chance that the guess is right for each person, and how sure it is."""
        guesses = np.arange(told.shape[1])
        is_right = (guesses >= self.first[people, None]) & (guesses <= self.last[people, None])
        # Where all that are near lack a value, nothing is told.
        total = np.maximum(told.sum(axis=1), np.finfo(np.float64).tiny)
        if self.is_number:
            below = np.cumsum(told, axis=1)
            middle = (below < below[:, -1:] / 2).sum(axis=1)
            at = np.minimum(middle, told.shape[1] - 1)[:, None]
            return np.take_along_axis(is_right, at, axis=1)[:, 0].astype(np.float64), told.max(axis=1) / total
        is_most = told >= told.max(axis=1, keepdims=True) * (1 - 1e-6)
        return (is_most & is_right).sum(axis=1) / is_most.sum(axis=1), told.max(axis=1) / total


def _numbers_to_guess(
    threat_model: ThreatModel, column: str, true: pl.Series, released: pl.Series
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return the guesses that are right of each person, and the guess of each record: the middle of its label."""
    labels, label_of = distinct_values(released)
    middle = ends_of_labels(threat_model, column, labels).mean(axis=1)
    numbers = np.unique(middle[np.isfinite(middle)])
    if len(numbers) > MOST_GUESSES:
        numbers = np.unique(np.quantile(numbers, np.linspace(0, 1, MOST_GUESSES), method="nearest"))
    values = true.cast(pl.Float64).to_numpy()
    reach = WITHIN * np.abs(values)
    first = np.searchsorted(numbers, values - reach, side="left")
    # Sorted behind all numbers, a missing value has no guess that is right.
    last = np.searchsorted(numbers, values + reach, side="right") - 1
    record = np.flatnonzero(np.isfinite(middle[label_of]))
    guess = np.minimum(np.searchsorted(numbers, middle[label_of[record]]), max(0, len(numbers) - 1))
    return first, np.where(np.isnan(values), -1, last), record, guess, np.ones(len(record))


def _values_to_guess(
    threat_model: ThreatModel, column: str, true: pl.Series, released: pl.Series
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return the guess that is right of each person, and the guesses of each record: a label's, in equal parts."""
    vocabulary = threat_model.vocabulary(column)
    labels, sets = vocabulary.read(released, are_known=False)
    own = vocabulary.indices(true, are_known=False)
    lengths = sets.end - sets.first
    label = np.repeat(sets.label, lengths)
    index = np.repeat(sets.first - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    of_label = sparse.csr_array(
        sparse.coo_array((1 / sets.sizes[label], (label, index)), shape=(sets.n_labels, sets.n_indices))
    )
    told = sparse.coo_array(of_label[labels])
    return own, own, told.coords[0].astype(np.int64), told.coords[1].astype(np.int64), told.data


def drawn_people(threat_model: ThreatModel, most: int, seed: int) -> Ints:
    """Return the rows of the original that are looked for: some of those in the release."""
    if most < 0:
        raise InputError.of(Text("a whole number of {n} or more", n=0), option="people", value=most)
    targets = threat_model.targets
    if not most or len(targets) <= most:
        return targets
    return np.sort(generator(seed, "people").choice(targets, most, replace=False))


def drawn_others(threat_model: ThreatModel, most: int, seed: int) -> Ints:
    """Return people of the control, by their places behind the rows of the original; none where none are given."""
    n = 0 if threat_model.control is None else threat_model.control.height
    places = np.arange(n)
    if most and n > most:
        places = np.sort(generator(seed, "others").choice(n, most, replace=False))
    return threat_model.original.n_rows + places


@dataclass(frozen=True, eq=False)
class OwnRecords:
    """The records of some people: the place of each one's owner among these, its different record, and how many."""

    rows: Ints
    owner: Ints
    record: Ints
    sizes: Ints
    person: Ints
    """The number of the person of each of these rows."""

    @classmethod
    def of(cls, threat_model: ThreatModel, likeness: Likeness, rows: Ints) -> OwnRecords:
        """Look for the records of these rows or, where people have several, of the same people."""
        owners = threat_model.published.owners(threat_model.original.n_rows)
        everybody = np.arange(threat_model.original.n_rows)
        unit = everybody if threat_model.person_of is None else threat_model.person_of
        released = np.flatnonzero(owners != NOBODY)
        order = np.argsort(unit[owners[released]], kind="stable")
        sorted_units = unit[owners[released]][order]
        first = np.searchsorted(sorted_units, unit[rows], side="left")
        n_own = np.searchsorted(sorted_units, unit[rows], side="right") - first
        owner = np.repeat(np.arange(len(rows)), n_own)
        at = np.repeat(first - np.cumsum(n_own) + n_own, n_own) + np.arange(len(owner))
        pairs = np.column_stack([owner, likeness.record_of[released[order[at]]]])
        different, n = np.unique(pairs, axis=0, return_counts=True)
        _, person = np.unique(unit[rows], return_inverse=True)
        return cls(rows, different[:, 0], different[:, 1], n, person)

    def among(self, near: Near, flags: Bools) -> Floats:
        """Count for each of these people the own records among the pairs that are flagged."""
        first, last = np.searchsorted(self.owner, [near.part[0], near.part[-1] + 1])
        owner, record = self.owner[first:last] - near.part[0], self.record[first:last]
        n_records = int(max(self.record.max(initial=0), near.records.max(initial=0))) + 1
        is_near = np.isin(owner * n_records + record, (near.who * n_records + near.records)[flags])
        return np.bincount(owner, self.sizes[first:last] * is_near, len(near.part)).astype(np.float64)

    def chances_of(self, given: Ints, sizes: Ints) -> Floats:
        """Return the chance that a record like the one each is given is an own one."""
        is_own = self.record == given[self.owner]
        n_own = np.bincount(self.owner, self.sizes * is_own, len(given))
        return np.minimum(1.0, n_own / np.where(given == NOBODY, 1, sizes[given]))

    def mean_of_people(self, chances: Floats) -> Floats:
        """Return the mean over the rows of each person."""
        means: Floats = np.bincount(self.person, chances) / np.bincount(self.person)
        return means

    def riskiest(self, chances: Floats) -> list[int]:
        """Return the rows of the original that are found most surely, counted from 1."""
        order = np.argsort(-chances, kind="stable")[:N_RISKIEST]
        return [int(row) + 1 for row in self.rows[order[chances[order] > 0]]]


def _share_of_best(near: Near, sizes: Ints) -> Floats:
    """Return the chance that one of the likeliest records is the person's, if somebody's of all."""
    every = np.exp((near.told - near.best[near.who]).astype(np.float64)) * sizes[near.records]
    return 1 / near.sums(every)


def _claimed_of_others(threat_model: ThreatModel, likeness: Likeness, most: int, seed: int) -> float | None:
    """Return the share of people outside the release of whom a record is claimed."""
    others = drawn_others(threat_model, most, seed)
    if not len(others):
        return None
    n = sum(int((_share_of_best(near, likeness.sizes) > CLAIMED).sum()) for near in likeness.near(others, "comparing"))
    return n / len(others)


def _one_to_one(likeness: Likeness, wanted: Ints, own: OwnRecords, blind: float, seed: int) -> dict[str, Score]:
    """Return the share found by giving each person another record; of two ways the one that is better on a half."""
    made = assignments(likeness, wanted, seed)
    found = {name: own.mean_of_people(own.chances_of(one.records, likeness.sizes)) for name, one in made.items()}
    if not found:
        return {}
    n_people = len(next(iter(found.values())))
    chooses = generator(seed, "one-to-one, choose").permutation(n_people) % 2 == 0
    best = max(found, key=lambda name: float(found[name][chooses].sum()))
    # All are counted by what the others chose, each half by the better way of the other half.
    other = max(found, key=lambda name: float(found[name][~chooses].sum()))
    counted = np.where(chooses, found[other], found[best])
    each = {name: round(float(one.mean()), 4) for name, one in found.items()}
    inputs = {"by": best, "each": each, "open": made[best].n_open}
    return {"one-to-one": share_score("one-to-one", float(counted.sum()), n_people, blind, inputs=inputs)}
