"""What follows from knowing that a release by levels is as fine as it could be, and who had to be left out.

A method that finds the best levels takes a finer one wherever all classes keep k rows. So for each column some class
would fall apart one level below, with a part of fewer than k. And a row that was suppressed, where others were not, had
fewer than k beside it in its class: it lies in none of those that were released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tokumei.attacks.claims import MISSING, Claim
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import SUPPRESSED

# Methods that release at levels none of which could be finer.
MINIMAL = ("optimal", "exhaustive", "ola", "incognito")
NOT_FINER, SUPPRESSED_ROW = "not finer", "suppressed"


def not_finer(
    public: PublicKnowledge, readings: Sequence[LabelReading], k: int, *, is_complete: bool
) -> Iterator[Claim]:
    """Claim for each column that some class has a part of fewer than k rows one level below."""
    for reading in readings:
        if _level(reading) is None:
            continue
        reasons = []
        for number, label in enumerate(public.labels_of_classes(reading.column).tolist()):
            below = reading.children(label)
            if below is None:
                continue
            parts, names = list(below.leaves), list(below.texts)
            if reading.labels[label] == SUPPRESSED and not is_complete:
                parts, names = [*parts, frozenset([MISSING])], [*names, "(missing)"]
            text = f"fewer than {k} rows, and at least one, have one of: {', '.join(names)}"
            reasons.append(Claim(number, reading.column, NOT_FINER, "minority", 1, k - 1, text, parts=parts))
        if len(reasons) == 1:
            yield reasons[0]
        elif reasons:
            text = f"some class has fewer than {k} rows below one of its label's children"
            yield Claim(None, reading.column, NOT_FINER, "any", 1, k - 1, text, reasons=reasons)


def suppressed_rows(public: PublicKnowledge, readings: Sequence[LabelReading]) -> Iterator[Claim]:
    """Claim of rows that say nothing, beside others that do, that they lie in no class that was released."""
    nothing = np.ones(len(public.sizes), bool)
    for reading in readings:
        says_nothing = np.array([label == SUPPRESSED for label in reading.labels])
        nothing &= says_nothing[public.labels_of_classes(reading.column)]
    others = np.flatnonzero(~nothing)
    if not nothing.any() or not len(others) or any(_level(one, but=SUPPRESSED) is None for one in readings):
        return
    (number,) = np.flatnonzero(nothing).tolist()
    shares = np.ones(len(others))
    for reading in readings:
        sizes = np.array(reading.n_values) / max(1, reading.vocabulary.n_leaves)
        shares *= sizes[public.labels_of_classes(reading.column)[others]]
    text = f"no row lies in one of {len(others):,} released classes, which cover {min(1.0, shares.sum()):.1%} of all"
    yield Claim(number, None, SUPPRESSED_ROW, "outside", 0, 0, text)


def _level(reading: LabelReading, but: str | None = None) -> int | None:
    """Return the one level of all labels of a column, apart from untouched ones; None if unsure."""
    tree = reading.hierarchy
    if tree is None or any(reading.ranges[at] and not reading.are_of_a_tree for at in range(len(reading.labels))):
        return None
    try:
        tree.check_nested()
    except InputError:
        return None
    told = {label for label in reading.labels if label is not None and label != but}
    if not told:
        return tree.height
    found = [level for level, one in enumerate(tree.levels) if told <= set(one.labels)]
    return found[0] if len(found) == 1 else None
