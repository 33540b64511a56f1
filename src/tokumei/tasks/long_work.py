"""Work that takes long: what it would take, and how it goes on where it was broken off.

A plan tells passes over the rows, memory and time on the engine before anything runs. Only metadata and the first rows
are read. Costs are multiples of one unit, the time in which a processor of this machine counts one cell of a table of
text, measured anew each time: so they hold on faster and slower machines. Those of tables were fitted to runs of one
and four million rows, and `python -m benchmarks scale` holds them against other sizes; those of histories to half a
million and four million purchases on DuckDB.

What is done of long work lies in a hidden folder beside what is written. The folder is named by what decides the
result: the files that are read, how, by which options, and the version of this program. Whoever gives the same command
again finds it. It holds copies of rows, so that nobody but its owner may read it, and it is removed when the work ends,
well or with an error; only a broken-off run leaves it.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.core.result import Facts, Result, Section, Sentence
from tokumei.core.seeds import fresh_seed
from tokumei.core.text import Json
from tokumei.data.files.csv import find_delimiter, first_bytes
from tokumei.data.files.disk import is_gzip, remove_folder
from tokumei.data.files.formats import PARQUET, TEXT_SUFFIXES, format_of, is_glob, part_files, scan_frame
from tokumei.data.files.reading import Reading
from tokumei.data.table import check_column
from tokumei.engines.connect import connect
from tokumei.engines.count import CLASS_BYTES, MOST_SENT, most_along, most_classes, most_combinations
from tokumei.engines.engine import without_password
from tokumei.engines.writing import SIZE
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.local.on_engine import IN_PARTS
from tokumei.methods.perturbing.microaggregate import Microaggregate
from tokumei.methods.perturbing.noise import Noise
from tokumei.methods.perturbing.perturbation import USUAL_K
from tokumei.methods.pipeline import Pipeline
from tokumei.methods.registry import LocalRecoder, Perturber, TableAnonymizer

# Rows from which the number of classes is guessed.
N_LOOKED_AT = 100_000
# Units of one cell: to read, recode, shuffle, write and count it again, for each way of working.
CELL_UNITS = {"in memory": 16.0, "as a stream": 20.0, "duckdb": 9.0}
# Of one that is made from the counts, and not read again; clusters count nothing along.
TOLD_UNITS, CLUSTERS = 6.0, ("spark", "sc:")
# Units of one cell of one class, to decide about it.
LEVEL_UNITS, GROUP_UNITS = 17.0, 40.0
# Units of one cell that is only counted, once more for each sensitive column.
COUNT_UNITS = 3.0
# Units of one number of two rows that MDAV compares, and bytes of one of a row that is averaged.
PAIR_UNITS, AVERAGED_BYTES = 0.1, 60
# Bytes of a cell that is in memory, for each way of working.
CELL_BYTES = {"in memory": 52, "as a stream": 52, "duckdb": 30}
# A stream holds blocks of rows, and never more than these.
MOST_STREAMED = 2 * 1024**3
AT_START = 0.35 * 1024**3
# Seconds of a processor before the first row is read.
START_SECONDS = {"in memory": 1.0, "as a stream": 1.0, "duckdb": 3.0}


@dataclass(frozen=True, eq=False, repr=False)
class TablePlan(Result):
    """What would be done; None where it cannot be told before."""

    source: str
    engine: str
    method: str
    # One of "in memory", "as a stream" and "on the engine".
    way: str
    n_rows: int | None
    n_columns: int
    n_classes: int | None
    n_passes: int
    memory: float | None
    cpu_seconds: float | None

    def to_dict(self) -> Json:
        """Return the result as `tokumei anonymize table --dry-run --json` prints it."""
        return {
            "source": self.source,
            "engine": self.engine,
            "method": self.method,
            "way": self.way,
            "rows": self.n_rows,
            "columns": self.n_columns,
            "classes": self.n_classes,
            "passes": self.n_passes,
            "memory_gb": None if self.memory is None else round(self.memory / 1024**3, 2),
            "cpu_seconds": None if self.cpu_seconds is None else round(self.cpu_seconds, 1),
        }

    def sections(self) -> Sequence[Section]:
        """Return the facts, and what they rest on."""
        facts = {name: "not known before" if value is None else value for name, value in self.to_dict().items()}
        said = (
            f"Nothing was read but metadata and the first {N_LOOKED_AT:,} rows, from which classes are guessed; "
            "memory and time are those of runs measured at other sizes, and may be off by a factor of ten."
        )
        return [Facts(facts), Sentence(said)]


def plan_table(
    source: str,
    qi: Sequence[str],
    *,
    engine: str,
    reading: Reading,
    method: TableAnonymizer,
    sensitive: Sequence[str] = (),
    keep: Sequence[str] = (),
    streams: bool = False,
) -> TablePlan:
    """Estimate what anonymizing a table would take; `streams` says whether it would be read as a stream here."""
    n_rows, head = _looked_at(source, engine, reading)
    if head is not None:
        for column in (*qi, *sensitive, *keep):
            check_column(column, head.columns, "a column of the job", source)
    columns = list(dict.fromkeys([*qi, *sensitive, *keep]))
    n_classes = None if head is None or n_rows is None else _classes_guessed(head.select(qi), n_rows)
    way = ("as a stream" if streams else "in memory") if engine == "local" else "on the engine"
    # The file is read once where it fits; else to count it, once more for what is protected or kept unless that is
    # counted along, and to write it unless the counts tell all that is released.
    draws = isinstance(method, Perturber)
    makes, is_cluster = way != "in memory" and not draws, engine.startswith(CLUSTERS)
    is_along = makes and not is_cluster and len(columns) > len(qi) and _counts_along(source, head, columns, n_rows)
    is_sent = not is_cluster or (n_classes is not None and n_classes <= MOST_SENT)
    is_told = is_along or (makes and is_sent and not keep and len(set(sensitive)) <= 1)
    n_further = 0 if is_along else len(set(sensitive)) + len(set(keep))
    n_passes = 1 if way == "in memory" else 1 + (not is_told) + n_further
    n_counted = 0
    n_averaged, pairs = 0, 0.0
    if isinstance(method, Microaggregate):
        # Rows go by here once to get their means, and once more to be put in order.
        n_passes += way != "in memory"
        n_averaged = len(method.columns or qi)
        pairs = (n_rows or 0) * min(n_rows or 0, method.block) / (method.k or USUAL_K) * n_averaged
    elif draws and way == "on the engine":
        # Rows are numbered, the values of each column that may be changed are counted, and noise goes by here once.
        n_counted = len(set(method.columns) or qi) if hasattr(method, "columns") else 0
        n_passes += 1 + n_counted + (2 if isinstance(method, Noise) else 0)
    most = most_classes(len(qi))
    if n_classes is not None and n_classes > most and way != "in memory" and part_name(method) in IN_PARTS:
        # Rows are cut in halves until each part fits; for each cut a part is counted as a whole and by each column.
        n_passes += math.ceil(math.log2(n_classes / most)) * (1 + len(qi))
    known = engine.partition(":")[0] if way == "on the engine" else way
    memory, seconds = None, None
    if n_rows is not None and n_classes is not None and known in CELL_UNITS:
        n_cells, class_cells = n_rows * len(columns), n_classes * len(qi)
        held_cells = min(n_classes, most) * len(qi) if part_name(method) in IN_PARTS else class_cells
        held = 0 if is_told else n_cells * CELL_BYTES[known]
        memory = AT_START + (min(held, MOST_STREAMED) if known == "as a stream" else held) + held_cells * CLASS_BYTES
        units = n_cells * (TOLD_UNITS if is_told else CELL_UNITS[known])
        units += n_cells * COUNT_UNITS * n_further + n_rows * COUNT_UNITS * n_counted
        units += class_cells * (GROUP_UNITS if draws or isinstance(method, LocalRecoder) else LEVEL_UNITS)
        units += pairs * PAIR_UNITS
        memory += n_rows * AVERAGED_BYTES * n_averaged
        seconds = START_SECONDS[known] + units * unit_seconds()
    shown = without_password(engine)
    return TablePlan(source, shown, part_name(method), way, n_rows, len(columns), n_classes, n_passes, memory, seconds)


def _counts_along(source: str, head: pl.DataFrame | None, columns: Sequence[str], n_rows: int | None) -> bool:
    """Guess whether all that is released is counted in one pass, as `count_along` will by more rows."""
    if head is None or n_rows is None or format_of(source) != PARQUET:
        return False
    return most_combinations(head.select(columns), n_rows) <= most_along(n_rows, len(columns))


def unit_seconds() -> float:
    """Measure the unit of all costs: seconds of a processor to count one cell of text, the best of three times."""
    random = np.random.default_rng(0)
    columns = {str(n): pl.Series(random.integers(0, 8, N_LOOKED_AT)).cast(pl.String) for n in range(4)}
    rows = pl.DataFrame(columns).lazy()
    times = []
    for _ in range(3):
        started = time.process_time()
        rows.group_by(pl.all()).len().collect(engine="streaming")
        times.append(time.process_time() - started)
    return min(times) / (N_LOOKED_AT * len(columns))


def _classes_guessed(head: pl.DataFrame, n_rows: int) -> int:
    """Guess the number of classes by those of the first rows (Charikar et al. 2000: those seen once stand for √(N/n)).

    >>> _classes_guessed(pl.DataFrame({"age": [31, 31, 52, 60]}), 400)
    21
    """
    sizes = head.group_by(pl.all()).len(SIZE)[SIZE]
    once = int((sizes == 1).sum())
    more = len(sizes) - once
    return min(n_rows, round(once * math.sqrt(n_rows / max(1, head.height))) + more)


def _looked_at(source: str, engine: str, reading: Reading) -> tuple[int | None, pl.DataFrame | None]:
    """Return how many rows there are, if that is known without reading them, and the first of them."""
    if engine != "local" and not Path(source).exists() and not source.endswith(PARQUET):
        with connect(engine) as opened:
            relation: Any = opened.open(source, reading)
            return None, relation.engine.fetch(relation.table.limit(N_LOOKED_AT))
    suffix = format_of(source)
    if suffix == PARQUET:
        rows = scan_frame(source, reading)
        return int(rows.select(pl.len()).collect().item()), rows.head(N_LOOKED_AT).collect()
    if suffix not in TEXT_SUFFIXES or not reading.is_whole_text or is_gzip(Path(source)):
        return None, None
    start = first_bytes(Path(source))
    n_bytes = Path(source).stat().st_size
    start = start if len(start) == n_bytes else start[: start.rfind(b"\n") + 1]
    delimiter = reading.delimiter or TEXT_SUFFIXES[suffix] or find_delimiter(start)
    try:
        text = start.decode(reading.encoding or "utf-8").encode()
        head = pl.read_csv(io.BytesIO(text), separator=delimiter, infer_schema=False)
    except (UnicodeDecodeError, LookupError, pl.exceptions.PolarsError):
        return None, None
    return round(head.height * n_bytes / max(1, len(start))), head.head(N_LOOKED_AT)


# Units of one row: to read it, name it and write it; to change its cells; to delete by plain rules; by what it gives
# away; and to deal it out in another order.
ROW_UNITS, PERTURB_UNITS, DELETE_UNITS, TELLING_UNITS, PUBLISH_UNITS = 58.0, 18.0, 27.0, 450.0, 35.0
ENGINE_START_SECONDS = 2.0
# What an engine holds, a piece of rows, and what is read; beyond them memory does not grow with the rows.
MOST_MEMORY = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class HistoryPlan(Result):
    """What would be done; None where it cannot be told before."""

    facts: dict[str, Any]

    def to_dict(self) -> Json:
        """Return the result as `tokumei anonymize history --dry-run --json` prints it."""
        return dict(self.facts)

    def sections(self) -> Sequence[Section]:
        """Return the facts, and what they rest on."""
        told = {name: "not known before" if value is None else value for name, value in self.facts.items()}
        said = "Only metadata was read; time is that of runs of other sizes, and may be off by a factor of ten."
        return [Facts(told), Sentence(said)]


def plan_history(
    source: Path | str, pipeline: Pipeline, *, engine: str, reading: Reading, published: bool
) -> HistoryPlan:
    """Estimate what anonymizing a history would take: passes over its rows, memory and seconds of a processor."""
    n_rows = None
    if format_of(source) == PARQUET:
        n_rows = int(scan_frame(source, reading).select(pl.len()).collect().item())
    # Read and checked, months and invoices looked up, changed, named and written in pieces, put together.
    units, n_passes = ROW_UNITS, 5
    # Once more written for a step that looks at what another changed.
    n_passes += sum(isinstance(method, (Perturb, Dummies)) for method in pipeline.methods[:-1])
    for method in pipeline.methods:
        if isinstance(method, Perturb):
            units += PERTURB_UNITS
            # Whether all prices are whole.
            n_passes += bool(method.prices)
        if isinstance(method, Delete):
            rules = [method.once, method.price_deviations, method.random]
            units += DELETE_UNITS + (TELLING_UNITS if method.telling else 0)
            n_passes += sum(map(bool, rules)) + (7 if method.telling else 0)
        if isinstance(method, Dummies):
            # Item sets, rows of customers and of items, rows drawn by both, their cells, and item sets again.
            n_passes += 8
        if isinstance(method, Generalize):
            # Customers, items and all numbers; cells are written and read again.
            n_passes += 2
    if published:
        units, n_passes = units + PUBLISH_UNITS, n_passes + 2
    # Item sets are held here and compared, and rows of customers aligned, so that memory and time follow customers,
    # whom no metadata counts.
    by_customer = any(isinstance(method, (Dummies, Generalize)) for method in pipeline.methods)
    follows_rows = n_rows is not None and not by_customer
    is_known = follows_rows and engine.partition(":")[0] == "duckdb"
    seconds = None if not is_known or n_rows is None else ENGINE_START_SECONDS + n_rows * units * unit_seconds()
    memory = None if not follows_rows or n_rows is None else round(min(MOST_MEMORY, 0.3 + n_rows * 3e-7), 2)
    facts = {
        "source": str(source),
        "engine": without_password(engine),
        "methods": [part_name(method) for method in pipeline.methods],
        "rows": n_rows,
        "passes": n_passes,
        "memory_gb": memory,
        "cpu_seconds": None if seconds is None else round(seconds, 1),
    }
    return HistoryPlan(facts)


log = logging.getLogger("tokumei.notes")
LOCK, SEED = "lock", "seed"


@contextmanager
def resumable(beside: Path, inputs: Iterable[Path | str], options: Mapping[str, object]) -> Iterator[Path]:
    """Provide a folder for the pieces of some work, with those that an earlier run left there."""
    folder = Path(os.path.realpath(beside)).parent / f".tokumei-{_fingerprint(inputs, options)}"
    if folder.exists():
        log.info("Going on where the same command was broken off: %s has what was done.", folder)
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = _locked(folder)
    is_broken_off = False
    try:
        yield folder
    except KeyboardInterrupt:
        is_broken_off = True
        log.info("What was done is in %s, rows included: the same command goes on from there.", folder)
        raise
    finally:
        os.close(lock)
        if not is_broken_off:
            remove_folder(folder)


def kept_seed(folder: Path, seed: int | None) -> int:
    """Return the seed, or else the secret one that was drawn when the work began."""
    if seed is not None:
        return seed
    file = folder / SEED
    if not file.exists():
        draft = file.with_suffix(".draft")
        draft.write_text(str(fresh_seed()))
        draft.replace(file)
    return int(file.read_text())


def _fingerprint(inputs: Iterable[Path | str], options: Mapping[str, object]) -> str:
    files = [file for given in inputs for file in _files(given)]
    read = [(os.path.realpath(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    told = json.dumps([version("tokumei"), read, options], sort_keys=True, default=str)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _files(given: Path | str) -> list[Path]:
    path = Path(given)
    return part_files(path) if path.is_dir() or is_glob(path) else [path] if path.exists() else []


def _locked(folder: Path) -> int:
    """Keep others from working in the same folder at once, where the system has locks."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except OSError:
        os.close(descriptor)
        raise InputError.of("no other run of the same command at the same time", file=folder) from None
    return descriptor
