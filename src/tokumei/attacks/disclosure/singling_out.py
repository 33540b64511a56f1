"""An attacker who looks for words that describe one person alone, and knows nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta

from tokumei.attacks.candidates import Floats, share_score
from tokumei.attacks.disclosure.descriptions import (
    AT_LEAST,
    AT_MOST,
    CONTROL,
    EQUAL,
    FITS,
    ORIGINAL,
    Condition,
    Described,
    DescribedColumn,
    Description,
)
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.hierarchies.label_semantics import Bools, Ints

# Descriptions that are tried for each that is kept.
TRIES = 5
N_RISKIEST = 10
# So many rows a description is expected to fit, by the release, to be kept.
FEWEST, MOST = 0.5, 1.5


@dataclass(frozen=True)
class SinglingOut:
    """Describe one person alone, from the release, without knowing anybody.

    Knowledge: the release. Aim: descriptions that fit one row of the original, of however many columns. Tried are
    values that one record has, ends of ranges, and records by some of their columns: a number at least or at most
    theirs, from the middle outwards. Kept are those that the release lets expect to fit one row. Success: `success` is
    the share of descriptions of two columns or more that fit exactly one row of the original (of people, where these
    have several), `one-column` that of one column. Baseline: descriptions of values drawn column by column. Control:
    how many would fit one row of as many people who are not in the release; what lies above it is the `risk` (Giomi et
    al. 2022).

    Example: of people of 20, 30, 30 and 90 in the north, north, south and south all is released. Of one column "20" and
    "90" fit one row. "30 or more, in the north" fits one row, "30 or more, in the south" two.
    """

    descriptions: int = field(default=2_000, metadata={"help": "Descriptions that are kept, at most, of each kind."})

    asks_whose: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.descriptions < 1:
            raise InputError.of(
                Text("a whole number of {n} or more", n=1), option="descriptions", value=self.descriptions
            )

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Make descriptions from the release, and count whom they fit."""
        columns = [DescribedColumn.of(threat_model, name) for name in threat_model.known_columns]
        described = Described(columns)
        rng = generator(seed, "singling-out")
        out = {}
        kinds = {"one-column": _of_one_column(columns), "success": _of_records(columns, rng)}
        for name in ("success", "one-column"):
            kept = _kept(described, kinds[name], self.descriptions, rng, words=f"descriptions ({name})")
            blind = list(_drawn_blindly(columns, kept, rng))
            out[name] = _score(name, threat_model, described, kept, blind)
        return out


