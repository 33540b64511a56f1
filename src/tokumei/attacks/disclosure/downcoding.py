"""The attacker who knows nobody, and reads what labels say of the rows they were made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.attacks.candidates import share_score
from tokumei.attacks.claims import (
    MISSING,
    Claim,
    claims_frame,
    expected_singling_out,
    known_cells,
    mean_of,
    singling_out,
    summary_of,
)
from tokumei.attacks.disclosure.method_traces import MINIMAL, halves, not_finer, not_split, suppressed_rows
from tokumei.attacks.label_reading import CLOSEST, LabelReading, Ranges, are_tight, searches_levels
from tokumei.attacks.public_knowledge import Deductions, PublicKnowledge
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Json, Text
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.labels import number_label

# A claim lists no more values than this by name.
MOST_NAMED = 100
# Ways to fill a class are counted exactly for so many values that must occur.
MOST_PARTS = 6
Tight = Mapping[str, tuple[bool, Text]]
"""For each column with ranges or sets whether these are made of the values in each group, and why that is assumed."""


@dataclass(frozen=True)
class Downcoding:
    """Undo generalization from the release and the public hierarchies alone, without knowing anybody.

    Knowledge: the release, the hierarchies, the name of the method and its k where these are public; no person and no
    original. Aim: values that were generalized away, and predicates that fit one person alone. What is deduced:

    - both ends of a tight range occur in its group, and all members of a set that was made of the group;
    - a group written by the closest label of a tree has rows below two of its children at least;
    - a group that Mondrian did not split could not be split, and where it cut, the halves say how often a value occurs;
    - levels that a method found best could not be finer if it could leave nobody out, and a suppressed row lies in no
      class that was released.

    Whether ranges are tight is told (by the method, or by the option `ranges`), or else judged from the labels: ends on
    one grid, or labels that nest without gaps, do not speak for it. A claim is proven if what was assumed is true, and
    that is stated. Nothing but k-anonymity was asked for, unless a release says otherwise.

    Success: `singled-out` is the share of predicates "value = end of the range, other columns within the labels", one
    for each end of each range of each class, that fit exactly one of all rows of the original. Baseline: any value of
    the same range, each alike. Without the original, `singled-out-estimate` is what it would be if values lay evenly
    within their ranges. `cells-certain` is the share of generalized cells whose values are known exactly, up to the
    order of rows that say the same; `narrowed` is the share of rows of whose class something is claimed, and its inputs
    have the bits a row that labels leave open and that claims remove. The original is used only to judge (Cohen and
    Nissim 2020 on predicate singling out; Cohen 2022 on downcoding).

    Example: two rows say 31-45, three rows say 50-58; `ranges` is tight. The ages of the first two are 31 and 45, and
    among the others are 50 and 58: 4 of 5 cells are known, so `cells-certain` is 0.8. If the third of these is 50, too,
    31, 45 and 58 single somebody out and 50 does not: `singled-out` is 3/4. Any value does in 2 of 15 and in 1 of 9
    cases, so the baseline is (2/15 + 1/9) / 2 = 0.122.
    """

    ranges: Ranges = field(
        default="",
        metadata={"help": "tight: ends of ranges occur in the group; grid: they need not; judged if not given."},
    )
    complete: bool = field(
        default=False, metadata={"help": "The table is known to have no missing values, so that * hides none."}
    )

    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.ranges not in ("", "tight", "grid"):
            raise InputError.of("tight or grid", option="ranges", value=self.ranges)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Attack what is public of the release, and judge by the original."""
        return self.deduce(PublicKnowledge.of(threat_model), seed=seed).scores

    def deduce(self, public: PublicKnowledge, *, seed: int) -> Deductions:  # noqa: ARG002 - nothing is drawn.
        """Claim what follows from the labels and from how they were made."""
        readings = [LabelReading.of(public, column) for column in public.columns]
        tight = {one.column: are_tight(public, one, self.ranges) for one in readings if one.has_made_labels}
        claims: list[Claim] = []
        for one in readings:
            claims += self._of_column(public, one, is_tight=tight.get(one.column, (False, ""))[0])
        claims += self._of_cuts(public, readings, [column for column, (is_tight, _) in tight.items() if is_tight])
        claims += self._of_levels(public, readings)
        frame, rows = claims_frame(public, claims), _by_row(public, readings, claims)
        scores = _scores(public, readings, claims, tight, rows)
        return Deductions(scores, frame, rows, self._facts(public, frame, tight))

    def _of_cuts(
        self, public: PublicKnowledge, readings: Sequence[LabelReading], tight: Sequence[str]
    ) -> Iterator[Claim]:
        """Claim what follows from where Mondrian cut and where it did not."""
        method = public.method
        is_strict = (method.options or {}).get("kind", "strict") == "strict"
        is_cut_for_k = method.name == "mondrian" and is_strict and method.is_plain
        if not is_cut_for_k or method.may_leave_out(public.release.n_rows):
            return
        ranged = tight if method.ranged is None else [name for name in method.ranged if name in public.columns]
        # How numbers were cut that are not written by the ends of their groups, nobody said.
        sure = [
            one
            for one in readings
            if one.column not in method.on_grid
            and (
                one.column in tight
                or not (one.is_numeric if method.ranged is None else one.column in ranged and any(one.ranges))
            )
        ]
        for one in sure:
            is_ranged = one.column in ranged
            yield from not_split(public, one, public.k_asked, is_ranged=is_ranged, is_complete=self.complete)
        may_be_missing = not self.complete and any(SUPPRESSED in one.labels for one in readings)
        if len(sure) == len(readings) and not may_be_missing and not self._is_of_a_grid(public):
            yield from halves(public, readings, ranged)

    def _facts(self, public: PublicKnowledge, claims: pl.DataFrame, tight: Tight) -> Json:
        """Return what was assumed, and how many claims of which kind there are."""
        method = public.method
        return {
            "assumed": {
                "method": method.name or None,
                "k": public.k_asked if method.name else None,
                "k_is_told": method.k is not None,
                "only_k_was_asked": method.is_plain,
                "share_left_out": method.suppression,
                "no_missing_values": self.complete,
                "ranges": {
                    column: {"are": "tight" if found else "grid", "since": str(why)}
                    for column, (found, why) in tight.items()
                },
            },
            **summary_of(claims),
        }

    def _is_of_a_grid(self, public: PublicKnowledge) -> bool:
        """Whether it is said that ranges do not depend on the rows of their group."""
        return (self.ranges or (public.method.options or {}).get("ranges")) == "grid"

    def _of_levels(self, public: PublicKnowledge, readings: Sequence[LabelReading]) -> Iterator[Claim]:
        """Claim what follows from levels that could not be finer, and from rows that were suppressed."""
        method = public.method
        if not method.is_plain or not searches_levels(method.name):
            return
        left_out = list(suppressed_rows(public, readings))
        yield from left_out
        if method.name in MINIMAL and not method.may_leave_out(public.release.n_rows) and not left_out:
            yield from not_finer(public, readings, public.k_asked, is_complete=self.complete)

    def _of_column(self, public: PublicKnowledge, reading: LabelReading, *, is_tight: bool) -> Iterator[Claim]:
        is_closest = public.method.name in CLOSEST
        is_ranged = is_tight if public.method.ranged is None else reading.column in public.method.ranged
        for number, (label, size) in enumerate(
            zip(public.labels_of_classes(reading.column).tolist(), public.sizes.tolist(), strict=True)
        ):
            if not reading.is_generalized[label]:
                continue
            if is_tight:
                yield from _range_ends(reading, number, label, size)
                yield from _members(reading, number, label, size)
            if is_closest and is_ranged:
                yield from _missing_with_others(reading, number, label, size)
            elif is_closest and not reading.ranges[label]:
                yield from self._closest(reading, number, label, size)

    def _closest(self, reading: LabelReading, number: int, label: int, size: int) -> Iterator[Claim]:
        """Claim that rows of the group lie below two children of its label, or else it would be one of them."""
        below, column = reading.children(label), reading.column
        if below is None:
            return
        parts, names = list(below.leaves), list(below.texts)
        if reading.labels[label] == SUPPRESSED and not self.complete:
            parts, names = [*parts, frozenset([MISSING])], [*names, "(missing)"]
        if len(parts) > 2:
            more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
            text = f"two or more occur of: {', '.join(names[:MOST_NAMED])}{more}"
            yield Claim(number, column, "closest label", "spread", 2, size, text, parts=parts)
            return
        for name, leaves in zip(names, parts, strict=True):
            text, is_exact = f"{name} occurs", len(leaves) == 1
            yield Claim(number, column, "closest label", "count", 1, size - 1, text, name, leaves, is_exact=is_exact)


