"""The workbench on 100,000 rows of 15 columns: `tokumei studio` with its processes, asked as a browser asks it.

Seconds count from the first byte that is sent to the page that shows what was asked for.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import polars as pl

from benchmarks.measure import Figure

N_ROWS, N_MORE = 100_000, 8
LARGE_BYTES = 200 * 10**6
# Seconds on two cores that do nothing else.
RISK, FRONTIER, PAGE = 3.0, 60.0, 1.0
PAGES = ("", "hierarchies", "risk", "protect", "see", "take-home")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
LINK = re.compile(r"http://\S+/workbench/enter/\S+")


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, studio(Path(name)) as client:
        write_people(Path(name) / "people.csv", N_ROWS)
        started = time.perf_counter()
        key = _begin(client, Path(name) / "people.csv")
        _wait(client, key)
        risk = _shown(client, key, "risk", "<svg", started)
        _wait(client, key, "?whole=1")
        attacked = _shown(client, key, "risk", 'id="attacks"', started)
        frontier = _done(client, key, "protect", {"k": "5", "suppress": "5", "method": "optimal", "try": "1"})
        released = _done(client, key, "protect", {"k": "5", "suppress": "5", "method": "optimal", "run": "1"})
        pages = {below: _seconds(client, f"/workbench/{key}/{below}") for below in PAGES}
        worst = max(pages, key=lambda one: pages[one])
        return [
            Figure(f"first risk picture, {N_ROWS:,} rows, with the upload", risk, "s", RISK),
            Figure("all of it, with the attacks on the file as it stands", attacked, "s"),
            Figure("twelve releases", frontier, "s", FRONTIER),
            Figure("a release with its report", released, "s"),
            Figure("slowest page", pages[worst], "s", PAGE, worst or "columns"),
            *_large(client, Path(name)),
        ]


def _large(client: httpx.Client, folder: Path) -> list[Figure]:
    path = folder / "large.csv"
    write_people(path, N_ROWS)
    n_bytes = path.stat().st_size
    write_people(path, N_ROWS * -(-LARGE_BYTES // n_bytes))
    started = time.perf_counter()
    key = _begin(client, path)
    sent = time.perf_counter() - started
    _wait(client, key)
    shown = _shown(client, key, "risk", "<svg", started)
    size = f"{path.stat().st_size / 10**6:,.0f} MB"
    return [Figure(f"{size} sent", sent, "s"), Figure(f"{size} sent, looked at, and the risk shown", shown, "s")]


@contextmanager
def studio(folder: Path) -> Iterator[httpx.Client]:
    """Start the studio and enter by its link; end it and all its processes."""
    command = [sys.executable, "-m", "tokumei", "studio", "--no-browser", "--data", str(folder / "data")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOKUMEI_")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            found = LINK.search(process.stdout.readline() if process.stdout is not None else "")
            if found is None:
                raise RuntimeError("the studio printed no link")
            with httpx.Client(follow_redirects=True, timeout=600) as client:
                entered = client.get(found[0])
                client.base_url = str(entered.url.copy_with(path="/"))
                yield client
        finally:
            process.send_signal(signal.SIGINT)


def _begin(client: httpx.Client, path: Path) -> str:
    sent = _token(client, {"kind": "table"})
    with path.open("rb") as file:
        answer = client.post("/workbench/new", data=sent, files={"file": file})
    answer.raise_for_status()
    return answer.url.path.split("/")[2]


def _done(client: httpx.Client, key: str, below: str, sent: dict[str, str]) -> float:
    started = time.perf_counter()
    client.post(f"/workbench/{key}/{below}", data=_token(client, sent)).raise_for_status()
    _wait(client, key)
    return time.perf_counter() - started


def _token(client: httpx.Client, sent: dict[str, str]) -> dict[str, str]:
    found = TOKEN.search(client.get("/workbench/").text)
    return sent | {"csrfmiddlewaretoken": found[1] if found else ""}


def _wait(client: httpx.Client, key: str, how: str = "") -> None:
    while not client.get(f"/workbench/{key}/state{how}").json()["is_final"]:
        time.sleep(0.05)


def _shown(client: httpx.Client, key: str, below: str, what: str, started: float) -> float:
    page = client.get(f"/workbench/{key}/{below}").text
    if what not in page or "notice error" in page:
        raise RuntimeError(f"the page {below} does not show {what}")
    return time.perf_counter() - started


def _seconds(client: httpx.Client, path: str) -> float:
    started = time.perf_counter()
    client.get(path).raise_for_status()
    return time.perf_counter() - started


def write_people(path: Path, n_rows: int) -> None:
    """Write made-up people: a name, six columns that others may know, an illness and more."""
    rng = np.random.default_rng(1)
    day = rng.integers(0, 10**6, n_rows)
    columns = {
        "name": [f"person{row}" for row in range(n_rows)],
        "age": rng.integers(0, 95, n_rows),
        "sex": rng.choice(["f", "m"], n_rows),
        "zip": rng.integers(10_000, 10_999, n_rows),
        "city": rng.choice(["Tokyo", "Osaka", "Kyoto", "Nara"], n_rows),
        "illness": rng.choice(["flu", "cold", "cancer", "none"], n_rows),
        "birth_date": [f"{1930 + one % 80}-{1 + one % 12:02d}-{1 + one % 28:02d}" for one in day],
    }
    columns |= {f"x{number}": rng.integers(0, 20 + 50 * number, n_rows) for number in range(N_MORE)}
    pl.DataFrame(columns).write_csv(path)
