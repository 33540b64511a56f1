"""Everything there is to know about one release of a history: what use is left, and who is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tokumei.attack.judge import judge
from tokumei.attack.registry import HISTORY_ATTACKS
from tokumei.attack.truth import published, truth_of
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.registry import HISTORY_UTILITIES

# The seven values of E1 to E6 of PWSCUP 2017; the worst of them was a release's utility.
CONTEST_UTILITIES = ("item-cf-supply", "item-cf-retail", "top-items", "item-cf-top", "date", "price", "rows")
SAMPLE_ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6")
STRONG_ATTACKS = (*SAMPLE_ATTACKS, "linkage")


@dataclass(frozen=True)
class Evaluation:
    """The scores of one release: losses by measure, and attacks by name and by how much was known."""

    utility: Mapping[str, Score]
    attacks: pl.DataFrame
    exposed: pl.DataFrame

    @property
    def contest_utility(self) -> float:
        """The worst of the contest's seven utility values: 0 untouched, 1 useless."""
        return max(self.utility[name].value for name in CONTEST_UTILITIES if name in self.utility)

    def best_attack(self, known: str) -> tuple[str, float]:
        """Give the attack that finds most customers with some knowledge, and the share it finds."""
        at = self.attacks.filter(pl.col("known") == known).sort("row", descending=True, maintain_order=True)
        return str(at["attack"][0]), float(at["row"][0])

    def as_dict(self) -> dict[str, Any]:
        """Give the evaluation for JSON."""
        return {
            "utility": {name: score.value for name, score in self.utility.items()},
            "attacks": self.attacks.to_dicts(),
            "exposed": self.exposed.head(20).to_dicts(),
        }


def evaluate(
    original: History,
    released: History,
    knowledge: Mapping[str, History],
    *,
    seed: int,
    utilities: Sequence[str] = CONTEST_UTILITIES,
    attacks: Sequence[str] = STRONG_ATTACKS,
) -> Evaluation:
    """Measure and attack a release that keeps the rows of its original; what is published is shuffled by the seed."""
    truth = truth_of(original, released)
    seen = published(released, seed=seed)
    losses, rows, found = {}, [], []
    with step("evaluating", len(utilities) + len(attacks) * len(knowledge)) as bar:
        for name in utilities:
            losses[name] = HISTORY_UTILITIES.make(name).measure(original, released)
            bar.advance()
        for name in attacks:
            attack = HISTORY_ATTACKS.make(name)
            for known, part in knowledge.items():
                guesses = attack.guess(part, seen)
                verdict = judge(guesses, truth, original.customers, original.periods)
                rows.append({"attack": name, "known": known, "row": verdict.row.value, "cell": verdict.cell.value})
                found.append(guesses.join(truth, on=["customer", "period", "pseudonym"], how="semi").select("customer"))
                bar.advance()
    return Evaluation(losses, pl.DataFrame(rows), _exposed(found, truth))


def _exposed(found: Sequence[pl.DataFrame], truth: pl.DataFrame) -> pl.DataFrame:
    """Give the share of each customer's months that were found, over all attacks; the most exposed first."""
    months = truth.group_by("customer").agg(months=pl.len())
    times = pl.concat(found).group_by("customer").agg(times=pl.len()) if found else months.select("customer", times=0)
    shares = months.join(times, on="customer", how="left").with_columns(
        found=pl.col("times").fill_null(0) / (pl.col("months") * max(1, len(found)))
    )
    return shares.select("customer", "months", "found").sort("found", "customer", descending=[True, False])
