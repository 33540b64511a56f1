"""One release of a history in full, and many ways to make one in comparison.

`evaluate` tells what use is left and who is found. `sweep` measures and attacks many ways: how much safety costs how
much use. Every finished result is a file of its own, named by what decides it, so that a sweep that was broken off goes
on where it was, and one with more ways in it only does what is new.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.attribution.judging import Attributed
from tokumei.attacks.history.attribution import attribute_release
from tokumei.attacks.judge import Verdict, judge, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text, from_json, to_json
from tokumei.data.files.disk import write_text
from tokumei.data.files.toml import read_toml
from tokumei.data.history import History
from tokumei.hierarchies.files import roll_together
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.history.drawn_customers import CustomerSynthesizer
from tokumei.methods.pipeline import Pipeline, pipeline_of
from tokumei.reports.needs import ROW_BY_ROW, absent_in_words, check_needs, lacks, measure_or_say_why, why_left_out

# What is measured of a method that draws purchases, of a history and by a seed.
MeasuredDrawn = Callable[[History, CustomerSynthesizer, int], Json]
# The seven values of E1 to E6 of PWSCUP 2017; the worst of them was a release's utility.
CONTEST_UTILITIES = ("item-cf-supply", "item-cf-retail", "top-items", "item-cf-top", "date", "price", "rows")
# How right an attack is, the first being what safety is judged by.
COUNTS = ("found", "row", "cell", "month", "transaction")
SAMPLE_ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6")
STRONG_ATTACKS = (*SAMPLE_ATTACKS, "tfidf", "row-counts", "linkage")
NOT_BESIDE = Text("no row is anybody's, so that none stands beside its own")


def default_attacks(history: History) -> tuple[str, ...]:
    """Return the default attacks; that on days alone where a history has nothing else."""
    can = [name for name in SAMPLE_ATTACKS if not lacks(history, HISTORY_ATTACKS.make(name), name)]
    return STRONG_ATTACKS if can else (*STRONG_ATTACKS, "same-day")


@dataclass(frozen=True)
class Evaluation:
    """The scores of one release: losses by measure, and attacks by name and by how much was known.

    `attribution` has by how much was known which published rows, not known before, were given to their buyers.
    `left_out` says which measures and attacks the history does not allow, and why.
    """

    utility: Mapping[str, Score]
    attacks: pl.DataFrame
    exposed: pl.DataFrame
    left_out: Mapping[str, str] = field(default_factory=dict)
    attribution: Mapping[str, Attributed] = field(default_factory=dict)

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

    def as_dict(self) -> Json:
        """Return the evaluation for JSON."""
        return {
            "utility": {name: score.value for name, score in self.utility.items()},
            "attacks": self.attacks.to_dicts(),
            "exposed": self.exposed.head(20).to_dicts(),
            "attribution": {
                known: {name: score.as_dict() for name, score in found.scores.items()}
                for known, found in self.attribution.items()
            },
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
    sources: pl.Series | None = None,
) -> Evaluation:
    """Measure and attack a release that keeps the rows of its original.

    `sources` says of which row of the original the purchase of each released row is; without it nobody is judged by
    whose purchases are known to be theirs. `attacked` has the rows of some customers where attacking all would
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
        linked: dict[str, pl.DataFrame] = {}
        for trial in try_attacks(before, after, knowledge, names, periods=original.periods, hierarchy=hierarchy):
            if trial.attack == "linkage":
                linked[trial.known] = trial.guesses
            rows.append({"attack": trial.attack, "known": trial.known, **_shares(trial.verdict)})
            found.append(_found(trial.guesses, truth))
            bar.advance()
        given: dict[str, Attributed] = {}
        for known, history in knowledge.items():
            if sources is None:
                break
            guesses = linked.get(known)
            judged, _ = attribute_release(before, after, sources, history, guesses, hierarchy=hierarchy)
            # Who knows all has nothing to find out.
            if judged.rows.inputs["rows"]:
                given[known] = judged
    schema: Any = {"attack": pl.String, "known": pl.String, **dict.fromkeys(COUNTS, pl.Float64)}
    return Evaluation(losses, pl.DataFrame(rows, schema=schema), _exposed(found, truth), left_out, given)


