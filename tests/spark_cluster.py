"""A standalone Spark cluster on this machine for as long as a test needs one: a master and two workers."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

SECONDS_TO_START = 90


@contextmanager
def spark_cluster(folder: Path, n_workers: int = 2) -> Iterator[tuple[str, list[Path]]]:
    """Return the address of the cluster and the logs of its workers; its processes end with the block."""
    import pyspark

    home = Path(pyspark.__file__).parent
    # Bound to this machine alone, so that nobody else can hand work to it.
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    with ExitStack() as stack:

        def start(name: str, *words: str) -> Path:
            log = folder / f"{name}.log"
            file = stack.enter_context(log.open("wb"))
            command = [str(home / "bin" / "spark-class"), *words, "--host", "127.0.0.1", "--webui-port", "0"]
            running = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=folder)
            stack.callback(_end, running)
            return log

        master = start("master", "org.apache.spark.deploy.master.Master", "--port", "0")
        address = _wait_for(master, r"Starting Spark master at (spark://\S+)")
        size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"))
        workers = [
            start(f"worker{number}", "org.apache.spark.deploy.worker.Worker", *size, address)
            for number in range(n_workers)
        ]
        for worker in workers:
            _wait_for(worker, r"(Successfully registered with master)")
        yield address, workers


def _wait_for(log: Path, pattern: str) -> str:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.2)
    raise TimeoutError(f"Spark did not start in {SECONDS_TO_START} s: {log.read_text(errors='replace')[-2000:]}")


def _end(running: subprocess.Popen[bytes]) -> None:
    running.terminate()
    try:
        running.wait(20)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
