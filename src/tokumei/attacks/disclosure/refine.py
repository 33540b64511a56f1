"""The attacker who knows nobody, and counts by linear and integer programs what each class of a release can hold.

Where labels come from one family, it also follows that each group has the closest label that covers it. A closer label
that lies within a group's does not cover it, or else it would have been taken. So at least one row of the group lies
outside of each child of its label and, of ranges, outside of each narrower range that stands in the column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.candidates import share_score
from tokumei.attacks.claims import MISSING, Claim, Leaves, claims_frame, known_cells, mean_of, summary_of
from tokumei.attacks.disclosure.round_programs import Solved, solve
from tokumei.attacks.disclosure.rounds import Contradiction, Rounds, count
from tokumei.attacks.disclosure.value_counts import Pieces, ValueCounts
from tokumei.attacks.label_reading import CLOSEST, LabelReading, Ranges, are_tight, searches_levels
from tokumei.attacks.public_knowledge import Deductions, PublicKnowledge
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Json, Text, counted
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.labels import NumberRange, number_label

CLOSEST_LABEL, RANGE_END = "closest label", "range end"


def closest(
    public: PublicKnowledge,
    reading: LabelReading,
    counts: ValueCounts,
    *,
    is_ranged: bool,
    is_tight: bool,
    is_complete: bool,
) -> Iterator[Claim]:
    """Bound what each group holds of the parts of its label, and claim what ranges within its own cannot hold."""
    narrower = _narrower(reading) if is_ranged else {}
    for number, (label, size) in enumerate(
        zip(public.labels_of_classes(reading.column).tolist(), public.sizes.tolist(), strict=True)
    ):
        if not reading.is_generalized[label] or size < 2:
            continue
        key = number, reading.column
        if is_ranged and reading.ranges[label] is not None:
            if is_tight and len(reading.ends[label]) == 2:
                _ends(reading, label, size, key, counts)
            elif pair := _halves(reading, label, narrower.get(label, ())):
                _narrow_two(size, key, pair, counts)
            for inner in narrower.get(label, ()):
                name = str(reading.labels[inner])
                text = f"{name} in {counted(size - 1, 'row')} or fewer"
                yield Claim(number, reading.column, CLOSEST_LABEL, "count", 0, size - 1, text, name, name)
        elif is_ranged:
            if reading.labels[label] == SUPPRESSED:
                # A method of ranges says nothing only where a missing value stands with others.
                leaves: list[Leaves] = [frozenset([MISSING]), frozenset([""])]
                _narrow_two(size, key, Pieces(0, ["(missing)", None], leaves, [1, 1]), counts)
        elif (pieces := _children(reading, label, is_complete=is_complete)) is not None:
            _narrow_two(size, key, pieces, counts)


def _narrow_two(size: int, key: tuple[int, str], pieces: Pieces, counts: ValueCounts) -> None:
    """Bound parts of which at least two must occur."""
    n = len(pieces.names)
    least = np.full(n, 1 if n == 2 else 0, np.int64)
    counts.narrow(key, pieces, least, np.full(n, size - 1, np.int64), CLOSEST_LABEL)


def _ends(reading: LabelReading, label: int, size: int, key: tuple[int, str], counts: ValueCounts) -> None:
    """Bound the ends of a tight range, both of which occur, and all between them."""
    low, high = reading.ends[label]
    n_between = max(0, round(reading.n_values[label]) - 2)
    pieces = Pieces(0, [number_label(low), number_label(high), None], [low, high, ""], [1, 1, n_between])
    least, most = np.array([1, 1, 0], np.int64), np.array([size - 1, size - 1, size - 2], np.int64)
    counts.narrow(key, pieces, least, most, RANGE_END)


def _children(reading: LabelReading, label: int, *, is_complete: bool) -> Pieces | None:
    below = reading.children(label)
    if below is None:
        return None
    names, leaves = list(below.texts), list(below.leaves)
    if reading.labels[label] == SUPPRESSED and not is_complete:
        names, leaves = [*names, "(missing)"], [*leaves, frozenset([MISSING])]
    return Pieces(0, names, leaves, [len(one) for one in leaves])


def _narrower(reading: LabelReading) -> dict[int, list[int]]:
    """For each range the widest other ranges of the column that lie within it."""
    # A node of the hierarchy may be called as a range is and hold others: which of the two was meant, nobody knows.
    levels = [] if reading.hierarchy is None else reading.hierarchy.levels[1:]
    nodes = {label for level in levels for label in level.labels}
    found = [(at, one) for at, one in enumerate(reading.ranges) if one is not None and reading.labels[at] not in nodes]
    # By where they begin, the wider first: those within a range follow it, as long as they begin in it.
    found.sort(key=lambda pair: (pair[1].low, -pair[1].high, pair[1].is_open, pair[1].is_open_below))
    out: dict[int, list[int]] = {}
    for place, (at, own) in enumerate(found):
        inside: list[tuple[int, NumberRange]] = []
        for other, one in found[place + 1 :]:
            if one.low > own.high:
                break
            if one.lies_within(own) and not any(one.lies_within(wider) for _, wider in inside):
                inside = [pair for pair in inside if not pair[1].lies_within(one)]
                inside.append((other, one))
        if inside:
            out[at] = [other for other, _ in inside]
    return out


def _halves(reading: LabelReading, label: int, narrower: Sequence[int]) -> Pieces | None:
    """Return the two ranges that make up a third, where two of the column do."""
    own = reading.ranges[label]
    for first in narrower:
        for second in narrower:
            low, high = reading.ranges[first], reading.ranges[second]
            if own is None or low is None or high is None or low.low != own.low or high.high != own.high:
                continue
            if low.is_open and low.high == high.low and not high.is_open_below and high.is_open == own.is_open:
                names = [str(reading.labels[first]), str(reading.labels[second])]
                n_values = [round(reading.n_values[first]), round(reading.n_values[second])]
                return Pieces(0, names, names, n_values)
    return None


Kind = Literal["", "any", "finest"]


@dataclass(frozen=True)
class Refine:
    """Prove by linear and integer programs how many rows of each class can have which values.

    Knowledge: the release, the hierarchies, and how the release was made, as far as that is public; no person and no
    original. Aim: bounds on how many rows of a class have a value or lie below a node. A program has a variable for
    each class and combination of values. Its constraints say that:

    - the rows of a class add up to its size;
    - a release made in rounds, such as a local recoding by ARX or one by levels with suppressed rows, releases every
      cell of a round that has k rows left, so that rows that come later have fewer than k in each other cell, and none
      in a cell that was released;
    - with `rounds=finest`, no part of a class one level below holds k of its rows either, or else the round would have
      taken the finer level for it;
    - a group that was written by the closest label has a row outside of every closer one.

    Each bound is proven: a linear program's by a dual solution that is checked in whole numbers, an integer program's
    by branching, each branch ruled out in the same way. Nothing rests on the rounding of a solver. The claims are true
    of every original that the release and what is assumed allow. Classes that no program takes within `seconds`, or
    that have too many cells, keep the bounds that counting the cells of each round gives.

    Success: `cells-certain` is the share of generalized cells whose values are known exactly, up to the order of rows
    that say the same; `narrowed` is the share of rows of whose class something is claimed, and its inputs have the bits
    a row that labels leave open and that claims remove. Baseline: none, since without programs and counting nothing is
    claimed. The original is used only to judge (Chhillar, Righi, Sutter and Kornaropoulos 2025 on combinatorial
    refinement attacks).

    Example: k = 3, and the west is Kyoto, Osaka and Nara. Three rows say (Kyoto, f), and four others (west, f), which a
    later round released. A woman of Kyoto would stand with the three, so that the four are of Osaka and Nara; three of
    one city would have been released as such. So two are of Osaka and two of Nara: all four cells are known.
    """

    rounds: Kind = field(
        default="",
        metadata={
            "help": "Levels were applied in rounds, each to the rows left over (any), and no round could have taken "
            "finer ones for any class (finest); by the method if not given."
        },
    )
    ranges: Ranges = field(
        default="",
        metadata={"help": "tight: ends of ranges occur in the group; grid: they need not; judged if not given."},
    )
    complete: bool = field(
        default=False, metadata={"help": "The table is known to have no missing values, so that * hides none."}
    )
    seconds: float = field(default=60.0, metadata={"help": "How long to solve programs; what is left out is said."})

    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.rounds not in ("", "any", "finest"):
            raise InputError.of("any or finest", option="rounds", value=self.rounds)
        if self.ranges not in ("", "tight", "grid"):
            raise InputError.of("tight or grid", option="ranges", value=self.ranges)
        if not self.seconds >= 0:
            raise InputError.of("0 seconds or more", option="seconds", value=self.seconds)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Attack what is public of the release, and judge by the original."""
        return self.deduce(PublicKnowledge.of(threat_model), seed=seed).scores

    def deduce(self, public: PublicKnowledge, *, seed: int) -> Deductions:  # noqa: ARG002 - nothing is drawn.
        """Claim what the programs prove."""
        readings = [LabelReading.of(public, column) for column in public.columns]
        is_generalized = {one.column: one.is_generalized for one in readings}
        found = _Found(ValueCounts(public))
        if self._is_in_rounds(public):
            self._by_rounds(public, readings, found)
        elif public.method.name in CLOSEST:
            self._by_closest_labels(public, readings, found)
        else:
            found.why_nothing = Text("nobody said how it was made")
        found.counts.spread()
        claims = [*found.counts.claims(), *found.loose]
        frame, rows = claims_frame(public, claims), _by_row(public, readings, claims, found.counts)
        n_narrowed = int(rows["is_narrowed"].sum())
        bits = {name: mean_of(rows[name]) for name in ("bits_open", "bits_removed")}
        scores = {
            "cells-certain": known_cells(public, is_generalized, claims),
            "narrowed": replace(share_score("narrowed", n_narrowed, rows.height), inputs={"rows": rows.height, **bits}),
        }
        return Deductions(scores, frame, rows, {**self._facts(public, found), **summary_of(frame)})

    def _is_in_rounds(self, public: PublicKnowledge) -> bool:
        return bool(self.rounds) or (searches_levels(public.method.name) and public.method.is_plain)

    def _by_rounds(self, public: PublicKnowledge, readings: Sequence[LabelReading], found: _Found) -> None:
        made = Rounds.of(
            public, readings, public.method.k, is_finest=self.rounds == "finest", is_complete=self.complete
        )
        if isinstance(made, Text):
            found.why_nothing = made
            return
        found.k = made.k
        if made.k < 2:
            found.why_nothing = Text("classes of one row hold back nobody")
            return
        try:
            count(made, found.counts)
            found.solved = solve(made, found.counts, seconds=self.seconds)
        except Contradiction:
            found.counts = ValueCounts(public)
            found.why_nothing = Text("the release contradicts what is assumed of it")

    def _by_closest_labels(self, public: PublicKnowledge, readings: Sequence[LabelReading], found: _Found) -> None:
        for one in readings:
            # That labels look as if they were made of the group would prove nothing.
            is_told = bool(self.ranges) or public.method.options is not None
            is_tight = is_told and one.has_made_labels and are_tight(public, one, self.ranges)[0]
            is_ranged = any(one.ranges) if public.method.ranged is None else one.column in public.method.ranged
            found.loose += closest(
                public, one, found.counts, is_ranged=is_ranged, is_tight=is_tight, is_complete=self.complete
            )

    def _facts(self, public: PublicKnowledge, found: _Found) -> Json:
        """Return what was assumed, how bounds are proven, and what was left out."""
        method = public.method
        assumed = {
            "method": method.name or None,
            "rounds": (self.rounds or "any") if self._is_in_rounds(public) else None,
            "k": found.k,
            "k_is_told": method.k is not None,
            "only_k_was_asked": method.is_plain or bool(self.rounds),
            "no_missing_values": self.complete,
        }
        return {
            "assumed": assumed,
            "nothing_claimed_since": found.why_nothing,
            "proof": "dual solutions checked in whole numbers",
            "programs": asdict(found.solved),
        }


