"""Stores for tests: a real S3 server, moto's, over HTTP in a process of its own; and machines that share a folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.platform.sites import wait_until

BUCKET = "tokumei"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


def client(url: str) -> Any:
    """Return a client of the store."""
    import boto3

    return boto3.client(
        "s3", endpoint_url=url, aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1"
    )


@pytest.fixture
def store(tmp_path: Any) -> Iterator[str]:
    """The address of a store with an empty bucket."""
    pytest.importorskip("moto", reason="the S3 server of the tests is moto's")
    pytest.importorskip("boto3")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with (tmp_path / "store.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=log,
            stderr=log,
            env=dict(os.environ) | CREDENTIALS,
        )
    try:
        wait_until(lambda: _answers(port), 60)
        client(url).create_bucket(Bucket=BUCKET)
        yield url
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@dataclass
class Machines:
    """Machines in one process: each has files of its own, and all have one store."""

    folder: Path
    settings: Any

    def at(self, name: str) -> Path:
        """Go to a machine; its files."""
        self.settings.MEDIA_ROOT = self.folder / name / "files"
        self.settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
        return Path(self.settings.MEDIA_ROOT)

    def objects(self) -> set[str]:
        """All that is in the store."""
        top = self.folder / "store"
        return {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}


@pytest.fixture
def machines(settings: Any, tmp_path: Path) -> Machines:
    """Machines with a store; this process is at the first."""
    options = {"location": tmp_path / "store"}
    local = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"shared": local}
    made = Machines(tmp_path, settings)
    made.at("one")
    return made
