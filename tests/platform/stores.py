"""A real S3 server for tests: moto's, over HTTP in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.platform.sites import wait_until

BUCKET = "tokumei"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


def client(url: str) -> Any:
    """Give a client of the store."""
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