@dataclass
class _Found:
    """What was found so far: bounds, claims that are none, and why there may be nothing."""

    counts: ValueCounts
    loose: list[Claim] = field(default_factory=list)
    solved: Solved = field(default_factory=Solved)
    k: int | None = None
    why_nothing: Text | None = None


def _by_row(
    public: PublicKnowledge, readings: Sequence[LabelReading], claims: Sequence[Claim], counts: ValueCounts
) -> pl.DataFrame:
    """Return for each released row how many bits its labels leave open, and how many of them the claims remove.

    Each row has its share of what is said of its class.
    """
    n_classes = len(public.sizes)
    total, removed = np.zeros(n_classes), np.zeros(n_classes)
    n_values: dict[str, npt.NDArray[np.float64]] = {}
    for one in readings:
        codes = public.labels_of_classes(one.column)
        n_values[one.column] = np.maximum(np.array(one.n_values), 1.0)[codes]
        total += np.where(np.array(one.is_generalized)[codes], np.log2(n_values[one.column]), 0.0)
    for key in counts.keys:
        number, column = key
        removed[number] += counts.bits_removed(key, float(n_values[column][number])) / public.sizes[number]
    is_narrowed = np.zeros(n_classes, bool)
    is_narrowed[[one.class_number for one in claims if one.class_number is not None]] = True
    at = public.class_of
    return pl.DataFrame(
        {
            "row": np.arange(1, len(at) + 1),
            "rows": public.sizes[at],
            "is_narrowed": is_narrowed[at],
            "bits_open": total[at],
            "bits_removed": np.minimum(removed, total)[at],
        }
    )