def _missing_with_others(reading: LabelReading, number: int, label: int, size: int) -> Iterator[Claim]:
    """Claim that a missing value stands with others where a method of ranges writes none."""
    if reading.labels[label] == SUPPRESSED:
        text, leaves = "a missing value occurs, and one that is not", frozenset([MISSING])
        yield Claim(
            number, reading.column, "closest label", "count", 1, size - 1, text, "(missing)", leaves, is_exact=True
        )


def _range_ends(reading: LabelReading, number: int, label: int, size: int) -> Iterator[Claim]:
    """Claim that both ends of a tight range occur."""
    ends = reading.ends[label]
    for end in ends:
        value, most = number_label(end), size - len(ends) + 1
        text = f"{value} occurs"
        yield Claim(number, reading.column, "range end", "count", 1, most, text, value, end, is_exact=True)


def _members(reading: LabelReading, number: int, label: int, size: int) -> Iterator[Claim]:
    """Claim that all members of a set occur that was made of the group."""
    members = reading.sets[label] or ()
    for member in members:
        text, most = f"{member} occurs", size - len(members) + 1
        is_exact = reading.vocabulary.leaf_sets([member]).sizes[0] == 1
        yield Claim(number, reading.column, "set", "count", 1, most, text, member, member, is_exact=bool(is_exact))


