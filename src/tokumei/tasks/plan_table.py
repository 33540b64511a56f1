"""What anonymizing a table would take, before anything runs: passes over the rows, memory and time on its engine.

Only metadata and the first rows are read. Costs are multiples of one unit, the time in which a processor of this
machine counts one cell of a table of text, measured anew each time: so they hold on faster and slower machines. They
were fitted to runs of one and four million rows; `python -m benchmarks scale` holds them against other sizes.
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.registry import part_name
from tokumei.core.result import Facts, Result, Section, Sentence
from tokumei.data.files.csv import find_delimiter, first_bytes
from tokumei.data.files.formats import PARQUET, TEXT_SUFFIXES, format_of, scan_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.source import is_gzip
from tokumei.data.table import check_column
from tokumei.engines.count import CLASS_BYTES, MOST_SENT, most_classes
from tokumei.engines.count_along import most_along, most_combinations
from tokumei.engines.engine import connect, without_password
from tokumei.engines.made_rows import SIZE
from tokumei.methods.on_engine.local_recoding import IN_PARTS
from tokumei.methods.perturbation import USUAL_K
from tokumei.methods.registry import LocalRecoder, Perturber, TableAnonymizer
from tokumei.methods.table.microaggregate import Microaggregate
from tokumei.methods.table.noise import Noise

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

    def to_dict(self) -> dict[str, Any]:
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
