"""What the numbers of PWSCUP 2017 say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tokumei.contest.edition import AttackRule, Measure
from tokumei.contest.measures import (
    BASELINE,
    CELLS_FOUND,
    CUSTOMERS_FOUND,
    INTERVAL,
    MONTHS_FOUND,
    SAMPLES_FOUND,
    TRANSACTIONS_FOUND,
    attack_measure,
    loss_measure,
    submitted_attacks,
)

# What may be counted of guesses.
FOUND = {one.name: one for one in (CUSTOMERS_FOUND, CELLS_FOUND, MONTHS_FOUND, TRANSACTIONS_FOUND)}


def measures_of(
    utilities: Mapping[str, Sequence[str]], attacks: Iterable[str], weights: tuple[float, float], rule: AttackRule
) -> Sequence[Measure]:
    """Explain E1 to E6, the sample attacks and what guesses are judged by; E3 has two values."""
    formula = f"{weights[0]:g}·U + {weights[1]:g}·S"
    losses = [loss_measure(name, parts[0]) for name, parts in utilities.items() if len(parts) == 1]
    both = Measure(
        "E3",
        "Of the most bought items, the share that no longer are, and how far their similarities moved: 0 if "
        "nothing was lost, 1 if all.",
        "売れ筋商品のうち売れ筋でなくなったものの割合と、売れ筋商品どうしの類似度のずれ。0 は損失なし、1 はすべて"
        "失われた状態。",
    )
    total = Measure(
        "total",
        f"{formula}: 0 if no use is lost and nobody is found, {sum(weights):g} if all use is lost and everybody found.",
        f"{formula}。0 は有用性の損失も発見もない状態、{sum(weights):g} は有用性をすべて失い全員が発見された状態。",
    )
    tried = [attack_measure(name.upper(), name) for name in attacks]
    named = sorted([*losses, both], key=lambda measure: measure.name)
    return (*named, *tried, total, *FOUND.values(), BASELINE, INTERVAL, SAMPLES_FOUND, submitted_attacks(rule))
