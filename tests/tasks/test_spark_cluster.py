"""A real cluster of Spark, with a master and two workers, gives the release that this process gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.spark_cluster import spark_cluster

import tokumei as tk
from tokumei.data.files.formats import read_frame

PEOPLE = pl.DataFrame(
    {
        "age": [None, *(20 + n % 17 for n in range(399))],
        "town": [("津", "松阪", None, "with,comma")[n % 4] for n in range(400)],
        "illness": [("flu", "cold", "cough")[n % 3] for n in range(400)],
    }
)


@pytest.mark.thorough
@pytest.mark.usefixtures("spark_engine")
def test_cluster_of_two_workers_gives_the_release_made_here(tmp_path: Path) -> None:
    source = tmp_path / "people"
    source.mkdir()
    for part in range(4):
        PEOPLE[part * 100 : (part + 1) * 100].write_parquet(source / f"part-{part}.parquet")
    here = tk.anonymize(tk.Table(PEOPLE, ["age", "town"]), k=5, l_diversity={"illness": 2}, method="mondrian")
    # Of two hundred tasks, the usual number, each would take longer to start than to run.
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 4\n")
    asked = ["--qi", "age,town", "--k", "5", "--l-diversity", "illness=2", "--method", "mondrian"]
    with spark_cluster(tmp_path) as (address, workers):
        where = ["--engine", address, "--out", f"{tmp_path}/release/", "--json"]
        # In a process of its own, since the session of this one, if it has one, is no cluster's.
        done = subprocess.run(
            [sys.executable, "-m", "tokumei", "anonymize", "table", str(source), *asked, *where],
            capture_output=True,
            text=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(tmp_path)},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said = [worker.read_text(errors="replace") for worker in workers]
    found = json.loads(done.stdout)
    assert {name: found[name] for name in ("k", "loss", "classes", "rows")} == {
        name: here.facts[name] for name in ("k", "loss", "classes", "rows")
    }
    assert sorted(read_frame(tmp_path / "release").rows(), key=repr) == sorted(here.table.rows(), key=repr)
    # Both have worked: each was given an executor of the session.
    assert all("Asked to launch executor" in one for one in said)
