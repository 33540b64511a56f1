"""How much use a released history lost, measured on an engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.files.reading import Reading
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.on_engine.registry import MEASURES
from tokumei.report.needs import needs_of, score_or_why, why_not_compared, why_unmeasured
from tokumei.tasks.histories_on_engine import histories_on_engine
from tokumei.tasks.history_measures import Asked
from tokumei.tasks.measure_history import HistoryUse


def measure_history_on_engine(
    original: Path | str,
    release: Path | str,
    asked: Sequence[Asked],
    *,
    are_named: bool,
    engine: str,
    reading: Reading,
    has_master: bool = False,
) -> HistoryUse:
    """Measure a release against its original where rows need not fit into memory."""
    started = time.perf_counter()
    for one in asked:
        if are_named and one.name not in MEASURES:
            expected = Text(
                "the local engine, which {what} needs; others have {names}", what=one.name, names=", ".join(MEASURES)
            )
            raise InputError.of(expected, option="engine", value=engine)
    scores: dict[str, Score] = {}
    left_out: dict[str, str] = {}
    sources = {"before": (original, "original"), "after": (release, "release")}
    with histories_on_engine(sources, reading, engine) as sides, step("measuring", len(asked)) as bar:
        before, after = sides["before"], sides["after"]
        for one in asked:
            why = _why_left_out(one.part, one.name, before, after, has_master=has_master)
            found = score_or_why(MEASURES[one.name](one.part, before, after)) if why is None else why
            if isinstance(found, Score):
                scores[one.key] = found
            else:
                left_out[one.key] = found
            bar.advance()
    return HistoryUse(scores, left_out, round(time.perf_counter() - started, 3))


def _why_left_out(part: Any, name: str, before: EngineHistory, after: EngineHistory, *, has_master: bool) -> str | None:
    if name not in MEASURES:
        return "it needs the local engine"

    def n_items() -> int:
        items = before.kept.select("item").distinct()
        return int(before.fetch(items.aggregate(n=items.count()))["n"][0])

    absent = [column for column in needs_of(part, name) if column not in before.roles]
    why = why_unmeasured(name, before.staged.n_kept, absent, n_items, has_master=has_master)
    gone = [column for column in needs_of(part, name) if column not in after.roles] if after.staged.n_kept else []
    return why_not_compared(name, gone, before.staged.n_rows, after.staged.n_rows) if why is None else why
