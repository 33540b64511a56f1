"""The attacker who knows nobody, and reads what labels say of the rows they were made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tokumei.attack.claims import MISSING, Claim, claims_frame, least_by_cell
from tokumei.attack.label_reading import LabelReading
from tokumei.attack.mondrian_cuts import halves, not_split
from tokumei.attack.public_knowledge import Deductions, PublicKnowledge
from tokumei.attack.singling_out import expected_singling_out, singling_out
from tokumei.attack.targets import share_score
from tokumei.attack.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.hierarchy.hierarchy import SUPPRESSED
from tokumei.hierarchy.labels import number_label

# Methods that write each group by the closest labels that cover it.
CLOSEST = ("mondrian", "partition", "min-dis", "utility-clustering")
# Ways to fill a class are counted exactly for so many values that must occur.
MOST_PARTS = 6
Ranges = Literal["", "tight", "grid"]


@dataclass(frozen=True)
class Downcoding:
    """Undo generalization from the release and the public hierarchies alone, without knowing anybody.

    Knowledge: the release, the hierarchies, the name of the method and its k where these are public; no person and no
    original. Aim: values that were generalized away, and predicates that fit one person alone. What is deduced: both
    ends of a tight range occur in its group, and so do all members of a set that was made of the group; a group
    written by the closest label of a tree has rows below two of its children at least; and a group that Mondrian did
    not split could not be split. Whether ranges are tight is told (by the method, or the option `ranges`), or else
    judged from the labels: ends on one grid, or labels that nest, do not speak for it. Each claim is proven if what was
    assumed is true.

    Success: `singled-out` is the share of predicates "value = end of the range, other columns within the labels", one
    for each end of each range of each class, that fit exactly one of all rows of the original. Baseline: any value of
    the same range, each alike. Without the original, `singled-out-estimate` is what it would be if values lay evenly
    within their ranges. `certain` is the share of generalized cells whose values are known exactly, up to the order of
    rows that say the same; `narrowed` is the share of rows of whose class something is claimed, and its inputs say how
    many bits of how many the claims remove. The original is used only to judge (Cohen and Nissim 2020 on predicate
    singling out; Cohen 2022 on downcoding).

    Example: two rows say 31-45, three rows say 50-58; `ranges` is tight. The ages of the first two are 31 and 45, and
    among the others are 50 and 58: 4 of 5 cells are known, so `certain` is 0.8. If the third of these is 50 as well,
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
        tight = {one.column: self._is_tight(public, one) for one in readings if one.has_made_labels}
        claims: list[Claim] = []
        for one in readings:
            claims += self._of_column(public, one, is_tight=tight.get(one.column, (False, ""))[0])
        claims += self._of_cuts(public, readings, [column for column, (is_tight, _) in tight.items() if is_tight])
        frame = claims_frame(public, claims)
        return Deductions(_scores(public, readings, claims, tight), frame, _facts(public, frame, tight))

    def _of_cuts(
        self, public: PublicKnowledge, readings: Sequence[LabelReading], tight: Sequence[str]
    ) -> Iterator[Claim]:
        """Claim what follows from where Mondrian cut and where it did not."""
        method = public.method
        is_strict = (method.options or {}).get("kind", "strict") == "strict"
        if (
            method.name != "mondrian"
            or not is_strict
            or not method.is_plain
            or method.suppression
            or self.ranges == "grid"
        ):
            return
        # Nobody asked for more than every class has.
        k = int(public.sizes.min()) if method.k is None else method.k
        ranged = tight if method.ranged is None else [name for name in method.ranged if name in public.columns]
        if any(one.column in ranged and one.has_made_labels and one.column not in tight for one in readings):
            return
        for one in readings:
            is_ranged = one.column in ranged
            yield from not_split(public, one, k, is_ranged=is_ranged, is_complete=self.complete)
        if self.complete or not any(SUPPRESSED in one.labels for one in readings):
            yield from halves(public, readings, ranged)

    def _is_tight(self, public: PublicKnowledge, reading: LabelReading) -> tuple[bool, Text]:
        """Tell whether the labels of a column are assumed to be made of the values in each group, and why."""
        method = public.method
        if self.ranges:
            return self.ranges == "tight" and not reading.are_of_a_tree, Text("told")
        if method.options is not None and method.name in CLOSEST:
            is_ranged = method.ranged is None or reading.column in method.ranged
            return is_ranged and method.options.get("ranges", "tight") == "tight", Text("told by the method")
        return reading.looks_tight()

    def _of_column(self, public: PublicKnowledge, reading: LabelReading, *, is_tight: bool) -> Iterator[Claim]:
        is_closest = public.method.name in CLOSEST and self.ranges != "grid"
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
            text = f"two or more occur of: {', '.join(names)}"
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