def measure_made_up(original: History, released: History, left_out: Mapping[str, str]) -> Evaluation:
    """Measure a release whose rows are nobody's; of attacks it is said why they are left out."""
    losses: dict[str, Score] = {}
    why = dict(left_out)
    names = list(HISTORY_UTILITIES)
    with step("evaluating", len(names)) as bar:
        for name in names:
            # A row stands beside none of the original, even where there are as many.
            found = (
                NOT_BESIDE
                if name in ROW_BY_ROW
                else measure_or_say_why(HISTORY_UTILITIES.make(name), name, original, released)
            )
            if isinstance(found, Score):
                losses[name] = found
            else:
                why[name] = found
            bar.advance()
    attacks: Any = {"attack": pl.String, "known": pl.String, **dict.fromkeys(COUNTS, pl.Float64)}
    exposed = pl.DataFrame(schema={"customer": pl.String, "months": pl.Int64, "found": pl.Float64})
    return Evaluation(losses, pl.DataFrame(schema=attacks), exposed, why)


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


# Raised whenever a number of a result comes to mean another thing, so that none from before is taken for it.
RESULTS = 3
LINE = {
    "name": pl.String,
    "utility": pl.Float64,
    "found": pl.Float64,
    "attack": pl.String,
    "attributed": pl.Float64,
    "left_out": pl.String,
}


def read_grid(path: Path | str) -> dict[str, dict[str, object]]:
    """Read the pipelines of a sweep by name: a TOML file with a [[pipeline]] table for each, as of a pipeline file."""
    _, found = read_toml(Path(path))
    pipelines = found.get("pipeline")
    if not isinstance(pipelines, list) or not pipelines:
        raise InputError.of("a [[pipeline]] table for each way to anonymize", file=path)
    grid: dict[str, dict[str, object]] = {}
    for number, one in enumerate(pipelines, 1):
        name = str(one.get("name", f"pipeline {number}"))
        if name in grid:
            raise InputError.of("a name for each pipeline", file=path, value=name)
        grid[name] = {key: value for key, value in one.items() if key != "name"}
    return grid


def default_grid(absent: Collection[str] = ()) -> dict[str, dict[str, object]]:
    """Return the ways that are tried by default, of a history that may lack some columns.

    They combine how long a pseudonym lives, whether dates, times, quantities and prices are changed as far as the
    contest allows, and how many of the rows that give most away are deleted; and groups are permuted under bounds.
    """
    noise = {
        "method": "perturb",
        "days": 31,
        "quantities": 0.0 if "quantity" in absent else 1.0,
        "prices": 0.0 if "price" in absent else 1.0,
        "hides_times": True,
        "whole_baskets": False,
    }
    grid: dict[str, dict[str, object]] = {
        Text("exchanged pseudonyms"): {"step": [{"method": "exchange-pseudonyms", "share": 1.0}]}
    }
    for months, is_noisy, deleted in itertools.product((1, 6, 12), (False, True), (0.0, 0.1, 0.15, 0.2, 0.3)):
        delete = {"method": "delete", "telling": deleted, "once": False, "price_deviations": 0.0}
        steps = ([dict(noise)] if is_noisy else []) + ([delete] if deleted else [])
        form = "pseudonyms of {n}, all values moved, {m:.0%} deleted"
        name = Text(form if is_noisy else form.replace(", all values moved", ""), n=_months(months), m=deleted)
        grid[name] = {"step": [*steps, {"method": "pseudonyms", "lifetime": months}]}
    for bound in (0.5, 0.35, 0.25, 0.15):
        grid[Text("permuted groups, bound {n:g}", n=bound)] = {"step": [{"method": "permute-groups", "bound": bound}]}
    return grid


def _months(number: int) -> Text:
    return Text("1 month") if number == 1 else Text("{n} months", n=number)


def rolled_ways(file: str, hierarchy: Hierarchy) -> dict[str, dict[str, object]]:
    """Return the ways that roll items up: to each level that still says something, under yearly or monthly names."""
    levels = [one for one in range(1, hierarchy.height + 1) if not hierarchy.says_nothing(one)]
    return {
        Text("items at level {m}, pseudonyms of {n}", m=level, n=_months(months)): {
            "step": [
                {"method": "roll-up", "hierarchy": file, "level": level},
                {"method": "pseudonyms", "lifetime": months},
            ]
        }
        for level, months in itertools.product(levels, (1, 12))
    }


def possible_ways(
    grid: Mapping[str, Mapping[str, object]], original: History
) -> tuple[dict[str, Json], dict[str, Text]]:
    """Return the ways that a history allows, and why the others are left out."""
    possible, left_out = {}, {}
    for name, settings in grid.items():
        absent = [column for method in pipeline_of(settings).methods for column in lacks(original, method)]
        if absent:
            left_out[name] = absent_in_words([*dict.fromkeys(absent)])
        else:
            possible[name] = dict(settings)
    return possible, left_out


