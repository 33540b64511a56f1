"""Everything there is to know about one release of a history: what use is left, and who is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tokumei.attacks.judge import Verdict, judge
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.attacks.truth import truth_of
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.items import roll_together
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.report.needs import check_needs, lacks, measure_or_say_why, why_left_out

# The seven values of E1 to E6 of PWSCUP 2017; the worst of them was a release's utility.
CONTEST_UTILITIES = ("item-cf-supply", "item-cf-retail", "top-items", "item-cf-top", "date", "price", "rows")
# How right an attack is, the first being what safety is judged by.
COUNTS = ("found", "row", "cell", "month", "transaction")
SAMPLE_ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6")
STRONG_ATTACKS = (*SAMPLE_ATTACKS, "tfidf", "row-counts", "linkage")


def default_attacks(history: History) -> tuple[str, ...]:
    """Return the default attacks; that on days alone where a history has nothing else."""
    can = [name for name in SAMPLE_ATTACKS if not lacks(history, HISTORY_ATTACKS.make(name), name)]
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
        """Explain briefly why none of some measures or attacks could be taken."""
        return "; ".join(dict.fromkeys(self.left_out[name] for name in names if name in self.left_out))

    @property
    def least_known(self) -> str:
        """The least of what was known, in per cent."""
        return str(min(self.attacks["known"], key=int))

    @property
    def most_known(self) -> str:
        """The most of what was known, in per cent."""
        return str(max(self.attacks["known"], key=int))

    def best_attack(self, known: str, by: str = "found") -> tuple[str, float]:
        """Return the attack that finds most with some knowledge by one of the counts, and the share it finds."""
        at = self.attacks.filter(pl.col("known") == known).sort(by, descending=True, maintain_order=True)
        return str(at["attack"][0]), float(at[by][0])

    def as_dict(self) -> dict[str, Any]:
        """Return the evaluation for JSON."""
        return {
            "utility": {name: score.value for name, score in self.utility.items()},
            "attacks": self.attacks.to_dicts(),
            "exposed": self.exposed.head(20).to_dicts(),
            "left_out": dict(self.left_out),
        }


@dataclass(frozen=True)
class Trial:
    """One attack with some knowledge: what it guessed, and how right that is."""

    attack: str
    known: str
    guesses: pl.DataFrame
    verdict: Verdict


def try_attacks(
    original: History,
    released: History,
    knowledge: Mapping[str, History],
    attacks: Sequence[str],
    *,
    customers: Sequence[str] | None = None,
    periods: Sequence[int] | None = None,
    hierarchy: Hierarchy | None = None,
) -> Iterator[Trial]:
    """Attack a release that keeps the rows of its original, by each attack with each knowledge.

    Attackers see the rows that are left in the order of the release, as those of PWSCUP 2017 did when it was scored:
    scoring that edition and reporting on a release come here both, and so to the same digits. `customers` and
    `periods` are those that are judged, if not all of the original. With an item hierarchy, what is known and what is
    released are compared at the coarser of their levels.
    """
    truth = truth_of(original, released)
    seen = History(released.kept, f"{released.name}, published")
    everybody = original.customers if customers is None else customers
    months = original.periods if periods is None else periods
    for name in attacks:
        for known, part in knowledge.items():
            guesses = HISTORY_ATTACKS.make(name).guess(*roll_together(part, seen, hierarchy))
            yield Trial(name, known, guesses, judge(guesses, truth, everybody, months, seen))


def evaluate(
    original: History,
    released: History,
    knowledge: Mapping[str, History],
    *,
    utilities: Sequence[str] = CONTEST_UTILITIES,
    attacks: Sequence[str] = STRONG_ATTACKS,
    attacked: tuple[History, History] | None = None,
    is_named: bool = False,
    not_tried: Mapping[str, str] | None = None,
    hierarchy: Hierarchy | None = None,
) -> Evaluation:
    """Measure and attack a release that keeps the rows of its original.

    `attacked` has the rows of some customers where attacking all would
    take too long. What the history does not allow is left out, as are the attacks that were `not_tried` for another
    reason; an attack that was asked for by name is an error then.
    """
    before, after = attacked or (original, released)
    truth = truth_of(before, after)
    losses, rows, found = {}, [], []
    left_out: dict[str, str] = dict(not_tried or {})
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
            if why is not None:
                left_out[name] = why
                bar.advance(len(knowledge))
        names = [name for name in attacks if name not in left_out]
        for trial in try_attacks(before, after, knowledge, names, periods=original.periods, hierarchy=hierarchy):
            rows.append({"attack": trial.attack, "known": trial.known, **_shares(trial.verdict)})
            found.append(_found(trial.guesses, truth))
            bar.advance()
    schema: Any = {"attack": pl.String, "known": pl.String, **dict.fromkeys(COUNTS, pl.Float64)}
    return Evaluation(losses, pl.DataFrame(rows, schema=schema), _exposed(found, truth), left_out)


def _shares(verdict: Verdict) -> dict[str, float]:
    counts = {name: getattr(verdict, name) for name in COUNTS}
    return {name: 0.0 if one is None else one.value for name, one in counts.items()}


def _found(guesses: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """Return the customer of each month that was found, once a month however often it was guessed."""
    return (
        guesses.join(truth, on=["customer", "period", "pseudonym"], how="semi")
        .unique(["customer", "period"])
        .select("customer")
    )


def _exposed(found: Sequence[pl.DataFrame], truth: pl.DataFrame) -> pl.DataFrame:
    """Return the share of each customer's months found by any attack, the most exposed first."""
    months = truth.group_by("customer").agg(months=pl.len())
    times = pl.concat(found).group_by("customer").agg(times=pl.len()) if found else months.select("customer", times=0)
    shares = months.join(times, on="customer", how="left").with_columns(
        found=pl.col("times").fill_null(0) / (pl.col("months") * max(1, len(found)))
    )
    return shares.select("customer", "months", "found").sort("found", "customer", descending=[True, False])