@dataclass(frozen=True, eq=False)
class SingledOut:
    """How often descriptions made from drawn rows fit one person alone, of those fitted and of those kept out.

    found: share of the descriptions that fit one of those fitted. n_tried: descriptions. alone: how many descriptions
    fit a person and nobody else, fitted or kept out, for each whom any does. is_outside: whether that person was kept
    out. n_inside, n_outside: people of both groups.
    """

    found: float
    n_tried: int
    alone: Ints
    is_outside: Bools
    n_inside: int
    n_outside: int

    @classmethod
    def of(
        cls, threat_model: ThreatModel, n_descriptions: int, people: tuple[Ints, Ints] | None = None, *, seed: int
    ) -> SingledOut | None:
        """Describe people by two columns or more; None where nobody can be.

        people: whose each row is, of those fitted and of those kept out, where people have several.
        """
        columns = [DescribedColumn.of(threat_model, name) for name in threat_model.known_columns]
        described, rng = Described(columns), generator(seed, "singling-out")
        kept = _kept(described, _of_records(columns, rng), n_descriptions, rng, words="descriptions (success)")
        n, n_else = threat_model.original.n_rows, 0 if threat_model.control is None else threat_model.control.height
        if not kept or not n_else:
            return None
        inside, outside = people or (np.arange(n), np.arange(n, n + n_else))
        n_found, whose = 0, []
        for one in kept:
            fitted = np.unique(inside[described.fitting(one, ORIGINAL)])
            others = np.unique(outside[described.fitting(one, CONTROL)])
            n_found += len(fitted) == 1
            if len(fitted) + len(others) == 1:
                whose.append(int(np.append(fitted, others)[0]))
        persons, alone = np.unique(np.array(whose, np.int64), return_counts=True)
        sizes = len(np.unique(inside)), len(np.unique(outside))
        return cls(n_found / len(kept), len(kept), alone, np.isin(persons, outside), *sizes)

    def beyond(self) -> tuple[float, float]:
        """Return the share of descriptions that fit one of those fitted beyond chance, and its 95 % lower end.

        Where nothing tells who was fitted, whom a description fits alone is one of the n fitted rather than of the m
        kept out with the chance n / (n + m), whatever it says. Of A such descriptions a share θ fits one of those
        fitted: A (θ − (1 − θ) n / m) of them, divided by all, is beyond chance. The lower end is that of θ (Clopper and
        Pearson 1934). Descriptions of one person go together: A counts as (Σ w)² / Σ w² trials, where people are
        described w times.

        Example: of 200 descriptions 40 fit one of 100 people alone, each another one: 39 one of the 90 fitted, 1 one of
        the 10 kept out. Beyond are (39 − 1 · 9) / 200 = .15; the lower end is 40 · 10 · (.868 − .9) / 200 = −.063.
        """
        total = float(self.alone.sum())
        if not total:
            return 0.0, 0.0
        share = float(self.alone[~self.is_outside].sum()) / total
        n_trials = total**2 / float((self.alone.astype(np.float64) ** 2).sum())
        n_hits = share * n_trials
        low = 0.0 if not n_hits else float(beta.ppf(0.025, n_hits, n_trials - n_hits + 1))
        each = total * (self.n_inside + self.n_outside) / self.n_outside / self.n_tried
        chance = self.n_inside / (self.n_inside + self.n_outside)
        return each * (share - chance), each * (low - chance)


def _of_one_column(columns: Sequence[DescribedColumn]) -> Iterator[Description]:
    """Yield what may describe one person by one column: rare values, the least and the largest, ends of ranges."""
    for index, column in enumerate(columns):
        if column.ends is not None:
            finite = column.ends[np.isfinite(column.ends).all(axis=1)]
            if len(finite):
                yield (Condition(index, AT_MOST, float(finite[:, 0].min())),)
                yield (Condition(index, AT_LEAST, float(finite[:, 1].max())),)
            for low, high in finite[finite[:, 1] > finite[:, 0]]:
                yield (Condition(index, EQUAL, float(low)),)
                yield (Condition(index, EQUAL, float(high)),)
        for label in np.flatnonzero(np.bincount(column.labels) == 1):
            yield (Condition(index, FITS, label=int(label)),)


def _of_records(columns: Sequence[DescribedColumn], rng: np.random.Generator) -> Iterator[Description]:
    """Yield descriptions of records drawn at random, by some of their columns."""
    if len(columns) < 2:
        return
    middles = [column.middle for column in columns]
    # In the order of their labels, so that the order of records changes nothing.
    records = np.lexsort([column.labels for column in columns])
    while True:
        record, n = int(records[rng.integers(len(records))]), int(rng.integers(2, len(columns) + 1))
        chosen = rng.choice(len(columns), n, replace=False)
        yield tuple(
            _said_of(columns[index], index, int(columns[index].labels[record]), middles[index], rng)
            for index in sorted(chosen.tolist())
        )


def _said_of(column: DescribedColumn, index: int, label: int, middle: float, rng: np.random.Generator) -> Condition:
    """Say something of a record: its label or, of numbers, an end of its range, or on which side of its number."""
    if column.ends is None or not np.isfinite(column.ends[label]).all():
        return Condition(index, FITS, label=label)
    low, high = column.ends[label]
    if low == high:
        return Condition(index, AT_LEAST if low >= middle else AT_MOST, float(low))
    kind = int(rng.integers(3))
    return (
        Condition(index, FITS, label=label) if not kind else Condition(index, EQUAL, float(low if kind == 1 else high))
    )


