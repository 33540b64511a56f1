"""Runs studies, some at a time, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tokumei.core.errors import InputError, TokumeiError
from tokumei.core.progress import step
from tokumei.core.text import JsonView
from tokumei_studies.study import STUDIES, Findings, Verdict

DEFAULT_JOBS = 2
# What Polars, OpenBLAS and OpenMP read their number of threads from, when they are first imported.
THREADS_SETTINGS = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


@dataclass(frozen=True)
class StudyOutcome:
    """What became of one study: its findings, or the files it lacks, or the error that stopped it."""

    name: str
    findings: Findings | None = None
    missing: tuple[str, ...] = ()
    error: JsonView | None = None
    """In the shape that every command prints: errors themselves do not pass from one process to another."""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict | None:
        """Whether every number of the study holds; none if an error stopped it."""
        if self.findings is not None:
            return self.findings.verdict
        return Verdict.NEEDS_DATA if self.missing else None


def chosen_studies(names: Sequence[str], *, is_all: bool, is_quick: bool) -> list[str]:
    """Return the studies that are asked for in the registry's order; unknown names are errors."""
    if bool(names) == is_all:
        raise InputError.of("either the names of studies or --all; 'tokumei study list' shows them")
    if is_quick and not is_all:
        raise InputError.of("--quick together with --all")
    for name in names:
        STUDIES.get(name)
    wanted = set(STUDIES if is_all else names)
    return [name for name in STUDIES if name in wanted and (not is_quick or STUDIES.get(name).is_quick)]


def default_jobs() -> int:
    """Return how many studies run at a time by default."""
    return min(DEFAULT_JOBS, os.cpu_count() or 1)


def missing_files(name: str, data: Path | None) -> tuple[str, ...]:
    """Return the files that a study needs and that the folder of data lacks."""
    return tuple(file for file in STUDIES.get(name).needs if data is None or not (data / file).exists())


def run_study(name: str, data: Path | None) -> StudyOutcome:
    """Run one study in this process; an error that is meant for a user becomes part of the outcome."""
    missing = missing_files(name, data)
    if missing:
        return StudyOutcome(name, missing=missing)
    started = time.perf_counter()
    try:
        findings = STUDIES.make(name).run(data or Path())
    except TokumeiError as error:
        return StudyOutcome(name, error=error.as_dict(), seconds=time.perf_counter() - started)
    return StudyOutcome(name, findings, seconds=time.perf_counter() - started)


def run_studies(
    names: Sequence[str], data: Path | None, *, jobs: int = 1, finished: Callable[[StudyOutcome], None] | None = None
) -> list[StudyOutcome]:
    """Run studies, so many at a time; give the outcomes in the order of the names, whichever finished first.

    Each outcome is also handed to `finished` at once, so that what is done is not lost when a later study breaks.
    """
    if data is not None and not data.is_dir():
        raise InputError.of("a folder that exists", file=data)
    outcomes: dict[str, StudyOutcome] = {}
    in_pool = jobs > 1 and len(names) > 1
    source = _run_in_pool(names, data, jobs) if in_pool else (run_study(name, data) for name in names)
    # Closed even if an error is on its way out of here, so that the processes end with it.
    with step("studies", len(names)) as bar, closing(source) as running:
        for outcome in running:
            outcomes[outcome.name] = outcome
            if finished is not None:
                finished(outcome)
            bar.advance()
    return [outcomes[name] for name in names]


def _run_in_pool(names: Sequence[str], data: Path | None, jobs: int) -> Generator[StudyOutcome]:
    """Run studies in processes that start afresh; give outcomes as they come."""
    # The long ones first, so that none is left alone at the end while a core is idle.
    ordered = sorted(names, key=lambda name: STUDIES.get(name).is_quick)
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with _threads_for(jobs), ProcessPoolExecutor(jobs, mp_context=context, initializer=_die_silently) as pool:
        futures = {pool.submit(run_study, name, data): name for name in ordered}
        try:
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield StudyOutcome(futures[future], error=_cut_short().as_dict())
        except BaseException:
            # Whatever stopped us, nobody waits for what still runs.
            for child in set(multiprocessing.active_children()) - before:
                child.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _cut_short() -> TokumeiError:
    return TokumeiError("its process ended before the study did, perhaps for lack of memory; --jobs 1 needs least")


def _die_silently() -> None:
    """End this process at once on an interrupt from the terminal, without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _threads_for(jobs: int) -> Iterator[None]:
    """Share the cores among the processes that are started meanwhile, unless the user has decided it."""
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    ours = {name: threads for name in THREADS_SETTINGS if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