Tight = Mapping[str, tuple[bool, Text]]


def _scores(
    public: PublicKnowledge, readings: Sequence[LabelReading], claims: Sequence[Claim], tight: Tight
) -> dict[str, Score]:
    is_tight = {column: found for column, (found, _) in tight.items()}
    if public.truth is None:
        main = expected_singling_out(public, readings, is_tight)
    else:
        main = singling_out(public, readings, public.truth)
    known = least_by_cell(claims)
    by_column, n_known, n_cells = {}, 0, 0
    for one in readings:
        n_own = int(public.sizes[np.array(one.is_generalized)[public.labels_of_classes(one.column)]].sum())
        n_exact = sum(n for (_, column), n in known.items() if column == one.column)
        n_known, n_cells = n_known + n_exact, n_cells + n_own
        if n_own:
            by_column[one.column] = n_exact / n_own
    touched = np.unique([one.class_number for one in claims]).astype(np.int64)
    removed, total = _bits(public, readings, claims)
    n_rows = public.release.n_rows
    return {
        main.name: main,
        "certain": _cells("certain", n_known, n_cells, by_column),
        "narrowed": replace(
            share_score("narrowed", int(public.sizes[touched].sum()), n_rows),
            inputs={"rows": n_rows, "bits_removed_per_row": removed / n_rows, "bits_per_row": total / n_rows},
        ),
    }


def _cells(name: str, n_known: int, n_cells: int, by_column: Mapping[str, float]) -> Score:
    return replace(share_score(name, n_known, n_cells), inputs={"cells": n_cells, "by_column": dict(by_column)})


def _bits(public: PublicKnowledge, readings: Sequence[LabelReading], claims: Sequence[Claim]) -> tuple[float, float]:
    """Give how many bits the claims remove of what the labels leave open, and how many bits that were.

    A class of n rows whose label stands for m values may be filled in mⁿ ways; those that lack a value which must occur
    are gone.
    """
    total, removed = 0.0, 0.0
    n_values = {one.column: np.array(one.n_values) for one in readings}
    for one in readings:
        own = n_values[one.column][public.labels_of_classes(one.column)]
        total += float((public.sizes * np.log2(np.maximum(own, 1.0))).sum())
    musts: dict[tuple[int, str], list[int]] = {}
    for claim in claims:
        if claim.rule == "count" and claim.least > 0:
            width = len(claim.leaves) if isinstance(claim.leaves, frozenset) else 1
            musts.setdefault((claim.class_number, claim.column), []).append(width)
    for (number, column), widths in musts.items():
        label = int(public.labels_of_classes(column)[number])
        removed += _bits_of(float(n_values[column][label]), int(public.sizes[number]), widths)
    return removed, total


def _bits_of(n_values: float, size: int, widths: Sequence[int]) -> float:
    """Give the bits that are removed when each of some disjoint parts of the values must occur among so many rows."""
    n_all, parts = max(round(n_values), sum(widths), 1), widths[:MOST_PARTS]
    # Whole numbers, since the shares that are left may be far below what a float can subtract.
    left = sum(
        (-1) ** bin(chosen).count("1") * (n_all - sum(w for at, w in enumerate(parts) if chosen >> at & 1)) ** size
        for chosen in range(1 << len(parts))
    )
    return size * math.log2(n_all) - (math.log2(left) if left > 0 else 0.0)


def _facts(public: PublicKnowledge, frame: Any, tight: Tight) -> dict[str, Any]:
    """Say what was assumed, and how many claims there are."""
    method = public.method
    judged = frame["is_true"].drop_nulls()
    return {
        "method": method.name or None,
        "k": method.k,
        "assumed": {
            column: {"ranges": "tight" if found else "grid", "since": why} for column, (found, why) in tight.items()
        },
        "claims": frame.height,
        "claims_by_kind": dict(frame["kind"].value_counts(sort=True).iter_rows()),
        "claims_true": None if not len(judged) else float(judged.mean()),
    }
