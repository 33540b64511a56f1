"""How much use a released history lost, by every measure that its columns allow."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.progress import Bar, step
from tokumei.core.result import Result, Rows, Section
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.files.generalized import read_generalized
from tokumei.data.files.histories import is_generalized_file
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History
from tokumei.measures.generalized_error import measure_generalized_error
from tokumei.measures.registry import HistoryUtility
from tokumei.measures.sampling import STEPS_A_UNIT, DrawnCells
from tokumei.report.needs import absent_in_words, measure_or_say_why, why_not_compared
from tokumei.tasks.histories import check_engine_reads, history_of, released_of
from tokumei.tasks.history_measures import Asked, asked_measures

GENERALIZED_ERROR = "generalized-error"
NEEDS_DRAWS = Text("it needs values, and the release has ranges and sets: --draws 100 draws values from them")
# So many standard errors on either side hold a mean in 95 of 100 cases.
NORMAL_95 = 1.959964


@dataclass(frozen=True, repr=False)
class HistoryUse(Result):
    """Losses by measure, and which measures were left out for what reason."""

    scores: Mapping[str, Score]
    left_out: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    frame_kind: str = "polars"
    # How often values were drawn from the cells of the release, and by which seed; nothing where none were.
    drawn: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return scores by measure, as `tokumei measure history --json` prints them."""
        scores = {name: score.as_dict() for name, score in self.scores.items()}
        return {"scores": scores, "left_out": dict(self.left_out), **self.drawn, "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Return the losses, and below them what could not be measured."""
        heads = ["measure", "value", "best", "worst", *(["95 % interval"] if self.drawn else [])]
        rows = [
            [name, one.value, one.best, one.worst, *([one.interval] if self.drawn else [])]
            for name, one in self.scores.items()
        ]
        parts: list[Section] = [Rows(heads, rows)]
        if self.left_out:
            reasons: dict[str, list[str]] = {}
            for name, why in self.left_out.items():
                reasons.setdefault(why, []).append(name)
            parts.append(Rows(["left out", "because"], [[", ".join(some), why] for why, some in reasons.items()]))
        return parts

    def __repr__(self) -> str:
        # Only shares can be compared with each other.
        shares = [one for one in self.scores.items() if one[1].worst == 1] or list(self.scores.items())
        worst = [
            f"most lost by {name} ({one.value:.4g})" for name, one in sorted(shares, key=lambda one: -one[1].value)
        ]
        said = [counted(len(self.scores), "measure"), *worst[:1], f"{len(self.left_out)} left out"]
        return f"HistoryUse({', '.join(said)})"


def measure_history(
    original: Any,
    release: Any,
    measures: Sequence[str | HistoryUtility] | str | HistoryUtility | None = None,
    *,
    reading: Reading = AS_IT_IS,
    master: Any = None,
    engine: str = "local",
    options: Mapping[str, Mapping[str, Any]] | None = None,
    draws: int | None = None,
    seed: int = 1,
    **own: Any,
) -> HistoryUse:
    """Measure a release against its original; all measures that can be, or those that are named.

    On another engine than the local one both are files, whose rows need not fit into memory.

    options: by the name of a measure, its options; where one measure is named, they may be given as keywords. A list
        of values measures each.
    draws: how often values are drawn from the cells of a release with ranges and sets, which can be used so alone
        (PWSCUP 2018, section 6.3); scores are means then.
    """
    named = [measures] if isinstance(measures, (str, HistoryUtility)) else measures
    asked = _asked(named, options, own, master)
    if draws is not None and draws < 1:
        raise InputError.of("at least 1 draw", option="draws", value=draws)
    if engine != "local":
        if GENERALIZED_ERROR in (named or ()):
            raise InputError.of("the local engine, which generalized-error needs", option="engine", value=engine)
        if draws is not None:
            raise InputError.of("the local engine, which drawing from cells needs", option="engine", value=engine)
        check_engine_reads(engine, original=original, release=release)
        from tokumei.tasks.measure_on_engine import measure_history_on_engine

        where: dict[str, Any] = {"engine": engine, "reading": reading, "has_master": master is not None}
        return measure_history_on_engine(original, release, asked, are_named=named is not None, **where)
    started = time.perf_counter()
    before, cells = history_of(original, reading), _cells_of(release, reading)
    if cells is None:
        if draws is not None:
            expected = "a release with ranges and sets, from whose cells values are drawn"
            raise InputError.of(expected, option="draws", value=draws)
        after = released_of(release, reading)
        found = _error(before, GeneralizedHistory.of(after)) if GENERALIZED_ERROR in (named or ()) else {}
        with step("measuring", len(asked)) as bar:
            found |= {one.key: _measured(one, before, after, master, bar) for one in asked}
    else:
        found = {}
        if named is None or GENERALIZED_ERROR in named:
            # Where nothing is drawn there is nothing else to measure: other rows than the original's are refused.
            found = (
                {GENERALIZED_ERROR: measure_generalized_error(before, cells)}
                if draws is None
                else _error(before, cells)
            )
        found |= _drawn(before, cells, asked, master, draws, seed)
    scores = {key: one for key, one in found.items() if isinstance(one, Score)}
    left_out = {key: one for key, one in found.items() if not isinstance(one, Score)}
    drawn = {} if draws is None else {"draws": draws, "seed": seed}
    return HistoryUse(scores, left_out, round(time.perf_counter() - started, 3), before.kind, drawn)


def _asked(
    named: Sequence[str | HistoryUtility] | None,
    options: Mapping[str, Mapping[str, Any]] | None,
    own: Mapping[str, Any],
    master: Any,
) -> list[Asked]:
    """Make the measures; the options of the only one may come as keywords."""
    if named is not None:
        named = [one for one in named if one != GENERALIZED_ERROR]
    if own:
        if named is None or len(named) != 1 or not isinstance(named[0], str):
            raise InputError.of("one measure, whose option it is", value=next(iter(own)))
        options = {**(options or {}), named[0]: {**(options or {}).get(named[0], {}), **own}}
    return asked_measures(named, options, master=master)


def _cells_of(release: Any, reading: Reading) -> GeneralizedHistory | None:
    """Return the cells of a release with ranges and sets; None of any other."""
    if isinstance(release, (str, Path)):
        return read_generalized(release, reading) if is_generalized_file(release, reading) else None
    if isinstance(release, GeneralizedHistory):
        return release
    cells: GeneralizedHistory | None = release.cells if getattr(release, "is_generalized", False) else None
    return cells


def _measured(one: Asked, before: History, after: History, master: Any, bar: Bar) -> Score | Text:
    found = measure_or_say_why(one.part, one.name, before, after, has_master=master is not None)
    bar.advance()
    return found


def _error(original: History, cells: GeneralizedHistory) -> dict[str, Score | Text]:
    """Measure how much less cells say than the rows beside them, or say why that cannot be."""
    absent = [column for column in STEPS_A_UNIT if column in original.absent]
    # Rows that were published are sorted and fewer: they stand beside nothing.
    why = absent_in_words(absent) if absent else why_not_compared("date", (), original.n_rows, cells.n_rows)
    return {GENERALIZED_ERROR: measure_generalized_error(original, cells) if why is None else why}


def _drawn(
    original: History,
    cells: GeneralizedHistory,
    asked: Sequence[Asked],
    master: Any,
    draws: int | None,
    seed: int,
) -> dict[str, Score | Text]:
    """Measure what is done with values on values drawn from the cells, or say that this needs draws."""
    if draws is None:
        return {one.key: NEEDS_DRAWS for one in asked}
    drawn = DrawnCells.of(original, cells)
    values: dict[str, list[Score | Text]] = {one.key: [] for one in asked}
    with step("measuring", len(asked) * draws) as bar:
        for number in range(draws):
            after = drawn.draw(generator(seed, "draws", number))
            for one in asked:
                values[one.key].append(_measured(one, original, after, master, bar))
    return {key: _mean(some) for key, some in values.items()}


def _mean(values: Sequence[Score | Text]) -> Score | Text:
    """Return the mean of a score over draws with its 95 % interval, or why no draw has a score."""
    scores = [one for one in values if isinstance(one, Score)]
    if not scores:
        return values[0]
    first, n = scores[0], len(scores)
    numbers = np.array([one.value for one in scores])
    mean = math.fsum(numbers) / n
    deviation = float(np.std(numbers, ddof=1)) if n > 1 else None
    interval = None
    if deviation is not None:
        margin = NORMAL_95 * deviation / math.sqrt(n)
        interval = (max(first.least, mean - margin), min(first.greatest, mean + margin))
    inputs = {"draws": n, "deviation": deviation}
    return Score(first.name, mean, best=first.best, worst=first.worst, interval=interval, inputs=inputs)
