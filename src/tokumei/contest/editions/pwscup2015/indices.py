"""The thirteen indices of PWSCUP 2015, what each says, and what they say of the row numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.nearest_rows import IdRand, judge_rows
from tokumei.attacks.registry import TableAttack
from tokumei.contest.edition import AttackRule, Measure
from tokumei.contest.measures import BASELINE, INTERVAL, ROWS_FOUND, attack_measure, loss_measure, submitted_attacks
from tokumei.contest.yamaoka import detect_yamaoka
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.table import Table
from tokumei.engines.count import count_classes
from tokumei.measures.registry import TABLE_UTILITIES
from tokumei.measures.safety.class_sizes import KAnonymity, MeanClassSize

CLASS_SIZE_MEASURES = (
    Measure(
        "safety",
        "How many rows share their quasi-identifiers, S1 and S2; no attack is tried for these.",
        "準識別子が同じ行の数（S1、S2）。攻撃によらない指標。",
        title="Class sizes",
        title_ja="クラスの大きさ",
    ),
    Measure(
        "S1",
        "Rows in the smallest class of equal quasi-identifiers, k: 1 if somebody is unique; more is better.",
        "準識別子が同じ行のまとまりの最小行数（k）。1 は唯一の行がある状態で、大きいほどよい。",
    ),
    Measure(
        "S2",
        "Mean rows in a class of equal quasi-identifiers: 1 if everybody is unique; more is better.",
        "準識別子が同じ行のまとまりの平均行数。1 は全行が唯一の状態で、大きいほどよい。",
    ),
)


def measures_of(utilities: Mapping[str, str], attacks: Mapping[str, str]) -> Sequence[Measure]:
    """Explain the thirteen indices by the parts that they are, and what guesses are judged by."""
    losses = [loss_measure(name, part) for name, part in utilities.items()]
    tried = [attack_measure(name, part) for name, part in attacks.items()]
    detection = loss_measure("E5", "aya")
    submitted = submitted_attacks(AttackRule(), "attacks")
    found = (ROWS_FOUND, BASELINE, INTERVAL, submitted)
    return (*losses, *CLASS_SIZE_MEASURES, *tried, detection, *found)


# U1 to U6 and E1 to E4 by the parts that they are; S1 and S2 are the least and the mean size of classes, E5 is `aya`.
UTILITIES: Mapping[str, str] = {
    "U1": "mean-mae",
    "U2": "cross-mean",
    "U3": "cross-count",
    "U4": "correlation-mae",
    "U5": "information-loss",
    "U6": "row-count",
}
ATTACKS: Mapping[str, str] = {"E1": "id-rand", "E2": "id-sa", "E3": "sort", "E4": "sa21"}
DETECTION = "E5"
# Row numbers are suspected from this share of the loss that random ones would give, and from this share of false ones.
# Honest releases that still say something of single rows stay below; one that averages groups of a thousand, or swaps
# and blurs everything, comes to 0.3 to 0.5 of E5 and is flagged too: nothing tells it from a shuffled one.
SUSPECTED_LOSS = 0.95
SUSPECTED_SHARE = 0.3
# Means over groups fit rows that are not theirs, up to 4 rows in 10, and that only looks like a shuffle. So rows that
# contradict their numbers count from this E5 on, or where they are half of all: then numbers were shuffled among rows
# that are alike.
LEAST_SHARE = 0.1
MOST_ROWS = 0.5
# Where rows come from, next to columns that may have any other name.
ROW = "\0row"


@dataclass(frozen=True)
class NumberedRelease:
    """A release with its row numbers, which here are counted from 0."""

    table: Table
    rows: pl.Series

    def sorted(self) -> NumberedRelease:
        """Sort the rows by what they say, then by their numbers, so that the order handed in does not matter."""
        keyed = self.table.frame.with_columns(self.rows.alias(ROW)).sort(pl.all())
        return NumberedRelease(self.table.with_frame(keyed.drop(ROW)), keyed[ROW])

    def shuffled(self, rng: np.random.Generator) -> NumberedRelease:
        """Put the rows in an order drawn at random."""
        order = rng.permutation(self.table.n_rows)
        return NumberedRelease(self.table.with_frame(self.table.frame[order]), self.rows[order])


def score_indices(original: Table, submitted: NumberedRelease, attacks: Mapping[str, TableAttack]) -> dict[str, Score]:
    """Compute all thirteen by their names in the contest; `attacks` are E1 to E4."""
    released = submitted.sorted()
    # As attackers will see it: rows that are alike must not stand in the order of X. Anybody gets the same order.
    digest = hashlib.sha256(released.table.frame.write_csv().encode() + released.rows.to_numpy().tobytes())
    released = released.shuffled(generator(0, "score", digest.hexdigest()))
    scores: dict[str, Score] = {}
    with step("scoring", len(UTILITIES) + len(attacks) + 2) as bar:
        for name, part in UTILITIES.items():
            scores[name] = TABLE_UTILITIES.make(part).measure(original, released.table, released.rows)
            bar.advance()
        counts = count_classes(released.table.frame, original.quasi_identifiers)
        scores["S1"], scores["S2"] = KAnonymity(1).measure(counts), MeanClassSize(1).measure(counts)
        bar.advance()
        for name, attack in attacks.items():
            scores[name] = _success(attack, original, released)
            bar.advance()
        scores[DETECTION] = TABLE_UTILITIES.make("aya").measure(original, released.table, released.rows)
        bar.advance()
    return scores


def _success(attack: TableAttack, original: Table, released: NumberedRelease) -> Score:
    """Return the success of an attack; the expected success of one that draws, so that luck plays no part."""
    if isinstance(attack, IdRand):
        return attack.expect(original, released.table, released.rows)
    return judge_rows(attack.guess(original, released.table, seed=0), released.rows, original.n_rows)


def find_flags(scores: Mapping[str, Score], original: Table, submitted: NumberedRelease) -> tuple[str, ...]:
    """Return the signs of false row numbers: U5, E5, and rows that contradict them."""
    loss, detected = scores["U5"], scores[DETECTION].value
    flags = []
    if loss.baseline and loss.value >= SUSPECTED_LOSS * loss.baseline:
        flags.append(
            f"U5 is {loss.value:.3f}, and the row numbers in a random order would give {loss.baseline:.3f}: "
            "the declared rows are hardly nearer than any others."
        )
    if detected >= SUSPECTED_SHARE:
        flags.append(f"E5 is {detected:.3f}: about that share of the declared row numbers disagrees with the data.")
    verdict = detect_yamaoka(original.frame, submitted.table.frame, submitted.rows + 1)
    if verdict.is_flagged and (detected >= LEAST_SHARE or verdict.share >= MOST_ROWS):
        flags += verdict.evidence
    return tuple(flags)
