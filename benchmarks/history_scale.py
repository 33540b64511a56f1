"""A large history on DuckDB, from anonymizing to judging, against one pass of reading and writing its rows."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Figure, in_new_process
from tokumei.data.made_retail import write_retail

ROWS_A_CUSTOMER = 100
ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6")
# Seconds of processors; what is imported counts, as for whoever types a command.
TIMED = """
import time
started = time.process_time()
from pathlib import Path
folder = Path({folder!r})
{work}
seconds = time.process_time() - started
"""
COPY = """
import duckdb
duckdb.read_parquet(str(folder / "history.parquet")).write_parquet(str(folder / "copy.parquet"))
"""
ANONYMIZE = """
from tokumei.methods.pipeline import pipeline_of
from tokumei.data.files.reading import AS_IT_IS
from tokumei.tasks.anonymize_history import write_history_on_engine
steps = pipeline_of({"step": [{"method": "delete", "random": 0.1}, {"method": "perturb"}, {"method": "pseudonyms"}]})
drafts = {"out": folder / "A.parquet", "published": folder / "S.parquet", "truth": folder / "F.csv"}
write_history_on_engine(folder / "history.parquet", steps, drafts, out=folder / "A.parquet", engine="duckdb",
    reading=AS_IT_IS, seed=1)
"""
MEASURE = """
from tokumei.tasks.measure_history import measure_history
measures = ["rfm-table", "item-cf-supply", "item-cf-retail"]
measure_history(folder / "history.parquet", folder / "A.parquet", measures, engine="duckdb")
"""
ATTACK = """
from tokumei.tasks.attack_history import attack_history
from tokumei.tasks.attack_history import judge_files
for name in {attacks!r}:
    done = attack_history(folder / "T25.parquet", folder / "S.parquet", name, engine="duckdb")
    done.write(folder / "Fh.csv")
    judge_files(folder / "Fh.csv", folder / "F.csv", folder / "S.parquet", engine="duckdb")
"""
# A quarter of the rows, items by their first two characters.
KNOWN = """
import polars as pl
rows = pl.scan_parquet(folder / "history.parquet").with_columns(pl.col("item").str.slice(0, 2))
rows.filter(pl.int_range(pl.len()).hash(1) % 4 == 0).sink_parquet(folder / "T25.parquet")
"""


def run(folder: Path, n_rows: int) -> list[Figure]:
    write_retail(folder / "history.parquet", max(10, n_rows // ROWS_A_CUSTOMER), n_rows=n_rows, seed=1)
    _timed(folder, KNOWN)
    size = f"{n_rows:,} purchases"
    figures, passes, most, n_passes = [], [_timed(folder, COPY)], 0.0, 0.0
    for name, work in (
        ("delete, perturb, pseudonyms, published and truth", ANONYMIZE),
        ("RFM, ItemCF of a wholesaler and a retailer", MEASURE),
        ("s1 to s6, each judged", ATTACK.format(attacks=ATTACKS)),
    ):
        seconds, memory = _timed(folder, work)
        # A pass before each job and one after it: a machine that others use, too, is not always as fast.
        passes.append(_timed(folder, COPY))
        ratio = seconds / ((passes[-2][0] + passes[-1][0]) / 2)
        n_passes, most = n_passes + ratio, max(most, memory)
        figures.append(Figure(f"  {name}", seconds, "s", note=f"{memory:.2f} GB, {ratio:.1f} × a pass"))
    seconds, memory = (sorted(one)[len(passes) // 2] for one in zip(*passes, strict=True))
    return [
        Figure(f"{size}: DuckDB reads and writes them", seconds, "s", note=f"{memory:.2f} GB, once more for each job"),
        *figures,
        Figure("  all, of a pass", n_passes, "×"),
        Figure("  most memory used", most, "GB", 4),
    ]


def _timed(folder: Path, work: str) -> tuple[float, float]:
    return in_new_process(TIMED.format(folder=str(folder), work=work))
