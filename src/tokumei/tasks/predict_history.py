"""What permuted groups would cost, before a release is made.

Groups, their bounds and the rows that they cut follow from the numbers of rows alone, so that they are those that the
release will have. The use that is lost is measured on one deal of the purchases that is drawn for this and never
released; similarities of items, which take longest, on some items drawn at random where there are many.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name, part_options
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text
from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.history.dealing import Groups, deal, draw_holders, put_in_place
from tokumei.methods.history.habits import known_by_habits
from tokumei.methods.history.permute_groups import PermuteGroups, group_each
from tokumei.methods.registry import HISTORY_ANONYMIZERS
from tokumei.reports.evaluation import CONTEST_UTILITIES
from tokumei.reports.needs import measure_or_say_why
from tokumei.tasks.anonymize_history import made_method

# Of more items than these the similarities are measured of so many, which takes no longer than that of all of fewer.
MOST_ITEMS, N_ITEMS = 4_000, 500
# Losses by two draws differ by less in 95 of 100 cases: `python -m benchmarks bounds`.
BY_DRAW = 0.02
PERMUTE_GROUPS = part_name(PermuteGroups())
HOW = Text(
    "Groups, rows and bounds are those that the release will have. By habits means: purchases given to their buyers"
    " by whoever is granted the groups and knows what everybody usually buys. The use lost is predicted: it was "
    "measured on one deal of the purchases that is never released, of more than {m:,} items on {n:,}. The interval "
    "holds for other deals, too.",
    m=MOST_ITEMS,
    n=N_ITEMS,
)


@dataclass(frozen=True)
class PredictedUse:
    """What a method with its options would give: its groups, the rows that it cuts, and the use that it loses.

    groups: or why there are none under the bounds that are asked for.
    """

    method: PermuteGroups
    groups: Groups | CannotAnonymize
    scores: Mapping[str, Score]
    known_by_habits: float | None = None

    @property
    def worst(self) -> Score | None:
        """The worst of the losses, which is what the contests judged use by."""
        return max(self.scores.values(), key=lambda one: one.value, default=None)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the worst loss of a release lies in 95 of 100 cases: by which items and which deal are drawn."""
        if (worst := self.worst) is None:
            return None
        low, high = worst.interval or (worst.value, worst.value)
        below, above = (math.hypot(end - worst.value, BY_DRAW) for end in (low, high))
        return round(max(0.0, worst.value - below), 4), round(min(1.0, worst.value + above), 4)

    @cached_property
    def facts(self) -> Json:
        """All numbers, as plain values."""
        asked = {"options": asdict(self.method)}
        if isinstance(self.groups, CannotAnonymize):
            return {**asked, "why_not": str(self.groups)}
        promise, worst = {**self.groups.promise, **self.groups.promise_of_rows}, self.worst
        if self.method.deals == "baskets":
            del promise["attribution_bound"]
        return {
            **asked,
            **promise,
            "known_by_habits": self.known_by_habits,
            "open_share": self.groups.open_share,
            "rows_cut": self.groups.rows_cut,
            "lost": None if worst is None else worst.value,
            "lost_interval": self.interval,
            "lost_most_by": None if worst is None else worst.name,
            "losses": {name: score.as_dict() for name, score in self.scores.items()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class HistoryPredictions(Result):
    """What each choice of options would cost, in the order in which they were asked for."""

    n_rows: int
    n_customers: int
    predicted: Sequence[PredictedUse]
    left_out: Mapping[str, Text]
    seed: int
    seconds: float

    def to_dict(self) -> Json:
        """Return all numbers as `tokumei anonymize history --dry-run --json` prints them."""
        return {
            "method": PERMUTE_GROUPS,
            "rows": self.n_rows,
            "customers": self.n_customers,
            "predicted": [one.facts for one in self.predicted],
            "left_out": {name: str(why) for name, why in self.left_out.items()},
            "seed": self.seed,
            "seconds": self.seconds,
        }

    def sections(self) -> Sequence[Section]:
        """Return a line for each choice of options, and how it was predicted."""
        every = [asdict(one.method) for one in self.predicted]
        varied = [name for name in every[0] if name == "bound" or len({one[name] for one in every}) > 1]
        columns = [*varied, "open", "groups", "open rows", "rows cut", "bound on purchases", "by habits"]
        rows: list[list[object]] = []
        for asked, one in zip(every, self.predicted, strict=True):
            facts, worst = one.facts, one.worst
            shares = [facts.get(name) for name in ("open", "groups", "open_share")]
            cut = facts["rows_cut"] / max(1, self.n_rows) if "rows_cut" in facts else None
            use = [None] * 3 if worst is None else [worst.value, one.interval, worst.name]
            of_purchases = facts.get("attribution_bound"), facts.get("known_by_habits")
            rows.append([*(asked[name] for name in varied), *shares, cut, *of_purchases, *use])
        parts: list[Section] = [
            Facts({"rows": self.n_rows, "customers": self.n_customers}),
            Rows([*columns, "use lost", "95 % interval", "most by"], rows),
            Sentence(HOW),
        ]
        faults = dict.fromkeys(str(one.groups) for one in self.predicted if isinstance(one.groups, CannotAnonymize))
        parts += [Sentence(fault) for fault in faults]
        parts += [Sentence(Text("Without {what}: {why}.", what=name, why=why)) for name, why in self.left_out.items()]
        return parts


def predict_history(
    history: History, *, method: object = PERMUTE_GROUPS, seed: int = 0, **options: object
) -> HistoryPredictions:
    """Predict what a method costs: of an option with several values, each with each value of the others.

    seed: what the deal and the items are drawn by; a release by the same seed is another draw.
    """
    started = time.perf_counter()
    methods = _methods(method, options)
    groups = group_each(history, methods)
    if all(isinstance(one, CannotAnonymize) for one in groups) and isinstance(groups[0], CannotAnonymize):
        raise groups[0]
    predicted: list[PredictedUse] = []
    left_out: dict[str, Text] = {}
    # Where a further option changes no group, it costs nothing.
    losses: dict[tuple[object, ...], tuple[dict[str, Score | Text], float]] = {}
    with step("predicting", len(methods)) as bar:
        for one, of_one in zip(methods, groups, strict=True):
            told: dict[str, Score | Text] = {}
            habits: float | None = None
            if isinstance(of_one, Groups):
                key = one.deals, one.within, one.classes, of_one.labels.tobytes()
                told, habits = losses[key] = losses[key] if key in losses else _losses(history, one, of_one, seed)
            left_out |= {name: why for name, why in told.items() if isinstance(why, Text)}
            scores = {name: score for name, score in told.items() if isinstance(score, Score)}
            predicted.append(PredictedUse(one, of_one, scores, habits))
            bar.advance()
    seconds = round(time.perf_counter() - started, 3)
    return HistoryPredictions(history.n_rows, len(history.customers), predicted, left_out, seed, seconds)


def _losses(
    history: History, method: PermuteGroups, groups: Groups, seed: int
) -> tuple[dict[str, Score | Text], float]:
    """Measure the contest's losses on one deal of the purchases, and what habits tell of it."""
    rng = generator(seed, PERMUTE_GROUPS, "predict")
    dealt = deal(history, groups, method.deals, rng)
    holders = draw_holders(groups, rng)
    dealt_out = put_in_place(history, groups, dealt, holders, hides_baskets=method.deals == "rows").history
    is_sampled = "item" not in history.absent and history.kept["item"].n_unique() > MOST_ITEMS
    sampled = {name: {"sample": N_ITEMS} for name in ("item-cf-supply", "item-cf-retail") if is_sampled}
    told = {
        name: measure_or_say_why(HISTORY_UTILITIES.make(name, **sampled.get(name, {})), name, history, dealt_out)
        for name in CONTEST_UTILITIES
    }
    return told, known_by_habits(history, groups, dealt["row"].to_numpy())


def _methods(method: object, options: Mapping[str, object]) -> list[PermuteGroups]:
    """Make the method with every combination of the values of its options."""
    if isinstance(method, PermuteGroups):
        return [method]
    if method != PERMUTE_GROUPS:
        if isinstance(method, str):
            HISTORY_ANONYMIZERS.get(method)
        expected = Text("{name}: the cost of other methods cannot be predicted", name=PERMUTE_GROUPS)
        raise InputError.of(expected, option="method", value=method)
    names = {option.name for option in part_options(PermuteGroups)}
    values = [_values(value) if name in names else [value] for name, value in options.items()]
    return [made_method(method, dict(zip(options, chosen, strict=True))) for chosen in itertools.product(*values)]


def _values(given: object) -> Sequence[object]:
    """Return the values of an option: of a list, of a text with commas, or the one that it is."""
    if isinstance(given, str):
        return [one.strip() for one in given.split(",")]
    return given if isinstance(given, Sequence) and given else [given]
