"""What habits tell of purchases that were dealt out: the bound on these is about attackers who know none."""

from __future__ import annotations

import numpy as np
import polars as pl

from tokumei.data.history import History
from tokumei.engines.item_sets import Floats, Ints
from tokumei.methods.history.dealing import Groups

# How much each part of a purchase counts, as tried on the 2017 set, and how many usual purchases everybody is given.
PARTS, USUAL = {"item": 1.0, "kind": 0.5, "quantity": 0.5}, 5.0
# Scores that differ by rounding are alike; and so many pairs of a member and a purchase are compared at once.
TINY, MOST_PAIRS = 1e-9, 4_000_000
# Habits are learned from all parts of the purchases but one, of which it is asked.
PARTED = 5


def told_by_habits(original: History, groups: Groups, rows: Ints, learned: Ints | None = None) -> float:
    """Return the share of dealt purchases that are given to their buyers by whoever knows the groups and all habits.

    Each is given to the member of the group who is likeliest by its item, the first two characters of that, and its
    quantity.

    rows: of the original, those that were dealt out and that are asked for.
    learned: the rows that habits are learned from. If not given, a fifth of everybody's purchases after the other is
        asked for, and learned from all purchases of the other fifths: so nobody is told by having one less than others.
    """
    if not len(rows):
        return 0.0
    labels = pl.DataFrame({"customer": groups.customers, "who": np.arange(len(groups.customers))})
    buyer = original.frame.select("customer").join(labels, on="customer", how="left", maintain_order="left")
    who = buyer["who"].fill_null(-1).to_numpy()
    codes, labels_of = _codes(original), groups.labels[who]
    if learned is not None:
        return _right(_Habits(who, codes, learned), groups, labels_of, rows) / len(rows)
    fifth = buyer.select(pl.int_range(pl.len()).over("who") % PARTED).to_series().to_numpy()
    right = 0.0
    for number in range(PARTED):
        others = np.flatnonzero((fifth != number) & (who >= 0))
        right += _right(_Habits(who, codes, others), groups, labels_of, rows[fifth[rows] == number])
    return right / len(rows)


def _right(habits: _Habits, groups: Groups, labels: Ints, rows: Ints) -> float:
    """Count the rows that are given to their buyers; where several are as likely, one is named at random."""
    rows = rows[np.argsort(labels[rows], kind="stable")]
    ends = np.searchsorted(labels[rows], np.arange(len(groups.members) + 1))
    right = 0.0
    for number, members in enumerate(groups.members):
        at_once = max(1, MOST_PAIRS // len(members))
        for first in range(ends[number], ends[number + 1], at_once):
            mine = rows[first : min(first + at_once, ends[number + 1])]
            score = habits.score(members, mine)
            is_best = score >= score.max(axis=0) - TINY
            is_right = is_best & (members[:, None] == habits.who[mine])
            right += float((is_right.sum(axis=0) / is_best.sum(axis=0)).sum())
    return right


def known_by_habits(original: History, groups: Groups, rows: Ints) -> float:
    """Return the same share of all released purchases, those of open customers included, who are found anyway."""
    told = told_by_habits(original, groups, rows)
    return (groups.open_rows + told * len(rows)) / max(1, groups.rows_left)


class _Habits:
    """How often everybody bought what, by some of the purchases."""

    def __init__(self, who: Ints, codes: dict[str, Ints], learned: Ints) -> None:
        self.who, self._codes = who, codes
        self._n = np.bincount(who[learned], minlength=int(who.max()) + 1).astype(np.float64)
        self._usual: dict[str, Floats] = {}
        self._counts: dict[str, tuple[Ints, Floats]] = {}
        for name, code in codes.items():
            often = np.bincount(code[learned], minlength=int(code.max()) + 1) + 1.0
            self._usual[name] = often / often.sum()
            keys, counts = np.unique(who[learned] * len(often) + code[learned], return_counts=True)
            self._counts[name] = keys, counts.astype(np.float64)

    def score(self, members: Ints, rows: Ints) -> Floats:
        """Return how likely each member (down) is to buy what each row (across) is of, as logarithms."""
        score = np.zeros((len(members), len(rows)))
        for name, code in self._codes.items():
            times = self._times(name, members[:, None], code[rows])
            shares = (times + USUAL * self._usual[name][code[rows]]) / (self._n[members][:, None] + USUAL)
            score += PARTS[name] * np.log(shares)
        return score

    def _times(self, name: str, who: Ints, code: Ints) -> Floats:
        keys, counts = self._counts[name]
        if not len(keys):
            return np.zeros(np.broadcast(who, code).shape)
        asked = who * len(self._usual[name]) + code
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        found: Floats = np.where(keys[at] == asked, counts[at], 0.0)
        return found


def _codes(original: History) -> dict[str, Ints]:
    """Assign numbers to the values of each part of a purchase that the history has."""
    frame, absent = original.frame, original.absent
    parts = {} if "item" in absent else {"item": frame["item"], "kind": frame["item"].str.slice(0, 2)}
    parts |= {} if "quantity" in absent else {"quantity": frame["quantity"]}
    return {name: column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() for name, column in parts.items()}
