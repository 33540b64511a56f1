"""A history from original to release, by one method or a pipeline."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tokumei.anonymize.pipeline import Pipeline, read_pipeline
from tokumei.anonymize.registry import HISTORY_ANONYMIZERS, HistoryAnonymizer
from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.core.seeds import fresh_seed
from tokumei.data.files.histories import TABLE
from tokumei.data.history import History
from tokumei.job.history_release import HistoryRelease
from tokumei.report.needs import check_needs


def anonymize_history(
    history: History,
    *,
    method: Any = None,
    pipeline: Path | str | None = None,
    seed: int | None = None,
    form: str = TABLE,
    **options: Any,
) -> HistoryRelease:
    """Anonymize a history by a method and its options, or by the pipeline of a file.

    The same seed gives the same release; a secret one is drawn if none is given.
    """
    if (method is None) == (pipeline is None):
        raise InputError.of("either a method, as method='pseudonyms', or a pipeline")
    started = time.perf_counter()
    steps = read_pipeline(pipeline) if pipeline is not None else Pipeline((_made(method, options),))
    used = seed if seed is not None else steps.seed
    if used is None:
        # Who can guess the seed can make the release again, and sees whose each pseudonym is.
        used = fresh_seed()
    for one in steps.methods:
        check_needs(history, one)
    release = steps.anonymize(history, seed=used)
    kept = release.frame["customer"].drop_nulls()
    kept = kept.filter(kept != "*")
    name = "pipeline" if pipeline is not None else part_name(steps.methods[0])
    facts = {
        "method": name,
        "rows": history.n_rows,
        "released": len(kept),
        "made_up": 0 if release.rows is None else release.rows.null_count(),
        "customers": len(history.customers),
        "pseudonyms": kept.n_unique(),
        **release.recipe.found,
        "seed": used,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return HistoryRelease(history, release, facts, form, history.kind)


def _made(method: Any, options: dict[str, Any]) -> Any:
    """Make the method of a name; options as typed on a command line are read by it."""
    if not isinstance(method, str):
        if not isinstance(method, HistoryAnonymizer):
            expected = "one method for histories by its name; several follow each other in the file of a pipeline"
            raise InputError.of(expected, option="method", value=method)
        return method
    if options and all(isinstance(value, str) for value in options.values()):
        return HISTORY_ANONYMIZERS.make_from_text(method, options)
    return HISTORY_ANONYMIZERS.make(method, **options)
