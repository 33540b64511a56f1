"""The default method on columns of very many values, where a table of two of them would not fit any memory."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import InputError

N_ROWS = 30_000
# A table of two of these columns would have 900 million cells: 7.2 GB as numbers, 0.9 GB even as bits of a byte each.
CHILD = f"""
import resource
import numpy as np, polars as pl
import tokumei as tk

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
rng = np.random.default_rng(1)
day = np.datetime64("1850-01-01") + np.arange({N_ROWS}) * np.timedelta64(1, "D")
dates = pl.Series(day.astype("datetime64[ms]")).cast(pl.Date).dt.strftime("%Y-%m-%d")
table = pl.DataFrame(
    {{
        "birth": dates.gather(rng.permutation({N_ROWS})),
        "admission": dates.gather(rng.permutation({N_ROWS})),
        "patient": [f"p{{row:06}}" for row in range({N_ROWS})],
    }}
)
release = tk.anonymize(tk.Table(table, qi=table.columns), k=5)
# Not getrusage: its peak starts at that of the process which started this one.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(release.k, int(peak.split()[1]) // 1024)
"""


@pytest.mark.slow
def test_dates_and_a_number_of_each_patient_are_anonymized_within_little_memory() -> None:
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    k, megabytes = map(int, done.stdout.split())
    assert k >= 5
    assert megabytes < 600


def test_ten_such_columns_are_refused_before_any_work_with_what_to_do() -> None:
    days = pl.date_range(pl.date(1850, 1, 1), pl.date(2020, 1, 1), "200d", eager=True).dt.strftime("%Y-%m-%d")
    table = pl.DataFrame({f"date{number}": days for number in range(10)})
    with pytest.raises(InputError, match=r"a lattice of at most 40,000,000 nodes; the method 'best-effort'"):
        tk.anonymize(tk.Table(table, qi=table.columns), k=5)
