"""How much use a released history lost, by every measure that its columns allow."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.core.progress import step
from tokumei.core.result import Result, Rows, Section
from tokumei.core.score import Score
from tokumei.core.wording import counted
from tokumei.data.files.generalized import read_generalized
from tokumei.data.files.histories import is_generalized_file
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.job.histories import check_engine_reads, history_of, released_of
from tokumei.measure.generalized_error import measure_generalized_error
from tokumei.measure.registry import HISTORY_UTILITIES
from tokumei.report.needs import NEEDS_MASTER, measure_or_say_why


@dataclass(frozen=True, repr=False)
class HistoryUse(Result):
    """Losses by measure, and which measures were left out for what reason."""

    scores: Mapping[str, Score]
    left_out: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    frame_kind: str = "polars"

    def to_dict(self) -> dict[str, Any]:
        """Give scores by measure, as `tokumei measure history --json` prints them."""
        scores = {name: score.as_dict() for name, score in self.scores.items()}
        return {"scores": scores, "left_out": dict(self.left_out), "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Give the losses, and below them what could not be measured."""
        rows = [[name, one.value, one.best, one.worst] for name, one in self.scores.items()]
        parts: list[Section] = [Rows(["measure", "value", "best", "worst"], rows)]
        if self.left_out:
            parts.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
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
    measures: Sequence[str] | str | None = None,
    *,
    reading: Reading = AS_IT_IS,
    master: Any = None,
    engine: str = "local",
) -> HistoryUse:
    """Measure a release against its original; all measures that can be, or those that are named.

    On another engine than the local one both are files, whose rows need not fit into memory.
    """
    wanted = [measures] if isinstance(measures, str) else measures
    if engine != "local":
        check_engine_reads(engine, original=original, release=release)
        from tokumei.job.measure_on_engine import measure_history_on_engine

        return measure_history_on_engine(original, release, wanted, engine=engine, reading=reading, master=master)
    started = time.perf_counter()
    if isinstance(release, (str, Path)) and is_generalized_file(release, reading):
        return _generalized(history_of(original, reading), read_generalized(release), started)
    if getattr(release, "is_generalized", False):
        return _generalized(history_of(original, reading), release.cells, started)
    before, after = history_of(original, reading), released_of(release, reading)
    wanted = list(wanted or HISTORY_UTILITIES)
    scores: dict[str, Score] = {}
    left_out: dict[str, str] = {}
    with step("measuring", len(wanted)) as bar:
        for name in wanted:
            of_people = master is not None and name in NEEDS_MASTER
            part = HISTORY_UTILITIES.make(name, **({"master": master} if of_people else {}))
            found = measure_or_say_why(part, name, before, after, has_master=master is not None)
            if isinstance(found, Score):
                scores[name] = found
            else:
                left_out[name] = found
            bar.advance()
    return HistoryUse(scores, left_out, round(time.perf_counter() - started, 3), before.kind)


def _generalized(original: History, cells: Any, started: float) -> HistoryUse:
    score = measure_generalized_error(original, cells)
    return HistoryUse({score.name: score}, {}, round(time.perf_counter() - started, 3), original.kind)
