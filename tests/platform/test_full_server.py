"""A real server whose disk runs full: it says so before, answers 507 while it is, and goes on when there is space."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.platform.test_disk_full import fill
from tests.platform.test_serve import ENVIRONMENT, SERVE, read_until, token_of

MEBIBYTE = 1024 * 1024


@pytest.fixture
def small_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 32 MiB; skips where none can be mounted."""
    folder, mount = tmp_path / "small", shutil.which("mount")
    folder.mkdir()
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small file system")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def sign_up(visitor: httpx.Client, name: str) -> httpx.Response:
    given = {"username": name, "display_name": name, "email": f"{name}@example.org"}
    given |= {"password": "a good long one", "password_again": "a good long one"}
    token = token_of(visitor.get("/sign-up").text)
    return visitor.post("/sign-up", data=given | {"csrfmiddlewaretoken": token})


@pytest.mark.thorough
def test_server_on_a_full_disk_answers_507_and_says_so_before(small_folder: Path) -> None:
    # Low is when fewer than four of the largest requests fit.
    environment = ENVIRONMENT | {"TOKUMEI_UPLOAD_BYTES": str(MEBIBYTE)}
    command = [*SERVE, "--no-jobs", "--data", str(small_folder / "data")]
    with (
        (small_folder.parent / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as server,
    ):
        try:
            assert server.stdout is not None
            url = re.search(r"http://\S+/", read_until(server.stdout, "http://"))
            assert url is not None
            with httpx.Client(base_url=url[0], timeout=90) as visitor:
                health = visitor.get("/health")
                assert (health.status_code, health.json()["status"]) == (200, "ok")
                assert sign_up(visitor, "anna").status_code == 302

                ballast = small_folder / "ballast"
                found = os.statvfs(small_folder)
                ballast.write_bytes(bytes(found.f_bavail * found.f_frsize - 2 * MEBIBYTE))
                health = visitor.get("/health")
                assert (health.status_code, health.json()["status"], health.json()["space"]) == (200, "warning", "low")

                blocker = fill(small_folder)
                assert visitor.get("/health").status_code == 503
                with httpx.Client(base_url=url[0], timeout=90) as other:
                    refused = sign_up(other, "bert")
                assert refused.status_code == 507
                assert "The server is full" in refused.text
                program = visitor.post(
                    "/api/v1/tokens", json={"username": "anna", "password": "a good long one", "name": "x"}
                )
                assert (program.status_code, program.json()["error"]) == (507, "DiskFull")
                # A body that does not fit in memory finds no space either.
                large = visitor.post("/api/v1/tokens", content=bytes(900_000))
                assert (large.status_code, large.json()["error"]) == (507, "DiskFull")

                blocker.unlink()
                ballast.unlink()
                with httpx.Client(base_url=url[0], timeout=90) as other:
                    assert sign_up(other, "bert").status_code == 302
                assert visitor.get("/health").json()["status"] == "ok"
        finally:
            server.terminate()
