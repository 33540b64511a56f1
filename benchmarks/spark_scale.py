"""A whole anonymization on a cluster of Spark, a master and two workers, against Spark's own group-by and write."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.spark_cluster import spark_cluster

from benchmarks.measure import Figure

# What the process of this code and the virtual machine that it starts take at most is its last line.
DRIVER = """
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
path, columns, out, address = {path!r}, {columns!r}, {out!r}, sys.argv[1]
from tokumei.engines.spark import SparkEngine
session = SparkEngine.connect(address).backend._session
session.range(1).count()
{work}
own = Path("/proc/self/task").glob("*/children")
pids = ["self", *(pid for file in own for pid in file.read_text().split())]
peaks = [line.split()[1] for pid in pids for line in Path("/proc", pid, "status").open() if line.startswith("VmHWM:")]
print(sum(map(int, peaks)) / 1024**2)
"""
SPARK = """
rows = session.read.parquet(path).select(*columns)
rows.groupBy(*columns).count().toArrow()
rows.write.parquet(out)
"""
OURS = """
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.write_table import anonymize_to_files
anonymize_to_files(
    path, columns, dict(out=Path(out)), ReleaseRequest(k=5, suppress=0.02, keep_order={keep_order}), engine=address)
"""


def run(folder: Path, rows: tuple[str, list[str]], size: str, goal: float | None) -> list[Figure]:
    """Time both on one cluster; what a session that does nothing costs there is taken off."""
    folder.mkdir()
    # Of two hundred tasks, the usual number, each would take longer to start than to run. A driver that may take a
    # quarter of the machine's memory, as it usually may, leaves its garbage lying about.
    (folder / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 8\nspark.driver.memory 1g\n")
    with spark_cluster(folder) as (address, _):
        spent = partial(_spent, folder, rows, address)
        nothing = spent("")[0]
        floor = spent(SPARK)[0] - nothing
        shuffled, memory = spent(OURS.format(keep_order=False))
        in_order = spent(OURS.format(keep_order=True))[0]
    return [
        Figure(f"{size}: Spark's own group-by and write, two workers", floor, "s", note=f"{nothing:.0f} s to start"),
        Figure(f"{size}: anonymize table, Spark, two workers", shuffled - nothing, "s"),
        Figure("  ratio to Spark's own work, rows shuffled", (shuffled - nothing) / floor, "×", goal),
        Figure("  ratio, rows in the order of Spark", (in_order - nothing) / floor, "×"),
        Figure("  most memory of the driver", memory, "GB", 2),
    ]


def _spent(folder: Path, rows: tuple[str, list[str]], address: str, work: str) -> tuple[float, float]:
    """Return the seconds of processors that a cluster and its driver take, and the memory of the driver."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(folder)}
    code = DRIVER.format(path=rows[0], columns=rows[1], out=str(out), work=work)
    before = _descendants()
    command = [sys.executable, "-c", code, address]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return _descendants() - before, float(done.stdout.split()[-1])


def _descendants() -> float:
    """Return the seconds of processors that all took which this process started: of the living, and of the dead."""
    dead = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, found = dead.ru_utime + dead.ru_stime, list(_children("self"))
    for pid in found:
        with suppress(OSError):
            # After the name, which may have blanks: its own time, and that of those that it started and that are gone.
            facts = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
            seconds += sum(map(int, facts[11:15])) / os.sysconf("SC_CLK_TCK")
            found += _children(pid)
    return seconds


def _children(pid: str) -> list[str]:
    return [child for file in Path("/proc", pid, "task").glob("*/children") for child in file.read_text().split()]
