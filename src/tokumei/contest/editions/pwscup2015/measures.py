"""What the numbers of PWSCUP 2015 say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokumei.contest.edition import AttackRule, Measure
from tokumei.contest.measures import BASELINE, INTERVAL, ROWS_FOUND, attack_measure, loss_measure, submitted_attacks

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