def _scores(
    public: PublicKnowledge, readings: Sequence[LabelReading], claims: Sequence[Claim], tight: Tight, rows: pl.DataFrame
) -> dict[str, Score]:
    if public.truth is None:
        main = expected_singling_out(public, readings, {column: found for column, (found, _) in tight.items()})
    else:
        main = singling_out(public, readings, public.truth)
    n_narrowed = int(rows["is_narrowed"].sum())
    bits = {name: mean_of(rows[name]) for name in ("bits_open", "bits_removed")}
    return {
        main.name: main,
        "cells-certain": known_cells(public, {one.column: one.is_generalized for one in readings}, claims),
        "narrowed": replace(share_score("narrowed", n_narrowed, rows.height), inputs={"rows": rows.height, **bits}),
    }


def _by_row(public: PublicKnowledge, readings: Sequence[LabelReading], claims: Sequence[Claim]) -> pl.DataFrame:
    """Return for each released row how many bits its labels leave open, and how many of them the claims remove.

    A class of n rows whose label stands for m values may be filled in mⁿ ways. Those are gone that lack a value which
    must occur, or that lie below one child where two must occur. Each row has its share of what is said of its class.
    """
    n_values = {one.column: np.array(one.n_values)[public.labels_of_classes(one.column)] for one in readings}
    is_open = {one.column: np.array(one.is_generalized)[public.labels_of_classes(one.column)] for one in readings}
    total, removed = np.zeros(len(public.sizes)), np.zeros(len(public.sizes))
    for column, values in n_values.items():
        total += np.where(is_open[column], np.log2(np.maximum(values, 1.0)), 0.0)
    is_narrowed = np.zeros(len(public.sizes), bool)
    parts: dict[tuple[int, str], set[tuple[str, tuple[int, ...]]]] = {}
    for one in claims:
        if one.class_number is None:
            continue
        is_narrowed[one.class_number] = True
        if one.column is not None and one.rule == "count":
            width = len(one.leaves) if isinstance(one.leaves, frozenset) else 1
            parts.setdefault((one.class_number, one.column), set()).add((one.value or "", (width,)))
        elif one.column is not None and one.rule == "spread":
            own = tuple(len(part) for part in one.parts)
            parts.setdefault((one.class_number, one.column), set()).add(("", own))
    for (number, column), found in parts.items():
        size = int(public.sizes[number])
        musts = [widths[0] for _, widths in sorted(found) if len(widths) == 1]
        spread = next((widths for _, widths in found if len(widths) > 1), ())
        bits = _bits_of(float(n_values[column][number]), size, musts) if musts else _bits_of_spread(spread, size)
        removed[number] += bits / size
    at = public.class_of
    return pl.DataFrame(
        {
            "row": np.arange(1, len(at) + 1),
            "rows": public.sizes[at],
            "is_narrowed": is_narrowed[at],
            "bits_open": total[at],
            "bits_removed": removed[at],
        }
    )


def _bits_of(n_values: float, size: int, widths: Sequence[int]) -> float:
    """Return the bits that are removed when each of some disjoint parts of the values must occur among so many rows."""
    n_all, parts = max(round(n_values), sum(widths), 1), widths[:MOST_PARTS]
    # Whole numbers, since the shares that are left may be far below what a float can subtract.
    left = sum(
        (-1) ** chosen.bit_count() * (n_all - sum(width for at, width in enumerate(parts) if chosen >> at & 1)) ** size
        for chosen in range(1 << len(parts))
    )
    return size * math.log2(n_all) - (math.log2(left) if left > 0 else 0.0)


def _bits_of_spread(widths: Sequence[int], size: int) -> float:
    """Return the bits that are removed when so many rows must not all lie in one of these parts."""
    n_all = sum(widths)
    together = sum((width / n_all) ** size for width in widths)
    return -math.log2(1 - together) if 0 < together < 1 else 0.0