def _kept(
    described: Described, tried: Iterator[Description], most: int, rng: np.random.Generator, words: str
) -> list[Description]:
    """Keep descriptions that the release lets expect to fit one row, or that name an end that some row must have."""
    out: list[Description] = []
    # Of few records the same description is drawn again and again.
    looked_at: set[Description] = set()
    candidates = list(tried) if words.endswith("(one-column)") else tried
    if isinstance(candidates, list):
        candidates = [candidates[index] for index in rng.permutation(len(candidates))]
    with step(words, most) as bar:
        for n_tried, one in enumerate(candidates):
            if len(out) >= most or n_tried >= TRIES * most:
                break
            if one in looked_at:
                continue
            looked_at.add(one)
            names_end = any(condition.kind == EQUAL for condition in one)
            fitting = described.n_expected(one)
            if fitting < MOST and (names_end or fitting >= FEWEST):
                out.append(one)
                bar.advance(1)
    return out


def _drawn_blindly(
    columns: Sequence[DescribedColumn], like: Sequence[Description], rng: np.random.Generator
) -> Iterator[Description]:
    """Yield descriptions by as many columns, each of a label drawn on its own."""
    middles = [column.middle for column in columns]
    labels = [np.sort(column.labels) for column in columns]
    for one in like:
        chosen = rng.choice(len(columns), len(one), replace=False)
        yield tuple(
            _said_of(columns[index], index, int(labels[index][rng.integers(len(labels[index]))]), middles[index], rng)
            for index in chosen.tolist()
        )


def _score(
    name: str,
    threat_model: ThreatModel,
    described: Described,
    kept: Sequence[Description],
    blind: Sequence[Description],
) -> Score:
    """Count the descriptions that fit one row, or one person."""
    n = threat_model.original.n_rows
    person_of = threat_model.person_of
    alone: dict[int, None] = {}

    def is_alone(fitting: Ints) -> bool:
        return len(fitting) == 1 or (person_of is not None and len(np.unique(person_of[fitting])) == 1)

    n_alone = 0
    for one in kept:
        fitting = described.fitting(one, ORIGINAL)
        if is_alone(fitting):
            n_alone += 1
            alone[int(fitting[0])] = None
    times = Counter(blind)
    n_blind = sum(n_times for one, n_times in times.items() if is_alone(described.fitting(one, ORIGINAL)))
    outside = None
    if threat_model.control is not None and threat_model.control.height and kept:
        counts = np.array([len(described.fitting(one, CONTROL)) for one in kept])
        outside = (alone_among(counts, threat_model.control.height, n) * len(kept), len(kept))
    inputs = {"predicates": len(kept), "riskiest": [row + 1 for row in list(alone)[:N_RISKIEST]]}
    made = share_score(name, n_alone, len(kept), n_blind / max(1, len(blind)), inputs=inputs, outside=outside)
    # What was tried are descriptions, not people.
    return replace(made, inputs={key: value for key, value in made.inputs.items() if key != "people"})


def alone_among(counts: Ints, n_seen: int, n: int) -> float:
    """Return the share of descriptions that would fit exactly one of n people, by how many of those seen each fits.

    Of fewer people than were seen any n may be drawn: a description that fits c of N fits exactly one of them with the
    chance c C(N − c, n − 1) / C(N, n). For more people than were seen the weight w of a description, the share of all
    people it fits, is taken to vary as a gamma distribution that the counts have the mean and the variance of, and
    n w (1 − w)^(n − 1) is averaged over it.

    Example: of four people seen a description fits two. Two of the four hold exactly one of them in 4 of 6 draws.
    """
    if n <= n_seen:
        c = counts[(counts > 0) & (n_seen - counts >= n - 1)].astype(np.float64)
        logs = np.log(c) + _log_choose(n_seen - c, n - 1) - _log_choose(np.full(len(c), float(n_seen)), n)
        return float(np.exp(logs).sum() / max(1, len(counts)))
    mean, spread = float(counts.mean()) / n_seen, float(counts.var())
    if mean == 0:
        return 0.0
    excess = (spread - counts.mean()) / n_seen**2
    expected = mean * n
    if excess <= 0:
        # All have the same weight.
        return expected * (1 - mean) ** (n - 1)
    shape = mean**2 / excess
    return float(expected * (1 + expected / shape) ** (-shape - 1))


def _log_choose(n: Floats, k: int) -> Floats:
    chosen: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return chosen
