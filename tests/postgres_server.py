"""A PostgreSQL server of one's own, for tests and benchmarks."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def postgres_programs() -> Path | None:
    """Find the folder of PostgreSQL's programs; none where it is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


@contextmanager
def postgres_server(programs: Path) -> Iterator[str]:
    """Start a server at a free port and give its address; it leaves nothing behind."""
    folder = Path(tempfile.mkdtemp(prefix="tokumei-postgres-"))
    user = getpass.getuser()
    prefix: list[str] = []
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        user, prefix = "postgres", ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        shutil.chown(folder, "postgres", "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, log = folder / "data", folder / "log"

    def run(program: str, *arguments: str) -> None:
        command = [*prefix, str(programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=120)

    try:
        run("initdb", "-D", str(data), "-A", "trust", "-U", user, "--encoding=UTF8", "--locale=C.UTF-8")
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
        run("pg_ctl", "-D", str(data), "-l", str(log), "-w", "-o", options, "start")
        yield f"postgresql://{user}@127.0.0.1:{port}/postgres"
    finally:
        if data.exists():
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)
