"""Everything there is to know about one release of a history: what use is left, and who is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tokumei.attack.judge import Verdict, judge
from tokumei.attack.registry import HISTORY_ATTACKS
from tokumei.attack.truth import truth_of
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.registry import HISTORY_UTILITIES
from tokumei.report.needs import check_needs, lacks, measure_or_say_why, why_left_out

# The seven values of E1 to E6 of PWSCUP 2017; the worst of them was a release's utility.
CONTEST_UTILITIES = ("item-cf-supply", "item-cf-retail", "top-items", "item-cf-top", "date", "price", "rows")
SAMPLE_ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6")
STRONG_ATTACKS = (*SAMPLE_ATTACKS, "linkage")


def default_attacks(history: History) -> tuple[str, ...]:
    """Give the attacks that are tried if none are named; that on days alone where a history has nothing else."""
    can = [name for name in STRONG_ATTACKS if not lacks(history, HISTORY_ATTACKS.make(name), name)]
    return STRONG_ATTACKS if can else (*STRONG_ATTACKS, "same-day")


@dataclass(frozen=True)
class Evaluation:
    """The scores of one release: losses by measure, and attacks by name and by how much was known.

    `left_out` says which measures and attacks the history does not allow, and why.
    """

    utility: Mapping[str, Score]
    attacks: pl.DataFrame
    exposed: pl.DataFrame
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def contest_utility(self) -> float | None:
        """The worst of the contest's seven utility values that could be measured: 0 untouched, 1 useless.

        None where none could be.
        """
        return max((self.utility[name].value for name in CONTEST_UTILITIES if name in self.utility), default=None)

    def why_left_out(self, names: Sequence[str]) -> str:
        """Say in a few words why none of some measures or attacks could be taken."""
        return "; ".join(dict.fromkeys(self.left_out[name] for name in names if name in self.left_out))

    @property
    def least_known(self) -> str:
        """The least of what was known, in per cent."""
        return str(min(self.attacks["known"], key=int))

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
            "left_out": dict(self.left_out),
        }


def evaluate(
    original: History,
    released: History,
    knowledge: Mapping[str, History],
    *,
    utilities: Sequence[str] = CONTEST_UTILITIES,
    attacks: Sequence[str] = STRONG_ATTACKS,
    attacked: tuple[History, History] | None = None,
    is_named: bool = False,
) -> Evaluation:
    """Measure and attack a release that keeps the rows of its original.

    Attackers see the rows that are left in the order of the release, as those of PWSCUP 2017 did when it was scored, so
    that scoring an edition gives the same digits. `attacked` has the rows of some customers where attacking all would
    take too long. What the history does not allow is left out; an attack that was asked for by name is an error then.
    """
    before, after = attacked or (original, released)
    truth = truth_of(before, after)
    seen = History(after.kept, f"{released.name}, published")
    losses, rows, found = {}, [], []
    left_out: dict[str, str] = {}
    with step("evaluating", len(utilities) + len(attacks) * len(knowledge)) as bar:
        for name in utilities:
            part = HISTORY_UTILITIES.make(name)
            found_or_why = measure_or_say_why(part, name, original, released)
            if isinstance(found_or_why, Score):
                losses[name] = found_or_why
            else:
                left_out[name] = found_or_why
            bar.advance()
        for name in attacks:
            attack = HISTORY_ATTACKS.make(name)
            if is_named:
                check_needs(original, attack, name)
            why = why_left_out(original, attack, name)
            for known, part_known in knowledge.items():
                if why is not None:
                    left_out[name] = why
                else:
                    guesses = attack.guess(part_known, seen)
                    verdict = judge(guesses, truth, before.customers, before.periods, seen)
                    rows.append({"attack": name, "known": known, **_shares(verdict)})
                    found.append(_found(guesses, truth))
                bar.advance()
    schema = {"attack": pl.String, "known": pl.String, "row": pl.Float64, "cell": pl.Float64, "transaction": pl.Float64}
    return Evaluation(losses, pl.DataFrame(rows, schema=schema), _exposed(found, truth), left_out)


def _shares(verdict: Verdict) -> dict[str, float]:
    transaction = 0.0 if verdict.transaction is None else verdict.transaction.value
    return {"row": verdict.row.value, "cell": verdict.cell.value, "transaction": transaction}


def _found(guesses: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """Give the customer of each month that was found, once a month however often it was guessed."""
    return (
        guesses.join(truth, on=["customer", "period", "pseudonym"], how="semi")
        .unique(["customer", "period"])
        .select("customer")
    )


def _exposed(found: Sequence[pl.DataFrame], truth: pl.DataFrame) -> pl.DataFrame:
    """Give the share of each customer's months that were found, over all attacks; the most exposed first."""
    months = truth.group_by("customer").agg(months=pl.len())
    times = pl.concat(found).group_by("customer").agg(times=pl.len()) if found else months.select("customer", times=0)
    shares = months.join(times, on="customer", how="left").with_columns(
        found=pl.col("times").fill_null(0) / (pl.col("months") * max(1, len(found)))
    )
    return shares.select("customer", "months", "found").sort("found", "customer", descending=[True, False])