def sweep(
    original: History,
    knowledge: Mapping[str, History],
    grid: Mapping[str, Mapping[str, object]],
    folder: Path | None,
    *,
    seed: int,
    attacks: Sequence[str],
    not_tried: Mapping[str, str] | None = None,
    hierarchy: Hierarchy | None = None,
    measured_drawn: MeasuredDrawn | None = None,
) -> list[Json]:
    """Anonymize, measure and attack in every way; give a line for each: name, utility, safety, the best attack.

    A way that a history does not allow, as groups under a bound may not be found, is left out with the reason. Of
    purchases that a method draws no pseudonym is anybody's: `measured_drawn` measures and audits these.
    """
    results = None if folder is None else folder / "results"
    if results is not None:
        results.mkdir(parents=True, exist_ok=True)
    pipelines = {name: pipeline_of(settings) for name, settings in grid.items()}
    for one in pipelines.values():
        for method in one.methods:
            check_needs(original, method)
    rows = []
    with step("sweeping", len(grid)) as bar:
        for name, settings in grid.items():
            file = (
                None
                if results is None
                else results / f"{_key(original, knowledge, settings, seed, attacks, hierarchy)}.json"
            )
            if file is not None and file.exists():
                row = json.loads(file.read_text(encoding="utf-8"), object_hook=from_json)
            else:
                way = pipelines[name]
                if measured_drawn is not None and isinstance(way.methods[0], CustomerSynthesizer):
                    row = measured_drawn(original, way.methods[0], seed)
                else:
                    row = _measured(way, original, knowledge, attacks, not_tried, hierarchy, seed)
                row |= {"name": name, "pipeline": settings}
                if file is not None:
                    write_text(file, json.dumps(to_json(row)) + "\n")
            rows.append({**row, "name": name})
            bar.advance()
    lines = [_line(row) for row in rows]
    unbeaten = frontier(pl.DataFrame(lines, schema=LINE))
    return [{**line, "is_on_frontier": is_best} for line, is_best in zip(lines, unbeaten, strict=True)]


def _measured(
    pipeline: Pipeline,
    original: History,
    knowledge: Mapping[str, History],
    attacks: Sequence[str],
    not_tried: Mapping[str, str] | None,
    hierarchy: Hierarchy | None,
    seed: int,
) -> dict[str, object]:
    """Anonymize in one way, measure and attack."""
    try:
        release = pipeline.anonymize(original, seed=seed)
    except CannotAnonymize as error:
        none = dict.fromkeys(("utility", "found", "attack", "attributed"))
        return {**none, "evaluation": {"left_out": {"way": error.text}}}
    done = evaluate(
        original,
        History(release.frame),
        knowledge,
        attacks=attacks,
        not_tried=not_tried,
        hierarchy=hierarchy,
        sources=release.rows,
    )
    least = min(knowledge, key=int)
    best, found = done.best_attack(least) if done.attacks.height else (None, None)
    attributed = done.attribution[least].rows.value if least in done.attribution else None
    told = {"utility": done.contest_utility, "found": found, "attack": best, "attributed": attributed}
    return {**told, "evaluation": done.as_dict()}


def _line(row: JsonView) -> Json:
    """Return what is compared of a way, with why its use or its attacks were left out; one reason keeps its form."""
    reasons = list(dict.fromkeys(row["evaluation"].get("left_out", {}).values()))
    said = reasons[0] if len(reasons) == 1 else "; ".join(reasons)
    is_whole = row["utility"] is not None and row["found"] is not None
    return {**{key: row[key] for key in LINE if key in row}, "left_out": None if is_whole else said}


def frontier(points: pl.DataFrame) -> pl.Series:
    """Mark the ways that no other beats: none loses less use and lets fewer be found.

    What is left out beats nothing, and nothing beats it.
    """
    pairs = points.select("utility", "found").rows()
    known = [(u, f) for u, f in pairs if u is not None and f is not None]
    return pl.Series(
        [
            (utility, found) in known
            and not any((u <= utility and f <= found and (u, f) != (utility, found)) for u, f in known)
            for utility, found in pairs
        ],
        dtype=pl.Boolean,
    )


def _key(
    original: History,
    knowledge: Mapping[str, History],
    settings: Mapping[str, object],
    seed: int,
    attacks: Sequence[str],
    hierarchy: Hierarchy | None,
) -> str:
    """Name a result by everything that decides it."""
    frames = [original.frame, *(part.frame for part in knowledge.values())]
    content = [str(frame.hash_rows(seed=0).sum()) for frame in frames]
    labels = [] if hierarchy is None else [hierarchy.labels_at(level) for level in range(hierarchy.height + 1)]
    named = [RESULTS, settings, seed, sorted(attacks), sorted(knowledge), content, labels]
    decided = json.dumps(named, sort_keys=True)
    return hashlib.blake2b(decided.encode(), digest_size=12).hexdigest()
